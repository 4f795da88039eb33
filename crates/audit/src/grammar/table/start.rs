//! Where a table may begin, and where none does.

use super::wide_cells;
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{reports, suites};

/// A first row stands at most so many lines below the first line of a table, also of those
/// with columns below each other and headings between them.
pub(super) const FIRST_ROW: usize = 8;

/// Whether a table may start with a line.
pub(super) fn may_start(line: &str) -> bool {
    let text = line.trim_start();
    text.len() >= 3
        && text.len() <= 1000
        && !text.starts_with("diff ")
        && !text.ends_with(['.', ';', '{', '}'])
}

/// Whether what stands at the beginning of some lines has a grammar of its own, or is
/// said by the kernel.
pub(super) fn is_of_another(lines: &[Line<'_>]) -> bool {
    // Below its heading stands what has a grammar of its own.
    let below = line_at(lines, 1);
    if below.is_some_and(suites::unixbench_head) {
        return true;
    }
    // A line of the kernel's log and a title right above what a tool prints are no headers.
    if line_at(lines, 0).is_some_and(|text| reports::said_by_kernel(text).is_some()) {
        return true;
    }
    let titled = || line_at(lines, 0).is_some_and(|text| wide_cells(text).len() == 1);
    below.is_some_and(|text| titled() && reports::is_line(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::table::{Table, may_be_row};
    use crate::grammar::testing::texts;
    use crate::grammar::{Grammar, all};

    #[test]
    fn no_table_begins_far_above_its_first_row() {
        let mut asked = 0;
        for text in texts(&["tests", "../../demo"]) {
            let mails = crate::mail::messages(&text[..]).map(Result::unwrap);
            for mail in mails {
                let lines = mail.lines();
                let mut far = FIRST_ROW + 1;
                for at in (0..lines.len()).rev() {
                    far = match may_be_row(&lines[at].text) {
                        true => 0,
                        false => far.saturating_add(1),
                    };
                    if far > FIRST_ROW && Table.starts(&lines[at].text) {
                        asked += 1;
                        let block = Table.read(&lines[at..]);
                        assert!(block.is_none(), "{}", lines[at].text);
                    }
                }
            }
        }
        assert!(asked > 1_000, "{asked}");
        let within = all().iter().filter_map(|grammar| grammar.rows_within());
        assert!(within.min() == Some(FIRST_ROW));
    }
}
