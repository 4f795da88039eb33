//! Checks of the author's arithmetic: printed figures that can be recomputed from others.

use crate::grammar::number::Number;

/// A printed figure that follows from others, or should.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The line where it is printed.
    pub line: u32,
    /// A description of the figure.
    pub what: String,
    /// The value as printed.
    pub printed: f64,
    /// The recomputed value; `None` if a figure needed for it is missing.
    pub recomputed: Option<f64>,
    /// Whether the two agree within rounding; `None` if that cannot be checked.
    pub agrees: Option<bool>,
}

/// Factor on the rounding error, to allow for values that were rounded more than once.
const SLACK: f64 = 1.01;

/// Whether a printed figure agrees with the value recomputed from rounded figures. They may differ
/// by half of its last digit plus `rounding`, the error due to those figures.
pub(crate) fn agrees(printed: Number, recomputed: f64, rounding: f64) -> bool {
    let half = printed.step.unwrap_or(0.0) / 2.0;
    (printed.value - recomputed).abs() <= (half + rounding) * SLACK + 1e-12 * recomputed.abs()
}

/// The mean of numbers, and the largest error that their rounding can cause in it.
pub(crate) fn mean(numbers: &[Number]) -> Option<(f64, f64)> {
    if numbers.is_empty() {
        return None;
    }
    let n = numbers.len() as f64;
    let mean = numbers.iter().map(|one| one.value).sum::<f64>() / n;
    let half = numbers.iter().map(|one| one.step.unwrap_or(0.0) / 2.0);
    Some((mean, half.sum::<f64>() / n))
}

/// Checks a printed change against the means that it follows from.
pub(crate) fn change(
    (line, what): (u32, String),
    printed: Number,
    percent: bool,
    means: Option<[(f64, f64); 2]>,
) -> Check {
    let follows = means.and_then(|[(of, of_half), (to, to_half)]| {
        let ratio = of / to;
        let rounding = ratio.abs() * (of_half / of.abs() + to_half / to.abs());
        let both = match percent {
            // `10 % faster` and `-10 %` are both written of a time that is a tenth less.
            true if ratio < 1.0 && printed.value > 0.0 => ((1.0 - ratio) * 100.0, rounding * 100.0),
            true => ((ratio - 1.0) * 100.0, rounding * 100.0),
            false => (ratio, rounding),
        };
        (both.0.is_finite() && both.1.is_finite()).then_some(both)
    });
    let same = |(value, rounding): (f64, f64)| agrees(printed, value, rounding);
    Check {
        line,
        what,
        printed: printed.value,
        recomputed: follows.map(|(value, _)| value),
        agrees: follows.map(same),
    }
}
