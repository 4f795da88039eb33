#![allow(clippy::unwrap_used)] // A test may fail.

use serde_json::Value;

use super::*;

/// Text that no format may mistake for syntax.
const STRANGE: &str = "a<b>&\"c\"|d`e`#f::g,h%0A\n@i\u{202e}\u{1b}[2J\u{ffff}]]>";

fn check(group: &str, name: &str, state: CheckState) -> Check {
    Check {
        group: group.into(),
        name: name.into(),
        state,
        said: format!("said of {name}"),
        ended: group == OUTCOMES,
    }
}

fn checks(all: Vec<Check>) -> Checks {
    Checks {
        title: "x.bundle".into(),
        file: "x.toml".into(),
        checks: all,
        reproduce: "assize report x.bundle".into(),
    }
}

fn failed(why: &str) -> CheckState {
    CheckState::Failed(why.into())
}

/// Checks in each state, in two groups, and one whose texts are all strange.
fn mixed() -> Checks {
    checks(vec![
        check("sync", "m with new against old", CheckState::Passed),
        check(
            "window",
            "m with new against old",
            failed("worse>2%: ratio 1.5..1.6"),
        ),
        check("sync", "n with new against old", CheckState::Undecided),
        check(STRANGE, STRANGE, failed(STRANGE)),
    ])
}

#[test]
fn junit_has_a_suite_for_each_group_and_counts_what_failed() {
    let text = junit(&mixed());
    let counts = "tests=\"4\" failures=\"2\" errors=\"0\" skipped=\"1\"";
    assert!(
        text.contains(&format!("<testsuites name=\"x.bundle\" {counts}>")),
        "{text}"
    );
    for part in [
        "<testsuite name=\"sync\" tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\">",
        "<failure message=\"worse&gt;2%: ratio 1.5..1.6\" type=\"assize\">said of",
        "name=\"n with new against old\"><skipped message=\"said of",
        "<testcase classname=\"a&lt;b&gt;&amp;&quot;c&quot;|d`e`#f::g,h%0A @i\u{fffd}\u{fffd}[2J\u{fffd}]]&gt;\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.matches("<testcase ").count(), 4);
    assert_eq!(
        text.matches('\n').count(),
        1 + 2 + 2 * 3 + 4,
        "a line for each: {text}"
    );
}

#[test]
fn ktap_numbers_every_group_and_every_check_of_it() {
    let text = ktap(&mixed());
    let results: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .collect();
    assert_eq!(
        results,
        [
            "KTAP version 1",
            "1..3",
            "  KTAP version 1",
            "  1..2",
            "  ok 1 m with new against old",
            "  ok 2 n with new against old # SKIP undecided",
            "ok 1 sync",
            "  KTAP version 1",
            "  1..1",
            "  not ok 1 m with new against old",
            "not ok 2 window",
            "  KTAP version 1",
            "  1..1",
            "  not ok 1 a<b>&\"c\"|d`e`_f::g,h%0A @i\u{fffd}\u{fffd}[2J\u{ffff}]]>",
            "not ok 3 a<b>&\"c\"|d`e`_f::g,h%0A @i\u{fffd}\u{fffd}[2J\u{ffff}]]>",
        ]
    );
    assert!(text.contains("  # worse>2%: ratio 1.5..1.6\n"), "{text}");
    let both = [CheckState::Passed, failed("x"), CheckState::Undecided];
    let both = both.map(|state| check("w", "m", state));
    let text = ktap(&checks(both.into()));
    assert!(
        text.ends_with("\nnot ok 1 w\n"),
        "one failure is enough: {text}"
    );
}

#[test]
fn github_has_an_error_for_each_failure_and_ten_at_most() {
    let text = github(&mixed());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "::error title=window%3A m with new against old::worse>2%25: ratio 1.5..1.6; said of m \
         with new against old"
    );
    assert!(lines[1].starts_with("::error title=a<b>&\"c\"|d`e`#f%3A%3Ag%2Ch%250A @i"));
    assert_eq!(
        lines[2],
        "::notice title=x.bundle::4 checks: 2 failed, 1 undecided; assize report x.bundle"
    );
    let many = |n: usize| {
        let all = (0..n).map(|at| check("w", &at.to_string(), failed("x")));
        let text = github(&checks(all.collect()));
        let last = text.lines().rfind(|line| line.starts_with("::error"));
        let errors = text.matches("::error").count();
        (errors, last.unwrap().to_owned())
    };
    assert_eq!(many(10).0, 10);
    assert_eq!(
        many(25),
        (10, "::error title=x.bundle::16 more have failed".into())
    );
}

