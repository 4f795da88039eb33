//! Tables: parted by blanks, tabs or pipes, ruled or not.
//!
//! A table is a header line that names as many columns as the following rows
//! have figures. This only cuts it into its parts; what its rows and columns
//! stand for is decided from all that surrounds it, by `roles`.

mod asv;
mod bloat;
mod body;
mod cell;
mod header;
mod left_out;
mod remark;
mod rewritten;
mod row;
mod ruby;
mod start;

use assize_bundle::Place;

use crate::Line;
use crate::grammar::{Block, Finding, Grammar, Taken};
pub(crate) use cell::{Cell, cell_value, is_unit, split_number};
pub(crate) use header::{Header, split_unit};
use row::Parting;
pub(crate) use row::{Row, is_rule, may_be_row, wide_cells};

/// Tables of any style; see the module.
pub struct Table;

/// The name of tables among the formats.
const TABLE: &str = "table";

/// A first row stands at most so many lines below the first line: behind
/// caption, header and rules.
const HEAD: usize = 6;

/// A table cut into its parts, of which it is not yet known what they stand
/// for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    /// A line above the header that names metric or unit of all figures.
    pub(crate) caption: String,
    /// What all columns measure, where their names say it; may be empty.
    pub(crate) metric: String,
    pub(crate) header: Header,
    pub(crate) rows: Vec<Row>,
    /// Line of each row in the block.
    pub(crate) at: Vec<usize>,
    /// Where each row stands; the scanner knows.
    pub(crate) places: Vec<Place>,
}

impl Grid {
    /// Whether a `±` stands behind any of its figures.
    pub(crate) fn has_spreads(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.any(|cell| cell.spread.is_some())
    }
}

/// A table while it is cut.
struct Parts {
    parting: Parting,
    grid: Grid,
    taken: Vec<Taken>,
    doubts: Vec<(usize, Finding)>,
}

impl Grammar for Table {
    fn name(&self) -> &'static str {
        TABLE
    }

    fn is_report(&self) -> bool {
        false
    }

    fn starts(&self, line: &str) -> bool {
        start::may_start(line)
    }

    fn reach(&self) -> usize {
        HEAD
    }

    fn rows_within(&self) -> Option<usize> {
        Some(start::FIRST_ROW)
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        if start::is_of_another(lines) {
            return None;
        }
        let tools = [asv::read, bloat::read, ruby::read];
        if let Some(block) = tools.into_iter().find_map(|read| read(lines)) {
            return Some(block);
        }
        let parts = cut(lines)?;
        let mut block = Block {
            findings: parts.doubts,
            taken: parts.taken,
        };
        if let Some(&first) = parts.grid.at.first() {
            block.find(first, Finding::Grid(Box::new(parts.grid)));
        }
        block.findings.sort_by_key(|(at, _)| *at);
        Some(block)
    }
}

/// What stands above the rows of a table.
struct Head<'t> {
    caption: &'t str,
    /// What a line above calls the metric of all figures; may be empty.
    metric: &'t str,
    /// The first line of the header.
    line: &'t str,
    /// The first line behind it that is no rule: a row, or a second line of the header.
    next: usize,
    taken: Vec<Taken>,
}

/// The lines of a block, by number.
type Text<'f, 't> = &'f dyn Fn(usize) -> Option<&'t str>;

impl<'t> Head<'t> {
    fn read(text: Text<'_, 't>) -> Option<Self> {
        let mut head = Head {
            caption: "",
            metric: "",
            line: "",
            next: 0,
            taken: Vec::new(),
        };
        if row::is_rule(text(0)?) {
            head.taken.push("table rule");
        } else if let Some(metric) = said_metric(text(0)?) {
            head.metric = metric;
            head.taken.push("table caption");
            if text(1)?.trim().is_empty() {
                head.taken.push("table blank");
            }
        } else if is_caption(text(0)?) {
            head.caption = text(0)?.trim();
            head.taken.push("table caption");
        }
        let at = head.taken.len();
        head.line = text(at).filter(|line| !row::is_rule(line) && !line.trim().is_empty())?;
        head.taken.push("table header");
        head.next = behind_rules(text, at + 1);
        head.taken.resize(head.next, "table rule");
        head.skip_blank(text);
        (header::plausible(head.line) || row::pipe_cells(head.line).is_some()).then_some(head)
    }

    /// Goes over a blank line between names over columns and the first row, if that has as
    /// many figures behind a name.
    fn skip_blank(&mut self, text: Text<'_, 't>) {
        let piped = row::pipe_cells(self.line);
        let names = piped.unwrap_or_else(|| row::wide_cells(self.line)).len();
        let parted = text(self.next).is_some_and(|line| line.trim().is_empty());
        let row = || row::data_row(text(self.next + 1)?, Parting::Wide);
        // One of the names may stand over those of the rows.
        let fits = |row: Row| {
            let figures = row.cells.len();
            row.labels.len() == 1 && (figures == names || figures >= 2 && figures + 1 == names)
        };
        let indented = self.line.starts_with([' ', '\t']);
        if names >= 2 && parted && indented && row().is_some_and(fits) {
            self.taken.push("table blank");
            self.next += 1;
        }
    }

