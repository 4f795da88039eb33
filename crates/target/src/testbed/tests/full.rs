//! Modules are built again and again here, which takes long.

mod headers;
mod part;

use super::*;
