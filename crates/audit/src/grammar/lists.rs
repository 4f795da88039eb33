//! Lists of one figure a line, as they are posted of two kernels:
//!
//! ```text
//! Before:                          before: 5310 IOPS
//!   real: 33.9 s                   after:  5512 IOPS
//!   throughput: 1240 MB/s
//!
//! After:
//!   real: 31.2 s
//!   throughput: 1310 MB/s
//! ```
//!
//! A list is read only together with another that stands under a heading of its
//! own and names the same metrics in the same units, or if its own labels name
//! configurations, or if changes are given that follow from its figures
//! (`stock: 4231237`, `patched: 5944063 (+40%)`). So settings (`runtime: 60s`), which
//! stand in one list, and descriptions of machines are no lists of figures. A list is
//! one run. One in which a single figure comes again and again holds samples of one
//! run, unless the kernel's time stamps before them show that it booted for each. A
//! line right above one whose labels name configurations says what they
//! executed.

mod changes;
mod entries;
mod figure_first;
mod lone;
mod numbered;
mod outline;
mod runs;
mod scores;
mod sides;
mod states;

use std::collections::BTreeSet;

use assize_bundle::Spread;

use super::cells::{self, label, line_at};
use super::quantity::metric_of;
use super::spread::{DEVIATIONS, MEANS, runs as stated_runs};
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::headings::last_words;
use crate::roles::words::names_configuration;
pub(super) use entries::is_setting;
use entries::{Entry, entry, is_change};
pub use lone::Lone;
pub(crate) use lone::{LONE, names_each};

/// Lists of figures; see the module.
pub struct Lists;

/// A longer line is no such line.
const LONGEST: usize = 160;
/// A block of lists has no more lines.
const MOST: usize = 200;
/// No more lines of settings stand above a list.
const SETTINGS_AT_MOST: usize = 16;
/// No label of a figure has more words.
const WORDS: usize = 6;

impl Grammar for Lists {
    fn name(&self) -> &'static str {
        "list"
    }

    fn is_report(&self) -> bool {
        false
    }

    fn starts(&self, line: &str) -> bool {
        if line.len() > LONGEST {
            return false;
        }
        let listed = match memchr::memchr2(b':', b'=', line.as_bytes()) {
            Some(at) => {
                let figure = || line.bytes().skip(at).any(|b| b.is_ascii_digit());
                line.trim_end().ends_with(':')
                    || figure()
                        && (entry(line).is_some()
                            || changes::line(line).is_some()
                            || states::line(line).is_some()
                            || scores::line(line).is_some())
            }
            None => is_title(line) || runs::may_begin(line) || states::line(line).is_some(),
        };
        listed
            || numbered::number(line).is_some()
            || figure_first::item(line).is_some()
            || sides::line(line).is_some()
    }

    fn reach(&self) -> usize {
        2
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        sides::list(lines)
            .or_else(|| under_headings(lines))
            .or_else(|| figure_first::under_headings(lines))
            .or_else(|| figure_first::by_configuration(lines))
            .or_else(|| numbered::list(lines))
            .or_else(|| scores::list(lines))
            .or_else(|| runs::list(lines))
            .or_else(|| outline::read(lines))
            .or_else(|| by_configuration(lines, 0))
            .or_else(|| states::list(lines))
            .or_else(|| titled(lines))
            .or_else(|| changes::list(lines))
    }
}

/// A heading that may stand above a list.
fn heading(text: &str) -> Option<&str> {
    let name = text.trim().trim_start_matches(['#', '*', '=', '-', ' ']);
    let name = name
        .trim_end_matches([' ', '=', '-', '*'])
        .strip_suffix(':')?
        .trim();
    let name = last_words(name);
    let fits = !name.is_empty()
        && name.split_whitespace().count() <= 10
        && name.bytes().any(|b| b.is_ascii_alphabetic())
        && !name.ends_with(['.', '!', '?'])
        && !name.contains(['{', '}', ';', '"', '<']);
    fits.then_some(name)
}

