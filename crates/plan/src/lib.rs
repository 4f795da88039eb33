//! Experiment files: what is to be compared, and in which order it is run.
//!
//! An experiment file becomes a [`Plan`]: its configurations, its workloads
//! and a schedule of runs in randomised complete blocks. This crate is pure:
//! it opens no file, reads no clock, and its randomness comes from the seed in
//! the file. It does not know where runs happen.

mod plan;

pub use plan::{Better, Plan, PlannedConfiguration, PlannedRun, Primary, SCHEMA, Until};
