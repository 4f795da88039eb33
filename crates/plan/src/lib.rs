//! Experiment files: what to compare, and in which order to run it.
//!
//! [`parse`] reads an experiment file; [`Experiment::plan`] turns it into a [`Plan`]: its
//! configurations, its workloads and a schedule of runs in randomised complete blocks. This crate
//! is pure: it opens no file, reads no clock, and its randomness comes from the seed in the file.
//! It does not know where runs happen.
//!
//! ```
//! use assize_plan::{Overrides, parse};
//! let text = r#"
//!     title = "Does a second CPU help?"
//!     runs = 5
//!     [factors.cpus.one]
//!     [factors.cpus.two]
//!     cpus = 2
//!     [workloads.messages]
//!     kind = "hackbench"
//! "#;
//! let plan = parse(text, "cpus.toml").unwrap().plan(&Overrides::default()).unwrap();
//! assert_eq!(plan.configurations.len(), 2);
//! assert_eq!(plan.runs.len(), 10);
//!
//! let error = parse(&text.replace("runs", "rnus"), "cpus.toml").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "cpus.toml:3: rnus: no such key in experiment; did you mean 'runs'?"
//! );
//! ```

mod build;
mod check;
mod configurations;
mod experiment;
mod levels;
mod metrics;
mod overrides;
mod payload;
mod plan;
#[cfg(test)]
mod published;
mod report;
mod schedule;
mod schema;
mod settings;
mod steps;
mod until;
mod values;
mod workloads;

pub use build::{MOST_IMAGES, parse};
pub use experiment::Experiment;
pub use overrides::Overrides;
pub use plan::{
    Plan, PlannedClaim, PlannedConfiguration, PlannedRun, PlannedTable, PlannedTradeoff,
    PlannedTradeoffMetric, SCHEMA, StopRule,
};
pub use report::primary::{BetterDirection, PrimaryMetric};
pub use schema::schema;
pub use values::error::Error;
pub use values::target::is_virtual;
