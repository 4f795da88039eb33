//! Extracts the figures of a text from the places that a reading gives.

use std::collections::BTreeMap;

use super::parse::{Reading, Row, Subject};
use super::place::{Item, Nth, Place, cells, is_spread, name_before};
use crate::declared::arithmetic;
use crate::declared::changes::{Kind, Printed as Change};
use crate::declared::error::{Error, Fault};
use crate::declared::input::Declared;
use crate::declared::sheet::{Mean, Of, Sheet};
use crate::grammar::number::Number;
use crate::grammar::units::is_time;
use crate::numbers::{self, Printed, same_unit};

/// A number of the text and where it stands.
#[derive(Debug, Clone)]
struct Taken<'t> {
    printed: Printed<'t>,
    line: u32,
    /// The name of its row, in a table.
    row: Option<&'t str>,
    /// The cells of its row, or the name in its line, before all figures.
    before: Vec<&'t str>,
    /// All of the line before the first number that the reading takes.
    whole: &'t str,
}

/// Takes the figures from the places of a text, and checks each place; `source` is the
/// name of the text.
///
/// # Errors
/// A place without a number, a number in two rows, a unit that the text contradicts, a
/// printed mean that does not follow: the row, and how to mend it.
pub fn judge(text: &str, source: &str, reading: &Reading) -> Result<Declared, Error> {
    let mut post = Post {
        lines: text.lines().collect(),
        claimed: BTreeMap::new(),
        first_columns: first_columns(reading),
        first_numbers: BTreeMap::new(),
    };
    post.note_first_numbers(reading);
    let mut sheet = Sheet::default();
    let is_change = |row: &&Row| matches!(row.of, Subject::Change(..));
    let (changes, figures): (Vec<&Row>, Vec<&Row>) = reading.rows.iter().partition(is_change);
    for row in figures.into_iter().chain(changes) {
        let done = match &row.of {
            Subject::Change(of, to) => note_change(row, [of, to], &mut post, &mut sheet),
            _ => add(row, &mut post, &mut sheet),
        };
        done.map_err(|fault| located(reading, row, fault))?;
    }
    let only_changes = sheet.configurations() == 0 && !sheet.changes.is_empty();
    if sheet.configurations() < 2 && !only_changes {
        let fault = "names one configuration; add a row of the one to compare it with".to_owned();
        return Err(Error::whole(&reading.source, fault));
    }
    Ok(sheet.finish(source, "reading"))
}

/// The first column of each table of which a reading takes figures, by the table's line.
fn first_columns(reading: &Reading) -> BTreeMap<u32, usize> {
    let mut first = BTreeMap::new();
    for item in reading.rows.iter().flat_map(|row| &row.place.items) {
        if let Item::Column { line, column } = *item {
            let known = first.entry(line).or_insert(column);
            *known = column.min(*known);
        }
    }
    first
}

fn located(reading: &Reading, row: &Row, fault: Fault) -> Error {
    match row.line {
        Some(line) => Error::at(&reading.source, line, fault),
        None => Error::whole(&reading.source, fault),
    }
}

/// The workload of a figure: for `*` the cells of its row before the figures.
fn workload(row: &Row, one: &Taken<'_>) -> String {
    match row.workload.as_str() {
        "*" if !one.before.is_empty() => one.before.join(" "),
        name => name.to_owned(),
    }
}

