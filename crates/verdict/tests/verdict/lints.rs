//! Each lint is reported where it applies, and nowhere else.

use assize_bundle::{Doubt, Measurement, Place, Records, Run, Statement, Unsupported};
use assize_verdict::{Document, Options, Verdict};

use crate::common::{grouped, in_blocks, in_order, lints, queue_records, run, runs_of, tried};

fn judged(records: &Records) -> Document {
    tried(records, &Options::default())
}

#[test]
fn the_queue_figures_have_exactly_these_lints() {
    let document = judged(&queue_records());
    let codes: Vec<&str> = document.lints.iter().map(|l| l.code.as_str()).collect();
    assert_eq!(
        codes,
        [
            "n-too-small",
            "unsupported-counter",
            "unrandomised-order",
            "constant-metric",
            "aliased-counters",
        ]
    );
    assert_eq!(
        lints(&document, "n-too-small"),
        [
            "glxgears, weston-simple-egl: 3 against 3 runs: the smallest attainable p is 0.1; \
             4 against 4 would reach 0.0286"
        ]
    );
    assert_eq!(
        lints(&document, "constant-metric"),
        [
            "task-clock: equals 16 CPUs x elapsed time within 0.5 % in all 30 runs: it is a \
             clock, not a measure of work"
        ]
    );
    assert!(lints(&document, "aliased-counters")[0].starts_with(
        "cpu_atom/cycles/, cpu_core/cycles/: agree within 1 in 10,000 in all 30 runs"
    ));
    assert_eq!(
        lints(&document, "unsupported-counter"),
        ["cpu_atom/instructions/: not supported in 30 runs"]
    );
}

#[test]
fn a_clock_of_one_cpu_is_not_constant_and_a_still_metric_is() {
    let row = |repetition, clock, elapsed| {
        run(
            "a",
            "w",
            repetition,
            &[
                ("task-clock", "msec", clock),
                ("elapsed", "s", elapsed),
                ("limit", "", 64.0),
            ],
        )
    };
    let mut records = Records {
        runs: in_order(vec![
            row(1, 1000.0, 1.0),
            row(2, 1101.0, 1.1),
            row(3, 1202.0, 1.2),
        ]),
        ..Records::default()
    };
    let found = lints(&judged(&records), "constant-metric");
    assert_eq!(found, ["limit: does not vary (64) in all 3 runs"]);
    records.runs.truncate(2);
    assert!(lints(&judged(&records), "constant-metric").is_empty());
}

#[test]
fn small_or_differing_counters_are_not_aliased() {
    let row = |repetition, a: f64, b: f64| run("c", "w", repetition, &[("a", "", a), ("b", "", b)]);
    let records = |rows: Vec<Run>| Records {
        runs: in_order(rows),
        ..Records::default()
    };
    let aliased = records(vec![row(1, 5000.0, 5000.2), row(2, 6000.0, 6000.0)]);
    assert_eq!(lints(&judged(&aliased), "aliased-counters").len(), 1);
    let small = records(vec![row(1, 500.0, 500.0), row(2, 600.0, 600.0)]);
    assert!(lints(&judged(&small), "aliased-counters").is_empty());
    let apart = records(vec![row(1, 5000.0, 5000.0), row(2, 6000.0, 6001.0)]);
    assert!(lints(&judged(&apart), "aliased-counters").is_empty());
}

