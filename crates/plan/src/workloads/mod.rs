//! Workloads and their parameters.

pub(crate) mod drawing;
pub(crate) mod frames_stream;
pub(crate) mod kinds;
pub(crate) mod memory_routine;
pub(crate) mod phone;
pub(crate) mod scheduling;
pub(crate) mod submitting;
