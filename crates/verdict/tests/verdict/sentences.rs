//! The sentences of the summary.

use assize_bundle::{Records, Statement};
use assize_verdict::{Options, Verdict};

use crate::common::{hwlat_records, in_turns, queue_records, run, runs_of, tried};

fn sentences(records: &Records, options: &Options) -> Vec<String> {
    let document = tried(records, options);
    document.sentences.into_iter().map(|s| s.text).collect()
}

#[test]
fn of_the_queue_figures_only_what_all_tests_leave_is_told() {
    // Among 126 tests, no row of package energy is rejected (see the figures in comparisons.rs).
    let found = sentences(&queue_records(), &Options::default());
    assert_eq!(
        found,
        [
            "The effect of irq on power/energy-pkg/ on glxgears depends on bypass: 0.992 \
             without it, 1.10 with it (interaction 1.11 [1.06, 1.16], corrected p 0.0466, \
             supported, not established).",
            "3 against 3 runs cannot establish anything: the smallest attainable p is 0.1; 4 \
             would reach 0.0286.",
        ]
    );
}

fn primary_energy() -> Options {
    Options {
        primary: vec!["power/energy-pkg/".into()],
        ..Options::default()
    }
}

#[test]
fn package_energy_as_the_question_is_told_with_intervals_of_its_family() {
    let found = sentences(&queue_records(), &primary_energy());
    // With 14 tests at four fifths of alpha three rows remain, the first with the interval at level
    // 1 - 0.04 / 14 (scipy).
    assert!(
        found[0].starts_with(
            "power/energy-pkg/ is lower with Bypass on weston-simple-egl (0.871 [0.768, 0.988]) \
             (supported, not established), and is higher with IRQ on glxgears (1.07 ["
        ) && found[0].ends_with("; 5 of 8 comparisons are undecided."),
        "{found:?}"
    );
    assert!(
        found[1]
            .starts_with("The effect of irq on power/energy-pkg/ on glxgears depends on bypass")
            && found[1].contains("corrected p 0.0067"),
        "{found:?}"
    );
}

#[test]
fn every_sentence_names_rows_that_carry_it() {
    let document = tried(&queue_records(), &primary_energy());
    let differs = |word| matches!(word, Verdict::Established | Verdict::Supported);
    let rows = document.comparisons.iter();
    let rows = rows.filter(|c| differs(c.verdict));
    let rows = rows.map(|c| format!("{} {} {}", c.workload, c.metric, c.configuration));
    let effects = document.factorial.iter().flat_map(|fit| {
        let of = fit.effects.iter().filter(|e| differs(e.verdict));
        of.map(move |e| format!("{} {} {}", fit.workload, fit.metric, e.name))
    });
    let carry: Vec<String> = rows
        .chain(effects)
        .chain(document.workloads.clone())
        .collect();
    assert!(document.sentences.len() > 2);
    for sentence in &document.sentences {
        assert!(!sentence.rows.is_empty());
        for name in &sentence.rows {
            assert!(carry.contains(name), "{name}: {}", sentence.text);
        }
    }
}

#[test]
fn weak_figures_are_not_told() {
    // Only the uncorrected intervals exclude 1.
    let mut records = queue_records();
    records.factors.clear();
    records.runs.retain(|r| {
        r.workload == "glxgears" && ["DRM sched", "No opt"].contains(&&*r.configuration)
    });
    let options = Options {
        alpha: 0.01,
        ..Options::default()
    };
    assert_eq!(
        sentences(&records, &options),
        [
            "3 against 3 runs cannot establish anything: the smallest attainable p is 0.1; 5 \
             would reach 0.00794."
        ]
    );
}

