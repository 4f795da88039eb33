//! Figures that stand alone on a line, below the names of what they are of:
//!
//! ```text
//! before                       SEGMENTS 1
//! SEGMENTS 1                   before:
//! 2556 MiB/s                   2556 MiB/s
//! SEGMENTS 128                 after:
//! 2145 MiB/s                   2561 MiB/s
//!
//! after                        SEGMENTS 128
//! SEGMENTS 1                   …
//! 2561 MiB/s
//! SEGMENTS 128
//! 2556 MiB/s
//! ```
//!
//! Below each outer name stand the same inner ones. Whichever of the two differ as
//! configurations do are these, and the others are what was executed. Where there is no
//! inner name each outer one has one figure.

use std::collections::BTreeSet;

use super::super::cells::{label, line_at};
use super::super::echoed::are_configurations;
use super::super::quantity::{Quantity, is_measure, metric_of, quantity};
use super::super::{Block, Figure, Finding, Labels, Taken};
use super::{MOST, is_change, is_setting};
use crate::Line;
use crate::states;

/// No name has more words, and none is longer.
const WORDS: usize = 8;
const LONGEST: usize = 60;

/// A line that is nothing but a figure of something measured, and maybe a change.
fn bare(text: &str) -> Option<Quantity<'_>> {
    let (figure, tail) = quantity(text)?;
    let ends = tail.trim().is_empty() || is_change(tail);
    (is_measure(figure.unit) && ends).then_some(figure)
}

/// A short line that is no sentence, without the colon at its end.
pub(super) fn name(text: &str) -> Option<&str> {
    let name = text.trim().trim_start_matches(['-', '*', '•', '#', ' ']);
    let name = name.trim_end_matches([':', ' ']);
    let fits = name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == ')')
        && name.bytes().any(|b| b.is_ascii_alphabetic())
        && name.split_whitespace().count() <= WORDS
        && !name.contains(['"', '<', '>', ';', '{', '}', '\\'])
        && bare(name).is_none()
        && !is_setting(name);
    fits.then_some(name)
}

/// A name at a line, and the inner names and figures below it, each with its line.
struct Part<'t> {
    at: usize,
    name: &'t str,
    inner: Vec<(&'t str, usize, Quantity<'t>)>,
}

impl<'t> Part<'t> {
    fn names(&self) -> Vec<(&'t str, &'t str)> {
        let inner = self.inner.iter();
        inner
            .map(|(name, _, figure)| (*name, figure.unit))
            .collect()
    }
}

/// The part that begins at or behind blank lines from `from` on, and where it ends.
fn part<'t>(lines: &'t [Line<'_>], from: usize) -> Option<(Part<'t>, usize)> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    // The first line at or below one that is not blank.
    let next = |at: usize| {
        (at..at + 3).find_map(|at| {
            let text = here(at)?;
            (!text.trim().is_empty()).then_some((at, text))
        })
    };
    let (at, text) = next(from)?;
    let mut part = Part {
        at,
        name: name(text)?,
        inner: Vec::new(),
    };
    let (below, text) = next(at + 1)?;
    if let Some(figure) = bare(text) {
        part.inner.push(("", below, figure));
        return Some((part, below + 1));
    }
    let mut end = below;
    while part.inner.len() < MOST {
        let inner = next(end).and_then(|(at, text)| {
            let name = name(text)?;
            let (at, text) = next(at + 1)?;
            Some((name, at, bare(text)?))
        });
        let Some((name, at, figure)) = inner else {
            break;
        };
        // The next outer name has no figure right below it.
        end = at + 1;
        part.inner.push((name, at, figure));
    }
    (part.inner.len() >= 2).then_some((part, end))
}

