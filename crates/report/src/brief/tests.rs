#![allow(clippy::unwrap_used)] // A test may fail.

use assize_verdict::{Better, Verdict};
use serde_json::{Value, json};

use super::*;

mod fixed;
mod turned;

/// A row: workload, metric, configuration, means, ratio, interval, verdict.
fn row(
    (workload, metric, configuration): (&str, &str, &str),
    means: [f64; 2],
    ci: [f64; 2],
    verdict: &str,
) -> Value {
    json!({
        "workload": workload, "metric": metric, "unit": "ns", "baseline": "base",
        "configuration": configuration, "n_baseline": 8, "n": 8,
        "mean_baseline": means[0], "mean": means[1], "ratio": means[1] / means[0],
        "ci": ci, "ci_simultaneous": ci, "p_t": 0.01, "p": 0.01, "p_attainable": 0.001,
        "p_adjusted": 0.01, "p_t_adjusted": 0.01, "primary": true, "scale": "log",
        "difference": null, "verdict": verdict, "runs_needed": null, "because": null,
    })
}

fn document(configurations: &[&str], rows: &[Value]) -> Document {
    let none: [u8; 0] = [];
    let configuration = |name: &&str| json!({ "name": name, "label": name, "factors": {} });
    let run = |configuration: &str, value: f64, repetition: u32| {
        json!({
            "configuration": configuration, "workload": "sync", "repetition": repetition,
            "metrics": { "busy_time": { "value": value, "unit": "ns" } }, "order": repetition,
        })
    };
    let mut runs = Vec::new();
    for (at, name) in configurations.iter().enumerate() {
        let mean = [28_200.0, 15_000.0, 30_000.0][at % 3];
        for repetition in 0..3 {
            let value = mean + 500.0 * (f64::from(repetition) - 1.0);
            runs.push(run(name, value, repetition));
        }
    }
    let mut workloads: Vec<&Value> = Vec::new();
    for row in rows {
        if !workloads.contains(&&row["workload"]) {
            workloads.push(&row["workload"]);
        }
    }
    serde_json::from_value(json!({
        "schema": "assize.verdict/1", "source": "x.bundle", "baseline": "base",
        "alpha": 0.05, "margin": 0.01,
        "configurations": configurations.iter().map(configuration).collect::<Vec<_>>(),
        "workloads": workloads, "runs": runs, "summaries": none,
        "statements": none, "comparisons": rows, "factorial": none, "rates": none,
        "rate_comparisons": none, "claims": none, "lints": none, "sentences": none,
        "reproduce": "assize report x.bundle",
    }))
    .unwrap()
}

fn rendered(document: &Document, width: usize) -> String {
    let metrics = [MetricWords {
        metric: "busy_time".into(),
        title: "time CPUs were not idle".into(),
        better: Some(Better::Lower),
    }];
    let question = "Does the change cost less?";
    let asked = Brief {
        metrics: &metrics,
        question: Some(question),
        width,
        all: true,
    };
    brief(document, &asked, Style::default())
}

#[test]
fn the_answer_its_direction_size_and_certainty_come_first() {
    let rows = [
        row(
            ("sync", "busy_time", "faster"),
            [28_200.0, 15_000.0],
            [0.531, 0.533],
            "established",
        ),
        row(
            ("frames", "busy_time", "faster"),
            [71_000.0, 56_200.0],
            [0.79, 0.793],
            "established",
        ),
        row(
            ("sync", "busy_time", "slower"),
            [28_200.0, 30_000.0],
            [1.06, 1.07],
            "established",
        ),
        row(
            ("frames", "busy_time", "slower"),
            [71_000.0, 71_100.0],
            [0.98, 1.02],
            "undecided",
        ),
    ];
    let text = rendered(&document(&["base", "faster", "slower"], &rows), 110);
    assert_eq!(
        text,
        "\
Does the change cost less?
x.bundle: 9 runs, 3 configurations, 2 workloads; compared with base

Time CPUs were not idle (less is better)  [busy_time]
  faster  better in both workloads:
          sync -46.8 % (28.2 -> 15.0 us), -46.9 % to -46.7 %
          frames -20.8 % (71.0 -> 56.2 us), -21.0 % to -20.7 %
  slower  worse in 1, cannot tell in 1 of 2 workloads: sync +6.4 % (28.2 -> 30.0 us), +6.0 % to +7.0 %

Each run of sync, time CPUs were not idle, us; runs from 14.5 to 30.5:
  base          28.2                                                                          |-o-|
  faster        15.0  -46.8 %  |-o--|
  slower        30.0   +6.4 %                                                                         |--o-|

Reproduce: assize report x.bundle
"
    );
}

