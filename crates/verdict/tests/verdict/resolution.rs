//! Values with a step size, and what they cannot show.

use assize_bundle::{Place, Records, Resolution, Spread, Summary};
use assize_verdict::{Options, Outcome, Verdict};

use crate::common::{close, in_blocks, row, runs_of, tried};

fn declared(configuration: &str, unit: &str, step: f64) -> Resolution {
    Resolution {
        configuration: configuration.into(),
        workload: "w".into(),
        metric: "time".into(),
        unit: unit.into(),
        step,
    }
}

/// hackbench prints 7 ms whatever the true time.
fn seven(unit: &str, value: f64) -> Records {
    let values = [value; 6];
    runs_of("w", "time", unit, &[("a", &values), ("b", &values)])
}

fn claimed() -> Options {
    Options {
        claims: vec!["a = b on time".into(), "a < b on time".into()],
        ..Options::default()
    }
}

#[test]
fn what_is_printed_in_steps_of_a_seventh_is_not_shown_to_be_equal() {
    let mut records = seven("s", 0.007);
    records.resolutions.push(declared("a", "s", 0.001));
    let document = tried(&records, &claimed());
    let found = row(&document, "w", "time", "b");
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!((found.resolution, found.too_coarse), (Some(0.001), true));
    assert_eq!(
        found.because.as_deref(),
        Some("the values come in steps of 0.001, 14.3 % of the baseline: too coarse for \u{b1}1 %")
    );
    for claim in &document.claims {
        assert_eq!(claim.outcome, Outcome::Undecided, "{claim:?}");
    }
    let grounds = &document.claims[0].because;
    assert!(grounds.contains("too coarse for"), "{grounds}");
    // The same figures from a source with a small step.
    records.resolutions[0].step = 0.000_05;
    let document = tried(&records, &claimed());
    let found = row(&document, "w", "time", "b");
    assert_eq!(found.verdict, Verdict::Equivalent);
    assert_eq!(
        (found.resolution, found.too_coarse),
        (Some(0.000_05), false)
    );
    assert_eq!(document.claims[0].outcome, Outcome::Upheld);
    // A step cannot be inferred from equal values.
    let found = tried(&seven("s", 0.007), &Options::default());
    let found = row(&found, "w", "time", "b");
    assert_eq!(
        (found.verdict, found.resolution),
        (Verdict::Equivalent, None)
    );
}

#[test]
fn a_step_is_declared_in_any_unit_of_the_dimension() {
    let mut records = seven("s", 0.007);
    records.resolutions.push(declared("b", "ms", 1.0));
    let document = tried(&records, &Options::default());
    let found = row(&document, "w", "time", "b");
    assert_eq!(found.verdict, Verdict::Undecided);
    assert!((found.resolution.unwrap() - 0.001).abs() < 1e-12);
}

/// Enough runs for the mean to be more precise than a single value.
fn coarse(unit: &str) -> Records {
    let a: Vec<f64> = (0..400)
        .map(|i| if i % 8 == 0 { 8.0 } else { 7.0 })
        .collect();
    let b: Vec<f64> = (0..400)
        .map(|i| if i % 8 == 3 { 8.0 } else { 7.0 })
        .collect();
    runs_of("w", "time", unit, &[("a", &a), ("b", &b)])
}

#[test]
fn steps_are_seen_in_the_values() {
    let document = tried(&coarse("ms"), &Options::default());
    let found = row(&document, "w", "time", "b");
    assert_eq!((found.resolution, found.too_coarse), (Some(1.0), true));
    assert_eq!(found.verdict, Verdict::Undecided);
    // A count of 7 is exact.
    let document = tried(&coarse(""), &Options::default());
    let found = row(&document, "w", "time", "b");
    assert_eq!(
        found.resolution,
        Some(1.0),
        "the name says that it is measured"
    );
    let mut counts = coarse("");
    for run in &mut counts.runs {
        let value = run.metrics.shift_remove("time").unwrap();
        run.metrics.insert("faults".into(), value);
    }
    let document = tried(&counts, &Options::default());
    let found = row(&document, "w", "faults", "b");
    assert_eq!(
        (found.verdict, found.resolution),
        (Verdict::Equivalent, None)
    );
}

#[test]
fn a_difference_beyond_the_steps_is_established_all_the_same() {
    let rows: [(&str, &[f64]); 2] = [
        ("a", &[7.0, 7.0, 8.0, 7.0, 8.0]),
        ("b", &[12.0, 11.0, 12.0, 12.0, 13.0]),
    ];
    let document = tried(&runs_of("w", "time", "ms", &rows), &Options::default());
    let found = row(&document, "w", "time", "b");
    assert_eq!(found.verdict, Verdict::Established);
    assert!(found.too_coarse && found.because.is_none(), "{found:?}");
}

#[test]
fn printed_means_are_no_finer_than_their_last_digit() {
    let mean = |configuration: &str| Summary {
        configuration: configuration.into(),
        workload: "w".into(),
        metric: "time".into(),
        unit: "s".into(),
        mean: 2.1,
        spread: Some(Spread::StandardDeviation(0.01)),
        n: Some(20),
        place: Place::default(),
    };
    let mut records = Records {
        summaries: vec![mean("a"), mean("b")],
        ..Records::default()
    };
    let verdict = |records: &Records| {
        let document = tried(records, &Options::default());
        row(&document, "w", "time", "b").verdict
    };
    assert_eq!(verdict(&records), Verdict::Equivalent);
    records.resolutions.push(declared("a", "s", 0.1));
    assert_eq!(verdict(&records), Verdict::Undecided);
}

#[test]
fn steps_widen_the_figures_of_pairs_too() {
    let rows: [(&str, &[f64]); 2] = [
        ("a", &[2.0, 2.3, 3.1, 2.7, 2.2, 2.9]),
        ("b", &[2.1, 2.4, 3.3, 2.8, 2.3, 3.1]),
    ];
    let document = tried(
        &in_blocks(runs_of("w", "time", "s", &rows)),
        &Options::default(),
    );
    let found = row(&document, "w", "time", "b");
    assert!((found.resolution.unwrap() - 0.1).abs() < 1e-9);
    // From scipy.stats.t for the mean of the log differences, with 0.01 / (12 * 6) over the squared
    // mean of each side added to its squared standard error; 0.000146 without. The interval is the
    // range of the ratios, 1.0370 to 1.0690, widened accordingly.
    close(found.p_t, 0.001547391411085);
    close(found.ci.map(|ci| ci[0]), 1.029099443305);
    close(found.ci.map(|ci| ci[1]), 1.076304347033);
}
