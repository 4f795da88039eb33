//! Features of scheduled runs: blocks, failed runs, metrics that the target
//! lacks, a repeated baseline.

use assize_bundle::{Configuration, Doubt, FailedRun, Place, Records, Run, Unavailable};
use assize_verdict::{Options, TTest, Verdict};

use crate::common::{BASE, QUEUE, lints, row, runs_of, tried};

fn blocked(rows: &[(&str, &[f64])]) -> Records {
    let mut records = runs_of("pipe", "time", "s", rows);
    for run in &mut records.runs {
        run.block = Some(run.repetition);
    }
    records
}

fn close(value: Option<f64>, wanted: f64) {
    let value = value.unwrap_or(f64::NAN);
    assert!(
        (value - wanted).abs() <= 1e-6 * wanted.abs(),
        "{value} is not {wanted}"
    );
}

#[test]
fn complete_blocks_are_compared_by_pairs() {
    let document = tried(
        &blocked(&[("base", &BASE), ("queue", &QUEUE)]),
        &Options::default(),
    );
    let found = row(&document, "pipe", "time", "queue");
    assert_eq!(found.t_test, Some(TTest::Paired));
    // The ratio is from scipy.stats.ttest_rel of the logarithms; the interval is the 6th and the
    // 250th of the means of all subsets of their differences, in numpy.
    close(found.ratio, 0.901847210695);
    close(found.ci.map(|ci| ci[0]), 0.894677695750);
    close(found.ci.map(|ci| ci[1]), 0.909166284754);
    close(found.p_t, 3.60024007747e-09);
    close(found.p, 2.0 / 256.0);
    assert_eq!(found.verdict, Verdict::Established);
}

#[test]
fn an_interval_leaves_out_1_where_all_blocks_but_a_far_one_agree() {
    let factors = [1.004, 1.006, 1.003, 1.008, 1.005, 1.004, 1.007, 1.35];
    let queue: Vec<f64> = BASE.iter().zip(factors).map(|(b, f)| b * f).collect();
    let document = tried(
        &blocked(&[("base", &BASE), ("queue", &queue)]),
        &Options::default(),
    );
    let found = row(&document, "pipe", "time", "queue");
    assert_eq!(found.verdict, Verdict::Established);
    // The t test, which the outlying block affects strongly, would give 0.956 to 1.138.
    close(found.ci.map(|ci| ci[0]), 1.003999667994578);
    close(found.ci.map(|ci| ci[1]), 1.1642164747159354);
    assert!(found.ci_simultaneous.is_some_and(|ci| ci[0] >= 1.0));
}

#[test]
fn without_blocks_the_same_runs_are_independent() {
    let records = runs_of("pipe", "time", "s", &[("base", &BASE), ("queue", &QUEUE)]);
    let document = tried(&records, &Options::default());
    let found = row(&document, "pipe", "time", "queue");
    assert_eq!(found.t_test, Some(TTest::Welch));
    assert_eq!(found.verdict, Verdict::Undecided);
}

#[test]
fn a_run_whose_partner_failed_is_left_out_and_the_row_says_so() {
    let mut records = blocked(&[("base", &BASE), ("queue", &QUEUE)]);
    let at = records
        .runs
        .iter()
        .position(|r| r.configuration == "queue" && r.repetition == 3);
    records.runs.remove(at.unwrap());
    records.failures.push(FailedRun {
        configuration: "queue".into(),
        workload: "pipe".into(),
        repetition: 3,
        order: 10,
        block: Some(3),
        why: "kernel panic: not syncing".into(),
        console: "the last line".into(),
        ..FailedRun::default()
    });
    let document = tried(&records, &Options::default());
    let found = row(&document, "pipe", "time", "queue");
    assert_eq!((found.n_baseline, found.n), (Some(7), Some(7)));
    assert_eq!(found.t_test, Some(TTest::Paired));
    assert_eq!(
        found.because.as_deref(),
        Some(
            "1 run left out, without a partner in the same block; runs completed: 7 of 8, of the \
             baseline 8 of 8"
        )
    );
    assert_eq!(
        lints(&document, "failed-run"),
        [
            "queue on pipe: 1 of 8 runs failed: kernel panic: not syncing; comparisons use \
          the 7 runs left"
        ]
    );
}

#[test]
fn figures_that_do_not_differ_at_all_are_equivalent_and_not_nan() {
    let fine = BASE.map(|value| value * (1.0 + 0.01 * value.sin()));
    let document = tried(
        &blocked(&[("base", &fine), ("queue", &fine)]),
        &Options::default(),
    );
    let found = row(&document, "pipe", "time", "queue");
    assert_eq!((found.ratio, found.ci), (Some(1.0), Some([1.0, 1.0])));
    // If the differences do not vary, there is no t test.
    assert_eq!((found.p_t, found.p), (None, Some(1.0)));
    assert_eq!(found.verdict, Verdict::Equivalent);
    // On the exact target this is no suspicious repetition, but a change without effect.
    assert!(lints(&document, "duplicate-rows").is_empty());
}

#[test]
fn reasons_of_failures_are_counted() {
    let mut records = blocked(&[("base", &BASE)]);
    for (repetition, why) in [
        (1, "not done after 60 s"),
        (2, "panic"),
        (3, "not done after 60 s"),
    ] {
        records.failures.push(FailedRun {
            configuration: "queue".into(),
            workload: "pipe".into(),
            repetition,
            order: 20 + repetition,
            block: Some(repetition),
            why: why.into(),
            console: String::new(),
            ..FailedRun::default()
        });
    }
    let document = tried(&records, &Options::default());
    assert_eq!(
        lints(&document, "failed-run"),
        [
            "queue on pipe: 3 of 3 runs failed: not done after 60 s (2 times) and panic; nothing \
          is compared there"
        ]
    );
}

