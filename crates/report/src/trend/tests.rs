#![allow(clippy::unwrap_used)] // A test may fail.

use assize_bundle::{Ending, FailedRun};
use assize_verdict::{Against, Measurement, Options, Run, try_records};

use super::*;

type BundleRecords = assize_bundle::Records;

/// Bundles a, b, …, of which the fourth is a tenth faster than the third.
fn trend(names: &[&str]) -> Trend {
    trend_of(names, &[])
}

/// Like `trend`, but in some bundles all runs except one crash.
fn trend_of(names: &[&str], crashing: &[usize]) -> Trend {
    let mut records = BundleRecords {
        primary: vec!["busy_time_per_job".into()],
        ..BundleRecords::default()
    };
    for (at, name) in names.iter().enumerate() {
        for seed in 0..8_u32 {
            let mut run = Run::new(*name, "sync, depq", seed + 1);
            (run.order, run.block) = (records.runs.len() as u32, Some(seed));
            if crashing.contains(&at) && seed > 0 {
                records.failures.push(FailedRun {
                    configuration: (*name).into(),
                    workload: "sync, depq".into(),
                    repetition: seed + 1,
                    order: run.order,
                    block: run.block,
                    why: "kernel panic: Fatal exception".into(),
                    ending: Some(Ending::Crashed),
                    ..FailedRun::default()
                });
                continue;
            }
            let noise = 1.0 + 0.0001 * f64::from((seed * 7 + at as u32 * 3) % 5);
            let value = noise * if at < 3 { 30_000.0 } else { 27_000.0 };
            let metrics = &mut run.metrics;
            metrics.insert("busy_time_per_job".into(), Measurement::new(value, "ns"));
            records.runs.push(run);
        }
    }
    let options = Options {
        against: Against::Predecessor,
        ..Options::default()
    };
    let mut document = try_records(&records, &options).unwrap();
    document.reproduce = "assize trend nightly".into();
    let words = MetricWords {
        metric: "busy_time_per_job".into(),
        title: "time CPUs were not idle, per job".into(),
        better: Some(Better::Lower),
    };
    let point = |name: &&str| TrendPoint {
        path: (*name).into(),
        runs: 8,
        ..TrendPoint::default()
    };
    let of = TrendInput {
        title: "Queues".into(),
        question: "Which is cheaper?".into(),
        order: "date".into(),
        points: names.iter().map(point).collect(),
        left_out: vec![SkippedBundle {
            path: "half".into(),
            why: "3 of 8 runs are recorded".into(),
        }],
    };
    Trend::new(&document, &[words], of)
}

const NAMES: [&str; 5] = ["a.bundle", "b.bundle", "c.bundle", "d.bundle", "e.bundle"];

#[test]
fn crashes_are_told_at_the_bundle_with_which_they_begin_and_end() {
    let trend = trend_of(&NAMES, &[2, 3]);
    let ended: Vec<usize> = trend.points.iter().map(|point| point.ended.len()).collect();
    assert_eq!(ended, [0, 0, 1, 0, 1]);
    let text = trend_text(&trend).replace("\n       ", "");
    let begin = "\nc\n    Crashes with c.bundle: worse: 0 of 8 -> 7 of 8 runs";
    assert!(text.contains(begin), "{text}");
    assert!(text.contains("7 of 8 -> 0 of 8 runs"), "{text}");
    let page = crate::html::trend(&trend).unwrap();
    assert!(page.contains("Crashes with c.bundle: worse"), "{page}");
}

#[test]
fn a_step_is_told_where_it_is_and_nowhere_else() {
    let trend = trend(&NAMES);
    assert_eq!((trend.changed(), trend.comparisons()), (1, 4));
    let text = trend_text(&trend);
    let expected =
        "\nd\n    better: busy_time_per_job in sync, depq\n        -10 % (30.0 -> 27.0 us), ";
    assert!(text.contains(expected), "{text}");
    assert_eq!(text.matches("busy_time_per_job").count(), 1, "{text}");
    assert!(text.contains("No change is found at the other 3 bundles (4 comparisons).\n"));
    assert!(text.contains("left out: half\n    3 of 8 runs are recorded\n"));
    assert!(text.ends_with("  assize trend nightly\n"), "{text}");
    let step = &trend.series[0].steps[3];
    assert_eq!((step.point, step.before), (3, Some(2)));
    assert_eq!(step.verdict, Some(Verdict::Established));
    assert!((step.ratio.unwrap() - 0.9).abs() < 0.001);
}

#[test]
fn the_page_marks_the_step_in_its_plot_and_what_bundles_say_is_text() {
    let mut names = NAMES;
    names[3] = "<script>d";
    let trend = trend(&names);
    let page = crate::html::trend(&trend).unwrap();
    assert!(!page.contains("<script>"), "{page}");
    assert_eq!(
        page.matches("<li data-bundle=").count(),
        2,
        "the step, and what was left out"
    );
    assert_eq!(page.matches("<tr data-bundle=").count(), 5);
    assert_eq!(page.matches(" changed\"").count(), 1, "one mark");
    assert_eq!(page.matches("<g class=").count(), 5);
    assert!(page.contains("less is better"));
    assert_eq!(page, crate::html::trend(&trend).unwrap());
}

#[test]
fn no_line_is_wider_than_a_mail_whatever_names_are() {
    let long: Vec<String> = (0..5)
        .map(|at| format!("{at}{}\u{1b}[2J", "é".repeat(90)))
        .collect();
    let names: Vec<&str> = long.iter().map(String::as_str).collect();
    let text = trend_text(&trend(&names));
    assert!(
        text.lines()
            .all(|line| line.chars().count() <= crate::WIDTH),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn json_comes_back() {
    let trend = trend(&NAMES);
    let text = trend_json(&trend).unwrap();
    let back: Trend = serde_json::from_str(&text).unwrap();
    assert_eq!((&back.points, &back.schema), (&trend.points, &trend.schema));
    assert_eq!(trend_json(&back).unwrap(), text);
}

#[test]
fn a_name_of_a_commit_is_short_and_of_anything_else_whole() {
    let point = |revision: Option<&str>| TrendPoint {
        path: "n/1.bundle".into(),
        revision: revision.map(str::to_owned),
        ..TrendPoint::default()
    };
    let id = "0123456789abcdef0123456789abcdef01234567";
    for (revision, name) in [
        (Some(id), "0123456789ab"),
        (Some("v6.12.3-00017-gabc"), "v6.12.3-00017-gabc"),
        (None, "n/1"),
    ] {
        assert_eq!(point(revision).name(), name);
    }
}
