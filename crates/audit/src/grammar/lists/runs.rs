//! Numbered runs below the names of configurations:
//!
//! ```text
//! • Throughput with use of the cache
//!     • Run 1: 50,008.10
//!     • Run 2: 59,160.60
//! • Throughput without use of the cache
//!     • Run 1: 36,422.80
//!     • Run 2: 33,186.00
//! ```
//!
//! Each figure is a run. Where it has no unit, the name above says that it was measured.
//! A mean below the runs is not read.

use super::super::cells::{label, line_at};
use super::super::echoed::are_configurations;
use super::super::quantity::{Quantity, is_measure, metric_of, quantity};
use super::super::spread::MEANS;
use super::super::{Block, Figure, Finding, Labels, Taken};
use super::{MOST, is_change};
use crate::Line;
use crate::roles::words::{names_configuration, names_measurement};

/// What runs are called.
const RUNS: [&str; 9] = [
    "run",
    "iteration",
    "iter",
    "round",
    "attempt",
    "try",
    "trial",
    "pass",
    "repetition",
];
/// No heading is longer.
const LONGEST: usize = 100;

/// Whether an item may stand above runs: it names a configuration.
pub(super) fn may_begin(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '•', 'o']) && names_configuration(line)
}

/// A line without the mark of an item.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let item = text.strip_prefix(['-', '*', '•', 'o']);
    item.filter(|rest| rest.starts_with([' ', '\t']))
        .map_or(text, str::trim)
}

/// `Run 1: 50,008.10`, `Run #2 = 3.5 s`
fn run(text: &str) -> Option<(u32, Quantity<'_>)> {
    let (name, value) = bare(text).split_once([':', '='])?;
    let name = name.trim();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[stem.len()..].parse().ok()?;
    let word = stem
        .trim_end_matches(['#', ' ', '-', '_'])
        .to_ascii_lowercase();
    let (figure, tail) = quantity(value)?;
    let known = RUNS.contains(&word.as_str()) && (tail.trim().is_empty() || is_change(tail));
    let measured = figure.unit.is_empty() || is_measure(figure.unit);
    (known && measured).then_some((number, figure))
}

/// `Average: 3.4 s` below runs.
fn is_mean(text: &str) -> bool {
    let parted = bare(text).split_once([':', '=']);
    parted.is_some_and(|(name, value)| {
        let name = name.trim().to_ascii_lowercase();
        MEANS.contains(&name.as_str()) && quantity(value).is_some()
    })
}

/// A heading at a line, the runs below it with theirs, and where they end.
struct Runs<'t> {
    heading: &'t str,
    at: usize,
    runs: Vec<(usize, u32, Quantity<'t>)>,
    end: usize,
}

impl<'t> Runs<'t> {
    fn unit(&self) -> &'t str {
        self.runs.first().map_or("", |(.., figure)| figure.unit)
    }
}

fn below<'t>(lines: &'t [Line<'_>], from: usize) -> Option<Runs<'t>> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let blank = |at: usize| here(at).is_some_and(|text| text.trim().is_empty());
    let at = (from..from + 3).find(|at| !blank(*at))?;
    let text = here(at).filter(|text| text.len() <= LONGEST && run(text).is_none())?;
    let first = if blank(at + 1) { at + 2 } else { at + 1 };
    let mut runs: Vec<_> = Vec::new();
    while let Some((number, figure)) = here(first + runs.len()).and_then(run) {
        runs.push((first + runs.len(), number, figure));
        if runs.len() > MOST {
            return None;
        }
    }
    let end = first + runs.len();
    let numbered = runs
        .iter()
        .zip(runs.first()?.1..)
        .all(|((_, n, _), at)| *n == at);
    let unit = runs.first()?.2.unit;
    let alike = runs.iter().all(|(.., figure)| figure.unit == unit);
    let heading = bare(text).trim_end_matches([':', ' ']);
    let said = !unit.is_empty() || names_measurement(heading);
    let fits = runs.len() >= 2 && runs.first()?.1 <= 1 && numbered && alike && said;
    fits.then(|| Runs {
        heading,
        at,
        runs,
        end: end + usize::from(here(end).is_some_and(is_mean)),
    })
}