fn failing(configuration: &str, workload: &str, repetition: u32, why: &str) -> FailedRun {
    FailedRun {
        configuration: configuration.into(),
        workload: workload.into(),
        repetition,
        order: 30 + repetition,
        block: Some(repetition),
        why: why.into(),
        console: String::new(),
        ..FailedRun::default()
    }
}

#[test]
fn what_failed_altogether_is_said_first() {
    let mut records = blocked(&[("base", &BASE), ("queue", &QUEUE)]);
    for repetition in 1..=3 {
        let why = "the workload: no such file\nat line 3\nand more";
        records
            .failures
            .push(failing("other", "pipe", repetition, why));
    }
    let first = |records: &Records| {
        let document = tried(records, &Options::default());
        document.sentences[0].clone()
    };
    let said = first(&records);
    assert_eq!(
        said.text,
        "Every run of other on pipe failed, 3 of 3: the workload: no such file; at line 3."
    );
    assert_eq!(said.rows, ["pipe"]);
    // Workloads that failed for the same reason share a sentence.
    for repetition in 1..=2 {
        let why = "the workload: no such file\nat line 3\nand more";
        records
            .failures
            .push(failing("other", "disk", repetition, why));
    }
    assert_eq!(
        first(&records).text,
        "Every run of other failed on 2 workloads (3 of 3 on pipe, 2 of 2 on disk): the workload: \
         no such file; at line 3."
    );
    // One completed run is enough for other sentences.
    records.failures.retain(|run| run.workload == "pipe");
    records.runs.push(Run::new("other", "pipe", 4));
    assert_eq!(
        first(&records).text,
        "With other there are more failed workloads than with base: in 3 of 4 runs against 0 of \
         8 (the workload: no such file)."
    );
}

#[test]
fn many_that_failed_leave_room_for_what_was_found() {
    let mut records = blocked(&[("base", &BASE), ("queue", &QUEUE)]);
    for name in ["c", "d", "e", "f", "g"] {
        records.failures.push(failing(name, "pipe", 1, "no"));
    }
    let document = tried(&records, &Options::default());
    let texts: Vec<&str> = document.sentences.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(
        texts[..3],
        [
            "Every run of c on pipe failed, 1 of 1: no.",
            "Every run of d on pipe failed, 1 of 1: no.",
            "So did every run of e on pipe, f on pipe and g on pipe."
        ]
    );
    assert!(texts.iter().any(|text| text.contains("time")), "{texts:?}");
    assert!(texts.len() <= 5);
}

#[test]
fn what_is_unavailable_or_incomplete_is_said_with_the_reason() {
    let mut records = blocked(&[("base", &BASE), ("queue", &QUEUE)]);
    let lacking = |configuration: &str, metric: Option<&str>| Unavailable {
        configuration: configuration.into(),
        workload: "pipe".into(),
        instrument: "energy".into(),
        metric: metric.map(String::from),
        reason: "no counter here".into(),
    };
    records.unavailable = vec![
        lacking("base", None),
        lacking("queue", None),
        lacking("queue", Some("energy-cores")),
    ];
    records.doubts.push(Doubt {
        code: "incomplete".into(),
        detail: "16 of 20 runs are there".into(),
        place: Place::default(),
    });
    let document = tried(&records, &Options::default());
    assert_eq!(
        lints(&document, "unavailable"),
        [
            "energy: no counter here",
            "energy-cores: no counter here (queue on pipe)"
        ]
    );
    assert_eq!(
        lints(&document, "incomplete"),
        [": 16 of 20 runs are there"]
    );
}

#[test]
fn a_repeated_baseline_is_the_noise_floor_and_in_no_family() {
    let again: Vec<f64> = BASE.iter().map(|v| v * 1.001).collect();
    let rows: [(&str, &[f64]); 3] = [("base", &BASE), ("base/aa", &again), ("queue", &QUEUE)];
    let mut records = blocked(&rows);
    records.limits = vec!["no caches are modelled".into()];
    for name in ["base", "base/aa", "queue"] {
        records.configurations.push(Configuration {
            name: name.into(),
            label: name.into(),
            repeats: (name == "base/aa").then(|| "base".into()),
            ..Configuration::default()
        });
    }
    let document = tried(&records, &Options::default());
    let names: Vec<&str> = document
        .comparisons
        .iter()
        .map(|c| c.configuration.as_str())
        .collect();
    assert_eq!(names, ["queue"]);
    let found = row(&document, "pipe", "time", "queue");
    assert_eq!(
        found.p_adjusted, found.p,
        "one test, nothing to correct for"
    );
    let [floor] = &document.noise_floor[..] else {
        panic!("{:?}", document.noise_floor);
    };
    assert_eq!(
        (floor.baseline.as_str(), floor.configuration.as_str()),
        ("base", "base/aa")
    );
    close(floor.ratio, 1.001);
    assert_eq!(floor.n, Some(8));
    assert_eq!(document.limits, ["no caches are modelled"]);
}

#[test]
fn a_baseline_and_its_repetition_alone_are_said_to_be_the_same() {
    let mut records = blocked(&[("base", &BASE), ("base/aa", &QUEUE)]);
    for (name, repeats) in [("base", None), ("base/aa", Some("base".into()))] {
        records.configurations.push(Configuration {
            name: name.into(),
            label: name.into(),
            repeats,
            ..Configuration::default()
        });
    }
    let document = tried(&records, &Options::default());
    assert!(document.comparisons.is_empty());
    assert_eq!(
        document.sentences[0].text,
        "No claim can be judged: base and base/aa are the same, so any difference is noise."
    );
}