/// CPU utilisation of three CPUs, two runs of each scheduler patch set
/// (linux-kernel, May 2013); in one set, two columns repeat.
fn packing_records() -> Records {
    let table: [(&str, &str, u32, [f64; 3]); 12] = [
        ("audio", "3.9", 1, [11.96, 2.86, 2.48]),
        ("audio", "3.9", 2, [12.64, 2.81, 1.88]),
        ("audio", "rlb-v4", 1, [12.61, 2.44, 1.90]),
        ("audio", "rlb-v4", 2, [12.45, 2.44, 1.90]),
        ("audio", "pst-v4", 1, [16.14, 0.05, 0.00]),
        ("audio", "pst-v4", 2, [16.34, 0.06, 0.00]),
        ("cyclictest", "3.9", 1, [9.13, 8.88, 8.41]),
        ("cyclictest", "3.9", 2, [10.27, 8.02, 6.30]),
        ("cyclictest", "rlb-v4", 1, [8.88, 8.09, 8.11]),
        ("cyclictest", "rlb-v4", 2, [8.49, 8.09, 8.11]),
        ("cyclictest", "pst-v4", 1, [21.32, 0.21, 0.05]),
        ("cyclictest", "pst-v4", 2, [21.56, 0.21, 0.04]),
    ];
    let runs = table
        .iter()
        .map(|(workload, configuration, repetition, values)| {
            let names = ["cpu 0", "cpu 1", "cpu 2"];
            let metrics: Vec<_> = names
                .iter()
                .zip(values)
                .map(|(&name, &value)| (name, "%", value))
                .collect();
            run(configuration, workload, *repetition, &metrics)
        });
    Records {
        runs: in_order(runs.collect()),
        ..Records::default()
    }
}

#[test]
fn repeated_columns_are_one_lint_per_pair_of_runs() {
    let document = judged(&packing_records());
    assert_eq!(
        lints(&document, "duplicate-rows"),
        [
            "rlb-v4, runs 1 and 2: identical to the last digit: cpu 1 and cpu 2 on audio and \
             cyclictest"
        ]
    );
    let mut records = packing_records();
    for run in &mut records.runs {
        let value = &mut run.metrics.get_mut("cpu 2").unwrap().value;
        *value += 0.01 * f64::from(run.order);
    }
    assert!(lints(&judged(&records), "duplicate-rows").is_empty());
}

#[test]
fn a_run_posted_twice_under_two_names_is_found() {
    let mut records = queue_records();
    records.runs[8].metrics = records.runs[2].metrics.clone();
    assert_eq!(
        lints(&judged(&records), "duplicate-rows"),
        [
            "DRM sched on glxgears, run 3; No opt on glxgears, run 3: all 9 metrics are \
             identical to the last digit"
        ]
    );
}

#[test]
fn an_outlier_needs_five_runs_and_distance() {
    let values = [10.0, 10.1, 10.2, 9.9, 10.05, 14.0];
    let records = runs_of("w", "t", "s", &[("a", &values)]);
    assert_eq!(
        lints(&judged(&records), "outlier-run"),
        ["a on w, run 6: is far from the other runs in t"]
    );
    let records = runs_of("w", "t", "s", &[("a", &values[..5])]);
    assert!(lints(&judged(&records), "outlier-run").is_empty());
}

#[test]
fn an_alternating_order_is_not_grouped_and_blocks_excuse_any() {
    let rows: [(&str, &[f64]); 2] = [("a", &[1.0, 1.2, 1.1]), ("b", &[1.3, 1.5, 1.4])];
    let records = runs_of("w", "t", "s", &rows);
    assert!(lints(&judged(&records), "unrandomised-order").is_empty());
    let records = grouped(records);
    assert_eq!(lints(&judged(&records), "unrandomised-order").len(), 1);
    let records = in_blocks(records);
    assert!(lints(&judged(&records), "unrandomised-order").is_empty());
}

#[test]
fn a_trend_over_the_order_is_drift() {
    let rising: Vec<f64> = (0..8).map(|i| 10.0 + 0.1 * f64::from(i)).collect();
    let records = runs_of("w", "t", "s", &[("a", &rising)]);
    let found = lints(&judged(&records), "drift");
    assert!(found[0].starts_with("t on w: increases over the order of runs"));
    let mixed = [10.3, 10.0, 10.6, 10.1, 10.5, 10.2, 10.4, 10.3];
    let records = runs_of("w", "t", "s", &[("a", &mixed)]);
    assert!(lints(&judged(&records), "drift").is_empty());
}

/// Two runs per block, both with the block's deviation.
fn blocks_of(deviations: &[f64]) -> assize_bundle::Records {
    let side = |more: f64| -> Vec<f64> {
        let noise = |at: usize| 0.001 * ((at * 7 + 3) % 5) as f64;
        let all = deviations.iter().enumerate();
        all.map(|(at, one)| 10.0 + one + more + noise(at)).collect()
    };
    let (a, b) = (side(0.0), side(0.5));
    in_blocks(runs_of("w", "t", "s", &[("a", &a), ("b", &b)]))
}

