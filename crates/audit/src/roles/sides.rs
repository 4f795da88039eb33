//! Tables with two columns of each metric, one for each configuration:
//!
//! ```text
//! | Query | Avg(s) | Base Avg(s) | Delta(Avg) | StdDev(%) | Base StdDev(%) | Iters |
//! | Q7    | 38.87  | 38.44       |   +1.13%   |   7.17%   |   6.92%        | 20    |
//!
//! threads  IOPS old  IOPS new  latency old  latency new
//! ```

use super::words::{is_derived, names_metric};
use crate::grammar::table::{Cell, Column, Grid, Header, PlusMinus, Row};
use crate::options::SpreadKind;

/// Words for what a change is compared with, and for what was changed.
const BASES: &[&str] = &[
    "base",
    "baseline",
    "old",
    "before",
    "orig",
    "original",
    "unpatched",
    "vanilla",
    "master",
    "ref",
    "reference",
];
const CHANGED: &[&str] = &["new", "after", "patched", "now"];
/// What a standard deviation is called, `(%)` apart.
const DEVIATIONS: &[&str] = &["stddev", "stdev", "std", "sd", "std dev"];
/// What the number of runs behind a mean is called.
const RUNS: &[&str] = &["iters", "iterations", "runs", "n", "samples"];

/// A table of which each half is a configuration.
pub(super) struct Parted {
    pub(super) grid: Grid,
    pub(super) runs: Option<u32>,
    pub(super) spread: Option<SpreadKind>,
    /// Whether a column of changes stands beside them.
    pub(super) changes: bool,
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
        let listed = BASES.contains(&word) || CHANGED.contains(&word);
        listed.then(|| word.to_string())
    };
    let first = lower.split_once(' ');
    let last = lower.rsplit_once(' ');
    first
        .and_then(|(word, rest)| Some((known(word)?, rest.trim().to_string())))
        .or_else(|| last.and_then(|(rest, word)| Some((known(word)?, rest.trim().to_string()))))
}

/// Parts a table whose columns are pairs of one metric each, at least one of which has
/// the word for a configuration in its name.
pub(super) fn part(grid: &Grid) -> Option<Parted> {
    if !grid.header.groups.is_empty() || grid.rows.iter().any(|row| row.labels.is_empty()) {
        return None;
    }
    let columns = grid.header.columns.iter().enumerate();
    let named = |(at, column): (usize, &Column)| {
        let (word, metric) = side(&column.name)
            .unwrap_or_else(|| (String::new(), column.name.trim().to_lowercase()));
        Side { at, word, metric }
    };
    let sides: Vec<Side> = columns.map(named).collect();
    let derived = |side: &Side| {
        is_derived(&grid.header.columns[side.at].name, &grid.rows, side.at) && !deviates(side)
    };
    let mut pairs: Vec<[&Side; 2]> = Vec::new();
    for (at, first) in sides.iter().enumerate() {
        let same = |side: &&Side| side.metric == first.metric;
        let mut others = sides[at + 1..].iter().filter(same);
        let Some(second) = others.next() else {
            continue;
        };
        if sides[..at].iter().any(|side| same(&side)) {
            continue;
        }
        let apart = first.word != second.word && !first.metric.is_empty();
        if others.next().is_some() || !apart || derived(first) || derived(second) {
            return None;
        }
        // What was changed stands behind what it is compared with.
        let turned =
            BASES.contains(&second.word.as_str()) || CHANGED.contains(&first.word.as_str());
        pairs.push(if turned {
            [second, first]
        } else {
            [first, second]
        });
    }
    let [first, second] = *pairs.iter().find(|pair| !deviates(pair[0]))?;
    if !names_metric(&first.metric) {
        return None;
    }
    // A table of nothing but `before` and `after` says more by itself.
    let alike = |pair: &[&Side; 2]| pair[0].word == first.word && pair[1].word == second.word;
    if !pairs.iter().all(alike) {
        return None;
    }
    let figures: Vec<&[&Side; 2]> = pairs.iter().filter(|pair| !deviates(pair[0])).collect();
    let spreads = pairs
        .iter()
        .find(|pair| deviates(pair[0]) && figures.len() == 1);
    // Columns that are no pair, none of a change, are parameters at most.
    let paired = |at: usize| pairs.iter().flatten().any(|side| side.at == at);
    let rest = || sides.iter().filter(|s| !paired(s.at) && !derived(s));
    if rest().count() > pairs.len() * 2 + 1 {
        return None;
    }
    let name = |own: &str, other: &str| match (own.is_empty(), BASES.contains(&other)) {
        (false, _) => own.to_string(),
        (true, true) => "new".to_string(),
        (true, false) => "base".to_string(),
    };
    let groups = vec![
        name(&first.word, &second.word),
        name(&second.word, &first.word),
    ];
    let column = |pair: &[&Side; 2], half: usize| Column {
        name: pair[0].metric.clone(),
        ..grid.header.columns[pair[half].at].clone()
    };
    let cell = |row: &Row, pair: &[&Side; 2], half: usize| {
        let mut cell: Cell = row.cells[pair[half].at].clone();
        let spread = spreads.map(|spread| &row.cells[spread[half].at]);
        if let Some(spread) = spread.filter(|spread| spread.value >= 0.0) {
            let relative = spreads.is_some_and(|s| grid.header.columns[s[half].at].unit == "%");
            cell.spread = Some(PlusMinus {
                value: spread.value,
                percent: spread.unit == "%" || relative,
            });
        }
        cell
    };
    let runs = rest().find(|side| RUNS.contains(&side.metric.as_str()));
    let runs = runs.and_then(|side| constant(grid, side.at));
    let both = |of: &dyn Fn(&[&Side; 2], usize) -> Column| -> Vec<Column> {
        let half = |half: usize| figures.iter().map(move |pair| of(pair, half));
        half(0).chain(half(1)).collect()
    };
    let rows = grid.rows.iter().map(|row| Row {
        labels: row.labels.clone(),
        cells: (0..2)
            .flat_map(|half| figures.iter().map(move |pair| (half, *pair)))
            .map(|(half, pair)| cell(row, pair, half))
            .collect(),
    });
    let changes = sides.iter().any(|side| !paired(side.at) && derived(side));
    Some(Parted {
        runs,
        changes,
        spread: spreads.map(|_| SpreadKind::Sd),
        grid: Grid {
            header: Header {
                columns: both(&column),
                groups,
                group_key: String::new(),
                ..grid.header.clone()
            },
            rows: rows.collect(),
            ..grid.clone()
        },
    })
}

fn deviates(side: &Side) -> bool {
    let name = side.metric.trim_end_matches(" (%)").trim_end_matches("(%)");
    DEVIATIONS.contains(&name.trim())
}

/// The whole number that stands in all rows of a column.
fn constant(grid: &Grid, at: usize) -> Option<u32> {
    let mut cells = grid.rows.iter().map(|row| row.cells[at].value);
    let first = cells.next()?;
    let whole = (2.0..=100_000.0).contains(&first) && first.fract() == 0.0;
    (whole && cells.all(|value| value == first)).then_some(first as u32)
}
