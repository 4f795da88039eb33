//! A table of multi-line cells: names on the left, and as many columns as fit.

use anstyle::{Effects, Style as Ansi};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::style::Style;
use crate::{WIDTH, printable};

/// The terminal style of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CellWeight {
    Bold,
    #[default]
    Plain,
    Dim,
}

/// One cell and its lines.
#[derive(Debug, Clone, Default)]
pub(super) struct TextCell {
    pub(super) lines: Vec<String>,
    pub(super) weight: CellWeight,
}

impl TextCell {
    pub(super) fn missing() -> TextCell {
        TextCell {
            lines: vec!["-".to_owned()],
            weight: CellWeight::Dim,
        }
    }

    fn width(&self) -> usize {
        self.lines
            .iter()
            .map(|line| line.width())
            .max()
            .unwrap_or(0)
    }
}

/// Joins the lines of each cell, aligning what follows the first line.
fn one_line(cells: &[TextCell]) -> Vec<TextCell> {
    let first = |cell: &TextCell| cell.lines.first().map_or(0, |line| line.width());
    let widest = cells.iter().map(first).max().unwrap_or(0);
    let joined = |cell: &TextCell| {
        let mut lines = cell.lines.iter();
        let first = lines.next().map(|line| pad(line, widest));
        let all: Vec<String> = first.into_iter().chain(lines.cloned()).collect();
        TextCell {
            lines: vec![all.join("  ").trim_end().to_owned()],
            weight: cell.weight,
        }
    };
    cells.iter().map(joined).collect()
}

/// A table.
#[derive(Debug, Default)]
pub(super) struct TextGrid {
    /// The column headings, wrapped to the width of a column.
    pub(super) heads: Vec<String>,
    /// For each row the name and one cell per column. Leading blanks indent the name.
    pub(super) rows: Vec<(String, Vec<TextCell>)>,
    /// The width of a data column.
    pub(super) column: usize,
    /// The text above the names, next to the headings.
    pub(super) corner: String,
}

/// Blanks between columns of cells on one line.
const GAP: usize = 2;
/// The minimum and maximum width of the name column.
const NAMES: std::ops::RangeInclusive<usize> = 12..=26;

impl TextGrid {
    /// Draws the table; columns that do not fit go into further blocks below.
    pub(super) fn draw(&self, style: Style, out: &mut String) {
        let (names, fit) = self.widths();
        for (chunk, heads) in self.heads.chunks(fit).enumerate() {
            if chunk > 0 {
                out.push('\n');
            }
            self.draw_heads(names, heads, out);
            for (name, cells) in &self.rows {
                let from = (chunk * fit).min(cells.len());
                let cells = &cells[from..(from + heads.len()).min(cells.len())];
                self.draw_row(names, name, cells, style, out);
            }
        }
    }

    /// Whether all columns fit side by side.
    pub(super) fn fits(&self) -> bool {
        self.heads.len() <= self.widths().1
    }

    /// The width of the name column, and the number of columns that fit next to it.
    fn widths(&self) -> (usize, usize) {
        let longest = self
            .rows
            .iter()
            .map(|(name, _)| name.width())
            .chain([self.corner.width()])
            .max()
            .unwrap_or(0);
        let mut names = (longest + 2).clamp(*NAMES.start(), *NAMES.end());
        let mut fit = ((WIDTH - names) / self.column).max(1);
        // Folding names is worth it if one more column fits then.
        let narrow = WIDTH.saturating_sub((fit + 1) * self.column);
        if fit < self.heads.len() && narrow >= *NAMES.start() {
            (names, fit) = (narrow, fit + 1);
        }
        (names, fit)
    }

    /// Swaps rows and columns, with the lines of each cell joined.
    pub(super) fn transposed(&self, corner: &str) -> TextGrid {
        let column = |(_, cells): &(String, Vec<TextCell>)| one_line(cells);
        let columns: Vec<Vec<TextCell>> = self.rows.iter().map(column).collect();
        let widths = columns.iter().flatten().map(TextCell::width);
        let row = |(at, name): (usize, &String)| {
            let cells = columns.iter().map(|column| column.get(at).cloned());
            (name.clone(), cells.map(Option::unwrap_or_default).collect())
        };
        TextGrid {
            heads: self.rows.iter().map(|(name, _)| name.clone()).collect(),
            column: widths.max().unwrap_or(0) + GAP,
            corner: corner.to_owned(),
            rows: self.heads.iter().enumerate().map(row).collect(),
        }
    }

