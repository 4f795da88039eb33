//! Rows that follow from the others of their table: a mean, a total.

use super::words::is_derived_row;
use crate::grammar::table::{Cell, Grid, Row};

/// Whether a named row holds the mean of the rows without a name, in each column.
pub(super) fn ends_with_mean(grid: &Grid, columns: &[usize]) -> bool {
    let unnamed = || grid.rows.iter().filter(|row| row.labels.is_empty());
    let near = |a: f64, b: f64| (a - b).abs() <= 0.005 * b.abs();
    let is_mean = |at: usize, mean: f64| {
        let values = || unnamed().map(|row| row.cells[at].value);
        let n = values().count() as f64;
        let harmonic = n / values().map(f64::recip).sum::<f64>();
        near(mean, values().sum::<f64>() / n) || near(mean, harmonic)
    };
    let mut named = grid.rows.iter().filter(|row| !row.labels.is_empty());
    named.any(|row| {
        is_derived_row(&row.labels.join(" "))
            && columns.iter().all(|at| is_mean(*at, row.cells[*at].value))
    })
}

/// Whether a row called a total is the sum of the others: they are parts of one thing.
pub(super) fn adds_up(grid: &Grid) -> bool {
    let is_total = |row: &&Row| {
        let name = row.labels.join(" ").to_lowercase();
        let name = name.trim_matches(|c: char| !c.is_alphanumeric());
        matches!(name, "total" | "sum" | "all" | "overall")
    };
    let Some(total) = grid.rows.iter().find(is_total) else {
        return false;
    };
    let value = |cell: &Cell| {
        let power = cell
            .unit
            .chars()
            .next()
            .and_then(|letter| "KMGT".find(letter));
        let size = power.filter(|_| matches!(&cell.unit[1..], "" | "B" | "iB"));
        cell.value * 1024_f64.powi(size.map_or(0, |power| power as i32 + 1))
    };
    let others = || grid.rows.iter().filter(|row| !is_total(row));
    let sums = |at: usize| {
        let (sum, total) = (
            others().map(|row| value(&row.cells[at])).sum::<f64>(),
            value(&total.cells[at]),
        );
        total > 0.0 && (sum - total).abs() <= 0.015 * total
    };
    let columns = grid.header.columns.len();
    let sizes = (0..columns).filter(|at| total.cells[*at].unit != "%");
    let (all, summed) = (sizes.clone().count(), sizes.filter(|at| sums(*at)).count());
    others().count() >= 2 && all > 0 && 2 * summed > all
}
