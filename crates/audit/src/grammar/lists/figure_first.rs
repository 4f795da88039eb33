//! Lists in which the figure stands before what it is of:
//!
//! ```text
//! With 6.2 I get:                          - 612K IOPS with the patch
//! * 9.90 Gb/s with no tunnel at all        - 598K IOPS without the patch
//! * 1.80 Gb/s with a tunnel
//!
//! With 6.2 and the commit reverted:
//! * 9.90 Gb/s with no tunnel at all
//! * 7.33 Gb/s with a tunnel
//! ```
//!
//! On the left the headings are the configurations, and below each stand the same
//! items. On the right, where nothing stands above, the items name the configurations.

use super::super::cells::{label, line_at};
use super::super::echoed::are_configurations;
use super::super::pairs::{Amount, amount};
use super::super::quantity::{is_measure, metric_of};
use super::super::{Block, Figure, Finding, Labels, Taken};
use super::{LONGEST, MOST, heading, is_setting};
use crate::Line;
use crate::roles::words::names_configuration;

/// No item has more words behind its figure.
const WORDS: usize = 10;
/// With these an item goes on behind its figure.
const OPENING: [&str; 9] = [
    "with", "without", "for", "on", "when", "using", "in", "w/", "w/o",
];

/// An item: its figure and what that is of.
type Item<'t> = (Amount<'t>, &'t str);

/// `* 1.80 Gb/s (often less) with a tunnel`
pub(super) fn item(text: &str) -> Option<Item<'_>> {
    let text = text.trim_start().strip_prefix(['-', '*', '•'])?;
    if text.len() > LONGEST || !text.starts_with([' ', '\t']) {
        return None;
    }
    let (amount, rest) = amount(text).filter(|(amount, _)| is_measure(amount.unit))?;
    let rest = match rest.trim_start().strip_prefix('(') {
        Some(remark) => remark.split_once(')')?.1,
        None => rest,
    };
    let name = rest.trim().trim_end_matches(['.', ',', ';']);
    let opens = OPENING.contains(&name.split(' ').next()?);
    let few = (2..=WORDS).contains(&name.split_whitespace().count());
    let plain = !name.contains(['"', '<', '>', '=', ';', ':', '{']);
    (opens && few && plain && !is_setting(name)).then_some((amount, name))
}

