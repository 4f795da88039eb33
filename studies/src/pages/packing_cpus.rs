//! `studies/packing.md`: machines with two and with eight CPUs.

use serde_json::Value;

use super::figures::{count, ratio, time};
use super::report::Report;
use super::{Page, Part, table};

pub(super) const PAGE: Page = Page {
    name: "packing-cpus",
    file: "studies/packing.md",
    parts: &[
        Part {
            name: "packing-cpus-2",
            file: FILE,
            // Without the policies for domains of four CPUs, which two CPUs cannot form.
            more: &[
                "--cpus",
                "2",
                "--set",
                "policy=none,power,pack-full,pack-learn",
            ],
            asked: &[],
        },
        Part {
            name: "packing-cpus-8",
            file: FILE,
            more: &[],
            asked: &[],
        },
    ],
    tables: &[("machines", machines), ("claims of machines", claims)],
};

const FILE: &str = "experiments/packing-cpus.toml";
/// The numbers of CPUs of the reports' machines.
const MACHINES: [u32; 2] = [2, 8];
/// The names of policies in the report and on the page.
const POLICIES: [(&str, &str); 5] = [
    ("none", "EEVDF"),
    ("power", "`power`"),
    ("power-4", "`power`, `domain = 4`"),
    ("pack-full", "`pack-full`"),
    ("pack-learn", "`pack-learn`"),
];

/// The distribution of tasks and pages over the CPUs of each machine.
fn machines(reports: &[Report]) -> String {
    let mut rows = Vec::new();
    for (cpus, report) in MACHINES.into_iter().zip(reports) {
        for (policy, name) in POLICIES {
            if report.mean("modelled_energy", "crowd", policy).is_none() {
                continue;
            }
            let is_baseline = report.is_baseline(policy);
            let relative = |metric: &str, workload: &str| match is_baseline {
                true => String::new(),
                false => ratio(report.row(metric, workload, policy)),
            };
            let machine = is_baseline.then(|| cpus.to_string());
            rows.push(vec![
                machine.unwrap_or_default(),
                name.into(),
                shares(report, cpus, policy),
                count(report.mean("modelled_energy", "crowd", policy)),
                relative("modelled_energy", "crowd"),
                time(report.mean("render_time_mean", "browser", policy)),
                relative("render_time_mean", "browser"),
                count(report.mean("modelled_energy", "browser", policy)),
                relative("modelled_energy", "browser"),
            ]);
        }
    }
    let heading = [
        "CPUs",
        "policy",
        "tasks: each CPU not idle, %",
        "mJ",
        "to EEVDF",
        "a page",
        "to EEVDF",
        "mJ",
        "to EEVDF",
    ];
    table(&heading, 2, &rows)
}

/// The claims declared before the runs, and their outcomes on each machine.
fn claims(reports: &[Report]) -> String {
    let of = |report: &Report, key: &str| -> Vec<String> {
        let claims = report.document["claims"].as_array().into_iter().flatten();
        let text = |claim: &Value| claim[key].as_str().unwrap_or("–").to_owned();
        claims.map(text).collect()
    };
    let declared = reports.first().map(|first| of(first, "text"));
    let became: Vec<Vec<String>> = reports.iter().map(|one| of(one, "outcome")).collect();
    let rows = declared.into_iter().flatten().enumerate();
    let rows = rows.map(|(at, text)| {
        let outcomes = became.iter().map(|of| of.get(at).cloned());
        let outcomes = outcomes.map(|outcome| outcome.unwrap_or_else(|| "–".into()));
        std::iter::once(format!("`{text}`"))
            .chain(outcomes)
            .collect()
    });
    table(
        &["declared", "2 CPUs", "8 CPUs"],
        3,
        &rows.collect::<Vec<_>>(),
    )
}

/// The fraction of time that each CPU was not idle.
fn shares(report: &Report, cpus: u32, policy: &str) -> String {
    let share = |cpu: u32| {
        let mean = report.mean(&format!("cpu{cpu}_non_idle_share"), "crowd", policy);
        mean.map_or_else(|| "–".into(), |mean| format!("{mean:.0}"))
    };
    (0..cpus).map(share).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(document: Value) -> Report {
        let runs = Vec::new();
        Report { document, runs }
    }

    #[test]
    fn each_machine_shows_its_own_cpus_and_only_the_policies_that_ran_there() {
        let row = |policy: &str, workload: &str, metric: &str, base: f64, mean: f64| {
            json!({
                "workload": workload, "metric": metric, "configuration": policy,
                "mean_baseline": base, "mean": mean, "ratio": mean / base,
                "verdict": "established",
            })
        };
        let of = |policy: &str, cpus: u32| {
            let mut rows = vec![
                row(policy, "crowd", "modelled_energy", 100.0, 60.0),
                row(policy, "browser", "render_time_mean", 25e6, 50e6),
            ];
            for cpu in 0..cpus {
                let metric = format!("cpu{cpu}_non_idle_share");
                rows.push(row(policy, "crowd", &metric, 10.0 + f64::from(cpu), 1.0));
            }
            report(json!({"baseline": "none", "comparisons": rows}))
        };
        let made = machines(&[of("pack-full", 2), of("power-4", 8)]);
        let lines: Vec<&str> = made.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| 2 | EEVDF | 10, 11 | 100 |  | 25.0 ms |  | – |  |",
                "|  | `pack-full` | 1, 1 | 60.0 | 0.600 | 50.0 ms | 2.00 | – | – |",
                "| 8 | EEVDF | 10, 11, 12, 13, 14, 15, 16, 17 | 100 |  | 25.0 ms |  | – |  |",
                "|  | `power`, `domain = 4` | 1, 1, 1, 1, 1, 1, 1, 1 | 60.0 | 0.600 | 50.0 ms | 2.00 | – | – |",
            ]
        );
    }

    #[test]
    fn a_claim_stands_once_with_what_became_of_it_on_each_machine() {
        let of = |outcome: &str| {
            report(json!({"claims": [
                {"text": "a < b on m", "outcome": outcome},
                {"text": "a > b on n", "outcome": "undecided"},
            ]}))
        };
        assert_eq!(
            claims(&[of("upheld"), of("refuted")]),
            "| declared | 2 CPUs | 8 CPUs |\n| --- | --- | --- |\n\
             | `a < b on m` | upheld | refuted |\n| `a > b on n` | undecided | undecided |\n"
        );
    }
}
