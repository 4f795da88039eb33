//! Turns the rows below a header into figures.

use std::borrow::Cow;
use std::collections::HashSet;

use super::changes::{self, Kind, Printed};
use super::error::{Fault, no_number, units};
use super::header::{Column, Header};
use super::metric::Metric;
use super::sheet::{Mean, Of, Sheet};
use crate::grammar::number::{Locale, Number, number};
use crate::grammar::units::is_unit;
use crate::options::{Options, SpreadKind};

/// Name used for a metric if nothing names it.
pub(crate) const VALUE: &str = "value";
/// With at least this many rows, a parameter that differs in every row is a mistake.
const FEWEST_ROWS: usize = 4;
/// Cells that stand for a missing figure.
const ABSENT: [&str; 5] = ["", "-", "NA", "N/A", "n/a"];

/// Reads rows into a sheet.
pub(crate) struct Rows<'o> {
    header: Header,
    locale: Locale,
    options: &'o Options,
    parameters: Vec<Parameter>,
    rows: usize,
    /// The name of a configuration and a workload that the table does not name.
    names: [&'o str; 2],
}

/// A column that is a parameter of the workload.
struct Parameter {
    at: usize,
    name: String,
    met: HashSet<String>,
}

/// The cells of a row.
type Cells<'c> = [&'c str];

/// The cell of a column; empty if there is none.
fn get<'c>(cells: &Cells<'c>, at: usize) -> &'c str {
    cells.get(at).map_or("", |cell| cell.trim())
}

impl<'o> Rows<'o> {
    /// Reads the rows below this header. `names` are used for the configuration and the workload if
    /// the header has no columns for them.
    pub(crate) fn new(
        header: Header,
        locale: Locale,
        options: &'o Options,
        names: [&'o str; 2],
    ) -> Self {
        let all = header.columns.iter().enumerate();
        let parameter = |(at, column): (usize, &Column)| match column {
            Column::Parameter(name) => Some(Parameter {
                at,
                name: name.clone(),
                met: HashSet::new(),
            }),
            _ => None,
        };
        Rows {
            parameters: all.filter_map(parameter).collect(),
            locale,
            options,
            rows: 0,
            names,
            header,
        }
    }

    /// Adds the figures of a row.
    pub(crate) fn add(
        &mut self,
        cells: &Cells<'_>,
        line: u32,
        sheet: &mut Sheet,
    ) -> Result<(), Fault> {
        self.rows += 1;
        let workload = self.workload(cells)?;
        let [configuration, _] = self.names;
        let ordered = self.header.find(&Column::Order);
        let ordered = ordered.map(|at| (at, get(cells, at)));
        let order = ordered
            .map(|(at, cell)| self.number(at, cell))
            .transpose()?;
        let named = self.named(&Column::Configuration, cells)?;
        let run = self.named(&Column::Run, cells)?;
        let of = Of {
            configuration: named.unwrap_or(configuration),
            workload: &workload,
            // A row with an order is an execution with all that has the same.
            run: run.or(ordered.map(|(_, cell)| cell)),
            order: order.map(|order| order.value),
            line,
        };
        self.change(cells, of, sheet)?;
        let columns = self.header.columns.iter().enumerate();
        match columns.into_iter().find(|(_, column)| is_figure(column)) {
            Some((at, Column::Value(unit))) => self.tidy(at, unit, cells, of, sheet),
            Some((at, Column::Mean(unit))) => self.mean(at, unit, cells, of, sheet),
            _ => self.wide(cells, of, sheet),
        }
    }

    /// Notes a printed change.
    fn change(&self, cells: &Cells<'_>, of: Of<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
        for (at, column) in self.header.columns.iter().enumerate() {
            let said = match column {
                Column::Change(unit) => (unit == "%").then_some(Kind::Percent),
                Column::Ratio => Some(Kind::Ratio),
                _ => continue,
            };
            let cell = get(cells, at);
            if ABSENT.contains(&cell) {
                continue;
            }
            let (number, kind) = changes::parse(cell, self.locale, said)?;
            let (metric, _) = self.metric(cells, "", "", sheet)?;
            sheet.changes.push(Printed {
                configuration: of.configuration.to_owned(),
                to: None,
                workload: of.workload.to_owned(),
                metric: metric.into_owned(),
                line: of.line,
                number,
                kind,
            });
        }
        Ok(())
    }

    /// Checks all rows together.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        let unique =
            |parameter: &&Parameter| self.rows >= FEWEST_ROWS && parameter.met.len() == self.rows;
        match self.parameters.iter().find(unique) {
            Some(parameter) => Err(format!(
                "column '{}' differs in every row, so no row repeats another; name it run or \
                 order, or leave it out",
                parameter.name
            )),
            None => Ok(()),
        }
    }

