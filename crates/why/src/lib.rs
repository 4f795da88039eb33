//! Where the instructions of two runs differ, to the last one.
//!
//! A plugin of QEMU counts what a run executes ([`Counts`]), the kernel says
//! what lies where ([`Symbols`]), a table says what belongs to which
//! [`Subsystems`], and [`Why`] sets two configurations against each other.
//! Everything here is a function of texts.

pub mod branches;
pub mod caches;
pub mod calls;
pub mod claims;
pub mod counts;
pub mod difference;
mod error;
pub mod flame;
pub mod geometry;
pub mod kept;
pub mod kernel_map;
pub mod misses;
pub mod pprof;
pub mod profile;
pub mod programs;
pub mod stored;
pub mod subsystems;
pub mod symbols;
mod tables;
pub mod threads;
pub mod types;

pub use caches::Caches;
pub use calls::Calls;
pub use claims::Claim;
pub use counts::Counts;
pub use difference::{Asked, Why};
pub use error::Error;
pub use flame::Flame;
pub use geometry::Geometry;
pub use kept::Kept;
pub use misses::Misses;
pub use profile::Profile;
pub use programs::{Placed, Program, Programs};
pub use subsystems::Subsystems;
pub use symbols::Symbols;
