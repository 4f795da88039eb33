//! What each kind of mistake is told.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use crate::common::mistake;