#[test]
fn what_blocks_have_in_common_is_one_point_of_a_trend() {
    // By runs, each value occurs twice and this is a trend; by blocks it is not (tau 0.57, p 0.06).
    let mixed = [0.1, 0.0, 0.2, 0.5, 0.3, 0.15, 0.4, 0.6];
    let records = blocks_of(&mixed);
    assert!(lints(&judged(&records), "drift").is_empty());
    let rising: Vec<f64> = (0..8).map(|at| 0.1 * f64::from(at)).collect();
    assert_eq!(lints(&judged(&blocks_of(&rising)), "drift").len(), 1);
}

#[test]
fn no_drift_is_where_each_run_goes_on_from_an_image() {
    let rising: Vec<f64> = (0..8).map(|at| 0.1 * f64::from(at)).collect();
    let mut records = blocks_of(&rising);
    for run in &mut records.runs {
        run.image = run.block;
    }
    assert!(lints(&judged(&records), "drift").is_empty());
}

#[test]
fn a_run_of_a_schedule_is_called_by_its_index() {
    let mut values = [10.0, 10.01, 10.02, 10.0, 10.01, 10.02, 10.0, 15.0];
    let mut records = in_blocks(runs_of("w", "t", "s", &[("a", &values)]));
    for run in &mut records.runs {
        run.order = 60 + run.repetition;
    }
    assert_eq!(
        lints(&judged(&records), "outlier-run"),
        ["a on w, run 68: is far from the other runs in t"]
    );
    values.reverse();
    let records = runs_of("w", "t", "s", &[("a", &values)]);
    assert_eq!(
        lints(&judged(&records), "outlier-run"),
        ["a on w, run 1: is far from the other runs in t"]
    );
}

#[test]
fn an_order_that_nobody_knows_shows_nothing() {
    let rising: Vec<f64> = (0..8).map(|i| 10.0 + 0.1 * f64::from(i)).collect();
    let more: Vec<f64> = rising.iter().map(|value| value + 2.0).collect();
    let mut records = grouped(runs_of("w", "t", "s", &[("a", &rising), ("b", &more)]));
    assert!(!lints(&judged(&records), "drift").is_empty());
    records.order_unknown = true;
    let document = judged(&records);
    for code in ["drift", "dependent-runs", "unrandomised-order"] {
        assert!(lints(&document, code).is_empty(), "{code}");
    }
    assert_eq!(document.comparisons[0].verdict, Verdict::Established);
}

#[test]
fn a_configuration_of_another_experiment_is_no_hole() {
    let mut records = runs_of("w", "t", "s", &[("a", &[1.0, 2.0]), ("b", &[1.0, 2.5])]);
    let quoted = runs_of("quoted", "t", "s", &[("old", &[1.0]), ("older", &[2.0])]);
    records.runs.extend(quoted.runs);
    assert!(lints(&judged(&records), "missing-cell").is_empty());
    let second = runs_of("v", "t", "s", &[("a", &[1.0, 2.0]), ("c", &[1.0, 2.5])]);
    records.runs.extend(second.runs);
    assert_eq!(
        lints(&judged(&records), "missing-cell"),
        ["w: no runs of c", "v: no runs of b"]
    );
}

#[test]
fn a_missing_metric_is_a_hole_unless_it_is_unsupported() {
    let mut records = queue_records();
    for run in &mut records.runs {
        if run.configuration == "IRQ" && run.workload == "glxgears" {
            run.metrics.shift_remove("cpu-migrations");
        }
    }
    records.factors.clear();
    assert_eq!(
        lints(&judged(&records), "missing-cell"),
        ["IRQ on glxgears: no value of cpu-migrations"]
    );
    records.unsupported.push(Unsupported {
        configuration: "irq".into(),
        workload: "glxgears".into(),
        metric: "cpu-migrations".into(),
        reason: "not counted".into(),
        place: Place::default(),
    });
    assert!(lints(&judged(&records), "missing-cell").is_empty());
}

