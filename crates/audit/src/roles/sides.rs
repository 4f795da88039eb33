//! Tables with two columns of each metric, one for each configuration:
//!
//! ```text
//! | Query | Avg(s) | Base Avg(s) | Delta(Avg) | StdDev(%) | Base StdDev(%) | Iters |
//! | Q7    | 38.87  | 38.44       |   +1.13%   |   7.17%   |   6.92%        | 20    |
//!
//! threads  IOPS old  IOPS new  latency old  latency new
//! ```

use super::words::{is_derived, names_metric};
use crate::grammar::table::{Cell, Column, Grid, Header, PlusMinus, Row, is_unit};
use crate::options::SpreadKind;
use crate::states;

/// What a standard deviation is called, `(%)` apart.
const DEVIATIONS: &[&str] = &["stddev", "stdev", "std", "sd", "std dev"];
/// What the number of runs behind a mean is called.
const RUNS: &[&str] = &["iters", "iterations", "runs", "n", "samples"];

/// A table of which each half is a configuration.
pub(super) struct Parted {
    pub(super) grid: Grid,
    pub(super) runs: Option<u32>,
    pub(super) spread: Option<SpreadKind>,
}

/// A column of one configuration.
struct Side {
    at: usize,
    /// The word for the configuration; empty where only the other column has one.
    word: String,
    metric: String,
}

/// The word for a configuration at the beginning or the end of a name, and the rest.
fn side(name: &str) -> Option<(String, String)> {
    let lower = name.to_lowercase();
    let known = |word: &str| {
        let word = word.trim_matches(|c: char| matches!(c, '(' | ')' | '[' | ']' | ','));
        states::is_bare(word).then(|| word.to_string())
    };
    let first = lower.split_once(' ');
    let last = lower.rsplit_once(' ');
    first
        .and_then(|(word, rest)| Some((known(word)?, rest.trim().to_string())))
        .or_else(|| last.and_then(|(rest, word)| Some((known(word)?, rest.trim().to_string()))))
}

/// The state of a column that has its metric or its unit in brackets: `base[bw]`, `new (us)`.
fn in_brackets(column: &Column) -> Option<(String, String)> {
    let lower = column.name.to_lowercase();
    let inner = lower.strip_suffix([']', ')']);
    let (word, metric) = match inner.and_then(|head| head.split_once(['[', '('])) {
        Some((word, metric)) => (word, metric.to_string()),
        None => (lower.as_str(), column.unit.to_lowercase()),
    };
    let known = states::is_bare(word.trim()) && !metric.is_empty();
    known.then(|| (word.trim().to_string(), metric))
}

/// Parts a table whose columns are pairs of one metric each, at least one of which has
/// the word for a configuration in its name.
pub(super) fn part(grid: &Grid) -> Option<Parted> {
    if !grid.header.groups.is_empty() || grid.rows.iter().any(|row| row.labels.is_empty()) {
        return None;
    }
    let sides = sides(grid);
    let pairs = pairs(grid, &sides)?;
    let [first, second] = *pairs.iter().find(|pair| !deviates(pair[0]))?;
    // A table of nothing but `before` and `after` says more by itself.
    let alike = |pair: &Pair<'_>| pair[0].word == first.word && pair[1].word == second.word;
    let measured = names_metric(&first.metric) || is_unit(&first.metric);
    if !measured || !pairs.iter().all(alike) {
        return None;
    }
    // Columns that are no pair, none of a change, are parameters at most.
    let paired = |side: &Side| pairs.iter().flatten().any(|other| other.at == side.at);
    let rest: Vec<&Side> = sides
        .iter()
        .filter(|side| !paired(side) && !derived(grid, side))
        .collect();
    if rest.len() > pairs.len() * 2 + 1 {
        return None;
    }
    let runs = rest
        .iter()
        .find(|side| RUNS.contains(&side.metric.as_str()))
        .and_then(|side| constant(grid, side.at));
    let (deviations, figures): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
        pairs.into_iter().partition(|pair| deviates(pair[0]));
    let spread = deviations.first().filter(|_| figures.len() == 1);
    Some(Parted {
        runs,
        spread: spread.map(|_| SpreadKind::Sd),
        grid: halves(grid, &figures, spread),
    })
}

