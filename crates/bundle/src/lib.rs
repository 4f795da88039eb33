//! The records of assize: what one execution measured.
//!
//! Records come from two places, a run on a target or a posted result read by
//! the auditor, and look the same from here on. This crate holds their types
//! and their place on disk. It knows no statistics and does not care where
//! records came from.
//!
//! ```
//! use assize_bundle::{Measurement, Run};
//! let mut run = Run::new("base", "hackbench", 1);
//! run.metrics.insert("time".into(), Measurement::new(12.5, "s"));
//! assert_eq!(run.metrics["time"].value, 12.5);
//! ```

mod disk;
mod records;

pub use disk::{Error, SCHEMA, read, write};
pub use records::{
    Configuration, Doubt, Events, Measurement, Place, Records, Run, Spread, Statement, Summary,
    Unsupported,
};
