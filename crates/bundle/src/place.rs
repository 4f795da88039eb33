//! Positions in posted texts.

use serde::{Deserialize, Serialize};

/// The position in the source where something was read.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct Place {
    /// The message in a mailbox, from 1; 1 if there is only one.
    pub message: u32,
    /// The line in the file, from 1. For a base64-encoded part, the line at
    /// which the part begins.
    pub line: u32,
}
