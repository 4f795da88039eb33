//! The syntax of values: descriptions of the keys of a file, the reader that checks them, and the
//! messages about mistakes.

pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod keys;
pub(crate) mod layers;
pub(crate) mod quantity;
pub(crate) mod read;
pub(crate) mod target;
