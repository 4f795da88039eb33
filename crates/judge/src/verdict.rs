//! Turns figures into one of four verdicts.

/// The four verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The corrected permutation p is at most alpha.
    Established,
    /// Only the p of the t test, with the same correction, is at most alpha; the design has too few
    /// relabelings for the permutation test.
    Supported,
    /// Two one-sided t tests show that the ratio lies within the margin.
    Equivalent,
    /// None of these.
    Undecided,
}

/// The input of [`decide`]. All p-values are in \[0, 1\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictInput {
    /// The permutation p, corrected for the other tests; `None` if there was no
    /// permutation test (summaries, single runs, designs that cannot reach alpha).
    pub p_adjusted: Option<f64>,
    /// The p of the t test, with the same correction; `None` if there is none.
    pub p_t_adjusted: Option<f64>,
    /// The smallest permutation p that the design allows, also corrected;
    /// `None` if no permutation is possible, which counts as above alpha.
    pub p_attainable: Option<f64>,
    /// The p of the two one-sided tests for equivalence, also corrected; `None`
    /// if equivalence is not tested.
    pub p_equivalence: Option<f64>,
    /// The significance level; callers default to 0.05.
    pub alpha: f64,
}

/// Decides, in this order: `Established`, `Supported`, `Equivalent`, `Undecided`.
///
/// A difference that is both established and within the margin is reported as established: it
/// exists, and its interval shows that it is small. `NaN` never passes a comparison, so it gives
/// `Undecided`.
///
/// Cost: O(1). Checked by a table of cases and by properties.
#[must_use]
pub fn decide(input: VerdictInput) -> Decision {
    let passes = |p: Option<f64>| p.is_some_and(|p| p <= input.alpha);
    let out_of_reach = input.p_attainable.is_none_or(|p| p > input.alpha);
    if passes(input.p_adjusted) {
        Decision::Established
    } else if passes(input.p_t_adjusted) && out_of_reach {
        Decision::Supported
    } else if passes(input.p_equivalence) {
        Decision::Equivalent
    } else {
        Decision::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(p: f64, p_t: f64, attainable: Option<f64>, equivalence: f64) -> Decision {
        decide(VerdictInput {
            p_adjusted: Some(p),
            p_t_adjusted: Some(p_t),
            p_attainable: attainable,
            p_equivalence: Some(equivalence),
            alpha: 0.05,
        })
    }

    #[test]
    fn the_table_of_verdicts() {
        use Decision::{Equivalent, Established, Supported, Undecided};
        let reach = Some(0.03);
        assert_eq!(decision(0.05, 0.9, reach, 0.01), Established);
        assert_eq!(decision(0.1, 0.01, Some(0.1), 0.9), Supported);
        assert_eq!(decision(0.1, 0.01, None, 0.9), Supported);
        assert_eq!(decision(0.06, 0.01, reach, 0.9), Undecided);
        assert_eq!(decision(0.06, 0.01, reach, 0.01), Equivalent);
        assert_eq!(decision(0.5, 0.5, Some(0.1), 0.01), Equivalent);
        assert_eq!(decision(0.5, 0.5, reach, 0.9), Undecided);
        assert_eq!(decision(f64::NAN, f64::NAN, None, f64::NAN), Undecided);
    }
}
