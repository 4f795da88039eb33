//! What names and surroundings say of a comparison.
//!
//! Whether something is compared is decided in one place, `group/gate.rs`.

pub(crate) mod alone;
pub(crate) mod amounts;
pub(crate) mod contrast;
mod signs;
pub(crate) mod wording;

pub(crate) use signs::Sign;
