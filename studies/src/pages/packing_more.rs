//! `studies/packing.md`: a policy that learns, and how far to fill a CPU.

use super::figures::{count, ratio, time};
use super::report::Report;
use super::{Page, Part, table};

pub(super) const PAGE: Page = Page {
    name: "packing-more",
    file: "studies/packing.md",
    parts: &[
        Part {
            name: "packing-learn",
            file: "experiments/packing-learn.toml",
            more: &[],
            asked: &[],
        },
        Part {
            name: "packing-fill",
            file: "experiments/packing-fill.toml",
            more: &[],
            asked: &[],
        },
    ],
    tables: &[
        ("learning", |reports| learning(&reports[0])),
        ("claims of learning", |reports| {
            super::packing::claims(&reports[..1])
        }),
        ("fill", |reports| fill(&reports[1])),
        ("effects of fill", |reports| effects(&reports[1])),
    ],
};

/// The names of policies in the report and on the page.
const POLICIES: [(&str, &str); 3] = [
    ("none", "EEVDF"),
    ("pack-burst", "`pack-burst`"),
    ("pack-learn", "`pack-learn`"),
];
const EFFECTS: [(&str, &str); 3] = [
    ("fill", "`fill` 80 % instead of 40 %"),
    ("run", "60 % of work instead of 20 %"),
    ("fill:run", "both, beyond each"),
];

/// Time and energy of pages with music under each policy.
fn learning(report: &Report) -> String {
    let rows = POLICIES.map(|(policy, name)| {
        let mean = |metric| report.mean(metric, "browser-audio", policy);
        let relative = |metric| match report.is_baseline(policy) {
            true => String::new(),
            false => ratio(report.row(metric, "browser-audio", policy)),
        };
        vec![
            name.into(),
            count(mean("modelled_energy")),
            relative("modelled_energy"),
            time(mean("render_time_mean")),
            relative("render_time_mean"),
            count(mean("state_usage:off")),
            count(mean("cpu0_non_idle_share")),
        ]
    });
    let heading = [
        "policy",
        "modelled, mJ",
        "to EEVDF",
        "a page",
        "to EEVDF",
        "times off",
        "CPU 0 not idle, %",
    ];
    table(&heading, 1, &rows)
}

/// The results of each fill level, by the amount of work of the tasks.
fn fill(report: &Report) -> String {
    let mut rows = Vec::new();
    for work in ["20", "60"] {
        for fill in ["40", "80"] {
            let mean = |metric| report.mean(metric, "tasks", &format!("fill-{fill}+run-{work}"));
            rows.push(vec![
                format!("{work} %"),
                format!("{fill} %"),
                count(mean("cpus_used")),
                count(mean("cpu0_non_idle_share")),
                count(mean("modelled_energy")),
                time(mean("task_wakeup_latency_ns_p90")),
            ]);
        }
    }
    let heading = [
        "tasks want",
        "`fill`",
        "CPUs used",
        "CPU 0 not idle, %",
        "modelled, mJ",
        "wake-up, p90",
    ];
    table(&heading, 0, &rows)
}

/// The effects of both factors, from the factorial fit.
fn effects(report: &Report) -> String {
    let rows = EFFECTS.map(|(effect, name)| {
        let of = |metric| ratio(report.effect(metric, "tasks", effect));
        vec![
            name.into(),
            of("cpu0_non_idle"),
            of("modelled_energy"),
            of("task_wakeup_latency_ns_p90"),
        ]
    });
    let heading = [
        "effect of",
        "CPU 0 not idle",
        "modelled energy",
        "wake-up, p90",
    ];
    table(&heading, 1, &rows)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn report(document: Value) -> Report {
        let runs = Vec::new();
        Report { document, runs }
    }

    #[test]
    fn each_policy_stands_beside_the_baseline_which_is_no_ratio() {
        let made = learning(&report(json!({
            "baseline": "none",
            "comparisons": [{
                "workload": "browser-audio", "metric": "modelled_energy",
                "configuration": "pack-learn", "mean_baseline": 150.0, "mean": 142.4,
                "ratio": 0.95, "verdict": "established",
            }],
        })));
        let lines: Vec<&str> = made.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| EEVDF | 150 |  | – |  | – | – |",
                "| `pack-burst` | – | – | – | – | – | – |",
                "| `pack-learn` | 142 | 0.950 | – | – | – | – |",
            ]
        );
    }

    #[test]
    fn effects_come_from_the_fit_and_means_from_the_cells() {
        let fitted = report(json!({
            "baseline": "fill-40+run-20",
            "comparisons": [{
                "workload": "tasks", "metric": "cpus_used", "configuration": "fill-40+run-60",
                "mean_baseline": 1.0, "mean": 2.0, "ratio": 2.0, "verdict": "established",
            }],
            "factorial": [{
                "workload": "tasks", "metric": "modelled_energy",
                "effects": [{"name": "fill:run", "ratio": 0.9, "verdict": "supported"}],
            }],
        }));
        let made = effects(&fitted);
        assert!(
            made.ends_with("| both, beyond each | – | 0.900 ~ | – |\n"),
            "{made}"
        );
        let made = fill(&fitted);
        assert!(
            made.contains("\n| 20 % | 40 % | 1.00 | – | – | – |\n"),
            "{made}"
        );
        assert!(
            made.contains("\n| 60 % | 40 % | 2.00 | – | – | – |\n"),
            "{made}"
        );
    }
}
