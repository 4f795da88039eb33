//! What closes a gate.

use assize_bundle::{Measurement, Records, Run};
use assize_verdict::{Options, try_records};

use super::*;

/// Six runs each of a baseline and of configurations whose `time` is so many
/// times the baseline's, with a noise of about 0.1 %.
fn document(ratios: &[f64]) -> Document {
    let noise = [0.999, 1.0, 1.001, 0.9995, 1.0005, 1.0];
    let mut records = Records::default();
    let all = [1.0].iter().chain(ratios).enumerate();
    for (at, ratio) in all {
        for (repetition, noise) in (1..).zip(noise) {
            let mut run = Run::new(format!("c{at}"), "w", repetition);
            let time = Measurement::new(100.0 * ratio * noise, "s");
            run.metrics.insert("time".into(), time);
            records.runs.push(run);
        }
    }
    try_records(&records, &Options::default()).unwrap()
}

fn found(ratios: &[f64], better: Better, gate: Gate, margin: f64) -> Vec<String> {
    let directions = BTreeMap::from([("time".to_owned(), better)]);
    let document = document(ratios);
    let rows = closed(&document, &directions, gate, margin);
    rows.iter().map(|row| row.configuration.clone()).collect()
}

#[test]
fn worse_is_what_lies_wholly_beyond_the_margin() {
    use Better::{Higher, Lower};
    let at = |ratio, better| found(&[ratio], better, Gate::Worse, 0.02).len();
    // 5 % more, 5 % less, nothing, just about the margin.
    assert_eq!([1.05, 0.95, 1.0, 1.02].map(|r| at(r, Lower)), [1, 0, 0, 0]);
    assert_eq!([1.05, 0.95, 1.0, 0.98].map(|r| at(r, Higher)), [0, 1, 0, 0]);
    // Each row is looked at.
    let rows = found(&[0.5, 1.05, 1.01], Lower, Gate::Worse, 0.02);
    assert_eq!(rows, ["c2"]);
}

#[test]
fn unproven_is_what_does_not_lie_wholly_within_it() {
    use Better::{Higher, Lower};
    let at = |ratio, better| found(&[ratio], better, Gate::Unproven, 0.02).len();
    assert_eq!([1.05, 0.5, 1.0, 1.02].map(|r| at(r, Lower)), [1, 0, 0, 1]);
    assert_eq!([2.0, 0.95, 1.0, 0.98].map(|r| at(r, Higher)), [0, 1, 0, 1]);
}

#[test]
fn without_an_interval_nothing_is_shown_and_nothing_refuted() {
    let directions = BTreeMap::from([("time".to_owned(), Better::Lower)]);
    let mut document = document(&[1.5]);
    document.comparisons[0].ci = None;
    let of = |gate| closed(&document, &directions, gate, 0.02).len();
    assert_eq!((of(Gate::Worse), of(Gate::Unproven)), (0, 1));
    // Metrics that are not primary are not looked at.
    assert!(closed(&document, &BTreeMap::new(), Gate::Unproven, 0.02).is_empty());
}

#[test]
fn differences_are_shares_of_the_baseline() {
    let directions = BTreeMap::from([("time".to_owned(), Better::Lower)]);
    let mut document = document(&[1.5]);
    let row = &mut document.comparisons[0];
    row.scale = Scale::Raw;
    row.mean_baseline = Some(-50.0);
    row.ci = Some([1.5, 2.5]);
    let of = |document: &Document, gate| closed(document, &directions, gate, 0.02).len();
    assert_eq!(of(&document, Gate::Worse), 1);
    document.comparisons[0].ci = Some([-9.0, 0.9]);
    assert_eq!(of(&document, Gate::Worse), 0);
    assert_eq!(of(&document, Gate::Unproven), 0);
}