    fn named<'c>(&self, column: &Column, cells: &Cells<'c>) -> Result<Option<&'c str>, Fault> {
        let Some(at) = self.header.find(column) else {
            return Ok(None);
        };
        let column = &self.header.names[at];
        match get(cells, at) {
            "" => Err(format!("column '{column}' is empty; fill it in")),
            name => Ok(Some(name)),
        }
    }

    /// The name of the workload, with its parameters.
    fn workload<'c>(&mut self, cells: &Cells<'c>) -> Result<Cow<'c, str>, Fault>
    where
        'o: 'c,
    {
        let [_, unnamed] = self.names;
        let name: &'c str = self.named(&Column::Workload, cells)?.unwrap_or(unnamed);
        if self.parameters.is_empty() {
            return Ok(Cow::Borrowed(name));
        }
        let mut text = name.to_owned();
        for parameter in &mut self.parameters {
            let value = get(cells, parameter.at);
            text.push_str(&format!(", {}={value}", parameter.name));
            // It is enough to know that one value came twice.
            if parameter.met.len() + 1 >= self.rows {
                parameter.met.insert(value.to_owned());
            }
        }
        Ok(Cow::Owned(text))
    }

    fn number(&self, at: usize, cell: &str) -> Result<Number, Fault> {
        number(cell, self.locale).ok_or_else(|| self.no_number(at, cell))
    }

    fn no_number(&self, at: usize, found: &str) -> Fault {
        no_number(&format!("column '{}'", self.header.names[at]), found)
    }

    /// A number, and its unit if the cell has one: `12.3 ms`.
    fn quantity<'c>(&self, at: usize, cell: &'c str) -> Result<(Number, &'c str), Fault> {
        if let Some(number) = number(cell, self.locale) {
            return Ok((number, ""));
        }
        let last = cell.rfind(|c: char| c.is_ascii_digit());
        let (digits, unit) = cell.split_at(last.map_or(0, |at| at + 1));
        let unit = unit.trim();
        if is_unit(unit) {
            return Ok((self.number(at, digits)?, unit));
        }
        Ok((self.number(at, cell)?, ""))
    }

    /// The metric and the unit of a row's one figure.
    fn metric<'c>(
        &self,
        cells: &Cells<'c>,
        in_header: &'c str,
        in_cell: &'c str,
        sheet: &mut Sheet,
    ) -> Result<(Cow<'c, str>, Cow<'c, str>), Fault> {
        let mut name = Cow::Borrowed(VALUE);
        let mut unit = Cow::Borrowed(in_header);
        if let Some(cell) = self.named(&Column::Metric, cells)? {
            name = Cow::Borrowed(cell);
            // A unit or direction after the name: `time [s] <`.
            if cell.ends_with([']', ')', '<', '>']) {
                let metric = Metric::parse(cell)?;
                sheet.better(&metric);
                (name, unit) = (Cow::Owned(metric.name), Cow::Owned(metric.unit));
            }
        } else if let Some(metric) = &self.options.metric {
            sheet.better(metric);
            name = Cow::Owned(metric.name.clone());
            unit = Cow::Owned(metric.unit.clone());
        }
        let column = self.header.find(&Column::Unit);
        let of_column = column.map_or("", |at| get(cells, at));
        for said in [in_header, of_column, in_cell] {
            if said.is_empty() || said == unit {
                continue;
            }
            if !unit.is_empty() {
                return Err(units(&unit, said));
            }
            unit = Cow::Borrowed(said);
        }
        Ok((name, unit))
    }

    fn tidy(
        &self,
        at: usize,
        in_header: &str,
        cells: &Cells<'_>,
        of: Of<'_>,
        sheet: &mut Sheet,
    ) -> Result<(), Fault> {
        let (number, in_cell) = self.quantity(at, get(cells, at))?;
        let (metric, unit) = self.metric(cells, in_header, in_cell, sheet)?;
        if of.run.is_none() && of.order.is_none() {
            sheet.single(of, &metric, &unit, number);
            return Ok(());
        }
        let run = sheet.run(of);
        sheet.figure(run, &metric, &unit, number, of.line)
    }

    fn mean(
        &self,
        at: usize,
        in_header: &str,
        cells: &Cells<'_>,
        of: Of<'_>,
        sheet: &mut Sheet,
    ) -> Result<(), Fault> {
        let (head, tail) = around(get(cells, at));
        let (mean, in_cell) = self.quantity(at, head)?;
        let (metric, unit) = self.metric(cells, in_header, in_cell, sheet)?;
        let mut spread = None;
        if let Some(tail) = tail {
            let (half, _) = self.quantity(at, tail)?;
            let name = &self.header.names[at];
            let unsaid = "add --spread sd, se or ci95";
            let unsaid = || format!("nobody says what the \u{b1} in column '{name}' is; {unsaid}");
            let kind = self.options.spread.ok_or_else(unsaid)?;
            spread = Some(kind.spread(half.value, mean.value));
        }
        for (column, kind) in [
            (Column::Sd, SpreadKind::Sd),
            (Column::Se, SpreadKind::Se),
            (Column::Ci95, SpreadKind::Ci95),
        ] {
            if let Some((at, cell)) = self.present(&column, cells) {
                let (value, _) = self.quantity(at, cell)?;
                if value.value < 0.0 {
                    return Err(self.no_number(at, &format!("{cell}' (below zero)")));
                }
                spread = Some(kind.spread(value.value, mean.value));
            }
        }
        let n = self.count(cells)?.or(self.options.runs_behind);
        sheet.mean(of, &metric, &unit, Mean { mean, spread, n });
        Ok(())
    }

    /// The cell of a column, and which column that is, if there is anything in it.
    fn present<'c>(&self, column: &Column, cells: &Cells<'c>) -> Option<(usize, &'c str)> {
        let at = self.header.find(column)?;
        Some((at, get(cells, at))).filter(|(_, cell)| !ABSENT.contains(cell))
    }

    fn count(&self, cells: &Cells<'_>) -> Result<Option<u32>, Fault> {
        let Some((at, cell)) = self.present(&Column::Count, cells) else {
            return Ok(None);
        };
        let n = cell.parse::<u32>().ok().filter(|n| *n > 0);
        n.map(Some).ok_or_else(|| self.no_number(at, cell))
    }

    fn wide(&self, cells: &Cells<'_>, of: Of<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
        let mut row_of = None;
        let columns = self.header.columns.iter();
        let metrics = columns.filter(|column| matches!(column, Column::FiguresOf(_)));
        let alone = of.run.is_none() && of.order.is_none() && metrics.count() <= 1;
        for (at, column) in self.header.columns.iter().enumerate() {
            let cell = get(cells, at);
            if ABSENT.contains(&cell) {
                continue;
            }
            let (mut of, figure) = (of, self.quantity(at, cell));
            if cell.starts_with(['+', '-']) && cell.ends_with('%') && is_figure(column) {
                let name = &self.header.names[at];
                return Err(format!(
                    "column '{name}' holds changes, not figures; name it change"
                ));
            }
            let (metric, unit, number) = match column {
                Column::FiguresOf(metric) => {
                    let (number, in_cell) = figure?;
                    sheet.better(metric);
                    let unit = unit_of(&metric.unit, in_cell)?;
                    let name = Cow::Borrowed(metric.name.as_str());
                    (name, Cow::Borrowed(unit), number)
                }
                Column::Under(configuration) => {
                    let (number, in_cell) = figure?;
                    of.configuration = configuration;
                    let (metric, unit) = self.metric(cells, "", in_cell, sheet)?;
                    (metric, unit, number)
                }
                _ => continue,
            };
            if alone {
                sheet.single(of, &metric, &unit, number);
                continue;
            }
            // All metrics of a row are of one run.
            let run = match (column, row_of) {
                (Column::FiguresOf(_), Some(run)) => run,
                _ => sheet.run(of),
            };
            if matches!(column, Column::FiguresOf(_)) {
                row_of = Some(run);
            }
            sheet.figure(run, &metric, &unit, number, of.line)?;
        }
        Ok(())
    }
}

/// Returns the one unit that is given.
fn unit_of<'t>(said: &'t str, found: &'t str) -> Result<&'t str, Fault> {
    match (said, found) {
        (said, "") => Ok(said),
        ("", found) => Ok(found),
        (said, found) if said == found => Ok(said),
        _ => Err(units(said, found)),
    }
}

fn is_figure(column: &Column) -> bool {
    matches!(
        column,
        Column::Value(_) | Column::Mean(_) | Column::FiguresOf(_) | Column::Under(_)
    )
}

/// Splits a cell at its `±`.
pub(crate) fn around(cell: &str) -> (&str, Option<&str>) {
    for mark in ["\u{b1}", "+/-", "+-"] {
        if let Some((head, tail)) = cell.split_once(mark) {
            return (head.trim(), Some(tail.trim()));
        }
    }
    (cell, None)
}
