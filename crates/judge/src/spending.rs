//! Alpha spending: how much of the level each of several looks at growing data may use.
//!
//! Looking five times at 5 % each and stopping at the first success is wrong more often than in 5 %
//! of cases. Here each planned look gets a share of alpha, little at first and most at the end. The
//! shares add up to alpha, so that the chance of a false alarm at any look is at most alpha by the
//! union bound, whatever the test and however the looks depend on each other. (Boundaries that use
//! that dependence, as for sums of normal numbers, would be slightly more powerful; their
//! assumptions do not hold for a permutation test of few blocks.)

use crate::dist::{normal_cdf, normal_quantile};
use crate::error::{Error, Result, check_finite, check_open_unit};

/// The alpha that may be spent up to the share `fraction` of the planned runs: 2 - 2 Phi(z(1 -
/// alpha / 2) / sqrt(fraction)).
///
/// - Shape: 0 < alpha < 1; `fraction` in \[0, 1\].
/// - Range: from 0 for no runs to alpha for all; ascending.
/// - Cost: O(1).
/// - Source: Lan and DeMets 1983, "Discrete sequential boundaries for clinical trials", Biometrika
///   70, the function alpha*₁, which resembles the boundaries of O'Brien and Fleming 1979.
/// - Checked against the formula in scipy.
///
/// # Errors
/// [`Error::BadArgument`] for alpha or the fraction.
///
/// ```
/// let half = assize_judge::spending::spent(0.05, 0.5)?;
/// assert!((half - 0.0056).abs() < 1e-4);
/// # Ok::<(), assize_judge::Error>(())
/// ```
pub fn spent(alpha: f64, fraction: f64) -> Result<f64> {
    check_open_unit(alpha, "alpha must lie between 0 and 1")?;
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Error::BadArgument(
            "a look must lie within the planned runs",
        ));
    }
    if fraction == 0.0 {
        return Ok(0.0);
    }
    if fraction == 1.0 {
        return Ok(alpha);
    }
    // Use the quantile of the lower tail, which keeps its digits.
    let z = normal_quantile(0.5 * alpha) / fraction.sqrt();
    Ok(2.0 * normal_cdf(z))
}

/// The level of each look: the alpha that may be spent up to it minus that up to the previous look.
///
/// - Shape: the shares of the planned runs at each look, ascending and above 0; the last is 1.
/// - Range: each above 0 or, for very early looks, 0 by underflow; they add up to alpha.
/// - Cost: O(looks).
/// - Source, check: as for [`spent`].
///
/// # Errors
/// [`Error::TooFew`] without a look, [`Error::NotFinite`], [`Error::BadArgument`] for alpha or
/// fractions that do not ascend to 1.
pub fn levels(alpha: f64, fractions: &[f64]) -> Result<Vec<f64>> {
    check_fractions(fractions)?;
    let mut before = 0.0;
    let mut levels = Vec::with_capacity(fractions.len());
    for &fraction in fractions {
        let up_to = spent(alpha, fraction)?;
        levels.push(up_to - before);
        before = up_to;
    }
    Ok(levels)
}

/// A look that is taken, and its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterimLook {
    /// Its index among the planned looks, from 0.
    pub planned: usize,
    /// The share of the planned runs.
    pub fraction: f64,
    /// The level of its tests.
    pub level: f64,
}

/// The looks at which something can be found, each with its level.
///
/// An exact test of few blocks has a smallest p (`floors`, one for each planned look), and a look
/// whose level is below it would waste its share. Such a look is skipped, and the next look gets
/// both shares. So the first look is the first that can find something. The last look is always
/// taken: if its share is below its floor, earlier looks give theirs up, starting from the latest.
///
/// - Shape: as for [`levels`]; as many floors as fractions, each in \[0, 1\].
/// - Returns at least one look, the last, and levels that add up to alpha. `None` if alpha is below
///   the floor of the last look: nothing can ever be found.
/// - The looks depend only on the design, never on data, so the union bound holds.
/// - Cost: O(looks).
/// - Source: as for [`spent`].
/// - Checked against a plain search in Python.
///
/// # Errors
/// As for [`levels`]; [`Error::BadArgument`] if the number of floors differs from that of
/// fractions, or a floor is outside of \[0, 1\].
pub fn able_looks(
    alpha: f64,
    fractions: &[f64],
    floors: &[f64],
) -> Result<Option<Vec<InterimLook>>> {
    check_fractions(fractions)?;
    if floors.len() != fractions.len() || !floors.iter().all(|p| (0.0..=1.0).contains(p)) {
        return Err(Error::BadArgument(
            "each look needs a smallest p between 0 and 1",
        ));
    }
    let all: Result<Vec<f64>> = fractions.iter().map(|&f| spent(alpha, f)).collect();
    let all = all?;
    let last = fractions.len() - 1;
    let mut taken: Vec<usize> = Vec::new();
    for look in 0..last {
        let before = taken.last().map_or(0.0, |&at| all[at]);
        if all[look] - before >= floors[look] && all[look] > before {
            taken.push(look);
        }
    }
    loop {
        let before = taken.last().map_or(0.0, |&at| all[at]);
        if all[last] - before >= floors[last] {
            taken.push(last);
            break;
        }
        if taken.pop().is_none() {
            return Ok(None);
        }
    }
    let mut before = 0.0;
    let look = |planned: usize| {
        let level = all[planned] - before;
        before = all[planned];
        InterimLook {
            planned,
            fraction: fractions[planned],
            level,
        }
    };
    Ok(Some(taken.into_iter().map(look).collect()))
}

