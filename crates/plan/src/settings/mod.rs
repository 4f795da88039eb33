//! Settings of the machine and of instruments, in the experiment and its levels.

pub(crate) mod frequency;
pub(crate) mod gaps;
pub(crate) mod idle;
pub(crate) mod policy;
pub(crate) mod power_tables;
pub(crate) mod queue;
pub(crate) mod stalls;
pub(crate) mod tracer;
