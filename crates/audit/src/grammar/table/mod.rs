//! Tables: parted by blanks, tabs or pipes, ruled or not.
//!
//! A table is a header line that names as many columns as the following rows
//! have figures. Rows are configurations, metrics or repetitions; `roles`
//! decides from the words used, and says so in what it reports.

mod header;
mod roles;
mod row;

use std::collections::BTreeMap;

use crate::Line;
use crate::grammar::{Block, Figure, Finding, Grammar, Labels, Taken};
use header::Header;
pub(crate) use roles::names_configuration;
use roles::{Across, RowKeys};
pub(crate) use row::is_rule;
use row::{Parting, Row};

/// Tables of any style; see the module.
pub struct Table;

/// A first row stands at most so many lines below the first line: behind
/// caption, header and rules.
const HEAD: usize = 6;

/// A table cut into its parts.
struct Parts {
    parting: Parting,
    /// A line above the header that names metric or unit of all figures.
    caption: String,
    header: Header,
    rows: Vec<Row>,
    /// Line of each row in the block.
    at: Vec<usize>,
    taken: Vec<Taken>,
    doubts: Vec<(usize, Finding)>,
}

impl Parts {
    /// Takes a row without reading it, and says why.
    fn leave_out(&mut self, code: &'static str, detail: String, taken: Taken) {
        let doubt = Finding::Doubt(code, detail);
        self.doubts.push((self.taken.len(), doubt));
        self.taken.push(taken);
    }
}

impl Grammar for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.len() >= 3
            && text.len() <= 1000
            && !text.starts_with("diff ")
            && !text.ends_with(['.', ';', '{', '}'])
    }

    fn reach(&self) -> usize {
        HEAD
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let parts = cut(lines)?;
        let mut block = Block {
            findings: Vec::new(),
            taken: parts.taken.clone(),
        };
        if let Some(base) = normalised(&parts) {
            statements(&parts, &base, &mut block);
        } else if roles::across(&parts.header, &parts.rows) == Across::Configurations {
            by_column(&parts, &mut block);
        } else {
            by_row(&parts, &mut block);
        }
        block.findings.extend(parts.doubts);
        block.findings.sort_by_key(|(at, _)| *at);
        Some(block)
    }
}

