//! Tables whose columns measure the same of different things, as their figures tell.

use std::collections::BTreeSet;

use super::decide::range;
use super::words::{names_measurement, names_metric, parameter_column};
use crate::grammar::quantity::{is_measure, is_quotient, is_time};
use crate::grammar::table::{Grid, Row};

/// Whether a name has a number or says what is done, as that of a workload would.
pub(super) fn may_be_work(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_digit()) || is_work(name)
}

/// Whether a name is that of what is done.
pub(super) fn is_work(name: &str) -> bool {
    crate::group::is_work(name) || crate::group::names::workload_score(name) > 0
}

/// Whether all columns are called by one measure, and before it by what was measured, as
/// `checksum cycles` and `crc32c cycles` are; not by a kind of work or a statistic.
pub(super) fn measure_alike(grid: &Grid, columns: &[usize]) -> bool {
    const STATISTICS: [&str; 12] = [
        "avg", "average", "min", "minimum", "max", "maximum", "mean", "median", "total", "std",
        "real", "user",
    ];
    let parted = |at: &usize| grid.header.columns[*at].name.rsplit_once(' ');
    let Some(names) = columns.iter().map(parted).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let other = |head: &str| {
        let lower = head.to_lowercase();
        let word = STATISTICS.iter().any(|word| lower.contains(word));
        word || names_metric(head) || is_work(head)
    };
    let measure = |metric: &str| names_measurement(metric) || metric == "cycles";
    names.len() >= 2
        && names
            .iter()
            .all(|(head, metric)| measure(metric) && *metric == names[0].1 && !other(head))
}

/// Whether the columns measure the same of different things, and the rows are what it was
/// measured with: figures of one unit of a time or a rate that differ little along the rows
/// and much along the columns, below names that are of nothing else.
pub(super) fn are(grid: &Grid, columns: &[usize]) -> bool {
    if !(2..=6).contains(&columns.len()) || grid.rows.len() < 3 {
        return false;
    }
    let name = |at: &usize| grid.header.columns[*at].name.as_str();
    let other = |at: &usize| names_metric(name(at)) || may_be_work(name(at));
    let unit = |row: &Row, at: usize| {
        let own = &row.cells[at].unit;
        let header = &grid.header.columns[at].unit;
        let unit = if own.is_empty() { header } else { own };
        let measured = is_time(unit) || is_measure(unit) || is_quotient(unit);
        // The name of one metric stands over all columns.
        (measured || unit.is_empty() && names_measurement(&grid.metric)).then(|| unit.clone())
    };
    let numbered = parameter_column(&grid.header).is_some_and(|at| !columns.contains(&at));
    let alike = |row: &Row| {
        let first = unit(row, columns[0]);
        let positive = columns.iter().all(|at| row.cells[*at].value > 0.0);
        let same = columns.iter().all(|at| unit(row, *at) == first);
        positive && first.is_some() && same && (numbered || !row.labels.is_empty())
    };
    let spread = |values: &mut dyn Iterator<Item = f64>| {
        let values: Vec<f64> = values.collect();
        let (low, high) = range(&values);
        (high / low).ln()
    };
    let rows: Vec<&Row> = grid.rows.iter().filter(|row| alike(row)).collect();
    // A figure of `1.02 GB/s` may stand beside one of `998 MB/s`.
    let whole = |row: &&Row| columns.iter().all(|at| !row.cells[*at].value.is_nan());
    let count = grid.rows.iter().filter(whole).count();
    if columns.iter().any(other) || rows.len() < 3 || 4 * rows.len() < 3 * count {
        return false;
    }
    let mean = |spreads: Vec<f64>| spreads.iter().sum::<f64>() / spreads.len() as f64;
    let along = rows
        .iter()
        .map(|row| spread(&mut columns.iter().map(|at| row.cells[*at].value)));
    let one = unit(rows[0], columns[0]);
    let same = |row: &&&Row| unit(row, columns[0]) == one;
    let down = columns.iter().map(|at| {
        let own = rows.iter().filter(same).map(|row| row.cells[*at].value);
        spread(&mut own.into_iter())
    });
    let (along, down) = (mean(along.collect()), mean(down.collect()));
    // Of several units the sizes are not known, but they are other ones.
    2.0 * along < down || !rows.iter().all(|row| same(&row))
}

/// Whether all figures of each row have one unit, and not all rows the same.
pub(super) fn units_along_rows(grid: &Grid, columns: &[usize]) -> bool {
    let unit = |row: &Row| -> Option<String> {
        let mut units = columns
            .iter()
            .map(|at| row.cells.get(*at).map(|cell| &cell.unit));
        let first = units.next()??;
        units.all(|unit| unit == Some(first)).then(|| first.clone())
    };
    let units: Option<BTreeSet<String>> = grid.rows.iter().map(unit).collect();
    columns.len() >= 2 && units.is_some_and(|units| units.len() >= 2)
}
