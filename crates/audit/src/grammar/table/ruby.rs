//! What Ruby's `Benchmark.bm` prints:
//!
//! ```text
//!                      user     system      total        real
//! int32 100000     0.085867   0.000194   0.086061 (  0.086369)
//! ```
//!
//! Names may end with a number, and the last figure stands in brackets.

use super::rewritten;
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;
use crate::grammar::number::english;

/// A table has no more lines.
const MOST: usize = 200;
/// What is measured, in seconds.
const NAMES: [&str; 4] = ["user", "system", "total", "real"];

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    if !line_at(lines, 0)?.split_whitespace().eq(NAMES) {
        return None;
    }
    let names = NAMES.map(|name| format!("{name} (s)")).join(" | ");
    let header = format!("| benchmark | {names} |");
    rewritten::read_rows(lines, (0, header), 1, MOST, row)
}

/// A row with pipes between its name and its figures.
fn row(text: &str) -> Option<String> {
    let (before, real) = text.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let mut words: Vec<&str> = before.split_whitespace().collect();
    let figures = words.split_off(words.len().checked_sub(NAMES.len() - 1)?);
    let name = words.join(" ");
    let measured = figures
        .iter()
        .chain([&real.trim()])
        .all(|word| english(word).is_some());
    (measured && !name.is_empty() && !name.contains('|')).then(|| {
        let name = name.trim_end_matches(':');
        format!("| {name} | {} | {} |", figures.join(" | "), real.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::rewritten;
    use crate::grammar::testing;

    #[test]
    fn the_last_figure_stands_in_brackets_and_a_number_may_end_the_name() {
        let text = "                 user     system      total        real\n\
                    int32 100000     0.085867   0.000194   0.086061 (  0.086369)\n\
                    old:             0.042163   0.001033   0.043196 (  0.043268)\n";
        let block = testing::read(&Table, text).unwrap();
        let grid = rewritten::grid(&block).unwrap();
        assert_eq!(grid.rows[0].labels, ["int32 100000"]);
        assert_eq!(grid.rows[1].labels, ["old"]);
        let values: Vec<f64> = grid.rows[1].cells.iter().map(|cell| cell.value).collect();
        assert_eq!(values, [0.042163, 0.001033, 0.043196, 0.043268]);
        let other = text.replace("real", "rest");
        let read = testing::read(&Table, &other).unwrap();
        assert_ne!(
            rewritten::grid(&read).unwrap().rows[0].labels,
            ["int32 100000"]
        );
    }
}
