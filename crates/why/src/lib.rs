//! Attributes the difference between two runs to functions, down to the last instruction.
//!
//! A QEMU plugin counts the instructions that a run executes ([`RunCounts`]), the kernel's
//! symbols map addresses to functions ([`Symbols`]), a table maps functions to
//! [`Subsystems`], and [`Why`] compares two configurations. Everything in this crate is a
//! pure function of its input texts.

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
pub mod kernel_elf;
pub mod kernel_map;
mod kernel_types;
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
pub mod when;

pub use caches::Caches;
pub use calls::Calls;
pub use claims::ShareClaim;
pub use counts::RunCounts;
pub use difference::{Why, WhyQuestion};
pub use error::Error;
pub use flame::Flame;
pub use geometry::Geometry;
pub use kept::Kept;
pub use misses::Misses;
pub use profile::Profile;
pub use programs::{InstructionNames, Program, Programs};
pub use subsystems::Subsystems;
pub use symbols::Symbols;
pub use when::When;