/// A heading without the `On` before a machine or a file system, which would
/// make it a switch.
fn place(heading: &str) -> &str {
    let on = heading
        .strip_prefix("On ")
        .or_else(|| heading.strip_prefix("on "));
    on.unwrap_or(heading)
}

/// A list with the heading above it.
struct List<'t> {
    heading: &'t str,
    at: usize,
    entries: Vec<(usize, Entry<'t>)>,
}

impl<'t> List<'t> {
    /// Its metrics with their units, in order; of a series the one.
    fn metrics(&self) -> Vec<(&'t str, &'t str)> {
        let mut metrics: Vec<_> = self.all().collect();
        if self.is_series() {
            metrics.truncate(1);
        }
        metrics
    }

    fn all(&self) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.entries.iter().map(|(_, e)| (e.label, e.unit))
    }

    /// Whether it is one figure that comes again and again.
    fn is_series(&self) -> bool {
        let first = self.all().next();
        self.entries.len() >= 3 && self.all().all(|metric| Some(metric) == first)
    }

    /// The runs of a series: one for each entry if the kernel booted for each, as
    /// time stamps show that do not only rise; else the mean of all is one run's.
    fn runs(&self, labels: &Labels) -> Vec<(usize, Finding)> {
        let run = |at: usize, repetition: Option<u32>, e: &Entry<'_>, value: f64| {
            let labels = Labels {
                repetition,
                ..labels.clone()
            };
            let figures = vec![Figure::new(label(e.label), value, e.unit)];
            (at, Finding::Run { labels, figures })
        };
        let stamps: Option<Vec<f64>> = self.entries.iter().map(|(_, e)| e.stamp).collect();
        let booted = stamps.is_some_and(|stamps| stamps.windows(2).any(|two| two[1] < two[0]));
        let numbered = self.entries.iter().zip(1..);
        if booted {
            return numbered
                .map(|((at, e), number)| run(*at, Some(number), e, e.value))
                .collect();
        }
        let sum: f64 = self.entries.iter().map(|(_, e)| e.value).sum();
        let mean = sum / self.entries.len() as f64;
        let first = self.entries.first();
        first
            .map(|(at, e)| run(*at, None, e, mean))
            .into_iter()
            .collect()
    }

    fn end(&self) -> usize {
        self.entries.last().map_or(self.at, |(at, _)| at + 1)
    }

    /// What the list says, each with its line.
    fn findings(&self, turned: bool) -> Vec<(usize, Finding)> {
        let heading = Some(label(self.heading));
        if turned {
            // `Reading (average of 5 runs):` makes means of what stands below.
            let n = stated_runs(self.heading);
            let of = |(at, entry): &(usize, Entry<'_>)| {
                let labels = Labels {
                    configuration: Some(label(entry.label)),
                    workload: heading.clone(),
                    repetition: None,
                };
                let figure = Figure::new(metric_of(entry.unit), entry.value, entry.unit);
                let finding = match n {
                    Some(n) => cells::summary(&labels, figure, None, Some(n)),
                    None => Finding::Run {
                        labels,
                        figures: vec![figure],
                    },
                };
                (*at, finding)
            };
            return self.entries.iter().map(of).collect();
        }
        let labels = Labels {
            configuration: heading,
            ..Labels::default()
        };
        if self.is_series() {
            return self.runs(&labels);
        }
        if let Some((at, finding)) = self.summary(&labels) {
            return vec![(at, finding)];
        }
        let figure = |(_, e): &(usize, Entry<'_>)| Figure::new(label(e.label), e.value, e.unit);
        let figures = self.entries.iter().map(figure).collect();
        vec![(self.at + 1, Finding::Run { labels, figures })]
    }

    /// A list of statistics is no run: its mean and deviation are a summary.
    fn summary(&self, labels: &Labels) -> Option<(usize, Finding)> {
        let find = |words: &[&str]| {
            let mut entries = self.entries.iter();
            entries.find(|(_, e)| words.contains(&e.label.to_ascii_lowercase().as_str()))
        };
        let ((at, mean), (_, deviation)) = (find(MEANS)?, find(DEVIATIONS)?);
        let figure = Figure::new("mean", mean.value, mean.unit);
        let spread = (mean.unit == deviation.unit && deviation.value >= 0.0)
            .then_some(Spread::StandardDeviation(deviation.value));
        Some((*at, cells::summary(labels, figure, spread, None)))
    }

    fn names_twice(&self) -> bool {
        let metrics = self.metrics();
        (1..metrics.len()).any(|at| metrics[..at].contains(&metrics[at]))
    }
}

