//! Tables whose names of columns stand over several lines between two rules:
//!
//! ```text
//! -----------------------------------------------
//! big job,        v6 patch 15     v6 patch 16
//! perf stats        regressed          fixed
//! -----------------------------------------------
//! branches      1,571,192,128   1,545,342,571
//! misses           25,849,557      24,120,991
//! ```
//!
//! What stands above one column is joined from top to bottom. Without rules the same is
//! done if no line of the header is a sentence. Between pipes it is done without rules
//! where the first line has one name several times, which the lines below tell apart:
//!
//! ```text
//! jobs |   6.9  | 6.9 + fix | 6.9 + fix
//!      |        | nice=0    | nice=5
//!  8   |  0.33  |   0.31    |   0.30
//! ```

use std::borrow::Cow;
use std::ops::Range;

use super::{Grid, Table, cell_value, is_caption, is_rule, row};
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{Block, Finding, Grammar, Taken};
use crate::roles::words::names_metric;

/// No header has more lines.
const HEAD: usize = 6;
/// None with rules inside has more.
const DEEPEST: usize = 10;
/// No table has more rows.
const MOST: usize = 400;
/// No line of a header without rules is longer.
const WIDEST: usize = 400;
/// Tabs stand at multiples of so many columns.
const TAB: usize = 8;

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let here = here(lines)?;
    if !is_rule(here(0)?) {
        return None;
    }
    // Rules may part the header, too; the last one stands above the rows.
    let cells = |text: &str| row::pipe_cells(text).map_or(0, |cells| cells.len());
    let is_row = |text: &str| figures(text) >= 2 || figures(text) == 1 && cells(text) == 2;
    let first = (2..=DEEPEST).find(|at| here(*at).is_some_and(is_row))?;
    let header = 1..first.checked_sub(1)?;
    let named = |at: usize| here(at).is_some_and(|text| !text.trim().is_empty());
    let lines_of_names = header.clone().filter(|at| !here(*at).is_some_and(is_rule));
    if lines_of_names.count() < 2 || !header.clone().all(named) || !is_rule(here(first - 1)?) {
        return None;
    }
    joined(lines, header, first)
}

/// How many figures a line has.
fn figures(text: &str) -> usize {
    let cells = row::pipe_cells(text).unwrap_or_else(|| row::wide_cells(text));
    cells.into_iter().filter(|cell| is_figure(cell)).count()
}

