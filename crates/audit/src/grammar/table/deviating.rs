//! Tables with means and their deviations in one cell, which the header says:
//!
//! ```text
//! jobs   v6.1 avg (stdev)   v6.1+lru avg (stdev)   change
//!    1      1152 (7.4)          1169 (9.1)          +1.4%
//!    2      1545 (12.5)         1584 (10.4)         +2.5%
//! ```
//!
//! Each deviation gets a column of its own behind that of its mean.

use super::{cell_value, is_rule, rewritten, row, wide_cells};
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;

/// A table has no more lines.
const MOST: usize = 400;
/// What a standard deviation is called.
const DEVIATIONS: &[&str] = &["stddev", "stdev", "std", "sd", "std dev", "std. dev."];
/// What stands before that and is no name of a column.
const MEANS: &[&str] = &["avg", "average", "mean"];

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let head = here(0).filter(|text| text.contains(['(', '[']))?;
    let names = cells(head);
    let means: Vec<Option<&str>> = names.iter().map(|name| mean(name)).collect();
    if means.iter().flatten().count() < 2 {
        return None;
    }
    let named = names
        .iter()
        .zip(&means)
        .flat_map(|(name, mean)| match mean {
            Some(mean) => vec![*mean, "stdev"],
            None => vec![*name],
        });
    let first = if is_rule(here(1)?) { 2 } else { 1 };
    let names = format!("| {} |", named.collect::<Vec<_>>().join(" | "));
    let row = |text: &str| put_apart(text, &means);
    rewritten::read_rows(lines, (0, names), first, MOST, row)
}

/// The cells of a row with each deviation apart from its mean.
fn put_apart(text: &str, means: &[Option<&str>]) -> Option<String> {
    let cells = cells(text);
    let mut apart = Vec::new();
    for (cell, mean) in cells.iter().zip(means) {
        match mean {
            Some(_) => apart.extend(with_deviation(cell)?),
            None => apart.push(*cell),
        }
    }
    (cells.len() == means.len()).then(|| format!("| {} |", apart.join(" | ")))
}

/// `1152 (7.4)`: a mean and its deviation.
fn with_deviation(cell: &str) -> Option<[&str; 2]> {
    let (mean, deviation) = cell.strip_suffix(')')?.split_once('(')?;
    let parts = [mean.trim(), deviation.trim()];
    let figures = parts.iter().all(|part| {
        cell_value(part).is_some_and(|cell| cell.spread.is_none() && cell.value >= 0.0)
    });
    figures.then_some(parts)
}

/// What a column of means with deviations is called; `None` if it is none.
fn mean(name: &str) -> Option<&str> {
    let (name, deviation) = name
        .strip_suffix([')', ']'])
        .and_then(|head| head.rsplit_once(['(', '[']))?;
    let lower = deviation.trim().to_ascii_lowercase();
    let name = name.trim_end();
    let bare = MEANS.iter().find_map(|word| {
        let at = name.len().checked_sub(word.len())?;
        let (head, tail) = (name.get(..at)?, name.get(at..)?);
        (tail.eq_ignore_ascii_case(word) && head.ends_with(' ')).then(|| head.trim_end())
    });
    let name = bare.unwrap_or(name);
    (DEVIATIONS.contains(&lower.as_str()) && !name.is_empty()).then_some(name)
}

fn cells(text: &str) -> Vec<&str> {
    row::pipe_cells(text).unwrap_or_else(|| wide_cells(text))
}

#[cfg(test)]
mod tests {
    use crate::grammar::table::Table;
    use crate::grammar::table::rewritten;
    use crate::grammar::testing;

    const TABLE: &str = " jobs   v6.1 avg (stdev)   v6.1+lru avg (stdev)   change\n \
                         ----   ----------------   --------------------   ------\n \
                         1\t2152.5 (7.4)\t\t2169 (9.1)\t\t+0.8%\n \
                         2\t2545.5 (12.5)\t\t2584 (10.4)\t\t+1.5%\n";

    #[test]
    fn a_deviation_behind_a_mean_has_a_column_of_its_own() {
        let block = testing::read(&Table, TABLE).unwrap();
        let grid = rewritten::grid(&block).unwrap();
        let columns = grid
            .header
            .columns
            .iter()
            .map(|column| column.name.as_str());
        assert_eq!(
            columns.collect::<Vec<_>>(),
            ["jobs", "v6.1", "stdev", "v6.1+lru", "stdev", "change"]
        );
        assert_eq!((&grid.at[..], block.taken.len()), (&[2, 3][..], 4));
        let values: Vec<f64> = grid.rows[1].cells.iter().map(|cell| cell.value).collect();
        assert_eq!(values, [2.0, 2545.5, 12.5, 2584.0, 10.4, 1.5]);
    }

    #[test]
    fn they_are_means_of_each_configuration() {
        let post = format!("fio throughput in MB/s, 5 runs of each kernel:\n\n{TABLE}");
        let audit = crate::read(post.as_bytes(), "post", &Default::default()).unwrap();
        let means = &audit.records.summaries;
        assert_eq!(means.len(), 4);
        assert!(means.iter().all(|mean| mean.metric != "stdev"));
        let first = &means[0];
        assert_eq!((first.configuration.as_str(), first.mean), ("v6.1", 2152.5));
        let deviation = assize_bundle::Spread::StandardDeviation(7.4);
        assert_eq!(first.spread, Some(deviation));
    }

    #[test]
    fn what_the_header_does_not_call_a_deviation_is_none() {
        let other = TABLE.replace("(stdev)", "(KB/s)");
        let grids = testing::read(&Table, &other);
        let grid = grids.as_ref().and_then(rewritten::grid);
        let deviates = |name: &str| name.contains("stdev");
        assert!(grid.is_none_or(|grid| !grid.header.columns.iter().any(|c| deviates(&c.name))));
    }
}
