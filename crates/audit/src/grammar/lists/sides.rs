//! The figures of both states in one line, each behind the name of its state:
//!
//! ```text
//! - linear: before = 570 KIOPS, after = 5.01 MIOPS
//! base IOPS is 562K, patched IOPS is 574K.
//! Xeon:  base avg 1040ns, patched avg 1320ns (27% increase)
//! ```
//!
//! What the names have in common at their end is what was measured, and what stands
//! before a colon is what was executed. The names differ as configurations do.

use super::super::cells::{label, line_at};
use super::super::echoed::are_configurations;
use super::super::number::numbers;
use super::super::pairs::{Amount, amount, is_code};
use super::super::quantity::{is_measure, metric_of};
use super::super::{Block, Figure, Finding, Labels, Taken};
use super::{LONGEST, MOST, is_change, is_setting};
use crate::Line;
use crate::roles::words::{names_configuration, names_measurement, names_metric};
use crate::states;

/// No name of a state has more words, with what was measured.
const WORDS: usize = 6;
/// No line has more states.
const STATES: usize = 6;
/// Words between a name and its figure that say nothing.
const LINKS: [&str; 13] = [
    "is", "was", "are", "were", "=", ":", "takes", "took", "got", "gets", "has", "about", "around",
];
/// Rates whose unit itself counts in thousands or millions.
const SCALED: [(&[&str], f64); 2] = [(&["KIOPS", "kIOPS"], 1e3), (&["MIOPS"], 1e6)];

/// One line: what was executed, and name and figure of each state.
pub(super) struct Sides<'t> {
    workload: Option<&'t str>,
    metric: String,
    states: Vec<(String, Amount<'t>)>,
}

/// `- linear: before = 570 KIOPS, after = 5.01 MIOPS`
pub(super) fn line(text: &str) -> Option<Sides<'_>> {
    let parts = memchr::memchr3(b',', b';', b'/', text.as_bytes()).is_some();
    if !parts || text.len() > LONGEST || numbers(text) < 2 {
        return None;
    }
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let text = text.strip_prefix("o ").unwrap_or(text).trim_start();
    if is_code(text) || !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let named = || {
        let (workload, rest) = text.split_once(':')?;
        let plain = rest.starts_with([' ', '\t']) && !names_configuration(workload);
        let sides = sides(rest).filter(|_| plain && !is_setting(workload))?;
        let workload = Some(workload.trim());
        Some(Sides { workload, ..sides })
    };
    sides(text).or_else(named)
}

/// `before = 570 KIOPS, after = 5.01 MIOPS`
fn sides(text: &str) -> Option<Sides<'_>> {
    let (mut rest, mut found) = (text, Vec::new());
    while found.len() < STATES {
        let at = rest
            .char_indices()
            .zip(std::iter::once(' ').chain(rest.chars()));
        let at = at
            .filter(|((_, c), before)| {
                c.is_ascii_digit() && matches!(before, ' ' | '=' | ':' | '~')
            })
            .map(|((at, _), _)| at)
            .next()?;
        let (name, figure) = rest.split_at(at);
        let (figure, tail) = amount(figure)?;
        found.push((words(name)?, figure));
        match next(tail) {
            Some(more) if numbers(more) > 0 && !is_change(tail) => rest = more,
            _ if ends(tail) => break,
            _ => return None,
        }
    }
    let (metric, names) = parted(&found)?;
    let figures: Vec<Amount<'_>> = found.iter().map(|(_, figure)| unscaled(*figure)).collect();
    let unit = figures.first()?.unit;
    let measured = is_measure(unit) || unit.is_empty() && names_measurement(&metric);
    let plain: Vec<&str> = names.iter().map(String::as_str).collect();
    let fits = names.len() >= 2
        && measured
        && figures.iter().all(|figure| figure.unit == unit)
        && names.iter().all(|name| states::in_name(name))
        && !is_setting(&metric)
        && !names.iter().any(|name| is_setting(name))
        && are_configurations(&plain);
    fits.then(|| Sides {
        workload: None,
        metric: if metric.is_empty() {
            metric_of(unit).to_owned()
        } else {
            metric
        },
        states: names.into_iter().zip(figures).collect(),
    })
}

/// What follows behind a comma, another mark or `and`.
fn next(tail: &str) -> Option<&str> {
    let tail = tail.trim_start();
    let rest = tail
        .strip_prefix([',', ';'])
        .or_else(|| tail.strip_prefix("/ "));
    let rest = rest.unwrap_or(tail).trim_start();
    let word = rest
        .strip_prefix("and ")
        .or_else(|| rest.strip_prefix("vs "));
    let word = word.or_else(|| rest.strip_prefix("vs. "));
    (word.is_some() || rest.len() < tail.len()).then_some(word.unwrap_or(rest))
}

/// Whether a line or at least a sentence ends behind a figure.
fn ends(tail: &str) -> bool {
    matches!(tail.trim(), "" | "." | ",") || tail.starts_with(". ") || is_change(tail)
}

