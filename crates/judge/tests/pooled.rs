//! The pooled interval and the tests of heterogeneity have the documented error
//! rates.

use assize_judge::Error;
use assize_judge::family::{Contrast, ContrastBlock, step_down};
use assize_judge::pooled::{Study, fixed, heterogeneity, random, shares};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A standard normal deviate (Box and Muller).
fn normal(source: &mut ChaCha8Rng) -> f64 {
    let mut uniform = || (source.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (u, v) = (1.0 - uniform(), uniform());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Differences of this many pairs on each of three machines with unequal noise.
fn differences(source: &mut ChaCha8Rng, pairs: usize) -> Vec<Vec<f64>> {
    let mut of = |noise: f64| (0..pairs).map(|_| noise * normal(source)).collect();
    vec![of(1.0), of(2.0), of(3.0)]
}

fn study(differences: &[f64]) -> Study {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
    Study {
        effect: mean,
        standard_error: (squares / (n - 1.0) / n).sqrt(),
        df: n - 1.0,
    }
}

#[test]
fn with_few_pairs_the_interval_covers_and_welch_alarms_as_promised() {
    const SETS: u32 = 6000;
    let mut source = ChaCha8Rng::seed_from_u64(5);
    let (mut covered, mut usual, mut welch, mut cochran) = (0, 0, 0, 0);
    for _ in 0..SETS {
        let all = differences(&mut source, 6);
        let studies: Vec<Study> = all.iter().map(|d| study(d)).collect();
        let pooled = fixed(&studies).unwrap();
        covered += u32::from(pooled.ci.contains(0.0));
        let total: f64 = studies.iter().map(|s| s.standard_error.powi(-2)).sum();
        usual += u32::from(pooled.effect.abs() <= 1.959964 / total.sqrt());
        let found = heterogeneity(&studies).unwrap();
        welch += u32::from(found.p_welch <= 0.05);
        cochran += u32::from(found.p <= 0.05);
    }
    let share = |count: u32| f64::from(count) / f64::from(SETS);
    let said = format!(
        "{} {} {} {}",
        share(covered),
        share(usual),
        share(welch),
        share(cochran)
    );
    assert!((0.92..0.95).contains(&share(covered)), "{said}");
    assert!(
        share(usual) < 0.88,
        "the usual interval is too narrow: {said}"
    );
    assert!((0.04..0.065).contains(&share(welch)), "{said}");
    assert!(
        share(cochran) > 0.09,
        "Cochran's Q alarms too often: {said}"
    );
}

/// The p of the permutation test within machines, and the number of relabelings.
fn permuted(machines: &[Vec<(Vec<f64>, Vec<f64>)>]) -> (f64, f64) {
    let blocks = machines.iter().flatten();
    let blocks = (0..).zip(blocks).map(|(site, (a, b))| ContrastBlock {
        site,
        a: a.clone(),
        b: b.clone(),
    });
    let contrast = Contrast {
        blocks: blocks.collect(),
        resolution: 0.0,
        relative: true,
    };
    let family = step_down(&[contrast], 0).unwrap();
    (family.tested[0].p, family.relabelings)
}

#[test]
fn the_permutation_inside_machines_alarms_no_more_often_than_promised() {
    const SETS: u32 = 3000;
    let mut source = ChaCha8Rng::seed_from_u64(6);
    let mut alarms = 0;
    for _ in 0..SETS {
        let machines: Vec<Vec<(Vec<f64>, Vec<f64>)>> = differences(&mut source, 3)
            .into_iter()
            .map(|machine| {
                machine
                    .into_iter()
                    .map(|d| (vec![5.0], vec![5.0 + d]))
                    .collect()
            })
            .collect();
        let (p, relabelings) = permuted(&machines);
        assert_eq!(relabelings, 512.0);
        alarms += u32::from(p <= 0.05);
    }
    let share = f64::from(alarms) / f64::from(SETS);
    assert!((0.035..0.06).contains(&share), "{share}");
}

#[test]
fn what_has_no_weight_is_refused() {
    let on = |standard_error, df| Study {
        effect: 0.1,
        standard_error,
        df,
    };
    let few = fixed(&[on(0.1, 5.0)]);
    assert_eq!(few, Err(Error::TooFew { needed: 2, got: 1 }));
    for bad in [on(0.0, 5.0), on(0.1, 0.0), on(-0.1, 5.0)] {
        let studies = [on(0.1, 5.0), bad];
        assert!(matches!(fixed(&studies), Err(Error::BadArgument(_))));
        assert!(heterogeneity(&studies).is_err() && random(&studies).is_err());
    }
    assert_eq!(
        fixed(&[on(0.1, 5.0), on(f64::NAN, 5.0)]),
        Err(Error::NotFinite)
    );
    assert_eq!(
        fixed(&[on(0.1, 5.0), on(1e-200, 5.0)]),
        Err(Error::NotFinite)
    );
}

fn any_studies() -> impl Strategy<Value = Vec<Study>> {
    let one = (-2.0_f64..2.0, 0.001_f64..1.0, 1.0_f64..40.0);
    let study = one.prop_map(|(effect, standard_error, df)| Study {
        effect,
        standard_error,
        df,
    });
    prop::collection::vec(study, 2..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pooling_keeps_within_its_effects_and_knows_no_order_and_no_unit(studies in any_studies(), unit in 1e-3_f64..1e3) {
        let pooled = fixed(&studies).unwrap();
        let effects = || studies.iter().map(|s| s.effect);
        let (least, most) = (effects().fold(f64::MAX, f64::min), effects().fold(f64::MIN, f64::max));
        prop_assert!(least - 1e-12 <= pooled.effect && pooled.effect <= most + 1e-12);
        prop_assert!((shares(&studies).unwrap().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let turned: Vec<Study> = studies.iter().rev().copied().collect();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-7 * a.abs().max(b.abs()).max(1e-9);
        let (one, other) = (heterogeneity(&studies).unwrap(), heterogeneity(&turned).unwrap());
        prop_assert!(near(one.tau2, other.tau2) && near(one.q, other.q) && near(one.p_welch, other.p_welch));
        let scaled: Vec<Study> = studies
            .iter()
            .map(|s| Study { effect: s.effect * unit, standard_error: s.standard_error * unit, df: s.df })
            .collect();
        let there = heterogeneity(&scaled).unwrap();
        prop_assert!(near(there.q, one.q) && near(there.i2, one.i2) && near(there.tau2, one.tau2 * unit * unit));
        prop_assert!(near(fixed(&scaled).unwrap().effect, pooled.effect * unit));
    }

    #[test]
    fn intervals_hold_their_estimates_and_others_lie_further_out(studies in any_studies()) {
        let found = heterogeneity(&studies).unwrap();
        prop_assert!(found.tau2_ci.contains(found.tau2) && found.i2_ci.contains(found.i2));
        prop_assert!((0.0..1.0).contains(&found.i2) && (0.0..=1.0).contains(&found.p_welch));
        let mean = random(&studies).unwrap();
        prop_assert!(mean.ci.contains(mean.effect));
        prop_assert_eq!(mean.prediction.is_some(), studies.len() > 2);
        if let Some(prediction) = mean.prediction {
            prop_assert!(mean.ci.within(&prediction));
        }
    }

    #[test]
    fn levels_of_machines_do_not_move_p(shift in -5.0_f64..5.0, seed in 0_u64..100) {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let machine = |source: &mut ChaCha8Rng, level: f64| -> Vec<(Vec<f64>, Vec<f64>)> {
            let mut draw = |n: usize| (0..n).map(|_| level + normal(source)).collect::<Vec<f64>>();
            vec![(draw(3), draw(2))]
        };
        let (one, two) = (machine(&mut source, 0.0), machine(&mut source, 1.0));
        let moved: Vec<(Vec<f64>, Vec<f64>)> = two
            .iter()
            .map(|(a, b)| {
                let add = |v: &[f64]| v.iter().map(|x| x + shift).collect();
                (add(a), add(b))
            })
            .collect();
        prop_assert_eq!(permuted(&[one.clone(), two]), permuted(&[one, moved]));
    }
}
