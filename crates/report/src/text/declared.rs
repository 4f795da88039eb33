//! The tables declared in the experiment.

use assize_verdict::{Document, Relation, Table, TableCell, TableRow};
use unicode_width::UnicodeWidthStr;

use super::DIFFERENCE;
use super::grid::{CellWeight, TextCell, TextGrid};
use super::tables::weight;
use crate::contrasts::verdict_mark;
use crate::number::{interval_within, narrow, ratio, short, signed, significant};
use crate::style::Style;
use crate::wrap::push_wrapped;

/// The width of a column, including the blank at its end.
pub(super) const COLUMN: usize = 15;

/// Prints each table, and how to read it.
pub(super) fn tables(document: &Document, style: Style, out: &mut String) {
    for table in &document.tables {
        push_wrapped(out, "", "  ", &title(table));
        if table
            .rows
            .iter()
            .flat_map(|row| &row.cells)
            .any(is_measured)
        {
            grid(table).draw(style, out);
        }
        for note in notes(table) {
            push_wrapped(out, "  ", "    ", &note);
        }
        out.push('\n');
    }
    legend(document, out);
}

fn is_measured(cell: &TableCell) -> bool {
    cell.median.is_some() || cell.normalised.is_some() || cell.relative.is_some()
}

fn title(table: &Table) -> String {
    let unit = match table.unit.as_str() {
        "" => String::new(),
        unit => format!(" in {unit}"),
    };
    let runs = match runs_of_all(table) {
        Some(n) => format!(" (n = {n})"),
        None => String::new(),
    };
    match &table.normalised_to {
        Some(one) => format!(
            "{}: median{unit} on {one}; other columns normalised to {one} of the same configuration{runs}",
            table.metric
        ),
        None => format!("{}: median{unit}{runs}", table.metric),
    }
}

/// A value with its unit, if there is room for it.
pub(super) fn value_and_unit(value: f64, unit: &str) -> String {
    let value = narrow(value, |value| significant(value, 4));
    let together = format!("{value} {unit}");
    if together.width() < COLUMN {
        together.trim_end().to_owned()
    } else {
        value
    }
}

/// A ratio, or `d` and a difference.
pub(super) fn effect(of: Option<f64>, difference: Option<f64>) -> String {
    match (of, difference) {
        (Some(value), _) => narrow(value, ratio),
        (None, Some(difference)) => format!("d {}", narrow(difference, signed)),
        (None, None) => "-".to_owned(),
    }
}

/// The effect and the mark of its verdict.
pub(super) fn marked_effect(relation: &Relation) -> String {
    let verdict = relation.verdict.map_or("", verdict_mark);
    let value = effect(relation.ratio, relation.difference);
    format!("{value} {verdict}").trim_end().to_owned()
}

/// The interval of the effect.
pub(super) fn effect_interval(relation: &Relation) -> Option<String> {
    Some(match (relation.ci?, relation.ratio) {
        (ci, Some(_)) => interval_within(COLUMN - 1, ci, ratio),
        (ci, None) => interval_within(COLUMN - 1, ci, |value| significant(value, 2)),
    })
}

/// Whether the effect is a difference, which the legend has to explain.
pub(super) fn has_difference(relation: &Option<Relation>) -> bool {
    relation
        .as_ref()
        .is_some_and(|relation| relation.difference.is_some())
}

/// The number of runs behind every figure, if it is the same for all.
fn runs_of_all(table: &Table) -> Option<u32> {
    let cells = || table.rows.iter().flat_map(|row| &row.cells);
    let first = cells().next()?.n;
    let same = |relation: &Relation| relation.n.zip(relation.n_baseline) == Some((first, first));
    let all = cells().all(|cell| {
        let relations = [&cell.normalised, &cell.relative];
        cell.n == first && relations.into_iter().flatten().all(same)
    });
    Some(first).filter(|&n| all && n > 0)
}

fn grid(table: &Table) -> TextGrid {
    let show_n = runs_of_all(table).is_none();
    let mut grid = TextGrid {
        heads: table.workloads.clone(),
        column: COLUMN,
        ..TextGrid::default()
    };
    for row in &table.rows {
        let own = row.cells.iter().map(|cell| own_value(table, cell, show_n));
        grid.rows.push((row.configuration.clone(), own.collect()));
        if let Some(baseline) = &row.baseline {
            let relative = row.cells.iter().map(|cell| match &cell.relative {
                Some(relation) => related_cell(relation, show_n),
                None => TextCell::missing(),
            });
            grid.rows
                .push((format!("  to {baseline}"), relative.collect()));
        }
    }
    grid
}

