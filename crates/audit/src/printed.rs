//! Finds the step in which each number of a block was printed: `7.12` has a step of 0.01.

use std::collections::HashMap;

use crate::grammar::block::{Figure, Finding};
use crate::grammar::number::{Locale, step};
use crate::line::Line;
use crate::numbers;

/// Whether a format is written for programs, with as many digits as the value needs. The
/// last digit then does not show the resolution.
fn is_for_programs(format: &str) -> bool {
    format.ends_with("-json") || format.ends_with("-export") || format.contains(" -x")
}

/// Sets the step of each figure to that of an equal number in the lines of its block. A figure
/// computed from several numbers has none.
pub(crate) fn note_steps(format: &str, lines: &[Line<'_>], findings: &mut [(usize, Finding)]) {
    if is_for_programs(format) {
        return;
    }
    let mut steps: HashMap<u64, f64> = HashMap::new();
    for line in lines {
        for number in numbers::find(&line.text).into_iter().map(|one| one.number) {
            let Some(step) = number.step else { continue };
            let known = steps.entry(number.value.to_bits()).or_insert(step);
            // Of two spellings the finer: a count may equal a time.
            *known = known.min(step);
        }
    }
    let of = |figure: &mut Figure| {
        // `123k` was printed, and its grammar has said what its last digit is.
        let printed = steps.get(&figure.value.to_bits()).copied();
        figure.step = figure.step.or(printed);
    };
    for (_, finding) in findings {
        match finding {
            Finding::Run { figures, .. } => figures.iter_mut().for_each(of),
            Finding::Summary { figure, .. } | Finding::Sample(figure) => of(figure),
            Finding::Grid(grid) => {
                let cells = grid.rows.iter_mut().flat_map(|row| &mut row.cells);
                for cell in cells.flatten() {
                    let printed = steps.get(&cell.value.to_bits()).copied();
                    cell.step = cell.step.or(printed);
                }
            }
            _ => {}
        }
    }
}

/// A spread that was printed with a fixed number of digits. One printed as zero, `0.00`, may have
/// been anything that rounds to zero, so the largest such value is used: half a unit of the last
/// digit. A mean must not look more certain than its digits are.
pub(crate) fn spread(value: f64, token: &str) -> f64 {
    if value != 0.0 {
        return value;
    }
    let locale = match token.contains(',') {
        true => Locale::CommaDecimal,
        false => Locale::English,
    };
    step(token, locale).map_or(value, |step| step / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_of_zero_is_half_a_unit_of_its_last_digit() {
        #[rustfmt::skip]
        let cases = [
            (0.0, "0.00", 0.005), (0.0, "0,00", 0.005), (0.0, "0.000000", 0.000_000_5),
            (0.0, "0", 0.5), (6.4, "6.40", 6.4), (0.0, "none", 0.0),
        ];
        for (value, token, expected) in cases {
            assert_eq!(spread(value, token), expected, "{token}");
        }
    }
}