/// Parts with the same inner names.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let (first, mut end) = part(lines, 0)?;
    let own = first.names();
    let mut parts = vec![first];
    while let Some((next, behind)) = (end <= MOST).then(|| part(lines, end)).flatten() {
        if next.names() != own {
            break;
        }
        parts.push(next);
        end = behind;
    }
    let outer: Vec<&str> = parts.iter().map(|part| part.name).collect();
    let inner: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
    let stated = |names: &[&str]| {
        let distinct: BTreeSet<&&str> = names.iter().collect();
        distinct.len() == names.len()
            && names.iter().all(|name| states::in_name(name))
            && are_configurations(names)
    };
    let alone = inner == [""];
    let turned = match (stated(&outer), !alone && stated(&inner)) {
        (true, false) => false,
        (false, true) => true,
        _ => return None,
    };
    let distinct: BTreeSet<&&str> = inner.iter().chain(&outer).collect();
    if parts.len() < 2 || distinct.len() < inner.len() + outer.len() {
        return None;
    }
    Some(block(&parts, turned, end))
}

fn block(parts: &[Part<'_>], turned: bool, end: usize) -> Block {
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["blank" as Taken; end],
    };
    let mut take = |at: usize, as_what: Taken| {
        if let Some(taken) = block.taken.get_mut(at) {
            *taken = as_what;
        }
    };
    for part in parts {
        take(part.at, "heading of a list");
        for (name, at, _) in &part.inner {
            if !name.is_empty() {
                take(at - 1, "what a figure is of");
            }
            take(*at, "figure in a list");
        }
    }
    for part in parts {
        for (name, at, value) in &part.inner {
            let (configuration, workload) = match turned {
                true => (*name, part.name),
                false => (part.name, *name),
            };
            let labels = Labels {
                configuration: Some(label(configuration)),
                workload: (!workload.is_empty()).then(|| label(workload)),
                repetition: None,
            };
            let mut figure = Figure::new(metric_of(value.unit), value.value, value.unit);
            figure.step = Some(value.step);
            let figures = vec![figure];
            block.find(*at, Finding::Run { labels, figures });
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing::{self, told};

    /// Workload, configuration and value of each run.
    fn read(text: &str) -> Vec<(String, String, f64)> {
        testing::first_of_each(&Lists, text)
    }

    const POST: &str = "before\nZONES 2\n1450MiB/s\nZONES 64\n1210MiB/s\n\n\
                        after\nZONES 2\n1455MiB/s\nZONES 64\n1450MiB/s\n";

    #[test]
    fn figures_below_the_same_names_are_of_one_workload_each() {
        let all = told(&[
            ("ZONES 2", "before", 1450.0),
            ("ZONES 64", "before", 1210.0),
            ("ZONES 2", "after", 1455.0),
            ("ZONES 64", "after", 1450.0),
        ]);
        assert_eq!(read(POST), all);
    }

    #[test]
    fn the_inner_names_may_be_the_states() {
        let text = "ZONES 2\nbefore:\n1450 MiB/s\nafter:\n1455 MiB/s\n\
                    ZONES 64\nbefore:\n1210 MiB/s\nafter:\n1450 MiB/s (+20%)\n";
        assert_eq!(
            read(text),
            told(&[
                ("ZONES 2", "before", 1450.0),
                ("ZONES 2", "after", 1455.0),
                ("ZONES 64", "before", 1210.0),
                ("ZONES 64", "after", 1450.0),
            ])
        );
        assert_eq!(
            read("Without the patch:\n\n 1450 MiB/s\n\nWith the patch:\n\n 1455 MiB/s\n"),
            told(&[
                ("", "Without the patch", 1450.0),
                ("", "With the patch", 1455.0)
            ])
        );
    }

    #[test]
    fn other_names_names_of_no_states_and_settings_are_left_alone() {
        for text in [
            POST.replacen("ZONES 64", "ZONES 32", 1),
            POST.replace("after", "before"),
            POST.replace("after", "later").replace("before", "sooner"),
            POST.replace("MiB/s", "MiB"),
            POST.replace("1455MiB/s", "1455MiB/s, 1460MiB/s"),
            "before the timeout\n10 ms\n\nafter the timeout\n12 ms\n".to_owned(),
            // Two figures below one name may be anything.
            "before\n10 ms\n11 ms\n\nafter\n12 ms\n13 ms\n".to_owned(),
        ] {
            assert_eq!(read(&text), [], "{text}");
        }
    }
}
