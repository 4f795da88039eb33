//! Finds the step in which each number of a block was printed: `7.12` has a step of 0.01.

use std::collections::HashMap;

use crate::grammar::block::{Figure, Finding};
use crate::grammar::number::{Locale, parse, step};
use crate::line::Line;

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
        for (value, step) in numbers(&line.text) {
            let known = steps.entry(value.to_bits()).or_insert(step);
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

/// The numbers of a line, each with the place of its last digit.
fn numbers(text: &str) -> impl Iterator<Item = (f64, f64)> {
    let part = |c: char| {
        c.is_ascii_digit()
            || matches!(c, '.' | ',' | '\'' | '+' | '-' | 'e' | 'E')
            || matches!(c, '\u{a0}' | '\u{2009}' | '\u{202f}')
    };
    text.split(move |c: char| !part(c))
        .flat_map(|token| {
            let token = token.trim_matches(|c: char| !c.is_ascii_digit() && c != '-');
            let token = token.trim_end_matches('-');
            [Locale::English, Locale::CommaDecimal]
                .map(|locale| Some((parse(token, locale)?, step(token, locale)?)))
        })
        .flatten()
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

    fn of(text: &str, value: f64) -> Option<f64> {
        let found = numbers(text).filter(|(number, _)| *number == value);
        found.map(|(_, step)| step).reduce(f64::min)
    }

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

    #[test]
    fn the_last_digit_says_how_fine_a_number_is() {
        #[rustfmt::skip]
        let cases = [
            ("Time: 7.12", 7.12, 0.01), ("   320,440.96 msec task-clock", 320_440.96, 0.01),
            ("   320.440,96 msec", 320_440.96, 0.01), ("1.25e3 ops", 1250.0, 10.0),
            ("12.5us", 12.5, 0.1), ("-0.50", -0.5, 0.01), ("(5.00%)", 5.0, 0.01),
        ];
        for (text, value, step) in cases {
            assert_eq!(of(text, value), Some(step), "{text}");
        }
        assert_eq!(of("no number", 1.0), None);
        assert_eq!(of("1e999999999999 1.2.3", 1.0), None);
    }
}
