//! Tests that take long or have special requirements: `make test-all` runs them.

#[path = "bisect.rs"]
mod bisect;
#[path = "browser/main.rs"]
mod browser;
#[path = "ci.rs"]
mod ci;
#[path = "debug.rs"]
mod debug;
#[path = "failures.rs"]
mod failures;
#[path = "hunt.rs"]
mod hunt;
#[path = "images.rs"]
mod images;
#[path = "kill.rs"]
pub(crate) mod kill;
#[path = "loads.rs"]
mod loads;
#[path = "policies.rs"]
mod policies;
#[path = "programs.rs"]
mod programs;
#[path = "python.rs"]
mod python;
#[path = "races.rs"]
mod races;
#[path = "remote.rs"]
mod remote;
#[path = "spread.rs"]
pub(crate) mod spread;
#[path = "tour.rs"]
mod tour;
#[path = "try.rs"]
mod trying;
#[path = "twice.rs"]
mod twice;
#[path = "when.rs"]
mod when;
#[path = "why.rs"]
mod why;
