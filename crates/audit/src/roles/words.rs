//! The words from which the parts of a table are known.

use crate::grammar::table::{Header, Row};
use crate::listed::{Listed, lowercase};
use crate::states;

pub(crate) const CONFIGURATION_KEYS: &[&str] = &[
    "kernel",
    "config",
    "configuration",
    "version",
    "patch",
    "variant",
    "branch",
    "policy",
    "governor",
    "sched",
    "scheduler",
];
pub(crate) const WORKLOAD_KEYS: &[&str] = &[
    "device",
    "test",
    "tests",
    "bench",
    "benchmark",
    "workload",
    "testcase",
    "case",
    "disk",
    "app",
    "application",
    "program",
    "load",
];
pub(crate) const REPETITION_KEYS: &[&str] = &[
    "iter",
    "iteration",
    "i",
    "run",
    "rep",
    "repetition",
    "round",
    "trial",
    "#",
    "loop",
    "sample",
    "run#",
    "#run",
];
pub(crate) const PARAMETER_KEYS: &[&str] = &[
    "threads",
    "thread",
    "groups",
    "group",
    "clients",
    "client",
    "proc",
    "procs",
    "processes",
    "tasks",
    "jobs",
    "size",
    "bs",
    "qd",
    "depth",
    "iodepth",
    "nr_threads",
    "nr_tasks",
    "connections",
    "pairs",
    "cpus",
    "vcpu",
    "vcpus",
    "nodes",
    "workers",
    "length",
    "len",
    "bytes",
    "blocksize",
    "volume",
    "reclen",
];
static METRIC_WORDS: Listed = Listed::of(&[
    "time",
    "latency",
    "lat",
    "clat",
    "slat",
    "min",
    "max",
    "avg",
    "mean",
    "median",
    "stddev",
    "std",
    "score",
    "iops",
    "bw",
    "throughput",
    "ops",
    "ops/s",
    "ops/sec",
    "tps",
    "power",
    "energy",
    "watt",
    "watts",
    "joules",
    "cycles",
    "instructions",
    "cpu",
    "util",
    "usage",
    "idle",
    "idles",
    "busy",
    "misses",
    "faults",
    "switches",
    "runtime",
    "elapsed",
    "user",
    "system",
    "sys",
    "real",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99.9",
    "rate",
    "count",
    "fps",
    "jitter",
    "wakeups",
    "migrations",
    "await",
    "svctm",
    "refault",
    "nodereclaim",
    "index",
    "result",
    "render",
    "total",
    "ms",
    "us",
    "ns",
    "bytes",
    "size",
    "memory",
    "memory",
    "rss",
    "allocs",
]);
/// Words that names of configurations have, those for states apart.
static CONFIGURATION_WORDS: Listed = Listed::of(&[
    "with",
    "w/",
    "treatment",
    "tip",
    "linus",
    "main",
    "branch",
    "pr",
    "off",
    "on",
    "disabled",
    "enabled",
    "eevdf",
    "cfs",
    "eas",
    "teo",
    "menu",
    "schedutil",
    "performance",
    "powersave",
    "rt",
]);

pub(crate) fn key_is(name: &str, list: &[&str]) -> bool {
    let name = name
        .trim_matches(|c: char| !c.is_alphanumeric() && c != '#')
        .to_lowercase();
    list.contains(&name.as_str())
}

/// Whether a name is one that configurations usually have.
pub(crate) fn names_configuration(name: &str) -> bool {
    let lower = lowercase(name);
    let names = |word: &str| {
        CONFIGURATION_WORDS.has(word)
            || states::names(word)
            || kernel_version(word)
            || series_version(word)
    };
    lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.')))
        .any(names)
        || lower.contains('=')
}

fn kernel_version(word: &str) -> bool {
    if !word.starts_with(|c: char| c.is_ascii_digit() || c == 'v') {
        return false;
    }
    let word = word.strip_prefix('v').unwrap_or(word);
    let mut parts = word.split('.');
    let number = |part: Option<&str>| {
        part.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
    };
    number(parts.next()) && number(parts.next()) && word.split('.').count() <= 4
}

