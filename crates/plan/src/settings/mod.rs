//! What an experiment and its levels set for the machine, and how instruments watch it.

pub(crate) mod frequency;
pub(crate) mod gaps;
pub(crate) mod idle;
pub(crate) mod policy;
pub(crate) mod power_tables;
pub(crate) mod queue;
pub(crate) mod stalls;
pub(crate) mod tracer;
