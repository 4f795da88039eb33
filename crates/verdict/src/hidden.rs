//! The variance that is hidden by rounding to a step.

use crate::cells::Cell;
use crate::document::TTest;
use crate::means::{arithmetic, variance};

/// The variance that rounding hides in each run of one side, u²/12 for steps of u, on the scale
/// that is averaged. If only the other side's step is known, it is used for both.
pub(crate) fn rounding_variance(
    a: &Cell<'_>,
    b: &Cell<'_>,
    positive: bool,
    side: &Cell<'_>,
) -> f64 {
    let Some(step) = hidden_step(a, b, side) else {
        return 0.0;
    };
    let size = if positive {
        arithmetic(&side.values()).unwrap_or(1.0)
    } else {
        1.0
    };
    (step / size).powi(2) / 12.0
}

/// The parts of the hidden variances that the observed spread does not include; 0 where it does. If
/// values spread over a step or more, rounding is an independent component (Sheppard 1898); closer
/// values may all be rounded alike.
pub(crate) fn beyond_spread(hidden: [f64; 2], x_a: &[f64], x_b: &[f64], t_test: TTest) -> [f64; 2] {
    // The step u, from u²/12.
    let step = |hidden: f64| 12.0 * hidden;
    let is_wide = |values: &[f64], step: f64| variance(values).is_some_and(|v| v >= step);
    match t_test {
        TTest::Paired => {
            let differences: Vec<f64> = x_a.iter().zip(x_b).map(|(a, b)| b - a).collect();
            let wide = is_wide(&differences, 0.5 * (step(hidden[0]) + step(hidden[1])));
            if wide { [0.0; 2] } else { hidden }
        }
        _ => [(hidden[0], x_a), (hidden[1], x_b)].map(|(hidden, values)| {
            if is_wide(values, step(hidden)) {
                0.0
            } else {
                hidden
            }
        }),
    }
}

/// The step size to which the values of one side were rounded.
pub(crate) fn hidden_step(a: &Cell<'_>, b: &Cell<'_>, side: &Cell<'_>) -> Option<f64> {
    // With few distinct integers, as from a deterministic machine, their largest common step does
    // not show how much rounding hides.
    if are_whole(a) && are_whole(b) {
        return Some(1.0);
    }
    side.step.or(coarser(a, b))
}

/// Whether all values are integers.
fn are_whole(cell: &Cell<'_>) -> bool {
    cell.runs.iter().all(|run| run.value.fract() == 0.0)
}

/// The coarser step size of two cells.
pub(crate) fn coarser(a: &Cell<'_>, b: &Cell<'_>) -> Option<f64> {
    a.step.into_iter().chain(b.step).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_adds_nothing_to_a_spread_of_a_step() {
        let (wide, narrow) = ([1.0, 2.0, 3.0], [2.0, 2.0, 3.0]);
        let hidden = [1.0 / 12.0; 2];
        let left = beyond_spread(hidden, &wide, &narrow, TTest::Welch);
        assert_eq!(left, [0.0, hidden[1]]);
        // Pairs may vary together, so only the spread of their differences counts.
        assert_eq!(beyond_spread(hidden, &wide, &wide, TTest::Paired), hidden);
        let turned = [3.0, 2.0, 1.0];
        assert_eq!(
            beyond_spread(hidden, &wide, &turned, TTest::Paired),
            [0.0; 2]
        );
    }
}
