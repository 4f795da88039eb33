//! Drafts a reading: the figures that were read, with their places, and the numbers that were not.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;

use super::apply::cells;
use crate::audit::Audit;
use crate::grammar::list::LIST;
use crate::grammar::runs::{RUNS, behind_name};
use crate::grammar::units::is_measure;
use crate::group::item::UNNAMED;
use crate::located::{Located, StandsFor, located};
use crate::numbers;
use crate::scan::is_correspondence;

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
struct Row {
    fields: [String; 3],
    places: Vec<String>,
    /// Whether its figures are means, of an unknown number of runs.
    mean: bool,
    /// Whether the text shows in which order they were made.
    in_order: bool,
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
    let in_table = audit
        .explained
        .iter()
        .filter(|line| ["table", LIST].contains(&&*line.taken));
    let tables: BTreeSet<u32> = in_table.map(|line| line.place.line).collect();
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
        let (mut fields, mut place) = (fields(figure), place(&lines, figure.place.line, nth));
        let mean = figure.stands_for == StandsFor::Mean;
        let known = judged.contains(&(figure.place.line, figure.value.to_bits()));
        let known = known && fields[0] != "?";
        // A column of metrics is one row, which names its own rows: they are no repetitions.
        if let Some(column) = column(&tables, &lines, figure, nth).filter(|_| !known) {
            fields[..2].clone_from_slice(&["?".to_owned(), "*".to_owned()]);
            place = column;
        } else if !known && tables.contains(&figure.place.line) {
            continue;
        } else if !known {
            let guesses = fields[..2].iter_mut().filter(|field| *field != "?");
            guesses.for_each(|field| field.push_str(" ?"));
        }
        claimed = free;
        let same = |row: &&mut Row| {
            let column = fields[1] != "*" || row.places.contains(&place);
            row.fields == fields && row.mean == mean && column
        };
        match rows.iter_mut().find(same) {
            Some(row) if fields[1] != "*" => row.places.push(place),
            Some(_) => {}
            None => rows.push(Row {
                fields,
                places: vec![place],
                mean,
                in_order: known && in_order && !mean,
            }),
        }
    }
    rows.extend(behind_names(&lines, &mut claimed));
    rows.extend(lone(&lines, &mut claimed));
    written(rows, &lines, claimed)
}

/// Where nothing else is drafted, each number that looks measured: with such a unit or a fraction.
fn measured(lines: &[&str], claimed: &mut BTreeSet<(u32, usize)>) -> Vec<Row> {
    let mut all = unclaimed(lines, claimed);
    all.retain(|(.., one)| {
        is_measure(&one.unit) || one.unit.is_empty() && one.value.fract() != 0.0
    });
    claimed.extend(all.iter().map(|(line, nth, _)| (*line, *nth)));
    let row = |(line, nth, one): &(u32, usize, Unassigned)| Row {
        fields: [
            "?".to_owned(),
            "?".to_owned(),
            format!("? [{}]", one.unit).replace(" []", ""),
        ],
        places: vec![place(lines, *line, *nth)],
        mean: false,
        in_order: false,
    };
    all.iter().map(row).collect()
}

