//! The reader of posts, on whole posts.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // A test may fail.

mod admission;
mod benchmark_reports;
mod benchmarks;
mod common;
mod doubtful;
mod grouping;
mod latency;
mod mail;
mod never_compared;
mod perf_stat;
mod threads;
mod timed_statements;
mod tools;
mod whole_posts;