/// The median, or the ratio to the reference column.
fn own_value(table: &Table, cell: &TableCell, show_n: bool) -> TextCell {
    let one = table.normalised_to.as_ref();
    if one.is_some_and(|one| *one != cell.workload) {
        return match &cell.normalised {
            Some(relation) => related_cell(relation, show_n),
            None => TextCell::missing(),
        };
    }
    let Some(median) = cell.median else {
        return TextCell::missing();
    };
    let mut lines = vec![value_and_unit(median, &table.unit)];
    if show_n {
        lines.push(format!("n {}", cell.n));
    }
    TextCell {
        lines,
        weight: CellWeight::Plain,
    }
}

fn related_cell(relation: &Relation, show_n: bool) -> TextCell {
    let mut lines = vec![marked_effect(relation)];
    lines.extend(effect_interval(relation));
    if show_n {
        let count = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
        lines.push(format!(
            "n {}:{}",
            count(relation.n),
            count(relation.n_baseline)
        ));
    }
    TextCell {
        lines,
        weight: relation.verdict.map_or(CellWeight::Plain, weight),
    }
}

/// The reasons for missing values, each given once for all cells of the table, of a
/// column or of a row that share it.
fn notes(table: &Table) -> Vec<String> {
    let of = |row: &TableRow| -> Vec<Option<String>> {
        row.cells.iter().map(|cell| cell.because.clone()).collect()
    };
    let all: Vec<Option<String>> = table.rows.iter().flat_map(of).collect();
    let several = table.rows.len() > 1;
    if let Some(why) = shared_reason(&all).filter(|_| several) {
        return vec![format!("everywhere: {why}")];
    }
    let columns = table.workloads.iter().enumerate().map(|(at, workload)| {
        let cells = table.rows.iter().filter_map(|row| row.cells.get(at));
        let reasons: Vec<Option<String>> = cells.map(|cell| cell.because.clone()).collect();
        (workload, shared_reason(&reasons).filter(|_| several))
    });
    let columns: Vec<(&String, Option<String>)> = columns.collect();
    let whole = columns
        .iter()
        .filter_map(|(workload, why)| Some((workload, why.as_ref()?)));
    let mut notes: Vec<String> = whole
        .map(|(workload, why)| format!("all on {workload}: {why}"))
        .collect();
    for row in &table.rows {
        let name = &row.configuration;
        if let Some(why) = shared_reason(&of(row)) {
            notes.push(format!("{name}: {why}"));
        } else {
            for (cell, (workload, whole)) in row.cells.iter().zip(&columns) {
                if let Some(why) = cell.because.as_ref().filter(|_| whole.is_none()) {
                    notes.push(format!("{name} on {workload}: {why}"));
                }
            }
        }
        let why = row.because.iter();
        notes.extend(why.map(|why| format!("{name}: {why}")));
    }
    notes
}

/// The reason, if all cells share it.
fn shared_reason(reasons: &[Option<String>]) -> Option<String> {
    let first = reasons.first()?.clone()?;
    let all = reasons.iter().all(|why| why.as_ref() == Some(&first));
    all.then_some(first)
}

