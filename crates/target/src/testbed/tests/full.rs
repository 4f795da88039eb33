//! Slow tests, which build modules repeatedly.

mod headers;
mod part;

use super::*;
