//! Whether changes that a table gives say what its figures say.

use assize_bundle::Place;

use super::words::is_derived;
use super::{Role, Roles};
use crate::grammar::table::{Grid, Row};

/// What a row's change is to its figures.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    /// The change of the second figure to the first, or the other way round.
    Rise,
    /// The opposite sign, as where less is better.
    Fall,
    /// Neither, by so many percent.
    Other(f64),
}

/// Percentages that differ from the figures by less are rounded.
const ROUNDING: f64 = 1.0;

/// What is wrong with a table's column of changes, and where.
pub(super) fn contradictions(grid: &Grid, roles: &Roles) -> Vec<(Place, String)> {
    let Some((first, second, change)) = columns(grid, roles) else {
        return Vec::new();
    };
    let rows: Vec<(usize, Says)> = grid
        .rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Some((at, says(row, first, second, change)?)))
        .collect();
    let mut found = Vec::new();
    let place = |at: usize| grid.places.get(at).copied().unwrap_or_default();
    let others = rows.iter().filter_map(|(at, says)| match says {
        Says::Other(change) => Some((*at, *change)),
        _ => None,
    });
    // A table of other changes throughout is of something else.
    if let Some((at, expected)) = others.clone().next()
        && 2 * others.count() < rows.len()
    {
        let name = &grid.header.columns[change].name;
        let given = grid.rows[at].cells[change].value;
        found.push((
            place(at),
            format!("{name} is given as {given} %, and its columns differ by {expected:.1} %"),
        ));
    }
    let count = |wanted: Says| rows.iter().filter(|(_, says)| *says == wanted).count();
    let (rise, fall) = (count(Says::Rise), count(Says::Fall));
    let rare = if rise < fall { Says::Rise } else { Says::Fall };
    if rise > 0
        && fall > 0
        && let Some((at, _)) = rows.iter().find(|(_, says)| *says == rare)
    {
        let name = &grid.header.columns[change].name;
        found.push((
            place(*at),
            format!("the sign of {name} contradicts its columns in some rows and not in others"),
        ));
    }
    found
}

/// The two columns of figures and that of their changes, if there are just
/// these.
fn columns(grid: &Grid, roles: &Roles) -> Option<(usize, usize, usize)> {
    if roles.columns != Role::Configurations {
        return None;
    }
    let plain = |at: &usize| Some(*at) != roles.parameter && Some(*at) != roles.repetition;
    two_and_change(grid, (0..grid.header.columns.len()).filter(plain))
}

/// Of some columns the two with figures and the one with percentages of change, if
/// they are just these.
fn two_and_change(
    grid: &Grid,
    columns: impl Iterator<Item = usize>,
) -> Option<(usize, usize, usize)> {
    let derived = |at: &usize| is_derived(&grid.header.columns[*at].name, &grid.rows, *at);
    let (changes, figures): (Vec<usize>, Vec<usize>) = columns.partition(derived);
    let ([first, second], [change]) = (&figures[..], &changes[..]) else {
        return None;
    };
    let percent = |row: &Row| row.cells[*change].unit == "%";
    let name = &grid.header.columns[*change].name;
    (name.contains('%') || grid.rows.iter().all(percent)).then_some((*first, *second, *change))
}

fn says(row: &Row, first: usize, second: usize, change: usize) -> Option<Says> {
    let cell = |at: usize| row.cells.get(at).map(|cell| cell.value);
    let (a, b, given) = (cell(first)?, cell(second)?, cell(change)?);
    let usable = a > 0.0 && b > 0.0 && given.abs() >= ROUNDING;
    if !usable {
        return None;
    }
    let near = |x: f64| (x - given).abs() <= ROUNDING.max(0.05 * given.abs());
    let expected = (b - a) / a * 100.0;
    let inverse = (b - a) / b * 100.0;
    Some(if near(expected) || near(inverse) {
        Says::Rise
    } else if near(-expected) || near(-inverse) {
        Says::Fall
    } else {
        Says::Other(expected)
    })
}

/// Changes smaller than this, in per cent, may agree with figures by chance.
const TELLING: f64 = 2.0;

/// Along which side of a table changes follow from the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    /// The figures of two columns.
    Columns,
    /// The figures of two rows.
    Rows,
}

/// Whether changes are given that follow from the figures, all of them that
/// tell anything: behind figures in brackets, or in a column of their own.
pub(super) fn agreement(grid: &Grid) -> Option<Agreement> {
    let columns = grid.header.columns.len();
    let cell = |row: usize, column: usize| grid.rows.get(row)?.cells.get(column);
    let bracketed = || {
        let rows = grid.rows.iter().enumerate();
        rows.flat_map(|(at, row)| {
            row.cells
                .iter()
                .enumerate()
                .map(move |(c, cell)| (at, c, cell))
        })
        .filter_map(|(row, column, cell)| Some((row, column, cell.value, cell.change?)))
        .filter(|(.., change)| change.abs() >= TELLING)
    };
    let follows = |base: Option<f64>, value: f64, change: f64| {
        base.is_some_and(|base| matches!(follows(base, value, change), Some(true)))
    };
    if bracketed().next().is_some() {
        let value = |row, column| cell(row, column).map(|cell| cell.value);
        let to_column = |base: usize| {
            bracketed().all(|(row, column, v, c)| column != base && follows(value(row, base), v, c))
        };
        if columns >= 2 && (0..columns).any(to_column) {
            return Some(Agreement::Columns);
        }
        let to_row = |base: usize| {
            bracketed().all(|(row, column, v, c)| row != base && follows(value(base, column), v, c))
        };
        return (0..grid.rows.len()).any(to_row).then_some(Agreement::Rows);
    }
    let (first, second, change) = two_and_change(grid, 0..columns)?;
    let told: Vec<bool> = grid
        .rows
        .iter()
        .filter(|row| row.cells[change].value.abs() >= TELLING)
        .filter_map(|row| {
            let value = |at: usize| row.cells[at].value;
            follows_either(value(first), value(second), value(change))
        })
        .collect();
    (!told.is_empty() && told.iter().all(|agrees| *agrees)).then_some(Agreement::Columns)
}

/// Whether a value is so many per cent more than another, or less where less
/// is better; `None` where that is not known.
fn follows(base: f64, value: f64, change: f64) -> Option<bool> {
    (base > 0.0 && value > 0.0).then(|| {
        let rise = (value / base - 1.0) * 100.0;
        near(rise, change) || near(-rise, change)
    })
}

/// The same where either may be the base.
fn follows_either(a: f64, b: f64, change: f64) -> Option<bool> {
    Some(follows(a, b, change)? || follows(b, a, change)?)
}

fn near(expected: f64, given: f64) -> bool {
    (expected - given).abs() <= ROUNDING.max(0.02 * given.abs())
}
