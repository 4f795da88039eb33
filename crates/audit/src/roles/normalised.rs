//! Tables of ratios: their figures are stated, and not compared.

use assize_bundle::Place;

use super::figures::place;
use crate::grammar::table::{Grid, Row};
use crate::grammar::{Figure, Finding, Labels};

/// Percentages of which one column or row is 100 throughout: figures divided
/// by another figure. Says by which.
pub(super) fn normalised(grid: &Grid) -> Option<String> {
    let percent = |row: &Row| {
        row.cells
            .iter()
            .all(|cell| cell.unit == "%" && !cell.signed)
    };
    if grid.header.columns.len() < 2 || !grid.rows.iter().all(percent) {
        return None;
    }
    let sub = |row: &Row| relative_to(&row.labels.join(" ")).is_some();
    let main: Vec<&Row> = grid.rows.iter().filter(|row| !sub(row)).collect();
    if !main.is_empty() && main.iter().all(|row| row.cells[0].value == 100.0) {
        return Some(grid.header.columns[0].name.clone());
    }
    main.iter()
        .find(|row| row.cells.iter().all(|cell| cell.value == 100.0))
        .map(|row| row.labels.join(" "))
}

/// `└─relative to wq:` → `wq`.
fn relative_to(label: &str) -> Option<String> {
    let lower = label.to_lowercase();
    let at = ["relative to ", "compared to ", "vs ", "% of "]
        .iter()
        .find_map(|word| lower.find(word).map(|at| at + word.len()))?;
    let name = label.get(at..)?.trim().trim_end_matches(':').to_string();
    Some(name).filter(|name| !name.is_empty())
}

/// Whether all figures are percentages, some of them below zero: changes.
pub(super) fn only_changes(grid: &Grid) -> bool {
    let cells = || grid.rows.iter().flat_map(|row| &row.cells);
    cells().all(|cell| cell.unit == "%") && cells().any(|cell| cell.value < 0.0)
}

/// The figures of a table as statements, divided by those of a base where there is one.
pub(super) fn statements(grid: &Grid, base: Option<&str>) -> Vec<(Place, Finding)> {
    let mut findings = Vec::new();
    let mut last = String::new();
    for (at, row) in grid.rows.iter().enumerate() {
        let label = row.labels.join(" ");
        let (configuration, to) = match relative_to(&label) {
            Some(to) => (last.clone(), Some(to)),
            None => {
                last.clone_from(&label);
                (label, base.map(str::to_string))
            }
        };
        let cells = row.cells.iter().zip(&grid.header.columns);
        for (cell, column) in cells.filter(|(cell, _)| cell.value.is_finite()) {
            let labels = Labels {
                configuration: Some(configuration.clone()),
                ..Labels::default()
            };
            let figure = Figure::new(column.name.clone(), cell.value, "%");
            let statement = Finding::Statement {
                labels,
                figure,
                normalised_to: to.clone(),
            };
            findings.push((place(grid, at), statement));
        }
    }
    findings
}
