//! Steps of set-up and tear-down.

pub(crate) mod action;
pub(crate) mod modules;
