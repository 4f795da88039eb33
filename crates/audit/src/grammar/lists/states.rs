//! Lists whose labels say both what was executed and in which state:
//!
//! ```text
//! files=10000, before the series:     27837 ms
//! files=10000, after patches 1 to 4:   9236 ms (-66.8%)
//! files=10000, after the series:       8902 ms (-68.0%)
//!
//! files=5000, before the series:       9127 ms
//! files=5000, after patches 1 to 4:    4640 ms (-49.2%)
//! files=5000, after the series:        4441 ms (-51.3%)
//! ```
//!
//! The state may also stand in parentheses behind the workload, without a colon before
//! the figure: `cold lookup (before) 3.25s`. Labels that are equal but for the words of a state are of one workload, and the state is
//! the configuration. Each workload has the same states, and the states differ as
//! configurations do.

use std::collections::BTreeSet;

use super::super::cells::{label, line_at};
use super::super::echoed::are_configurations;
use super::super::quantity::{Quantity, is_measure, metric_of, quantity};
use super::super::{Block, Figure, Finding, Labels, Taken};
use super::{LONGEST, MOST, is_change};
use crate::Line;
use crate::roles::words::names_configuration;

/// No label is longer.
const LABEL: usize = 100;
/// A word with which the words for a state begin, where no comma parts them from the
/// workload.
const OPENING: [&str; 5] = [" before", " after", " without", " with", " w/o"];

/// One line of such a list.
#[derive(Debug, PartialEq)]
pub(super) struct Stated<'t> {
    workload: String,
    state: &'t str,
    figure: Quantity<'t>,
}

/// `files=10000, before the series: 27837 ms`
pub(super) fn line(text: &str) -> Option<Stated<'_>> {
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    if text.len() > LONGEST || !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let (name, value) = text.rsplit_once(':').or_else(|| bracketed(text))?;
    let (figure, tail) = quantity(value)?;
    let measured = is_measure(figure.unit) && (tail.trim().is_empty() || is_change(tail));
    let plain = name.len() <= LABEL && !name.contains(['"', '<', '>', '\\', ';', '{', '}', '|']);
    let (workload, state) = (measured && plain).then(|| parted(name.trim()))??;
    Some(Stated {
        workload,
        state,
        figure,
    })
}

/// `cold lookup (before) 3.25s` at the end of the state.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let end = text.rfind(')').filter(|_| text.contains(" ("))?;
    let (name, value) = text.split_at(end + 1);
    value.starts_with([' ', '\t']).then_some((name, value))
}

/// A label without the words of its state, and these.
fn parted(name: &str) -> Option<(String, &str)> {
    let states = |part: &str| names_configuration(part) && !part.contains('=');
    let parts: Vec<&str> = name.split(", ").map(str::trim).collect();
    let (workload, state) = match parts[..] {
        [whole] if whole.ends_with(')') => {
            let (workload, state) = whole.trim_end_matches(')').rsplit_once(" (")?;
            states(state).then(|| (workload.trim().to_owned(), state.trim()))?
        }
        [whole] => {
            let mut words = OPENING.iter();
            let at = words.find_map(|word| {
                let (at, _) = whole.match_indices(word).next()?;
                whole[at + word.len()..].starts_with(' ').then_some(at)
            });
            let (workload, state) = whole.split_at(at?);
            (workload.trim().to_owned(), state.trim())
        }
        _ => {
            let mut named = parts.iter().enumerate().filter(|(_, part)| states(part));
            let (at, state) = named.next()?;
            let others = (0..parts.len()).filter(|other| *other != at);
            let rest: Vec<&str> = others.map(|other| parts[other]).collect();
            (named.next().is_none()).then(|| (rest.join(", "), *state))?
        }
    };
    let worded = workload.bytes().any(|b| b.is_ascii_alphabetic());
    (worded && !states(&workload)).then_some((workload, state))
}

