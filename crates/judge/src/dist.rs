//! Distribution functions, built on `statrs`.
//!
//! `statrs` gives the regularised incomplete beta and gamma functions and the
//! error function. The quantiles here are found by a safeguarded Newton
//! iteration on those, because a quantile is only as good as the tail it
//! inverts. Every function is compared with scipy, indirectly in
//! `tests/oracle.rs` and directly in the tests below.

use statrs::function::beta::beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::{gamma_lr, gamma_ur, ln_gamma};
use std::f64::consts::{PI, SQRT_2};

/// P(Z <= x) of the standard normal. Relatively accurate in the lower tail.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// The standard normal quantile; infinite at 0 and 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let x = -SQRT_2 * erfc_inv(2.0 * p);
    let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
    if density > 0.0 {
        x - (normal_cdf(x) - p) / density
    } else {
        x
    }
}

/// P(|T| >= |t|) of Student's t. Relatively accurate for large `t`.
pub(crate) fn t_two_sided(t: f64, df: f64) -> f64 {
    let square = t * t;
    if square == 0.0 {
        return 1.0;
    }
    if square.is_infinite() {
        return 0.0;
    }
    if square < df / 2.0 {
        // t^2 / (df + t^2) is the small, exactly known argument.
        1.0 - beta_reg(0.5, 0.5 * df, square / (df + square))
    } else {
        beta_reg(0.5 * df, 0.5, df / (df + square))
    }
}

/// P(T > t) of Student's t.
pub(crate) fn t_upper(t: f64, df: f64) -> f64 {
    let half = 0.5 * t_two_sided(t, df);
    if t >= 0.0 { half } else { 1.0 - half }
}

/// ln of the density of Student's t.
fn t_ln_density(t: f64, df: f64) -> f64 {
    ln_gamma(0.5 * (df + 1.0))
        - ln_gamma(0.5 * df)
        - 0.5 * (df * PI).ln()
        - 0.5 * (df + 1.0) * (t * t / df).ln_1p()
}

/// The t with P(T <= t) = `p`, for 0.5 <= `p` < 1.
pub(crate) fn t_quantile(p: f64, df: f64) -> f64 {
    let tail = 1.0 - p;
    if tail >= 0.5 {
        return 0.0;
    }
    let mut low = 0.0;
    let mut high = normal_quantile(p).max(1.0);
    while t_upper(high, df) > tail {
        low = high;
        high *= 2.0;
    }
    newton(
        low,
        high,
        |t| tail - t_upper(t, df),
        |t| t_ln_density(t, df).exp(),
    )
}

/// P(X > x) of the chi-squared distribution.
pub(crate) fn chi2_upper(x: f64, df: f64) -> f64 {
    if x <= 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        gamma_ur(0.5 * df, 0.5 * x)
    }
}

/// P(X <= x) of the chi-squared distribution.
pub(crate) fn chi2_lower(x: f64, df: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x.is_infinite() {
        1.0
    } else {
        gamma_lr(0.5 * df, 0.5 * x)
    }
}

/// P(X > x) of Fisher's F.
pub(crate) fn f_upper(x: f64, df1: f64, df2: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    if df2 > 1e9 {
        // The beta function fails here; chi-squared agrees to nine digits.
        return chi2_upper(df1 * x, df1);
    }
    let product = df1 * x;
    if product < df2 {
        1.0 - beta_reg(0.5 * df1, 0.5 * df2, product / (df2 + product))
    } else {
        beta_reg(0.5 * df2, 0.5 * df1, df2 / (df2 + product))
    }
}

/// The x with P(X <= x) = `p` of the gamma distribution of unit scale.
pub(crate) fn gamma_quantile(p: f64, shape: f64) -> f64 {
    let mut low = 0.0;
    let mut high = shape + 1.0;
    while gamma_lr(shape, high) < p {
        low = high;
        high *= 2.0;
    }
    // Work on the smaller tail, so that neither end loses digits.
    let upper = p > 0.5;
    newton(
        low,
        high,
        |x| {
            if x <= 0.0 {
                -p
            } else if upper {
                (1.0 - p) - gamma_ur(shape, x)
            } else {
                gamma_lr(shape, x) - p
            }
        },
        |x| ((shape - 1.0) * x.ln() - x - ln_gamma(shape)).exp(),
    )
}

/// The root of an increasing `f` in [low, high], by Newton steps that fall back
/// to bisection whenever they leave the bracket.
fn newton(
    mut low: f64,
    mut high: f64,
    f: impl Fn(f64) -> f64,
    density: impl Fn(f64) -> f64,
) -> f64 {
    let mut x = 0.5 * (low + high);
    for _ in 0..200 {
        let y = f(x);
        if y == 0.0 {
            return x;
        }
        if y > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let step = y / density(x);
        let mut next = x - step;
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        if (next - x).abs() <= 1e-15 * x.abs() || next == low || next == high {
            return next;
        }
        x = next;
    }
    x
}

