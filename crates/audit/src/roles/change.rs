//! Whether a column of changes says what the two columns beside it say.

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
    let derived = |at: &usize| is_derived(&grid.header.columns[*at].name, &grid.rows, *at);
    let all: Vec<usize> = (0..grid.header.columns.len()).filter(plain).collect();
    let (changes, figures): (Vec<usize>, Vec<usize>) = all.iter().partition(|at| derived(at));
    match (&figures[..], &changes[..]) {
        ([first, second], [change]) => {
            let percent = |row: &Row| row.cells[*change].unit == "%";
            let name = &grid.header.columns[*change].name;
            (grid.rows.iter().all(percent) || name.contains('%'))
                .then_some((*first, *second, *change))
        }
        _ => None,
    }
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
