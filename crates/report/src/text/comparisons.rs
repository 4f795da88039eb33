//! The tables of comparisons in the text report, and their legend.

use assize_verdict::{Comparison, Document, Scale, Verdict};

use super::DIFFERENCE;
use super::declared::effect;
use super::grid::{CellWeight, TextCell, TextGrid};
use super::tables::weight;
use crate::contrasts::{
    RowOutcome, contradicted, describe_run_counts, distinct, distinct_metrics, fixed_outcome,
    fixed_values, verdict_mark,
};
use crate::number::{interval, ratio, short, significant};
use crate::style::Style;
use crate::wrap::push_wrapped;

/// Prints one table per workload: metrics by configurations, or configurations by metrics if these
/// do not fit side by side and that gives fewer lines.
pub(super) fn comparisons(document: &Document, wants_all: bool, style: Style, out: &mut String) {
    let (by_metric, fits) = tables_by_metric(document, style);
    let turned = match fits {
        true => None,
        false => tables_by_configuration(document, wants_all, style),
    };
    let shorter = turned.filter(|it| it.lines().count() < by_metric.lines().count());
    out.push_str(&shorter.unwrap_or(by_metric));
    if !document.comparisons.is_empty() {
        legend(document, out);
    }
}

/// A table for each workload with a line for each configuration; `None` if baselines or numbers
/// of runs differ, so that they cannot be given once for all.
fn tables_by_configuration(document: &Document, wants_all: bool, style: Style) -> Option<String> {
    let all: Vec<&Comparison> = document.comparisons.iter().collect();
    let runs = runs_line(&all);
    let tables = tables_of(document);
    let (_, baseline) = tables.first()?;
    if runs.is_empty() || tables.iter().any(|(_, other)| other != baseline) {
        return None;
    }
    let mut out = String::new();
    push_wrapped(&mut out, "", "  ", &format!("Ratio to {baseline}{runs}"));
    for (workload, _) in &tables {
        let rows = all.iter().copied().filter(|row| row.workload == *workload);
        let mut rows: Vec<&Comparison> = rows.collect();
        let undecided = match wants_all {
            true => None,
            false => take_undecided(document, &mut rows),
        };
        let grid = comparison_grid(document, &rows, false);
        grid.transposed(workload).draw(style, &mut out);
        if let Some(undecided) = undecided {
            push_wrapped(&mut out, "", "  ", &undecided);
        }
        out.push('\n');
    }
    Some(out)
}

/// From this number on, undecided configurations share a line.
const SHARED: usize = 3;

/// Removes the configurations without a decided metric, and returns a line with their names and the
/// range of their intervals. Removes none if no row would be left.
fn take_undecided(document: &Document, rows: &mut Vec<&Comparison>) -> Option<String> {
    let is_open = |row: &Comparison| {
        let in_words = contradicted(document, row) || fixed_outcome(document, row).is_some();
        row.verdict == Verdict::Undecided && !in_words && row.ratio.is_some() && row.ci.is_some()
    };
    let names = distinct(rows.iter().map(|row| row.configuration.as_str()));
    let is_decided = |name: &str| {
        let mut of = rows.iter().filter(|row| row.configuration == name);
        of.any(|row| !is_open(row))
    };
    let count = names.len();
    let open: Vec<String> = names
        .into_iter()
        .filter(|name| !is_decided(name))
        .map(str::to_owned)
        .collect();
    if open.len() < SHARED || open.len() == count {
        return None;
    }
    let taken = |row: &&Comparison| open.contains(&row.configuration);
    let ranges = distinct_metrics(rows).into_iter().filter_map(|metric| {
        let of_metric = rows.iter().copied().filter(|row| row.metric == metric);
        let intervals = of_metric.filter(taken).filter_map(|row| row.ci);
        let range = intervals.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
        Some(format!("{metric} {}", interval(range, ratio)))
    });
    let text = format!(
        "undecided: {}; their intervals are within {}",
        open.join(", "),
        ranges.collect::<Vec<_>>().join(", ")
    );
    rows.retain(|row| !taken(row));
    Some(text)
}

/// A table for each workload with a line for each metric, and whether all configurations fit side
/// by side.
fn tables_by_metric(document: &Document, style: Style) -> (String, bool) {
    let (mut out, mut fits) = (String::new(), true);
    let all: Vec<&Comparison> = document.comparisons.iter().collect();
    // If all tables have the same numbers of runs, only the first shows them.
    let of_all = runs_line(&all);
    let tables = tables_of(document);
    for (at, (workload, baseline)) in tables.iter().enumerate() {
        let rows = all.iter().copied();
        let rows: Vec<&Comparison> = rows
            .filter(|c| c.workload == *workload && c.baseline == *baseline)
            .collect();
        let runs = match (of_all.is_empty(), at) {
            (true, _) => runs_line(&rows),
            (false, 0) if tables.len() > 1 => of_all.replace(')', " in every table)"),
            (false, 0) => of_all.clone(),
            (false, _) => String::new(),
        };
        let title = format!("{workload}: ratio to {baseline}{runs}");
        push_wrapped(&mut out, "", "  ", &title);
        let grid = comparison_grid(document, &rows, of_all.is_empty() && runs.is_empty());
        grid.draw(style, &mut out);
        fits &= grid.fits();
        out.push('\n');
    }
    (out, fits)
}

fn tables_of(document: &Document) -> Vec<(String, String)> {
    let mut tables: Vec<(String, String)> = Vec::new();
    for row in &document.comparisons {
        let key = (row.workload.clone(), row.baseline.clone());
        if !tables.contains(&key) {
            tables.push(key);
        }
    }
    tables
}