/// Reads a heading and the list below it.
fn list<'t>(lines: &'t [Line<'_>], at: usize) -> Option<List<'t>> {
    let depth = lines.first()?.depth;
    let text = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let heading = heading(text(at)?)?;
    let mut next = at + 1;
    if text(next)?.trim().is_empty() {
        next += 1;
    }
    let mut entries = Vec::new();
    while let Some(entry) = text(next).and_then(entry) {
        entries.push((next, entry));
        next += 1;
        if entries.len() > MOST {
            return None;
        }
    }
    // A list that goes on with words or with other settings is one of settings.
    let goes_on = text(next).is_some_and(|line| {
        !line.trim().is_empty()
            && line
                .trim()
                .split_once([':', '='])
                .is_some_and(|(key, value)| {
                    key.split_whitespace().count() <= 3 && !value.trim().is_empty()
                })
    });
    let list = List {
        heading,
        at,
        entries,
    };
    (!list.entries.is_empty() && !goes_on && !list.names_twice()).then_some(list)
}

/// Lists of the same metrics under headings, at least two.
fn under_headings(lines: &[Line<'_>]) -> Option<Block> {
    let first = list(lines, 0)?;
    let metrics = first.metrics();
    let mut lists = vec![first];
    while let Some(at) = lists.last().map(List::end).filter(|at| *at <= MOST) {
        let mut next = at;
        while line_at(lines, next).is_some_and(|text| text.trim().is_empty()) && next < at + 3 {
            next += 1;
        }
        let Some(list) = list(lines, next).filter(|list| list.metrics() == metrics) else {
            break;
        };
        lists.push(list);
    }
    let distinct = (1..lists.len()).all(|at| {
        lists[..at]
            .iter()
            .all(|list| list.heading != lists[at].heading)
    });
    // What a tool prints once for each run is no list of samples.
    let printed = |list: &List<'_>| {
        let mut at = list.entries.iter().map(|(at, _)| *at);
        list.is_series() && at.all(|at| line_at(lines, at).is_some_and(super::reports::is_line))
    };
    if lists.len() < 2 || !distinct || lists.iter().any(printed) {
        return None;
    }
    let end = lists.last().map_or(0, List::end);
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["blank" as Taken; end],
    };
    // `On NVMe:` above `base: …` and `patched: …`: the labels are the
    // configurations, the headings what they executed.
    let turned = metrics.len() >= 2
        && metrics.iter().all(|(_, unit)| *unit == metrics[0].1)
        && metrics.iter().any(|(name, _)| names_configuration(name))
        && !lists
            .iter()
            .any(|list| names_configuration(place(list.heading)));
    for list in &lists {
        block.taken[list.at] = "heading of a list";
        for (at, _) in &list.entries {
            block.taken[*at] = "figure in a list";
        }
        for (at, finding) in list.findings(turned) {
            block.find(at, finding);
        }
    }
    Some(block)
}

/// A short line that is no sentence: what the list right below it is about.
fn is_title(line: &str) -> bool {
    let text = line.trim();
    text.len() <= 60
        && text
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphanumeric())
        && text
            .bytes()
            .last()
            .is_some_and(|b| b.is_ascii_alphanumeric() || b == b')')
        && text.split_whitespace().count() <= 8
}