fn add<'t>(row: &Row, post: &mut Post<'t>, sheet: &mut Sheet) -> Result<(), Fault> {
    let place = &row.place;
    let taken = post.all(place, row)?;
    let mut beside = |item: Option<&Item>, what: &str| {
        let found = item.map(|item| match item {
            Item::Behind => post.behind(&taken, row),
            item => equally_many(post.take(item, row)?, &taken, what),
        });
        found.transpose()
    };
    let spreads = beside(place.spread.as_ref().map(|(item, _)| item), "spreads")?;
    let orders = beside(place.order.as_ref(), "positions")?;
    sheet.better(&row.metric);
    for (at, one) in taken.iter().enumerate() {
        let unit = unit_of(row, one)?;
        if row.workload == "*" && one.before.is_empty() {
            return Err(format!(
                "the workload is '*', and no name stands before the figures in line {}; name it",
                one.line
            ));
        }
        let of = Of {
            configuration: name(row, one)?,
            workload: &workload(row, one),
            run: None,
            order: match &orders {
                Some(all) => Some(all[at].printed.number.value),
                None => place
                    .in_order
                    .then(|| f64::from(one.line) + 1e-6 * one.printed.at as f64),
            },
            line: one.line,
        };
        let number = one.printed.number;
        if place.is_mean {
            let spread = place.spread.as_ref().zip(spreads.as_ref());
            let spread = spread.map(|((_, kind), all)| {
                let printed = all[at].printed;
                let share = match printed.unit {
                    "%" => number.value.abs() / 100.0,
                    _ => 1.0,
                };
                kind.spread(share * printed.number.value, number.value)
            });
            let n = place.n;
            let mean = number;
            sheet.mean(of, &row.metric.name, unit, Mean { mean, spread, n });
        } else {
            let run = sheet.run(of);
            sheet.figure(run, &row.metric.name, unit, number, one.line)?;
        }
    }
    printed_mean(row, post, &taken)
}

fn name<'r>(row: &'r Row, one: &Taken<'r>) -> Result<&'r str, Fault> {
    match (&row.of, one.row) {
        (Subject::Configuration(name), _) => Ok(name),
        (_, Some(name)) => Ok(name),
        _ => {
            Err("the configuration is '*', which only a column of a table has; name it".to_owned())
        }
    }
}

/// Fails if a printed mean does not match the row's numbers: then a place is wrong.
fn printed_mean<'t>(row: &Row, post: &mut Post<'t>, taken: &[Taken<'t>]) -> Result<(), Fault> {
    let Some(item) = &row.place.mean else {
        return Ok(());
    };
    let printed = post.take(item, row)?;
    let numbers: Vec<Number> = taken.iter().map(|one| one.printed.number).collect();
    for one in printed {
        let Some((mean, rounding)) = arithmetic::mean(&numbers) else {
            continue;
        };
        if !arithmetic::agrees(one.printed.number, mean, rounding) {
            return Err(format!(
                "line {} prints the mean {} and the {} numbers of this row have {mean:.6}; correct \
                 the place, or leave 'mean' out",
                one.line,
                one.printed.number.value,
                numbers.len()
            ));
        }
    }
    Ok(())
}

/// Notes the printed changes of one configuration to another.
fn note_change(
    row: &Row,
    [of, to]: [&String; 2],
    post: &mut Post<'_>,
    sheet: &mut Sheet,
) -> Result<(), Fault> {
    for one in post.all(&row.place, row)? {
        let percent = one.printed.unit == "%" || row.metric.unit == "%";
        sheet.changes.push(Change {
            configuration: of.clone(),
            to: Some(to.clone()),
            workload: workload(row, &one),
            metric: row.metric.name.clone(),
            line: one.line,
            number: one.printed.number,
            kind: Some(if percent { Kind::Percent } else { Kind::Ratio }),
        });
    }
    Ok(())
}

fn equally_many<'t>(
    found: Vec<Taken<'t>>,
    of: &[Taken<'t>],
    what: &str,
) -> Result<Vec<Taken<'t>>, Fault> {
    if found.len() == of.len() {
        return Ok(found);
    }
    Err(format!(
        "has {} numbers and {} {what}; give each number one",
        of.len(),
        found.len()
    ))
}

/// Returns the unit that the row gives, or else the one in the text.
fn unit_of<'r>(row: &'r Row, one: &Taken<'r>) -> Result<&'r str, Fault> {
    let (said, found) = (row.metric.unit.as_str(), one.printed.unit);
    if said.is_empty() {
        return Ok(found);
    }
    // `min` may be the minimum.
    let is_least = found == "min" && !is_time(said);
    // `ns/op` is read as nanoseconds.
    let numerator = found.split_once('/').map_or(found, |(one, _)| one);
    if found.is_empty() || is_least || same_unit(said, found) || same_unit(said, numerator) {
        return Ok(said);
    }
    Err(format!(
        "the unit is {said}, and line {} says {found}; correct the metric or the place",
        one.line
    ))
}

/// The text, and which of its numbers are taken.
struct Post<'t> {
    lines: Vec<&'t str>,
    /// The row that takes each number, by the number's line and offset.
    claimed: BTreeMap<(u32, usize), Option<u32>>,
    first_columns: BTreeMap<u32, usize>,
    /// Where in its line the first number begins that the reading takes.
    first_numbers: BTreeMap<u32, usize>,
}

