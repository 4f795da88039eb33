//! Experiment files: what is to be compared, and in which order it is run.
//!
//! [`parse`] reads an experiment file; [`Experiment::plan`] makes it a
//! [`Plan`]: its configurations, its workloads and a schedule of runs in
//! randomised complete blocks. This crate is pure: it opens no file, reads no
//! clock, and its randomness comes from the seed in the file. It does not
//! know where runs happen.

mod build;
mod check;
mod combine;
mod draws;
mod error;
mod experiment;
mod grid;
mod keys;
mod mistakes;
mod names;
mod parameters;
mod payload;
mod plan;
#[cfg(test)]
mod published;
mod quantity;
mod raw;
mod schedule;
mod scheduling;
mod schema;
mod sections;
mod settings;
mod subset;

pub use error::Error;
pub use experiment::{Experiment, Overrides, parse};
pub use plan::{Better, Plan, PlannedConfiguration, PlannedRun, Primary, SCHEMA, Until};
pub use schema::schema;
