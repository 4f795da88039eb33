//! The tables of FreeBSD's `ministat`.
//!
//! Each row becomes a summary of the metric `value` (ministat knows no unit) with a standard
//! deviation and the number of values. Rows are named by the legend (`x base.txt`), if there is one.
//! The plot and the t test are passed over: they are derived from the rows.

use assize_bundle::Spread;

use super::prelude::*;

/// The symbols of the data sets; mailers and people replace some.
const SYMBOLS: &str = "x+*%#@O";
/// The columns of its table.
const COLUMNS: [&str; 6] = ["N", "Min", "Max", "Median", "Avg", "Stddev"];
/// Beginnings of the lines below the rows.
const TEST: [&str; 3] = ["Difference at ", "No difference proven at ", "(Student's t"];

/// The output of `ministat`.
pub const MINISTAT: Grammar = Grammar {
    first: b"xN",
    names_what_it_compares: true,
    ..Grammar::new(
        "ministat",
        |line| line.starts_with("x ") || is_header(line),
        read,
    )
};

/// Returns the symbol of a row, the number of values, their mean and deviation.
fn row(text: &str) -> Option<(char, u32, f64, f64)> {
    let mut words = text.split_whitespace();
    let symbol: char = words.next()?.parse().ok()?;
    let numbers: Option<Vec<f64>> = words.map(english).collect();
    let numbers = numbers.filter(|numbers| numbers.len() == COLUMNS.len())?;
    SYMBOLS
        .contains(symbol)
        .then_some((symbol, numbers[0] as u32, numbers[4], numbers[5]))
}

fn is_header(text: &str) -> bool {
    text.split_whitespace().eq(COLUMNS)
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    let mut legend = Vec::new();
    let named = |text: &&str| row(text).is_none();
    while let Some((mark, name)) = line_at(lines, legend.len())
        .filter(named)
        .and_then(|text| text.split_once(' '))
        && let Some(symbol) = SYMBOLS.chars().find(|symbol| mark == symbol.to_string())
        && legend.iter().all(|(other, _)| *other != symbol)
    {
        legend.push((symbol, name.trim()));
        block.taken.push("ministat legend");
    }
    let drawn = |text: &str| text.starts_with(['|', '+', '[']);
    block.extend(lines, |_, _, text| drawn(text).then_some("ministat plot"));
    if !line_at(lines, block.taken.len()).is_some_and(is_header) {
        return None;
    }
    block.taken.push("ministat header");
    block.extend(lines, |block, at, text| {
        if let Some((symbol, n, mean, deviation)) = row(text) {
            // Without a legend the symbols are the names.
            let name = legend.iter().find(|(own, _)| *own == symbol);
            let name = name.map_or(symbol.to_string(), |(_, name)| name.to_string());
            let labels = configuration(Some(&name));
            let spread = Some(Spread::StandardDeviation(deviation));
            let figure = Figure::new("value", mean, "");
            block.find(at, summary(&labels, figure, spread, Some(n)));
            return Some("ministat row");
        }
        let test = TEST.iter().any(|start| text.trim().starts_with(start));
        (test || text.contains(" +/- ")).then_some("ministat test")
    });
    (!block.findings.is_empty()).then_some(block)
}
