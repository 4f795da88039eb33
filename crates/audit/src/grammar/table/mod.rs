//! Tables: parted by blanks, tabs or pipes, ruled or not.
//!
//! A table is a header line that names as many columns as the following rows
//! have figures. This only cuts it into its parts; what its rows and columns
//! stand for is decided from all that surrounds it, by `roles`.

mod asv;
mod bloat;
mod boxed;
mod cell;
mod commas;
mod deviating;
mod filled;
mod header;
mod keyed;
mod layered;
mod left_out;
mod paired;
mod remark;
mod rewritten;
mod row;
mod ruby;
mod sectioned;
mod spanned;
mod stacked;
mod start;
mod steps;
mod turned;
mod wrapped;

use assize_bundle::Place;

use crate::Line;
use crate::grammar::{Block, Finding, Grammar, Taken};
use crate::roles::words;
pub(crate) use cell::{Cell, PlusMinus, cell_value, is_unit, split_number};
pub(super) use commas::Commas;
pub(crate) use header::{Column, Header, split_unit};
use left_out::{clip, doubtful, spoiled};
use row::Parting;
pub(crate) use row::{Row, is_rule, may_be_row, pipe_cells, wide_cells};

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
        let others = [
            deviating::read,
            filled::read,
            steps::read,
            boxed::read,
            layered::read,
            keyed::read,
            spanned::read,
            wrapped::read,
            asv::read,
            bloat::read,
            ruby::read,
            turned::read,
            paired::read,
            sectioned::read,
            sectioned::over_numbers,
            stacked::read,
            stacked::told_apart,
        ];
        if let Some(block) = others.into_iter().find_map(|read| read(lines)) {
            return Some(block);
        }
        if super::lists::stands_below(lines) {
            return None;
        }
        let Some(parts) = cut(lines) else {
            return stacked::unruled(lines);
        };
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
            line: "",
            next: 0,
            taken: Vec::new(),
        };
        if row::is_rule(text(0)?) {
            head.taken.push("table rule");
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

    /// Reads the rows below; of two lines of a header the first names groups.
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
        let mut taken = self.taken.clone();
        let header = match next {
            Some(first) if is_first_row(self.line, &first, parting) => return None,
            Some(first) if header::plausible(self.line) => {
                // A row without a change may stand above those that have one.
                let changes = header::ends_with_change(self.line);
                let fuller = |row: &Row| row.cells.len() == first.cells.len() + 1;
                let others = self.next + 1..self.next + 4;
                let fuller = others.filter_map(row).find(fuller).filter(|_| changes);
                let sample = fuller.as_ref().unwrap_or(&first);
                header::fit_over(self.line, sample, text(self.next)?)?
            }
            Some(_) => return None,
            None => {
                let first = behind_rules(text, self.next + 1);
                taken.push("table header");
                taken.resize(first, "table rule");
                header::fit_groups(self.line, text(self.next)?, &[row(first)?])?
            }
        };
        let grid = Grid {
            caption: self.caption.to_string(),
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
        take_rows(&text, from, &mut parts);
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

fn take_rows<'t>(text: &impl Fn(usize) -> Option<&'t str>, from: usize, parts: &mut Parts) {
    let mut at = from;
    while let Some(line) = text(at) {
        let used = if row::is_rule(line) {
            parts.taken.push("table rule");
            1
        } else if row::is_empty_row(line) {
            parts.taken.push("table blank");
            1
        } else if line.trim().is_empty() {
            take_blank(text(at + 1), text(at + 2), parts)
        } else {
            let mut used = take_row(line, text(at + 1), parts);
            if used == 0 && spoiled(line, text(at + 1), parts) {
                used = 1;
            } else if used > 0 {
                used += take_name(at + used, text, parts);
            }
            used
        };
        if used == 0 {
            break;
        }
        at += used;
    }
    while parts.taken.last().is_some_and(|t| *t == "table blank") {
        parts.taken.pop();
    }
}

/// A name goes on for no more lines.
const GOES_ON: usize = 3;

/// Lines below a row that only go on with its name, up to a blank line behind which
/// the next row stands; says how many.
fn take_name<'t>(
    from: usize,
    text: &impl Fn(usize) -> Option<&'t str>,
    parts: &mut Parts,
) -> usize {
    let plain = |line: &&str| {
        !line.trim().is_empty()
            && line.len() <= 80
            && !row::is_rule(line)
            && !line.contains([';', '{', '}', '|'])
            && !line.trim_end().ends_with(['.', ':'])
            && row::data_row(line, Parting::Words).is_none()
    };
    let more: Vec<&str> = (from..=from + GOES_ON)
        .map_while(text)
        .take_while(plain)
        .collect();
    let end = from + more.len();
    let figures = parts.grid.header.columns.len();
    let row = |at: usize| row::data_row(text(at)?, parts.parting);
    let named = |row: &Row| row.cells.len() == figures && !row.labels.is_empty();
    let next = row(end + 1).is_some_and(|row| named(&row));
    // The last row has no other behind it; the one before it went on.
    let last = text(end).is_none_or(|line| line.trim().is_empty())
        && parts.taken.contains(&"table row, its name");
    let parted = text(end).is_none_or(|line| line.trim().is_empty());
    let Some(label) = parts
        .grid
        .rows
        .last_mut()
        .and_then(|row| row.labels.last_mut())
    else {
        return 0;
    };
    if more.is_empty() || more.len() > GOES_ON || !parted || !(next || last) {
        return 0;
    }
    for line in &more {
        label.push(' ');
        label.push_str(line.trim());
        parts.taken.push("table row, its name");
    }
    more.len()
}

