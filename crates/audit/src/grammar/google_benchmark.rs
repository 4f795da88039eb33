//! The table that Google Benchmark prints:
//!
//! ```text
//! ---------------------------------------------------------------------
//! Benchmark              Time             CPU   Iterations UserCounters...
//! ---------------------------------------------------------------------
//! BM_copy/64          2.39 ns         2.38 ns    276349157 bytes_per_second=3.89G/s
//! BM_copy/64_mean     2.41 ns         2.40 ns           10
//! BM_copy/64_stddev   0.02 ns         0.02 ns           10
//! ```
//!
//! A benchmark is a run whose workload is its name. Repetitions (`--benchmark_repetitions`)
//! are made by one process, so they are samples of the run, which has their mean. The row
//! of the mean is used where they are not printed; other rows of aggregates are left out.
//! Two rows are read without the header if their names begin with `BM_`, or if their
//! iterations took as long in all as the library lets them take.
//! The number of iterations is no figure: the library chooses it.

use super::begins::Begins;
use super::cells::{label, line_at, push_new};
use super::number::english;
use super::quantity::{is_time, power_of_seconds};
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// Google Benchmark; see the module.
pub struct GoogleBenchmark;

/// A longer line is no row.
const LONGEST: usize = 1000;
/// More rows are in no table of a post.
const MOST: usize = 4000;
/// So many seconds of CPU time are spent on a benchmark, unless it was told otherwise.
const LASTS: std::ops::RangeInclusive<f64> = 0.1..=30.0;
/// The header stands within so many lines of what is said of the machine.
const MACHINE: usize = 16;
/// What the library puts behind numbers: `500m/s` is half a time per second.
const PREFIXES: [(char, i32); 11] = [
    ('k', 1),
    ('K', 1),
    ('M', 2),
    ('G', 3),
    ('T', 4),
    ('P', 5),
    ('E', 6),
    ('m', -1),
    ('u', -2),
    ('n', -3),
    ('p', -4),
];
/// What is computed over the repetitions of a name, besides their mean.
const AGGREGATES: [&str; 7] = ["_median", "_stddev", "_cv", "_min", "_max", "_BigO", "_RMS"];

impl Grammar for GoogleBenchmark {
    fn name(&self) -> &'static str {
        "google-benchmark"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    }

    fn starts(&self, line: &str) -> bool {
        is_header(line) || is_rule(line) || is_about_the_machine(line) || is_bare_row(line)
    }

    fn reach(&self) -> usize {
        MACHINE + 3
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = line_at(lines, 0)?;
        if is_bare_row(first) {
            line_at(lines, 1).filter(|text| is_bare_row(text))?;
            return read_rows(lines, Block::default());
        }
        let header = (0..MACHINE).find(|at| line_at(lines, *at).is_none_or(is_header))?;
        line_at(lines, header)?;
        let above = &lines[..header.saturating_sub(1)];
        let ruled = header == 0 || is_rule(&lines[header - 1].text);
        if !ruled || header > 1 && !is_about_the_machine(first) || has_blank(above) {
            return None;
        }
        let taken = vec!["google benchmark header"; header + 1];
        let findings = Vec::new();
        read_rows(lines, Block { findings, taken })
    }
}

/// Reads the rows behind what was taken.
fn read_rows(lines: &[Line<'_>], mut block: Block) -> Option<Block> {
    let mut rows = Vec::new();
    while let Some(text) = line_at(lines, block.taken.len()).filter(|_| rows.len() < MOST) {
        let at = block.taken.len();
        if rows.is_empty() && is_rule(text) {
            block.taken.push("google benchmark header");
        } else if let Some(row) = row(text) {
            rows.push((at, row));
            block.taken.push("google benchmark result");
        } else if text.trim().is_empty() && line_at(lines, at + 1).and_then(row).is_some() {
            block.taken.push("google benchmark blank");
        } else {
            break;
        }
    }
    emit(&mut block, &rows);
    (!block.findings.is_empty()).then_some(block)
}

/// A row that is one without a header above it: a name, two times in one unit and a
/// number of iterations. The name begins as most do, or the iterations took about as long
/// as the library makes them take.
fn is_bare_row(line: &str) -> bool {
    let text = line.trim();
    let mut words = text.split_ascii_whitespace().skip(1);
    let mut figure = || {
        let value = words
            .next()
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        Some((value, words.next().filter(|unit| is_time(unit))?))
    };
    let (Some((_, unit)), Some((cpu, other))) = (figure(), figure()) else {
        return false;
    };
    let Some(count) = words
        .next()
        .filter(|count| count.bytes().all(|b| b.is_ascii_digit()))
    else {
        return false;
    };
    let named = text.starts_with("BM_");
    let lasts = || {
        let unit = 10.0_f64.powi(power_of_seconds(unit)?);
        let seconds = english(cpu)? * unit * english(count)?;
        Some(LASTS.contains(&seconds) && text.starts_with(|c: char| c.is_ascii_alphabetic()))
    };
    unit == other && (named || lasts().unwrap_or(false)) && row(text).is_some()
}

/// `Run on (20 X 3000 MHz CPU s)`, the first of the lines about the machine, and
/// `Running ./benchmark` above it.
fn is_about_the_machine(line: &str) -> bool {
    let text = line.trim_start();
    line.len() <= LONGEST && (text.starts_with("Run on (") || text.starts_with("Running "))
}

fn has_blank(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| line.text.trim().is_empty())
}

