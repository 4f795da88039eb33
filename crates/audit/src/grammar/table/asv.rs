//! What `asv compare` and `asv continuous` print:
//!
//! ```text
//!        before           after         ratio
//!      [f358a29b]       [18d1c052]
//!      <master>         <faster>
//! -     2.78±0.03ms      2.45±0.03ms     0.88  lists.Convert.time_convert('bool')
//!       14.8±0.02ms       15.5±0.1ms     1.05  lists.Convert.time_convert('decimal')
//! ```
//!
//! The name of a row is put before its figures; a mark before these says that they differ.

use super::{cell_value, rewritten};
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;

/// A table has no more lines.
const MOST: usize = 400;
/// Lines with commits and branches stand below the header.
const BELOW: usize = 2;

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    if !here(0)?.split_whitespace().eq(["before", "after", "ratio"]) {
        return None;
    }
    let bracketed = |text: &str| {
        let mut words = text.split_whitespace();
        words.clone().next().is_some() && words.all(|word| word.starts_with(['[', '<']))
    };
    let first = (2..=BELOW + 1).find(|at| !here(*at).is_some_and(bracketed))?;
    here(1).filter(|text| bracketed(text))?;
    let header = "| benchmark | before | after | ratio |".to_owned();
    rewritten::read_rows(lines, (0, header), first, MOST, row)
}

/// A row with its name before its figures.
fn row(text: &str) -> Option<String> {
    let marked = text.trim_start_matches(['-', '+', '!', 'x', '~', ' ']);
    let mut rest = marked;
    let mut next = || {
        let (word, behind) = rest.trim_start().split_once(' ')?;
        rest = behind;
        Some(word)
    };
    let (before, after, ratio) = (next()?, next()?, next()?);
    let name = rest.trim();
    let figures = [before, after]
        .iter()
        .all(|word| cell_value(word).is_some());
    let ratio = ratio.trim_start_matches('~');
    let named = name.starts_with(char::is_alphabetic) && !name.contains('|');
    (figures && named && cell_value(ratio).is_some())
        .then(|| format!("| {name} | {before} | {after} | {ratio} |"))
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::rewritten;
    use crate::grammar::testing;

    #[test]
    fn rows_of_asv_are_named_and_have_units_and_spreads() {
        let text = "       before           after         ratio\n     [f358a29b]       [18d1c052]\n\
                    -     2.78±0.03ms      2.45±0.03ms     0.88  a.B.time_c('bool')\n\
                    \x20      16.7±0.7ms       15.1±0.6ms    ~0.90  a.B.time_c('struct of two')\n";
        let block = testing::read(&Table, text).unwrap();
        let grid = rewritten::grid(&block).unwrap();
        assert_eq!(block.taken.len(), 4);
        assert_eq!(grid.rows[1].labels, ["a.B.time_c('struct of two')"]);
        let cell = &grid.rows[0].cells[0];
        assert_eq!((cell.value, cell.unit.as_str()), (2.78, "ms"));
        assert_eq!(cell.spread.unwrap().value, 0.03);
        assert_eq!(grid.rows[1].cells[2].value, 0.9);
        let other = text.replace("ratio", "notes").replace('±', " of ");
        let read = testing::read(&Table, &other);
        assert!(read.is_none_or(|block| rewritten::grid(&block).is_none_or(|g| g.rows.len() < 2)));
    }
}
