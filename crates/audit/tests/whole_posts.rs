//! Whole posts, as people send them: a second experiment above the first, quotations of
//! several depths, prose between figures, lists of names. What such a post measured is
//! judged, and nothing else of it is.

use std::collections::BTreeSet;

use assize_audit::{Audit, Options, read};

fn post(text: &str) -> Audit {
    read(text.as_bytes(), "post", &Options::default()).unwrap()
}

/// The runs of a configuration and a workload.
fn runs(audit: &Audit, configuration: &str, workload: &str) -> usize {
    let runs = audit.records.runs.iter();
    let of = |name: &str, wanted: &str| name == wanted;
    runs.filter(|run| of(&run.configuration, configuration) && of(&run.workload, workload))
        .count()
}

#[test]
fn reports_below_headings_are_judged_though_another_experiment_is_quoted_above() {
    let audit = post(include_str!("posts/whole/queue.txt"));
    let configurations = "Old queue|No flags|Shortcut|Early put|Early put plus shortcut";
    for configuration in configurations.split('|') {
        for workload in ["glxgears", "weston-simple-egl"] {
            let found = runs(&audit, configuration, workload);
            assert_eq!(found, 3, "{configuration} on {workload}");
        }
    }
    let mut all = audit.records.runs.iter();
    let first = all.find(|run| run.configuration == "Old queue");
    assert_eq!(first.unwrap().metrics["context-switches"].value, 71_548.0);
    // Two flags, in all combinations.
    assert_eq!(audit.records.factors.len(), 2);
}

#[test]
fn rows_that_number_two_runs_of_each_patch_set_are_judged_in_a_quotation() {
    let audit = post(include_str!("posts/whole/placement.txt"));
    let runs = audit.records.runs.iter();
    let names: BTreeSet<&str> = runs.map(|run| run.configuration.as_str()).collect();
    let wanted = ["3.9", "few-v3", "few-v4", "flat-v4", "pwr-v7"];
    assert_eq!(names, BTreeSet::from(wanted));
    assert_eq!(audit.records.workloads.len(), 4);
    assert_eq!(audit.records.runs.len(), 40);
}

#[test]
fn events_below_headings_are_judged_in_a_quotation_with_answers() {
    let audit = post(include_str!("posts/whole/framebuffer.txt"));
    let events = audit.records.events.iter();
    let counts: Vec<_> = events.map(|one| (one.count, one.exposure_s)).collect();
    assert_eq!(counts, [6, 3, 0].map(|count| (count, Some(300.0))));
}

/// All numbers that are shown and not judged.
fn shown(text: &str) -> Vec<f64> {
    let explain = Options {
        explain: true,
        ..Options::default()
    };
    let audit = read(text.as_bytes(), "post", &explain).unwrap();
    assert!(audit.records.runs.is_empty() && audit.records.summaries.is_empty());
    let stated = audit.records.statements.iter().map(|one| one.value);
    let unassigned = assize_audit::reading::unassigned(&audit);
    stated
        .chain(unassigned.iter().map(|one| one.value))
        .collect()
}

#[test]
fn percentages_of_something_are_shown_and_never_judged() {
    let got = shown(include_str!("posts/whole/percentages.txt"));
    let wanted = [
        100.0, 76.0, 1.0, 73.0, 1.2, 50.5, 48.5, 58.9, 277.0, 0.66, 60.0, 222.0, 37.8,
    ];
    for value in wanted {
        assert!(
            got.iter().any(|got| (got - value).abs() < 1e-9),
            "{value} of {got:?}"
        );
    }
}

#[test]
fn two_figures_of_a_sentence_are_shown() {
    let got = shown(include_str!("posts/whole/unreached.txt"));
    assert!(got.contains(&63.0) && got.contains(&50.0), "{got:?}");
}
