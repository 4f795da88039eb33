//! The files that `hyperfine` exports: Markdown (and Org) tables, CSV, JSON.
//!
//! Tables and CSV hold means, so they become summaries; they do not say how
//! many runs stand behind them. JSON holds every single time, so each becomes
//! a run; its means are then only repetitions and are not read. Where JSON
//! lacks the times, its means are read. Minimum, maximum and median are never
//! read: they are no mean. Column `Relative` and parameters are explained
//! only (the command already contains the parameters).

use assize_bundle::Spread;

use super::begins::Begins;
use super::cells::{bad_number, configuration, line_at, summary};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;
use crate::printed;

/// The files that `hyperfine` exports, except JSON.
pub struct HyperfineExport;

impl Grammar for HyperfineExport {
    fn name(&self) -> &'static str {
        "hyperfine-export"
    }

    fn names_what_it_compares(&self) -> bool {
        true
    }

    fn begins(&self) -> Begins {
        Begins::with(b"|c")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.starts_with("| Command |") || text.starts_with("command,mean,")
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let header = line_at(lines, 0)?.trim();
        let mut block = Block::default();
        if header.starts_with('|') {
            let table = Table::of(header)?;
            block.taken.push("hyperfine table header");
            table.read(&mut block, lines);
        } else {
            let columns = csv_cells(header);
            block.taken.push("hyperfine csv header");
            read_csv(&mut block, lines, &columns);
        }
        if block.taken.len() == 1 {
            let doubt = "no rows follow a header of hyperfine".to_owned();
            block.find(0, Finding::Doubt("truncated-block", doubt));
        }
        Some(block)
    }
}

/// The header of a Markdown or Org table.
struct Table<'a> {
    columns: usize,
    mean: usize,
    unit: &'a str,
}

impl<'a> Table<'a> {
    fn of(header: &'a str) -> Option<Self> {
        let cells = pipe_cells(header);
        let mean = cells.iter().position(|c| c.starts_with("Mean ["))?;
        let unit = cells[mean].strip_prefix("Mean [")?.strip_suffix(']')?;
        Some(Table {
            columns: cells.len(),
            mean,
            unit,
        })
    }

    fn read(&self, block: &mut Block, lines: &[Line<'_>]) {
        for at in 1.. {
            let Some(row) = line_at(lines, at).map(str::trim) else {
                return;
            };
            if !row.starts_with('|') {
                return;
            }
            if row.bytes().all(|b| b"|:-+ ".contains(&b)) {
                block.taken.push("hyperfine table rule");
                continue;
            }
            block.taken.push("hyperfine table row");
            self.read_row(block, at, &pipe_cells(row));
        }
    }

    fn read_row(&self, block: &mut Block, at: usize, cells: &[&str]) {
        if cells.len() != self.columns {
            block.find(at, ragged(cells.len(), self.columns));
            return;
        }
        let command = cells[0].trim_matches(['`', '=']).replace("\\|", "|");
        let mut tokens = cells[self.mean].split_whitespace();
        let mean = tokens.next().unwrap_or("");
        let deviation = tokens.next_back();
        let numbers = Means {
            metric: "time",
            mean,
            deviation,
            rounded: true,
            unit: self.unit,
        };
        numbers.note(block, at, &configuration(Some(&command)));
    }
}

fn ragged(cells: usize, columns: usize) -> Finding {
    Finding::Doubt(
        "ragged-row",
        format!("a row of {cells} cells stands under {columns} columns and is left out"),
    )
}

/// The cells between pipes; `\|` is no pipe.
fn pipe_cells(row: &str) -> Vec<&str> {
    let inner = row.strip_prefix('|').unwrap_or(row);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let bytes = inner.as_bytes();
    let mut cells = Vec::new();
    let mut from = 0;
    for at in memchr::memchr_iter(b'|', bytes) {
        if at == 0 || bytes[at - 1] != b'\\' {
            cells.push(inner[from..at].trim());
            from = at + 1;
        }
    }
    cells.push(inner[from..].trim());
    cells
}

/// A mean as it was printed.
struct Means<'a> {
    metric: &'a str,
    mean: &'a str,
    deviation: Option<&'a str>,
    /// Whether the deviation has as many digits whatever its value.
    rounded: bool,
    unit: &'a str,
}

impl Means<'_> {
    fn note(&self, block: &mut Block, at: usize, labels: &Labels) {
        let Some(mean) = english(self.mean) else {
            block.find(at, bad_number(self.mean, self.metric));
            return;
        };
        let spread = self.deviation.and_then(|text| {
            let value = english(text);
            if value.is_none() {
                block.find(at, bad_number(text, "the standard deviation"));
            }
            let rounded = |value| match self.rounded {
                true => printed::spread(value, text),
                false => value,
            };
            value.map(rounded).map(Spread::StandardDeviation)
        });
        let figure = Figure::new(self.metric, mean, self.unit);
        block.find(at, summary(labels, figure, spread, None));
    }
}

/// The cells of a line of comma-separated values; quotes are taken off.
fn csv_cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => push_char(&mut cells, '"'),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => push_char(&mut cells, c),
        }
    }
    cells
}

fn push_char(cells: &mut [String], c: char) {
    if let Some(last) = cells.last_mut() {
        last.push(c);
    }
}

fn read_csv(block: &mut Block, lines: &[Line<'_>], columns: &[String]) {
    for at in 1.. {
        let Some(line) = line_at(lines, at) else {
            return;
        };
        if !line.contains(',') {
            return;
        }
        let cells = csv_cells(line.trim());
        // A sentence with a comma in it is no row.
        if cells.len() != columns.len() && !cells[1..].iter().any(|c| english(c).is_some()) {
            return;
        }
        block.taken.push("hyperfine csv row");
        if cells.len() != columns.len() {
            block.find(at, ragged(cells.len(), columns.len()));
            continue;
        }
        read_csv_row(block, at, columns, &cells);
    }
}

fn read_csv_row(block: &mut Block, at: usize, columns: &[String], cells: &[String]) {
    let cell = |name: &str| {
        let column = columns.iter().position(|c| c == name)?;
        Some(cells[column].as_str())
    };
    let labels = configuration(Some(&cells[0]));
    let metrics = [
        ("time", "mean", cell("stddev").filter(|s| !s.is_empty())),
        ("user", "user", None),
        ("sys", "system", None),
    ];
    for (metric, column, deviation) in metrics {
        if let Some(mean) = cell(column) {
            let numbers = Means {
                metric,
                mean,
                deviation,
                rounded: false,
                unit: "s",
            };
            numbers.note(block, at, &labels);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escaped_pipes_do_not_part_cells() {
        assert_eq!(csv_cells(r#""a, ""b""",1"#), [r#"a, "b""#, "1"]);
        assert_eq!(pipe_cells(r"| `a \| b` | 1 |"), [r"`a \| b`", "1"]);
    }
}