fn legend(document: &Document, out: &mut String) {
    let Some(first) = document.tables.first() else {
        return;
    };
    let level = short(first.level * 100.0);
    let rows = || document.tables.iter().flat_map(|table| &table.rows);
    let cells = || rows().flat_map(|row| &row.cells);
    let normalised = cells().any(|cell| cell.normalised.is_some());
    let relative = cells().any(|cell| cell.relative.is_some());
    let mut text = String::from("Medians are those of the runs.");
    if normalised || relative {
        text.push_str(&format!(
            " Ratios are of geometric means, with the runs of a block paired; below each is its {level} % interval, not corrected."
        ));
    }
    if relative {
        text.push_str(
            " 'to NAME': the ratio to NAME on the same workload, with a mark if the tables above test it.",
        );
    }
    if cells().any(|cell| has_difference(&cell.normalised) || has_difference(&cell.relative)) {
        text.push_str(DIFFERENCE);
    }
    push_wrapped(out, "", "", &text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use assize_verdict::Document;
    use serde_json::{Value, json};

    use crate::brief::Brief;
    use crate::style::Style;
    use crate::text::text;

    fn relation(ratio: f64, n: u32, verdict: Value) -> Value {
        json!({
            "n_baseline": n, "n": n, "ratio": ratio, "ci": [ratio * 0.9, ratio * 1.1],
            "p_t": 0.01, "t_test": "paired", "p": 0.01, "difference": null,
            "verdict": verdict, "because": null,
        })
    }

    fn cell(workload: &str, median: f64, normalised: Value, relative: Value) -> Value {
        json!({
            "workload": workload, "n": 8, "median": median,
            "normalised": normalised, "relative": relative, "because": null,
        })
    }

    fn table(rows: &Value) -> Value {
        json!({
            "metric": "jitter", "unit": "ns", "workloads": ["normal", "fifo"],
            "normalised_to": "normal", "factor": null, "level": 0.95, "rows": rows,
        })
    }

    /// The text between the head and the command.
    fn rendered_table(table: &Value) -> String {
        let none: [u8; 0] = [];
        let document: Document = serde_json::from_value(json!({
            "schema": "assize.verdict/1", "source": "bundle", "baseline": "base",
            "alpha": 0.05, "margin": 0.01, "configurations": none, "workloads": none,
            "runs": none, "summaries": none, "statements": none, "comparisons": none,
            "tables": [table], "factorial": none, "rates": none, "rate_comparisons": none,
            "claims": none, "lints": none, "sentences": none, "reproduce": "",
        }))
        .unwrap();
        let out = text(&document, &Brief::default(), Style::default());
        // Skips the line about what was read and the answer, which is empty here.
        let body = out.splitn(3, "\n\n").nth(2).unwrap();
        body.to_owned()
    }

    #[test]
    fn a_row_has_its_median_its_ratios_and_those_to_the_baseline() {
        let null = || Value::Null;
        let rows = json!([
            {"configuration": "base", "baseline": null, "because": null, "cells": [
                cell("normal", 1315.4, null(), null()),
                cell("fifo", 13.3, relation(0.0101, 8, null()), null()),
            ]},
            {"configuration": "follow", "baseline": "base", "because": null, "cells": [
                cell("normal", 790.0, null(), relation(0.6, 8, json!("established"))),
                cell("fifo", 5.0, relation(0.0066, 8, null()), relation(0.378, 8, json!("supported"))),
            ]},
        ]);
        assert_eq!(
            rendered_table(&table(&rows)),
            "\
jitter: median in ns on normal; other columns normalised to normal of
  the same configuration (n = 8)
            normal         fifo
base        1315 ns        0.0101
                           0.0091..0.011
follow      790.0 ns       0.00660
                           0.0059..0.0073
  to base   0.600 **       0.378 *
            0.540..0.660   0.340..0.416

Medians are those of the runs. Ratios are of geometric means, with the
runs of a block paired; below each is its 95 % interval, not corrected.
'to NAME': the ratio to NAME on the same workload, with a mark if the
tables above test it.

"
        );
    }

    #[test]
    fn what_is_missing_is_said_once_for_all_that_lack_it() {
        let lacks = |workload: &str, why: &str| {
            json!({
                "workload": workload, "n": 0, "median": null,
                "normalised": null, "relative": null, "because": why,
            })
        };
        let row = |name: &str, cells: [Value; 2]| json!({"configuration": name, "baseline": null, "because": null, "cells": cells});
        let whole = cell("normal", 1315.4, Value::Null, Value::Null);
        let none = || lacks("fifo", "none of 8 runs has jitter");
        let column = rendered_table(&table(&json!([
            row("base", [whole.clone(), none()]),
            row("follow", [lacks("normal", "no completed run"), none()]),
        ])));
        let notes = "\
base        1315 ns        -
            n 8
follow      -              -
  all on fifo: none of 8 runs has jitter
  follow on normal: no completed run

Medians are those of the runs.
";
        assert!(column.contains(notes), "{column}");
        let everywhere = rendered_table(&table(&json!([
            row(
                "base",
                [
                    lacks("normal", "no completed run"),
                    lacks("fifo", "no completed run")
                ]
            ),
            row(
                "follow",
                [
                    lacks("normal", "no completed run"),
                    lacks("fifo", "no completed run")
                ]
            ),
        ])));
        assert!(
            everywhere.contains("\n  everywhere: no completed run\n"),
            "{everywhere}"
        );
        assert!(!everywhere.contains("1315"));
    }

    #[test]
    fn numbers_of_runs_that_differ_stand_in_the_cells() {
        let mut fifo = cell("fifo", 5.0, relation(0.5, 6, Value::Null), Value::Null);
        fifo["n"] = 6.into();
        fifo["because"] = "6 of 8 runs have jitter".into();
        let normal = cell("normal", 123_456_789.0, Value::Null, Value::Null);
        let text = rendered_table(&table(&json!([
            {"configuration": "a", "baseline": null, "because": "no first level", "cells": [normal, fifo]},
        ])));
        let wanted = "\
a           1.2e8 ns       0.500
            n 8            0.450..0.550
                           n 6:6
  a on fifo: 6 of 8 runs have jitter
  a: no first level
";
        assert!(text.contains(wanted), "{text}");
    }
}
