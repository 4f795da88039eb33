//! Tables in whose rows the name of a section stands now and then:
//!
//! ```text
//! benchmark         sync   async        | query     | before | after |
//! ---------------  -----  ------        | --------- | ------ | ----- |
//! Sequential reads                      | **small** |        |       |
//!   64 KiB          7 us   15 us        | q1        | 8 ms   | 5 ms  |
//!   1 MiB          43 us   55 us        | q2        | 6 ms   | 4 ms  |
//!                                       | **large** |        |       |
//! Reads at once                         | q1        | 80 ms  | 50 ms |
//!   64 KiB          9 us   21 us        | q2        | 66 ms  | 41 ms |
//! ```
//!
//! The name is put before those of the rows below it. Between pipes a section may also stand
//! over rows that are named by numbers alone; the first row with a name of its own ends it:
//!
//! ```text
//! | by pid   | 18.5 s |
//! | by turns |        |
//! |    4096  |  8.9 s |
//! |  262144  |  8.8 s |
//! | by queue | 17.2 s |
//! ```

use super::{cell_value, is_rule, rewritten, row, wide_cells};
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;

/// A table has no more lines.
const MOST: usize = 400;
/// No name of a section is longer.
const NAME: usize = 80;

/// Reads a table with sections.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let head = here(0)?;
    let piped = row::pipe_cells(head).is_some();
    let columns = cells(head).len();
    let first = if is_rule(here(1)?) { 2 } else { 1 };
    // The first section stands right below the header.
    section(here(first)?, piped).filter(|_| columns >= 3)?;
    let mut right = vec![(0, head.to_owned())];
    if first == 2 {
        right.push((1, here(1)?.to_owned()));
    }
    let (mut sections, mut name) = (0, String::new());
    let mut at = first;
    while let Some(text) = here(at).filter(|_| at <= MOST) {
        let row = figures(text, columns, piped);
        if let Some(row) = row.filter(|_| !name.is_empty()) {
            right.push((at, named(&name, &row, piped)));
        } else if !text.trim().is_empty() && !is_rule(text) {
            // A line behind the table is no section of it.
            let opens = here(at + 1).is_some_and(|next| figures(next, columns, piped).is_some());
            let Some(section) = section(text, piped).filter(|_| opens) else {
                break;
            };
            (sections, name) = (sections + 1, section);
        }
        at += 1;
    }
    let block = (sections >= 2).then(|| rewritten::read(lines, right, "table section"))??;
    rewritten::grid(&block).is_some().then_some(block)
}

/// Reads a table in which names without figures stand over rows that are named by numbers.
pub(super) fn over_numbers(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let columns = row::pipe_cells(here(0)?)?.len();
    let row = |at: usize| figures(here(at)?, columns, true);
    let numbered = |row: &[String]| cell_value(&row[0]).is_some();
    let first = if is_rule(here(1)?) { 2 } else { 1 };
    let mut right: Vec<_> = (0..first)
        .filter_map(|at| Some((at, here(at)?.to_owned())))
        .collect();
    let (mut sections, mut name) = (0, String::new());
    for at in first..MOST {
        if let Some(row) = row(at) {
            if !numbered(&row) {
                name.clear();
            }
            right.push((at, named(&name, &row, true)));
            continue;
        }
        let several = [at + 1, at + 2].map(row);
        let opens = several.iter().flatten().filter(|row| numbered(row)).count() == 2;
        let opened = here(at).filter(|_| opens && columns >= 2);
        let Some(section) = opened.and_then(|text| section(text, true)) else {
            break;
        };
        (sections, name) = (sections + 1, section);
    }
    (sections > 0).then(|| rewritten::read(lines, right, "table section"))?
}

fn cells(text: &str) -> Vec<&str> {
    row::pipe_cells(text).unwrap_or_else(|| wide_cells(text))
}

/// The name in a line that has nothing else: of pipes only the first cell is not empty.
fn section(text: &str, piped: bool) -> Option<String> {
    let name = match row::pipe_cells(text) {
        Some(cells) => {
            let (first, rest) = cells.split_first()?;
            let bare = piped && rest.iter().all(|cell| cell.is_empty());
            bare.then(|| first.trim_matches(['*', '_', ' ']))?
        }
        None => text.trim().trim_end_matches(':'),
    };
    let plain = (piped || !text.starts_with([' ', '\t']))
        && name.starts_with(|c: char| c.is_alphabetic())
        && name.len() <= NAME
        && wide_cells(name).len() == 1
        && !name.ends_with(['.', ';', ',', '{', '}', '?', '!']);
    plain.then(|| name.to_owned())
}

