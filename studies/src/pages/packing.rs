//! `studies/packing.md`: which placement policy lets CPUs sleep, and what it costs.

use serde_json::Value;

use super::figures::{count, percent, ratio, time};
use super::report::Report;
use super::{Page, Part, table};

/// The name of the baseline in the report.
const BASELINE: &str = "none";
/// All policies of the experiment, baseline first.
const POLICIES: [&str; 7] = [
    BASELINE,
    "spread",
    "rlb",
    "power",
    "pack-small",
    "pack-full",
    "pack-burst",
];
const WORKLOADS: [&str; 5] = [
    "audio",
    "browser",
    "browser-audio",
    "cpu-score",
    "cyclictest",
];
const CPUS: u32 = 4;

pub(super) const PAGE: Page = Page {
    name: "packing",
    file: "studies/packing.md",
    parts: &[Part {
        name: "packing",
        file: "experiments/packing.toml",
        more: &[],
        // As in the experiment; repeated for bundles that were recorded before it declared them.
        asked: &[
            "--tradeoff",
            "render_time_mean in browser-audio against modelled_energy in audio",
            "--tradeoff",
            "render_time_mean in browser-audio against cpus_used in audio",
            "--lower-is-better",
            "cpus_used",
        ],
    }],
    tables: &[
        ("non-idle", non_idle),
        ("energy", energy),
        ("prices", prices),
        ("trade-off with energy", |reports| {
            trade_off(&reports[0], "modelled_energy")
        }),
        ("trade-off with CPUs", |reports| {
            trade_off(&reports[0], "cpus_used")
        }),
        ("claims", claims),
    ],
};

/// The fraction of time that each CPU was not idle, and the total.
fn non_idle(reports: &[Report]) -> String {
    let report = &reports[0];
    let mut rows = Vec::new();
    for workload in WORKLOADS {
        for policy in POLICIES {
            let share = |cpu: u32| {
                let metric = format!("cpu{cpu}_non_idle_share");
                let mean = report.mean(&metric, workload, policy);
                mean.map_or_else(String::new, |mean| format!("{mean:.2}"))
            };
            let first = match policy {
                BASELINE => format!("`{workload}`"),
                _ => String::new(),
            };
            let shares = (0..CPUS).map(share);
            let all = relative(report, "cpus_non_idle", workload, policy);
            rows.push([vec![first, name(policy)], shares.collect(), vec![all]].concat());
        }
    }
    let cpus = (0..CPUS).map(|cpu| format!("CPU {cpu}"));
    let heading: Vec<String> = ["%".to_owned(), "policy".to_owned()]
        .into_iter()
        .chain(cpus)
        .chain(["all, to EEVDF".to_owned()])
        .collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    table(&heading, 2, &rows)
}

/// Modelled energy on each workload with a fixed duration.
fn energy(reports: &[Report]) -> String {
    let report = &reports[0];
    let mut rows = Vec::new();
    for policy in POLICIES {
        let mut cells = vec![name(policy)];
        for workload in ["audio", "browser-audio", "cyclictest"] {
            cells.push(count(report.mean("modelled_energy", workload, policy)));
            cells.push(relative(report, "modelled_energy", workload, policy));
        }
        rows.push(cells);
    }
    let heading = [
        "modelled, mJ",
        "`audio`",
        "to EEVDF",
        "`browser-audio`",
        "to EEVDF",
        "`cyclictest`",
        "to EEVDF",
    ];
    table(&heading, 1, &rows)
}

/// What packing costs.
fn prices(reports: &[Report]) -> String {
    let report = &reports[0];
    let mut rows = Vec::new();
    for policy in POLICIES {
        let mut cells = vec![name(policy)];
        for (metric, workload) in [
            ("render_time_mean", "browser"),
            ("render_time_mean", "browser-audio"),
            ("score", "cpu-score"),
            ("latency_ns_p99", "cyclictest"),
        ] {
            let mean = report.mean(metric, workload, policy);
            let mean = match metric {
                "score" => count(mean),
                _ => time(mean),
            };
            let to = ratio(report.row(metric, workload, policy));
            cells.push(match policy {
                BASELINE => mean,
                _ => format!("{mean}, {to}"),
            });
        }
        rows.push(cells);
    }
    let heading = [
        "policy",
        "a page",
        "a page, with music",
        "score of 8 threads",
        "`cyclictest`, p99",
    ];
    table(&heading, 1, &rows)
}

/// Render time against another metric, with the standing of each policy.
fn trade_off(report: &Report, against: &str) -> String {
    let Some(tradeoff) = report.tradeoff("render_time_mean", against) else {
        return String::new();
    };
    let unit = match tradeoff["y"]["unit"].as_str() {
        None | Some("") => String::new(),
        Some(unit) => format!(" {unit}"),
    };
    let related = |value: &Value| match &value["relative"] {
        Value::Null => String::new(),
        relation => format!("{}{}", percent(relation), super::figures::mark(relation)),
    };
    let points = tradeoff["points"].as_array().into_iter().flatten();
    let rows = points.map(|point| {
        let (x, y) = (&point["x"], &point["y"]);
        vec![
            name(point["configuration"].as_str().unwrap_or_default()),
            time(x["mean"].as_f64()),
            related(x),
            format!("{}{unit}", count(y["mean"].as_f64())),
            related(y),
            standing(point),
        ]
    });
    let workload = tradeoff["y"]["workload"].as_str().unwrap_or_default();
    let heading = [
        "policy",
        "a page, with music",
        "to EEVDF",
        &format!("`{against}`, `{workload}`"),
        "to EEVDF",
        "stands",
    ];
    let rows: Vec<Vec<String>> = rows.collect();
    let said = match tradeoff["origin"].as_str() {
        Some("declared") => "Declared before the runs:",
        _ => {
            "Asked for after the runs had begun, so that each pair of policies must hold\nbeside all that could have been asked for:"
        }
    };
    format!("{said}\n\n{}", table(&heading, 1, &rows))
}

