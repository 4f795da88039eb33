//! Whether changes that a table gives say what its figures say.

use assize_bundle::Place;

use super::decide::{MANY, configuration_name};
use super::words::{is_derived, is_derived_row};
use super::{Role, Roles};
use crate::admission::contrast::Name;
use crate::grammar::table::{Cell, Grid, Row};

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
    let step = step(grid, first).max(step(grid, second));
    let rows: Vec<(usize, Says)> = grid
        .rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Some((at, says(row, (first, second, change), step)?)))
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
    let name = grid.header.columns[*change].name.to_lowercase();
    (name.contains('%') || name.contains("percent") || grid.rows.iter().all(percent))
        .then_some((*first, *second, *change))
}

/// The place of the last digit of a column's figures.
fn step(grid: &Grid, column: usize) -> f64 {
    let values = || grid.rows.iter().map(|row| row.cells[column].value);
    let whole = |value: f64| (value - value.round()).abs() < 1e-6 * value.abs().max(1.0);
    let places = (0..6).find(|places| values().all(|value| whole(value * 10_f64.powi(*places))));
    10_f64.powi(-places.unwrap_or(6))
}

/// What a row's change is to two of its figures that were rounded to a place.
fn says(row: &Row, (first, second, change): (usize, usize, usize), step: f64) -> Option<Says> {
    let cell = |at: usize| row.cells.get(at).map(|cell| cell.value);
    let (a, b, given) = (cell(first)?, cell(second)?, cell(change)?);
    let usable = a > step && b > step && given.abs() >= ROUNDING;
    if !usable {
        return None;
    }
    let percent = |from: f64, to: f64| (to - from) / from * 100.0;
    let half = step / 2.0;
    let slack = ROUNDING.max(0.05 * given.abs());
    // From the least that the rounded figures allow to the most.
    let within = |given: f64| {
        let of = |low: f64, high: f64| (low - slack..=high + slack).contains(&given);
        of(percent(a + half, b - half), percent(a - half, b + half))
            || of(-percent(b - half, a + half), -percent(b + half, a - half))
    };
    Some(if within(given) {
        Says::Rise
    } else if within(-given) {
        Says::Fall
    } else {
        Says::Other(percent(a, b))
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
    if given_in_columns(grid) {
        return Some(Agreement::Columns);
    }
    (given_for_rows(grid) || given_in_row(grid)).then_some(Agreement::Rows)
}

/// So many columns of ratios make two rows those of one thing.
const STEPS: usize = 3;
/// So much, of a ratio and of five, may be rounded away: its last digit and those of figures.
const RATIO: f64 = 0.02;

/// Whether a row has the ratios of two others, each under its column:
///
/// ```text
/// plain     40    82   160
/// folded    20    21    25
/// speedup  2.0x  3.9x  6.4x
/// ```
fn given_in_row(grid: &Grid) -> bool {
    let ratios = |row: &&Row| {
        let times = row.cells.iter().all(|cell| cell.unit == "x");
        times && row.cells.len() >= STEPS && is_derived_row(&row.labels.join(" "))
    };
    let [a, b, given] = &grid.rows[..] else {
        return false;
    };
    ratios(&given) && follows_by_column(a, b, given)
}

/// Whether each ratio is that of the figures above it, as far as its digits go.
fn follows_by_column(a: &Row, b: &Row, given: &Row) -> bool {
    let by = |a: &Row, b: &Row| {
        let figures = a.cells.iter().zip(&b.cells).zip(&given.cells);
        let mut ratios = figures.map(|((a, b), given)| (a.value, b.value, given.value));
        ratios.all(|(a, b, given)| {
            a > 0.0 && b > 0.0 && (a / b - given).abs() <= RATIO * (5.0 + given.abs())
        })
    };
    let telling = given
        .cells
        .iter()
        .any(|cell| (cell.value - 1.0).abs() * 100.0 >= TELLING);
    telling && (by(a, b) || by(b, a))
}

/// Whether the changes of a column are those of each row to one that has none, in a column
/// of figures: `631  662`, `828  868  +31.12`.
fn given_for_rows(grid: &Grid) -> bool {
    let columns = 0..grid.header.columns.len();
    let derived = |at: &usize| is_derived(&grid.header.columns[*at].name, &grid.rows, *at);
    let (changes, figures): (Vec<usize>, Vec<usize>) = columns.partition(derived);
    let [change] = changes[..] else {
        return false;
    };
    let value = |row: &Row, at: usize| row.cells[at].value;
    let percent = |row: &Row| row.cells[change].unit == "%" || !value(row, change).is_finite();
    let percents = grid.header.columns[change].name.contains('%') || grid.rows.iter().all(percent);
    let telling = || {
        grid.rows
            .iter()
            .filter(|row| value(row, change).abs() >= TELLING)
    };
    let bare = |row: &&Row| !value(row, change).is_finite() || value(row, change) == 0.0;
    let agrees = |base: &Row, at: usize| {
        let follow = |row: &Row| follows(value(base, at), value(row, at), value(row, change));
        telling().all(|row| follow(row) == Some(true))
    };
    percents
        && telling().next().is_some()
        && grid
            .rows
            .iter()
            .filter(bare)
            .any(|base| figures.iter().any(|at| agrees(base, *at)))
}

/// Whether columns of changes follow from the columns of figures before them: each from
/// the first one and the one right before it, or from the two right before it.
fn given_in_columns(grid: &Grid) -> bool {
    let columns = 0..grid.header.columns.len();
    let derived = |at: &usize| is_derived(&grid.header.columns[*at].name, &grid.rows, *at);
    let (changes, mut figures): (Vec<usize>, Vec<usize>) = columns.partition(derived);
    // Where rows have no names, the first column may be what they were measured with.
    let unnamed = grid.rows.iter().all(|row| row.labels.is_empty());
    if unnamed && figures.len() == changes.len() + 2 {
        figures.remove(0);
    }
    // A change for each figure but the first, or one for two figures: else it is of some
    // of many metrics.
    if figures.len() < 2 || changes.len() + 1 != figures.len() {
        return false;
    }
    let by = |pair: &dyn Fn(&[usize]) -> (usize, usize)| {
        let told: Option<Vec<bool>> = changes
            .iter()
            .map(|&change| {
                let before: Vec<usize> =
                    figures.iter().copied().filter(|at| *at < change).collect();
                // A change may stand before both of two figures.
                let from = if before.len() < 2 && figures.len() == 2 {
                    figures.clone()
                } else {
                    before
                };
                (from.len() >= 2).then(|| told(grid, pair(&from), change))
            })
            .collect::<Option<Vec<Vec<bool>>>>()
            .map(|told| told.into_iter().flatten().collect());
        told.is_some_and(|told| !told.is_empty() && told.iter().all(|agrees| *agrees))
    };
    by(&|from| (from[0], from[from.len() - 1]))
        || by(&|from| (from[from.len() - 2], from[from.len() - 1]))
}

/// Of each row that tells it, whether its change follows from two of its figures.
fn told(grid: &Grid, (first, second): (usize, usize), change: usize) -> Vec<bool> {
    let name = grid.header.columns[change].name.to_lowercase();
    let percent = |row: &Row| row.cells[change].unit == "%";
    let percents = name.contains('%') || grid.header.columns[change].unit == "%";
    if name.contains("ratio") && percents && grid.rows.len() >= RATIOS {
        return ratios(grid, (first, second), change);
    }
    if name.contains('%') || grid.rows.iter().all(percent) {
        let telling = |row: &&Row| row.cells[change].value.abs() >= TELLING;
        let rows = grid.rows.iter().filter(telling);
        let agrees = |row: &Row| {
            let value = |at: usize| row.cells[at].value;
            follows_either(value(first), value(second), value(change))
        };
        return rows.filter_map(agrees).collect();
    }
    let ratios = ["speedup", "speed-up"];
    let times = |row: &Row| row.cells[change].unit == "x";
    if !grid.rows.iter().all(times) && !ratios.iter().any(|word| name.contains(word)) {
        return Vec::new();
    }
    let agrees = |row: &Row| {
        let value = |at: usize| row.cells[at].value;
        let (a, b, given) = (value(first), value(second), value(change));
        let telling = a > 0.0 && b > 0.0 && (given - 1.0).abs() * 100.0 >= TELLING;
        let near = |ratio: f64| (ratio - given).abs() <= 0.01 + 0.01 * given.abs();
        telling.then(|| near(a / b) || near(b / a))
    };
    grid.rows.iter().filter_map(agrees).collect()
}

/// So many rows of ratios make two columns those of one thing.
const RATIOS: usize = 3;

/// The same of a column that gives one figure in per cent of the other.
fn ratios(grid: &Grid, (first, second): (usize, usize), change: usize) -> Vec<bool> {
    let agrees = |row: &Row| {
        let value = |at: usize| row.cells[at].value;
        let (a, b, given) = (value(first), value(second), value(change));
        let telling = a > 0.0 && b > 0.0 && (a / b - 1.0).abs() * 100.0 >= TELLING;
        let says = |ratio: f64| (ratio * 100.0 - given).abs() <= ROUNDING;
        telling.then(|| says(a / b) || says(b / a))
    };
    grid.rows.iter().filter_map(agrees).collect()
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

/// Whether a column says by how many percent something got better or worse: `improved`, which
/// may be the name of what was changed too, over percentages beside figures that are none.
pub(super) fn says_by_how_much(bare: &str, rows: &[Row], at: usize) -> bool {
    const HOW: [&str; 8] = [
        "improved", "improves", "reduced", "saved", "faster", "slower", "better", "worse",
    ];
    let percent = |cell: &Cell| cell.unit == "%";
    let others = |row: &Row| {
        let others = row
            .cells
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at);
        others.clone().next().is_some() && others.into_iter().all(|(_, cell)| !percent(cell))
    };
    HOW.contains(&bare)
        && rows
            .iter()
            .all(|row| row.cells.get(at).is_some_and(percent) && others(row))
}

/// Whether rows are called `Before` and `After` or the like, and no columns are. Beside them
/// `SMAP on` and `SMAP off` are what was measured with each, unless changes stand there too.
pub(super) fn rows_say(grid: &Grid, columns: &[&str], rows: &[String]) -> bool {
    let changes = |at: usize| {
        let ratio = grid.header.columns[at].name.contains("ratio");
        is_column(grid, at) && !ratio
    };
    say(rows.iter().map(String::as_str))
        && !say(columns.iter().copied())
        && !(0..grid.header.columns.len()).any(changes)
}

/// Whether a name is of a change, and another of what it was made to.
fn say<'n>(names: impl Iterator<Item = &'n str>) -> bool {
    let known: Vec<Name> = names.take(MANY).filter_map(configuration_name).collect();
    known.iter().any(Name::is_base) && known.iter().any(Name::is_change)
}

fn is_column(grid: &Grid, at: usize) -> bool {
    let name = &grid.header.columns[at].name;
    is_derived(name, &grid.rows, at) && change_word(name)
}

/// A column of changes stands beside two columns that it is computed from.
fn change_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    [
        "change", "diff", "delta", "improve", "gain", "speedup", "speed-up", "ratio", "%",
        "regress",
    ]
    .iter()
    .any(|word| lower.contains(word))
}
