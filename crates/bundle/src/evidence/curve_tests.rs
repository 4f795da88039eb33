#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use proptest::prelude::*;

use super::*;
use crate::EvidenceLimits;

fn grain(points: usize) -> EvidenceResolution {
    EvidenceResolution::finest(&EvidenceLimits {
        points,
        ..EvidenceLimits::default()
    })
}

/// The share of samples up to a value, by counting.
fn share(samples: &[f64], value: f64) -> f64 {
    let not_greater = samples.iter().filter(|sample| **sample <= value).count();
    not_greater as f64 / samples.len() as f64
}

/// The share that a step curve shows.
fn share_at(curve: &Curve, value: f64) -> f64 {
    let steps = curve.values.partition_point(|known| *known <= value);
    steps.checked_sub(1).map_or(0.0, |step| curve.shares[step])
}

/// Many shapes: atoms, long tails, few and many distinct values.
fn samples() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        4 => (0u32..50).prop_map(f64::from),
        4 => (0f64..1.0).prop_map(|u| (1.0 - u).powf(-2.0)),
        1 => prop::num::f64::NORMAL,
    ];
    prop::collection::vec(value, 1..3000)
}

/// Compares a curve with its samples.
fn check(curve: &Curve, samples: &[f64], grain: EvidenceResolution) -> Result<(), TestCaseError> {
    let n = samples.len();
    let digit = 0.01 / n as f64;
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    prop_assert_eq!(curve.count, n as u64);
    prop_assert!(curve.values.is_sorted_by(|a, b| a < b));
    prop_assert!(curve.shares.is_sorted());
    prop_assert_eq!(curve.values.first(), sorted.first());
    prop_assert_eq!(curve.values.last(), sorted.last());
    prop_assert_eq!(curve.shares.last(), Some(&1.0));
    for (value, known) in curve.values.iter().zip(&curve.shares) {
        prop_assert!((share(samples, *value) - known).abs() <= digit);
    }
    let step = 1.0 / grain.body as f64;
    let times = 10f64.powf(1.0 / grain.decade as f64);
    for value in &sorted {
        let (is, shown) = (share(samples, *value), share_at(curve, *value));
        prop_assert!(
            shown <= is + digit && is - shown < step + digit,
            "{is} {shown}"
        );
        if is < 1.0 {
            prop_assert!(1.0 - shown < (1.0 - is) * times + digit, "{is} {shown}");
        }
    }
    for p in NAMED {
        let quantile = quantile::type7(&sorted, p).unwrap();
        if quantile::supported(n, p) {
            prop_assert!(curve.values.contains(&quantile), "p{p} {quantile}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_share_is_off_by_more_than_is_said(samples in samples(), points in 16usize..300) {
        let grain = grain(points);
        let mut thin = Distribution::of_samples("m", "ns", samples.clone()).unwrap();
        thin.thin(grain);
        let curve = thin.curve(3);
        prop_assert!(curve.values.len() <= points, "{} of {points}", curve.values.len());
        check(&curve, &samples, grain)?;
    }

    #[test]
    fn coarser_in_steps_is_coarser_at_once(samples in samples(), steps in 0usize..9) {
        let whole = Distribution::of_samples("m", "ns", samples.clone()).unwrap();
        let (mut by_steps, mut grain) = (whole.clone(), grain(400));
        by_steps.thin(grain);
        for _ in 0..steps {
            let Some(coarser) = grain.coarser() else { break };
            grain = coarser;
            by_steps.thin(grain);
        }
        let mut at_once = whole;
        at_once.thin(grain);
        prop_assert_eq!(&by_steps, &at_once);
        check(&by_steps.curve(0), &samples, grain)?;
    }

    #[test]
    fn a_histogram_gives_the_curve_of_its_samples(
        counts in prop::collection::btree_map(0u32..9000, 0u64..30, 1..400)
    ) {
        let counts: Vec<(f64, u64)> = counts.into_iter().map(|(v, c)| (f64::from(v), c)).collect();
        let repeat = |&(value, count): &(f64, u64)| std::iter::repeat_n(value, count as usize);
        let samples: Vec<f64> = counts.iter().flat_map(repeat).collect();
        let curve = |distribution: Option<Distribution>| {
            distribution.map(|mut distribution| {
                distribution.thin(grain(64));
                distribution.curve(0)
            })
        };
        let of_counts = Distribution::of_counts("m", "ns", &counts);
        let of_samples = Distribution::of_samples("m", "ns", samples);
        prop_assert_eq!(curve(of_counts), curve(of_samples));
    }
}

#[test]
fn few_values_are_all_kept() {
    let samples = vec![3.0, 1.0, 3.0, 9.0];
    let mut few = Distribution::of_samples("m", "ns", samples).unwrap();
    few.thin(grain(16));
    let curve = few.curve(7);
    assert_eq!(curve.values, [1.0, 3.0, 9.0]);
    assert_eq!(curve.shares, [0.25, 0.75, 1.0]);
    assert_eq!((curve.run, curve.count), (7, 4));
}

#[test]
fn a_tail_is_finer_than_the_rest() {
    let samples: Vec<f64> = (0..100_000).map(f64::from).collect();
    let mut thin = Distribution::of_samples("m", "ns", samples).unwrap();
    thin.thin(grain(128));
    let curve = thin.curve(0);
    let above = |p: f64| curve.shares.iter().filter(|share| **share > p).count();
    assert!(
        above(0.99) >= 20 && above(0.999) >= 12,
        "{:?}",
        curve.shares
    );
    assert!(above(0.9999) >= 5);
}

#[test]
fn of_buckets_only_their_ends_are_shown() {
    let buckets: Vec<(f64, u64)> = [(100.0, 600), (200.0, 0), (300.0, 400)].to_vec();
    let curve = Distribution::of_buckets("m", "ns", &buckets)
        .unwrap()
        .curve(0);
    assert_eq!(curve.values, [100.0, 300.0]);
    assert_eq!(curve.shares, [0.6, 1.0]);
    assert_eq!(Distribution::of_buckets("m", "ns", &[(1.0, 0)]), None);
    let too_many = [(1.0, u64::MAX), (2.0, 1)];
    assert_eq!(Distribution::of_buckets("m", "ns", &too_many), None);
}
