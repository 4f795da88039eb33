//! Tables with columns separated by blanks, tabs or bars, with or without rules.
//!
//! A table is a line of names above rows with as many figures as there are names. The user
//! gives the roles of rows and columns, or the table does: a column is headed `kernel` or the
//! like, or rows or columns number the runs of each name. The figures of any other table are
//! read and not judged.

use std::sync::LazyLock;

use regex::Regex;

use super::block::{Block, Finding, Grammar};
use super::cells::{label, line_at};
use super::grid::{Cell, Grid, Row};
use super::number::english;
use super::units::is_measure;
use crate::headings::is_rule;
use crate::line::Line;

mod roles;

/// Tables that people make.
pub struct Table;

/// Longest line of a table.
const LONGEST: usize = 400;
/// Most rows of a table.
const MOST: usize = 2000;
/// Most rules between the header and the rows.
const RULES: usize = 2;

static CELL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?<value>[+-]?\d[\d,.']*(?:[eE][+-]?\d+)?)(?<unit>%|[A-Za-zµ][\w/µ]*)?(?:\s*(?:±|\+-|\+/-)\s*(?<spread>\d[\d.]*)(?<percent>\s*%)?)?$",
    )
    .ok()
});

/// Parses a cell with a figure; the inner `None` stands for an empty cell.
fn cell(text: &str) -> Option<Option<Cell>> {
    if matches!(text, "-" | "--" | "n/a" | "N/A") {
        return Some(None);
    }
    let first = text.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-')) {
        return None;
    }
    let found = CELL.as_ref()?.captures(text)?;
    let value = english(&found["value"])?;
    let unit = found.name("unit").map_or("", |unit| unit.as_str());
    if !(unit.is_empty() || unit == "%" || is_measure(unit)) {
        return None;
    }
    let spread = found
        .name("spread")
        .and_then(|spread| english(spread.as_str()));
    let percent = found.name("percent").is_some();
    Some(Some(Cell {
        value,
        unit: unit.to_owned(),
        step: None,
        spread: spread.map(|spread| {
            if percent {
                value.abs() * spread / 100.0
            } else {
                spread
            }
        }),
    }))
}

/// Splits a line into fields: at bars, else at tabs, else at blanks; a `±` joins its neighbours.
fn fields(text: &str) -> Vec<String> {
    let text = text.trim();
    let bar = ['|', '\u{2502}'];
    if text.contains(bar) {
        let inner = text.trim_start_matches(bar).trim_end_matches(bar);
        return inner
            .split(bar)
            .map(|field| field.trim().to_owned())
            .collect();
    }
    if text.contains('\t') {
        let parts = text
            .split('\t')
            .map(str::trim)
            .filter(|field| !field.is_empty());
        return parts.map(str::to_owned).collect();
    }
    let mut fields: Vec<String> = Vec::new();
    let mut join = false;
    for word in text.split_whitespace() {
        let mark = matches!(word, "±" | "+-" | "+/-");
        match fields.last_mut().filter(|_| mark || join) {
            Some(last) => *last = format!("{last} {word}"),
            None => fields.push(word.to_owned()),
        }
        join = mark;
    }
    fields
}

/// A row: figures behind words.
fn row(at: usize, text: &str) -> Option<Row> {
    if text.len() > LONGEST || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let fields = fields(text);
    let cells: Vec<Option<Cell>> = fields.iter().rev().map_while(|field| cell(field)).collect();
    let labels = fields[..fields.len() - cells.len()].to_vec();
    let figures = cells.iter().flatten().count();
    let sentence = labels.len() > 8
        || labels
            .last()
            .is_some_and(|label| label.ends_with([',', '=', '(']));
    (figures > 0 && !sentence).then(|| Row {
        at,
        labels,
        cells: cells.into_iter().rev().collect(),
    })
}

/// Parses a header into the names of the `labels` labels and those of the `count` figures.
fn header(text: &str, labels: usize, count: usize) -> Option<(Vec<String>, Vec<String>)> {
    let text = text.trim();
    let words = fields(text);
    let wide: Vec<String> = match text.contains(['|', '\u{2502}', '\t']) {
        true => words.clone(),
        false => {
            let parts = text
                .split("  ")
                .map(str::trim)
                .filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        }
    };
    for names in [&wide, &words, &numbered(&words, count)] {
        let keys = match names.len().checked_sub(count) {
            Some(keys) if keys <= 1 || keys == labels => keys,
            _ => continue,
        };
        let (keys, columns) = names.split_at(keys);
        let named = |name: &String| cell(name).is_none() && name.chars().any(char::is_alphanumeric);
        if columns.iter().all(named) {
            return Some((keys.to_vec(), columns.to_vec()));
        }
    }
    None
}

