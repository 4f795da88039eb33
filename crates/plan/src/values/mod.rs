//! How values are written: keys, quantities, and the reader that checks them.

pub(crate) mod error;
pub(crate) mod keys;
pub(crate) mod quantity;
pub(crate) mod read;
