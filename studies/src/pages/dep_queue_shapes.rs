//! drm_sched with the settings of three drivers compared with depq: a section of the page on depq.

use super::figures::{count, ratio};
use super::report::Report;
use super::{Page, Part, table};

const FILE: &str = "experiments/dep-queue-shapes.toml";
/// Options for one CPU; below, for two.
const ONE: &[&str] = &["--cpus", "1"];
const TWO: &[&str] = &["--cpus", "2"];

/// Two bundles, each reported with every shape as the baseline.
pub(super) const PAGE: Page = Page {
    name: "dep-queue-shapes",
    file: "studies/dep-queue.md",
    parts: &[
        part("dep-queue-shapes-1", ONE, &["--baseline", "xe"]),
        part("dep-queue-shapes-1", ONE, &["--baseline", "panthor"]),
        part("dep-queue-shapes-1", ONE, &["--baseline", "amdgpu"]),
        part("dep-queue-shapes-2", TWO, &["--baseline", "xe"]),
        part("dep-queue-shapes-2", TWO, &["--baseline", "panthor"]),
        part("dep-queue-shapes-2", TWO, &["--baseline", "amdgpu"]),
    ],
    tables: &[
        ("shapes, switches", |reports| {
            by_shape(reports, "context_switches_per_job")
        }),
        ("shapes, instructions", |reports| {
            by_shape(reports, "busy_time_per_job")
        }),
    ],
};

const fn part(
    name: &'static str,
    more: &'static [&'static str],
    asked: &'static [&'static str],
) -> Part {
    Part {
        name,
        file: FILE,
        more,
        asked,
    }
}

/// The shapes, in the order of the parts.
const SHAPES: [&str; 3] = ["xe", "panthor", "amdgpu"];
const CPUS: [&str; 2] = ["1", "2"];
const WORKLOADS: [&str; 6] = ["frames", "sync", "window", "threads", "storm", "deep"];

/// drm_sched in each shape, and the two corresponding forms of depq relative to it.
fn by_shape(reports: &[Report], metric: &str) -> String {
    let mut rows = Vec::new();
    for workload in WORKLOADS {
        for (shapes, cpus) in reports.chunks(SHAPES.len()).zip(CPUS) {
            let name = match cpus {
                "1" => format!("`{workload}`"),
                _ => String::new(),
            };
            let mut cells = vec![name, cpus.into()];
            for (report, shape) in shapes.iter().zip(SHAPES) {
                let depq =
                    |form: &str| ratio(report.row(metric, workload, &format!("{shape}-{form}")));
                cells.push(count(report.baseline(metric, workload)));
                cells.extend(["plain", "bypass"].map(depq));
            }
            rows.push(cells);
        }
    }
    let heading = [
        "workload", "CPUs", "xe", "plain", "bypass", "panthor", "plain", "bypass", "amdgpu",
        "plain", "bypass",
    ];
    table(&heading, 2, &rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn depq_is_compared_with_drm_sched_in_the_shape_that_it_corresponds_to() {
        let report = |shape: &str, mean: f64| {
            let row = |form: &str, ratio: f64| {
                json!({
                    "metric": "busy_time_per_job", "workload": "deep", "ratio": ratio,
                    "configuration": format!("{shape}-{form}"), "verdict": "established",
                    "mean_baseline": mean,
                })
            };
            // Rows of other metrics must not be used.
            let other = json!({
                "metric": "busy_time_per_job", "workload": "deep", "ratio": 9.0,
                "configuration": "other-plain", "verdict": "established", "mean_baseline": mean,
            });
            let rows = [
                other,
                row("plain", mean / 100.0),
                row("bypass", mean / 1000.0),
            ];
            Report {
                document: json!({ "baseline": shape, "comparisons": rows }),
                runs: Vec::new(),
            }
        };
        let reports = [
            report("xe", 10.0),
            report("panthor", 20.0),
            report("amdgpu", 30.0),
            report("xe", 40.0),
            report("panthor", 50.0),
            report("amdgpu", 60.0),
        ];
        let table = by_shape(&reports, "busy_time_per_job");
        let one =
            "| `deep` | 1 | 10.0 | 0.100 | 0.010 | 20.0 | 0.200 | 0.020 | 30.0 | 0.300 | 0.030 |";
        let two = "|  | 2 | 40.0 | 0.400 | 0.040 | 50.0 | 0.500 | 0.050 | 60.0 | 0.600 | 0.060 |";
        assert!(table.contains(&[one, "\n", two].concat()), "{table}");
        assert!(table.contains("| `sync` | 1 | – | – | – | – | – | – | – | – | – |"));
    }
}