/// The heading without the words that it shares with the others, and what these say that
/// was measured.
fn metric(heading: &str, unit: &str) -> String {
    let words = heading.split(|c: char| !(c.is_alphanumeric() || c == '/'));
    let mut measured = words.filter(|word| names_measurement(word));
    let named = measured.next().filter(|_| unit.is_empty());
    named.unwrap_or(metric_of(unit)).to_owned()
}

/// Runs below headings that differ as names of configurations do.
pub(super) fn list(lines: &[Line<'_>]) -> Option<Block> {
    let mut next = line_at(lines, 1)?;
    if next.trim().is_empty() {
        next = line_at(lines, 2)?;
    }
    run(next)?;
    let first = below(lines, 0)?;
    let mut all = vec![first];
    while let Some(end) = all.last().map(|runs| runs.end).filter(|end| *end <= MOST) {
        let unit = all.first()?.unit();
        match below(lines, end).filter(|runs| runs.unit() == unit) {
            Some(runs) => all.push(runs),
            None => break,
        }
    }
    let headings: Vec<&str> = all.iter().map(|runs| runs.heading).collect();
    let stems: Vec<String> = headings.iter().map(|name| stem(name)).collect();
    let names: Vec<&str> = stems.iter().map(String::as_str).collect();
    let distinct = (1..names.len()).all(|at| !names[..at].contains(&names[at]));
    if !distinct || !are_configurations(&names) {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["blank" as Taken; all.last()?.end],
    };
    for part in &all {
        let mut take = |at: usize, what: Taken| {
            if let Some(taken) = block.taken.get_mut(at) {
                *taken = what;
            }
        };
        take(part.at, "heading of runs");
        take(part.end - 1, "a mean");
        part.runs.iter().for_each(|(at, ..)| take(*at, "a run"));
        let metric = metric(part.heading, part.unit());
        for (at, number, value) in &part.runs {
            let labels = Labels {
                configuration: Some(label(part.heading)),
                workload: None,
                repetition: Some(*number),
            };
            let mut figure = Figure::new(metric.clone(), value.value, value.unit);
            figure.step = Some(value.step);
            let figures = vec![figure];
            block.find(*at, Finding::Run { labels, figures });
        }
    }
    Some(block)
}

/// A heading without the words that name what was measured.
fn stem(heading: &str) -> String {
    let words = heading.split_whitespace();
    let own: Vec<&str> = words.filter(|word| !names_measurement(word)).collect();
    own.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing;

    const POST: &str = "• Throughput with use of the pool\n  • Run 1: 40,100.50\n  • Run 2: 41,250.25\n\
                        • Throughput without use of the pool\n  • Run 1: 30,800.75\n  • Run 2: 29,600.50\n";

    /// Configuration, repetition and value of each run.
    fn read(text: &str) -> Vec<(String, u32, f64)> {
        let runs = testing::runs(&Lists, text).into_iter();
        runs.map(|(labels, figures)| {
            let name = labels.configuration.unwrap_or_default();
            (
                name,
                labels.repetition.unwrap_or_default(),
                figures[0].value,
            )
        })
        .collect()
    }

    #[test]
    fn each_numbered_figure_is_a_run() {
        let (with, without) = (
            "Throughput with use of the pool".to_owned(),
            "Throughput without use of the pool".to_owned(),
        );
        let all = [
            (with.clone(), 1, 40_100.5),
            (with, 2, 41_250.25),
            (without.clone(), 1, 30_800.75),
            (without, 2, 29_600.5),
        ];
        assert_eq!(read(POST), all);
        let timed = "Before:\nrun #1 = 3.5 s\nrun #2 = 3.75 s\naverage = 3.6 s\n\nAfter:\nrun #1 = 3.25 s\nrun #2 = 3.5 s\n";
        let values: Vec<f64> = read(timed).into_iter().map(|(.., value)| value).collect();
        assert_eq!(values, [3.5, 3.75, 3.25, 3.5]);
    }

    #[test]
    fn counts_other_numbers_and_names_of_no_configurations_are_left_alone() {
        for text in [
            POST.replace("Throughput", "Pages"),
            POST.replace("Run 2", "Run 5"),
            POST.replace("without use of the pool", "with use of the pool"),
            POST.replace("Run", "CPU"),
            POST.replace("• Throughput without", "• Run 7: 12\n• Throughput without"),
        ] {
            assert_eq!(read(&text), [], "{text}");
        }
    }
}
