//! Tests of fixed outcomes, and of the lines below the outcomes of runs.

use super::*;

/// A document whose runs have these values, with an undecided row for them.
fn of_values(before: &[f64], after: &[f64]) -> Document {
    let (first, last) = (before[0], after[0]);
    let means = row(
        ("sync", "busy_time", "faster"),
        [first, last],
        [last / first; 2],
        "undecided",
    );
    let mut document = document(&["base", "faster"], &[means]);
    let values = before.iter().chain(after);
    let run = document.runs[0].clone();
    let runs = values.enumerate().map(|(at, value)| {
        let mut run = run.clone();
        run.configuration = if at < before.len() { "base" } else { "faster" }.into();
        run.repetition = at as u32;
        run.metrics["busy_time"].value = *value;
        run
    });
    document.runs = runs.collect();
    document
}

#[test]
fn what_is_equal_in_all_runs_is_said_to_be() {
    let document = of_values(&[512.0; 3], &[512.0; 3]);
    let text = rendered(&document, 100);
    assert!(text.contains("equal in every run: 0 %"), "{text}");
    let whole = crate::text(&document, &Brief::default(), Style::default());
    for text in [&text, &whole] {
        for not in ["annot tell", "0 % to 0 %", "1.000 ?", "1.000..1.000"] {
            assert!(!text.contains(not), "{text}");
        }
    }
    assert!(whole.contains(" equal\n"), "{whole}");
}

#[test]
fn what_differs_by_the_same_in_all_runs_is_said_to() {
    let document = of_values(&[512.0; 3], &[808.0; 3]);
    let text = rendered(&document, 100);
    let answer = "a difference in every run: +57.8 % (512 -> 808 ns)";
    assert!(text.contains(answer), "{text}");
    let whole = crate::text(&document, &Brief::default(), Style::default());
    assert!(whole.contains("1.578\n"), "{whole}");
    assert!(whole.contains("in every run\n"), "{whole}");
    assert!(!whole.contains("1.578 ?"), "{whole}");
}

#[test]
fn what_varies_in_one_run_or_was_run_once_is_not_said_to_be_fixed() {
    for (before, after) in [
        (&[512.0, 512.0, 513.0][..], &[512.0; 3][..]),
        (&[512.0], &[512.0]),
    ] {
        let text = rendered(&of_values(before, after), 100);
        assert!(text.contains("cannot tell"), "{text}");
        assert!(!text.contains("every run"), "{text}");
    }
}

#[test]
fn an_established_outcome_is_not_followed_by_cannot_tell_on_any() {
    let mut undecided = Vec::new();
    for configuration in ["faster", "slower"] {
        undecided.push(row(
            ("sync", "busy_time", configuration),
            [28_200.0, 28_000.0],
            [0.9, 1.1],
            "undecided",
        ));
    }
    let mut document = document(&["base", "faster", "slower"], &undecided);
    let text = rendered(&document, 100);
    assert!(text.contains("Cannot tell on any metric."), "{text}");
    let ended = json!([{
        "outcome": "crashed", "baseline": "base", "configuration": "faster",
        "count_baseline": 0, "n_baseline": 32, "count": 20, "n": 32, "pairs": null,
        "test": "fisher", "p": 1e-6, "p_attainable": 1e-9, "p_adjusted": 1e-6,
        "fewest": 6, "verdict": "established", "signatures": [], "note": null,
    }]);
    document.outcomes = serde_json::from_value(ended).unwrap();
    for text in [
        rendered(&document, 100),
        crate::text(&document, &Brief::default(), Style::default()),
    ] {
        assert!(!text.contains("annot tell on any"), "{text}");
        let said = "Apart from how runs ended, nothing is decided.";
        assert!(text.contains(said), "{text}");
    }
}
