//! Levels, and the configurations that their combinations make.

pub(crate) mod agreement;
pub(crate) mod combine;
pub(crate) mod names;
