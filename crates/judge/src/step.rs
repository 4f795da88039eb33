//! Detects the step size of values: how coarse the instrument was.

/// If the digits of the values do not show their step, it counts only if chance produces it with at
/// most this probability.
const CHANCE: f64 = 1e-3;
/// If the digits do show it (all further digits are zero), it counts only if chance produces it
/// with at most this probability.
const CHANCE_OF_DIGITS: f64 = 1e-2;
/// Values may be off from a multiple by this share of a step.
const OFF: f64 = 1e-6;
/// Digits of a value that are examined; conversion errors are beyond them.
const DIGITS: usize = 12;
/// Steps finer than this share of the smallest value are lost in rounding.
const FINEST: f64 = 1e-6;

/// The largest step of which all values are integer multiples, if there is enough evidence and the
/// step is at least `finest` times the smallest value.
///
/// Figures that a tool prints to the millisecond, or counts in ticks, are multiples of that; finely
/// measured figures have no step that matters. Values that are all equal give no evidence and have
/// no step. Two kinds of evidence count, each tested against chance. First, all values end at the
/// same decimal: d distinct ones do so by chance with probability 10^-d, which must be at most 1 %.
/// Second, they have a larger common divisor, m times the last decimal: the probability is about
/// m^(1 - d) / (d - 1), which must be at most 0.1 %.
///
/// - Shape: values in any order; their signs do not matter and zeros are ignored. `finest` is a
///   fraction, at least 1e-6 (smaller ones are raised to that).
/// - Range: the step is positive, in the unit of the values. `None` if a value is not finite, if
///   fewer than two are distinct, or without enough evidence.
/// - Cost: O(n log n).
/// - Source: Euclid's algorithm on real numbers; k random integers have no common divisor with
///   probability 1/ζ(k) (Nymann 1972).
/// - Checked by planting steps and by continuous draws.
#[must_use]
pub fn step(values: &[f64], finest: f64) -> Option<f64> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut distinct: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    distinct.retain(|&value| value > 0.0);
    distinct.sort_by(f64::total_cmp);
    distinct.dedup_by(|a, b| *a - *b <= 1e-11 * *a);
    let (&smallest, d) = (distinct.first()?, distinct.len());
    if d < 2 {
        return None;
    }
    let least = smallest * finest.max(FINEST);
    let digits = last_digit(&distinct);
    if let Some(common) = common_divisor(&distinct, least) {
        let times = digits.map_or(f64::INFINITY, |digits| common / digits);
        let free = (d - 1) as f64;
        if times > 1.5 && times.powf(-free) / free <= CHANCE {
            return Some(common);
        }
    }
    let evident = 10f64.powf(-(d as f64)) <= CHANCE_OF_DIGITS;
    digits.filter(|&digits| evident && digits >= least)
}

/// The place value of the last decimal of any value; `None` if one uses all the
/// digits examined.
fn last_digit(values: &[f64]) -> Option<f64> {
    let mut last = i32::MAX;
    for value in values {
        let text = format!("{value:.*e}", DIGITS - 1);
        let (digits, exponent) = text.split_once('e')?;
        let behind = digits.split_once('.').map_or("", |(_, behind)| behind);
        let behind = behind.trim_end_matches('0').len();
        if behind == DIGITS - 1 {
            return None;
        }
        let exponent: i32 = exponent.parse().ok()?;
        last = last.min(exponent - i32::try_from(behind).ok()?);
    }
    format!("1e{last}").parse().ok()
}

/// Euclid's algorithm, stopping when a remainder is negligible compared with
/// `least`; then checks that all values are multiples of the result.
fn common_divisor(values: &[f64], least: f64) -> Option<f64> {
    let nothing = least * OFF;
    let mut common = *values.first()?;
    for &value in values {
        let (mut a, mut b) = (value, common);
        while b > nothing {
            let left = a % b;
            (a, b) = (b, if b - left <= nothing { 0.0 } else { left });
        }
        common = a;
        if common < least {
            return None;
        }
    }
    // The largest value determines the step most precisely.
    let largest = *values.last()?;
    let common = largest / (largest / common).round();
    let fits = |value: &f64| {
        let times = value / common;
        (times - times.round()).abs() <= OFF
    };
    values.iter().all(fits).then_some(common)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::random::RandomStream;

    fn close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn what_is_printed_to_the_millisecond_has_steps_of_one() {
        close(step(&[0.007, 0.007, 0.008, 0.007], 1e-3), 0.001);
        close(step(&[7.1, 7.2, 6.9], 1e-3), 0.1);
        // Milliseconds converted to seconds.
        let converted: Vec<f64> = [7.0, 8.0, 9.0, 7.0].iter().map(|v| v / 1000.0).collect();
        close(step(&converted, 1e-3), 0.001);
        // Ticks of 10 ms, in ns.
        close(step(&[3e7, 5e7, 4e7, 7e7], 1e-3), 1e7);
        // The unit of RAPL's counters, 2^-14 J.
        let rapl: Vec<f64> = [90.0, 101.0, 95.0, 97.0]
            .iter()
            .map(|n| n / 16384.0)
            .collect();
        close(step(&rapl, 1e-3), 1.0 / 16384.0);
        // Thirds have no last decimal.
        close(step(&[4.0 / 3.0, 7.0 / 3.0, 5.0 / 3.0], 1e-3), 1.0 / 3.0);
    }

    #[test]
    fn equal_values_and_too_few_say_nothing() {
        assert_eq!(step(&[7.0, 7.0, 7.0, 7.0], 1e-3), None);
        assert_eq!(step(&[], 1e-3), None);
        assert_eq!(step(&[7.0], 1e-3), None);
        assert_eq!(step(&[0.0, 0.0, 7.0], 1e-3), None);
        assert_eq!(step(&[7.0, f64::NAN, 8.0], 1e-3), None);
    }

    #[test]
    fn a_divisor_that_is_chance_is_not_taken() {
        // All are even, but for three numbers that is likely by chance: the
        // digits decide.
        close(step(&[102.0, 104.0, 110.0], 1e-3), 1.0);
        // Fine values have steps far below what matters.
        assert_eq!(step(&[1_000_001.0, 1_000_204.0, 1_000_377.0], 1e-3), None);
    }

    #[test]
    fn continuous_values_have_no_step() {
        let seed = 20_261_122;
        let mut draws = RandomStream::new(seed);
        for n in [2, 3, 5, 20] {
            for _ in 0..500 {
                let values: Vec<f64> = (0..n).map(|_| 5.0 + draws.uniform()).collect();
                assert_eq!(step(&values, 1e-3), None, "seed {seed}: {values:?}");
            }
        }
    }

    #[test]
    fn a_planted_step_is_found_or_a_finer_one_never_a_coarser() {
        let seed = 20_261_123;
        let mut draws = RandomStream::new(seed);
        let (mut found, mut chance) = (0, 0);
        for _ in 0..2000 {
            let planted = 0.5 + draws.uniform();
            let values: Vec<f64> = (0..6)
                .map(|_| planted * (20.0 + 15.0 * draws.uniform()).round())
                .collect();
            match step(&values, 1e-3) {
                Some(step) if (step / planted - 1.0).abs() < 1e-6 => found += 1,
                Some(step) if step > planted * 1.01 => chance += 1,
                _ => {}
            }
        }
        // One in sixty sets of six integers has a common divisor by chance: the
        // data then show no finer step.
        assert!(found > 1900, "seed {seed}: {found}");
        assert!(chance < 80, "seed {seed}: {chance}");
    }
}