    fn draw_heads(&self, names: usize, heads: &[String], out: &mut String) {
        let wrapped: Vec<Vec<String>> = heads
            .iter()
            .map(|head| fold(head, self.column - 1, 3))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        let corner = fold(&self.corner, names - 1, 1).concat();
        for line in 0..height {
            let mut text = match line + 1 == height {
                true => pad(&corner, names),
                false => " ".repeat(names),
            };
            for head in &wrapped {
                // Aligns headings at the bottom.
                let skip = height - head.len();
                let part = line
                    .checked_sub(skip)
                    .and_then(|at| head.get(at))
                    .map_or("", String::as_str);
                text.push_str(&pad(part, self.column));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
    }

    fn draw_row(
        &self,
        names: usize,
        name: &str,
        cells: &[TextCell],
        style: Style,
        out: &mut String,
    ) {
        let indent = name.len() - name.trim_start_matches(' ').len();
        let label: Vec<String> = fold(name, names - 1 - indent, 3)
            .into_iter()
            .map(|line| format!("{}{line}", " ".repeat(indent)))
            .collect();
        let height = cells
            .iter()
            .map(|cell| cell.lines.len())
            .max()
            .unwrap_or(0)
            .max(label.len());
        for line in 0..height {
            let mut text = pad(label.get(line).map_or("", String::as_str), names);
            for cell in cells {
                let part = pad(cell.lines.get(line).map_or("", String::as_str), self.column);
                text.push_str(&dress(&part, cell.weight, style));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
    }
}

fn dress(text: &str, weight: CellWeight, style: Style) -> String {
    let effects = match weight {
        CellWeight::Bold => Effects::BOLD,
        CellWeight::Dim => Effects::DIMMED,
        CellWeight::Plain => Effects::new(),
    };
    if !style.colour || weight == CellWeight::Plain || text.trim().is_empty() {
        return text.to_string();
    }
    let ansi = Ansi::new().effects(effects);
    format!("{ansi}{text}{ansi:#}")
}

/// Pads to a width, counting columns rather than bytes.
fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// Folds a name at blanks and after `/`, `_` and `-` into at most `most` lines. The last ends with
/// `~` if text is missing.
fn fold(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let text = printable(text).replace('\n', " ");
    for piece in pieces(&text) {
        if !line.is_empty() && line.width() + piece.trim_end().width() > width {
            lines.push(std::mem::take(&mut line).trim_end().to_string());
        }
        for c in piece.chars() {
            if line.width() + c.width().unwrap_or(0) > width && (c != ' ') {
                lines.push(std::mem::take(&mut line));
            }
            if !(line.is_empty() && c == ' ') {
                line.push(c);
            }
        }
    }
    if !line.trim().is_empty() {
        lines.push(line.trim_end().to_string());
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while last.width() + 1 > width {
                last.pop();
            }
            last.push('~');
        }
    }
    lines
}

fn pieces(text: &str) -> Vec<&str> {
    text.split_inclusive([' ', '/', '_', '-', ',']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns_with_cells_on_one_line() {
        let cell = |value: &str| TextCell {
            lines: vec![value.to_owned(), "0.9..1.1".to_owned()],
            weight: CellWeight::Plain,
        };
        let grid = TextGrid {
            heads: vec!["one".to_owned(), "other".to_owned()],
            rows: vec![
                ("metric".to_owned(), vec![cell("1.00 ?"), cell("12.00 **")]),
                ("second".to_owned(), vec![cell("1.00 **")]),
            ],
            ..TextGrid::default()
        };
        let mut out = String::new();
        grid.transposed("pipe").draw(Style::default(), &mut out);
        assert_eq!(
            out,
            "pipe        metric              second\n\
             one         1.00 ?    0.9..1.1  1.00 **  0.9..1.1\n\
             other       12.00 **  0.9..1.1\n"
        );
    }

    #[test]
    fn names_fold_where_they_may() {
        assert_eq!(fold("IRQ plus bypass", 11, 3), ["IRQ plus", "bypass"]);
        assert_eq!(fold("power/energy-pkg/", 12, 3), ["power/", "energy-pkg/"]);
        assert_eq!(fold("abcdefghijkl", 5, 2), ["abcde", "fghi~"]);
    }
}
