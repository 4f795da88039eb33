//! Steps of set-up and tear-down.

pub(crate) mod modules;
