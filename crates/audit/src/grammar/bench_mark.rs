//! The table that `bench::mark()` of R prints, as it is or behind `#>`:
//!
//! ```text
//! #>   expression      min   median `itr/sec` mem_alloc `gc/sec`
//! #>   <bch:expr> <bch:tm> <bch:tm>     <dbl> <bch:byt>    <dbl>
//! #> 1 head(x)     64.7ms   71.5ms      13.1    7.63MB     16.8
//! ```
//!
//! A row is a run of an expression. Times are in the unit that suits each; here they are in
//! seconds, so that rows can be compared.

use super::begins::Begins;
use super::cells::{label, line_at, push_new};
use super::number::english;
use super::quantity::power_of_seconds;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// `bench::mark()`; see the module.
pub struct BenchMark;

/// A longer line is no row.
const LONGEST: usize = 400;
/// No table has more rows.
const MOST: usize = 200;
/// The columns that are read; names that were cut end with `…`.
const COLUMNS: [&str; 5] = ["min", "median", "itr/sec", "mem_alloc", "gc/sec"];

impl Grammar for BenchMark {
    fn name(&self) -> &'static str {
        "bench-mark"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"#e")
    }

    fn starts(&self, line: &str) -> bool {
        header(line).is_some()
    }

    fn reach(&self) -> usize {
        3
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let columns = header(line_at(lines, 0)?)?;
        let mut block = Block {
            taken: vec!["bench::mark header"],
            ..Block::default()
        };
        let typed = |text: &str| plain(text).starts_with('<');
        if line_at(lines, 1).is_some_and(typed) {
            block.taken.push("bench::mark header");
        }
        while let Some(finding) = line_at(lines, block.taken.len())
            .filter(|_| block.taken.len() < MOST)
            .and_then(|text| row(text, &columns))
        {
            block.find(block.taken.len(), finding);
            block.taken.push("bench::mark result");
        }
        (!block.findings.is_empty()).then_some(block)
    }
}

/// A line without the mark of a comment.
fn plain(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("#>").unwrap_or(text).trim_start()
}

/// The columns behind the expression, if the line has those of times.
fn header(line: &str) -> Option<Vec<&'static str>> {
    if line.len() > LONGEST {
        return None;
    }
    let rest = plain(line).strip_prefix("expression ")?;
    let known = |word: &str| -> Option<&'static str> {
        let word = word.trim_matches('`');
        let cut = word.split_once('…').map(|(cut, _)| cut);
        let is = |name: &&str| *name == word || cut.is_some_and(|cut| name.starts_with(cut));
        COLUMNS.iter().copied().find(is)
    };
    let columns: Option<Vec<&str>> = rest.split_whitespace().map(known).collect();
    columns.filter(|columns| columns.contains(&"median"))
}

fn row(text: &str, columns: &[&'static str]) -> Option<Finding> {
    let text = plain(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let from = words
        .len()
        .checked_sub(columns.len())
        .filter(|_| text.len() <= LONGEST)?;
    // The number of the row stands before its name.
    let numbered = words.first()?.bytes().all(|b| b.is_ascii_digit());
    let name = words.get(usize::from(numbered)..from)?.join(" ");
    let mut figures = Vec::new();
    for (column, word) in columns.iter().zip(&words[from..]) {
        match figure(column, word) {
            Some(figure) => {
                push_new(&mut figures, figure);
            }
            None if matches!(*word, "NA" | "NaN" | "Inf") => {}
            None => return None,
        }
    }
    let labels = Labels {
        workload: Some(label(&name)),
        ..Labels::default()
    };
    let whole = !name.is_empty() && !figures.is_empty();
    whole.then_some(Finding::Run { labels, figures })
}

fn figure(column: &str, word: &str) -> Option<Figure> {
    let end = word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
    let (digits, unit) = word.split_at(end.unwrap_or(word.len()));
    if !matches!(column, "min" | "median") {
        let bytes = unit.is_empty() || column == "mem_alloc" && unit.ends_with('B');
        return Some(Figure::new(
            column,
            english(digits).filter(|_| bytes)?,
            unit,
        ));
    }
    let power = power_of_seconds(unit)?;
    let value = english(&format!("{digits}e{power}"))?;
    let places = digits
        .rsplit_once('.')
        .map_or(0, |(_, places)| places.len());
    let mut figure = Figure::new(column, value, "s");
    figure.step = Some(10.0_f64.powi(power - i32::try_from(places.min(12)).unwrap_or(0)));
    Some(figure)
}

#[cfg(test)]
mod tests {
    use super::BenchMark;
    use crate::grammar::{Finding, Grammar, testing};

    const TABLE: &str = "#>   expression      min   median `itr/sec` mem_a…¹ gc/se…²\n\
                         #>   <bch:expr> <bch:tm> <bch:tm>     <dbl> <bch:b>   <dbl>\n\
                         #> 1 one[at]     64.7ms   71.5ms      13.1   7.63MB   16.8\n\
                         #> 2 many[at, 2]  4.36s    4.36s      0.229  0B       NA\n#> # notes\n";

    #[test]
    fn a_row_is_a_run_of_an_expression_with_times_in_seconds() {
        let block = testing::read(&BenchMark, TABLE).unwrap();
        assert_eq!(block.taken.len(), 4);
        let Finding::Run { labels, figures } = &block.findings[1].1 else {
            panic!("no run");
        };
        assert_eq!(labels.workload.as_deref(), Some("many[at, 2]"));
        let told: Vec<_> = figures
            .iter()
            .map(|f| (f.metric.as_str(), f.value, f.unit.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("min", 4.36, "s"),
                ("median", 4.36, "s"),
                ("itr/sec", 0.229, ""),
                ("mem_alloc", 0.0, "B")
            ]
        );
        let Finding::Run { figures, .. } = &block.findings[0].1 else {
            panic!("no run");
        };
        assert_eq!((figures[1].value, figures[1].step), (0.0715, Some(1e-4)));
    }

    #[test]
    fn other_tables_of_r_are_none_of_it() {
        for text in [
            "#>   expression median_age name\n#> 1 a 12 b\n",
            "#>   cyl   mpg    hp\n#>  1     6  21     110\n",
            "expression is what I measured, and its median\n",
        ] {
            assert!(!BenchMark.starts(text.lines().next().unwrap()), "{text}");
        }
        assert!(
            testing::read(&BenchMark, &TABLE.replace("ms", "MB").replace("s  ", "x  ")).is_none()
        );
    }
}
