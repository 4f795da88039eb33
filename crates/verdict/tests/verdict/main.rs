//! Documents from records, checked against figures computed elsewhere.

mod common;
mod explore;