/// Finds header and rows.
fn cut(lines: &[Line<'_>]) -> Option<Parts> {
    let depth = lines[0].depth;
    let text = |at: usize| {
        lines
            .get(at)
            .filter(|line| line.depth == depth)
            .map(|line| line.text.as_ref())
    };
    let mut taken: Vec<Taken> = Vec::new();
    let mut at = 0;
    let mut caption = String::new();
    if row::is_rule(text(0)?) {
        taken.push("table rule");
        at = 1;
    } else if is_caption(text(0)?) {
        caption = text(0)?.trim().to_string();
        taken.push("table caption");
        at = 1;
    }
    let head = text(at)?;
    if row::is_rule(head) || head.trim().is_empty() {
        return None;
    }
    taken.push("table header");
    at += 1;
    while at < HEAD && text(at).is_some_and(row::is_rule) {
        taken.push("table rule");
        at += 1;
    }
    if !plausible(head) {
        return None;
    }
    [Parting::Wide, Parting::Words]
        .into_iter()
        .find_map(|parting| {
            let first = row::data_row(text(at)?, parting)?;
            let header = header::fit(head, std::slice::from_ref(&first))?;
            let (caption, taken) = (caption.clone(), taken.clone());
            let mut parts = Parts {
                parting,
                caption,
                header,
                rows: Vec::new(),
                at: Vec::new(),
                taken,
                doubts: Vec::new(),
            };
            take_rows(&text, at, &mut parts);
            // One row alone must have a name or stand between rules.
            let ruled = parts.taken.contains(&"table rule") || row::pipe_cells(head).is_some();
            let named = parts.rows.iter().any(|row| !row.labels.is_empty());
            let one = parts.header.columns.len() >= 2
                && (ruled || named && head.split_whitespace().count() >= 3);
            (parts.rows.len() >= 2 || one).then_some(parts)
        })
}

/// A line above the header that is nothing but a unit or metric of all cells.
fn is_caption(text: &str) -> bool {
    let text = text.trim().trim_end_matches(':');
    let bare = text
        .trim_start_matches(['(', '['])
        .trim_end_matches([')', ']']);
    row::is_unit(bare) || (bare.len() <= 24 && !bare.contains(' ') && bare.contains("/s"))
}

/// Prose above two numbers must not become a table.
fn plausible(head: &str) -> bool {
    let words = head.split_whitespace().count();
    let numbers = head
        .split_whitespace()
        .filter(|w| row::split_number(w).is_some())
        .count();
    !head.trim_end().ends_with(['.', ',', '?', '!']) && numbers * 2 < words.max(1)
}

fn take_rows<'t>(text: &impl Fn(usize) -> Option<&'t str>, from: usize, parts: &mut Parts) {
    let mut at = from;
    while let Some(line) = text(at) {
        let used = if row::is_rule(line) {
            parts.taken.push("table rule");
            1
        } else if line.trim().is_empty() {
            take_blank(text(at + 1), text(at + 2), parts)
        } else {
            take_row(line, text(at + 1), parts)
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

/// A blank line belongs to the table if a row of the same shape follows.
fn take_blank(next: Option<&str>, after: Option<&str>, parts: &mut Parts) -> usize {
    let figures = parts.header.columns.len();
    let same = next
        .and_then(|line| row::data_row(line, parts.parting))
        .is_some_and(|next| {
            next.cells.len() == figures
                && parts
                    .rows
                    .last()
                    .is_some_and(|r| r.labels.len() == next.labels.len())
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
    let figures = parts.header.columns.len();
    let read = row::data_row(line, parts.parting);
    if read.as_ref().is_none_or(|row| row.cells.len() != figures) && doubtful(line, parts, figures)
    {
        return 1;
    }
    let Some(mut read) = read else { return 0 };
    let mut used = 1;
    if read.cells.len() < figures {
        let rest = next.and_then(|line| row::data_row(line, parts.parting));
        if let Some(rest) =
            rest.filter(|r| r.labels.is_empty() && r.cells.len() + read.cells.len() == figures)
        {
            read.cells.extend(rest.cells);
            used = 2;
        }
    }
    if read.cells.len() == figures {
        parts.at.push(parts.taken.len());
        parts.rows.push(read);
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

/// A row that would be one but for cells like `nan` or `1,2,3`.
fn doubtful(line: &str, parts: &mut Parts, figures: usize) -> bool {
    let cells = row::pipe_cells(line).unwrap_or_else(|| line.split_whitespace().collect());
    let good = cells
        .iter()
        .filter(|cell| row::cell_value(cell).is_some())
        .count();
    let bad: Vec<&&str> = cells
        .iter()
        .filter(|cell| row::cell_value(cell).is_none() && odd_number(cell))
        .collect();
    if bad.is_empty() || good + bad.len() != figures {
        return false;
    }
    let detail = format!(
        "{} is not a number; its row is left out: {}",
        bad[0],
        clip(line)
    );
    parts.leave_out("bad-number", detail, "table row, bad number");
    true
}

fn odd_number(cell: &str) -> bool {
    let lower = cell.to_lowercase();
    matches!(
        lower.trim_start_matches(['+', '-']),
        "nan" | "inf" | "infinity"
    ) || cell.bytes().any(|b| b.is_ascii_digit())
        && cell
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

fn clip(line: &str) -> String {
    line.trim().chars().take(80).collect()
}

/// Rows are configurations, columns are metrics.
fn by_row(parts: &Parts, block: &mut Block) {
    let repetition = roles::repetition_column(&parts.header, &parts.rows);
    let parameter = roles::parameter_column(&parts.header).filter(|at| Some(*at) != repetition);
    for (row, &at) in parts.rows.iter().zip(&parts.at) {
        let keys = roles::row_keys(&parts.header, row);
        if keys
            .configuration
            .as_deref()
            .is_some_and(roles::is_derived_row)
        {
            block.taken[at] = "table row computed from others";
            continue;
        }
        let mut labels = labels(keys);
        if let Some(column) = repetition {
            labels.repetition = Some(row.cells[column].value as u32);
        }
        if let Some(column) = parameter {
            let part = format!(
                "{}={}",
                parts.header.columns[column].name, row.cells[column].value
            );
            labels.workload = Some(
                labels
                    .workload
                    .map_or(part.clone(), |w| format!("{w} {part}")),
            );
        }
        let skip = |column: &usize| Some(*column) != repetition && Some(*column) != parameter;
        let figures = figures_of(parts, row, (0..row.cells.len()).filter(skip));
        if figures.is_empty() {
            continue;
        }
        block.find(at, Finding::Run { labels, figures });
    }
}

fn labels(keys: RowKeys) -> Labels {
    let mut labels = Labels {
        configuration: None,
        workload: keys.workload,
        repetition: None,
    };
    if let Some(name) = keys.configuration {
        match roles::repetition_suffix(&name) {
            Some((stem, number)) => {
                labels.configuration = Some(stem.to_string());
                labels.repetition = Some(number);
            }
            None => labels.configuration = Some(name),
        }
    }
    labels
}

fn figures_of(parts: &Parts, row: &Row, columns: impl Iterator<Item = usize>) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    let (mut total, mut numbered) = (0.0, 0);
    for at in columns {
        let column = &parts.header.columns[at];
        if roles::is_derived(&column.name, &parts.rows, at) {
            continue;
        }
        let cell = &row.cells[at];
        let unit = if cell.unit.is_empty() {
            &column.unit
        } else {
            &cell.unit
        };
        let unit = if unit.is_empty() {
            parts.caption.as_str()
        } else {
            unit
        };
        if column.numbered {
            total += cell.value;
            numbered += 1;
        }
        let twin = figures.iter().filter(|f| f.metric == column.name).count();
        let name = if twin == 0 {
            column.name.clone()
        } else {
            format!("{} #{}", column.name, at + 1)
        };
        figures.push(Figure::new(name, cell.value, unit));
    }
    if numbered >= 2 {
        let name = format!("{} total", parts.header.corner);
        let unit = parts
            .header
            .columns
            .iter()
            .find(|c| c.numbered)
            .map_or("", |c| c.unit.as_str());
        figures.push(Figure::new(name.trim(), (total * 1e9).round() / 1e9, unit));
    }
    figures
}

/// Columns are configurations; rows are metrics, or repetitions if they have
/// no label of their own.
fn by_column(parts: &Parts, block: &mut Block) {
    let parameter = roles::parameter_column(&parts.header);
    let repetition = roles::repetition_column(&parts.header, &parts.rows);
    for (column, head) in parts.header.columns.iter().enumerate() {
        if Some(column) == parameter
            || Some(column) == repetition
            || roles::is_derived(&head.name, &parts.rows, column)
        {
            continue;
        }
        let mut runs: BTreeMap<(String, u32), (usize, Vec<Figure>)> = BTreeMap::new();
        let mut seen: BTreeMap<(String, String), u32> = BTreeMap::new();
        for (row, &at) in parts.rows.iter().zip(&parts.at) {
            let label = row.labels.join(" ");
            if roles::is_derived_row(&label) && parts.rows.len() > 2 {
                continue;
            }
            let workload = parameter
                .map(|p| format!("{}={}", parts.header.columns[p].name, row.cells[p].value))
                .unwrap_or_default();
            let (metric, unit) = metric_of(parts, &label);
            let number = seen.entry((workload.clone(), metric.clone())).or_insert(0);
            *number += 1;
            let cell = &row.cells[column];
            let unit = if cell.unit.is_empty() {
                unit
            } else {
                cell.unit.clone()
            };
            let run = runs
                .entry((workload, *number))
                .or_insert_with(|| (at, Vec::new()));
            run.1.push(Figure::new(metric, cell.value, unit));
        }
        for ((workload, number), (at, figures)) in runs {
            let labels = Labels {
                configuration: Some(head.name.clone()),
                workload: (!workload.is_empty()).then_some(workload),
                repetition: Some(number),
            };
            block.find(at, Finding::Run { labels, figures });
        }
    }
}

/// The metric of a row in a table whose columns are configurations.
fn metric_of(parts: &Parts, label: &str) -> (String, String) {
    let bare = label.trim().trim_end_matches(':');
    let is_run = bare.is_empty()
        || bare.bytes().all(|b| b.is_ascii_digit() || b == b'#')
        || bare.to_lowercase().starts_with("run");
    match (is_run, parts.caption.is_empty()) {
        (true, true) => ("value".to_string(), String::new()),
        (true, false) => (parts.caption.clone(), String::new()),
        (false, _) => header::split_unit(bare),
    }
}

/// Percentages of which one column or row is 100 throughout: figures divided
/// by another figure. Says by which.
fn normalised(parts: &Parts) -> Option<String> {
    let percent = |row: &Row| {
        row.cells
            .iter()
            .all(|cell| cell.unit == "%" && !cell.signed)
    };
    if parts.header.columns.len() < 2 || !parts.rows.iter().all(percent) {
        return None;
    }
    let sub = |row: &Row| relative_to(&row.labels.join(" ")).is_some();
    let main: Vec<&Row> = parts.rows.iter().filter(|row| !sub(row)).collect();
    if !main.is_empty() && main.iter().all(|row| row.cells[0].value == 100.0) {
        return Some(parts.header.columns[0].name.clone());
    }
    main.iter()
        .find(|row| row.cells.iter().all(|c| c.value == 100.0))
        .map(|row| row.labels.join(" "))
}

/// `└─relative to wq:` → `wq`.
fn relative_to(label: &str) -> Option<String> {
    let lower = label.to_lowercase();
    let at = ["relative to ", "compared to ", "vs ", "% of "]
        .iter()
        .find_map(|w| lower.find(w).map(|at| at + w.len()))?;
    Some(label.get(at..)?.trim().trim_end_matches(':').to_string()).filter(|name| !name.is_empty())
}

fn statements(parts: &Parts, base: &str, block: &mut Block) {
    let mut last = String::new();
    for (row, &at) in parts.rows.iter().zip(&parts.at) {
        let label = row.labels.join(" ");
        let (configuration, to) = match relative_to(&label) {
            Some(to) => (last.clone(), to),
            None => {
                last.clone_from(&label);
                (label, base.to_string())
            }
        };
        for (cell, column) in row.cells.iter().zip(&parts.header.columns) {
            let labels = Labels {
                configuration: Some(configuration.clone()),
                ..Labels::default()
            };
            let figure = Figure::new(column.name.clone(), cell.value, "%");
            block.find(
                at,
                Finding::Statement {
                    labels,
                    figure,
                    normalised_to: Some(to.clone()),
                },
            );
        }
    }
}

#[cfg(test)]
mod tests;
