//! Enumerates combinations of levels, and checks that a subset leaves every main
//! effect estimable.

/// Maximum number of configurations in an experiment.
pub(crate) const MOST: usize = 1024;

/// Every combination of levels, the last factor varying fastest; `None` if
/// there are more than [`MOST`].
pub(crate) fn full_factorial(sizes: &[usize]) -> Option<Vec<Vec<usize>>> {
    let count = sizes
        .iter()
        .try_fold(1_usize, |count, size| count.checked_mul(*size))?;
    if count > MOST {
        return None;
    }
    let mut combinations = vec![Vec::new()];
    for size in sizes {
        combinations = combinations
            .into_iter()
            .flat_map(|before: Vec<usize>| {
                (0..*size).map(move |level| {
                    let mut combination = before.clone();
                    combination.push(level);
                    combination
                })
            })
            .collect();
    }
    Some(combinations)
}

/// A main effect: a factor, and one of its levels other than the first.
pub(crate) type MainEffect = (usize, usize);

/// Main effects that are confounded with each other: two or more, or one that is confounded with
/// the mean. Pairs are searched first, for a short answer. `None` if the columns of the design (one
/// for the mean, and one for each level but the first of each factor) are linearly independent.
pub(crate) fn confounded(combinations: &[Vec<usize>], sizes: &[usize]) -> Option<Vec<MainEffect>> {
    let effects: Vec<MainEffect> = sizes
        .iter()
        .enumerate()
        .flat_map(|(factor, size)| (1..*size).map(move |level| (factor, level)))
        .collect();
    for (at, one) in effects.iter().enumerate() {
        for other in &effects[at + 1..] {
            if one.0 != other.0 && dependent(combinations, &[*one, *other]).is_some() {
                return Some(vec![*one, *other]);
            }
        }
    }
    dependent(combinations, &effects)
}

/// The effects in the first linear dependence among the mean and these effects.
fn dependent(combinations: &[Vec<usize>], effects: &[MainEffect]) -> Option<Vec<MainEffect>> {
    // Each row: the pivot, the values of a reduced column, and the coefficients
    // of the original columns in it.
    let mut reduced: Vec<(usize, Vec<u64>, Vec<u64>)> = Vec::new();
    for at in 0..=effects.len() {
        let mut column: Vec<u64> = combinations
            .iter()
            .map(
                |levels| match at.checked_sub(1).and_then(|at| effects.get(at)) {
                    None => 1,
                    Some((factor, level)) => u64::from(levels.get(*factor) == Some(level)),
                },
            )
            .collect();
        let mut made_of = vec![0; effects.len() + 1];
        made_of[at] = 1;
        for (pivot, values, parts) in &reduced {
            let factor = modulo::negative(column[*pivot]);
            modulo::add(&mut column, values, factor);
            modulo::add(&mut made_of, parts, factor);
        }
        let Some(pivot) = column.iter().position(|value| *value != 0) else {
            let parts = made_of.iter().skip(1).zip(effects);
            return Some(
                parts
                    .filter(|(part, _)| **part != 0)
                    .map(|(_, effect)| *effect)
                    .collect(),
            );
        };
        let scale = modulo::inverse(column[pivot]);
        modulo::scale(&mut column, scale);
        modulo::scale(&mut made_of, scale);
        reduced.push((pivot, column, made_of));
    }
    None
}

/// Arithmetic modulo a large prime. It is exact, and small 0/1 matrices have the same rank as over
/// the rationals.
mod modulo {
    const PRIME: u64 = (1 << 61) - 1;

    fn multiply(a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
    }

    pub(super) fn negative(a: u64) -> u64 {
        (PRIME - a) % PRIME
    }

    /// The modular inverse, by Fermat's little theorem.
    pub(super) fn inverse(a: u64) -> u64 {
        let (mut result, mut power, mut exponent) = (1, a, PRIME - 2);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = multiply(result, power);
            }
            power = multiply(power, power);
            exponent >>= 1;
        }
        result
    }

    pub(super) fn scale(values: &mut [u64], factor: u64) {
        for value in values {
            *value = multiply(*value, factor);
        }
    }

    /// Adds `factor` times `other`.
    pub(super) fn add(values: &mut [u64], other: &[u64], factor: u64) {
        for (value, other) in values.iter_mut().zip(other) {
            *value = (*value + multiply(*other, factor)) % PRIME;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(sizes: &[usize], keep: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
        let mut all = full_factorial(sizes).unwrap_or_default();
        all.retain(|levels| keep(levels));
        all
    }

    #[test]
    fn a_full_grid_confounds_nothing() {
        for sizes in [vec![], vec![4], vec![2, 2], vec![2, 3, 4], vec![2; 8]] {
            let grid = filtered(&sizes, |_| true);
            assert_eq!(grid.len(), sizes.iter().product::<usize>());
            assert_eq!(confounded(&grid, &sizes), None, "{sizes:?}");
        }
    }

    #[test]
    fn a_half_fraction_of_three_factors_confounds_no_main_effects() {
        let half = filtered(&[2, 2, 2], |x| (x[0] + x[1] + x[2]) % 2 == 0);
        assert_eq!(half.len(), 4);
        assert_eq!(confounded(&half, &[2, 2, 2]), None);
    }

    #[test]
    fn a_half_fraction_of_two_factors_confounds_them() {
        let half = filtered(&[2, 2], |x| x[0] == x[1]);
        assert_eq!(confounded(&half, &[2, 2]), Some(vec![(0, 1), (1, 1)]));
        let half = filtered(&[2, 2], |x| x[0] != x[1]);
        assert_eq!(confounded(&half, &[2, 2]), Some(vec![(0, 1), (1, 1)]));
    }

    #[test]
    fn one_corner_left_out_confounds_nothing() {
        let most = filtered(&[2, 2], |x| x != [1, 1]);
        assert_eq!(confounded(&most, &[2, 2]), None);
    }

    #[test]
    fn an_effect_may_be_the_sum_of_two_others() {
        let few = filtered(&[2, 2, 2], |x| x[2] == x[0] + x[1]);
        assert_eq!(few.len(), 3);
        let effects = confounded(&few, &[2, 2, 2]);
        assert_eq!(effects, Some(vec![(0, 1), (1, 1), (2, 1)]));
    }

    #[test]
    fn too_many_combinations_are_not_built() {
        assert!(full_factorial(&[2; 11]).is_none());
        assert!(full_factorial(&[usize::MAX, usize::MAX]).is_none());
    }
}