#[test]
fn a_metric_of_which_more_is_better_may_rise_where_others_fall() {
    let low = [10.0, 10.1, 10.2, 10.3, 10.15];
    let high = [20.0, 20.1, 20.2, 20.3, 20.15];
    let mut records = runs_of("w", "power", "W", &[("a", &high), ("b", &low)]);
    for (metric, a, b) in [("latency", &high, &low), ("rate", &low, &high)] {
        let more = runs_of("w", metric, "u", &[("a", a), ("b", b)]);
        for (run, more) in records.runs.iter_mut().zip(more.runs) {
            run.metrics.extend(more.metrics);
        }
    }
    let found = sentences(&records, &Options::default());
    assert!(
        found[0].starts_with("rate is higher on w with b (1.99"),
        "{found:?}"
    );
    assert!(
        found[0].ends_with("while power and latency are lower."),
        "{found:?}"
    );
    let options = Options {
        higher_is_better: vec!["rate".into()],
        ..Options::default()
    };
    let found = sentences(&records, &options);
    assert!(!found.iter().any(|s| s.contains("while")), "{found:?}");
}

#[test]
fn a_plain_difference_is_told_plainly() {
    let rows: [(&str, &[f64]); 2] = [
        ("old", &[10.2, 10.0, 10.1, 9.9]),
        ("new", &[9.1, 9.0, 9.2, 9.1]),
    ];
    assert_eq!(
        sentences(&runs_of("build", "time", "s", &rows), &Options::default()),
        ["time is lower on build with new (0.906 [0.887, 0.924])."]
    );
    let rows: [(&str, &[f64]); 2] = [
        ("old", &[10.2, 10.0, 10.1, 9.9]),
        ("new", &[10.0, 10.3, 9.8, 10.1]),
    ];
    assert_eq!(
        sentences(&runs_of("build", "time", "s", &rows), &Options::default()),
        ["The only comparison shows no difference; nor is any pair shown to be equal."]
    );
}

#[test]
fn events_are_told_with_their_exposure() {
    assert_eq!(
        sentences(&hwlat_records(Some(300.0)), &Options::default()),
        [
            "hwlat events on fbcon: 0 in 300 s with V6.6 + no Write Combine, 6 in 300 s with V6.6: \
             p assuming independent events 0.0313, not established.",
            "hwlat events on fbcon: 3 in 300 s with V6.6 + clflush, 6 in 300 s with V6.6: p \
             assuming independent events 0.508, not established.",
        ]
    );
    assert_eq!(
        sentences(&hwlat_records(None), &Options::default()),
        [
            "hwlat events on fbcon: 6 with V6.6, 3 with V6.6 + clflush and 0 with V6.6 + no Write \
             Combine; the time of exposure is not given, so no rate can be tested."
        ]
    );
}

#[test]
fn where_nothing_can_be_compared_the_reason_is_told() {
    let empty = Records::default();
    assert_eq!(
        sentences(&empty, &Options::default()),
        ["No claim can be judged: no figures were found."]
    );
    let alone = runs_of("w", "t", "s", &[("a", &[1.0, 2.0])]);
    assert_eq!(
        sentences(&alone, &Options::default()),
        ["No claim can be judged: only one configuration was recorded."]
    );
    let stated = Records {
        statements: vec![Statement {
            configuration: None,
            workload: None,
            metric: "m".into(),
            unit: String::new(),
            value: 1.0,
            normalised_to: Some("base".into()),
            not_admitted: false,
            place: assize_bundle::Place::default(),
        }],
        ..Records::default()
    };
    assert_eq!(
        sentences(&stated, &Options::default()),
        ["No claim can be judged: there are only normalised figures without a number of runs."]
    );
    let mut refused = stated.clone();
    refused.statements[0].normalised_to = None;
    refused.statements[0].not_admitted = true;
    assert_eq!(
        sentences(&refused, &Options::default()),
        [
            "No claim can be judged: nothing says that the figures that were read belong to a \
             comparison."
        ]
    );
}

fn of_primary(records: &Records, metric: &str) -> String {
    let options = Options {
        primary: vec![metric.into()],
        ..Options::default()
    };
    sentences(records, &options).swap_remove(0)
}

