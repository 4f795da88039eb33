//! Slow tests, and tests with special requirements: `make test-all` runs them.

#[path = "cache_model.rs"]
mod cache_model;
#[path = "copies.rs"]
mod copies;
#[path = "exact.rs"]
pub(crate) mod exact;
#[path = "frames.rs"]
mod frames;
#[path = "gaps.rs"]
mod gaps;
#[path = "idle.rs"]
mod idle;
#[path = "ssh.rs"]
mod ssh;
#[path = "stalls.rs"]
mod stalls;
#[path = "tracers.rs"]
mod tracers;
