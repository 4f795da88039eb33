//! What rows and columns of a table stand for.

use super::header::Header;
use super::row::Row;

/// What the names above a table's figures are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Across {
    /// Columns are metrics, rows are configurations.
    Metrics,
    /// Columns are configurations, rows are metrics or repetitions.
    Configurations,
}

const CONFIGURATION_KEYS: &[&str] = &[
    "gov",
    "governor",
    "kernel",
    "config",
    "configuration",
    "version",
    "sched",
    "scheduler",
    "patch",
    "policy",
    "variant",
    "mode",
    "setup",
    "branch",
    "tree",
    "build",
    "series",
    "option",
    "flags",
    "worker",
];
const WORKLOAD_KEYS: &[&str] = &[
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
const REPETITION_KEYS: &[&str] = &[
    "iter",
    "iteration",
    "i",
    "run",
    "rep",
    "repetition",
    "trial",
    "#",
    "loop",
    "sample",
    "run#",
    "#run",
];
const PARAMETER_KEYS: &[&str] = &[
    "threads",
    "thread",
    "groups",
    "group",
    "clients",
    "client",
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
    "nodes",
    "workers",
];
const METRIC_WORDS: &[&str] = &[
    "time",
    "latency",
    "lat",
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
    "render",
    "total",
    "ms",
    "us",
    "ns",
    "bytes",
    "size",
    "memory",
    "rss",
];
const CONFIGURATION_WORDS: &[&str] = &[
    "base",
    "baseline",
    "vanilla",
    "mainline",
    "upstream",
    "patched",
    "patch",
    "before",
    "after",
    "old",
    "new",
    "with",
    "without",
    "w/o",
    "w/",
    "default",
    "stock",
    "orig",
    "original",
    "control",
    "treatment",
    "unpatched",
    "tip",
    "linus",
    "master",
    "main",
    "reference",
    "ref",
    "reverted",
    "revert",
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
];

fn key_is(name: &str, list: &[&str]) -> bool {
    let name = name
        .trim_matches(|c: char| !c.is_alphanumeric() && c != '#')
        .to_lowercase();
    list.contains(&name.as_str())
}

/// Whether a name is one that configurations usually have.
pub(crate) fn names_configuration(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.')))
        .any(|word| {
            CONFIGURATION_WORDS.contains(&word) || kernel_version(word) || series_version(word)
        })
        || lower.contains('=')
}

fn kernel_version(word: &str) -> bool {
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

/// Whether a name is one that metrics usually have.
fn names_metric(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower.contains(['%', '/']) && !lower.starts_with("w/")
        || lower
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.')))
            .any(|word| METRIC_WORDS.contains(&word))
}

/// Whether columns are metrics or configurations.
pub(super) fn across(header: &Header, rows: &[Row]) -> Across {
    if header.columns.iter().any(|column| column.numbered) {
        return Across::Metrics;
    }
    let count = |test: fn(&str) -> bool| header.columns.iter().filter(|c| test(&c.name)).count();
    let (metrics, configurations) = (count(names_metric), count(names_configuration));
    let rows_are_metrics = rows
        .iter()
        .filter(|row| names_metric(&row.labels.join(" ")))
        .count()
        * 2
        > rows.len();
    let rows_are_configurations = rows
        .iter()
        .filter(|row| names_configuration(&row.labels.join(" ")))
        .count()
        * 2
        > rows.len();
    let keyed = header
        .keys
        .iter()
        .any(|key| key_is(key, CONFIGURATION_KEYS));
    if keyed || rows_are_configurations || metrics > configurations {
        return Across::Metrics;
    }
    if configurations > 0 || rows_are_metrics {
        return Across::Configurations;
    }
    if rows.iter().all(|row| row.labels.is_empty())
        && header.columns.len() <= 4
        && same_magnitude(rows)
    {
        return Across::Configurations;
    }
    Across::Metrics
}

fn same_magnitude(rows: &[Row]) -> bool {
    rows.iter().all(|row| {
        let values: Vec<f64> = row.cells.iter().map(|cell| cell.value).collect();
        let (low, high) = values
            .iter()
            .fold((f64::MAX, 0f64), |(l, h), v| (l.min(*v), h.max(*v)));
        values.len() >= 2 && low > 0.0 && high / low < 10.0
    })
}

/// What the label columns of a row say.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RowKeys {
    pub(super) configuration: Option<String>,
    pub(super) workload: Option<String>,
}

/// Splits the labels of a row into configuration and workload.
pub(super) fn row_keys(header: &Header, row: &Row) -> RowKeys {
    let labels = &row.labels;
    if labels.is_empty() {
        return RowKeys::default();
    }
    if header.keys.len() != labels.len() || labels.len() == 1 {
        let label = labels.join(" ");
        let only = header.keys.first().map_or("", String::as_str);
        return if header.keys.len() == 1 && key_is(only, WORKLOAD_KEYS) {
            RowKeys {
                configuration: None,
                workload: Some(label),
            }
        } else {
            RowKeys {
                configuration: Some(label),
                workload: None,
            }
        };
    }
    let chosen = (0..labels.len())
        .find(|&at| key_is(&header.keys[at], CONFIGURATION_KEYS))
        .or_else(|| {
            (0..labels.len())
                .rev()
                .find(|&at| !key_is(&header.keys[at], WORKLOAD_KEYS))
        })
        .unwrap_or(labels.len() - 1);
    let rest: Vec<&str> = labels
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != chosen)
        .map(|(_, label)| label.as_str())
        .collect();
    RowKeys {
        configuration: Some(labels[chosen].clone()),
        workload: Some(rest.join(" ")),
    }
}

/// The column that counts repetitions, if there is one.
pub(super) fn repetition_column(header: &Header, rows: &[Row]) -> Option<usize> {
    let at = header
        .columns
        .iter()
        .position(|column| key_is(&column.name, REPETITION_KEYS))?;
    rows.iter()
        .all(|row| {
            row.cells
                .get(at)
                .is_some_and(|c| c.value >= 0.0 && c.value.fract() == 0.0)
        })
        .then_some(at)
}

/// A leading column that is a parameter of the workload (`threads`).
pub(super) fn parameter_column(header: &Header) -> Option<usize> {
    header
        .columns
        .iter()
        .take(2)
        .position(|column| key_is(&column.name, PARAMETER_KEYS))
}

/// A column computed from others (`%change`), which is no measurement.
pub(super) fn is_derived(name: &str, rows: &[Row], at: usize) -> bool {
    const DERIVED: &[&str] = &[
        "change",
        "delta",
        "diff",
        "difference",
        "gain",
        "improvement",
        "speedup",
        "relative",
        "rel",
        "vs base",
    ];
    let lower = name.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    DERIVED.contains(&bare)
        || rows
            .iter()
            .all(|row| row.cells.get(at).is_some_and(|c| c.unit == "%" && c.signed))
            && rows.len() >= 2
}

/// A row computed from others (`average`), which is no further run.
pub(super) fn is_derived_row(label: &str) -> bool {
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
        "total",
        "sum",
        "min",
        "max",
        "diff",
        "delta",
        "change",
        "improvement",
        "cov",
        "sem",
        "rsd",
    ];
    let lower = label.to_lowercase();
    DERIVED.contains(&lower.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// `3.9_1` → (`3.9`, 1); also `base #2`, `base run 2`, `base-run2`.
pub(super) fn repetition_suffix(label: &str) -> Option<(&str, u32)> {
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
