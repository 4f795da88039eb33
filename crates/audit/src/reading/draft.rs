//! Drafts a reading: the figures that were read, with their places, and the numbers that were not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use assize_bundle::Spread;
use serde::Serialize;

use super::forms;
use super::place::{cells, is_spread};
use crate::audit::Audit;
use crate::correspondence::is_correspondence;
use crate::grammar::list::LIST;
use crate::grammar::runs::RUNS;
use crate::grammar::units::is_measure;
use crate::group::item::UNNAMED;
use crate::line::Explained;
use crate::located::{Located, StandsFor, located};
use crate::numbers;

/// A number that no row claims.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unassigned {
    /// The number.
    pub value: f64,
    /// The unit behind it; empty if there is none that is known.
    pub unit: String,
    /// Its line, counted from 1.
    pub line: u32,
}

/// A reading that a person completes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    /// Its text.
    pub text: String,
    /// The numbers that no row claims.
    pub unassigned: Vec<Unassigned>,
}

/// A row of the draft.
pub(super) struct Row {
    pub(super) fields: [String; 3],
    pub(super) places: Vec<String>,
    /// What stands behind the places of means: their spread, their number.
    pub(super) behind: String,
    /// Whether the text shows in which order they were made.
    pub(super) in_order: bool,
}

/// Drafts a reading from what was read of a text; `?` marks what the user must fill in.
/// The configuration of a figure that `usual`, the audit without options, does not judge is a guess
/// and marked with `?` as well.
pub fn draft(text: &str, audit: &Audit, usual: &Audit) -> Draft {
    let in_order = !usual.records.order_unknown;
    let usual = located(usual).into_iter();
    let judged: BTreeSet<(u32, u64)> = usual
        .filter(|figure| figure.stands_for != StandsFor::Statement)
        .map(|figure| (figure.place.line, figure.value.to_bits()))
        .collect();
    let lines: Vec<&str> = text.lines().collect();
    let (tables, closed) = tables(audit, &lines);
    let mut claimed: BTreeSet<(u32, usize)> = BTreeSet::new();
    let mut rows: Vec<Row> = Vec::new();
    // Of runs in a row the name may be the configuration: see below.
    let located = located(audit);
    let reports = located
        .iter()
        .filter(|figure| figure.workload.as_deref() != Some(RUNS));
    for figure in reports {
        let mut free = claimed.clone();
        let Some(nth) = claim(&lines, figure, &mut free) else {
            continue;
        };
        let text = lines[figure.place.line as usize - 1];
        let (mut fields, mut place) = (fields(figure), place(text, figure.place.line, nth));
        let known = judged.contains(&(figure.place.line, figure.value.to_bits()));
        let known = known && fields[0] != "?";
        // A column of metrics is one row, which names its own rows: they are no repetitions.
        if let Some(column) = column(&tables, &lines, figure, nth)
            .filter(|_| !known && closed.contains(&figure.place.line))
        {
            fields[..2].clone_from_slice(&["?".to_owned(), "*".to_owned()]);
            place = column;
        } else if !known && tables.contains(&figure.place.line) {
            continue;
        } else if !known {
            let guesses = fields[..2].iter_mut().filter(|field| *field != "?");
            guesses.for_each(|field| field.push_str(" ?"));
        }
        claimed = free;
        let behind = behind(figure.stands_for, has_spread(text, nth));
        let same = |row: &&mut Row| {
            let column = fields[1] != "*" || row.places.contains(&place);
            row.fields == fields && row.behind == behind && column
        };
        match rows.iter_mut().find(same) {
            Some(row) if fields[1] != "*" => row.places.push(place),
            Some(_) => {}
            None => rows.push(Row {
                fields,
                places: vec![place],
                behind,
                in_order: known && in_order && matches!(figure.stands_for, StandsFor::Run(_)),
            }),
        }
    }
    guess_roles(&mut rows, &lines);
    let taken = taken(audit, &claimed);
    rows.extend(forms::rows(&lines, &taken, &mut claimed));
    written(rows, &lines, &claimed)
}