fn check_fractions(fractions: &[f64]) -> Result<()> {
    check_finite(fractions, 1)?;
    let ascending = fractions.windows(2).all(|pair| pair[0] < pair[1]);
    if ascending && fractions[0] > 0.0 && fractions.last() == Some(&1.0) {
        Ok(())
    } else {
        Err(Error::BadArgument(
            "the shares of runs at the looks must ascend, the first above 0 and the last 1",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Contrast, ContrastBlock, step_down};
    use crate::random::RandomStream;

    /// The smallest p with this many pairs.
    fn floor(pairs: usize) -> f64 {
        2.0_f64.powi(1 - pairs as i32)
    }

    /// The looks taken after these numbers of pairs, up to `most`.
    fn looks(alpha: f64, most: usize, at: impl Iterator<Item = usize>) -> Option<Vec<InterimLook>> {
        let pairs: Vec<usize> = at.collect();
        let fractions: Vec<f64> = pairs.iter().map(|&n| n as f64 / most as f64).collect();
        let floors: Vec<f64> = pairs.iter().map(|&n| floor(n)).collect();
        able_looks(alpha, &fractions, &floors).unwrap()
    }

    #[test]
    fn the_first_look_is_where_its_floor_allows_it() {
        let found = looks(0.05, 12, 1..=12).unwrap();
        // 7 of 12 blocks may spend 0.0103 and have a smallest p of 0.0156; 8 may
        // spend 0.0164 and have 0.0078.
        assert_eq!(found[0].planned, 7, "{found:?}");
        assert!(spent(0.05, 7.0 / 12.0).unwrap() < floor(7));
        let able = |look: &InterimLook| look.level >= floor(look.planned + 1);
        assert!(found.iter().all(able));
        let total: f64 = found.iter().map(|look| look.level).sum();
        assert!((total - 0.05).abs() < 1e-15);
    }

    #[test]
    fn the_last_look_takes_what_it_needs() {
        // 2 / 2^6 is most of 0.05: nothing is left for earlier looks.
        let only = looks(0.05, 6, 3..=6).unwrap();
        assert_eq!((only.len(), only[0].planned, only[0].level), (1, 3, 0.05));
        assert_eq!(looks(0.05, 5, 1..=5), None);
        // The second look could be taken if it were not for the third.
        let fractions = [0.5, 0.9, 1.0];
        let found = able_looks(0.05, &fractions, &[1.0, 0.01, 0.02])
            .unwrap()
            .unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].planned, found[0].level), (2, 0.05));
    }

    #[test]
    fn looking_often_at_nothing_alarms_no_more_often_than_promised() {
        let looks = looks(0.05, 12, 1..=12).unwrap();
        let mut draws = RandomStream::new(17);
        let (mut spending, mut naive) = (0, 0);
        for _ in 0..1000 {
            let blocks: Vec<ContrastBlock> = (0..12)
                .map(|site| ContrastBlock {
                    site,
                    a: vec![draws.normal()],
                    b: vec![draws.normal()],
                })
                .collect();
            // With fewer than 6 blocks, no p is below 0.05.
            let of_first = |n: usize| {
                let contrast = Contrast {
                    blocks: blocks[..n].to_vec(),
                    resolution: 0.0,
                    relative: true,
                };
                step_down(&[contrast], 0).unwrap().tested[0].p
            };
            let found: Vec<f64> = (6..=12).map(of_first).collect();
            let p = |n: usize| n.checked_sub(6).map_or(1.0, |at| found[at]);
            spending += u32::from(looks.iter().any(|l| p(l.planned + 1) <= l.level));
            naive += u32::from((6..=12).any(|n| p(n) <= 0.05));
        }
        assert!(spending <= 60, "{spending} of 1000");
        assert!(naive > 80, "{naive} of 1000");
    }

    #[test]
    fn looks_that_make_no_sense_are_refused() {
        assert!(levels(0.05, &[0.5, 0.5, 1.0]).is_err());
        assert!(levels(0.05, &[0.0, 1.0]).is_err());
        assert!(levels(0.05, &[0.5, 0.9]).is_err());
        assert!(levels(1.0, &[1.0]).is_err());
        assert!(levels(0.05, &[f64::NAN, 1.0]).is_err());
        assert_eq!(levels(0.05, &[]), Err(Error::TooFew { needed: 1, got: 0 }));
        assert!(able_looks(0.05, &[0.5, 1.0], &[0.1]).is_err());
        assert!(able_looks(0.05, &[0.5, 1.0], &[0.1, f64::NAN]).is_err());
        assert_eq!(levels(0.05, &[1.0]), Ok(vec![0.05]));
    }
}