#[test]
fn gitlab_has_an_issue_for_each_failure_whose_fingerprint_stays() {
    let of =
        |checks: &Checks| -> Vec<Value> { serde_json::from_str(&gitlab(checks).unwrap()).unwrap() };
    let issues = of(&mixed());
    assert_eq!(issues.len(), 2);
    for issue in &issues {
        for field in ["description", "check_name", "fingerprint", "severity"] {
            assert!(
                issue[field].as_str().is_some_and(|text| !text.is_empty()),
                "{issue}"
            );
        }
        assert_eq!(issue["location"]["path"], "x.toml");
        assert_eq!(issue["location"]["lines"]["begin"], 1);
    }
    let again = checks(vec![check(
        "window",
        "m with new against old",
        failed("other figures"),
    )]);
    assert_eq!(of(&again)[0]["fingerprint"], issues[0]["fingerprint"]);
    assert_ne!(issues[1]["fingerprint"], issues[0]["fingerprint"]);
    let none = checks(vec![check("w", "x", CheckState::Undecided)]);
    assert_eq!(gitlab(&none).unwrap(), "[]\n");
}

#[test]
fn a_crash_that_decides_nothing_is_shown_beside_the_change() {
    let one = checks(vec![check(
        "outcomes",
        "crashes with new against old",
        CheckState::Undecided,
    )]);
    assert_eq!(
        github(&one).lines().next().unwrap(),
        "::warning title=outcomes%3A crashes with new against old::said of crashes with new \
         against old"
    );
    let issues: Vec<Value> = serde_json::from_str(&gitlab(&one).unwrap()).unwrap();
    assert_eq!(issues.len(), 1);
    assert_eq!(issues[0]["severity"], "info");
    assert_eq!(
        issues[0]["description"],
        "outcomes: crashes with new against old: said of crashes with new against old"
    );
}

#[test]
fn markdown_begins_with_what_failed_and_fits_a_comment() {
    let text = markdown(&mixed());
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows[2].starts_with("| **failed** | window | m with new against old | worse&gt;2%"));
    assert!(
        rows[3].contains("a&lt;b&gt;&amp;\"c\"\\|d\\`e\\`\\#f::g,h%0A &#64;i"),
        "{text}"
    );
    assert_eq!(rows.len(), 2 + 4);
    assert!(text.ends_with("\n`assize report x.bundle`\n"));
    let long = "\u{1f600}|".repeat(2000);
    let all = (0..500).map(|at| check(&long, &format!("{at}{long}"), failed(&long)));
    let text = markdown(&checks(all.collect()));
    assert!(text.chars().count() <= 65_000, "{}", text.chars().count());
    let shown = text.matches("**failed**").count();
    assert!(shown > 5, "{shown}");
    assert!(
        text.contains(&format!("\n{} more are not shown.\n", 500 - shown)),
        "{shown}"
    );
}

