//! Trends with planted changes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use assize_bundle::{Head, Measurement};
use serde_json::{Value, json};

use super::{BLOCKS, filled, head};

/// The number of bundles in a trend.
const LONG: usize = 12;
/// 2026-11-01.
const BEGIN: f64 = 1_793_491_200.0;

/// Reproducible noise of half a per cent (splitmix64).
fn noise(of: u64) -> f64 {
    let mut z = of.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    0.01 * (((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0 - 0.5)
}

/// Writes a bundle of `runs` runs that ended `day` days after the begin. The queue takes `queue`
/// seconds; the base always takes one.
fn one(place: &Path, name: &str, head: &Head, (day, runs): (usize, u32), queue: f64) {
    let time = |index: u32| {
        let mean = [1.0, queue][(index % 2) as usize];
        let own = noise((day as u64) << 32 | u64::from(index));
        // Runs of one seed share a variation far larger than the effect.
        Measurement::new(mean * (1.0 + 0.1 * f64::from(index / 2) + own), "s")
    };
    filled(place, name, head, runs, time);
    let ended = BEGIN + 86_400.0 * day as f64;
    let log = json!({"index": 0, "ended_unix_s": ended});
    fs::write(place.join(name).join("log.jsonl"), format!("{log}\n")).unwrap();
}

/// A trend of exact bundles whose names are not in the order of their dates.
fn series(place: &Path, queue: impl Fn(usize) -> f64) {
    for day in 0..LONG {
        let name = format!("night-{}.bundle", (day * 5) % LONG);
        one(
            place,
            &name,
            &head("exact", "exact"),
            (day, 2 * BLOCKS),
            queue(day),
        );
    }
}

fn asked(place: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assize"))
        .arg("trend")
        .args(arguments)
        .current_dir(place)
        .output()
        .unwrap()
}

fn printed(place: &Path, arguments: &[&str]) -> String {
    let done = asked(place, arguments);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

fn found(place: &Path, arguments: &[&str]) -> Value {
    let text = printed(place, &[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// The message for wrong use: one line.
fn refused(place: &Path, arguments: &[&str]) -> String {
    let done = asked(place, arguments);
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert_eq!((done.stdout.len(), said.lines().count()), (0, 1), "{said}");
    said
}

/// The workload, index and verdict of every step that is a change.
fn changes(trend: &Value) -> Vec<(&str, u64, &str)> {
    let mut all = Vec::new();
    for series in trend["series"].as_array().unwrap() {
        let workload = series["workload"].as_str().unwrap();
        for step in series["steps"].as_array().unwrap() {
            if step["changed"] == true {
                let verdict = step["verdict"].as_str().unwrap();
                all.push((workload, step["point"].as_u64().unwrap(), verdict));
            }
        }
    }
    all
}

#[test]
fn a_step_of_one_configuration_is_named_at_its_place_and_nowhere_else() {
    let place = tempfile::tempdir().unwrap();
    series(place.path(), |day| if day < 7 { 1.0 } else { 0.9 });
    let trend = found(place.path(), &["."]);
    assert_eq!(changes(&trend), [("queue", 7, "established")]);
    assert_eq!(
        (&trend["order"], &trend["schema"]),
        (&json!("date"), &json!("assize.trend/1"))
    );
    let point = &trend["points"][7];
    assert_eq!(point["path"], "./night-11.bundle", "the eighth by date");
    assert_eq!(
        (&point["date"], &point["runs"]),
        (&json!("2026-11-08"), &json!(16))
    );
    let series = &trend["series"][1];
    let step = &series["steps"][7];
    assert!(
        (step["ratio"].as_f64().unwrap() - 0.9).abs() < 0.005,
        "{step}"
    );
    assert_eq!(step["before"], 6);
    assert_eq!(series["steps"].as_array().unwrap().len(), LONG);
    let text = printed(place.path(), &["."]);
    let expected = "\n2026-11-08 ./night-11\n    better: time in queue\n        -10";
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("No change is found at the other 10 bundles (22 comparisons).\n"),
        "{text}"
    );
    let page = printed(place.path(), &[".", "--format", "html"]);
    assert_eq!(page.matches(" changed\"").count(), 1);
    // The same bundles give the same result, whatever the order of files.
    assert_eq!(found(place.path(), &["."]), trend);
}

#[test]
fn a_series_without_a_step_has_no_change() {
    let place = tempfile::tempdir().unwrap();
    series(place.path(), |_| 1.0);
    let trend = found(place.path(), &["."]);
    assert!(changes(&trend).is_empty(), "{trend:#}");
    let text = printed(place.path(), &["."]);
    assert!(
        text.contains("No change is found in 22 comparisons.\n"),
        "{text}"
    );
}

#[test]
fn a_bundle_that_was_cut_short_is_named_and_left_out() {
    let place = tempfile::tempdir().unwrap();
    series(place.path(), |day| if day < 7 { 1.0 } else { 0.9 });
    let cut = "cut short.bundle";
    one(place.path(), cut, &head("exact", "exact"), (LONG, 5), 5.0);
    let trend = found(place.path(), &["."]);
    assert_eq!(trend["points"].as_array().unwrap().len(), LONG);
    let left_out = &trend["left_out"][0];
    assert_eq!(left_out["path"], "./cut short.bundle");
    let why = left_out["why"].as_str().unwrap();
    assert!(
        why.starts_with("5 of 16 runs are recorded; continue with: assize run --resume '"),
        "{why}"
    );
    assert_eq!(changes(&trend).len(), 1);
    fs::write(place.path().join("night-3.bundle/bundle.json"), "{").unwrap();
    let trend = found(place.path(), &["."]);
    assert_eq!(
        trend["left_out"].as_array().unwrap().len(),
        2,
        "a damaged one, too"
    );
    let said = refused(place.path(), &[cut]);
    assert!(
        said.contains("there is no complete bundle of runs"),
        "{said}"
    );
}

#[test]
fn what_is_no_series_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let full = |day| (day, 2 * BLOCKS);
    one(here, "a", &head("host", "a"), full(0), 1.0);
    let mut title = head("host", "a");
    title.title = "Another?".into();
    one(here, "title", &title, full(1), 1.0);
    one(here, "machine", &head("host", "b"), full(1), 1.0);
    for (name, why) in [
        (
            "title",
            "title: the experiment differs from that of a: title 'Another?' here, 'Does",
        ),
        ("machine", "machine: ran on the machine b, but a on a;"),
        ("none", "cannot read: none"),
    ] {
        let said = refused(here, &["a", name]);
        assert!(said.contains(why), "{said}");
    }
    let said = refused(here, &["a"]);
    assert!(said.contains("there is only one bundle of runs"), "{said}");
    one(here, "b", &head("host", "a"), full(1), 1.0);
    let said = refused(here, &["a", "b", "--metric", "power"]);
    assert!(
        said.contains("--metric power: no run has this metric"),
        "{said}"
    );
    let said = refused(here, &["a", "b", "--order", "commit"]);
    assert!(said.contains("--order commit"), "{said}");
    fs::remove_file(here.join("b/log.jsonl")).unwrap();
    let said = refused(here, &["a", "b"]);
    assert!(
        said.contains("b: the end of its runs is not recorded; give --order path"),
        "{said}"
    );
    // Runs of a host that were recorded at different times.
    let trend = found(here, &["a", "b", "--order", "path"]);
    assert_eq!(trend["order"], "path");
}

#[test]
fn what_a_host_measured_at_different_times_is_no_better_than_supported() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    for day in 0..4 {
        let time = |index: u32| {
            let mean = if day < 2 { 1.0 } else { 0.9 };
            Measurement::new(mean * (1.0 + noise(u64::from(day << 16 | index))), "s")
        };
        filled(
            here,
            &format!("n{day}"),
            &head("host", "a"),
            2 * BLOCKS,
            time,
        );
    }
    let trend = found(here, &[".", "--order", "path"]);
    assert_eq!(
        changes(&trend),
        [("base", 2, "supported"), ("queue", 2, "supported")]
    );
    let text = printed(here, &[".", "--order", "path"]);
    assert!(
        text.contains("At most supported, because of lints: unrandomised-order"),
        "{text}"
    );
}

fn git(place: &Path, arguments: &[&str], at: &str) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@x.org"])
        .args(arguments)
        .env("GIT_COMMITTER_DATE", at)
        .env("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(place)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

#[test]
fn in_a_git_tree_bundles_follow_their_commits() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    git(here, &["init", "-q", "."], "");
    // Two commits have the same second, and the runs were recorded from the newest commit
    // to the oldest.
    for (at, time) in [(0, "00"), (1, "07"), (2, "07"), (3, "09")] {
        let time = format!("2026-11-02T10:00:{time}Z");
        let subject = format!("change {at}");
        git(
            here,
            &["commit", "-q", "--allow-empty", "-m", &subject],
            &time,
        );
        let mut head = head("exact", "exact");
        let id = git(here, &["rev-parse", "HEAD"], &time);
        head.facts.insert("revision".into(), id);
        let queue = if at < 2 { 1.0 } else { 1.2 };
        one(here, &format!("b{at}"), &head, (9 - at, 2 * BLOCKS), queue);
    }
    let trend = found(here, &["."]);
    assert_eq!(trend["order"], "commit");
    let points = trend["points"].as_array().unwrap();
    let subjects: Vec<&str> = points
        .iter()
        .map(|one| one["subject"].as_str().unwrap())
        .collect();
    assert_eq!(subjects, ["change 0", "change 1", "change 2", "change 3"]);
    assert_eq!(points[0]["date"], "2026-11-02");
    assert_eq!(changes(&trend), [("queue", 2, "established")]);
    let trend = found(here, &[".", "--order", "date"]);
    assert_eq!(
        changes(&trend),
        [("queue", 2, "established")],
        "from the other side"
    );
    assert_eq!(trend["points"][0]["path"], "./b3");
    // If one revision is unknown, the order is by date; ordering by commit is refused.
    let mut head = head("exact", "exact");
    head.facts.insert("revision".into(), "v9.9".into());
    one(here, "other", &head, (9, 2 * BLOCKS), 1.0);
    assert_eq!(found(here, &["."])["order"], "date");
    let said = refused(here, &[".", "--order", "commit"]);
    assert!(
        said.contains("./other: its revision v9.9 is not in ."),
        "{said}"
    );
}