fn sides(grid: &Grid) -> Vec<Side> {
    let columns = grid.header.columns.iter().enumerate();
    let named = |(at, column): (usize, &Column)| {
        let (word, metric) = side(&column.name)
            .or_else(|| in_brackets(column))
            .unwrap_or_else(|| (String::new(), column.name.trim().to_lowercase()));
        Side { at, word, metric }
    };
    let mut sides: Vec<Side> = columns.map(named).collect();
    let more: Vec<Option<(String, String)>> = (grid.header.columns.iter().enumerate())
        .map(|(at, column)| other_side(&column.name, at, &sides))
        .collect();
    for (side, more) in sides.iter_mut().zip(more) {
        if let Some((word, metric)) = more {
            (side.word, side.metric) = (word, metric);
        }
    }
    sides
}

/// The word at the beginning of a name that is a state only because the same metric stands
/// in another column behind the opposite: `base time`, `RFC time`.
fn other_side(name: &str, at: usize, sides: &[Side]) -> Option<(String, String)> {
    let (word, metric) = name.trim().split_once(' ')?;
    let (lower, metric) = (word.to_lowercase(), metric.trim().to_lowercase());
    let opposite = |side: &Side| match states::is_bare_base(&side.word) {
        true => states::is_change(&lower),
        false => states::is_bare(&side.word) && states::is_base(&lower),
    };
    let own = sides.get(at).is_some_and(|side| side.word.is_empty());
    let mut others = sides.iter().filter(|side| side.metric == metric);
    (own && others.any(opposite)).then(|| (word.to_owned(), metric))
}

/// Whether a column was computed from others.
fn derived(grid: &Grid, side: &Side) -> bool {
    is_derived(&grid.header.columns[side.at].name, &grid.rows, side.at) && !deviates(side)
}

/// What is compared with, and what was changed.
type Pair<'s> = [&'s Side; 2];

/// The columns of one metric, two by two; `None` if there are three of one, or two that
/// nothing tells apart.
fn pairs<'s>(grid: &Grid, sides: &'s [Side]) -> Option<Vec<Pair<'s>>> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for (at, first) in sides.iter().enumerate() {
        // A change beside each pair is no pair.
        if first.word.is_empty() && derived(grid, first) {
            continue;
        }
        let same = |side: &&Side| side.metric == first.metric;
        let mut others = sides[at + 1..].iter().filter(same);
        let Some(second) = others.next() else {
            continue;
        };
        if sides[..at].iter().any(|side| same(&side)) {
            continue;
        }
        let apart = first.word != second.word && !first.metric.is_empty();
        if others.next().is_some() || !apart || derived(grid, first) || derived(grid, second) {
            return None;
        }
        let changed = states::is_bare(&first.word) && !states::is_bare_base(&first.word);
        let turned = states::is_bare_base(&second.word) || changed;
        pairs.push(if turned {
            [second, first]
        } else {
            [first, second]
        });
    }
    Some(pairs)
}

