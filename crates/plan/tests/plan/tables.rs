//! The report tables that an experiment asks for.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_plan::{Overrides, Plan};

use crate::common::{plan, read};

const FILE: &str = r#"
title = "t"
runs = 2
aa = true
exclude = [{ worker = "bypass", hogs = "two" }]

[[tables]]
metric = "jitter"
workloads = ["normal", "fifo"]
normalised_to = "normal"

[[tables]]
metric = [
    "round_trip_ns_mad",
    "round_trip_ns_max",
]
factor = "hogs"

[factors.worker.workqueue]
[factors.worker.follow]
environment = { W = "1" }
[factors.worker.bypass]
environment = { W = "2" }
[factors.hogs.none]
[factors.hogs.two]
environment = { H = "2" }

[workloads.normal]
kind = "command"
argv = ["true"]
metrics = ["jitter", "round_trip_ns_mad", "round_trip_ns_max"]

[workloads.fifo]
kind = "command"
argv = ["true", "x"]
metrics = ["jitter", "round_trip_ns_mad", "round_trip_ns_max"]

[workloads.other]
kind = "command"
argv = ["true", "y"]
metrics = ["jitter", "round_trip_ns_mad", "round_trip_ns_max"]
"#;

#[test]
fn each_metric_has_a_table_and_says_where_it_was_named() {
    let plan = plan(FILE);
    let shown: Vec<(&str, usize, &str)> = plan
        .tables
        .iter()
        .map(|table| (&*table.metric, table.workloads.len(), &*table.place))
        .collect();
    assert_eq!(
        shown,
        [
            ("jitter", 2, "x.toml:8: tables[0].metric"),
            ("round_trip_ns_mad", 3, "x.toml:14: tables[1].metric[0]"),
            ("round_trip_ns_max", 3, "x.toml:15: tables[1].metric[1]"),
        ]
    );
    let first = &plan.tables[0];
    assert_eq!(first.normalised_to.as_deref(), Some("normal"));
    assert_eq!(first.factor, None);
    assert!(first.baselines.is_empty());
    // Without `workloads`, the table has all workloads in the order of the file.
    assert_eq!(plan.tables[1].workloads, ["normal", "fifo", "other"]);
}

#[test]
fn a_factor_names_what_each_configuration_is_compared_with() {
    let pairs = |plan: &Plan| -> Vec<(String, String)> {
        let pairs = plan.tables[1].baselines.iter();
        pairs.map(|(of, to)| (of.clone(), to.clone())).collect()
    };
    let named = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let own = |(of, to): &(&str, &str)| ((*of).to_owned(), (*to).to_owned());
        pairs.iter().map(own).collect()
    };
    assert_eq!(
        pairs(&plan(FILE)),
        named(&[
            ("workqueue+none", "workqueue+none"),
            ("workqueue+none/aa", "workqueue+none"),
            ("workqueue+two", "workqueue+none"),
            ("follow+none", "follow+none"),
            ("follow+two", "follow+none"),
            ("bypass+none", "bypass+none"),
        ])
    );
    // If the baseline combination is excluded, there is nothing to compare with.
    let without = FILE.replace(
        "{ worker = \"bypass\", hogs = \"two\" }",
        "{ worker = \"follow\", hogs = \"none\" }",
    );
    let plan = plan(&without);
    assert!(pairs(&plan).iter().all(|(of, _)| of != "follow+two"));
    assert_eq!(plan.configurations.len(), 6);
}

#[test]
fn the_first_level_that_is_kept_is_the_one_compared_with() {
    let overrides = Overrides {
        levels: [("hogs".to_owned(), vec!["two".to_owned()])].into(),
        ..Overrides::default()
    };
    let plan = read(FILE).plan(&overrides).unwrap();
    let table = &plan.tables[1];
    assert_eq!(table.baselines.len(), plan.configurations.len());
    assert!(
        table
            .baselines
            .iter()
            .all(|(of, to)| of == to || of.ends_with("/aa"))
    );
}

#[test]
fn a_plan_with_tables_survives_json() {
    let plan = plan(FILE);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}
