#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use proptest::prelude::*;

use super::*;

/// A run of one of two configurations with long tails.
fn run_data(index: u32, count: u32) -> RunData {
    let values: Vec<f64> = (0..count)
        .map(|at| f64::from((at * 7919 + index * 31) % 100_003).powf(1.7))
        .collect();
    let t_ns: Vec<u64> = (0..u64::from(count)).map(|at| at * 1000).collect();
    RunData {
        index,
        configuration: ["base", "queue"][index as usize % 2].into(),
        workload: "pipe".into(),
        courses: TimeCourse::new("m", "ns", &t_ns, &values)
            .into_iter()
            .collect(),
        distributions: Distribution::of_samples("m", "ns", values)
            .into_iter()
            .collect(),
        ..RunData::default()
    }
}

fn gathered(order: &[u32], limits: &EvidenceLimits) -> ThinnedEvidence {
    let mut gathered = GatheredRuns::new(limits);
    for index in order {
        gathered.take(run_data(*index, 200 + 97 * index));
    }
    gathered.evidence(limits)
}

fn bytes(evidence: &ThinnedEvidence) -> usize {
    let curves = serde_json::to_string(&evidence.curves).unwrap().len();
    curves + serde_json::to_string(&evidence.series).unwrap().len() - 4
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn the_order_in_which_runs_are_read_does_not_matter(
        order in Just((0..12).collect::<Vec<u32>>()).prop_shuffle(),
        bytes_max in 100usize..120_000,
    ) {
        let limits = EvidenceLimits { bytes: bytes_max, ..EvidenceLimits::default() };
        let in_order: Vec<u32> = (0..12).collect();
        let evidence = gathered(&order, &limits);
        prop_assert_eq!(&evidence, &gathered(&in_order, &limits));
        prop_assert!(bytes(&evidence) <= bytes_max, "{} of {bytes_max}", bytes(&evidence));
    }
}

#[test]
fn everything_gets_coarser_before_anything_is_left_out() {
    let order: Vec<u32> = (0..12).collect();
    let with = |bytes| {
        let limits = EvidenceLimits {
            bytes,
            ..EvidenceLimits::default()
        };
        gathered(&order, &limits)
    };
    let (ample, tight, none) = (with(1 << 20), with(40_000), with(6_000));
    let points = |evidence: &ThinnedEvidence| {
        evidence
            .curves
            .iter()
            .map(|c| c.values.len())
            .sum::<usize>()
    };
    assert_eq!((ample.curves.len(), ample.series.len()), (12, 12));
    assert_eq!((tight.curves.len(), tight.series.len()), (12, 12));
    assert!(points(&tight) < points(&ample));
    // When the coarsest grain does not fit, series are dropped first, and then
    // runs of the last repetitions.
    assert!(none.series.is_empty());
    assert!(
        (2..12).contains(&none.curves.len()),
        "{}",
        none.curves.len()
    );
    let kept: Vec<u32> = none.curves.iter().map(|curve| curve.run).collect();
    let first: Vec<u32> = (0..none.curves.len() as u32).collect();
    assert_eq!(kept, first);
    let said = none.thinned.join("\n");
    let missing = 12 - none.curves.len();
    assert!(
        said.contains(&format!("{missing} of 12 distributions are left out")),
        "{said}"
    );
    assert!(said.contains("12 of 12 series are left out"), "{said}");
}
