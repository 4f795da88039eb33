//! One file per format, all behind [`Grammar`].
//!
//! To add a format: write `grammar/FORMAT.rs` with a constant [`Grammar`], list it in [`all`],
//! and put output of the tool into `tests/posts/tools/FORMAT`.
//!
//! A grammar sees lines that are already decoded and unquoted, is asked first whether a block may
//! start at a line (`starts`, which runs on every line of a 100 MB mailbox and must be cheap),
//! then reads the block. It reports what it read as [`Finding`]s; which configuration, workload
//! and repetition they belong to is decided later from headings and prompts, unless the block
//! itself says so ([`Labels`]).

pub mod asv;
pub mod benchstat;
pub mod block;
pub(crate) mod cells;
pub mod critcmp;
pub mod criterion;
pub mod cyclictest;
pub(crate) mod dispatch;
pub mod fio;
pub(crate) mod form;
pub mod frames;
pub mod gobench;
pub mod google_benchmark;
pub mod grid;
pub mod hwlat;
pub mod hyperfine;
pub mod jmh;
mod latencies;
pub mod list;
pub mod lkp;
pub mod ministat;
pub mod mmtests;
pub mod netperf;
pub mod number;
pub mod perf_stat;
pub mod pytest_benchmark;
pub mod reports;
pub mod rtla;
pub mod runs;
pub mod schbench;
pub mod table;
pub mod turbostat;
pub(crate) mod units;

/// What most formats use.
mod prelude {
    pub(super) use super::block::{Block, Figure, Finding, Grammar, Labels, Taken, mean_figures};
    pub(super) use super::cells::{
        bad_number, configuration, json, label, line_at, push_new, summary, truncated,
    };
    pub(super) use super::form::Form;
    pub(super) use super::number::english;
    pub(super) use crate::line::Line;
}

pub use block::{Block, Figure, Finding, Grammar, Labels, Taken};

/// Whether the tool of a format names what it compares.
pub(crate) fn names_what_it_compares(format: &str) -> bool {
    let comparing = |one: &Grammar| one.name == format && one.names_what_it_compares;
    all().iter().any(comparing) || reports::compares(format)
}

/// Whether blocks of a format are reports that a tool printed.
pub(crate) fn is_report(format: &str) -> bool {
    let written = |one: &Grammar| one.name == format && !one.is_report;
    !all().iter().any(written)
}

/// All formats, most specific first.
pub fn all() -> &'static [Grammar] {
    ALL
}

#[rustfmt::skip]
const ALL: &[Grammar] = &[
    fio::FIO, perf_stat::PERF_STAT_JSON, perf_stat::PERF_STAT_CSV,
    perf_stat::PERF_STAT_INTERVAL, perf_stat::PERF_STAT_TEXT, hwlat::HWLAT,
    cyclictest::CYCLICTEST, rtla::RTLA, schbench::SCHBENCH, frames::FRAMES, asv::ASV,
    benchstat::BENCHSTAT, gobench::GO_BENCH, google_benchmark::GOOGLE_BENCHMARK,
    criterion::CRITERION, critcmp::CRITCMP, jmh::JMH, hyperfine::HYPERFINE, hyperfine::HYPERFINE_EXPORT,
    hyperfine::HYPERFINE_JSON, pytest_benchmark::PYTEST_BENCHMARK, ministat::MINISTAT, turbostat::TURBOSTAT, netperf::NETPERF,
    reports::REPORTS, lkp::LKP, mmtests::MMTESTS, list::LISTS, runs::RUNS_IN_A_ROW,
    table::TABLE,
];