#[test]
fn what_is_found_fails_and_nothing_else() {
    let row = |metric: &str, primary: bool, verdict: &str, ratio: f64| {
        serde_json::json!({
            "workload": "sync", "metric": metric, "unit": "ns", "baseline": "old",
            "configuration": "new", "n_baseline": 8, "n": 8, "mean_baseline": 100.0,
            "mean": 100.0 * ratio, "ratio": ratio, "ci": [ratio - 0.01, ratio + 0.01],
            "ci_simultaneous": null, "p_t": 0.01, "p": 0.01, "p_attainable": 0.001,
            "p_adjusted": 0.01, "p_t_adjusted": 0.01, "primary": primary, "scale": "log",
            "difference": null, "verdict": verdict, "runs_needed": null, "because": null,
        })
    };
    let none: [u8; 0] = [];
    let claim = |outcome: &str| {
        serde_json::json!({"text": outcome, "origin": "declared", "outcome": outcome,
            "because": "so"})
    };
    let document: Document = serde_json::from_value(serde_json::json!({
        "schema": "assize.verdict/1", "source": "x.bundle", "baseline": "old",
        "alpha": 0.05, "margin": 0.01, "configurations": none, "workloads": ["sync"],
        "runs": none, "summaries": none, "statements": none,
        "comparisons": [
            row("time", true, "established", 1.5),
            row("time2", true, "undecided", 1.1),
            row("other", false, "established", 3.0),
        ],
        "factorial": none, "rates": none, "rate_comparisons": none,
        "claims": [claim("upheld"), claim("refuted"), claim("undecided")],
        "lints": [{"code": "drift", "where": "sync", "detail": "rises"}],
        "sentences": none, "reproduce": "assize report x.bundle",
    }))
    .unwrap();
    let finding = |what: &str, subject| CheckFinding {
        what: what.into(),
        subject,
        why: "figures".into(),
    };
    let states = |findings: &[CheckFinding]| -> Vec<(String, CheckState)> {
        let checks = Checks::for_document(&document, &[], findings).checks;
        checks
            .into_iter()
            .map(|one| (one.name, one.state))
            .collect()
    };
    let on = |metric: &str| format!("{metric} with new against old");
    let quiet = states(&[]);
    let found = |at: usize| (quiet[at].0.as_str(), &quiet[at].1);
    assert_eq!(
        quiet.len(),
        5,
        "secondary rows and lints are not checks by themselves"
    );
    assert_eq!(found(0), (on("time").as_str(), &CheckState::Passed));
    assert_eq!(found(1), (on("time2").as_str(), &CheckState::Undecided));
    assert_eq!(
        found(3),
        ("refuted", &CheckState::Passed),
        "the caller says what fails"
    );
    assert_eq!(found(4), ("undecided", &CheckState::Undecided));
    let loud = states(&[
        finding("worse>2%", FindingSubject::Comparison(0)),
        finding("unproven>2%", FindingSubject::Comparison(0)),
        finding("refuted", FindingSubject::Claim(1)),
        finding("lint", FindingSubject::Lint(0)),
    ]);
    assert_eq!(loud[0].1, failed("worse>2%: figures; unproven>2%: figures"));
    assert_eq!(loud[3].1, failed("refuted: figures"));
    assert_eq!((loud.len(), loud[5].0.as_str()), (6, "drift sync"));
    assert_eq!(loud[5].1, failed("lint: figures"));
    let said = &Checks::for_document(&document, &[], &[]).checks[0].said;
    assert!(said.starts_with("more: +50.0 %"), "{said}");
    assert!(said.ends_with("(established)"), "{said}");
}

#[test]
fn of_a_series_what_fails_is_said_of_the_patch_or_of_all() {
    let effect = |reading: &str, fails: Option<&str>| {
        serde_json::json!({"workload": "sync", "metric": "time", "unit": "ns",
            "reading": reading, "verdict": "established", "ratio": 1.5, "difference": null,
            "interval": [1.4, 1.6], "fails": fails})
    };
    let patch = |subject: &str, outcome: Value| {
        serde_json::json!({"patch": {"commit": "c", "subject": subject, "author": null,
            "date": null}, "configuration": null, "outcome": outcome})
    };
    let base = patch("base", Value::Null)["patch"].clone();
    let series: SeriesReport = serde_json::from_value(serde_json::json!({
        "schema": "assize.try/2", "title": "a series", "base": base,
        "patches": [
            patch("one", serde_json::json!({"effects": [effect("worse", None)]})),
            patch("two", serde_json::json!("same_bytes")),
            patch("three", serde_json::json!({"not_built": "no header"})),
            patch("four", serde_json::json!("not_tried")),
        ],
        "whole": {"effects":
            [effect("undecided", None), effect("worse", Some("worse>2%: ratio 1.4..1.6"))]},
        "kernel": "k", "built": "b", "left_out": [], "experiment": "e", "runs": 6,
        "level": 0.99, "margin": 0.01, "bundle": "try.bundle", "reproduce": "assize try",
    }))
    .unwrap();
    let checks = Checks::of_series(&series);
    let found: Vec<(&str, &str, &CheckState)> = checks
        .checks
        .iter()
        .map(|one| (one.group.as_str(), one.name.as_str(), &one.state))
        .collect();
    assert_eq!(
        found,
        [
            ("1/4 one", "time in sync", &CheckState::Passed),
            ("2/4 two", "modules", &CheckState::Passed),
            ("3/4 three", "modules", &CheckState::Undecided),
            ("all 4 together", "time in sync", &CheckState::Undecided),
            (
                "all 4 together",
                "time in sync",
                &failed("worse>2%: ratio 1.4..1.6")
            ),
        ]
    );
    assert_eq!(
        checks.checks[0].said,
        "worse: ratio 1.500, 1.400..1.600 (established)"
    );
    assert_eq!(checks.summary(), "5 checks: 1 failed, 2 undecided");
    let same = SeriesReport {
        whole: Some(crate::series::PatchOutcome::SameBytes),
        ..series
    };
    let last = Checks::of_series(&same).checks.pop().unwrap();
    assert_eq!(
        (last.group.as_str(), last.name.as_str(), last.state),
        ("all 4 together", "modules", CheckState::Passed)
    );
}
