//! What the report shows: primary metrics, tables and trade-offs.

pub(crate) mod primary;
pub(crate) mod tables;
pub(crate) mod tradeoffs;