/// Stirling's remainder ln n! - (n + 1/2) ln n + n - ln sqrt(2 pi), for n >= 1.
fn stirling_remainder(n: f64) -> f64 {
    if n <= 20.0 {
        return ln_gamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * (2.0 * PI).ln();
    }
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / n
}

/// x ln(x / m) + m - x, without cancellation when x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() < 0.1 * (x + m) {
        let v = (x - m) / (x + m);
        let mut sum = (x - m) * v;
        let mut power = 2.0 * x * v;
        for j in 1..1000 {
            power *= v * v;
            let next = sum + power / f64::from(2 * j + 1);
            if next == sum {
                return next;
            }
            sum = next;
        }
        return sum;
    }
    x * (x / m).ln() + m - x
}

/// The binomial probability of `k` in `n`, by Loader's saddle-point form (2000,
/// "Fast and accurate computation of binomial probabilities"), which keeps its
/// digits for millions of trials.
pub(crate) fn binomial_pmf(k: u64, n: u64, p: f64) -> f64 {
    if k > n {
        return 0.0;
    }
    let (kf, nf, q) = (k as f64, n as f64, 1.0 - p);
    if p <= 0.0 {
        return if k == 0 { 1.0 } else { 0.0 };
    }
    if q <= 0.0 {
        return if k == n { 1.0 } else { 0.0 };
    }
    if k == 0 {
        return (nf * (-p).ln_1p()).exp();
    }
    if k == n {
        return (nf * p.ln()).exp();
    }
    let rest = nf - kf;
    let exponent = stirling_remainder(nf)
        - stirling_remainder(kf)
        - stirling_remainder(rest)
        - deviance(kf, nf * p)
        - deviance(rest, nf * q);
    exponent.exp() * (nf / (2.0 * PI * kf * rest)).sqrt()
}

/// P(X <= k). Sums outwards from the largest term, so it costs O(sqrt n).
pub(crate) fn binomial_lower(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    if k as f64 > n as f64 * p {
        return (1.0 - sum_up(k + 1, n, p)).max(0.0);
    }
    sum_down(k, n, p)
}

/// P(X >= k). Sums outwards from the largest term, so it costs O(sqrt n).
pub(crate) fn binomial_upper(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    if (k as f64) < n as f64 * p {
        return (1.0 - sum_down(k - 1, n, p)).max(0.0);
    }
    sum_up(k, n, p)
}

/// The sum of the probabilities of 0..=k, for k at or below the mode.
fn sum_down(k: u64, n: u64, p: f64) -> f64 {
    let odds = (1.0 - p) / p;
    let ratios = (1..=k).rev().map(|i| i as f64 / (n - i + 1) as f64 * odds);
    sum_while_large(binomial_pmf(k, n, p), ratios)
}

/// The sum of the probabilities of k..=n, for k at or above the mode.
fn sum_up(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let ratios = (k..n).map(|i| (n - i) as f64 / (i + 1) as f64 * odds);
    sum_while_large(binomial_pmf(k, n, p), ratios)
}

/// The sum of probabilities, each the one before times a ratio, up to the first that is negligible.
fn sum_while_large(mut term: f64, ratios: impl Iterator<Item = f64>) -> f64 {
    let mut sum = term;
    for ratio in ratios {
        if term <= sum * 1e-18 {
            break;
        }
        term *= ratio;
        sum += term;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-10 * want.abs(), "{got} {want}");
    }

    #[test]
    fn quantiles_invert_their_tails_to_ten_digits() {
        for df in [1.0, 1.3, 2.0, 4.7, 10.0, 100.0, 1e4, 1e6] {
            for tail in [0.45, 0.05, 0.025, 1e-4, 1e-9] {
                close(t_upper(t_quantile(1.0 - tail, df), df), 1.0 - (1.0 - tail));
            }
        }
        for shape in [0.5, 1.0, 3.0, 50.0, 1e4] {
            for p in [0.001, 0.025, 0.5, 0.975, 0.999] {
                close(gamma_lr(shape, gamma_quantile(p, shape)), p);
            }
        }
        for p in [1e-300, 1e-12, 0.025, 0.3, 0.5, 0.9, 0.999] {
            close(normal_cdf(normal_quantile(p)), p);
        }
    }

    #[test]
    fn binomial_tails_agree_with_direct_sums() {
        for (n, p) in [(10_u64, 0.3), (200, 0.7), (1000, 0.01)] {
            for k in [0, 1, n / 3, n / 2, n - 1, n] {
                let direct: f64 = (0..=k).map(|i| binomial_pmf(i, n, p)).sum();
                let tail: f64 = (k..=n).map(|i| binomial_pmf(i, n, p)).sum();
                assert!((binomial_lower(k, n, p) - direct).abs() < 1e-12);
                assert!((binomial_upper(k, n, p) - tail).abs() < 1e-12);
            }
        }
    }
}
