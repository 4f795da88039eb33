//! A common variance of many rows, and its weight relative to each row's own.

/// Maximum degrees of freedom; more make no difference.
const MOST_DF: f64 = 1000.0;
/// With fewer rows, the common variance cannot be estimated.
const FEWEST: usize = 4;

/// A scaled inverse chi-squared distribution of variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VariancePrior {
    /// The common variance.
    pub(crate) variance: f64,
    /// Degrees of freedom: its weight relative to a row's own variance.
    pub(crate) df: f64,
}

/// Fits the distribution from which the true variances of rows come, given their sample variances
/// (positive) with degrees of freedom.
///
/// Uses the first two moments of the logarithms: the excess of their variance over the sampling
/// variance, trigamma(df / 2), is trigamma of half the prior's degrees of freedom. Without excess
/// these are 1000. `None` for fewer than four rows.
///
/// Source: Smyth 2004, "Linear models and empirical Bayes methods", Statistical Applications in
/// Genetics and Molecular Biology 3, section 6.2. Checked against scipy.
pub(crate) fn fit(rows: &[(f64, f64)]) -> Option<VariancePrior> {
    if rows.len() < FEWEST {
        return None;
    }
    let n = rows.len() as f64;
    let centred: Vec<f64> = rows
        .iter()
        .map(|&(variance, df)| variance.ln() - digamma(0.5 * df) + (0.5 * df).ln())
        .collect();
    let mean = centred.iter().sum::<f64>() / n;
    let spread = centred.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let own = rows.iter().map(|row| trigamma(0.5 * row.1)).sum::<f64>() / n;
    let excess = spread - own;
    let df = if excess <= trigamma(0.5 * MOST_DF) {
        MOST_DF
    } else {
        2.0 * inverse_trigamma(excess)
    };
    Some(VariancePrior {
        variance: (mean + digamma(0.5 * df) - (0.5 * df).ln()).exp(),
        df,
    })
}

/// The derivative of ln gamma, x > 0: upward recurrence, then the asymptotic series
/// (Abramowitz and Stegun 1964, 6.3.5 and 6.3.18).
fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 25.0 {
        below -= 1.0 / x;
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    let series = s * (1.0 / 12.0 - s * (1.0 / 120.0 - s * (1.0 / 252.0 - s / 240.0)));
    below + x.ln() - 0.5 / x - series
}

/// The derivative of digamma, x > 0 (Abramowitz and Stegun 1964, 6.4.6 and 6.4.12).
fn trigamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 25.0 {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    let series = 1.0 / 6.0 - s * (1.0 / 30.0 - s * (1.0 / 42.0 - s / 30.0));
    below + 1.0 / x + 0.5 * s + s / x * series
}

/// The x > 0 whose trigamma is `y` > 0, by bisection on its logarithm.
fn inverse_trigamma(y: f64) -> f64 {
    let (mut low, mut high) = (-40.0_f64, 40.0_f64);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if trigamma(middle.exp()) > y {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // -Euler's constant, pi^2 / 6.
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-13);
        assert!((trigamma(1.0) - 1.644_934_066_848_226_4).abs() < 1e-12);
        for x in [0.01, 0.7, 3.0, 500.0] {
            assert!((inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn spreads_that_are_alike_count_much_and_unlike_ones_little() {
        let alike: Vec<(f64, f64)> = (0..8).map(|_| (4.0, 5.0)).collect();
        assert_eq!(fit(&alike).map(|p| p.df), Some(MOST_DF));
        let unlike: Vec<(f64, f64)> = (0..8).map(|i| (10_f64.powi(i), 5.0)).collect();
        assert!(fit(&unlike).is_some_and(|p| p.df < 0.5));
        assert_eq!(fit(&alike[..3]), None);
    }
}
