//! The correction over the whole document: how tests share alpha, and the conditions for a verdict
//! other than a small p.
//!
//! The constants were computed in numpy and scipy: relabelings by `itertools`, the corrections by
//! sorting.

use assize_bundle::{Measurement, Records};
use assize_verdict::{Comparison, Document, Options, Verdict};

use crate::common::{around, close, in_blocks, row, runs_of, tried};

/// Adds another metric to the same runs.
fn with_metric(mut records: Records, metric: &str, rows: &[(&str, &[f64])]) -> Records {
    let more = runs_of("w", metric, "s", rows).runs;
    for (run, more) in records.runs.iter_mut().zip(more) {
        run.metrics.extend(more.metrics);
    }
    records
}

/// The metrics `declared` and `other` in six blocks, with the values of `b` multiplied by a factor
/// for each metric.
fn two_metrics(declared: f64, other: f64) -> Records {
    let of = |metric: &str, factor: f64, seed: u64| {
        let (a, b) = (around(10.0, 0.02, seed, 6), around(10.0, 0.02, seed + 1, 6));
        let b: Vec<f64> = b.iter().map(|v| v * factor).collect();
        (metric.to_owned(), a, b)
    };
    let first = of("declared", declared, 1);
    let second = of("other", other, 7);
    let rows = |(_, a, b): &(String, Vec<f64>, Vec<f64>)| [("a", a.clone()), ("b", b.clone())];
    let [a, b] = rows(&first);
    let records = runs_of("w", &first.0, "s", &[(a.0, &a.1), (b.0, &b.1)]);
    let [a, b] = rows(&second);
    in_blocks(with_metric(records, &second.0, &[(a.0, &a.1), (b.0, &b.1)]))
}

fn primary(records: &Records) -> Document {
    let options = Options {
        primary: vec!["declared".into()],
        ..Options::default()
    };
    tried(records, &options)
}

fn judged(document: &Document, metric: &str) -> (Option<f64>, Verdict) {
    let found = row(document, "w", metric, "b");
    (found.p_adjusted, found.verdict)
}

#[test]
fn primary_metrics_have_four_fifths_of_alpha_and_leave_it_to_the_others() {
    // The smallest p with six blocks is 2 / 64.
    const LEAST: f64 = 2.0 / 64.0;
    // The primary metric has four fifths of alpha. If it is rejected completely, the other metric
    // gets them too.
    let document = primary(&two_metrics(0.9, 0.9));
    let (p, verdict) = judged(&document, "declared");
    close(p, LEAST / 0.8);
    assert_eq!(verdict, Verdict::Established);
    let (p, verdict) = judged(&document, "other");
    close(p, LEAST / 0.8);
    assert_eq!(verdict, Verdict::Established);
    let levels: Vec<(bool, u32)> = document
        .families
        .iter()
        .map(|family| (family.primary, family.tests))
        .collect();
    assert_eq!(levels, [(true, 1), (false, 1)]);
    close(Some(document.families[0].alpha), 0.04);
    close(Some(document.families[1].alpha), 0.01);
    // If the primary metric shows nothing, the other has only its fifth of alpha.
    let document = primary(&two_metrics(1.0, 0.9));
    assert_eq!(judged(&document, "declared").1, Verdict::Undecided);
    let (p, verdict) = judged(&document, "other");
    close(p, LEAST / 0.2);
    // With six blocks, the permutation test cannot reach a fifth of 5 %, but the t test can.
    assert_eq!(verdict, Verdict::Supported);
    // If the other metric shows nothing, the primary one loses only that fifth.
    let document = primary(&two_metrics(0.9, 1.0));
    close(judged(&document, "declared").0, LEAST / 0.8);
    assert_eq!(judged(&document, "other").1, Verdict::Undecided);
    // If nothing is declared primary, both are one family with all of alpha.
    let document = tried(&two_metrics(1.0, 0.9), &Options::default());
    let (p, verdict) = judged(&document, "other");
    close(p, LEAST);
    assert_eq!(verdict, Verdict::Established);
    assert_eq!(document.families.len(), 1);
    close(Some(document.families[0].alpha), 0.05);
}

#[test]
fn what_is_established_costs_weaker_effects_nothing() {
    // An effect of 100 % that hardly varies between blocks, and one of 0.3 % with 1 % of noise.
    // With one block of the first flipped, its t is still 3, which the second does not reach.
    let (a, b) = (around(10.0, 0.001, 2, 8), around(20.0, 0.001, 1, 8));
    let records = runs_of("w", "huge", "s", &[("a", &a), ("b", &b)]);
    let (a, b) = (around(10.0, 0.01, 4, 8), around(9.97, 0.01, 3, 8));
    let records = in_blocks(with_metric(records, "small", &[("a", &a), ("b", &b)]));
    let document = tried(&records, &Options::default());
    assert_eq!(judged(&document, "huge").1, Verdict::Established);
    close(judged(&document, "huge").0, 2.0 / 256.0);
    let small = row(&document, "w", "small", "b");
    // 6 of 256 flips alone, and after the other effect is rejected; 20 before.
    close(small.p, 6.0 / 256.0);
    close(small.p_adjusted, 6.0 / 256.0);
    assert_eq!(small.verdict, Verdict::Established);
    // The simultaneous interval of an established row excludes 1.
    assert!(small.ci_simultaneous.unwrap()[1] <= 1.0);
}

