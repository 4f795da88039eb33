//! From figures to one of four words.

use crate::equivalence::bounds;
use crate::welch::Interval;

/// The four words, and no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The corrected permutation p is at most alpha.
    Established,
    /// Only the corrected t interval excludes "no difference", because the
    /// design has too few relabelings for the permutation test to say so.
    Supported,
    /// The 90 % interval of the ratio lies within the margin.
    Equivalent,
    /// None of these.
    Undecided,
}

/// What [`decide`] weighs. All p-values are in \[0, 1\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictInput {
    /// The permutation p, corrected for the other tests; `None` if there was no
    /// permutation test (summaries, single runs).
    pub p_adjusted: Option<f64>,
    /// The p of Welch's t, corrected in the same way; at most alpha exactly when
    /// the corrected interval excludes "no difference".
    pub p_t_adjusted: Option<f64>,
    /// The smallest permutation p that the design allows, corrected in the same
    /// way; `None` if no permutation is possible, which counts as above alpha.
    pub p_attainable: Option<f64>,
    /// The 90 % interval of the ratio. `None` where there is none, or where the
    /// effect is a difference on the raw scale: equivalence is then not decided.
    pub ci90: Option<Interval>,
    /// The margin of equivalence as a share, 0.01 by default elsewhere.
    pub margin: f64,
    /// The significance level, 0.05 by default elsewhere.
    pub alpha: f64,
}

/// Decides, in this order: `Established`, `Supported`, `Equivalent`, `Undecided`.
///
/// A difference that is both established and within the margin is reported as
/// established: it is real, and its interval shows that it is small. `NaN`
/// never passes a comparison, so it leads to `Undecided`. A margin outside
/// (0, 1) decides no equivalence.
///
/// Cost: O(1). Checked by a table of cases and by properties.
#[must_use]
pub fn decide(input: VerdictInput) -> Verdict {
    let passes = |p: Option<f64>| p.is_some_and(|p| p <= input.alpha);
    let out_of_reach = input.p_attainable.is_none_or(|p| p > input.alpha);
    if passes(input.p_adjusted) {
        Verdict::Established
    } else if passes(input.p_t_adjusted) && out_of_reach {
        Verdict::Supported
    } else if is_within_margin(&input) {
        Verdict::Equivalent
    } else {
        Verdict::Undecided
    }
}

fn is_within_margin(input: &VerdictInput) -> bool {
    match (input.ci90, bounds(input.margin)) {
        (Some(ci), Ok(margin)) => ci.within(&margin),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Interval = Interval {
        low: 0.9,
        high: 1.2,
    };
    const NARROW: Interval = Interval {
        low: 0.995,
        high: 1.004,
    };

    fn of(p: f64, p_t: f64, attainable: Option<f64>, ci90: Option<Interval>) -> Verdict {
        decide(VerdictInput {
            p_adjusted: Some(p),
            p_t_adjusted: Some(p_t),
            p_attainable: attainable,
            ci90,
            margin: 0.01,
            alpha: 0.05,
        })
    }

    #[test]
    fn the_table_of_verdicts() {
        use Verdict::{Equivalent, Established, Supported, Undecided};
        let reach = Some(0.03);
        assert_eq!(of(0.05, 0.9, reach, Some(NARROW)), Established);
        assert_eq!(of(0.1, 0.01, Some(0.1), Some(WIDE)), Supported);
        assert_eq!(of(0.1, 0.01, None, Some(WIDE)), Supported);
        assert_eq!(of(0.06, 0.01, reach, Some(WIDE)), Undecided);
        assert_eq!(of(0.06, 0.01, reach, Some(NARROW)), Equivalent);
        assert_eq!(of(0.5, 0.5, Some(0.1), Some(NARROW)), Equivalent);
        assert_eq!(of(0.5, 0.5, reach, None), Undecided);
        assert_eq!(of(f64::NAN, f64::NAN, None, None), Undecided);
    }
}
