//! Columns that are computed from others: printed changes.

use super::roles::is_derived;
use crate::grammar::grid::Grid;
use crate::grammar::units::power_of_seconds;

/// How a printed change follows from two figures: the formula, and its value for two equal ones.
/// Words may say which way a change without a sign goes.
type Formula = (fn(f64, f64) -> f64, f64);

const FORMULAS: [Formula; 10] = [
    (|a, b| b / a, 1.0),
    (|a, b| a / b, 1.0),
    (|a, b| a.max(b) / a.min(b), 1.0),
    (|a, b| b - a, 0.0),
    (|a, b| a - b, 0.0),
    (|a, b| 100.0 * (b - a) / a, 0.0),
    (|a, b| 100.0 * (a - b) / a, 0.0),
    (|a, b| 100.0 * (a - b) / b, 0.0),
    (|a, b| 100.0 * (b - a) / b, 0.0),
    (|a, b| 100.0 * b / a, 100.0),
];

/// More columns are not searched: the work grows with the cube of their number.
const WIDEST: usize = 12;

impl Grid {
    /// Whether a column is derived by its name, or all its figures are in percent or times.
    pub(super) fn is_change(&self, column: usize) -> bool {
        let mut cells = self
            .rows
            .iter()
            .filter_map(|row| row.cells[column].as_ref());
        let name = &self.columns[column];
        let named = name.contains(char::is_alphanumeric) && !is_derived(name);
        !named || cells.all(|cell| matches!(&*cell.unit, "%" | "x"))
    }

    /// Whether a column holds percentages of which some have a sign, or has no name.
    pub(super) fn holds_changes(&self, column: usize) -> bool {
        let rows = self.rows.iter();
        let cells = || rows.clone().filter_map(|row| row.cells[column].as_ref());
        let signed = cells().any(|cell| cell.text.starts_with(['+', '-']));
        let percent = signed && cells().all(|cell| cell.unit == "%");
        let unnamed = !self.columns[column].contains(char::is_alphanumeric);
        percent || unnamed && self.columns.len() > 1
    }

    /// Finds two columns whose ratio, difference or change in percent a later column holds in every
    /// row: the table itself compares them. All further columns must be changes as well.
    pub(super) fn recomputed(&self) -> Option<[usize; 2]> {
        let count = self.columns.len();
        if count > WIDEST {
            return None;
        }
        let mut pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b]));
        pairs.find(|sides| {
            let [a, b] = *sides;
            let computed = |at: usize| FORMULAS.iter().any(|one| self.follows(one, [a, b, at]));
            let follows = |at: &usize| *at > b && computed(*at);
            let mut rest = (0..count).filter(|at| !sides.contains(at));
            rest.clone().any(|at| follows(&at)) && rest.all(|at| self.is_change(at) || follows(&at))
        })
    }

    /// Whether the third column is computed from the first two, within what rounding explains, and
    /// in two rows or more is other than it would be of equal ones.
    fn follows(&self, (formula, neutral): &Formula, columns: [usize; 3]) -> bool {
        let mut telling = 0;
        for row in &self.rows {
            let [Some(a), Some(b), Some(printed)] = columns.map(|at| row.cells[at].as_ref()) else {
                continue;
            };
            // `1.34s` beside `122.99ms`.
            let powers = power_of_seconds(&a.unit).zip(power_of_seconds(&b.unit));
            let scale = powers.map_or(1.0, |(a, b)| 10_f64.powi(b - a));
            let [a_step, b_step, step] =
                [a, b, printed].map(|cell| 0.51 * cell.step.unwrap_or(0.0));
            let compute =
                |sign: f64| formula(a.value + sign * a_step, scale * (b.value - sign * b_step));
            let rounding = step + (compute(1.0) - compute(-1.0)).abs() / 2.0;
            let off = (printed.value - compute(0.0)).abs();
            if off.is_nan() || off > rounding {
                return false;
            }
            let copied = [a.value, b.value].contains(&printed.value);
            telling += usize::from(!copied && (printed.value - neutral).abs() > rounding);
        }
        telling >= 2
    }
}