#[test]
fn corrected_p_are_not_given_where_alpha_is_out_of_reach() {
    let rows = |n: usize| {
        let (a, b) = (around(10.0, 0.01, 1, n), around(9.0, 0.01, 2, n));
        let document = tried(
            &runs_of("w", "t", "s", &[("a", &a), ("b", &b)]),
            &Options::default(),
        );
        row(&document, "w", "t", "b").clone()
    };
    let three = rows(3);
    close(three.p, 0.1);
    assert_eq!(three.p_adjusted, None);
    assert_eq!(three.verdict, Verdict::Supported);
    let four = rows(4);
    close(four.p_adjusted, 2.0 / 70.0);
    assert_eq!(four.verdict, Verdict::Established);
    // Two runs per side are too few for the t test too, whatever its p.
    let two = rows(2);
    assert!(two.p_t_adjusted < Some(0.05), "{two:?}");
    assert_eq!(two.verdict, Verdict::Undecided);
}

#[test]
fn whole_numbers_that_hardly_vary_are_not_supported() {
    let judged = |a: [f64; 3], b: [f64; 3]| {
        let records = runs_of("w", "faults", "", &[("a", &a), ("b", &b)]);
        let document = tried(&records, &Options::default());
        row(&document, "w", "faults", "b").clone()
    };
    // Welch's p is 0.0382 without the variance of 1/12 that rounding hides, and above 5 % with it.
    let found = judged([100.0, 100.0, 101.0], [102.0, 102.0, 102.0]);
    close(found.p_t, 0.055_471_266_374_481_58);
    assert_eq!(found.verdict, Verdict::Undecided);
    // If nothing varies at all, there is no t test.
    let found = judged([5.0; 3], [7.0; 3]);
    assert_eq!((found.p_t, found.p_t_adjusted), (None, None));
    assert_eq!(found.verdict, Verdict::Undecided);
    // A difference of many steps is still supported.
    let found = judged([100.0, 100.0, 101.0], [112.0, 111.0, 112.0]);
    assert_eq!(found.verdict, Verdict::Supported);
}

#[test]
fn equal_means_are_not_equivalent_of_few_runs_or_with_runs_that_lie_apart() {
    let judged = |n: usize, apart: f64| {
        let (a, mut b) = (around(10.0, 0.001, 1, n), around(10.0, 0.001, 2, n));
        b[n / 2] *= apart;
        let records = runs_of("w", "t", "s", &[("a", &a), ("b", &b)]);
        let document = tried(&records, &Options::default());
        row(&document, "w", "t", "b").clone()
    };
    assert_eq!(judged(4, 1.0).verdict, Verdict::Undecided);
    assert_eq!(judged(5, 1.0).verdict, Verdict::Equivalent);
    // One of 20 runs is 5 % longer: the mean is still within 1 %, but the share
    // of such runs may be anything from 1 to 14 %.
    let found = judged(20, 1.05);
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!(
        found.because.as_deref(),
        Some(
            "some runs are outliers, and 20 runs do not show their share: up to 13.9 % of all may \
              be outliers"
        )
    );
    assert_eq!(judged(20, 1.0).verdict, Verdict::Equivalent);
    // An outlier within the margin does not count.
    assert_eq!(judged(20, 1.008).verdict, Verdict::Equivalent);
    // 60 runs bound the share to 5 %.
    assert_eq!(judged(60, 1.05).verdict, Verdict::Equivalent);
}

#[test]
fn of_forty_metrics_without_any_effect_none_is_found() {
    let metrics: Vec<String> = (0..40).map(|at| format!("m{at}")).collect();
    let judged = |seed: u64| {
        let mut records = in_blocks(runs_of(
            "w",
            "m0",
            "s",
            &[("a", &[1.0; 6]), ("b", &[1.0; 6])],
        ));
        for (run, at) in records.runs.iter_mut().zip(0_u64..) {
            let values = around(10.0, 0.01, 100 * seed + at, metrics.len());
            for (metric, value) in metrics.iter().zip(values) {
                let value = Measurement::new(value, "s");
                run.metrics.insert(metric.clone(), value);
            }
        }
        tried(&records, &Options::default())
    };
    let documents: Vec<Document> = (0..40).map(judged).collect();
    let alarms = |hit: &dyn Fn(&Comparison) -> bool| {
        let with = documents.iter().filter(|d| d.comparisons.iter().any(hit));
        with.count()
    };
    // Each p reaches 2 / 64 in one of 32 metrics, so most documents have such a row.
    assert!(alarms(&|row| row.p <= Some(0.05)) > 20);
    let differs =
        |row: &Comparison| matches!(row.verdict, Verdict::Established | Verdict::Supported);
    // Two are expected. The seeds are fixed.
    assert!(alarms(&differs) <= 4, "{} of 40", alarms(&differs));
}