impl<'t> Post<'t> {
    fn all(&mut self, place: &Place, row: &Row) -> Result<Vec<Taken<'t>>, Fault> {
        let mut all = Vec::new();
        for item in &place.items {
            let taken = self.take(item, row)?;
            of_one_thing(row, &taken)?;
            all.extend(taken);
        }
        Ok(all)
    }

    fn take(&mut self, item: &Item, row: &Row) -> Result<Vec<Taken<'t>>, Fault> {
        let found = match *item {
            Item::Lines { from, to, nth } => self.of_lines(from, to, nth)?,
            Item::Column { line, column } => self.of_column(line, column)?,
            Item::Behind => Vec::new(),
        };
        self.claim(&found, row)?;
        Ok(found)
    }

    fn claim(&mut self, found: &[Taken<'t>], row: &Row) -> Result<(), Fault> {
        for one in found {
            let place = (one.line, one.printed.at);
            if let Some(first) = self.claimed.insert(place, row.line) {
                let by = first.map_or_else(String::new, |row| format!(" by row {row}"));
                return Err(format!(
                    "line {}: {} is taken already{by}; a number has one role",
                    one.line, one.printed.number.value
                ));
            }
        }
        Ok(())
    }

    /// The number behind each of `taken` and a `±`.
    fn behind(&mut self, taken: &[Taken<'t>], row: &Row) -> Result<Vec<Taken<'t>>, Fault> {
        let spread = |one: &Taken<'t>| {
            let (text, number) = (self.line(one.line)?, one.printed.number.value);
            let mut all = numbers::find(text).into_iter();
            let next = all.find(|other| other.at > one.printed.at);
            let marked = next.filter(|next| is_spread(&text[one.printed.end..next.at]));
            let missing = || {
                format!(
                    "line {} has no +- behind {number}; give its place",
                    one.line
                )
            };
            let printed = marked.ok_or_else(missing)?;
            Ok(Taken {
                printed,
                ..one.clone()
            })
        };
        let found: Vec<Taken<'t>> = taken.iter().map(spread).collect::<Result<_, Fault>>()?;
        self.claim(&found, row)?;
        Ok(found)
    }

    fn note_first_numbers(&mut self, reading: &Reading) {
        for item in reading.rows.iter().flat_map(|row| &row.place.items) {
            let Item::Lines { from, to, nth } = *item else {
                continue;
            };
            let nth = if let Nth::Th(k) = nth { k - 1 } else { 0 };
            for (text, at) in self.lines.iter().zip(1..=to).skip(from as usize - 1) {
                if let Some(one) = numbers::find(text).get(nth) {
                    let first = self.first_numbers.entry(at).or_insert(one.at);
                    *first = one.at.min(*first);
                }
            }
        }
    }

    fn line(&self, at: u32) -> Result<&'t str, Fault> {
        let line = self.lines.get(at as usize - 1).copied();
        line.ok_or_else(|| {
            format!(
                "line {at} is beyond the end of the text, which has {} lines; correct the place",
                self.lines.len()
            )
        })
    }

    fn of_lines(&self, from: u32, to: u32, nth: Nth) -> Result<Vec<Taken<'t>>, Fault> {
        let mut all = Vec::new();
        for at in from..=to {
            let line = self.line(at)?;
            let printed = numbers::find(line);
            let count = printed.len();
            let taken = match nth {
                Nth::All if count > 0 => printed,
                Nth::Th(k) if k <= count => vec![printed[k - 1]],
                Nth::Only if count == 1 => printed,
                _ => {
                    let shown: String = line.trim().chars().take(40).collect();
                    let mend = match nth {
                        Nth::Only if count > 1 => {
                            format!("say which: {at}.1 to {at}.{count}, or {at}.* for all")
                        }
                        _ => "correct the place".to_owned(),
                    };
                    return Err(format!("line {at} has {count} numbers ('{shown}'); {mend}"));
                }
            };
            let first = self.first_numbers.get(&at).copied().unwrap_or_default();
            // Numbers alone name a row too: `262400 16384 8`.
            let own = Some(line[..first].trim()).filter(|own| !own.is_empty());
            let measured = numbers::find(line)
                .into_iter()
                .find(Printed::looks_measured);
            let figures = measured.map_or(first, |one| one.at.min(first));
            let name = name_before(&self.lines, at, figures).or(own);
            all.extend(taken.into_iter().map(|printed| Taken {
                printed,
                line: at,
                row: None,
                before: name.into_iter().collect(),
                whole: line[..first].trim(),
            }));
        }
        Ok(all)
    }

    /// The numbers in a column of the rows from `line` to the next blank line. Rows above the first
    /// number are a header.
    fn of_column(&self, line: u32, column: usize) -> Result<Vec<Taken<'t>>, Fault> {
        self.line(line)?;
        let mut all: Vec<Taken<'t>> = Vec::new();
        let named = self.first_columns.get(&line).map_or(column, |first| *first) - 1;
        let is_figure = |cell: &&str| numbers::find(cell).iter().any(Printed::looks_measured);
        let rows = self.lines.iter().zip(1..).skip(line as usize - 1);
        for (text, at) in rows.take_while(|(text, _)| !text.trim().is_empty()) {
            let cells = cells(text);
            let cell = cells.get(column - 1).copied().unwrap_or_default();
            let first = numbers::find(cell).into_iter().next();
            let Some(printed) = first else {
                let rule = !text.chars().any(char::is_alphanumeric);
                if all.is_empty() || rule {
                    continue;
                }
                return Err(format!(
                    "line {at} has no number in column {column}; end the table with a blank \
                     line, or name its lines"
                ));
            };
            let place = |cell: &str| cell.as_ptr() as usize - text.as_ptr() as usize;
            let mut before: Vec<&str> = cells.iter().take(named).copied().collect();
            if !before.iter().all(is_figure) {
                before.retain(|cell| !is_figure(cell));
            }
            all.push(Taken {
                printed: Printed {
                    at: place(cell) + printed.at,
                    ..printed
                },
                line: at,
                row: cells.first().copied().filter(|_| column > 1),
                before,
                whole: cells
                    .get(named)
                    .map_or(*text, |cell| &text[..place(cell)])
                    .trim(),
            });
        }
        if all.is_empty() {
            return Err(format!(
                "the table at line {line} has no number in column {column}; correct the place"
            ));
        }
        Ok(all)
    }
}

