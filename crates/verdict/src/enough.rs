//! How many replicates would decide an undecided row.
//!
//! The observed effect does not tell: if nothing differs it is noise, and so is any number of runs
//! computed from it. The spread of the runs does: it gives the number of runs that show whether two
//! configurations differ by the margin.

use assize_judge::power::{self, ComparisonLayout, PowerAim};
use assize_judge::{equivalence, permutation};

use crate::compare::CellComparison;
use crate::document::{TTest, Verdict};
use crate::options::Options;
use crate::row::{ComparisonRow, FEWEST_EQUIVALENT, TAIL};

/// More runs than this are not worth suggesting.
const MOST_RUNS: u32 = 10_000;
/// The probability of settling a row if its sides are equal.
const POWER: f64 = 0.8;
/// The confidence that the true spread is no larger than assumed.
const CONFIDENCE: f64 = 0.8;

/// Runs per side that would suffice, if runs are the replicates and more are needed than there are:
/// to establish a supported row, judged by the attainable p at its share of alpha, or to settle an
/// undecided one.
pub(crate) fn runs_needed(row: &ComparisonRow, options: &Options) -> Option<u32> {
    let comparison = &row.comparison;
    if row.cap.is_some() || comparison.images.is_some() || comparison.across.is_some() {
        return None;
    }
    comparison.contrast.as_ref()?;
    let share = match (comparison.p_attainable, row.answer.least) {
        (Some(own), Some(least)) if least < 1.0 => own / least,
        _ => 1.0,
    };
    let fewest = runs_to_attain(comparison.per_block, options.alpha * share)?;
    let needed = match row.verdict {
        Verdict::Supported => fewest,
        Verdict::Undecided => to_settle(row, options)?.max(fewest),
        Verdict::Established | Verdict::Equivalent => return None,
    };
    Some(needed).filter(|&n| comparison.replicates().is_some_and(|made| n > made))
}

/// Replicates per side that probably show whether two sides differ by the margin. `None` if
/// equivalence is ruled out for another reason than their number.
pub(crate) fn to_settle(row: &ComparisonRow, options: &Options) -> Option<u32> {
    let comparison = &row.comparison;
    let hindered = row.cap.is_some() || row.lost.is_uneven();
    if hindered || comparison.ci90.is_none() || comparison.too_coarse(options).is_some() {
        return None;
    }
    let without_tail = match row.tails {
        Some(_) => (1..MOST_RUNS).find(|&n| {
            equivalence::share_missed(n, options.alpha).is_ok_and(|missed| missed <= TAIL)
        })?,
        None => 0,
    };
    let (layout, sd) = spread(comparison)?;
    let level = row.answer.alone;
    let needed = power::runs_for_equivalence(layout, sd, options.margin, level, POWER)?;
    Some(needed.max(FEWEST_EQUIVALENT).max(without_tail)).filter(|&n| n <= MOST_RUNS)
}

/// Replicates per side that probably distinguish a ratio of 1 from `bound`.
pub(crate) fn to_tell_from(comparison: &CellComparison, bound: f64, level: f64) -> Option<u32> {
    let (layout, sd) = spread(comparison)?;
    let aim = PowerAim {
        rows: 1,
        alpha: level,
        power: POWER,
    };
    power::runs_for(layout, sd, bound, aim).filter(|&n| n <= MOST_RUNS)
}

/// The layout of a comparison on one machine, and an upper confidence bound on the standard
/// deviation of the logarithms.
fn spread(comparison: &CellComparison) -> Option<(ComparisonLayout, f64)> {
    if comparison.across.is_some() {
        return None;
    }
    let estimate = comparison.estimate?;
    let (layout, share) = match comparison.t_test? {
        TTest::Paired => (
            ComparisonLayout::Pairs,
            2.0 / f64::from(comparison.replicates()?),
        ),
        _ => {
            let [a, b] = [comparison.n_a?, comparison.n_b?].map(f64::from);
            (ComparisonLayout::TwoSamples, 1.0 / a + 1.0 / b)
        }
    };
    let sd = estimate.standard_error / share.sqrt();
    Some((layout, power::upper_sd(sd, estimate.df, CONFIDENCE))).filter(|(_, sd)| *sd > 0.0)
}

/// Runs per side at which the permutation test can reach `level`; with blocks of
/// `per_block` runs of each side, a whole number of blocks.
pub(crate) fn runs_to_attain(per_block: Option<u32>, level: f64) -> Option<u32> {
    let Some(per_block) = per_block else {
        return permutation::runs_needed(level);
    };
    let relabelings = 2.0 / permutation::attainable(per_block as usize, per_block as usize);
    // Beyond 20 blocks of two runs, the number of Monte Carlo draws limits p.
    (1..=20_u32)
        .find(|&blocks| {
            let all = relabelings.powf(f64::from(blocks));
            all <= permutation::EXACT_LIMIT && 2.0 / all <= level
        })
        .map(|blocks| blocks * per_block)
}
