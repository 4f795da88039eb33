//! Reads posted benchmark results exactly as they were pasted.
//!
//! Text comes in as a plain file, a mail or a mailbox and passes three stages: [`mail`] (bytes to
//! unquoted [`Line`]s), [`grammar`] (lines to blocks of figures, one file per format) and
//! grouping (blocks to runs of a configuration and a workload). There are no statistics here, and
//! nothing is dropped silently: what looks like data and cannot be read is reported as a doubt.
//!
//! ```
//! let post = "\
//! base:
//!  Performance counter stats for 'true' (10 runs):
//!        52.67 Joules power/energy-cores/       ( +-  1.24% )
//! patched:
//!  Performance counter stats for 'true' (10 runs):
//!        45.55 Joules power/energy-cores/       ( +-  1.07% )
//! ";
//! let audit = assize_audit::read(post.as_bytes(), "post.txt", &Default::default())?;
//! assert_eq!(audit.records.summaries[0].n, Some(10));
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod declared;
pub mod grammar;
pub mod harness;
pub mod mail;
pub mod reading;

mod audit;
mod command;
mod correspondence;
mod diff;
mod group;
mod headings;
mod line;
mod located;
mod numbers;
mod options;
mod printed;
mod scan;
mod states;
mod threads;
mod unreached;

pub use audit::{Audit, Letter, Scanned, empty, read, read_message};
pub use group::{UNNAMED, is_tool};
pub use line::{Explained, Line};
pub use located::{Located, StandsFor, located};
pub use options::{Judged, Options, Role, SpreadKind, parse_duration, parse_regex, parse_rule};
pub use threads::{Thread, Threads};
