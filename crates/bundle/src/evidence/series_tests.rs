#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use proptest::prelude::*;

use super::*;
use crate::EvidenceLimits;

fn grain(stretches: usize) -> EvidenceResolution {
    EvidenceResolution::finest(&EvidenceLimits {
        stretches,
        ..EvidenceLimits::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_sample_is_within_its_stretch_and_every_end_is_a_sample(
        pairs in prop::collection::vec((0u64..1 << 40, -1e9f64..1e9), 1..600),
        stretches in 2usize..200,
    ) {
        let (t_ns, values): (Vec<u64>, Vec<f64>) = pairs.iter().copied().unzip();
        let mut course = TimeCourse::new("m", "ns", &t_ns, &values).unwrap();
        course.thin(grain(stretches));
        let series = course.series(2);
        prop_assert!(series.t_ns.len() <= stretches.max(1));
        prop_assert!(series.t_ns.is_sorted());
        prop_assert_eq!((series.run, series.count), (2, pairs.len() as u64));
        for (t, value) in &pairs {
            let at = series.t_ns.partition_point(|begin| *begin <= *t as f64);
            // Samples taken at the same time may be separate stretches.
            let begin = series.t_ns[at - 1];
            let fits = (0..at).rev().take_while(|i| series.t_ns[*i] == begin);
            let mut fits = fits.map(|i| series.low[i] <= *value && *value <= series.high[i]);
            prop_assert!(fits.any(|fits| fits));
        }
        for end in series.low.iter().chain(&series.high) {
            prop_assert!(values.contains(end));
        }
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(series.low.contains(&least) && series.high.contains(&greatest));
    }

    #[test]
    fn coarser_in_steps_is_coarser_at_once(
        pairs in prop::collection::vec((0u64..1 << 20, -1e9f64..1e9), 1..900),
        steps in 0usize..8,
    ) {
        let (t_ns, values): (Vec<u64>, Vec<f64>) = pairs.into_iter().unzip();
        let whole = TimeCourse::new("m", "ns", &t_ns, &values).unwrap();
        let (mut by_steps, mut grain) = (whole.clone(), grain(512));
        by_steps.thin(grain);
        for _ in 0..steps {
            let Some(coarser) = grain.coarser() else { break };
            grain = coarser;
            by_steps.thin(grain);
        }
        let mut at_once = whole;
        at_once.thin(grain);
        prop_assert_eq!(by_steps, at_once);
    }
}

#[test]
fn stretches_are_equally_long() {
    let t_ns = [10, 11, 12, 13, 60, 61, 109];
    let values = [5.0, 9.0, 1.0, 5.0, 7.0, 6.0, 2.0];
    let mut course = TimeCourse::new("m", "ns", &t_ns, &values).unwrap();
    course.thin(grain(2));
    let series = course.series(0);
    assert_eq!(series.t_ns, [10.0, 60.0]);
    assert_eq!(series.low, [1.0, 2.0]);
    assert_eq!(series.high, [9.0, 7.0]);
}
