//! The trade-offs that an experiment asks for.

#![allow(clippy::unwrap_used)] // A test may fail.

use assize_plan::{BetterDirection, Overrides, Plan};

use crate::common::{plan, read};

const FILE: &str = r#"
title = "t"
runs = 2
aa = true
instruments = ["cpu-idle"]
primary = [{ metric = "render_time_mean", better = "lower" }]
higher_is_better = ["score"]

[[tradeoffs]]
x = { metric = "render_time_mean", workload = "pages" }
y = { metric = "score", workload = "score" }

[[tradeoffs]]
x = { metric = "cpus_used", better = "higher" }
y = { metric = "cpus_non_idle", better = "lower" }

[factors.cpus.two]
cpus = 2
[factors.cpus.four]
cpus = 4

[workloads.pages]
kind = "browser"

[workloads.score]
kind = "cpu-score"
"#;

#[test]
fn a_tradeoff_takes_each_metric_on_its_workload_and_says_where_it_was_asked_for() {
    let plan = plan(FILE);
    let first = &plan.tradeoffs[0];
    assert_eq!(
        (&*first.x.metric, &*first.x.workload),
        ("render_time_mean", "pages")
    );
    assert_eq!((&*first.y.metric, &*first.y.workload), ("score", "score"));
    // The direction declared at the top of the file need not be repeated.
    assert_eq!(
        (first.x.better, first.y.better),
        (BetterDirection::Lower, BetterDirection::Higher)
    );
    assert_eq!(first.place, "x.toml:9: tradeoffs[0]");
}

#[test]
fn without_workloads_there_is_one_for_each_that_gives_both() {
    let plan = plan(FILE);
    let rest = &plan.tradeoffs[1..];
    let workloads: Vec<(&str, &str)> = rest
        .iter()
        .map(|one| (&*one.x.workload, &*one.y.workload))
        .collect();
    assert_eq!(workloads, [("pages", "pages"), ("score", "score")]);
    let directions = rest.iter().map(|one| (one.x.better, one.y.better));
    assert!(
        directions
            .into_iter()
            .all(|both| both == (BetterDirection::Higher, BetterDirection::Lower))
    );
}

#[test]
fn a_plan_with_tradeoffs_survives_json_and_an_experiment_without_has_none_in_it() {
    let with = plan(FILE);
    let text = serde_json::to_string(&with).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), with);
    let head = &FILE[..FILE.find("[[tradeoffs]]").unwrap()];
    let tail = &FILE[FILE.find("[factors").unwrap()..];
    let without = read(&format!("{head}{tail}"));
    let plan = without.plan(&Overrides::default()).unwrap();
    assert!(
        !serde_json::to_string(&plan)
            .unwrap()
            .contains("\"tradeoffs\":")
    );
}
