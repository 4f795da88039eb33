//! The lines that `go test -bench` prints.
//!
//! Each line is one execution of one benchmark, so it becomes a run whose
//! workload is the name without `Benchmark`; a name that comes again (`-count`)
//! is the next repetition. The number of iterations is not a figure: go
//! chooses it. Lines about the machine and the package are only explained.

use std::collections::HashMap;

use super::begins::Begins;
use super::cells::{bad_number, label, line_at, push_new, truncated, unwrapped};
use super::number::english;
use super::table::split_number;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// Some dozens of figures; a longer line is no result.
const LINE_AT_MOST: usize = 4000;

/// The lines of `go test -bench`.
pub struct GoBench;

impl Grammar for GoBench {
    fn name(&self) -> &'static str {
        "go-bench"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"Bgpc")
    }

    fn starts(&self, line: &str) -> bool {
        match line.as_bytes().first() {
            Some(b'B') => name(line).is_some(),
            Some(b'g' | b'p' | b'c') => config(line),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut block = Block::default();
        let mut counts = HashMap::new();
        let mut read_any = false;
        let mut configs = 0;
        while let Some(text) = line_at(lines, block.taken.len()) {
            let at = block.taken.len();
            if config(text) {
                block.taken.push("go bench config");
                configs += 1;
            } else if name(text).is_some() {
                if !read_result(&mut block, lines, at, &mut counts) {
                    break;
                }
                read_any = true;
            } else if read_any && remark(text) {
                block.taken.push("go bench remark");
            } else {
                break;
            }
        }
        // A single `pkg:` or `cpu:` without results may be anybody's.
        (read_any || configs >= 2).then_some(block)
    }
}

/// Whether this is one of the four lines about machine and package.
pub(crate) fn config(line: &str) -> bool {
    ["goos: ", "goarch: ", "pkg: ", "cpu: "]
        .iter()
        .any(|key| line.starts_with(key))
}

/// The name at the start of a result line, without `Benchmark`.
fn name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("Benchmark")?;
    let first = rest.chars().next()?;
    if first.is_lowercase() || !(first.is_alphanumeric() || first == '_') {
        return None;
    }
    rest.split_ascii_whitespace().next()
}

/// What go prints between the results, and what belongs to no result.
fn remark(line: &str) -> bool {
    line == "PASS"
        || line == "FAIL"
        || line.starts_with("ok  \t")
        || line.starts_with("FAIL\t")
        || line.starts_with("--- BENCH: ")
        || line.starts_with("--- SKIP: ")
        || (line.starts_with("    ") && line.contains("_test.go:"))
}

/// Whether the line has a result: name, iterations, then pairs of value and
/// unit, the first of which is there.
fn complete(text: &str) -> bool {
    let mut tokens = text.split_ascii_whitespace().skip(1);
    tokens
        .next()
        .is_some_and(|t| t.bytes().all(|b| b.is_ascii_digit()))
        && tokens.next().is_some()
        && tokens.next().is_some()
        && tokens.count().is_multiple_of(2)
}