/// A heading and the items below it, each with its line; and where they end.
type Section<'t> = (&'t str, Vec<(usize, Item<'t>)>, usize);

fn section<'t>(lines: &'t [Line<'_>], from: usize) -> Option<Section<'t>> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let blank = |at: usize| here(at).is_some_and(|text| text.trim().is_empty());
    let at = (from..from + 3).find(|at| !blank(*at))?;
    let name = heading(here(at)?)?;
    let first = if blank(at + 1) { at + 2 } else { at + 1 };
    let items: Vec<_> = (first..first + MOST)
        .map_while(|at| Some((at, item(here(at)?)?)))
        .collect();
    let end = first + items.len();
    (!items.is_empty()).then_some((name, items, end))
}

/// Sections of the same items below headings that name configurations.
pub(super) fn under_headings(lines: &[Line<'_>]) -> Option<Block> {
    let names = |section: &Section<'_>| -> Vec<(String, String)> {
        let items = section.1.iter();
        items
            .map(|(_, (figure, name))| (name.to_lowercase(), figure.unit.to_owned()))
            .collect()
    };
    let first = section(lines, 0)?;
    let own = names(&first);
    let mut sections = vec![first];
    while let Some(end) = sections
        .last()
        .map(|section| section.2)
        .filter(|end| *end <= MOST)
    {
        match section(lines, end).filter(|section| names(section) == own) {
            Some(section) => sections.push(section),
            None => break,
        }
    }
    let distinct = |count: usize, mut names: Vec<&str>| {
        names.sort_unstable();
        names.dedup();
        names.len() == count
    };
    let headings: Vec<&str> = sections.iter().map(|section| section.0).collect();
    let fits = headings.len() >= 2
        && headings.iter().all(|name| names_configuration(name))
        && distinct(headings.len(), headings.clone())
        && distinct(
            own.len(),
            own.iter().map(|(name, _)| name.as_str()).collect(),
        );
    if !fits {
        return None;
    }
    runs_of(lines, sections)
}

/// A run for each item of each section.
fn runs_of(lines: &[Line<'_>], sections: Vec<Section<'_>>) -> Option<Block> {
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["blank" as Taken; sections.last()?.2],
    };
    let mut at = 0;
    for (heading, items, end) in sections {
        let above = items.first().map_or(end, |(first, _)| *first);
        for at in at..above {
            block.taken[at] = match line_at(lines, at) {
                Some(text) if !text.trim().is_empty() => "heading of a list",
                _ => "blank",
            };
        }
        for (at, (figure, name)) in items {
            let labels = Labels {
                configuration: Some(label(heading)),
                workload: Some(label(name)),
                repetition: None,
            };
            add(&mut block, at, labels, figure);
        }
        at = end;
    }
    Some(block)
}

/// Items that follow each other and name configurations.
pub(super) fn by_configuration(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let items: Vec<Item<'_>> = (0..MOST).map_while(|at| item(here(at)?)).collect();
    let unit = items.first()?.0.unit;
    let names: Vec<&str> = items.iter().map(|(_, name)| *name).collect();
    let alike = items.iter().all(|(figure, _)| figure.unit == unit);
    if !alike || !are_configurations(&names) {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["blank" as Taken; items.len()],
    };
    for (at, (figure, name)) in items.into_iter().enumerate() {
        let labels = Labels {
            configuration: Some(label(name)),
            ..Labels::default()
        };
        add(&mut block, at, labels, figure);
    }
    Some(block)
}

fn add(block: &mut Block, at: usize, labels: Labels, amount: Amount<'_>) {
    let mut figure = Figure::new(metric_of(amount.unit), amount.value, amount.unit);
    figure.step = Some(amount.step);
    if let Some(taken) = block.taken.get_mut(at) {
        *taken = "figure in a list";
    }
    let figures = vec![figure];
    block.find(at, Finding::Run { labels, figures });
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing::{self, told};

    const POST: &str = "On 6.2 I see:\n\
                        * 8.50 Gb/s with no bridge\n\
                        * 2.25 Gb/s (mostly less) with a bridge\n\
                        \n\
                        On 6.2 without that commit:\n\
                        * 8.50 Gb/s with no bridge\n\
                        * 7.75 Gb/s with a bridge\n";

    /// Workload, configuration and value of each run.
    fn read(text: &str) -> Vec<(String, String, f64)> {
        testing::first_of_each(&Lists, text)
    }

    #[test]
    fn the_same_items_below_headings_are_of_one_workload_each() {
        assert_eq!(
            read(POST),
            told(&[
                ("with no bridge", "On 6.2 I see", 8.5),
                ("with a bridge", "On 6.2 I see", 2.25),
                ("with no bridge", "On 6.2 without that commit", 8.5),
                ("with a bridge", "On 6.2 without that commit", 7.75),
            ])
        );
    }

    #[test]
    fn items_alone_may_name_configurations() {
        assert_eq!(
            read("- 612K IOPS with the patch\n- 598K IOPS without the patch\n"),
            told(&[
                ("", "with the patch", 612e3),
                ("", "without the patch", 598e3)
            ])
        );
    }

    #[test]
    fn other_items_headings_of_no_configurations_and_settings_are_left_alone() {
        for text in [
            POST.replacen("with no bridge", "with two bridges", 1),
            POST.replace("On 6.2 without that commit", "On 6.2 I see"),
            POST.replace("On 6.2 without that commit", "Another day")
                .replace("On 6.2 I see", "One day"),
            POST.replace("Gb/s", "GB"),
            "- 12 MB/s for reads\n- 14 MB/s for writes\n".to_owned(),
            "- 12 ms with a timeout\n- 14 ms without a timeout\n".to_owned(),
        ] {
            assert_eq!(read(&text), [], "{text}");
        }
    }
}
