//! Several figures behind the name of a configuration, each behind its own:
//!
//! ```text
//! With the option disabled: one core: 841.8, all cores (8): 4621.6
//! With the option enabled:  one core: 877.8, all cores (8): 4854.7
//! ```
//!
//! The lines are of configurations that differ as such do, and their figures have the same
//! names. A figure without a unit is a score if it has digits behind the point.

use super::super::cells::{self, label, line_at};
use super::super::echoed::are_configurations;
use super::super::quantity::{Quantity, is_measure, quantity};
use super::super::{Block, Figure, Finding, Taken};
use super::{LONGEST, MOST, is_setting};
use crate::Line;
use crate::roles::words::names_configuration;

/// No name has more words.
const WORDS: usize = 8;

/// The name of a configuration, and names and figures behind it.
type Scores<'t> = (&'t str, Vec<(&'t str, Quantity<'t>)>);

/// `With the option disabled: one core: 841.8, all cores (8): 4621.6`
pub(super) fn line(text: &str) -> Option<Scores<'_>> {
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let (head, rest) = text.split_once(':')?;
    if text.len() > LONGEST || !rest.contains(':') {
        return None;
    }
    let few = head.split_whitespace().count() <= WORDS;
    if !few || !names_configuration(head) {
        return None;
    }
    let item = |item: &'_ str| -> Option<usize> { item.rfind(':') };
    let scores = rest.split(", ").map(|part| {
        let (name, value) = part.split_at(item(part)?);
        let name = name.trim();
        let (figure, tail) = quantity(&value[1..])?;
        let scored = figure.unit.is_empty() && figure.step < 1.0;
        let fits = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.split_whitespace().count() <= WORDS
            && !name.contains([':', '"', '=', '<', '>', '{'])
            && !is_setting(name)
            && tail.trim().is_empty();
        (fits && (scored || is_measure(figure.unit))).then_some((name, figure))
    });
    let scores: Vec<_> = scores.collect::<Option<_>>()?;
    (scores.len() >= 2).then_some((head.trim(), scores))
}

/// Lines of configurations that follow each other.
pub(super) fn list(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let all: Vec<Scores<'_>> = (0..MOST).map_while(|at| line(here(at)?)).collect();
    let names = |scores: &Scores<'_>| -> Vec<(String, String)> {
        let all = scores.1.iter();
        all.map(|(name, figure)| ((*name).to_owned(), figure.unit.to_owned()))
            .collect()
    };
    let own = names(all.first()?);
    let heads: Vec<&str> = all.iter().map(|(head, _)| *head).collect();
    let twice = |at: usize| heads[..at].contains(&heads[at]);
    let again = |at: usize| own[..at].iter().any(|(name, _)| *name == own[at].0);
    let alike = all.iter().all(|scores| names(scores) == own);
    let apart = !(0..heads.len()).any(twice) && !(0..own.len()).any(again);
    if heads.len() < 2 || !alike || !apart || !are_configurations(&heads) {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["figures of a configuration" as Taken; all.len()],
    };
    for (at, (head, scores)) in all.into_iter().enumerate() {
        let labels = cells::configuration(Some(head));
        let figures = scores.into_iter().map(|(name, value)| {
            let mut figure = Figure::new(label(name), value.value, value.unit);
            figure.step = Some(value.step);
            figure
        });
        let figures = figures.collect();
        block.find(at, Finding::Run { labels, figures });
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing::{self, told};

    const POST: &str = "With the cache off: Single: 412.5, Multi (8): 2210.25\n\
                        With the cache on:  Single: 431.5, Multi (8): 2340.75\n";

    fn read(text: &str) -> Vec<(String, String, f64)> {
        testing::placed(&Lists, text)
    }

    #[test]
    fn the_same_figures_behind_two_configurations_are_one_run_of_each() {
        assert_eq!(
            read(POST),
            told(&[
                ("With the cache off", "Single", 412.5),
                ("With the cache off", "Multi (8)", 2210.25),
                ("With the cache on", "Single", 431.5),
                ("With the cache on", "Multi (8)", 2340.75),
            ])
        );
    }

    #[test]
    fn settings_other_names_and_counts_are_left_alone() {
        for text in [
            POST.replace("cache on:", "cache off:"),
            POST.replacen("Multi", "Many", 1),
            POST.replace("Multi (8)", "Single"),
            POST.replace("Single", "Interval")
                .replace("Multi (8)", "Timeout"),
            POST.replace(".5", "").replace(".25", "").replace(".75", ""),
            POST.replace("With the cache off", "Stage one")
                .replace("With the cache on", "Stage two"),
            POST.lines().next().unwrap().to_owned(),
        ] {
            assert_eq!(read(&text), [], "{text}");
        }
    }
}
