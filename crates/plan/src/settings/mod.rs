//! What an experiment and its levels set: queues, idle states, frequencies, instruments, stalls
//! and policies.

pub(crate) mod gaps;
pub(crate) mod gaps_sections;
pub(crate) mod layers;
pub(crate) mod policy;
pub(crate) mod power;
pub(crate) mod power_sections;
pub(crate) mod power_tables;
pub(crate) mod queue;
pub(crate) mod stalls;
pub(crate) mod tracer;
pub(crate) mod tracer_sections;
