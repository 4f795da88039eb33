//! Rows that fail a gate.

use assize_bundle::{Measurement, Records, Run};
use assize_verdict::{Options, try_records};

use super::*;

/// Six runs each of a baseline and of configurations whose `time` is the given
/// multiple of the baseline's, with a noise of about 0.1 %.
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
    rows.iter()
        .map(|(_, row)| row.configuration.clone())
        .collect()
}

#[test]
fn worse_is_what_lies_wholly_beyond_the_margin() {
    use Better::{Higher, Lower};
    let at = |ratio, better| found(&[ratio], better, Gate::Worse, 0.02).len();
    // 5 % more, 5 % less, equal, and about the margin.
    assert_eq!([1.05, 0.95, 1.0, 1.02].map(|r| at(r, Lower)), [1, 0, 0, 0]);
    assert_eq!([1.05, 0.95, 1.0, 0.98].map(|r| at(r, Higher)), [0, 1, 0, 0]);
    // Every row is checked.
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
    document.comparisons[0].ci_simultaneous = None;
    let of = |gate| closed(&document, &directions, gate, 0.02).len();
    assert_eq!((of(Gate::Worse), of(Gate::Unproven)), (0, 1));
    // Metrics that are not primary are not checked.
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
    row.ci_simultaneous = row.ci;
    let of = |document: &Document, gate| closed(document, &directions, gate, 0.02).len();
    assert_eq!(of(&document, Gate::Worse), 1);
    let row = &mut document.comparisons[0];
    row.ci = Some([-9.0, 0.9]);
    row.ci_simultaneous = row.ci;
    assert_eq!(of(&document, Gate::Worse), 0);
    assert_eq!(of(&document, Gate::Unproven), 0);
}

#[test]
fn one_row_of_many_closes_a_gate_only_if_it_is_worse_for_all_of_them_at_once() {
    let mut document = document(&[1.03]);
    let row = &mut document.comparisons[0];
    (row.ci, row.ci_simultaneous) = (Some([1.021, 1.039]), Some([1.01, 1.05]));
    let directions = BTreeMap::from([("time".to_owned(), Better::Lower)]);
    let of = |margin| closed(&document, &directions, Gate::Worse, margin).len();
    assert_eq!([0.005, 0.02].map(of), [1, 0]);
    // Showing that no row is worse takes as many runs for many rows as for one.
    let of = |margin| closed(&document, &directions, Gate::Unproven, margin).len();
    assert_eq!([0.03, 0.045].map(of), [1, 0]);
}

#[test]
fn a_gate_stays_open_over_many_rows_of_nothing() {
    // 24 rows without a difference, with 2 % of noise, repeatedly.
    let directions = BTreeMap::from([("time".to_owned(), Better::Lower)]);
    let (mut closed_at, mut state) = (0, 1_u64);
    let mut noise = || {
        // SplitMix64 (Steele, Lea and Flood 2014); the sum of four is nearly normal.
        let sum: f64 = (0..4)
            .map(|_| {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap()) / f64::from(u32::MAX)
            })
            .sum();
        1.0 + 0.02 * (sum - 2.0) * 1.732
    };
    for _ in 0..60 {
        let mut records = Records::default();
        for at in 0..25 {
            for repetition in 1..=6 {
                let mut run = Run::new(format!("c{at}"), "w", repetition);
                run.metrics
                    .insert("time".into(), Measurement::new(100.0 * noise(), "s"));
                records.runs.push(run);
            }
        }
        let options = Options {
            primary: vec!["time".into()],
            ..Options::default()
        };
        let document = try_records(&records, &options).unwrap();
        closed_at += usize::from(!closed(&document, &directions, Gate::Worse, 0.0).is_empty());
    }
    // The promised rate is 5 %, which is 3 of 60; with unadjusted intervals it
    // would be 17.
    assert!(closed_at <= 8, "{closed_at} of 60");
}
