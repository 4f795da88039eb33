//! Tables that are others, written otherwise: the lines are put right, and what is read of
//! them is given the places of the lines from which they are.

use super::Table;
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{Block, Finding, Grammar, Taken};

/// Reads lines that were put right, each with the number of the line from which it is, in
/// order. Lines between them were taken for `between`.
pub(super) fn read(
    lines: &[Line<'_>],
    right: Vec<(usize, String)>,
    between: Taken,
) -> Option<Block> {
    let from: Vec<usize> = right.iter().map(|(at, _)| *at).collect();
    let whole: Vec<Line<'_>> = right
        .into_iter()
        .map(|(at, text)| Line::new(text, lines[at].depth, lines[at].place))
        .collect();
    let read = Table.read(&whole)?;
    let last = *from.get(read.taken.len().checked_sub(1)?)?;
    let mut taken = vec![between; last + 1];
    for (at, what) in from.iter().zip(&read.taken) {
        taken[*at] = what;
    }
    let mut findings = read.findings;
    for (at, finding) in &mut findings {
        *at = from[*at];
        if let Finding::Grid(grid) = finding {
            for at in &mut grid.at {
                *at = from[*at];
            }
        }
    }
    Some(Block { findings, taken })
}

/// Reads a header that was put right and the rows from line `first` on, each put right by
/// `row`, up to the first that is none or to line `most`.
pub(super) fn read_rows(
    lines: &[Line<'_>],
    (header, names): (usize, String),
    first: usize,
    most: usize,
    row: impl Fn(&str) -> Option<String>,
) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let rows = (first..most).map_while(|at| Some((at, row(here(at)?)?)));
    let right: Vec<(usize, String)> = std::iter::once((header, names)).chain(rows).collect();
    (right.len() >= 2).then(|| read(lines, right, "table header"))?
}

/// The table of a block, if it has one.
#[cfg(test)]
pub(super) fn grid(block: &Block) -> Option<&super::Grid> {
    let mut findings = block.findings.iter();
    findings.find_map(|(_, finding)| match finding {
        Finding::Grid(grid) => Some(&**grid),
        _ => None,
    })
}