/// Joins the words of a header with numbered names: `idle % cpu 0 cpu 1 render time`.
fn numbered(words: &[String], count: usize) -> Vec<String> {
    let is_number = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| word.parse::<u32>().is_ok())
    };
    let Some(first) = (1..words.len()).find(|at| is_number(*at)).map(|at| at - 1) else {
        return Vec::new();
    };
    let mut names: Vec<String> = Vec::new();
    if first > 0 {
        names.push(words[..first].join(" "));
    }
    let mut at = first;
    while is_number(at + 1) && words[at] == words[first] {
        names.push(words[at..at + 2].join(" "));
        at += 2;
    }
    let missing = (count + usize::from(first > 0)).saturating_sub(names.len());
    match missing {
        1 if at < words.len() => names.push(words[at..].join(" ")),
        _ => names.extend_from_slice(&words[at..]),
    }
    names
}

impl Grammar for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn is_report(&self) -> bool {
        false
    }

    fn reach(&self) -> usize {
        RULES + 1
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_end();
        let sentence = text.ends_with(['.', ':', ';', ',', '{', '}']);
        text.len() <= LONGEST && !sentence && text.bytes().any(|b| b.is_ascii_alphabetic())
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let names = line_at(lines, 0)?;
        let text = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let rules =
            (1..=RULES).take_while(|at| text(*at).is_some_and(|text| is_ruled(text.trim())));
        let begin = 1 + rules.count();
        let first = row(begin, text(begin)?)?;
        // `stock: 184.1` above `stock: 183.2` is no header but the first of them.
        if row(0, names).is_some_and(|above| above.cells.len() == first.cells.len()) {
            return None;
        }
        let (keys, columns) = header(names, first.labels.len(), first.cells.len())?;
        let mut grid = Grid {
            keys,
            columns,
            rows: Vec::new(),
        };
        let mut end = begin;
        let mut doubts = Vec::new();
        while let Some(line) = text(end).filter(|_| end < MOST) {
            if is_ruled(line.trim()) {
                end += 1;
                continue;
            }
            let fits = |row: &Row| row.cells.len() == grid.columns.len();
            match row(end, line).filter(fits) {
                Some(row) => grid.rows.push(row),
                None => match spoiled(line, first.labels.len() + first.cells.len()) {
                    Some(why) => doubts.push((end, why)),
                    None => break,
                },
            }
            end += 1;
        }
        if grid.rows.len() < 2 {
            return None;
        }
        let end = grid.rows.last().map_or(end, |row| row.at + 1);
        let mut block = Block::of("table", end);
        block.find(0, Finding::Grid(Box::new(grid)));
        for (at, why) in doubts.into_iter().filter(|(at, _)| *at < end) {
            block.find(at, Finding::Doubt("bad-number", why));
        }
        Some(block)
    }
}

/// Explains why a row with the right number of fields is left out.
fn spoiled(text: &str, count: usize) -> Option<String> {
    let fields = fields(text);
    let bad = |field: &&String| {
        let digit = field.starts_with(|c: char| c.is_ascii_digit());
        cell(field).is_none() && (digit || ["nan", "inf"].contains(&field.to_lowercase().as_str()))
    };
    let bad = fields.iter().find(bad).filter(|_| fields.len() == count)?;
    Some(label(&format!(
        "{bad} is not a number; its row is left out: {}",
        text.trim()
    )))
}

fn is_ruled(text: &str) -> bool {
    is_rule(text) || !text.is_empty() && text.chars().all(|c| "|:-+=─┼├┤│ ".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;
    use crate::options::{Options, Role};

    fn grid(texts: &[&str]) -> Option<Grid> {
        let block = testing::read(&Table, &texts.join("\n"))?;
        block
            .findings
            .into_iter()
            .find_map(|(_, finding)| match finding {
                Finding::Grid(grid) => Some(*grid),
                _ => None,
            })
    }

    fn read(texts: &[&str], options: &Options) -> Vec<String> {
        let grid = grid(texts).expect("a table");
        let findings = grid.findings(&grid.roles(options), options);
        findings
            .iter()
            .map(|(_, finding)| testing::shown(finding))
            .collect()
    }

    #[test]
    fn the_user_says_what_rows_and_columns_are() {
        let table = [
            "         before  after",
            "read     12.5    11.5",
            "write    22.5    21.5",
        ];
        let undeclared = grid(&table).expect("a table");
        assert_eq!(undeclared.roles(&Options::default()).because, None);
        let options = Options {
            columns_are: Some(Role::Configurations),
            ..Options::default()
        };
        let found = read(&table, &options);
        assert_eq!(
            found,
            [
                "before: read=12.5, write=22.5",
                "after: read=11.5, write=21.5"
            ]
        );
        let options = Options {
            rows_are: Some(Role::Workloads),
            ..options
        };
        assert_eq!(read(&table, &options)[0], "before/read: value=12.5");
    }
}