    /// Reads the rows below.
    fn table(&self, text: Text<'_, 't>, parting: Parting) -> Option<Parts> {
        let row = |at: usize| row::data_row(text(at)?, parting);
        let next = row(self.next);
        // Only where a change has no column of its own.
        if parting.changed()
            && !next.as_ref().is_some_and(|row| {
                row.cells.iter().any(|cell| cell.change.is_some())
                    && (header::names_all(self.line, row)
                        || text(self.next)
                            .is_some_and(|below| header::names_figures(self.line, below, row)))
            })
        {
            return None;
        }
        let taken = self.taken.clone();
        let header = match next {
            Some(first) if is_first_row(self.line, &first, parting) => return None,
            Some(first) if header::plausible(self.line) => {
                // A row without a change may stand above those that have one.
                let changes = header::ends_with_change(self.line);
                let fuller = |row: &Row| row.cells.len() == first.cells.len() + 1;
                let others = self.next + 1..self.next + 4;
                let fuller = others.filter_map(row).find(fuller).filter(|_| changes);
                let sample = fuller.as_ref().unwrap_or(&first);
                header::fit(self.line, sample)?
            }
            _ => return None,
        };
        let grid = Grid {
            caption: self.caption.to_string(),
            metric: self.metric.to_string(),
            header,
            ..Grid::default()
        };
        let from = taken.len();
        let mut parts = Parts {
            parting,
            grid,
            taken,
            doubts: Vec::new(),
        };
        body::take_rows(&text, from, &mut parts);
        // One row alone must have a name or stand between rules.
        let ruled = parts.taken.contains(&"table rule") || row::pipe_cells(self.line).is_some();
        let names = parts.grid.rows.iter().map(|row| row.labels.first());
        let named = names.flatten().any(|name| name.parse::<f64>().is_err());
        let one = parts.grid.header.columns.len() >= 2
            && (ruled || named && self.line.split_whitespace().count() >= 3);
        (parts.grid.rows.len() >= 2 || one).then_some(parts)
    }
}

/// Whether a line above rows is itself one of them: it ends with as many figures, one of
/// which has digits behind the point or a unit, of more than a size.
fn is_first_row(line: &str, row: &Row, parting: Parting) -> bool {
    row::data_row(line, parting).is_some_and(|first| {
        let size = |unit: &str| matches!(unit, "" | "%" | "B" | "kB" | "KB" | "MB" | "GB");
        let figure = |cell: &Cell| cell.value.fract() != 0.0 || !size(&cell.unit);
        !first.labels.is_empty()
            && first.cells.len() == row.cells.len()
            && first.cells.iter().any(figure)
    })
}

/// The first line from one on that is no rule.
fn behind_rules(text: Text<'_, '_>, from: usize) -> usize {
    let is_rule = |at: &usize| *at < HEAD && text(*at).is_some_and(row::is_rule);
    (from..)
        .take_while(is_rule)
        .last()
        .map_or(from, |at| at + 1)
}

/// Finds header and rows.
fn cut(lines: &[Line<'_>]) -> Option<Parts> {
    let depth = lines[0].depth;
    let text = |at: usize| {
        let line = lines.get(at).filter(|line| line.depth == depth);
        line.map(|line| line.text.as_ref())
    };
    let head = Head::read(&text)?;
    // Means with their deviations stand below a heading, not below a header.
    // So do lines of `go test -bench`, which have their unit with them.
    let below_heading = |row: &str| {
        super::spread::is_mean(row) || row.contains("/op") && super::gobench::GoBench.starts(row)
    };
    if text(head.next).is_some_and(below_heading) {
        return None;
    }
    let mut partings = [
        Parting::WideChanged,
        Parting::WordsChanged,
        Parting::Wide,
        Parting::Words,
    ]
    .into_iter();
    partings.find_map(|parting| head.table(&text, parting))
}

/// `Metric: exec_time`: what the figures below are, as LLVM's `compare.py` says it.
fn said_metric(text: &str) -> Option<&str> {
    let metric = text.trim().strip_prefix("Metric: ")?.trim();
    (!metric.is_empty() && !metric.contains([' ', ':'])).then_some(metric)
}

/// A line above the header that is nothing but a unit or metric of all cells.
fn is_caption(text: &str) -> bool {
    let text = text.trim().trim_end_matches(':');
    let bare = text
        .trim_start_matches(['(', '['])
        .trim_end_matches([')', ']']);
    let (name, unit) = split_unit(text);
    let named = !unit.is_empty()
        && name.split_whitespace().count() <= 3
        && row::wide_cells(text).len() == 1;
    is_unit(bare) || named || (bare.len() <= 24 && !bare.contains(' ') && bare.contains("/s"))
}