/// The cells of a row that has a name and a figure, or a mark that there is none, in each
/// other column.
fn figures(text: &str, columns: usize, piped: bool) -> Option<Vec<String>> {
    let cells = cells(text);
    let (name, figures) = cells.split_first()?;
    let missing = |cell: &str| matches!(cell, "-" | "--" | "n/a" | "N/A" | "");
    let figure = |cell: &&str| cell_value(cell).is_some() || missing(cell);
    let fits = cells.len() == columns
        && !name.is_empty()
        && figures.iter().all(figure)
        && figures.iter().any(|cell| !missing(cell))
        && (piped || text.starts_with([' ', '\t']));
    let known = |cell: &&str| if missing(cell) { "N/A" } else { cell }.to_owned();
    let name = std::iter::once((*name).to_owned());
    fits.then(|| name.chain(figures.iter().map(known)).collect())
}

/// A row with the name of its section before its own.
fn named(section: &str, cells: &[String], piped: bool) -> String {
    let joined = cells.join(if piped { " | " } else { "   " });
    if piped {
        format!("| {} |", format!("{section} {joined}").trim_start())
    } else {
        format!("{section} {joined}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::rewritten;
    use crate::grammar::testing;

    /// The name of a row and its figures.
    type Named = (String, Vec<f64>);

    /// The rows, and what each line was taken for.
    fn rows(text: &str) -> Option<(Vec<Named>, Vec<&'static str>)> {
        let block = testing::read(&Table, text)?;
        let grid = rewritten::grid(&block)?;
        let rows = grid.rows.iter().map(|row| {
            let values = row.cells.iter().map(|cell| cell.value).collect();
            (row.labels.join(" "), values)
        });
        Some((rows.collect(), block.taken.clone()))
    }

    const WIDE: &str = "benchmark          sync     async\n----------------  -----  --------\n\
                        Sequential reads\n  64 KiB           7.5 us   15.5 us\n  1 MiB             43 us    55 us\n\
                        \nReads at once\n  64 KiB           9.5 us       -\n  1 MiB             49 us    61 us\n";

    #[test]
    fn the_name_of_a_section_stands_before_those_of_its_rows() {
        let (read, taken) = rows(WIDE).unwrap();
        assert_eq!(
            read[0],
            ("Sequential reads 64 KiB".to_owned(), vec![7.5, 15.5])
        );
        assert_eq!(
            read[3],
            ("Reads at once 1 MiB".to_owned(), vec![49.0, 61.0])
        );
        assert!(read[2].1[1].is_nan());
        assert_eq!(taken[2..4], ["table section", "table row"]);
        assert_eq!(taken.len(), 9);
        let piped = "| query | before | after |\n| --- | --- | --- |\n| **small** | | |\n\
                     | q1 | 8 ms | 5 ms |\n| **large** | | |\n| q1 | 80 ms | 50 ms |\n";
        let (read, _) = rows(piped).unwrap();
        assert_eq!(read[1], ("large q1".to_owned(), vec![80.0, 50.0]));
    }

    #[test]
    fn a_section_over_rows_named_by_numbers_ends_at_the_next_name() {
        let post = "| policy | time | reads |\n| --- | --- | --- |\n| pid | 18.5 s | 3800 |\n\
                    | turns |  |  |\n|   4096| 8.9 s | 1900 |\n|  65536| 8.5 s | 1881 |\n\
                    |  queue| 17.2 s | 3801 |\n";
        let (read, taken) = rows(post).unwrap();
        let names: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["pid", "turns 4096", "turns 65536", "queue"]);
        assert_eq!(read[2].1, [8.5, 1881.0]);
        assert_eq!((taken.len(), taken[3]), (7, "table section"));
        // Over rows with names of their own it is none.
        let other = post.replace("4096", "by 4k");
        let named = rows(&other)
            .is_some_and(|(rows, _)| rows.iter().any(|(name, _)| name.starts_with("turns ")));
        assert!(!named);
    }

    #[test]
    fn one_section_alone_and_sentences_are_none() {
        let one = WIDE.split_once("\n\nReads").unwrap().0;
        let sentence = WIDE.replace(
            "Reads at once",
            "These are reads at once, from two threads.",
        );
        for text in [one, sentence.as_str()] {
            let named = rows(text).is_some_and(|(rows, _)| {
                rows.iter()
                    .any(|(name, _)| name.starts_with("Sequential reads 64"))
            });
            assert!(!named, "{text}");
        }
    }
}