#[test]
fn what_was_declared_primary_is_told_first() {
    assert_eq!(
        of_primary(&queue_records(), "context-switches"),
        "context-switches is lower with IRQ plus bypass on 2 workloads (most on glxgears: 0.662 [0.635, 0.690]), with Bypass on 2 workloads (most on glxgears: 0.791 [0.766, 0.817]) and with IRQ on glxgears (0.836 [0.799, 0.875]) (supported, not established); 3 of 8 comparisons are undecided."
    );
    assert_eq!(
        of_primary(&queue_records(), "elapsed"),
        "context-switches is lower on glxgears with IRQ plus bypass (0.662 [0.593, 0.738]) \
         (supported, not established)."
    );
    let rows: [(&str, &[f64]); 3] = [
        ("old", &[10.2, 10.0, 10.1, 9.9]),
        ("new", &[9.1, 9.0, 9.2, 9.1]),
        ("odd", &[10.0, 10.3, 9.8, 10.1]),
    ];
    assert_eq!(
        of_primary(&runs_of("build", "time", "s", &rows), "time"),
        "time is lower with new (0.906 [0.883, 0.928]); 1 of 2 comparisons is undecided."
    );
    assert_eq!(
        of_primary(&runs_of("build", "time", "s", &[rows[0], rows[2]]), "time"),
        "time is not shown to differ."
    );
}

#[test]
fn what_never_varies_is_traded_for_nothing() {
    let mut records = Records::default();
    for (configuration, factor, size) in [("old", 1.0, 512.0), ("new", 0.8, 712.0)] {
        for repetition in 1..=8 {
            let wobble = factor * (1.0 + f64::from(repetition * 7 % 5) / 500.0);
            records.runs.push(run(
                configuration,
                "build",
                repetition,
                &[
                    ("time", "s", 10.0 * wobble),
                    ("wait", "s", 3.0 * wobble),
                    ("delay", "s", 2.0 * wobble),
                    ("size", "B", size),
                ],
            ));
        }
    }
    records.runs = in_turns(records.runs);
    let all = sentences(&records, &Options::default());
    assert!(all.iter().all(|text| !text.contains(" while ")), "{all:?}");
    // If the metric varies, the same increase gets a sentence.
    for (at, run) in (0..).zip(&mut records.runs) {
        run.metrics.get_mut("size").unwrap().value += f64::from(at % 3);
    }
    let all = sentences(&records, &Options::default());
    assert!(all[0].starts_with("size is higher on build with new (1.39"));
    assert!(
        all[0].ends_with(" while time, wait and delay are lower."),
        "{all:?}"
    );
}

#[test]
fn what_moves_against_others_concerns_a_primary_metric_that_moves() {
    let mut records = Records::default();
    for (configuration, factor) in [("old", 1.0), ("new", 0.8)] {
        for repetition in 1..=8 {
            let wobble = 1.0 + f64::from(repetition * 7 % 5) / 500.0;
            records.runs.push(run(
                configuration,
                "build",
                repetition,
                &[
                    ("time", "s", 10.0 * factor * wobble),
                    ("wait", "s", 3.0 * factor * wobble),
                    ("power", "W", 2.0 / factor * wobble),
                ],
            ));
            records.runs.push(run(
                configuration,
                "idle",
                repetition,
                &[
                    ("faults", "", 10.0 * factor * wobble),
                    ("switches", "", 3.0 * factor * wobble),
                    ("ticks", "", 2.0 / factor * wobble),
                ],
            ));
        }
    }
    let about = |primary: &str| {
        let options = Options {
            primary: vec![primary.into()],
            ..Options::default()
        };
        let mut texts = sentences(&records, &options);
        texts.retain(|text| text.contains(" while "));
        texts
            .iter()
            .map(|text| text.split(' ').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(about("wait"), ["power"]);
    assert_eq!(about("ticks"), ["ticks"]);
}
