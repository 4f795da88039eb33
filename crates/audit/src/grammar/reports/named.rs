//! Lines of reports that say which configuration they are of.
//!
//! ```text
//! offset=y    Simple syscall: 0.7091 microseconds
//! offset=n    Simple syscall: 0.7023 microseconds
//!
//! no-helper-64         2.571 ± 0.001M/s (drops 0.000 ± 0.000M/s)
//! helper-64            3.038 ± 0.001M/s (drops 0.000 ± 0.000M/s)
//! ```
//!
//! The name stands before the tool's own line, or the names of what the tool measured
//! differ as configurations do and go on with the same numbers.

use super::{MOST, Reports, Said, said};
use crate::Line;
use crate::grammar::cells::{label, line_at};
use crate::grammar::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::roles::differing;

/// So many points make names those of configurations.
const CONTRAST: i32 = 3;
/// Names that say the opposite of each other have so many.
const OPPOSITE: i32 = 4;
/// No name before a line is longer.
const LONGEST_NAME: usize = 60;

/// Reads lines of one tool, each behind a name and a gap.
pub(super) fn before(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let mut rows: Vec<(usize, &str, Said)> = Vec::new();
    let mut at = 0;
    while at < MOST {
        match here(at).and_then(behind_name) {
            Some((name, said)) => rows.push((at, name, said)),
            None if here(at).is_some_and(|text| text.trim().is_empty())
                && rows.last().is_some_and(|(last, ..)| *last + 1 == at) => {}
            None => break,
        }
        at += 1;
    }
    let metrics = |said: &Said| -> Vec<String> {
        let names = said.figures.iter().map(|figure| figure.metric.clone());
        names.collect()
    };
    let (_, _, first) = rows.first()?;
    let alike = |(_, _, said): &(usize, &str, Said)| {
        said.tool == first.tool && !said.samples && metrics(said) == metrics(first)
    };
    let names: Vec<&str> = rows.iter().map(|(_, name, _)| *name).collect();
    if first.figures.is_empty() || !rows.iter().all(alike) || differing(&names) < CONTRAST {
        return None;
    }
    let used = rows.last().map_or(0, |(at, ..)| at + 1);
    let mut block = Block {
        findings: Vec::new(),
        taken: vec![first.tool as Taken; used],
    };
    for (at, name, said) in rows {
        block.find(at, run(Some(name), None, said.figures));
    }
    Some(block)
}

/// `offset=y    Simple syscall: 0.7091 microseconds`: the name and the line behind it.
fn behind_name(text: &str) -> Option<(&str, Said)> {
    let text = text.trim();
    let gaps = text.match_indices('\t').chain(text.match_indices("  "));
    for (at, _) in gaps.take(3) {
        let (name, line) = text.split_at(at);
        let name = name.trim_end_matches([' ', '\t', ':']);
        let named = name.len() <= LONGEST_NAME
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && !name.contains([';', '{', '"', '<']);
        if named
            && Reports.starts(line)
            && let Some(said) = said(line)
        {
            return Some((name, said));
        }
    }
    None
}

/// The runs of an execution in which the tool was asked for two configurations, if the
/// names of its figures are theirs, each followed by the same numbers.
pub(super) fn within(figures: &[Figure]) -> Option<Vec<Finding>> {
    let parted: Vec<(&str, &str)> = figures.iter().map(|f| parted(&f.metric)).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &parted {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let numbers = |of: &str| -> Vec<&str> {
        let theirs = parted.iter().filter(|(name, _)| *name == of);
        theirs.map(|(_, number)| *number).collect()
    };
    let [one, other] = names[..] else {
        return None;
    };
    if numbers(one) != numbers(other) || differing(&names) < OPPOSITE {
        return None;
    }
    let of = |(figure, (name, number)): (&Figure, &(&str, &str))| {
        let mut figure = figure.clone();
        figure.metric = "rate".to_owned();
        run(Some(name), Some(number), vec![figure])
    };
    Some(figures.iter().zip(&parted).map(of).collect())
}

/// `no-helper-64` is `no-helper` with 64.
fn parted(name: &str) -> (&str, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &name[stem.len()..];
    match stem.strip_suffix(['-', '_', ' ']) {
        Some(stem) if !number.is_empty() && !stem.is_empty() => (stem, number),
        _ => (name, ""),
    }
}

fn run(configuration: Option<&str>, workload: Option<&str>, figures: Vec<Figure>) -> Finding {
    let labels = Labels {
        configuration: configuration.map(label),
        workload: workload.filter(|name| !name.is_empty()).map(label),
        repetition: None,
    };
    Finding::Run { labels, figures }
}

#[cfg(test)]
mod tests {
    use crate::grammar::reports::Reports;
    use crate::grammar::testing::{self, told};

    fn placed(text: &str) -> Vec<(String, String, f64)> {
        testing::placed(&Reports, text)
    }

    #[test]
    fn a_name_before_a_tools_line_is_the_configuration() {
        assert_eq!(
            placed(
                "  offset=y\tSimple syscall: 0.7091 microseconds\n  \
                 offset=n:   Simple syscall: 0.7023 microseconds\n"
            ),
            told(&[
                ("offset=y", "Simple syscall", 0.7091),
                ("offset=n", "Simple syscall", 0.7023),
            ])
        );
    }

    #[test]
    fn names_that_are_of_no_configurations_and_other_metrics_are_left_alone() {
        for text in [
            "eth0    Simple syscall: 0.7091 microseconds\neth1    Simple syscall: 0.7 microseconds\n",
            "old     Simple syscall: 0.7091 microseconds\nnew     Simple read: 0.7 microseconds\n",
            "old     Simple syscall: 0.7091 microseconds\n",
        ] {
            assert!(placed(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn opposite_names_with_the_same_numbers_are_two_configurations() {
        let text = "no-helper-8    3.511 ± 0.001M/s (drops 0.000 ± 0.000M/s)\n\
                    helper-8       3.352 ± 0.002M/s (drops 0.000 ± 0.000M/s)\n\n\
                    no-helper-64   2.571 ± 0.001M/s (drops 0.000 ± 0.000M/s)\n\
                    helper-64      3.038 ± 0.001M/s (drops 0.000 ± 0.000M/s)\n";
        assert_eq!(
            placed(text),
            told(&[
                ("no-helper", "rate", 3.511),
                ("helper", "rate", 3.352),
                ("no-helper", "rate", 2.571),
                ("helper", "rate", 3.038),
            ])
        );
        let workloads: Vec<_> = testing::runs(&Reports, text)
            .into_iter()
            .map(|(labels, _)| labels.workload.unwrap_or_default())
            .collect();
        assert_eq!(workloads, ["8", "8", "64", "64"]);
    }

    #[test]
    fn names_that_are_of_two_functions_are_metrics_of_one_run() {
        let text = "strlen-8     0.459 ± 0.011M/s (drops 0.000 ± 0.000M/s)\n\
                    strnlen-8    0.451 ± 0.006M/s (drops 0.000 ± 0.000M/s)\n";
        assert_eq!(
            placed(text),
            told(&[("", "strlen-8", 0.459), ("", "strnlen-8", 0.451)])
        );
        let uneven = "no-helper-8   3.511 ± 0.001M/s (drops 0.000 ± 0.000M/s)\n\
                      helper-64     3.038 ± 0.001M/s (drops 0.000 ± 0.000M/s)\n";
        assert_eq!(placed(uneven)[0].0, "");
    }
}