/// The text of the rows, and the numbers that are in none.
fn written(mut rows: Vec<Row>, lines: &[&str], mut claimed: BTreeSet<(u32, usize)>) -> Draft {
    if rows.is_empty() {
        rows = measured(lines, &mut claimed);
    }
    let mut draft = Draft {
        text: "# configuration | workload | metric [unit] <less|>more | place\n".to_owned(),
        unassigned: Vec::new(),
    };
    let repeated = rows.iter().any(|row| row.places.len() > 1);
    for row in rows {
        let [configuration, workload, metric] = &row.fields;
        let mut places = joined(&row.places);
        if row.mean {
            places.push_str(" n=?");
        }
        if row.in_order && repeated {
            places.push_str(" in order");
        }
        let _ = writeln!(
            draft.text,
            "{configuration} | {workload} | {metric} | {places}"
        );
    }
    for (line, nth, one) in unclaimed(lines, &claimed) {
        if draft.unassigned.is_empty() {
            draft.text.push_str("# in no row:\n");
        }
        let shown = format!("{} {}", one.value, one.unit);
        let _ = writeln!(
            draft.text,
            "#   {}: {}",
            place(lines, line, nth),
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
    let at = numbers::of(text).get(nth)?.at;
    let begins = |cell: &str| cell.as_ptr() as usize - text.as_ptr() as usize;
    let all = cells(text);
    let column = all.iter().rposition(|cell| begins(cell) <= at)?;
    let names = cells(lines[header as usize - 1]);
    let named = names.get(column)?.starts_with(&figure.metric);
    (column > 0 && named).then(|| format!("table@{header} col {}", column + 1))
}

/// Claims the number on the line that equals the figure; returns its index in the line.
fn claim(lines: &[&str], figure: &Located, claimed: &mut BTreeSet<(u32, usize)>) -> Option<usize> {
    let line = figure.place.line;
    let text = lines.get((line as usize).checked_sub(1)?)?;
    let same = |value: f64| (value - figure.value).abs() <= 1e-9 * figure.value.abs();
    let all = numbers::of(text).into_iter().enumerate();
    let mut fitting = all.filter(|(_, one)| same(one.number.value));
    let (nth, _) = fitting.find(|(nth, _)| !claimed.contains(&(line, *nth)))?;
    claimed.insert((line, nth));
    Some(nth)
}

fn fields(figure: &Located) -> [String; 3] {
    let open = || "?".to_owned();
    let plain = |name: &String| name.replace('|', "/");
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

fn place(lines: &[&str], line: u32, nth: usize) -> String {
    let text = lines.get(line as usize - 1).copied().unwrap_or_default();
    match numbers::of(text).len() {
        1 => line.to_string(),
        _ => format!("{line}.{}", nth + 1),
    }
}

/// Rows for numbers after a name, `patched: 2.88s 2.91s 2.85s`, which may be its runs.
fn behind_names(lines: &[&str], claimed: &mut BTreeSet<(u32, usize)>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (text, line) in lines.iter().zip(1..) {
        let Some((name, all)) = behind_name(text) else {
            continue;
        };
        let places = (0..all.len()).map(|nth| (line, nth));
        if places.clone().any(|place| claimed.contains(&place)) {
            continue;
        }
        claimed.extend(places);
        let metric = match all[0].unit {
            "" => "?".to_owned(),
            unit => format!("? [{unit}]"),
        };
        rows.push(Row {
            fields: [name.replace('|', "/"), "?".to_owned(), metric],
            places: vec![format!("{line}.*")],
            mean: false,
            in_order: false,
        });
    }
    rows
}

/// Rows for consecutive lines with one number each, which may be runs. Lines share a row only if
/// the text before their numbers is the same.
fn lone(lines: &[&str], claimed: &mut BTreeSet<(u32, usize)>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut run: Vec<(u32, &str)> = Vec::new();
    let numbered = lines.iter().copied().chain([""]).zip(1..);
    for (text, at) in numbered {
        if let [only] = numbers::of(text)[..]
            && !claimed.contains(&(at, 0))
        {
            run.push((at, text[..only.at].trim()));
            continue;
        }
        if run.len() > 1 {
            claimed.extend(run.iter().map(|(line, _)| (*line, 0)));
            for same in run.chunk_by(|(_, one), (_, other)| one == other) {
                let name = same[0].1.trim_end_matches([':', '=']).trim_end();
                let is_name = name.len() < same[0].1.len() && !name.is_empty();
                let name = if is_name { name } else { "?" };
                rows.push(Row {
                    fields: [&name.replace('|', "/"), "?", "?"].map(str::to_owned),
                    places: same.iter().map(|(line, _)| line.to_string()).collect(),
                    mean: false,
                    in_order: false,
                });
            }
        }
        run.clear();
    }
    rows
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
        for (nth, one) in numbers::of(text).into_iter().enumerate() {
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

/// The numbers of a text, read with [`explain`](crate::Options::explain), that belong to no figure,
/// except those in code, commands, attributions and trailers.
pub fn unassigned(audit: &Audit) -> Vec<Unassigned> {
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
    let mut claimed = BTreeSet::new();
    for figure in located(audit) {
        claim(&lines, &figure, &mut claimed);
    }
    unclaimed(&lines, &claimed)
        .into_iter()
        .map(|(.., one)| one)
        .collect()
}