/// A blank line belongs to the table if a row of the same shape follows.
fn take_blank(next: Option<&str>, after: Option<&str>, parts: &mut Parts) -> usize {
    let figures = parts.grid.header.columns.len();
    let same = next
        .and_then(|line| row::data_row(line, parts.parting))
        .is_some_and(|next| {
            let last = parts.grid.rows.last();
            // Of three figures and more that is no other table, however its names are parted.
            let named = |labels: usize| figures >= 3 && labels > 0 && !next.labels.is_empty();
            next.cells.len() == figures
                && last
                    .is_some_and(|r| r.labels.len() == next.labels.len() || named(r.labels.len()))
        });
    if !same || after.is_some_and(row::is_rule) {
        return 0;
    }
    parts.taken.push("table blank");
    1
}

/// Takes a row, with the line below if a mailer wrapped it; says how many
/// lines that were.
fn take_row(line: &str, next: Option<&str>, parts: &mut Parts) -> usize {
    let figures = parts.grid.header.columns.len();
    let keyed = parts.grid.header.keys.len() == 1
        && parts
            .grid
            .rows
            .first()
            .is_some_and(|row| row.labels.len() == 1);
    let read = row::data_row(line, parts.parting).map(|row| match keyed {
        true => row.named_by_number(line, figures),
        false => row,
    });
    if read.as_ref().is_none_or(|row| row.cells.len() != figures) && doubtful(line, parts, figures)
    {
        return 1;
    }
    let Some(mut read) = read else { return 0 };
    let mut used = 1;
    // The first figure of a long row may stand one blank behind its name.
    if parts.parting == Parting::Wide
        && read.cells.len() + 1 == figures
        && let [name] = &read.labels[..]
        && name
            .split(' ')
            .next_back()
            .is_some_and(|word| cell_value(word).is_some())
        && let Some(words) = row::data_row(line, Parting::Words)
        && words.cells.len() == figures
    {
        read = words;
    }
    if read.cells.len() < figures {
        let rest = next.and_then(|line| row::data_row(line, parts.parting));
        if let Some(rest) =
            rest.filter(|r| r.labels.is_empty() && r.cells.len() + read.cells.len() == figures)
        {
            read.cells.extend(rest.cells);
            used = 2;
        }
    }
    if read.cells.len() + 1 == figures && ends_with_changes(parts) {
        read.cells.push(Cell::none());
    }
    if read.cells.len() == figures {
        parts.grid.at.push(parts.taken.len());
        parts.grid.rows.push(read);
        parts
            .taken
            .extend(["table row", "table row, continued"].iter().take(used));
    } else {
        let detail = format!(
            "a row has {} figures under {figures} columns and is left out: {}",
            read.cells.len(),
            clip(line)
        );
        parts.leave_out("ragged-row", detail, "table row, ragged");
    }
    used
}

/// Whether the last column is computed from others: some rows have nothing there.
fn ends_with_changes(parts: &Parts) -> bool {
    let last = parts.grid.header.columns.len().checked_sub(1);
    last.is_some_and(|at| {
        at >= 2 && words::is_derived(&parts.grid.header.columns[at].name, &parts.grid.rows, at)
    })
}