/// The lines of tables and lists, and those from which such lines reach to a blank line, as a column
/// of a reading does.
fn tables(audit: &Audit, lines: &[&str]) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let inside = |line: &&Explained| ["table", LIST].contains(&&*line.taken);
    let inside = audit.explained.iter().filter(inside);
    let tables: BTreeSet<u32> = inside.map(|line| line.place.line).collect();
    let (mut closed, mut ends) = (BTreeSet::new(), true);
    for (at, text) in lines.iter().enumerate().rev() {
        let line = at as u32 + 1;
        ends = text.trim().is_empty() || ends && tables.contains(&line);
        closed.extend(ends.then_some(line));
    }
    (tables, closed)
}

/// The lines of which a row has a number, headings, and what was read together with them.
fn taken(audit: &Audit, claimed: &BTreeSet<(u32, usize)>) -> BTreeSet<u32> {
    let mut taken: BTreeSet<u32> = claimed.iter().map(|(line, _)| *line).collect();
    let prose = |line: &Explained| ["prose", "blank", RUNS, LIST].contains(&&*line.taken);
    let blocks = audit
        .explained
        .chunk_by(|one, next| prose(one) == prose(next));
    for block in blocks.filter(|block| !prose(&block[0])) {
        let lines = block.iter().map(|line| line.place.line);
        if lines.clone().any(|line| taken.contains(&line)) {
            taken.extend(lines);
        }
    }
    let heading = audit
        .explained
        .iter()
        .filter(|line| line.taken == "heading");
    taken.extend(heading.map(|line| line.place.line));
    taken
}

/// Guesses what the columns and rows of each table are of which nothing says it: of two tables
/// with the same columns the headings are the configurations; of one, its columns if all are in
/// one unit, else its rows.
fn guess_roles(rows: &mut [Row], lines: &[&str]) {
    let open = |row: &Row| -> Option<u32> {
        let place = row.places.first()?.strip_prefix("table@")?;
        let line = place.split(' ').next()?.parse().ok()?;
        (row.fields[0] == "?").then_some(line)
    };
    let mut columns: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (at, row) in rows.iter().filter_map(|row| Some((open(row)?, row))) {
        columns.entry(at).or_default().push(row.fields[2].clone());
    }
    for (at, row) in rows.iter_mut().filter_map(|row| Some((open(row)?, row))) {
        let own = &columns[&at];
        let unit = |name: &str| {
            name.rsplit_once(" [")
                .map_or(String::new(), |(_, unit)| unit.to_owned())
        };
        let [_, _, metric] = row.fields.clone();
        row.fields = if columns.values().filter(|columns| *columns == own).count() > 1 {
            let heading = forms::heading(lines, at as usize - 1, &BTreeSet::new());
            [heading, "*".to_owned(), metric]
        } else if own.len() > 1 && own.iter().all(|name| unit(name) == unit(&metric)) {
            let name = metric.split(" [").next().unwrap_or_default();
            let unit = unit(&metric);
            [
                format!("{name} ?"),
                "*".to_owned(),
                forms::metric("value", unit.trim_end_matches(']')),
            ]
        } else {
            ["* ?".to_owned(), "?".to_owned(), metric]
        };
    }
}

/// What a reading says behind the place of a mean: `+- sd n=8`; nothing for other figures.
fn behind(stands_for: StandsFor, has_spread: bool) -> String {
    let StandsFor::Mean(spread, n) = stands_for else {
        return String::new();
    };
    let kind = match spread {
        Some(Spread::StandardDeviation(_)) => "sd",
        // Of what is not said the widest.
        _ => "se",
    };
    let n = n.map_or("?".to_owned(), |n| n.to_string());
    match has_spread {
        true => format!(" +- {kind} n={n}"),
        false => format!(" n={n}"),
    }
}

/// Whether a `±` stands behind a number of a line.
fn has_spread(text: &str, nth: usize) -> bool {
    let all = numbers::find(text);
    let pair = all.get(nth).zip(all.get(nth + 1));
    pair.is_some_and(|(one, next)| is_spread(&text[one.end..next.at]))
}

