//! What names and surroundings say of a comparison.
//!
//! Whether something is compared is decided in one place, `group/gate.rs`.

pub(crate) mod alone;
pub(crate) mod amounts;
pub(crate) mod contrast;
pub(crate) mod families;
mod signs;
pub(crate) mod surroundings;
pub(crate) mod wording;

pub(crate) use signs::Sign;
