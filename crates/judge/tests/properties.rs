//! Properties that hold for any data.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which the configuration does not recognise"
)]

use assize_judge::{
    Decision, VerdictInput, adjust, decide, equivalence, family, flips, permutation, poisson,
    quantile, welch,
};
use proptest::prelude::*;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-12)
}

fn positive(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.5_f64..2.0, n)
}

fn any_group(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    // Few distinct values, so that ties are common.
    prop::collection::vec((-4_i32..5).prop_map(|i| f64::from(i) / 10.0), n)
}

/// The result of the permutation test of one contrast, and its number of relabelings.
fn test_alone(blocks: &[(Vec<f64>, Vec<f64>)]) -> (family::ContrastResult, f64) {
    let blocks = (0..)
        .zip(blocks)
        .map(|(site, (a, b))| family::ContrastBlock {
            site,
            a: a.clone(),
            b: b.clone(),
        });
    let contrast = family::Contrast {
        blocks: blocks.collect(),
        resolution: 0.0,
        relative: true,
    };
    let found = family::step_down(&[contrast], 0).unwrap();
    (found.tested[0], found.relabelings)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_ratio_does_not_depend_on_the_unit(a in positive(2..9), b in positive(2..9), unit in 1e-9_f64..1e9) {
        let scaled = |v: &[f64]| v.iter().map(|x| x * unit).collect::<Vec<_>>();
        let one = welch::ratio(&a, &b).unwrap();
        let two = welch::ratio(&scaled(&a), &scaled(&b)).unwrap();
        prop_assert!(near(one.effect, two.effect) && (one.p_t - two.p_t).abs() < 1e-7);
        prop_assert!((one.ci.low / two.ci.low - 1.0).abs() < 1e-7);
    }

    #[test]
    fn swapping_the_sides_gives_the_reciprocal(a in positive(2..9), b in positive(2..9)) {
        let one = welch::ratio(&a, &b).unwrap();
        let two = welch::ratio(&b, &a).unwrap();
        prop_assert!(near(one.effect, 1.0 / two.effect) && near(one.ci.low, 1.0 / two.ci.high));
        prop_assert!(near(one.p_t, two.p_t) && near(one.df, two.df));
        prop_assert!(one.ci.contains(one.effect) && one.ci90.within(&one.ci));
        prop_assert_eq!(one.p_t <= 0.05, !one.ci.contains(1.0));
    }

    #[test]
    fn the_interval_of_flips_leaves_out_0_where_they_reject_it(eighths in prop::collection::vec(-4_i32..9, 6..11)) {
        let differences: Vec<f64> = eighths.iter().map(|&d| f64::from(d) / 8.0).collect();
        let pairs: Vec<_> = differences.iter().map(|&d| (vec![0.0], vec![d])).collect();
        let p = test_alone(&pairs).0.p;
        let interval = flips::interval(&differences, 0.95, 0.0).unwrap().unwrap();
        prop_assert_eq!(p <= 0.05, !interval.contains(0.0), "p {}, {:?}", p, interval);
    }

    #[test]
    fn p_is_a_whole_number_of_relabelings(a in any_group(1..7), b in any_group(1..7)) {
        let (found, relabelings) = test_alone(&[(a.clone(), b.clone())]);
        let ways = found.p * relabelings;
        prop_assert!((ways - ways.round()).abs() < 1e-9);
        prop_assert!(found.p >= found.p_attainable - 1e-15 && found.p <= 1.0);
        prop_assert_eq!(found.p_attainable, permutation::attainable(a.len(), b.len()));
        prop_assert_eq!(found.p, test_alone(&[(b, a)]).0.p);
    }

    #[test]
    fn p_ignores_order_and_a_common_shift_within_blocks(
        a in any_group(2..4), b in any_group(2..4), shift in -3_i32..3,
    ) {
        let block = |s: f64| {
            let moved = |v: &[f64]| v.iter().rev().map(|x| x + s).collect::<Vec<_>>();
            (moved(&a), moved(&b))
        };
        let flat = test_alone(&[block(0.0), block(0.0)]).0;
        let moved = test_alone(&[block(0.0), block(f64::from(shift))]).0;
        prop_assert_eq!(flat.p, moved.p);
    }

    #[test]
    fn holm_is_never_below_benjamini_hochberg(p in prop::collection::vec(0.0_f64..=1.0, 1..20)) {
        let (holm, bh) = (adjust::holm(&p), adjust::benjamini_hochberg(&p));
        for i in 0..p.len() {
            prop_assert!(holm[i] >= bh[i] && bh[i] >= p[i] && holm[i] <= 1.0);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || (holm[i] <= holm[j] && bh[i] <= bh[j]));
            }
        }
    }

    #[test]
    fn equivalence_and_its_p_agree(a in positive(2..9), b in positive(2..9), margin in 0.01_f64..0.9) {
        let e = equivalence::of_ratio(&welch::ratio(&a, &b).unwrap(), margin).unwrap();
        prop_assert_eq!(e.equivalent, e.p <= 0.05);
    }

    #[test]
    fn more_evidence_never_weakens_a_verdict(p in 0.0_f64..0.2, attainable in 0.0_f64..0.2) {
        let input = VerdictInput {
            p_adjusted: Some(p), p_t_adjusted: Some(p), p_attainable: Some(attainable),
            p_equivalence: None, alpha: 0.05,
        };
        let verdict = decide(input);
        prop_assert_eq!(verdict == Decision::Established, p <= 0.05);
        let without = decide(VerdictInput { p_adjusted: None, p_attainable: None, ..input });
        prop_assert_eq!(without == Decision::Supported, p <= 0.05);
    }

    #[test]
    fn rates_swap_and_intervals_hold_their_rate(a in 0_u64..300, b in 0_u64..300, t in 0.1_f64..10.0) {
        let one = poisson::compare(a, t, b, 1.0).unwrap();
        let two = poisson::compare(b, 1.0, a, t).unwrap();
        prop_assert!((one.p - two.p).abs() < 1e-9 && one.p > 0.0 && one.p <= 1.0);
        let i = poisson::garwood(a, t, 0.95).unwrap();
        prop_assert!(i.contains(a as f64 / t) && i.low < i.high);
    }

    #[test]
    fn a_quantile_lies_between_its_neighbours(mut run in positive(1..60), p in 0.0_f64..=1.0) {
        run.sort_by(f64::total_cmp);
        let q = quantile::type7(&run, p).unwrap();
        prop_assert!(q >= run[0] && q <= run[run.len() - 1]);
        if let Ok(i) = quantile::interval(&run, p.clamp(0.01, 0.99), 0.9) {
            prop_assert!(i.coverage >= 0.9 && i.interval.low <= i.interval.high);
        }
    }
}