/// The text of the rows, and the numbers that are in none.
fn written(rows: Vec<Row>, lines: &[&str], claimed: &BTreeSet<(u32, usize)>) -> Draft {
    let mut draft = Draft {
        text: "# configuration | workload | metric [unit] <less|>more | place\n".to_owned(),
        unassigned: Vec::new(),
    };
    let repeated = rows.iter().any(|row| row.places.len() > 1);
    for row in rows {
        let [configuration, workload, metric] = &row.fields;
        let mut places = joined(&row.places) + &row.behind;
        if row.in_order && repeated {
            places.push_str(" in order");
        }
        let _ = writeln!(
            draft.text,
            "{configuration} | {workload} | {metric} | {places}"
        );
    }
    for (line, nth, one) in unclaimed(lines, claimed) {
        if draft.unassigned.is_empty() {
            draft.text.push_str("# in no row:\n");
        }
        let shown = format!("{} {}", one.value, one.unit);
        let _ = writeln!(
            draft.text,
            "#   {}: {}",
            place(lines[line as usize - 1], line, nth),
            shown.trim()
        );
        draft.unassigned.push(one);
    }
    draft
}

/// The column of a table in which a figure stands, `table@12 col 3`, if its header names the metric.
fn column(tables: &BTreeSet<u32>, lines: &[&str], figure: &Located, nth: usize) -> Option<String> {
    let line = figure.place.line;
    let inside = (1..=line).rev().take_while(|at| tables.contains(at));
    let header = inside.last()?;
    let text = lines[line as usize - 1];
    let at = numbers::find(text).get(nth)?.at;
    let begins = |cell: &str| cell.as_ptr() as usize - text.as_ptr() as usize;
    let all = cells(text);
    let column = all.iter().rposition(|cell| begins(cell) <= at)?;
    let names = cells(lines[header as usize - 1]);
    // Nothing may stand above the names of the rows.
    let name = names.get((names.len() + column).checked_sub(all.len())?)?;
    let named = name.starts_with(&figure.metric);
    (column > 0 && named).then(|| format!("table@{header} col {}", column + 1))
}

/// Claims the number on the line that equals the figure; returns its index in the line.
fn claim(lines: &[&str], figure: &Located, claimed: &mut BTreeSet<(u32, usize)>) -> Option<usize> {
    let line = figure.place.line;
    let text = lines.get((line as usize).checked_sub(1)?)?;
    let same = |value: f64| (value - figure.value).abs() <= 1e-9 * figure.value.abs();
    let all = numbers::find(text).into_iter().enumerate();
    let fitting =
        all.filter(|(nth, one)| same(one.number.value) && !claimed.contains(&(line, *nth)));
    let fitting: Vec<(usize, usize)> = fitting.map(|(nth, one)| (nth, one.at)).collect();
    // Of equal numbers that behind the metric's name: `Act: 6 Avg: 6`.
    let named = |(_, at): &&(usize, usize)| {
        let word = text[..*at]
            .split_whitespace()
            .next_back()
            .unwrap_or_default();
        let word = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        figure
            .metric
            .to_lowercase()
            .split(' ')
            .any(|own| own == word)
    };
    let (nth, _) = *fitting.iter().find(named).or(fitting.first())?;
    claimed.insert((line, nth));
    Some(nth)
}

fn fields(figure: &Located) -> [String; 3] {
    let open = || "?".to_owned();
    // A line that begins with `#` is a comment.
    let plain = |name: &String| {
        name.replace('|', "/")
            .trim_start_matches(['#', ' '])
            .to_owned()
    };
    let known = figure
        .configuration
        .as_ref()
        .filter(|name| *name != UNNAMED);
    let metric = match figure.unit.as_str() {
        "" => plain(&figure.metric),
        unit => format!("{} [{unit}]", plain(&figure.metric)),
    };
    let workload = figure.workload.as_ref().map_or_else(open, plain);
    [known.map_or_else(open, plain), workload, metric]
}

pub(super) fn place(text: &str, line: u32, nth: usize) -> String {
    match numbers::find(text).len() {
        1 => line.to_string(),
        _ => format!("{line}.{}", nth + 1),
    }
}