/// `front`, the policies that dominate this one, or those that may dominate it.
fn standing(point: &Value) -> String {
    let weak = match point["supported"].as_bool() {
        Some(true) => " ~",
        _ => "",
    };
    let of = |list: &Value, field: fn(&Value) -> &Value| -> Vec<String> {
        let all = list.as_array().into_iter().flatten();
        all.filter_map(|one| field(one).as_str())
            .map(name)
            .collect()
    };
    match point["standing"].as_str() {
        Some("front") => format!("**front**{weak}"),
        Some("dominated") => {
            let by = of(&point["dominated_by"], |one| &one["configuration"]);
            format!("dominated{weak} by {}", by.join(", "))
        }
        _ => {
            let others = of(&point["not_told_from"], |one| one);
            match others.is_empty() {
                true => "undecided".into(),
                false => format!("cannot be distinguished from {}", others.join(", ")),
            }
        }
    }
}

/// The claims declared before the runs, and their outcomes.
pub(super) fn claims(reports: &[Report]) -> String {
    let claims = reports[0].document["claims"].as_array();
    let rows = claims.into_iter().flatten().map(|claim| {
        let text = |key: &str| claim[key].as_str().unwrap_or_default().to_string();
        vec![format!("`{}`", text("text")), text("outcome")]
    });
    table(&["declared", "became"], 2, &rows.collect::<Vec<_>>())
}

/// The ratio to the baseline; empty for the baseline itself.
fn relative(report: &Report, metric: &str, workload: &str, policy: &str) -> String {
    match policy {
        BASELINE => String::new(),
        _ => ratio(report.row(metric, workload, policy)),
    }
}

fn name(policy: &str) -> String {
    match policy {
        BASELINE => "EEVDF".into(),
        _ => format!("`{policy}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(origin: &str) -> Report {
        let relative = json!({"ratio": 1.92, "ci": [1.9, 1.93], "verdict": "established"});
        let point = |name: &str, relative: &Value, standing: &str, by: &[&str], not: &[&str]| {
            let by: Vec<Value> = by.iter().map(|one| json!({"configuration": one})).collect();
            json!({
                "configuration": name, "standing": standing, "supported": name == "rlb",
                "dominated_by": by, "not_told_from": not,
                "x": {"mean": 25_100_000.0, "relative": relative},
                "y": {"mean": 21.48, "relative": relative},
            })
        };
        let document = json!({
            "baseline": BASELINE,
            "comparisons": [{
                "workload": "audio", "metric": "cpu1_non_idle_share", "configuration": "rlb",
                "mean_baseline": 1.4, "mean": 0.0312, "ratio": 0.02, "verdict": "established",
            }],
            "claims": [{"text": "a < b on c", "outcome": "upheld"}],
            "tradeoffs": [{
                "origin": origin,
                "x": {"metric": "render_time_mean", "workload": "browser-audio", "unit": "ns"},
                "y": {"metric": "modelled_energy", "workload": "audio", "unit": "mJ"},
                "points": [
                    point(BASELINE, &Value::Null, "undecided", &[], &["rlb", "spread"]),
                    point("rlb", &relative, "dominated", &["spread", BASELINE], &[]),
                    point("pack-burst", &relative, "front", &[], &[]),
                ],
            }],
        });
        Report {
            document,
            runs: Vec::new(),
        }
    }

    #[test]
    fn a_trade_off_says_where_each_policy_stands_and_when_it_was_asked_for() {
        let made = trade_off(&report("post_hoc"), "modelled_energy");
        let (said, rows) = made.split_once("\n\n").unwrap();
        assert!(
            said.starts_with("Asked for after the runs had begun"),
            "{said}"
        );
        assert_eq!(
            rows,
            "| policy | a page, with music | to EEVDF | `modelled_energy`, `audio` | to EEVDF | stands |\n\
             | --- | ---: | ---: | ---: | ---: | ---: |\n\
             | EEVDF | 25.1 ms |  | 21.5 mJ |  | cannot be distinguished from `rlb`, `spread` |\n\
             | `rlb` | 25.1 ms | 192 % (190–193) | 21.5 mJ | 192 % (190–193) | dominated ~ by `spread`, EEVDF |\n\
             | `pack-burst` | 25.1 ms | 192 % (190–193) | 21.5 mJ | 192 % (190–193) | **front** |\n"
        );
        let made = trade_off(&report("declared"), "modelled_energy");
        assert!(made.starts_with("Declared before the runs:\n\n"), "{made}");
        assert_eq!(trade_off(&report("declared"), "cpus_used"), "");
    }

    #[test]
    fn shares_of_each_cpu_stand_under_it_and_what_is_missing_is_empty() {
        let made = non_idle(&[report("declared")]);
        assert!(made.starts_with("| % | policy | CPU 0 | CPU 1 |"), "{made}");
        assert!(
            made.contains("\n| `audio` | EEVDF |  | 1.40 |  |  |  |\n"),
            "{made}"
        );
        assert!(
            made.contains("\n|  | `rlb` |  | 0.03 |  |  | – |\n"),
            "{made}"
        );
        let made = claims(&[report("declared")]);
        assert!(made.ends_with("| `a < b on c` | upheld |\n"), "{made}");
    }
}