/// The words of a name without those that lead to the figure.
fn words(name: &str) -> Option<Vec<&str>> {
    let name = name.trim().trim_end_matches(['=', ':', '~', ' ']);
    let mut words: Vec<&str> = name.split_whitespace().collect();
    while words.last().is_some_and(|word| LINKS.contains(word)) {
        words.pop();
    }
    let plain = |word: &&str| {
        let inner = word.trim_matches(['(', ')']);
        !inner.is_empty() && !inner.contains([':', '=', ',', '"', '.'])
    };
    let first = words.first().is_some_and(|word| word.len() > 1);
    (first && words.len() <= WORDS && words.iter().all(plain)).then_some(words)
}

/// The words at the end of all names, and the names without them.
fn parted(found: &[(Vec<&str>, Amount<'_>)]) -> Option<(String, Vec<String>)> {
    let first = &found.first()?.0;
    let same = |count: usize| {
        let end = &first[first.len() - count..];
        found
            .iter()
            .all(|(words, _)| words.len() > count && words.ends_with(end))
    };
    let metric = |count: &usize| {
        let words = &first[first.len() - count..];
        *count == 0 || words.iter().any(|word| names_metric(word))
    };
    let mut counts = (0..first.len()).rev().filter(metric);
    let common = counts.find(|count| same(*count))?;
    let metric = first[first.len() - common..].join(" ");
    let names = found
        .iter()
        .map(|(words, _)| words[..words.len() - common].join(" "));
    Some((metric, names.collect()))
}

/// `5.01 MIOPS` as 5010000 IOPS.
fn unscaled(figure: Amount<'_>) -> Amount<'_> {
    let mut scales = SCALED.iter();
    match scales.find(|(units, _)| units.contains(&figure.unit)) {
        Some((_, factor)) => Amount {
            value: figure.value * factor,
            step: figure.step * factor,
            unit: "IOPS",
        },
        None => figure,
    }
}

/// Lines of one form that follow each other.
pub(super) fn list(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let first = line(here(0)?)?;
    let names = |sides: &Sides<'_>| -> Vec<String> {
        sides
            .states
            .iter()
            .map(|(name, _)| name.to_lowercase())
            .collect()
    };
    let (own, named) = (names(&first), first.workload.is_some());
    let mut found = vec![first];
    while let Some(more) = (found.len() < MOST && named)
        .then(|| here(found.len()))
        .flatten()
    {
        let again = |sides: &Sides<'_>| found.iter().any(|known| known.workload == sides.workload);
        let alike = |sides: &Sides<'_>| sides.workload.is_some() && names(sides) == own;
        match line(more) {
            Some(sides) if alike(&sides) && again(&sides) => return None,
            Some(sides) if alike(&sides) => found.push(sides),
            _ => break,
        }
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["a figure for each state" as Taken; found.len()],
    };
    for (at, sides) in found.into_iter().enumerate() {
        for (name, side) in sides.states {
            let labels = Labels {
                configuration: Some(label(&name)),
                workload: sides.workload.map(label),
                repetition: None,
            };
            let mut figure = Figure::new(label(&sides.metric), side.value, side.unit);
            figure.step = Some(side.step);
            let figures = vec![figure];
            block.find(at, Finding::Run { labels, figures });
        }
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing::{self, told};

    fn read(text: &str) -> Vec<(String, String, f64)> {
        testing::placed(&Lists, text)
    }

    #[test]
    fn figures_behind_names_of_states_are_one_of_each() {
        assert_eq!(
            read(
                "- sparse: before = 610 KIOPS, after = 4.25 MIOPS\n- dense: before = 1.5 MIOPS, after = 4.5 MIOPS\n"
            ),
            told(&[
                ("before", "IOPS", 610e3),
                ("after", "IOPS", 4.25e6),
                ("before", "IOPS", 1.5e6),
                ("after", "IOPS", 4.5e6),
            ])
        );
        assert_eq!(
            read("base IOPS is 412K, patched IOPS is 431K. The tree was built in 3 minutes\n"),
            told(&[("base", "IOPS", 412e3), ("patched", "IOPS", 431e3)])
        );
        assert_eq!(
            read("Ampere 8:   base avg 980ns, patched avg 1240ns (27% increase)\n"),
            told(&[("base", "avg", 980.0), ("patched", "avg", 1240.0)])
        );
        assert_eq!(read("without patch 3.2 s, and with patch 2.1 s\n").len(), 2);
    }

    #[test]
    fn settings_counts_and_names_of_no_states_are_left_alone() {
        for text in [
            "timeout: before = 10 ms, after = 20 ms\n",
            "- read = 610 KIOPS, write = 425 KIOPS\n",
            "before = 12, after = 14\n",
            "before: 12 MB/s, after: 14 ms\n",
            "base avg 980ns, base avg 1240ns\n",
            "old delay 10 ms, new delay 20 ms\n",
            "before 10 ms, after 12 files are open\n",
            "x = before 10 ms, y = after 12 ms;\n",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
        // One workload twice.
        let twice = "- a: before = 6 KIOPS, after = 4 KIOPS\n".repeat(2);
        assert_eq!(read(&twice), []);
    }
}
