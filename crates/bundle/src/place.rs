//! Positions in posted texts.

use serde::{Deserialize, Serialize};

/// A position in the source.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct Place {
    /// Message in a mailbox, from 1; 1 if there is only one.
    pub message: u32,
    /// Line in the file, from 1; for a base64-encoded part, the line where it begins.
    pub line: u32,
}
