//! drm_sched of three kernels, compared with each other and with depq.

use super::figures::{count, ratio, time};
use super::report::Report;
use super::{Page, Part, table};

const FILE: &str = "experiments/drm-sched-eras.toml";
const NAME: &str = "drm-sched-eras";

/// One bundle, reported with three baselines.
pub(super) const PAGE: Page = Page {
    name: NAME,
    file: "studies/drm-sched-eras.md",
    parts: &[
        Part {
            name: NAME,
            file: FILE,
            more: &[],
            asked: &["--baseline", "6.12+drm-sched"],
        },
        Part {
            name: NAME,
            file: FILE,
            more: &[],
            asked: &["--baseline", "7+drm-sched"],
        },
        Part {
            name: NAME,
            file: FILE,
            more: &[],
            asked: &["--baseline", "6.1+drm-sched"],
        },
    ],
    tables: &[
        ("fair", fair),
        ("switches", switches),
        ("latency", latency),
        ("fairness", fairness),
        ("interactive", interactive),
    ],
};

const WORKLOADS: [&str; 14] = [
    "frames",
    "sync",
    "window",
    "threads",
    "storm",
    "deep",
    "crowd-2",
    "crowd-16",
    "crowd-256",
    "crowd-4096",
    "uneven-2",
    "uneven-16",
    "uneven-256",
    "interactive",
];
/// The names of configurations in the report and on the page.
const CONFIGURATIONS: [(&str, &str); 7] = [
    ("6.1+drm-sched", "6.1"),
    ("6.12+drm-sched", "6.12"),
    ("7+drm-sched", "7"),
    ("7-fair+drm-sched", "7, fair"),
    ("6.1+depq", "depq on 6.1"),
    ("6.12+depq", "on 6.12"),
    ("7+depq", "on 7"),
];

/// The reports with the baselines drm_sched of 6.12, of 7, and of 6.1: the parts of the page, in
/// order.
fn by_kernel(reports: &[Report]) -> [&Report; 3] {
    [&reports[0], &reports[1], &reports[2]]
}

/// For each metric, the fair policy relative to the default one of the same kernel.
fn fair(reports: &[Report]) -> String {
    let [_, seven, _] = by_kernel(reports);
    let mut rows = Vec::new();
    for workload in WORKLOADS {
        let of = |metric: &str| ratio(seven.row(metric, workload, "7-fair+drm-sched"));
        rows.push(vec![
            format!("`{workload}`"),
            of("context_switches_per_job"),
            of("submit_to_run_ns_p50"),
            of("submit_to_run_ns_p99"),
            of("engine_time_ratio"),
            of("round_trip_ns_p50"),
        ]);
    }
    let heading = [
        "workload",
        "switches per job",
        "submit to run_job, p50",
        "p99",
        "engine time, most to least",
        "round trip, p50",
    ];
    table(&heading, 1, &rows)
}

/// Context switches of each kernel's drm_sched relative to that of 6.12, and of depq relative to
/// drm_sched of the same kernel.
fn switches(reports: &[Report]) -> String {
    let [old, seven, oldest] = by_kernel(reports);
    let metric = "context_switches_per_job";
    let mut rows = Vec::new();
    for workload in WORKLOADS {
        let kernel = |name: &str| ratio(old.row(metric, workload, name));
        let depq = |report: &Report, name: &str| ratio(report.row(metric, workload, name));
        rows.push(vec![
            format!("`{workload}`"),
            count(old.baseline(metric, workload)),
            kernel("6.1+drm-sched"),
            kernel("7+drm-sched"),
            kernel("7-fair+drm-sched"),
            depq(oldest, "6.1+depq"),
            depq(old, "6.12+depq"),
            depq(seven, "7+depq"),
        ]);
    }
    let heading = [
        "workload",
        "6.12",
        "6.1",
        "7",
        "7, fair",
        "depq on 6.1",
        "on 6.12",
        "on 7",
    ];
    table(&heading, 1, &rows)
}

/// Medians from submission to run_job.
fn latency(reports: &[Report]) -> String {
    by_workload(reports, |_| true, "submit_to_run_ns_p50", time)
}

/// The ratio of engine time between the contexts that got the most and the least.
fn fairness(reports: &[Report]) -> String {
    let crowd = |name: &str| name.starts_with("crowd-") || name.starts_with("uneven-");
    by_workload(reports, crowd, "engine_time_ratio", count)
}

/// A metric on some of the workloads.
fn by_workload(
    reports: &[Report],
    wanted: fn(&str) -> bool,
    metric: &str,
    shown: fn(Option<f64>) -> String,
) -> String {
    let report = by_kernel(reports)[0];
    let workloads = WORKLOADS.into_iter().filter(|name| wanted(name));
    let rows: Vec<(String, &str)> = workloads.map(|name| (format!("`{name}`"), name)).collect();
    means("workload", &rows, &|workload, name| {
        shown(report.mean(metric, workload, name))
    })
}

/// The waiting times of the client that waits for each of its jobs.
fn interactive(reports: &[Report]) -> String {
    let report = by_kernel(reports)[0];
    let rows = [
        ("median", "round_trip_ns_p50"),
        ("longest", "round_trip_ns_max"),
    ];
    means(
        "round trip",
        &rows.map(|(said, metric)| (said.to_string(), metric)),
        &|metric, name| time(report.mean(metric, "interactive", name)),
    )
}

/// A table with a column for each configuration. `rows`: the title of each row, and the key for
/// `cell`.
fn means(first: &str, rows: &[(String, &str)], cell: &dyn Fn(&str, &str) -> String) -> String {
    let mut heading = vec![first];
    heading.extend(CONFIGURATIONS.map(|(_, said)| said));
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|(said, of)| {
            let mut cells = vec![said.clone()];
            cells.extend(CONFIGURATIONS.map(|(name, _)| cell(of, name)));
            cells
        })
        .collect();
    table(&heading, 1, &rows)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A report in which configurations have these ratios of context switches to the baseline in
    /// `sync`.
    fn report(baseline: &str, ratios: &[(&str, f64)]) -> Report {
        let rows: Vec<Value> = ratios
            .iter()
            .map(|(name, ratio)| {
                json!({
                    "metric": "context_switches_per_job", "workload": "sync",
                    "configuration": name, "ratio": ratio, "verdict": "established",
                    "mean": 5.0 * ratio, "mean_baseline": 5.0,
                })
            })
            .collect();
        Report {
            document: json!({"baseline": baseline, "comparisons": rows}),
            runs: Vec::new(),
        }
    }

    #[test]
    fn depq_is_compared_with_drm_sched_of_its_own_kernel() {
        let reports = [
            report(
                "6.12+drm-sched",
                &[
                    ("6.1+drm-sched", 1.5),
                    ("6.1+depq", 0.2),
                    ("6.12+depq", 0.4),
                    ("7+drm-sched", 1.25),
                    ("7+depq", 0.3),
                    ("7-fair+drm-sched", 1.125),
                ],
            ),
            report("7+drm-sched", &[("7+depq", 0.7), ("7-fair+drm-sched", 0.9)]),
            report("6.1+drm-sched", &[("6.1+depq", 0.1)]),
        ];
        let table = switches(&reports);
        let sync = "| `sync` | 5.00 | 1.500 | 1.250 | 1.125 | 0.100 | 0.400 | 0.700 |";
        assert!(table.contains(sync), "{table}");
        // A missing value is a dash, never another row's value.
        assert!(table.contains("| `deep` | – | – | – | – | – | – | – |"));
        let fair = fair(&reports);
        assert!(fair.contains("| `sync` | 0.900 | – |"), "{fair}");
    }
}
