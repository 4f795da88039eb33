//! Rows of several figures on both sides of an arrow:
//!
//! ```text
//! insert   91 ns 3 allocs  →   42 ns 0 allocs
//! find    168 ns 6 allocs  →   80 ns 0 allocs
//! ```
//!
//! The units, the same on both sides, say what the figures are. Each row is of a workload,
//! and one alone is not read.

use std::collections::BTreeSet;

use super::{Amount, LONGEST, MARKS, MOST, WORDS, amount, is_code};
use crate::Line;
use crate::grammar::cells::{label, line_at};
use crate::grammar::lists::is_setting;
use crate::grammar::quantity::{is_measure, metric_of};
use crate::grammar::{Block, Figure, Taken};

/// A figure and what it counts or measures: `91 ns`, `3 allocs`.
type Counted<'t> = (&'t str, Amount<'t>);

/// Several figures on both sides of an arrow, each in the same unit there.
struct Row<'t> {
    name: &'t str,
    sides: [Vec<Counted<'t>>; 2],
}

/// `91 ns 3 allocs` and nothing behind it.
fn counted(mut text: &str) -> Option<Vec<Counted<'_>>> {
    let mut all = Vec::new();
    while !text.trim().is_empty() {
        let (amount, rest) = amount(text.trim_start_matches([',', ' ']))?;
        let (unit, rest) = match amount.unit {
            "" => {
                let rest = rest.strip_prefix(' ')?;
                let letters = |c: char| !(c.is_alphabetic() || c == '/');
                rest.split_at(rest.find(letters).unwrap_or(rest.len()))
            }
            unit => (unit, rest),
        };
        let again = all.iter().any(|(known, _)| *known == unit);
        if unit.is_empty() || again || rest.starts_with(|c: char| !matches!(c, ' ' | ',')) {
            return None;
        }
        all.push((unit, amount));
        text = rest;
    }
    Some(all)
}

/// `insert   91 ns 3 allocs  →   42 ns 0 allocs`
fn row(text: &str) -> Option<Row<'_>> {
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let mut arrows = MARKS.iter().filter(|(_, older)| *older);
    let (left, right) = arrows.find_map(|(mark, _)| text.split_once(mark))?;
    if text.len() > LONGEST || is_code(text) {
        return None;
    }
    let mut gaps = left.match_indices(' ');
    let (at, first) = gaps.find_map(|(at, _)| Some((at, counted(&left[at..])?)))?;
    let second = counted(right)?;
    let units = |side: &[Counted<'_>]| -> Vec<String> {
        side.iter().map(|(unit, _)| (*unit).to_owned()).collect()
    };
    let name = left[..at].trim().trim_end_matches(':');
    let named = name.starts_with(char::is_alphabetic)
        && name.split_whitespace().count() <= WORDS
        && !is_setting(name);
    let measured = first.iter().any(|(unit, _)| is_measure(unit));
    let fits = named && measured && first.len() >= 2 && units(&first) == units(&second);
    fits.then_some(Row {
        name,
        sides: [first, second],
    })
}

/// The unit says what it is, and a word that is none is itself that: `allocs`.
fn figure((unit, amount): Counted<'_>) -> Figure {
    let metric = match is_measure(unit) {
        true => metric_of(unit),
        false => unit,
    };
    let mut figure = Figure::new(metric, amount.value, amount.unit);
    figure.step = Some(amount.step);
    figure
}

/// Rows of several figures on both sides of an arrow, at least two.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let rows: Vec<Row<'_>> = (0..MOST)
        .map_while(|at| row(line_at(lines, at).filter(|_| lines[at].depth == depth)?))
        .collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    if rows.len() < 2 || names.len() != rows.len() {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["several figures before and after" as Taken; rows.len()],
    };
    for (at, row) in rows.into_iter().enumerate() {
        let sides = row.sides.map(|side| side.into_iter().map(figure).collect());
        block.find_sides(
            at,
            Some(label(row.name)),
            crate::grammar::BEFORE_AND_AFTER,
            sides,
        );
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use crate::grammar::pairs::Pairs;
    use crate::grammar::testing::{self, told};

    fn figures(text: &str) -> Vec<(String, String, f64)> {
        testing::placed(&Pairs, text)
    }

    #[test]
    fn several_figures_on_both_sides_of_an_arrow_are_told_by_their_units() {
        let text = "  insert  91 ns 3 allocs  →  42 ns 0 allocs\n  look up:  168 ns, 6 allocs -> 80 ns, 1 allocs\n";
        assert_eq!(
            figures(text),
            told(&[
                ("before", "time", 91.0),
                ("before", "allocs", 3.0),
                ("after", "time", 42.0),
                ("after", "allocs", 0.0),
                ("before", "time", 168.0),
                ("before", "allocs", 6.0),
                ("after", "time", 80.0),
                ("after", "allocs", 1.0),
            ])
        );
        let workloads: Vec<_> = testing::runs(&Pairs, text)
            .into_iter()
            .filter_map(|(labels, _)| labels.workload)
            .collect();
        assert_eq!(workloads, ["insert", "insert", "look up", "look up"]);
    }

    #[test]
    fn figures_in_other_units_of_settings_or_of_one_name_are_no_such_rows() {
        let line = |name: &str, second: &str| format!("{name} 91 ns 3 allocs -> {second}\n");
        for text in [
            // One alone may be anything.
            line("insert", "42 ns 0 allocs"),
            line("insert", "42 ns 0 allocs") + &line("insert", "43 ns 0 allocs"),
            line("insert", "42 us 0 allocs") + &line("find", "43 us 0 allocs"),
            line("insert", "0 allocs 42 ns") + &line("find", "0 allocs 42 ns"),
            line("timeout", "42 ns 0 allocs") + &line("interval", "43 ns 0 allocs"),
            "from 3 nodes 4 disks -> 5 nodes 6 disks\nand 3 nodes 4 disks -> 5 nodes 6 disks\n"
                .into(),
        ] {
            assert!(figures(&text).is_empty(), "{text}");
        }
    }
}