/// Fails if the lines of a range or the rows of a column have several names, which do not count
/// runs as `run 1` and `run 2` do, and the reading gives them one workload; and if numbers that may
/// be figures or names tell rows apart.
fn of_one_thing(row: &Row, taken: &[Taken<'_>]) -> Result<(), Fault> {
    let name = |one: &Taken<'_>| one.row.map_or_else(|| one.before.join(" "), str::to_owned);
    let names: Vec<String> = taken.iter().map(name).collect();
    // The words before the first number, and this if it may count: `done in 40.09s` does not.
    let parts = |name: &'_ String| -> (String, Option<f64>) {
        let first = numbers::find(name).into_iter().next();
        let words = &name[..first.map_or(name.len(), |one| one.at)];
        let count = first.filter(|one| one.unit.is_empty() && one.number.value.fract() == 0.0);
        (words.to_lowercase(), count.map(|one| one.number.value))
    };
    let several = |pair: &[String]| {
        let [(words, count), (others, next)] = [parts(&pair[0]), parts(&pair[1])];
        words != others || pair[0] != pair[1] && count.is_some() && count.map(|n| n + 1.0) != next
    };
    let mut met: BTreeMap<String, &str> = BTreeMap::new();
    for one in taken.iter().filter(|_| row.workload == "*") {
        let first = *met.entry(one.before.join(" ")).or_insert(one.whole);
        if !first.split_whitespace().eq(one.whole.split_whitespace()) {
            return Err(format!(
                "'{first}' and '{}' would be runs of one workload; name their workloads",
                one.whole
            ));
        }
    }
    let one_workload = matches!(row.of, Subject::Configuration(_)) && row.workload != "*";
    let Some(pair) = names.windows(2).find(|pair| one_workload && several(pair)) else {
        return Ok(());
    };
    Err(format!(
        "'{}' and '{}' would be runs of one workload; write '*' for it, or list the lines of runs",
        pair[0], pair[1]
    ))
}
