//! Comparison tables of two configurations: counts summed by row.

use std::collections::BTreeMap;

use assize_judge::family::{Contrast, ContrastBlock, step_down};
use assize_judge::{Decision, VerdictInput, decide, holm, paired};

use crate::difference::{CountedPair, CountedRun, DifferenceRow, divisor, mean, number};
use crate::profile::ProfilePlace;

/// The level at which rows are established.
const ALPHA: f64 = 0.05;
/// The seed for the draws of the permutation test.
const DRAWS: u64 = 1;

/// Maps a place to its row: a name and, for functions, a subsystem.
pub(crate) type RowKey<'a> = dyn Fn(&ProfilePlace) -> (String, Option<String>) + 'a;

/// The values of one row: one per seed, for both configurations.
#[derive(Clone, Default)]
struct Values {
    a: Vec<f64>,
    b: Vec<f64>,
}

/// Sums places by key; rows with the largest difference come first.
pub(crate) fn rows(
    pairs: &[CountedPair],
    by_job: bool,
    places: impl Fn(&CountedRun) -> &BTreeMap<ProfilePlace, u64>,
    key: &RowKey<'_>,
) -> Vec<DifferenceRow> {
    let mut all: BTreeMap<(String, Option<String>), Values> = BTreeMap::new();
    let none = Values {
        a: vec![0.0; pairs.len()],
        b: vec![0.0; pairs.len()],
    };
    for (at, pair) in pairs.iter().enumerate() {
        for (side, first) in [(&pair.a, true), (&pair.b, false)] {
            // Sums integers first, so that the sums are exact.
            let mut counts: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
            for (place, times) in places(side) {
                *counts.entry(key(place)).or_default() += times;
            }
            let divisor = divisor(side, by_job);
            for (name, count) in counts {
                let values = all.entry(name).or_insert_with(|| none.clone());
                let side = if first { &mut values.a } else { &mut values.b };
                if let Some(value) = side.get_mut(at) {
                    *value = number(count) / divisor;
                }
            }
        }
    }
    let mut rows = judged_rows(all.into_iter().collect(), pairs.len());
    rows.sort_by(|one, other| {
        let size = |row: &DifferenceRow| row.difference.abs();
        size(other)
            .total_cmp(&size(one))
            .then_with(|| one.name.cmp(&other.name))
    });
    rows
}

/// One row per kind of count, named after it, in the given order. All rows are tested
/// together.
pub(crate) fn totals(
    pairs: &[CountedPair],
    by_job: bool,
    names: &[&str],
    of: impl Fn(&CountedRun, usize) -> u64,
) -> Vec<DifferenceRow> {
    let value = |side: &CountedRun, at| number(of(side, at)) / divisor(side, by_job);
    let values = |at| Values {
        a: pairs.iter().map(|pair| value(&pair.a, at)).collect(),
        b: pairs.iter().map(|pair| value(&pair.b, at)).collect(),
    };
    let named = names.iter().enumerate();
    let all = named.map(|(at, name)| (((*name).into(), None), values(at)));
    judged_rows(all.collect(), pairs.len())
}

/// The rows of one table; with several seeds they are tested together.
fn judged_rows(all: Vec<((String, Option<String>), Values)>, pairs: usize) -> Vec<DifferenceRow> {
    let decided = (pairs > 1).then(|| {
        let values: Vec<&Values> = all.iter().map(|(_, values)| values).collect();
        established(&values, smallest_p(pairs))
    });
    let row = |(at, ((name, of), values)): (usize, ((String, Option<String>), Values))| {
        let (a, b) = (mean(&values.a), mean(&values.b));
        DifferenceRow {
            name,
            of,
            a,
            b,
            difference: a - b,
            interval: interval(&values),
            established: decided.as_ref().and_then(|all| all.get(at).copied()),
        }
    };
    all.into_iter().enumerate().map(row).collect()
}

fn interval(values: &Values) -> Option<[f64; 2]> {
    let estimate = paired::difference(&values.b, &values.a).ok()?;
    Some([estimate.ci.low, estimate.ci.high])
}

/// The smallest attainable p value of a permutation test within this many pairs.
pub(crate) fn smallest_p(pairs: usize) -> f64 {
    let pairs = i32::try_from(pairs).unwrap_or(i32::MAX);
    2.0_f64.powi(1 - pairs)
}

/// Whether each row differs, tested as one family. Rows that are equal for every seed are
/// not tested.
fn established(rows: &[&Values], attainable: f64) -> Vec<bool> {
    let differs = |values: &&Values| values.a != values.b;
    let contrast = |values: &&Values| Contrast {
        blocks: values
            .a
            .iter()
            .zip(&values.b)
            .zip(0..)
            .map(|((a, b), site)| ContrastBlock {
                site,
                a: vec![*a],
                b: vec![*b],
            })
            .collect(),
        resolution: 0.0,
        relative: false,
    };
    let asking: Vec<&Values> = rows.iter().copied().filter(differs).collect();
    let contrasts: Vec<Contrast> = asking.iter().map(contrast).collect();
    let Ok(family) = step_down(&contrasts, DRAWS) else {
        return vec![false; rows.len()];
    };
    let p_t: Vec<f64> = asking
        .iter()
        .map(|values| paired::difference(&values.b, &values.a).map_or(1.0, |e| e.p_t))
        .collect();
    let p_t = holm(&p_t);
    let mut verdicts = family.tested.iter().zip(p_t).map(|(tested, p_t)| {
        decide(VerdictInput {
            p_adjusted: Some(tested.p_adjusted),
            p_t_adjusted: Some(p_t),
            p_attainable: Some(attainable),
            p_equivalence: None,
            alpha: ALPHA,
        })
    });
    rows.iter()
        .map(|values| differs(values) && verdicts.next() == Some(Decision::Established))
        .collect()
}