#[test]
fn a_single_workload_has_its_absolute_values_and_its_interval() {
    let rows = [row(
        ("sync", "busy_time", "faster"),
        [28_200.0, 15_000.0],
        [0.531, 0.533],
        "established",
    )];
    let text = rendered(&document(&["base", "faster"], &rows), 100);
    let answer = "better: -46.8 % (28.2 -> 15.0 us), -46.9 % to -46.7 %";
    assert!(text.contains(answer), "{text}");
}

#[test]
fn the_only_workload_that_has_a_metric_is_named_among_several() {
    for (ci, verdict, expected) in [
        (
            [0.531, 0.533],
            "established",
            "better: sync -46.8 % (28.2 -> 15.0 us)",
        ),
        ([0.5, 1.2], "undecided", "cannot tell: sync "),
    ] {
        let means = [28_200.0, 15_000.0];
        let rows = [row(("sync", "busy_time", "faster"), means, ci, verdict)];
        let mut document = document(&["base", "faster"], &rows);
        document.workloads.push("frames".into());
        let text = rendered(&document, 100);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn what_is_established_and_negligible_is_no_difference() {
    let rows = [row(
        ("sync", "busy_time", "faster"),
        [28_200.0, 28_190.0],
        [0.9994, 0.9998],
        "established",
    )];
    let text = rendered(&document(&["base", "faster"], &rows), 100);
    assert!(
        text.contains("better by 0.035 %, too small to matter at 1 %: -0.035 %"),
        "{text}"
    );
    assert!(!text.contains("better:"), "{text}");
}

#[test]
fn what_may_be_larger_than_the_margin_is_not_said_to_be_smaller() {
    let rows = [row(
        ("sync", "busy_time", "faster"),
        [28_200.0, 27_946.0],
        [0.985, 0.997],
        "established",
    )];
    let text = rendered(&document(&["base", "faster"], &rows), 100);
    assert!(text.contains("better: -0.90 %"), "{text}");
    assert!(!text.contains("no difference"), "{text}");
}

#[test]
fn what_is_supported_only_is_likely_and_says_which_way() {
    let rows = [
        row(
            ("sync", "busy_time", "mixed"),
            [28_200.0, 15_000.0],
            [0.531, 0.533],
            "supported",
        ),
        row(
            ("frames", "busy_time", "mixed"),
            [71_000.0, 80_000.0],
            [1.1, 1.15],
            "supported",
        ),
    ];
    let text = rendered(&document(&["base", "mixed"], &rows), 120);
    let answer = "likely better in 1, likely worse in 1 of 2 workloads:
         sync -46.8 % (28.2 -> 15.0 us), -46.9 % to -46.7 %
         frames +12.7 % (71.0 -> 80.0 us), +10.0 % to +15.0 %";
    assert!(text.contains(answer), "{text}");
}

#[test]
fn many_contrasts_are_counted_and_the_most_striking_are_shown() {
    let names: Vec<String> = (0..40).map(|n| format!("change-{n}")).collect();
    let configurations: Vec<&str> = ["base"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let rows: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(n, name)| {
            let mean = 28_200.0 * (1.0 - 0.02 * n as f64);
            row(
                ("sync", "busy_time", name),
                [28_200.0, mean],
                [0.1, 0.9],
                "established",
            )
        })
        .collect();
    for width in [60, 80, 100, 500] {
        let text = rendered(&document(&configurations, &rows), width);
        assert!(text.lines().count() <= LINES, "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width.min(120), "{widest}: {text}");
        assert!(text.contains("  change-39  better: -78.0 %"), "{text}");
        assert!(text.contains("more answers: --format mail"), "{text}");
    }
}

#[test]
fn where_nothing_is_compared_the_text_says_so() {
    // The same applies to configurations without a common workload.
    let because = "Nothing could be compared: no workload has figures of two named configurations.";
    let text = rendered(&document(&["base"], &[]), 100);
    assert!(text.contains(because), "{text}");
}

#[test]
fn of_a_baseline_that_is_compared_with_itself_alone_the_noise_is_shown() {
    let mut document = document(&["base"], &[]);
    assert!(rendered(&document, 72).contains("Nothing could be compared"));
    let floor = json!({
        "workload": "sync", "metric": "busy_time", "unit": "ns", "baseline": "base",
        "configuration": "base/aa", "n_baseline": 8, "n": 8, "ratio": 1.02,
        "ci": [0.98, 1.06], "p_t": 0.5, "p": 0.5, "difference": null,
    });
    document.noise_floor = vec![serde_json::from_value(floor).unwrap()];
    let text = rendered(&document, 72);
    let line = "The same twice: any difference is noise\n  time CPUs were not idle: cannot \
                tell: +2.0 %, -2.0 % to +6.0 %\n";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("Nothing could be compared"), "{text}");
    // The verdict is the document's: an interval within the margin is not enough.
    let floor = &mut document.noise_floor[0];
    (floor.ratio, floor.ci) = (Some(1.001), Some([0.998, 1.004]));
    let text = rendered(&document, 72);
    assert!(text.contains("cannot tell: +0.10 %"), "{text}");
    document.noise_floor[0].verdict = Verdict::Equivalent;
    assert!(rendered(&document, 72).contains("no difference larger than 1 %"));
}

#[test]
fn rates_of_events_come_out_in_words_too() {
    let none: [u8; 0] = [];
    let mut document = serde_json::to_value(document(&["base", "faster"], &[])).unwrap();
    let rate = |name: &str, count: u64, per_s: f64| {
        json!({
            "configuration": name, "workload": "sync", "event": "frames_missed",
            "count": count, "exposure_s": 60.0, "rate_per_s": per_s, "ci": none, "note": null,
        })
    };
    let mut rates = [rate("base", 12, 0.2), rate("faster", 3, 0.05)];
    for one in &mut rates {
        one["ci"] = json!([0.01, 0.4]);
    }
    document["rates"] = json!(rates);
    document["rate_comparisons"] = json!([{
        "baseline": "base", "configuration": "faster", "workload": "sync",
        "event": "frames_missed", "ratio": 0.25, "p": 0.01, "p_adjusted": 0.01,
        "verdict": "established", "note": null,
    }]);
    let document: Document = serde_json::from_value(document).unwrap();
    let metrics = [MetricWords {
        metric: "frames_missed".into(),
        title: "frames missed".into(),
        better: Some(Better::Lower),
    }];
    let asked = Brief {
        metrics: &metrics,
        question: None,
        width: 100,
        all: true,
    };
    let text = brief(&document, &asked, Style::default());
    assert!(
        text.contains("Frames missed (less is better)  [frames_missed]\n"),
        "{text}"
    );
    let line = "  faster  better: sync -75.0 % (12 in 60.0 s -> 3 in 60.0 s)";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_figure_stays_on_the_line_of_its_workload() {
    let rows = [
        row(
            ("sync", "busy_time", "mixed"),
            [28_200.0, 15_000.0],
            [0.531, 0.533],
            "established",
        ),
        row(
            ("frames", "busy_time", "mixed"),
            [71_000.0, 99_400.0],
            [1.39, 1.41],
            "established",
        ),
    ];
    for width in 60..=110 {
        let text = rendered(&document(&["base", "mixed"], &rows), width);
        assert!(text.contains("frames +40.0 %"), "{width}: {text}");
        assert!(text.contains("sync -46.8 %"), "{width}: {text}");
    }
}

#[test]
fn what_would_settle_what_is_open_is_said_once_for_all_rows() {
    let open = |workload: &str, verdict: &str, needed: Value| {
        let means = [28_200.0, 27_000.0];
        let mut row = row((workload, "busy_time", "new"), means, [0.9, 1.1], verdict);
        row["runs_needed"] = needed;
        row
    };
    let said = |rows: &[Value]| {
        let document = document(&["base", "new"], rows);
        let mail = crate::text(&document, &Brief::default(), Style::default());
        [rendered(&document, 110), mail].map(|text| text.replace("\n  ", " "))
    };
    let mut other = open("frames", "undecided", Value::Null);
    let rows = |other: &Value| [open("sync", "undecided", json!(12)), other.clone()];
    for text in said(&rows(&other)) {
        let wanted = "Not established: 2 rows. 12 runs a side instead of 8 would likely settle \
                      1 of them at a margin of 1 %.";
        assert!(text.contains(wanted), "{text}");
    }
    other["because"] = "the values come in steps of 4".into();
    for text in said(&rows(&other)) {
        let wanted = "at a margin of 1 %. 1 is undecided: the values come in steps of 4.";
        assert!(text.contains(wanted), "{text}");
    }
    for text in said(&rows(&open("frames", "supported", json!(10)))) {
        let wanted = "Not established: 2 rows. 1 is supported: 10 runs a side could establish it. 12 \
                      runs a side";
        assert!(text.contains(wanted), "{text}");
    }
    let none = [
        open("sync", "undecided", Value::Null),
        open("frames", "undecided", json!(8)),
    ];
    for text in said(&none) {
        assert!(!text.contains("Not established:"), "{text}");
    }
}

#[test]
fn a_mail_says_all_reasons_why_rows_are_undecided_each_once() {
    let open = |workload: &str, because: &str| {
        let means = [28_200.0, 27_000.0];
        let mut row = row(
            (workload, "busy_time", "new"),
            means,
            [0.9, 1.1],
            "undecided",
        );
        row["because"] = because.into();
        row
    };
    let rows = [
        open("a", "one"),
        open("b", "two"),
        open("c", "one"),
        open("d", "three"),
    ];
    let document = document(&["base", "new"], &rows);
    let mail = crate::text(&document, &Brief::default(), Style::default());
    assert!(mail.contains("2 are undecided: one."), "{mail}");
    let wanted =
        "Undecided, and why\n  - busy_time on b, new: two.\n  - busy_time on d, new: three.\n";
    assert!(mail.contains(wanted), "{mail}");
    assert_eq!(mail.matches("one.").count(), 1, "{mail}");
}

#[test]
fn what_is_undecided_is_counted_where_nobody_said_what_matters() {
    let rows = |primary: bool| {
        let means = [28_200.0, 15_000.0];
        let mut rows = [
            row(
                ("sync", "busy_time", "faster"),
                means,
                [0.5, 0.6],
                "established",
            ),
            row(
                ("sync", "busy_time", "other"),
                means,
                [0.5, 1.5],
                "undecided",
            ),
        ];
        for row in &mut rows {
            row["primary"] = json!(primary);
        }
        rendered(&document(&["base", "faster", "other"], &rows), 110)
    };
    let text = rows(false);
    assert!(text.contains("1 undecided answer:"), "{text}");
    assert!(!text.contains("cannot tell"), "{text}");
    let text = rows(true);
    assert!(text.contains("  other   cannot tell"), "{text}");
    assert!(!text.contains("undecided answer"), "{text}");
}

#[test]
fn a_mail_begins_with_the_answer_of_the_terminal() {
    let rows = [row(
        ("sync", "busy_time", "faster"),
        [28_200.0, 15_000.0],
        [0.531, 0.533],
        "established",
    )];
    let document = document(&["base", "faster"], &rows);
    let asked = Brief {
        width: WIDTH,
        all: true,
        ..Brief::default()
    };
    let short = brief(&document, &asked, Style::default());
    let mail = crate::text(&document, &asked, Style::default());
    let (answer, _) = short.split_once("\n\nEach run of").unwrap();
    assert!(answer.contains("-46.8 %"), "{answer}");
    assert!(mail.starts_with(answer), "{mail}");
}

#[test]
fn a_sentence_on_what_differs_between_machines_stays_in_a_mail() {
    let rows = [row(
        ("sync", "busy_time", "faster"),
        [28_200.0, 15_000.0],
        [0.531, 0.533],
        "established",
    )];
    let with = |agreement: &str| {
        let mut document = document(&["base", "faster"], &rows);
        document.sentences = serde_json::from_value(json!([{
            "text": "busy_time is lower with faster (0.531 to 0.8 on both kernels).",
            "rows": ["sync busy_time faster"],
        }]))
        .unwrap();
        document.pooled = serde_json::from_value(json!([{
            "workload": "sync", "metric": "busy_time", "unit": "ns", "baseline": "base",
            "configuration": "faster", "machines": 2, "shown_on": 2, "scale": "log",
            "ratio": 0.532, "difference": null, "ci": [0.531, 0.533],
            "ratio_random": 0.6, "difference_random": null, "ci_random": [0.3, 1.05],
            "prediction": [0.2, 1.5], "q": 2.0, "q_p": 0.1, "q_p_welch": 0.1, "i2": 0.5,
            "i2_ci": [0.0, 0.999], "tau2": 0.0001, "tau2_ci": [0.0, 0.1], "p_t": 0.0001,
            "p": 0.0001, "p_attainable": 0.00003, "p_adjusted": 0.0001,
            "p_t_adjusted": 0.0001, "agreement": agreement, "verdict": "established",
            "because": null,
        }]))
        .unwrap();
        crate::text(&document, &Brief::default(), Style::default())
    };
    let differ = with("differ");
    assert!(differ.contains("0.531 to 0.8 on both"), "{differ}");
    let agree = with("agree");
    assert!(!agree.contains("0.531 to 0.8 on both"), "{agree}");
}

#[test]
fn what_cannot_be_told_has_the_interval_that_is_corrected_as_its_verdict_is() {
    let of = |verdict: &str| {
        let means = [28_200.0, 28_800.0];
        let mut row = row(("sync", "busy_time", "new"), means, [1.01, 1.03], verdict);
        row["ci_simultaneous"] = json!([0.98, 1.06]);
        rendered(&document(&["base", "new"], &[row]), 110)
    };
    let open = of("undecided");
    let wanted = "cannot tell: +2.1 % (28.2 -> 28.8 us), -2.0 % to +6.0 % (adjusted)";
    assert!(open.contains(wanted), "{open}");
    let decided = of("established");
    let wanted = "worse: +2.1 % (28.2 -> 28.8 us), +1.0 % to +3.0 %";
    assert!(decided.contains(wanted), "{decided}");
}

#[test]
fn each_side_of_a_large_change_has_its_own_unit() {
    let rows = [row(
        ("sync", "busy_time", "new"),
        [5_030.0, 3_850_000.0],
        [765.0, 766.0],
        "established",
    )];
    let mut document = document(&["base", "new"], &rows);
    for run in &mut document.runs {
        let mean = [5_030.0, 3_850_000.0][usize::from(run.configuration == "new")];
        run.metrics.get_mut("busy_time").unwrap().value = mean;
    }
    let text = rendered(&document, 110);
    assert!(text.contains("worse: 765 x (5.03 us -> 3.85 ms)"), "{text}");
    let below = text.split_once("\nEach run of ").unwrap().1;
    assert!(below.contains("  base       5.03 us"), "{text}");
    assert!(below.contains("  new        3.85 ms  765 x"), "{text}");
}
