//! The order of runs.

pub(crate) mod blocks;
pub(crate) mod draws;
pub(crate) mod twice;