/// Lines that follow each other, maybe with a blank one between two workloads.
pub(super) fn list(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let next = |at: usize| (at..at + 2).find_map(|at| Some((at, line(here(at)?)?)));
    let mut found: Vec<(usize, Stated<'_>)> = vec![(0, line(here(0)?)?)];
    while let Some(more) = found
        .last()
        .and_then(|(at, _)| next(at + 1))
        .filter(|(at, _)| *at < MOST)
    {
        found.push(more);
    }
    let unit = found[0].1.figure.unit;
    let states: BTreeSet<&str> = found.iter().map(|(_, stated)| stated.state).collect();
    let workloads: BTreeSet<&str> = found.iter().map(|(_, s)| s.workload.as_str()).collect();
    let each: BTreeSet<_> = found.iter().map(|(_, s)| (&s.workload, s.state)).collect();
    let states: Vec<&str> = states.into_iter().collect();
    // Each state once for each workload.
    let complete = each.len() == found.len() && found.len() == states.len() * workloads.len();
    let alike = found.iter().all(|(_, stated)| stated.figure.unit == unit);
    if !complete || !alike || !are_configurations(&states) {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["blank" as Taken; found.last()?.0 + 1],
    };
    for (at, stated) in found {
        block.taken[at] = "figure of a configuration";
        let labels = Labels {
            configuration: Some(label(stated.state)),
            workload: Some(label(&stated.workload)),
            repetition: None,
        };
        let mut figure = Figure::new(metric_of(unit), stated.figure.value, unit);
        figure.step = Some(stated.figure.step);
        let figures = vec![figure];
        block.find(at, Finding::Run { labels, figures });
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing;

    /// Workload, configuration and figure of each run.
    fn read(text: &str) -> Vec<(String, String, f64)> {
        testing::first_of_each(&Lists, text)
    }

    const POST: &str = "FILES=400, before the series:      731 ms\n\
                        FILES=400, after patches 1 to 3:   512 ms (-30.0%)\n\
                        FILES=400, after the whole series: 498 ms (-31.9%)\n\n\
                        FILES=200, before the series:      363 ms\n\
                        FILES=200, after patches 1 to 3:   255 ms (-29.8%)\n\
                        FILES=200, after the whole series: 249 ms (-31.4%)\n";

    #[test]
    fn labels_equal_but_for_words_of_states_are_of_one_workload() {
        let all = read(POST);
        assert_eq!(all.len(), 6);
        let told = |workload: &str, state: &str, value| (workload.into(), state.into(), value);
        assert_eq!(all[0], told("FILES=400", "before the series", 731.0));
        assert_eq!(all[1], told("FILES=400", "after patches 1 to 3", 512.0));
        assert_eq!(all[5], told("FILES=200", "after the whole series", 249.0));
    }

    #[test]
    fn the_state_may_stand_first_or_without_a_comma() {
        let first = "without the cache, O_SYNC=1: 12.5 ms\nwith the cache, O_SYNC=1: 3.5 ms\n";
        let told = |workload: &str, state: &str, value| (workload.into(), state.into(), value);
        assert_eq!(
            read(first),
            [
                told("O_SYNC=1", "without the cache", 12.5),
                told("O_SYNC=1", "with the cache", 3.5)
            ]
        );
        let bare = "dirs=8 before the patch: 120 ms\ndirs=8 after the patch: 90 ms\n";
        assert_eq!(
            read(bare),
            [
                told("dirs=8", "before the patch", 120.0),
                told("dirs=8", "after the patch", 90.0)
            ]
        );
    }

    #[test]
    fn the_state_may_stand_in_parentheses() {
        let post = "cold lookup (before) 3.25s\ncold lookup (after)  0.5s\n";
        let told = |workload: &str, state: &str, value| (workload.into(), state.into(), value);
        assert_eq!(
            read(post),
            [
                told("cold lookup", "before", 3.25),
                told("cold lookup", "after", 0.5)
            ]
        );
        for text in [
            post.replace("(before)", "(first)")
                .replace("(after)", "(again)"),
            post.replacen("cold", "warm", 1),
            post.replace("s\n", " files\n"),
        ] {
            assert_eq!(read(&text), [], "{text}");
        }
    }

    #[test]
    fn states_that_are_missing_twice_there_or_no_opposites_are_no_such_list() {
        for text in [
            POST.replacen("FILES=200, before the series:      363 ms\n", "", 1),
            POST.replace("after patches 1 to 3", "before the series"),
            POST.replacen("after patches 1 to 3: ", "before the series:    ", 1),
            POST.replace(
                "FILES=200, before the series:",
                "FILES=400, before the series:",
            ),
            POST.replace("ms", "files"),
            "size=4k, with 2 disks: 12 ms\nsize=8k, with 3 disks: 13 ms\n".into(),
            "retry=3, after a reset: 12 ms\nretry=4, after a reset: 13 ms\n".into(),
        ] {
            assert_eq!(read(&text), [], "{text}");
        }
    }
}