/// Places, with lines that follow each other as a range.
fn joined(places: &[String]) -> String {
    let parts = |place: &String| {
        let (line, nth) = place.split_once('.').unwrap_or((place, ""));
        (line.parse::<u32>().unwrap_or(0), nth.to_owned())
    };
    if places.iter().any(|place| place.starts_with("table@")) {
        return places.join(", ");
    }
    let mut ranges: Vec<(u32, u32, String)> = Vec::new();
    for (line, nth) in places.iter().map(parts) {
        match ranges.last_mut() {
            Some((_, to, last)) if *last == nth && *to + 1 == line => *to = line,
            _ => ranges.push((line, line, nth)),
        }
    }
    let shown = ranges.iter().map(|(from, to, nth)| {
        let lines = match from == to {
            true => from.to_string(),
            false => format!("{from}-{to}"),
        };
        match nth.as_str() {
            "" => lines,
            nth => format!("{lines}.{nth}"),
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The numbers that no row claims, each with its line and which of its numbers it is.
fn unclaimed(lines: &[&str], claimed: &BTreeSet<(u32, usize)>) -> Vec<(u32, usize, Unassigned)> {
    let mut all = Vec::new();
    for (text, line) in lines.iter().zip(1..) {
        for (nth, one) in numbers::find(text).into_iter().enumerate() {
            if !claimed.contains(&(line, nth)) {
                let unassigned = Unassigned {
                    value: one.number.value,
                    unit: one.unit.to_owned(),
                    line,
                };
                all.push((line, nth, unassigned));
            }
        }
    }
    all
}

/// The lines of a text, as far as numbers in them may be figures: no code, commands, attributions
/// and trailers.
fn printing(audit: &Audit) -> Vec<&str> {
    let last = audit.explained.iter().map(|line| line.place.line).max();
    let mut lines = vec![""; last.unwrap_or(0) as usize];
    for line in &audit.explained {
        let asked = matches!(
            line.taken.as_str(),
            "prose" | "heading" | "table" | "doubt in prose" | RUNS | LIST
        );
        if let Some(place) = lines.get_mut((line.place.line as usize).wrapping_sub(1))
            && asked
            && !is_correspondence(&line.text)
        {
            *place = &line.text;
        }
    }
    lines
}

/// The numbers of a text, read with [`explain`](crate::Options::explain), that belong to no figure,
/// except those in code, commands, attributions and trailers.
pub fn unassigned(audit: &Audit) -> Vec<Unassigned> {
    let lines = printing(audit);
    let mut claimed = BTreeSet::new();
    for figure in located(audit) {
        claim(&lines, &figure, &mut claimed);
    }
    let all = unclaimed(&lines, &claimed).into_iter();
    all.map(|(.., one)| one).collect()
}

/// The line of each figure that is not compared, in lines of which none is: of those that are
/// stated, and of other numbers that look measured.
pub fn left_out(audit: &Audit) -> Vec<u32> {
    let (mut compared, mut stated) = (BTreeSet::new(), BTreeMap::<u32, usize>::new());
    for figure in located(audit) {
        match figure.stands_for {
            StandsFor::Statement => *stated.entry(figure.place.line).or_default() += 1,
            _ => compared.extend([figure.place.line]),
        }
    }
    let lines = printing(audit).into_iter().zip(1..);
    let count = |(text, line)| {
        let shown = stated.get(&line).copied().unwrap_or_else(|| measured(text));
        vec![line; if compared.contains(&line) { 0 } else { shown }]
    };
    lines.flat_map(count).collect()
}

/// How many numbers of a line look measured: those with a unit, or all if they outnumber the words or
/// one with a fraction ends the line behind a gap or a sign.
fn measured(text: &str) -> usize {
    let all = numbers::find(text);
    let Some(last) = all.last() else { return 0 };
    let words = text.split(|c: char| !c.is_alphabetic());
    let words = words.filter(|word| !word.is_empty()).count();
    let fraction = all.iter().any(|one| one.number.value.fract() != 0.0);
    let name = text[..last.at].trim_start();
    let parted = [":", "=", "|", "\t", "  "]
        .iter()
        .any(|sign| name.contains(sign));
    let rest = text[last.end..].trim_end_matches([' ', '|', ')', '*']);
    if all.len() > words.max(1) || fraction && (words == 0 || rest.is_empty() && parted) {
        return all.len();
    }
    let unit = |one: &&numbers::Printed<'_>| is_measure(one.unit) || one.unit == "%";
    all.iter().filter(unit).count()
}
