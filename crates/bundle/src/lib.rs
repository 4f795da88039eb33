//! The records of assize: what one execution measured.
//!
//! Records come from two places, a run on a target or a posted result read by
//! the auditor, and look the same from here on. This crate defines their types
//! and their format on disk, and thins the measurements of runs to a size that
//! can be shown. It judges nothing and does not care where records came from.
//!
//! ```
//! use assize_bundle::{Measurement, Run};
//! let mut run = Run::new("base", "hackbench", 1);
//! run.metrics.insert("time".into(), Measurement::new(12.5, "s"));
//! assert_eq!(run.metrics["time"].value, 12.5);
//! ```

mod boots;
mod difference;
mod disk;
mod error;
mod events;
mod evidence;
mod executions;
mod head;
mod identified;
mod kept;
pub mod kernel_log;
mod layout;
mod merge;
mod outcomes;
mod place;
mod recorded;
mod records;
mod samples;
mod schedule;
mod several;
mod whole;
mod writer;

pub use boots::Boots;
pub use difference::FirstDifference;
pub use disk::{read, write};
pub use error::Error;
pub use events::{AT_REST, Events, RunCount};
pub use evidence::{Curve, EvidenceLimits, ThinnedEvidence, ThinnedSeries, evidence};
pub use executions::EXECUTIONS;
pub use head::{Head, read_plan};
pub use kept::{keep_answer, keep_when, kept_answers, kept_when};
pub use layout::SCHEMA;
pub use merge::{MergeSummary, merge};
pub use outcomes::{ComplainedRun, Ending, FailedRun};
pub use place::Place;
pub use recorded::{Histogram, RunExit, RunRecord, Samples};
pub use records::{
    Across, Configuration, DeclaredTable, DeclaredTradeoff, DeclaredTradeoffMetric, Doubt,
    IdentityPart, JoinedSource, LevelSettings, Measurement, Records, Resolution, Run, RunIdentity,
    Spread, Statement, Summary, Unavailable, Unsupported, nothing_differs,
};
pub use schedule::{boots, read_run};
pub use several::{BundleRelation, bundle_relation, name_apart, stack};
pub use writer::Writer;