fn is_header(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    line.len() <= LONGEST
        && (words.next(), words.next(), words.next())
            == (Some("Benchmark"), Some("Time"), Some("CPU"))
        && words.all(|word| matches!(word, "Iterations" | "UserCounters..."))
}

fn is_rule(line: &str) -> bool {
    let text = line.trim();
    (20..=LONGEST).contains(&text.len()) && text.bytes().all(|b| b == b'-')
}

/// A row: the name and its figures.
struct Measured<'t> {
    name: &'t str,
    figures: Vec<Figure>,
}

fn row(text: &str) -> Option<Measured<'_>> {
    if text.len() > LONGEST {
        return None;
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    // The name may hold blanks: two times follow it.
    let is_pair =
        |pair: &[&str]| english(pair[0]).is_some() && (is_time(pair[1]) || pair[1] == "%");
    let at = (1..words.len().saturating_sub(3))
        .find(|at| is_pair(&words[*at..at + 2]) && is_pair(&words[at + 2..at + 4]))?;
    let name = text[..words[at].as_ptr().addr() - text.as_ptr().addr()].trim();
    let mut figures = vec![
        Figure::new("time", english(words[at])?, words[at + 1]),
        Figure::new("CPU time", english(words[at + 2])?, words[at + 3]),
    ];
    let rest = &words[at + 4..];
    for (at, word) in rest.iter().enumerate() {
        // `638.304M items/s` is how older versions print that counter.
        let figure = match rest.get(at + 1) {
            Some(&"items/s") => counter(&format!("items_per_second={word}/s")),
            _ => counter(word),
        };
        if let Some(figure) = figure {
            push_new(&mut figures, figure);
        }
    }
    Some(Measured { name, figures })
}

/// `bytes_per_second=3.89G/s`, `ratio=6.95`, `30.2214MB/s`. The prefix of a counter is chosen
/// for each number, and may be another one in the next row: it becomes part of the value.
fn counter(word: &str) -> Option<Figure> {
    let (name, value) = match word.split_once('=') {
        Some(parts) => parts,
        None if word.ends_with("B/s") => ("bytes_per_second", word),
        None => return None,
    };
    let named = name.starts_with(|c: char| c.is_alphabetic()) && name.len() <= 64;
    let digits = value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')));
    let (digits, behind) = value.split_at(digits.unwrap_or(value.len()));
    let value = english(digits).filter(|_| named)?;
    let bytes = name == "bytes_per_second";
    let mut scaled = PREFIXES.iter().filter_map(|(prefix, power)| {
        let rest = behind.strip_prefix(*prefix)?;
        Some((*power, rest))
    });
    let (power, unit) = scaled.next().unwrap_or((0, behind));
    let unit = match unit.trim_start_matches('i') {
        "" => "",
        "%" => return None,
        "/s" | "B/s" if bytes => "B/s",
        "/s" => "/s",
        _ => return None,
    };
    let scale = if bytes { 1024.0_f64 } else { 1000.0 }.powi(power);
    let places = digits
        .rsplit_once('.')
        .map_or(0, |(_, places)| places.len());
    let mut figure = Figure::new(label(name), value * scale, unit);
    figure.step = Some(scale * 10.0_f64.powi(-i32::try_from(places.min(12)).unwrap_or(0)));
    Some(figure)
}

/// A run for each name.
fn emit(block: &mut Block, rows: &[(usize, Measured<'_>)]) {
    let names: Vec<&str> = rows.iter().map(|(_, row)| row.name).collect();
    let mut of: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let name = match name.strip_suffix("_mean") {
            Some(stem) if names.contains(&stem) => continue,
            Some(stem) => stem,
            None if AGGREGATES.iter().any(|end| name.ends_with(end)) => continue,
            None => name,
        };
        match of.iter_mut().find(|(known, _)| *known == name) {
            Some((_, own)) => own.push(index),
            None => of.push((name, vec![index])),
        }
    }
    for (name, own) in of {
        let (at, first) = &rows[own[0]];
        let labels = Labels {
            workload: Some(label(name)),
            ..Labels::default()
        };
        let figures = first.figures.iter().filter_map(|figure| {
            let values: Option<Vec<f64>> =
                own.iter().map(|row| value(&rows[*row].1, figure)).collect();
            let values = values?;
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            Some(Figure {
                value: mean,
                ..figure.clone()
            })
        });
        let figures = figures.collect();
        block.find(*at, Finding::Run { labels, figures });
    }
}

/// The value of a row for the metric of a figure, in its unit.
fn value(row: &Measured<'_>, of: &Figure) -> Option<f64> {
    let mut figures = row.figures.iter();
    let same = figures.find(|figure| figure.metric == of.metric && figure.unit == of.unit);
    same.map(|figure| figure.value)
}