/// A list whose labels name configurations, below a title.
fn titled(lines: &[Line<'_>]) -> Option<Block> {
    let title = line_at(lines, 0).filter(|line| is_title(line) && entry(line).is_none())?;
    let mut block = by_configuration(lines, 1)?;
    for (_, finding) in &mut block.findings {
        if let Finding::Run { labels, .. } = finding {
            labels.workload = Some(label(title.trim()));
        }
    }
    Some(block)
}

/// Whether a list whose labels name configurations stands below a heading or settings,
/// with which it is no table:
///
/// ```text
/// Setup                            Latency of a connect():
///   threads: 16                      without patch : 143.3 us
///   payload: 4KB                     with    patch : 102.2 us
///
///   before: 245.2 MB/s
///   after:  509.2 MB/s (+107%)
/// ```
pub(super) fn stands_below(lines: &[Line<'_>]) -> bool {
    let text = |at: usize| line_at(lines, at).map(str::trim);
    let keyed = |line: &str| line.split_once(": ").is_some_and(|(key, _)| is_title(key));
    let state = |line: &str| entry(line).is_some_and(|e| names_configuration(e.label));
    let headed = text(0).is_some_and(|line| line.ends_with(':'));
    let (mut settings, mut at) = (0, usize::from(!text(0).is_some_and(keyed)));
    while let Some(line) = text(at).filter(|_| at <= SETTINGS_AT_MOST) {
        if state(line) {
            return (headed && at == 1 || settings >= 2) && by_configuration(lines, at).is_some();
        }
        if keyed(line) {
            settings += 1;
        } else if !line.is_empty() || settings == 0 {
            return false;
        }
        at += 1;
    }
    false
}

/// Neighbouring lines from one on whose labels name configurations, in one unit.
fn by_configuration(lines: &[Line<'_>], from: usize) -> Option<Block> {
    let depth = lines.first()?.depth;
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for at in from..from + MOST {
        let Some(entry) = line_at(lines, at)
            .filter(|_| lines[at].depth == depth)
            .and_then(entry)
        else {
            break;
        };
        entries.push(entry);
    }
    let unit = entries.first()?.unit;
    let named = entries.len() >= 2
        && entries
            .iter()
            .all(|e| e.unit == unit && names_configuration(e.label) && !e.label.contains('='));
    // Two values under one name are two runs; a name alone is no comparison.
    let names: BTreeSet<&str> = entries.iter().map(|e| e.label).collect();
    if !named || names.len() < 2 {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["title of a list" as Taken; from],
    };
    let figures = std::iter::repeat_n("figure of a configuration", entries.len());
    block.taken.extend(figures);
    for (at, entry) in entries.into_iter().enumerate() {
        let labels = Labels {
            configuration: Some(label(entry.label)),
            ..Labels::default()
        };
        let figures = vec![Figure::new(metric_of(unit), entry.value, unit)];
        block.find(from + at, Finding::Run { labels, figures });
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::super::table::Table;
    use super::stands_below;
    use crate::grammar::testing;

    #[test]
    fn figures_of_states_below_settings_or_a_heading_are_no_rows_of_a_table() {
        let settings = "Setup\nqueues: 4\nblock: 8KB\n\nbefore: 310.5 MB/s\nafter: 402.5 MB/s\n";
        let heading = "Latency of open():\n  w/o patch : 19.5 us\n  w/  patch : 12.5 us\n";
        for text in [settings, heading] {
            assert!(stands_below(&testing::lines(text)), "{text}");
            assert_eq!(testing::read(&Table, text), None, "{text}");
        }
        for text in [
            settings
                .replace("before", "reader")
                .replace("after", "writer"),
            settings.replace("after: 402.5", "before: 402.5"),
            settings.replace("after: 402.5 MB/s\n", ""),
            settings.replace("queues: 4\nblock: 8KB\n", ""),
            settings.replace("queues: 4\n", "and many other words\n"),
            heading.replace("open():", "open()"),
            heading.replace("open():", "open():\n\n"),
            "queues: 4\nblock: 8KB\n".repeat(20),
        ] {
            assert!(!stands_below(&testing::lines(&text)), "{text}");
        }
    }
}