/// Reads the result at line `at`; false if it is none.
fn read_result(
    block: &mut Block,
    lines: &[Line<'_>],
    at: usize,
    counts: &mut HashMap<String, u32>,
) -> bool {
    let Some((text, used)) = unwrapped(lines, at, complete) else {
        return false;
    };
    if text.len() > LINE_AT_MOST {
        return false;
    }
    let more = line_at(lines, at + used).filter(|t| continues(t));
    let mut tokens = text
        .split_ascii_whitespace()
        .chain(more.unwrap_or("").split_ascii_whitespace());
    let name = tokens.next().and_then(name).unwrap_or("");
    let iterations = tokens.next();
    if let Some(figures) = figures_alone(&text) {
        let labels = Labels {
            workload: Some(label(name)),
            ..Labels::default()
        };
        block.taken.push("go bench result");
        block.find(at, Finding::Run { labels, figures });
        return true;
    }
    if !iterations.is_some_and(|t| t.bytes().all(|b| b.is_ascii_digit())) {
        // `go test -v` prints the name alone first.
        if iterations.is_none() && line_at(lines, at + 1).is_some_and(|t| follows(t, name)) {
            block.taken.push("go bench name");
            return true;
        }
        return false;
    }
    let used = used + usize::from(more.is_some());
    block
        .taken
        .extend(std::iter::repeat_n("go bench result", used));
    let figures = read_figures(block, at, tokens);
    if figures.is_empty() {
        if block.findings.last().is_none_or(|(line, _)| *line != at) {
            let what = format!("no figures follow `{}`", label(name));
            block.find(at, truncated(&what));
        }
        return true;
    }
    let workload = label(name);
    let count = counts.entry(workload.clone()).or_default();
    *count += 1;
    let labels = Labels {
        configuration: None,
        workload: Some(workload),
        repetition: Some(*count),
    };
    block.find(at, Finding::Run { labels, figures });
    true
}

/// The figures of a line that somebody has shortened: `BenchmarkA-8  1139 ns/op (-27%)
/// 1.4GiB total allocations`, without the number of iterations.
fn figures_alone(text: &str) -> Option<Vec<Figure>> {
    let mut words = text.split_ascii_whitespace().skip(1).peekable();
    let mut figures = Vec::new();
    while let Some(word) = words.next() {
        if word.starts_with('(') && word.ends_with("%)") {
            continue;
        }
        let (value, glued) = split_number(word)?;
        let named = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic());
        let mut name = Vec::new();
        while let Some(word) = words.next_if(named) {
            name.push(word);
        }
        let (metric, unit) = match (&name[..], glued) {
            ([unit], "") if unit.contains('/') => ((*unit).to_owned(), numerator(unit)),
            ([], _) | (_, "") => return None,
            _ => (name.join(" "), glued),
        };
        push_new(&mut figures, Figure::new(metric, value, unit));
    }
    let timed = figures
        .first()
        .is_some_and(|figure| figure.metric == "ns/op");
    timed.then_some(figures)
}

/// Whether a line holds pairs of value and unit only: the mailer's wrapping
/// fell between two pairs.
fn continues(line: &str) -> bool {
    if line.len() > 200 {
        return false;
    }
    let tokens: Vec<_> = line.split_ascii_whitespace().collect();
    !tokens.is_empty()
        && tokens.len().is_multiple_of(2)
        && tokens
            .chunks(2)
            .all(|pair| english(pair[0]).is_some() && pair[1].contains('/'))
}

/// Whether a line can follow the benchmark's bare name.
fn follows(line: &str, bare: &str) -> bool {
    remark(line) || name(line).is_some_and(|n| n.starts_with(bare))
}

/// Reads pairs of value and unit.
fn read_figures<'a>(
    block: &mut Block,
    at: usize,
    mut tokens: impl Iterator<Item = &'a str>,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    while let Some(value) = tokens.next() {
        let Some(unit) = tokens.next() else {
            let what = format!("a value without a unit, `{}`, ends the line", label(value));
            block.find(at, truncated(&what));
            break;
        };
        let unit = label(unit);
        match english(value) {
            None => block.find(at, bad_number(value, &unit)),
            Some(value) => {
                let figure = Figure::new(unit.as_str(), value, numerator(&unit));
                if !push_new(&mut figures, figure) {
                    let doubt = format!("`{unit}` stands twice; the first is read");
                    block.find(at, Finding::Doubt("duplicate-metric", doubt));
                }
            }
        }
    }
    figures
}

/// The unit of a value that is given per operation.
pub(crate) fn numerator(unit: &str) -> &str {
    match unit.strip_suffix("/op") {
        Some("allocs") => "",
        Some(unit) => unit,
        None => unit,
    }
}
