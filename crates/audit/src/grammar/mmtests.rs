//! Comparisons as MMTests prints them.
//!
//! The names of the kernels are above the columns, often on two lines. Each row has a statistic
//! (`Amean`, `Hmean`, `Min`, …), a parameter of the test, and, for each kernel, a value with its
//! change in parentheses; the baseline is the column without changes. Values are statistics over a
//! number of iterations that is not printed, so they become summaries without n: their ratios can
//! be computed but not judged.

use super::prelude::*;

/// MMTests' table of kernels.
pub const MMTESTS: Grammar = Grammar {
    reach: 3,
    names_what_it_compares: true,
    ..Grammar::new("mmtests", starts, read)
};

/// Statistics that are means or medians.
const MEANS: &[&str] = &[
    "Amean", "Hmean", "Gmean", "BAmean", "BHmean", "Mean", "Median",
];
/// Statistics of spread and extremes.
const OTHERS: &[&str] = &[
    "Stddev", "CoeffVar", "Min", "Max", "1st", "2nd", "3rd", "CI",
];

fn starts(line: &str) -> bool {
    // Names of columns begin far to the right.
    line.starts_with("          ") || line.contains('\t')
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let heads = (1..=2).find(|&at| lines.get(at).is_some_and(|line| row(&line.text).is_some()))?;
    let columns = row(&lines[heads].text)?.values.len();
    let names = names(&lines[..heads], columns)?;
    let rows = || lines[heads..].iter().map_while(|line| row(&line.text));
    let rows = || rows().filter(|row| row.changes.len() == columns);
    let base = (0..columns).find(|at| rows().all(|row| row.changes[*at] == 0.0))?;
    let mut block = Block::default();
    block.taken.extend(vec!["mmtests kernels" as Taken; heads]);
    for (at, line) in lines.iter().enumerate().skip(heads) {
        let same = line.depth == lines[0].depth;
        let Some(row) = row(&line.text).filter(|r| same && r.values.len() == columns) else {
            break;
        };
        block.taken.push(if row.mean {
            "mmtests mean"
        } else {
            "mmtests statistic"
        });
        if !row.mean {
            continue;
        }
        let others = (0..columns).filter(|at| *at != base);
        for column in std::iter::once(base).chain(others) {
            let labels = configuration(Some(&names[column]));
            let figure = Figure::new(row.metric.clone(), row.values[column], "");
            block.find(at, summary(&labels, figure, None, None));
        }
    }
    Some(block)
}

struct Row {
    /// Statistic and parameter, as in `Amean 4`.
    metric: String,
    mean: bool,
    values: Vec<f64>,
    /// In percent.
    changes: Vec<f64>,
}

/// `Amean     4   1.2340 (   0.00%)   1.2310 *   0.24%*`
fn row(text: &str) -> Option<Row> {
    let first = text.split_whitespace().next()?;
    let statistic = first.split('-').next()?;
    let mean = MEANS.contains(&statistic);
    if !mean && !OTHERS.contains(&statistic) || text.len() > 1000 {
        return None;
    }
    // Changes stand in parentheses, or in stars where they are significant.
    let open = text.find(['(', '*'])?;
    let (head, first_value) = text[..open].trim_end().rsplit_once(char::is_whitespace)?;
    let mut values = vec![english(first_value)?];
    for part in text[open..].split('%').skip(1) {
        let value = part.trim_start_matches([')', '*']);
        match value.split(['(', '*']).next().map(str::trim) {
            Some("") | None => {}
            Some(mark) if mark.starts_with('<') => {}
            Some(number) => values.push(english(number)?),
        }
    }
    let changes = text[open..].split('%').map_while(|part| {
        let (_, change) = part.rsplit_once(['(', '*'])?;
        change.trim().parse::<f64>().ok()
    });
    Some(Row {
        metric: head.split_whitespace().collect::<Vec<_>>().join(" "),
        mean,
        values,
        changes: changes.collect(),
    })
}

/// The names over the columns, lines joined: `5.19.0 patched`.
fn names(lines: &[Line<'_>], columns: usize) -> Option<Vec<String>> {
    let mut names = vec![String::new(); columns];
    for line in lines {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if words.len() != columns {
            return None;
        }
        for (name, word) in names.iter_mut().zip(words) {
            *name = format!("{name} {word}").trim_start().to_owned();
        }
    }
    Some(names)
}