/// ` (n = 3 against 3)`, if all rows of the table have the same numbers.
fn runs_line(rows: &[&Comparison]) -> String {
    let counts = describe_run_counts(rows.iter().copied(), "");
    counts.map_or(String::new(), |counts| format!(" (n = {counts})"))
}

fn comparison_grid(document: &Document, rows: &[&Comparison], show_n: bool) -> TextGrid {
    let names: Vec<&str> = document
        .configurations
        .iter()
        .map(|c| c.name.as_str())
        .filter(|name| rows.iter().any(|row| row.configuration == *name))
        .collect();
    let metrics = distinct_metrics(rows);
    let mut grid = TextGrid {
        heads: names.iter().map(|n| n.to_string()).collect(),
        column: 13,
        ..TextGrid::default()
    };
    for metric in metrics {
        let cells = names
            .iter()
            .map(|name| {
                let row = rows
                    .iter()
                    .find(|row| row.metric == metric && row.configuration == **name);
                row.map(|row| comparison_cell(document, row, show_n))
                    .unwrap_or_default()
            })
            .collect();
        grid.rows.push((metric.to_string(), cells));
    }
    grid
}

fn comparison_cell(document: &Document, row: &Comparison, show_n: bool) -> TextCell {
    if contradicted(document, row) {
        return TextCell {
            lines: vec!["disagree !".to_string()],
            weight: CellWeight::Bold,
        };
    }
    let fixed = fixed_outcome(document, row);
    let value = effect(row.ratio, row.difference);
    let mut lines = match fixed {
        Some(RowOutcome::Equal) => vec!["equal".to_string()],
        Some(_) => vec![value],
        None => vec![format!("{value} {}", verdict_mark(row.verdict))],
    };
    match row.ci {
        _ if fixed == Some(RowOutcome::Equal) => {}
        _ if fixed_values(document, row).is_some() => lines.push("in every run".to_string()),
        Some(ends) if row.scale == Scale::Raw => lines.push(interval(ends, |v| significant(v, 2))),
        Some(ends) => lines.push(interval(ends, ratio)),
        None => {}
    }
    if show_n {
        let count = |n: Option<u32>| n.map_or("?".to_string(), |n| n.to_string());
        lines.push(format!("n {}:{}", count(row.n), count(row.n_baseline)));
    }
    if let Some(step) = row.resolution.filter(|_| hides_equality(document, row)) {
        lines.push(format!("steps {}", short(step)));
    }
    TextCell {
        lines,
        weight: weight(row.verdict),
    }
}

/// Whether the resolution of the values keeps a row from being equivalent.
fn hides_equality(document: &Document, row: &Comparison) -> bool {
    let undecided = row.verdict == Verdict::Undecided && fixed_outcome(document, row).is_none();
    row.too_coarse && undecided && row.ratio.is_some() && row.ci.is_some()
}

fn legend(document: &Document, out: &mut String) {
    let (alpha, level) = (short(document.alpha), short(document.level * 100.0));
    let margin = document.margin * 100.0;
    let raw = document
        .comparisons
        .iter()
        .any(|row| row.scale == Scale::Raw && row.difference.is_some());
    let mut marks = Vec::new();
    for (verdict, words) in [
        (Verdict::Established, format!("established (permutation test, corrected for all that is tested, p <= {alpha})")),
        (Verdict::Supported, "supported (only the t test finds it, with the same correction: there are too few runs, only means of runs, or a defect that a lint reports)".to_owned()),
        (Verdict::Equivalent, format!("equivalent within {margin} %")),
        (Verdict::Undecided, "undecided".to_owned()),
    ] {
        let mut rows = document.comparisons.iter();
        if rows.any(|row| row.verdict == verdict && fixed_outcome(document, row).is_none()) {
            marks.push(format!("{} {words}", verdict_mark(verdict)));
        }
    }
    let mut text = format!("Each ratio has its own {level} % interval, not corrected.");
    if !marks.is_empty() {
        text.push_str(&format!(" {}.", marks.join("; ")));
    }
    text.push_str(&tail(document).unwrap_or_default());
    let contradicted = |row: &Comparison| contradicted(document, row);
    if document.comparisons.iter().any(contradicted) {
        let several = document.across.plural();
        text.push_str(&format!(
            " disagree !: {several} show opposite effects, so no single ratio holds for all."
        ));
    }
    let mut rows = document.comparisons.iter();
    if rows.any(|row| fixed_values(document, row).is_some()) {
        text.push_str(
            " equal, in every run: all runs of a side agree; rows without a mark are not tested.",
        );
    }
    let hides_equality = |row: &Comparison| hides_equality(document, row);
    if document.comparisons.iter().any(hides_equality) {
        text.push_str(" steps: values come in steps of this size, larger than the margin, so nothing can show that the sides are equal.");
    }
    if raw {
        text.push_str(DIFFERENCE);
    }
    push_wrapped(out, "", "", &text);
    out.push('\n');
}

/// The share of slow runs that the smallest sample called equivalent could have missed.
fn tail(document: &Document) -> Option<String> {
    let equal = document.comparisons.iter();
    let fewest = equal
        .filter(|row| row.verdict == Verdict::Equivalent)
        .filter_map(|row| row.n.min(row.n_baseline))
        .min()?;
    let missed = 1.0 - document.alpha.powf(1.0 / f64::from(fewest));
    Some(format!(
        " Only the means are equal: if none of {fewest} runs is slow, up to {:.0} % of all may be.",
        100.0 * missed
    ))
}
