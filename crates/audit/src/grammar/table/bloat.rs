//! What `scripts/bloat-o-meter` prints:
//!
//! ```text
//! add/remove: 0/1 grow/shrink: 0/2 up/down: 0/-130 (-130)
//! Function                  old     new   delta
//! timer_exit                335     313     -22
//! timer_state                 8       -      -8
//! Total: Before=2187, After=2057, chg -5.94%
//! ```
//!
//! Its figures are sizes in bytes, of which it does not say so.

use super::rewritten;
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;

/// A table has no more lines.
const MOST: usize = 2000;

/// Reads such a table, from its header on or from the line above.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let header = usize::from(here(0)?.trim_start().starts_with("add/remove: "));
    let mut words = here(header)?.split_whitespace();
    let first = words.next()?.to_lowercase();
    if !matches!(first.as_str(), "function" | "data" | "symbol")
        || !words.eq(["old", "new", "delta"])
    {
        return None;
    }
    let names = format!("| {first} | old (B) | new (B) | delta |");
    rewritten::read_rows(lines, (header, names), header + 1, MOST, row)
}

/// A row whose delta follows from its sizes; one of them may not be there.
fn row(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [name @ .., old, new, delta] = &words[..] else {
        return None;
    };
    let size = |word: &str| match word {
        "-" => Some(0),
        digits => digits.parse::<i64>().ok().filter(|size| *size >= 0),
    };
    let fits = size(new)? - size(old)? == delta.trim_start_matches('+').parse::<i64>().ok()?;
    let known = |word: &&str| if *word == "-" { "N/A" } else { word }.to_owned();
    let name = name.join(" ");
    (fits && !name.is_empty() && !name.contains('|'))
        .then(|| format!("| {name} | {} | {} | {delta} |", known(old), known(new)))
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::rewritten;
    use crate::grammar::testing;

    const TABLE: &str = "add/remove: 0/1 grow/shrink: 0/2 up/down: 0/-130 (-130)\n\
                         Function                  old     new   delta\n\
                         timer_exit                335     313     -22\n\
                         cpu 0 state                 8       -      -8\n\
                         Total: Before=2187, After=2057, chg -5.94%\n";

    #[test]
    fn sizes_of_functions_are_in_bytes() {
        let block = testing::read(&Table, TABLE).unwrap();
        let grid = rewritten::grid(&block).unwrap();
        assert_eq!(block.taken.len(), 4);
        assert_eq!(grid.header.columns[0].unit, "B");
        assert_eq!(grid.rows[0].labels, ["timer_exit"]);
        assert_eq!(grid.rows[1].labels, ["cpu 0 state"]);
        assert!(grid.rows[1].cells[1].value.is_nan());
    }

    #[test]
    fn a_delta_that_does_not_follow_ends_the_table() {
        let other = TABLE.replace("-22", "-21");
        let read = testing::read(&Table, &other);
        let bytes = read.is_some_and(|block| {
            rewritten::grid(&block).is_some_and(|grid| grid.header.columns[0].unit == "B")
        });
        assert!(!bytes);
    }
}
