//! Tests that figures in words do not mislead.

use serde_json::json;

use super::*;

/// A row on the raw scale.
fn raw(means: [f64; 2], ci: [f64; 2], verdict: &str) -> Comparison {
    serde_json::from_value(json!({
        "workload": "ring", "metric": "lost", "unit": "updates", "baseline": "old",
        "configuration": "new", "n_baseline": 40, "n": 40, "mean_baseline": means[0],
        "mean": means[1], "ratio": null, "ci": ci, "ci_simultaneous": ci, "p_t": 0.001,
        "p": 0.001, "p_attainable": 0.0001, "p_adjusted": 0.001, "p_t_adjusted": 0.001,
        "scale": "raw", "difference": means[1] - means[0], "verdict": verdict,
        "runs_needed": null, "because": null,
    }))
    .unwrap()
}

#[test]
fn what_rises_from_zero_is_worse_though_it_has_no_share() {
    let row = raw([0.0, 5603.0], [4000.0, 7000.0], "established");
    assert_eq!(outcome(&row, Some(Better::Lower), 0.01), RowOutcome::Worse);
    assert_eq!(
        outcome(&row, Some(Better::Higher), 0.01),
        RowOutcome::Better
    );
    assert_eq!(outcome(&row, None, 0.01), RowOutcome::More);
    assert_eq!(size(&row), "+5603 updates");
    let open = raw([0.0, 5603.0], [-1.0, 7000.0], "undecided");
    assert_eq!(outcome(&open, Some(Better::Lower), 0.01), RowOutcome::Open);
}

#[test]
fn nothing_falls_by_more_than_all() {
    let row = raw([0.469, 0.0], [-0.718, -0.220], "established");
    assert_eq!(size(&row), "-0.469 updates");
    assert!(beyond_all(&row));
    // If the interval stays above -100 %, relative changes are shown.
    let row = raw([0.469, 0.1], [-0.45, -0.220], "established");
    assert!(!beyond_all(&row));
    assert_eq!(size(&row), "-78.7 %");
}

#[test]
fn a_difference_of_percentages_is_in_points_and_a_share_in_per_cent() {
    let percentage = |row: Comparison| Comparison {
        unit: "%".into(),
        ..row
    };
    let row = percentage(raw([0.0, 2.18], [1.5, 2.9], "established"));
    assert_eq!(size(&row), "+2.18 points");
    let row = percentage(raw([2.18, 0.0], [-2.9, -1.5], "established"));
    assert_eq!(size(&row), "-2.18 points");
    let none: [u8; 0] = [];
    let document: Document = serde_json::from_value(json!({
        "schema": "assize.verdict/1", "source": "bundle", "baseline": "old", "alpha": 0.05,
        "margin": 0.01, "configurations": none, "workloads": none, "runs": none,
        "summaries": none, "statements": none, "comparisons": none, "factorial": none,
        "rates": none, "rate_comparisons": none, "claims": none, "lints": none,
        "sentences": none, "reproduce": "",
    }))
    .unwrap();
    let shown = interval(&document, &row, RowOutcome::Less).unwrap();
    assert_eq!(shown.text(), "-2.90 to -1.50 points");
    // A percentage that falls by a third has a relative change like any other value.
    let row = percentage(raw([3.0, 2.0], [-1.5, -0.5], "established"));
    assert_eq!(size(&row), "-33.3 %");
}

#[test]
fn what_is_nearly_gone_is_not_gone() {
    assert_eq!(percent(591.0 / 4.10e6 - 1.0), "to 1/6940");
    assert_eq!(percent(-1.0), "-100 %");
    assert_eq!(percent(-0.994), "-99.4 %");
    assert_eq!(percent(-0.4), "-40.0 %");
}

#[test]
fn a_small_difference_that_is_established_is_said_with_both() {
    let row = Comparison {
        scale: Scale::Log,
        ratio: Some(1.0048),
        ci: Some([1.003, 1.006]),
        difference: None,
        ..raw([1.0, 1.0048], [1.003, 1.006], "established")
    };
    let came_out = outcome(&row, Some(Better::Lower), 0.01);
    assert_eq!(
        row_words(&row, came_out, Some(Better::Lower), 0.01),
        "worse by 0.48 %, too small to matter at 1 %"
    );
    let both = super::super::ConfigurationContrast {
        name: "new",
        rows: vec![(&row, came_out), (&row, came_out)],
        better: Some(Better::Lower),
        margin: 0.01,
    };
    assert_eq!(
        both.verdict(),
        "no difference larger than 1 % in both workloads (2 established, too small to matter)"
    );
    let equivalent = Comparison {
        verdict: Verdict::Equivalent,
        ..row
    };
    let words = row_words(&equivalent, RowOutcome::Same, Some(Better::Lower), 0.01);
    assert_eq!(words, "no difference larger than 1 %");
}
