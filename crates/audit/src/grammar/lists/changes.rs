//! Lists in which changes stand behind the figures.

use super::super::cells::line_at;
use super::super::quantity::metric_of;
use super::super::table::{self, Grid};
use super::super::{Block, Finding, Taken};
use super::{LONGEST, MOST, WORDS, is_setting};
use crate::Line;
use crate::roles::changes_follow_in_rows;

/// A line of a list with or without a unit, and maybe a change behind it.
pub(super) fn line(text: &str) -> Option<table::Row> {
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let (head, value) = text.split_once(':')?;
    let head = head.trim();
    let fits = text.len() <= LONGEST
        && (1..=WORDS).contains(&head.split_whitespace().count())
        && head.bytes().any(|b| b.is_ascii_alphabetic())
        && value.starts_with([' ', '\t'])
        && !is_setting(head);
    let cell = table::cell_value(value).filter(|cell| fits && cell.unit != "%")?;
    Some(table::Row {
        labels: vec![head.to_string()],
        cells: vec![cell],
    })
}

/// Neighbouring lines with figures of one unit, and changes that follow from them.
pub(super) fn list(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let rows: Vec<table::Row> = (0..MOST).map_while(|at| line(here(at)?)).collect();
    let unit = rows.first()?.cells[0].unit.clone();
    if rows.len() < 2 || rows.iter().any(|row| row.cells[0].unit != unit) {
        return None;
    }
    let column = table::Column {
        name: if unit.is_empty() {
            "value"
        } else {
            metric_of(&unit)
        }
        .to_string(),
        unit,
        numbered: false,
    };
    let grid = Grid {
        header: table::Header {
            columns: vec![column],
            ..table::Header::default()
        },
        at: (0..rows.len()).collect(),
        rows,
        ..Grid::default()
    };
    if !changes_follow_in_rows(&grid) {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["figure of a configuration" as Taken; grid.rows.len()],
    };
    block.find(0, Finding::Grid(Box::new(grid)));
    Some(block)
}
