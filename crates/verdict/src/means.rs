//! Means and variances of runs, and the blocks they belong to.

/// The natural logarithms of the values.
pub(crate) fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.ln()).collect()
}

/// The geometric mean. For equal values it is exactly that value, so that the figure of a single
/// run is printed as posted.
pub(crate) fn geometric(values: &[f64]) -> Option<f64> {
    let (first, others) = values.split_first()?;
    match others.iter().all(|value| value == first) {
        true => Some(*first),
        false => arithmetic(&logs(values)).map(f64::exp),
    }
}

/// The arithmetic mean; `None` if there are no values.
pub(crate) fn arithmetic(values: &[f64]) -> Option<f64> {
    let first = values.first()?;
    let sum: f64 = values.iter().map(|v| v - first).sum();
    Some(first + sum / values.len() as f64)
}

/// The variance with denominator n - 1; `None` for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    let mean = arithmetic(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// An ID for a block of a machine. Rows with the same ID exchange their labels jointly.
pub(crate) fn site(machine: Option<usize>, block: Option<u32>) -> u64 {
    let machine = machine.map_or(0, |machine| machine as u64 + 1);
    (machine << 33) | block.map_or(0, |block| u64::from(block) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_equal_values_is_their_value() {
        for value in [1395.0, 99.53, 0.002_076] {
            assert_eq!(geometric(&[value]), Some(value));
            assert_eq!(geometric(&[value; 3]), Some(value));
        }
        assert_eq!(geometric(&[]), None);
        let mean = geometric(&[2.0, 8.0]).unwrap();
        assert!((mean - 4.0).abs() < 1e-12, "{mean}");
    }
}