#[test]
fn a_unit_is_missed_where_a_count_is_impossible() {
    let records = runs_of("w", "render time", "", &[("a", &[812.0, 795.0])]);
    assert_eq!(lints(&judged(&records), "unit-unknown").len(), 1);
    let records = runs_of("w", "score", "", &[("a", &[4139.0, 4148.0])]);
    assert!(lints(&judged(&records), "unit-unknown").is_empty());
    let records = runs_of("w", "score", "", &[("a", &[4139.5, 4148.0])]);
    assert_eq!(lints(&judged(&records), "unit-unknown").len(), 1);
    // The name contains the unit, except for a time.
    for (name, doubtful) in [("switches_per_job", 0), ("latency per job", 1)] {
        let records = runs_of("w", name, "", &[("a", &[1.5, 2.0])]);
        let found = lints(&judged(&records), "unit-unknown");
        assert_eq!(found.len(), doubtful, "{name}");
    }
}

#[test]
fn one_name_in_two_units_is_told_and_never_compared() {
    let mut records = runs_of("w", "t", "s", &[("a", &[1.0, 2.0])]);
    records
        .runs
        .extend(runs_of("w", "t", "jiffies", &[("b", &[1000.0, 2000.0])]).runs);
    let document = judged(&records);
    assert!(document.comparisons.is_empty());
    assert_eq!(
        lints(&document, "unit-unknown"),
        [
            "t: given in s and jiffies, which cannot be converted into each other: each is judged \
          separately"
        ]
    );
}

#[test]
fn statements_and_doubts_name_their_lines() {
    let statement = |line, normalised: Option<&str>| Statement {
        configuration: None,
        workload: None,
        metric: "throughput".into(),
        unit: String::new(),
        value: 1.2,
        normalised_to: normalised.map(str::to_owned),
        not_admitted: false,
        place: Place { message: 1, line },
    };
    let not_admitted = |line| Statement {
        not_admitted: true,
        ..statement(line, None)
    };
    let records = Records {
        statements: vec![
            statement(7, Some("vanilla")),
            statement(8, Some("vanilla")),
            not_admitted(5),
            statement(9, None),
        ],
        doubts: vec![Doubt {
            code: "torn-line".into(),
            detail: "a number is broken over two lines".into(),
            place: Place {
                message: 2,
                line: 31,
            },
        }],
        ..Records::default()
    };
    let document = judged(&records);
    assert_eq!(
        lints(&document, "normalised-values"),
        [
            "line 7: 2 figures are normalised to vanilla: neither the values nor their number \
             of runs can be recovered"
        ]
    );
    assert_eq!(
        lints(&document, "n-too-small"),
        ["line 9: 1 figure is given without a number of runs"]
    );
    assert_eq!(
        lints(&document, "torn-line"),
        ["message 2, line 31: a number is broken over two lines"]
    );
}

#[test]
fn a_metric_that_one_of_two_lacks_is_a_hole_if_they_share_another() {
    let rows = |metric, rows: &[(&str, &[f64])]| runs_of("w", metric, "s", rows);
    let both: [(&str, &[f64]); 2] = [("a", &[1.0, 2.0]), ("b", &[1.0, 2.5])];
    let mut records = rows("t", &both);
    assert!(lints(&judged(&records), "missing-cell").is_empty());
    records.runs[0]
        .metrics
        .insert("x".into(), Measurement::new(3.0, ""));
    assert_eq!(
        lints(&judged(&records), "missing-cell"),
        ["b on w: no value of x"]
    );
    // The same name exists in another unit.
    records.runs[3]
        .metrics
        .insert("x".into(), Measurement::new(3.0, "apples"));
    assert!(lints(&judged(&records), "missing-cell").is_empty());
    // Configurations that were measured by different tools do not lack metrics.
    let mut records = rows("t", &both[..1]);
    records.runs.extend(rows("u", &both[1..]).runs);
    assert!(lints(&judged(&records), "missing-cell").is_empty());
}
