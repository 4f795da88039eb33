//! What the report shows: metrics, tables and trade-offs.

pub(crate) mod metrics;
pub(crate) mod report_sections;
pub(crate) mod tables;
pub(crate) mod tradeoffs;
