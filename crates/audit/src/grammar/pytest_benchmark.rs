//! The table that pytest-benchmark prints:
//!
//! ```text
//! Name (time in us)          Min            Max           Mean  ...  Rounds  Iterations
//! test_sort (NOW)      12.5000 (1.0)  25.7500 (1.0)  13.2500 (1.0)  ...   1500           1
//! ```
//!
//! A row is one run: its rounds are in one process. What stands in parentheses behind a figure is the
//! ratio to the best row; behind a name, the saved run of which it is, which the tool compares.

use super::prelude::*;

/// pytest-benchmark; see the module.
pub const PYTEST_BENCHMARK: Grammar = Grammar {
    first: b"N",
    names_what_it_compares: true,
    ..Grammar::new("pytest-benchmark", |line| header(line).is_some(), read)
};

/// Longest line.
const LONGEST: usize = 600;

/// The unit of times and the names of the columns.
fn header(line: &str) -> Option<(&str, Vec<&str>)> {
    let rest = line.trim_start().strip_prefix("Name (time in ")?;
    let (unit, names) = rest.split_once(')')?;
    let names = names.split_whitespace();
    let names: Vec<&str> = names.filter(|name| !name.starts_with('(')).collect();
    (line.len() <= LONGEST && names.contains(&"Mean")).then_some((unit, names))
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let (unit, names) = header(line_at(lines, 0)?)?;
    let mut block = Block::new("pytest-benchmark header", 1);
    block.extend(lines, |block, at, text| {
        if text.trim().len() > 1 && text.trim().bytes().all(|b| b == b'-') {
            return Some("pytest-benchmark rule");
        }
        block.find(at, row(text, unit, &names)?);
        Some("pytest-benchmark row")
    });
    (!block.findings.is_empty()).then_some(block)
}

fn row(text: &str, unit: &str, names: &[&str]) -> Option<Finding> {
    let words = text.split_whitespace().filter(|_| text.len() <= LONGEST);
    let mut words = words.peekable();
    let workload = Some(label(words.next()?));
    let saved = words.next_if(|word| word.starts_with('('));
    let values: Vec<&str> = words.filter(|word| !word.starts_with('(')).collect();
    let known = |name: &&str| matches!(*name, "Min" | "Mean" | "Median");
    let columns = names.iter().zip(&values).filter(|(name, _)| known(name));
    let figure = |(name, value): (&&str, &&str)| Some(Figure::new(*name, english(value)?, unit));
    let figures: Vec<Figure> = columns.map(figure).collect::<Option<_>>()?;
    let saved = saved.map(|saved| label(saved.trim_matches(['(', ')'])));
    let labels = Labels::new(saved, workload);
    (values.len() == names.len()).then_some(Finding::Run { labels, figures })
}