fn series_version(word: &str) -> bool {
    word.len() <= 3
        && word
            .strip_prefix('v')
            .is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a name is surely that of something measured: `latency`, `IOPS`,
/// `MB/s`, but not `size` or `count`, which anything may have.
pub(crate) fn names_measurement(name: &str) -> bool {
    const VAGUE: &[&str] = &[
        "min", "max", "size", "bytes", "count", "total", "memory", "std", "user", "system", "sys",
        "cpu", "usage", "idle", "idles", "render", "avg", "mean", "median", "power", "rate",
    ];
    let lower = name.to_lowercase();
    let rates = [
        "/s",
        "/sec",
        "ops",
        "iops",
        "mb/s",
        "throughput",
        "latency",
        "bandwidth",
    ];
    rates.iter().any(|rate| lower.ends_with(rate))
        || lower
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.')))
            .any(|word| METRIC_WORDS.has(word) && !VAGUE.contains(&word))
}

/// The column that counts repetitions, if there is one.
pub(crate) fn repetition_column(header: &Header, rows: &[Row]) -> Option<usize> {
    let at = header
        .columns
        .iter()
        .position(|column| key_is(&column.name, REPETITION_KEYS))?;
    let values = rows
        .iter()
        .map(|row| row.cells.get(at).map(|cell| cell.value));
    let whole = |value: &Option<f64>| value.is_some_and(|v| v >= 0.0 && v.fract() == 0.0);
    let values: Vec<Option<f64>> = values.collect();
    // One number in many rows is how often something was done in each.
    let constant = values.len() >= 3 && values.iter().all(|value| *value == values[0]);
    (!constant && values.iter().all(whole)).then_some(at)
}

/// A leading column that is a parameter of the workload (`threads`).
pub(crate) fn parameter_column(header: &Header) -> Option<usize> {
    header
        .columns
        .iter()
        .take(2)
        .position(|column| key_is(&column.name, PARAMETER_KEYS))
}

/// Whether a name ends with that of a parameter: `Batch Size`, `Block Size (bs)`, and neither
/// `size before` nor `8 workers`.
pub(crate) fn names_parameter(name: &str) -> bool {
    let mut words = name.rsplit(|c: char| !c.is_alphanumeric());
    let last = words.find(|word| !word.is_empty());
    last.is_some_and(|word| key_is(word, PARAMETER_KEYS))
        && !name.bytes().any(|b| b.is_ascii_digit())
        && !names_configuration(name)
}

/// A column computed from others (`%change`), which is no measurement.
pub(crate) fn is_derived(name: &str, rows: &[Row], at: usize) -> bool {
    let lower = name.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let mut words = bare.split(|c: char| !c.is_alphanumeric());
    let side = |word: &str| states::is_bare(word.trim());
    matches!(bare, "relative" | "rel" | "vs base" | "ratio")
        || bare
            .split_once('/')
            .is_some_and(|(a, b)| side(a) && side(b))
        || words.any(|word| CHANGES.contains(&word)) && !is_long_name(bare)
        || rows
            .iter()
            .all(|row| row.cells.get(at).is_some_and(|c| c.unit == "%" && c.signed))
            && rows.len() >= 2
}

/// `v6 patch 15 with regression`: a name of more words that is a configuration's, and
/// does not begin with a word for a change.
fn is_long_name(name: &str) -> bool {
    let first = name.split(|c: char| !c.is_alphanumeric()).next();
    name.split_whitespace().count() > 3
        && names_configuration(name)
        && first.is_some_and(|word| !CHANGES.contains(&word))
}

/// Words for what is computed from two figures, or says how they scatter.
const CHANGES: &[&str] = &[
    "change",
    "changes",
    "delta",
    "diff",
    "difference",
    "gain",
    "gains",
    "improve",
    "improvement",
    "speedup",
    "reduction",
    "saved",
    "saving",
    "savings",
    "regression",
    "degradation",
    "deviation",
    "stddev",
    "stdev",
    "stderr",
    "std",
    "variance",
    "cmp",
    "chg",
    "pct",
    "percent",
    "percentage",
    "vs",
    "versus",
    "increase",
    "decrease",
    "impr",
    "uplift",
];

/// A row computed from others (`average`), which is no further run.
pub(crate) fn is_derived_row(label: &str) -> bool {
    const DERIVED: &[&str] = &[
        "avg",
        "average",
        "mean",
        "median",
        "stddev",
        "std",
        "stdev",
        "sd",
        "geomean",
        "hmean",
        "amean",
        "total",
        "sum",
        "min",
        "max",
        "diff",
        "delta",
        "change",
        "improvement",
        "gain",
        "gains",
        "speedup",
        "difference",
        "cov",
        "sem",
        "rsd",
    ];
    let lower = label.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    DERIVED.contains(&bare) || bare.starts_with("standard deviation") || bare.starts_with("std dev")
}

/// `3.9_1` → (`3.9`, 1); also `base #2`, `base run 2`, `base-run2`, `base 2nd run`.
pub(crate) fn repetition_suffix(label: &str) -> Option<(&str, u32)> {
    const ORDINALS: [&str; 5] = ["1st", "2nd", "3rd", "4th", "5th"];
    if let Some((stem, ordinal)) = label
        .strip_suffix(" run")
        .and_then(|head| head.rsplit_once(' '))
        && let Some(at) = ORDINALS.iter().position(|one| *one == ordinal)
    {
        return Some((stem.trim_end(), at as u32 + 1));
    }
    let digits = label.bytes().rev().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 3 || digits == label.len() {
        return None;
    }
    let (head, number) = label.split_at(label.len() - digits);
    let number = number.parse().ok()?;
    for mark in ["_", "#", " run ", "-run", "_run", " run", " r", "-r"] {
        if let Some(stem) = head.strip_suffix(mark) {
            let stem = stem.trim_end();
            return (!stem.is_empty()).then_some((stem, number));
        }
    }
    None
}