/// Reads a table whose names stand over several lines, and no rule above them.
pub(super) fn unruled(lines: &[Line<'_>]) -> Option<Block> {
    let here = here(lines)?;
    let figures = |text: &str| {
        row::wide_cells(text)
            .iter()
            .filter(|c| is_figure(c))
            .count()
    };
    let first = here(0).filter(|text| !is_rule(text) && text.len() <= WIDEST)?;
    // Words of a paragraph are parted by one blank.
    let parts = row::wide_cells(first).len();
    let beside = first.starts_with([' ', '\t']) || parts >= 2;
    // `Sequential writes:` is the heading of the table.
    let titled = parts == 1 && first.trim_end().ends_with(':');
    if !beside || titled || row::pipe_cells(first).is_some() || figures(first) > 0 {
        return None;
    }
    let ends = |at: &usize| here(*at).is_none_or(|text| is_rule(text) || figures(text) >= 2);
    let head = |at: &usize| here(*at).is_some_and(heads);
    let end = (0..=HEAD).find(|at| *at > 0 && ends(at) || !head(at))?;
    if end < 2 || !ends(&end) {
        return None;
    }
    let begin = if is_rule(here(end)?) { end + 1 } else { end };
    joined(lines, 0..end, begin)
}

/// Reads a table between pipes of which the first line names some columns alike, and the
/// lines below tell these apart.
pub(super) fn told_apart(lines: &[Line<'_>]) -> Option<Block> {
    let here = here(lines)?;
    let top = here(0).filter(|text| !is_rule(text) && text.len() <= WIDEST)?;
    let open = !top.trim_start().starts_with(['|', '│']);
    let count = cells_from(top, open)?.len();
    let names = |at: usize| {
        let cells = cells_from(here(at)?, open).filter(|cells| cells.len() == count)?;
        let named = cells.iter().skip(1).all(|cell| !is_figure(cell));
        named.then(|| cells.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let head: Vec<Vec<String>> = (0..HEAD).map_while(names).collect();
    let [above, below @ ..] = &head[..] else {
        return None;
    };
    let row = |at: usize| {
        let text = here(at)?;
        let figures = row::pipe_cells(text)?
            .iter()
            .filter(|c| is_figure(c))
            .count();
        (figures >= 2 && figures + 1 >= count).then_some(at)
    };
    let parts = |text: &str| text.trim().is_empty() || is_rule(text) || row::is_empty_row(text);
    let parted = here(head.len()).is_some_and(parts);
    let first = row(head.len() + usize::from(parted))?;
    let mut joined = above.clone();
    for line in below {
        for (cell, part) in joined.iter_mut().zip(line) {
            append(cell, part);
        }
    }
    tells_apart(above, below, &joined).then_some(())?;
    under(lines, &format!("| {} |", joined.join(" | ")), first)
}

/// Whether some columns are called alike in the first line and none in all of them, by
/// what is no name of a metric.
fn tells_apart(above: &[String], below: &[Vec<String>], joined: &[String]) -> bool {
    let names = |line: &[String]| -> Vec<String> {
        let names = line.iter().skip(1).filter(|name| !name.is_empty());
        names.cloned().collect()
    };
    let parts: Vec<String> = below.iter().flat_map(|line| names(line)).collect();
    names(joined).len() + 1 == joined.len()
        && has_twins(names(above))
        && !has_twins(names(joined))
        && !has_twins(parts.clone())
        && !parts
            .iter()
            .any(|part| names_metric(part) && !part.contains('='))
}

/// Whether one of some names is there twice.
fn has_twins(mut names: Vec<String>) -> bool {
    names.sort_unstable();
    names.windows(2).any(|pair| pair.first() == pair.last())
}

/// The cells of a line between pipes; where the first cell has no pipe before it, it may be
/// empty.
fn cells_from(text: &str, open: bool) -> Option<Vec<&str>> {
    let mut cells = row::pipe_cells(text)?;
    if open && text.trim_start().starts_with(['|', '│']) {
        cells.insert(0, "");
    }
    Some(cells)
}

/// Whether a line may be one of a header's without rules: parts that are no sentence.
fn heads(text: &str) -> bool {
    let cells = row::wide_cells(text);
    let short = cells
        .iter()
        .all(|cell| cell.len() <= 32 && !cell.ends_with(['.', ';', '{']));
    let indented = text.starts_with([' ', '\t']);
    // One part alone is a caption of all columns.
    short && (cells.len() >= 2 || indented && cells.len() == 1 && !is_caption(text))
}

fn is_figure(cell: &str) -> bool {
    cell_value(cell).is_some()
}

/// The lines of a block, by number.
fn here<'t>(lines: &'t [Line<'_>]) -> Option<impl Fn(usize) -> Option<&'t str>> {
    let depth = lines.first()?.depth;
    Some(move |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth))
}

/// Joins the lines of a header and reads the table with the rows that begin at `first`.
fn joined(lines: &[Line<'_>], header: Range<usize>, first: usize) -> Option<Block> {
    let here = here(lines)?;
    let head: Vec<&str> = header
        .map_while(&here)
        .filter(|text| !is_rule(text))
        .collect();
    let sample = here(first)?;
    let cells = match row::pipe_cells(sample) {
        Some(cells) => piped(&head, cells.len())?,
        None => placed(&head, sample)?,
    };
    // A header has fewer figures than a row.
    if head
        .iter()
        .any(|line| figures(line) >= figures(sample).max(1))
    {
        return None;
    }
    let piped = row::pipe_cells(sample).is_some();
    under(lines, &cells.join(if piped { " | " } else { "   " }), first)
}

/// Reads the rows that begin at `first` below a header that was joined.
fn under(lines: &[Line<'_>], header: &str, first: usize) -> Option<Block> {
    let here = here(lines)?;
    let first_line = lines.first()?;
    let header = Line::new(header.to_owned(), first_line.depth, first_line.place);
    let mut whole = vec![header];
    whole.extend((first..first + MOST).map_while(|at| here(at).and(lines.get(at)).cloned()));
    let read = Table.read(&whole)?;
    let rule = |at: usize| here(at).is_some_and(is_rule);
    let taken = (0..first).map(|at| {
        if rule(at) {
            "table rule"
        } else {
            "table header"
        }
    });
    Some(moved(read, taken.collect()))
}

/// The cells of each line between pipes, joined.
fn piped(head: &[&str], count: usize) -> Option<Vec<String>> {
    let mut cells = vec![String::new(); count];
    for line in head {
        let parts = row::pipe_cells(line).filter(|parts| parts.len() == count)?;
        for (cell, part) in cells.iter_mut().zip(parts) {
            append(cell, part);
        }
    }
    cells
        .iter()
        .skip(1)
        .all(|cell| !cell.is_empty())
        .then_some(cells)
}

/// The names of columns, each joined of what stands above it. Where two blanks do not part
/// them, but a line has a word for each column, they are put together word by word.
fn placed(head: &[&str], sample: &str) -> Option<Vec<String>> {
    // Of nothing but figures each is a column, also where one blank parts two.
    let figures = words(sample);
    let bare = figures.iter().all(|(.., word)| is_figure(word));
    let columns = if bare { figures } else { spans(sample) };
    if columns.len() < 2 {
        return None;
    }
    let parts: Vec<Vec<Span>> = head.iter().map(|line| spans(line)).collect();
    let single: Vec<Vec<Span>> = head.iter().map(|line| words(line)).collect();
    // The names of rows often have none of their own.
    let least = if bare {
        columns.len()
    } else {
        columns.len() - 1
    };
    let each = |line: &[Span]| (least..=columns.len()).contains(&line.len());
    // `Jobs Time      Time` has three names.
    let fused = |(parts, words): (&Vec<Span>, &Vec<Span>)| each(words) && parts.len() < words.len();
    let cells = match parts.iter().zip(&single).any(fused) {
        true => put(&single, &columns, true),
        false => put(&parts, &columns, false),
    }?;
    let whole = cells.iter().skip(1).all(|cell| !cell.is_empty());
    whole.then_some(cells)
}

/// The parts of each line, put to the column of the row below to which they stand nearest;
/// several to one column only if `joins`.
fn put(head: &[Vec<Span>], columns: &[Span], joins: bool) -> Option<Vec<String>> {
    let mut cells = vec![String::new(); columns.len()];
    for line in head {
        // One name for each column, or for each but that of the rows.
        let skipped = columns.len().checked_sub(line.len()).filter(|_| joins);
        let each = skipped.filter(|skipped| *skipped <= 1);
        let mut last: Option<usize> = None;
        for (number, (from, to, text)) in line.iter().enumerate() {
            let apart = |(left, right, _): &Span| {
                // Names stand left, figures right; so do what is above them.
                from.abs_diff(*left).min(to.abs_diff(*right))
            };
            let nearest = || {
                let columns = columns.iter().enumerate();
                columns
                    .min_by_key(|(_, column)| apart(column))
                    .map(|(at, _)| at)
            };
            let at = each.map(|skipped| skipped + number).or_else(nearest)?;
            // Two parts of one line never stand above one column.
            if last.is_some_and(|last| at < last || at == last && !joins) {
                return None;
            }
            last = Some(at);
            append(cells.get_mut(at)?, text);
        }
    }
    Some(cells)
}

/// Adds a part to a name, behind a blank.
pub(super) fn append(cell: &mut String, part: &str) {
    if !cell.is_empty() && !part.is_empty() {
        cell.push(' ');
    }
    cell.push_str(part);
}

/// Where a part of a line begins and ends, and what it is.
type Span = (usize, usize, String);

/// Where the cells of a line stand that two blanks part.
pub(super) fn spans(line: &str) -> Vec<Span> {
    let line = expanded(line);
    located(&line, row::wide_cells(&line).into_iter())
}

/// Where the words of a line stand.
fn words(line: &str) -> Vec<Span> {
    let line = expanded(line);
    located(&line, line.split_whitespace())
}

fn located<'l>(line: &str, parts: impl Iterator<Item = &'l str>) -> Vec<Span> {
    let mut from = 0;
    let found = parts.filter_map(|cell| {
        let at = from + line.get(from..)?.find(cell)?;
        from = at + cell.len();
        let place = line[..at].chars().count();
        Some((place, place + cell.chars().count(), cell.to_string()))
    });
    found.collect()
}

/// A line with blanks for its tabs.
pub(super) fn expanded(line: &str) -> Cow<'_, str> {
    if !line.contains('\t') {
        return Cow::Borrowed(line);
    }
    let mut text = String::new();
    let mut column = 0;
    for c in line.chars().take(WIDEST) {
        let width = if c == '\t' { TAB - column % TAB } else { 1 };
        match c {
            '\t' => text.extend(std::iter::repeat_n(' ', width)),
            c => text.push(c),
        }
        column += width;
    }
    Cow::Owned(text)
}

/// Puts what was read below a joined header to the lines of the post.
fn moved(read: Block, mut taken: Vec<Taken>) -> Block {
    let end = taken.len() - 1;
    taken.extend(read.taken.into_iter().skip(1));
    let place = |at: usize| at + end;
    let findings = read
        .findings
        .into_iter()
        .map(|(at, finding)| match finding {
            Finding::Grid(grid) => {
                let rows = grid.at.iter().map(|row| place(*row)).collect();
                let grid = Grid { at: rows, ..*grid };
                (place(at), Finding::Grid(Box::new(grid)))
            }
            other => (place(at), other),
        });
    Block {
        findings: findings.collect(),
        taken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Option<(Vec<String>, Vec<usize>, usize)> {
        let numbered = text.lines().enumerate();
        let lines: Vec<Line<'_>> = numbered
            .map(|(at, text)| Line::plain(at as u32, text))
            .collect();
        let block = super::read(&lines)?;
        block
            .findings
            .iter()
            .find_map(|(_, finding)| match finding {
                Finding::Grid(grid) => {
                    let names = grid.header.columns.iter().map(|column| column.name.clone());
                    Some((names.collect(), grid.at.clone(), block.taken.len()))
                }
                _ => None,
            })
    }

    #[test]
    fn what_stands_above_a_column_is_its_name() {
        let text = "\
-----------------------------------------------
big job,        v6 patch 15     v6 patch 16
perf stats        regressed          fixed
-----------------------------------------------
branches      1,571,192,128   1,545,342,571
misses           25,849,557      24,120,991
";
        let (names, rows, taken) = grid(text).unwrap();
        assert_eq!(names, ["v6 patch 15 regressed", "v6 patch 16 fixed"]);
        assert_eq!((rows, taken), (vec![4, 5], 6));
    }

    #[test]
    fn cells_between_pipes_are_joined_too() {
        let text = "\
+--------+-----------+
| kind   | latency   |
|        | (to pipe) |
+--------+-----------+
| pipe   |       1.0 |
| signal |      14.8 |
";
        let (names, rows, _) = grid(text).unwrap();
        assert_eq!(
            (names, rows),
            (vec!["latency (to pipe)".into()], vec![4, 5])
        );
    }

    #[test]
    fn rules_may_part_the_lines_of_a_header() {
        let text = "\
--------------------------------------
                next-1-2     v6     v6
                          fixed  again
--------------------------------------
compressor          zstd   zstd   zstd
--------------------------------------
throughput        1,123  1,245  1,251
time              88.59  87.32  87.45
";
        let (names, rows, taken) = grid(text).unwrap();
        assert_eq!(names, ["next-1-2 zstd", "v6 fixed zstd", "v6 again zstd"]);
        assert_eq!((rows, taken), (vec![6, 7], 8));
    }

    #[test]
    fn without_rules_parts_above_a_column_are_its_name_too() {
        let text = "\u{20}             before      after
             the fix    the fix
read            1123       1245
write            820        911
";
        let lines = crate::grammar::testing::lines(text);
        let block = unruled(&lines).unwrap();
        let Some((2, Finding::Grid(grid))) = block.findings.first() else {
            panic!("no grid")
        };
        let names: Vec<&str> = grid
            .header
            .columns
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        assert_eq!(names, ["before the fix", "after the fix"]);
        assert_eq!((&grid.at[..], block.taken.len()), (&[2, 3][..], 4));
        for other in [
            "These are words of a sentence\nthat goes on.\nread  12  13\nwrite  8  9\n",
            "  before  after\n\nread  12  13\n",
            "      before      after  \nread    1123     1245\nwrite    820      911\n",
        ] {
            assert!(
                unruled(&crate::grammar::testing::lines(other)).is_none(),
                "{other}"
            );
        }
    }

    #[test]
    fn words_are_put_to_columns_where_one_line_has_one_for_each() {
        let text = "\u{20}                                            random   random
    KB  reclen  write rewrite   read reread    read    write
102400       4   1314   35488 234231 1683793 1212394   35334
102400       8   2387   54133 244584 1871789 1644952   52478
";
        let lines = crate::grammar::testing::lines(text);
        let block = unruled(&lines).unwrap();
        let Some((_, Finding::Grid(grid))) = block.findings.first() else {
            panic!("no grid")
        };
        let columns = &grid.header.columns;
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names[1..4], ["reclen", "write", "rewrite"]);
        assert_eq!(names[5..], ["reread", "random read", "random write"]);
        // Without a word for each column nothing says where they belong.
        let fewer = text.replace("write rewrite", "      rewrite");
        assert!(unruled(&crate::grammar::testing::lines(&fewer)).is_none());
    }

    #[test]
    fn columns_called_alike_are_told_apart_by_the_line_below() {
        let text = "\
kind    jobs | v6.9  | v6.9 + a  | v6.9 + a
             |       | nice=0    | nice=5
             |       |           |
send      8  | 0.33  |   0.31    |   0.30
send     16  | 0.61  |   0.58    |   0.57
";
        let read = |text: &str| {
            let lines = crate::grammar::testing::lines(text);
            let block = told_apart(&lines)?;
            let grid = super::super::rewritten::grid(&block)?;
            let names = grid.header.columns.iter().map(|column| column.name.clone());
            Some((
                names.collect::<Vec<_>>(),
                grid.at.clone(),
                block.taken.len(),
            ))
        };
        let (names, rows, taken) = read(text).unwrap();
        assert_eq!(names, ["v6.9", "v6.9 + a nice=0", "v6.9 + a nice=5"]);
        assert_eq!((rows, taken), (vec![3, 4], 5));
        // The line below names metrics of two groups, or nothing that tells columns apart.
        for (from, to) in [
            ("|       | nice=0    | nice=5", "| avg   | min       | max"),
            ("|       | nice=0    | nice=5", "| x     | y         | y"),
            (
                "| v6.9  | v6.9 + a  | v6.9 + a",
                "| v6.9  | v6.10     | v6.11",
            ),
        ] {
            assert!(read(&text.replace(from, to)).is_none(), "{to}");
        }
    }

    #[test]
    fn one_line_or_words_between_columns_are_no_such_header() {
        assert!(grid("-----\na  b\n-----\n1  2\n3  4\n").is_none());
        assert!(grid("-----------\na  b  c\nd  e  f\n-----------\nx  2\ny  4\n").is_none());
    }
}
