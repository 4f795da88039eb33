//! Readings: which places of a text play which role. A reading holds places and no
//! values, so it can show nothing that the text does not print.
//!
//! ```text
//! # configuration | workload | metric [unit] <less|>more | place
//! stock   | kernel build | time s <   | 12-16 mean 17
//! patched | kernel build | time s <   | 21-25
//! patched / stock | kernel build | time % | 27.1
//! patched | tcp          | Mbit/s >   | 33.1 +- 33.2 sd n=8
//! *       | fio          | bw KiB/s > | table@41 col 3
//! ```
//!
//! [`parse`] reads the rows, [`judge`] takes the figures from their places and checks
//! each, [`draft`] writes a reading to begin with.

mod apply;
mod draft;
mod forms;
mod parse;
mod place;

pub use apply::judge;
pub use draft::{Draft, Unassigned, draft, left_out, unassigned};
pub use parse::{Reading, parse, take};
