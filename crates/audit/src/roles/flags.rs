//! Tables in which a column of 0 and 1 says whether something was switched on:
//!
//! ```text
//! size   prefetch   threads   rate        load
//! 64     0          1         23 GB/s     100%
//! 64     1          1         46 GB/s      79%
//! 64     0          4         81 GB/s     370%
//! 64     1          4         96 GB/s     160%
//! ```
//!
//! Each row has another one that differs in this column alone, figures apart.

use super::words::{is_derived, names_metric};
use super::{Role, Roles};
use crate::grammar::table::{Cell, Column, Grid, Header, Row};

/// The roles of a table that [`named`] has written anew.
pub(super) const ROLES: Roles = Roles {
    columns: Role::Metrics,
    rows: Role::Configurations,
    parameter: None,
    repetition: None,
    confidence: 80,
    because: "each row has another one that differs in a column of 0 and 1",
};

/// So many pairs of rows do not come about by chance.
const PAIRS: usize = 2;

/// The table with the workload and the setting as names of each row: `size=64 threads=1` and
/// `prefetch=0`.
pub(super) fn named(grid: &Grid) -> Option<Grid> {
    let columns = &grid.header.columns;
    let rows = grid.rows.len();
    let mut flags = (0..columns.len()).filter(|at| is_flag(grid, *at));
    let flag = flags.next().filter(|_| flags.next().is_none())?;
    if !grid.header.groups.is_empty() || rows < 2 * PAIRS || rows % 2 == 1 {
        return None;
    }
    // One below the other, or all without before all with it.
    let beside = |at: usize| (2 * at, 2 * at + 1);
    let below = |at: usize| (at, at + rows / 2);
    [pairs(rows, beside), pairs(rows, below)]
        .into_iter()
        .find_map(|pairs| by_pairs(grid, flag, &pairs))
}

/// Numbers of two rows.
type Pair = (usize, usize);

fn pairs(rows: usize, pair: impl Fn(usize) -> Pair) -> Vec<Pair> {
    (0..rows / 2).map(pair).collect()
}

/// Whether a column has nothing but 0 and 1, both of them, and is called as no metric is.
fn is_flag(grid: &Grid, at: usize) -> bool {
    let cells = || grid.rows.iter().filter_map(|row| row.cells.get(at));
    let flag = |cell: &Cell| {
        (cell.value == 0.0 || cell.value == 1.0) && cell.unit.is_empty() && !cell.signed
    };
    let name = &grid.header.columns[at].name;
    cells().all(flag)
        && cells().any(|cell| cell.value == 0.0)
        && cells().any(|cell| cell.value == 1.0)
        && name.starts_with(|c: char| c.is_alphabetic())
        && !names_metric(name)
}

/// The table written anew, if the rows of each pair differ in the flag and in figures only.
fn by_pairs(grid: &Grid, flag: usize, pairs: &[Pair]) -> Option<Grid> {
    let columns = &grid.header.columns;
    let cell = |row: usize, at: usize| grid.rows.get(row)?.cells.get(at);
    let switched = |(a, b): &Pair| {
        let values = [cell(*a, flag), cell(*b, flag)].map(|cell| cell.map(|cell| cell.value));
        let first = cell(0, flag).map(|cell| cell.value);
        values[0] != values[1] && values[0] == first
    };
    let names = |row: usize| grid.rows.get(row).map(|row| &row.labels);
    let same = |at: usize| {
        let plain = |cell: &Cell| cell.value.fract() == 0.0 && cell.unit.is_empty();
        pairs.iter().all(|(a, b)| {
            let (a, b) = (cell(*a, at), cell(*b, at));
            a.is_some_and(plain) && a.map(|cell| cell.value) == b.map(|cell| cell.value)
        })
    };
    let others = || (0..columns.len()).filter(|at| *at != flag);
    let keys: Vec<usize> = others().filter(|at| same(*at)).collect();
    let figures: Vec<usize> = others().filter(|at| !keys.contains(at)).collect();
    let measured = |at: &usize| !is_derived(&columns[*at].name, &grid.rows, *at);
    let workload = |row: usize| -> String {
        let settings = keys.iter().filter_map(|at| {
            let value = cell(row, *at)?.value;
            Some(format!("{}={value}", columns[*at].name))
        });
        let labels = names(row).into_iter().flatten().cloned();
        labels.chain(settings).collect::<Vec<_>>().join(" ")
    };
    let mut workloads: Vec<String> = pairs.iter().map(|(a, _)| workload(*a)).collect();
    workloads.sort_unstable();
    let distinct = workloads.windows(2).all(|two| two[0] != two[1]);
    let alike = pairs.iter().all(|(a, b)| names(*a) == names(*b));
    if !pairs.iter().all(switched) || !alike || !distinct || !figures.iter().any(measured) {
        return None;
    }
    let name = &columns[flag].name;
    let row = |(at, row): (usize, &Row)| Row {
        labels: vec![
            workload(at),
            format!(
                "{name}={}",
                row.cells.get(flag).map_or(0.0, |cell| cell.value)
            ),
        ],
        cells: figures
            .iter()
            .filter_map(|at| row.cells.get(*at).cloned())
            .collect(),
    };
    let own: Vec<Column> = figures.iter().map(|at| columns[*at].clone()).collect();
    Some(Grid {
        header: Header {
            keys: vec![String::new(), name.clone()],
            columns: own,
            ..grid.header.clone()
        },
        rows: grid.rows.iter().enumerate().map(row).collect(),
        ..grid.clone()
    })
}