/// The table with all columns of one configuration before those of the other, and in the
/// figures of a single pair the deviations that stand beside them.
fn halves(grid: &Grid, figures: &[Pair<'_>], spread: Option<&Pair<'_>>) -> Grid {
    let places = || (0..2).flat_map(|half| figures.iter().map(move |pair| (half, pair)));
    let column = |(half, pair): (usize, &Pair<'_>)| Column {
        name: pair[0].metric.clone(),
        ..grid.header.columns[pair[half].at].clone()
    };
    let deviation = |row: &Row, half: usize| {
        let at = spread?[half].at;
        let cell = &row.cells[at];
        let percent = cell.unit == "%" || grid.header.columns[at].unit == "%";
        (cell.value >= 0.0).then_some(PlusMinus {
            value: cell.value,
            percent,
        })
    };
    let cell = |row: &Row, half: usize, pair: &Pair<'_>| {
        let cell = row.cells[pair[half].at].clone();
        let spread = deviation(row, half).or(cell.spread);
        Cell { spread, ..cell }
    };
    let rows = grid.rows.iter().map(|row| Row {
        labels: row.labels.clone(),
        cells: places().map(|(half, pair)| cell(row, half, pair)).collect(),
    });
    let groups = figures.first().map(|[first, second]| {
        [(first, second), (second, first)].map(|(own, other)| configuration(&own.word, &other.word))
    });
    Grid {
        header: Header {
            columns: places().map(column).collect(),
            groups: groups.into_iter().flatten().collect(),
            group_key: String::new(),
            ..grid.header.clone()
        },
        rows: rows.collect(),
        ..grid.clone()
    }
}

/// What a configuration is called, if need be from the word for the other.
fn configuration(own: &str, other: &str) -> String {
    match (own.is_empty(), states::is_bare_base(other)) {
        (false, _) => own.to_string(),
        (true, true) => "new".to_string(),
        (true, false) => "base".to_string(),
    }
}

fn deviates(side: &Side) -> bool {
    is_deviation(&side.metric)
}

/// Whether a name in small letters is that of standard deviations.
fn is_deviation(name: &str) -> bool {
    let name = name.trim_end_matches(" (%)").trim_end_matches("(%)");
    let name = name.trim();
    let bare = name
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    DEVIATIONS.contains(&bare.unwrap_or(name))
}

/// A table in which a column of standard deviations stands behind each one of figures, with
/// each deviation put to its figure; `None` where there are not two such columns.
pub(super) fn with_deviations(grid: &Grid) -> Option<Grid> {
    let columns = &grid.header.columns;
    let deviates = |at: usize| is_deviation(&columns[at].name.to_lowercase());
    let beside: Vec<usize> = (0..columns.len()).filter(|at| deviates(*at)).collect();
    let behind = |at: &usize| *at > 0 && !deviates(at - 1);
    // A parameter may stand before the figures, and changes behind them.
    let own = |at: &usize| !beside.contains(at) && !beside.contains(&(at + 1));
    let measured = |at: &usize| own(at) && !is_derived(&columns[*at].name, &grid.rows, *at);
    let alone = (0..columns.len()).filter(measured).count();
    if beside.len() < 2 || !beside.iter().all(behind) || alone > 1 || !grid.header.groups.is_empty()
    {
        return None;
    }
    let cell = |row: &Row, at: usize| {
        let cell = row.cells.get(at)?.clone();
        let deviation = row.cells.get(at + 1).filter(|_| beside.contains(&(at + 1)));
        let spread = deviation
            .filter(|cell| cell.value >= 0.0)
            .map(|deviation| PlusMinus {
                value: deviation.value,
                percent: deviation.unit == "%" || columns[at + 1].name.contains('%'),
            });
        Some(Cell {
            spread: spread.or(cell.spread),
            ..cell
        })
    };
    let own = || (0..columns.len()).filter(|at| !beside.contains(at));
    let rows = grid.rows.iter().map(|row| Row {
        labels: row.labels.clone(),
        cells: own().filter_map(|at| cell(row, at)).collect(),
    });
    Some(Grid {
        header: Header {
            columns: own().map(|at| columns[at].clone()).collect(),
            ..grid.header.clone()
        },
        rows: rows.collect(),
        ..grid.clone()
    })
}

/// The whole number that stands in all rows of a column.
fn constant(grid: &Grid, at: usize) -> Option<u32> {
    let mut cells = grid.rows.iter().map(|row| row.cells[at].value);
    let first = cells.next()?;
    let whole = (2.0..=100_000.0).contains(&first) && first.fract() == 0.0;
    (whole && cells.all(|value| value == first)).then_some(first as u32)
}
