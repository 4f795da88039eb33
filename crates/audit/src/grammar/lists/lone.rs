//! A list of figures that stands alone:
//!
//! ```text
//! With the patch I see
//!
//!   throughput: 1310 MB/s
//!   avg latency: 2.4 ms
//! ```
//!
//! Settings look the same, so the figures are kept only where another list or report of
//! the same metrics stands under another heading of the message; that is decided when
//! all of it is known.

use std::collections::BTreeSet;

use super::super::begins::Begins;
use super::super::cells::{label, line_at};
use super::super::pairs::amount;
use super::super::quantity::{is_measure, is_time, metric_of, quantity};
use super::super::{Block, Figure, Finding, Grammar, Labels, Taken};
use super::{DEVIATIONS, LONGEST, MOST, entry, is_change, is_setting};
use crate::Line;
use crate::roles::words::{names_configuration, names_measurement};
use crate::states::is_bare;

/// Lists that stand alone; see the module.
pub struct Lone;

/// The format's name.
pub(crate) const LONE: &str = "figures";

impl Grammar for Lone {
    fn name(&self) -> &'static str {
        LONE
    }

    fn is_report(&self) -> bool {
        false
    }

    fn begins(&self) -> Begins {
        Begins::holding(b":=-")
    }

    fn starts(&self, line: &str) -> bool {
        let bytes = line.as_bytes();
        line.len() <= LONGEST
            && (memchr::memchr2(b':', b'=', bytes).is_some()
                && (figure(line).is_some() || inline(line).is_some())
                || memchr::memmem::find(bytes, b" - ").is_some() && dashed(line).is_some())
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        if let Some((state, figure)) = here(0).and_then(dashed) {
            return of_lines(vec![(Some(state), vec![figure])]);
        }
        let several: Vec<(Option<&str>, Vec<Figure>)> =
            (0..MOST).map_while(|at| inline(here(at)?)).collect();
        if !several.is_empty() {
            let works = works(&several);
            let block = of_lines(several)?;
            return Some(with_works(block, works));
        }
        let figures: Vec<Figure> = (0..MOST).map_while(|at| figure(here(at)?)).collect();
        let lines = figures.len();
        // A deviation without the mean that it is of is compared with nothing.
        let deviation = |figure: &Figure| {
            let name = figure.metric.to_ascii_lowercase();
            DEVIATIONS.contains(&name.as_str())
        };
        let figures: Vec<Figure> = figures.into_iter().filter(|f| !deviation(f)).collect();
        // A figure that is printed again and again has samples, for nothing says that
        // each is of another run.
        let means = crate::scan::mean_figures(figures.iter());
        of_lines(vec![(None, means)]).map(|mut block| {
            block.taken.resize(lines, "figure in a list");
            block
        })
    }
}

/// What each line of several was measured on, where only its first name says that, and
/// another name comes again in all of them: `read IOPS=95.7k, BW=374MiB/s` above `write
/// IOPS=98.2k, BW=386MiB/s`.
fn works(several: &[(Option<&str>, Vec<Figure>)]) -> Vec<Option<String>> {
    let firsts = several.iter().filter_map(|(_, figures)| figures.first());
    let firsts: Vec<Vec<&str>> = firsts
        .map(|figure| figure.metric.split_whitespace().collect())
        .collect();
    let others = |(_, figures): &(_, Vec<Figure>)| -> Vec<String> {
        let names = figures.iter().skip(1);
        names.map(|figure| figure.metric.clone()).collect()
    };
    let distinct: BTreeSet<&Vec<&str>> = firsts.iter().collect();
    let mut seconds = several.iter().map(others);
    let first = seconds.next().unwrap_or_default();
    let comes_again = !first.is_empty() && seconds.all(|names| names == first);
    if distinct.len() < 2 || !comes_again {
        return vec![None; several.len()];
    }
    // `IOPS` ends all of them and is what was measured.
    let last = firsts[0].last();
    let common = firsts
        .iter()
        .all(|words| words.len() >= 2 && words.last() == last);
    let work = |words: &Vec<&str>| words[..words.len() - usize::from(common)].join(" ");
    firsts.iter().map(|words| Some(work(words))).collect()
}

/// Gives each run of a block what it was measured on.
fn with_works(mut block: Block, works: Vec<Option<String>>) -> Block {
    for ((_, finding), work) in block.findings.iter_mut().zip(works) {
        let Finding::Run { labels, figures } = finding else {
            continue;
        };
        let Some(work) = work else {
            continue;
        };
        if let Some(first) = figures.first_mut()
            && let Some(metric) = first.metric.strip_prefix(&work)
            && !metric.is_empty()
        {
            first.metric = metric.trim_start().to_owned();
        }
        labels.workload = Some(work);
    }
    block
}

/// A run for each line, or none if a figure comes twice in one.
fn of_lines(several: Vec<(Option<&str>, Vec<Figure>)>) -> Option<Block> {
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["figure in a list" as Taken; several.len()],
    };
    for (at, (name, figures)) in several.into_iter().enumerate() {
        let names: BTreeSet<&str> = figures.iter().map(|f| f.metric.as_str()).collect();
        if figures.is_empty() || names.len() < figures.len() {
            return None;
        }
        let labels = Labels {
            configuration: name.map(label),
            ..Labels::default()
        };
        block.find(at, Finding::Run { labels, figures });
    }
    Some(block)
}

/// `before: reads 123.4 MB/s, writes 2.3 MB/s`, `IOPS = 345K, avg lat = 92us`: several
/// figures in a line, maybe behind the name of a configuration.
fn inline(text: &str) -> Option<(Option<&str>, Vec<Figure>)> {
    memchr::memchr2(b',', b';', text.as_bytes())?;
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim();
    let (head, rest) = match text.split_once(": ") {
        Some((head, rest)) if names_configuration(head) && !head.contains(['=', ',']) => {
            (Some(head.trim()), rest)
        }
        _ => (None, text),
    };
    let items: Vec<&str> = rest.split([',', ';']).map(str::trim).collect();
    if items.len() < 2 || text.len() > LONGEST || head.is_some_and(|h| h.len() > 40) {
        return None;
    }
    let figures = items.into_iter().map(|item| {
        let digits = item.find(|c: char| c.is_ascii_digit())?;
        let name = item[..digits].trim().trim_end_matches([':', '=', '~', ' ']);
        let worded = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.split_whitespace().count() <= 4
            && !name.contains(['"', '<', '>', '(', '/', '\\', '[', '{', '-']);
        let (amount, tail) = amount(&item[digits..])?;
        let measured = is_measure(amount.unit) || amount.unit.is_empty() && names_measurement(name);
        (worded && measured && tail.trim().is_empty() && !is_setting(name)).then(|| {
            let name = Vec::from_iter(name.split_whitespace()).join(" ");
            let mut figure = Figure::new(label(&name), amount.value, amount.unit);
            figure.step = Some(amount.step);
            figure
        })
    });
    Some((head, figures.collect::<Option<_>>()?))
}

/// Whether each of several figures in a line has its name.
pub(crate) fn names_each(text: &str) -> bool {
    inline(text).is_some()
}

/// `Without this patch - 602K IOPS. What perf shows:`: a state and what was measured in it.
fn dashed(text: &str) -> Option<(&str, Figure)> {
    let (state, rest) = text.trim().split_once(" - ")?;
    let (amount, tail) = amount(rest)?;
    let first = state.split(' ').next().unwrap_or_default();
    let lower = first.to_ascii_lowercase();
    let opens = matches!(lower.as_str(), "with" | "without" | "w/o" | "w/") || is_bare(&lower);
    let named = opens && state.split_whitespace().count() <= 6 && !state.contains(['"', '(', '=']);
    let rate = is_measure(amount.unit) && !is_time(amount.unit);
    let ends = tail.trim().is_empty() || tail.starts_with(['.', ',', ' ']);
    (named && rate && ends && names_configuration(state)).then(|| {
        let mut figure = Figure::new(metric_of(amount.unit), amount.value, amount.unit);
        figure.step = Some(amount.step);
        (state.trim(), figure)
    })
}

/// `throughput: 1310 MB/s`, or `IOPS: 120000` of which the name says that it was measured.
fn figure(text: &str) -> Option<Figure> {
    // `w/o patch: 529000 IOPS` is one side of a comparison.
    named(text).filter(|figure| !names_configuration(&figure.metric))
}

fn named(text: &str) -> Option<Figure> {
    if let Some(entry) = entry(text).filter(|entry| entry.stamp.is_none()) {
        return Some(Figure::new(label(entry.label), entry.value, entry.unit));
    }
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let (name, rest) = text.split_once([':', '='])?;
    let name = name.trim();
    let (value, tail) = quantity(rest)?;
    let worded = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.split_whitespace().count() <= 4
        && !name.contains(['"', '<', '>', '(', '/', '\\', ';', '[']);
    let measured = worded && names_measurement(name) && !is_setting(name);
    (measured && value.unit.is_empty() && (tail.trim().is_empty() || is_change(tail)))
        .then(|| Figure::new(label(name), value.value, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    #[test]
    fn neighbouring_figures_are_one_run() {
        let text =
            "  throughput: 1310 MB/s\n  avg latency: 2.4 ms\n  IOPS: 120000\n\nmore: words\n";
        assert_eq!(
            testing::figures(&Lone, text),
            [
                ("throughput".into(), 1310.0),
                ("avg latency".into(), 2.4),
                ("IOPS".into(), 120_000.0)
            ]
        );
    }

    #[test]
    fn a_state_and_a_figure_behind_a_dash_are_a_run() {
        let read = |text: &str| testing::placed(&Lone, text);
        assert_eq!(
            read("Without the queue - 612K IOPS. What perf says -\n"),
            testing::told(&[("Without the queue", "IOPS", 612e3)])
        );
        for text in [
            "With 8 disks - 12 of them idle\n",
            "With a timeout - 10 ms is enough\n",
            "Random reads - 612K IOPS\n",
            "Adds a queue without a lock - 612K IOPS\n",
        ] {
            assert!(read(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn several_figures_in_a_line_are_one_run() {
        let text = "Before: reads 123.5 MB/s, writes 2.5 MB/s\nAfter:  reads 145.5 MB/s, writes 3.5 MB/s\n";
        let read = testing::placed(&Lone, text);
        assert_eq!(read.len(), 4);
        assert_eq!(read[3], ("After".into(), "writes".into(), 3.5));
        let read = testing::figures(&Lone, "  IOPS = 345K, avg lat = 92us\n");
        assert_eq!(read, [("IOPS".into(), 345e3), ("avg lat".into(), 92.0)]);
    }

    #[test]
    fn what_only_the_first_name_of_a_line_says_holds_for_all_of_it() {
        let works = |text: &str| -> Vec<String> {
            let lines = testing::lines(text);
            let block = Lone.read(&lines).unwrap();
            let runs = block
                .findings
                .into_iter()
                .map(|(_, finding)| match finding {
                    Finding::Run { labels, figures } => {
                        let names = figures.iter().map(|f| f.metric.as_str());
                        let names = names.collect::<Vec<_>>().join("+");
                        format!("{}: {names}", labels.workload.unwrap_or_default())
                    }
                    _ => String::new(),
                });
            runs.collect()
        };
        assert_eq!(
            works(
                "  read         IOPS=95.7k, BW=374MiB/s\n  rand write   IOPS=98.2k, BW=386MiB/s\n"
            ),
            ["read: IOPS+BW", "rand write: IOPS+BW"]
        );
        assert_eq!(
            works("reads 120 MB/s, latency 12 us\nwrites 99 MB/s, latency 17 us\n"),
            ["reads: reads+latency", "writes: writes+latency"]
        );
        // Runs of one thing, and lines that have nothing in common.
        assert_eq!(
            works("IOPS=95.7k, BW=374MiB/s\nIOPS=95.9k, BW=375MiB/s\n"),
            [": IOPS+BW", ": IOPS+BW"]
        );
        assert_eq!(
            works("reads 120 MB/s, writes 99 MB/s\nlatency 12 us, jitter 2 us\n"),
            [": reads+writes", ": latency+jitter"]
        );
    }

    #[test]
    fn a_figure_printed_again_and_again_is_one_with_samples() {
        let text = "  open: 12 ms\n  open: 13 ms\n  open: 17 ms\n";
        assert_eq!(testing::figures(&Lone, text), [("open".into(), 14.0)]);
    }

    #[test]
    fn a_sentence_behind_a_figure_may_say_how_it_changed() {
        let read = |text: &str| testing::figures(&Lone, text);
        assert_eq!(
            read("IOPS: 412345  about 3% improvement, which I had\nnot expected\n"),
            [("IOPS".into(), 412_345.0)]
        );
        assert!(read("IOPS: 412345  about 3% of them, which I had\n").is_empty());
    }

    #[test]
    fn settings_are_left_alone() {
        for text in [
            "runtime: 60 s\n",
            "w/o patch: 12 MB/s\n",
            "bs=4k\n",
            "threads: 8\n",
            "latency: low\n",
            "min=4, max=12, avg=7\n",
            "Machine: 8 CPUs, 16 GB\n",
            "with: timeout 3 s, interval 4 s\n",
            "[    1.5] latency: 3 ms\n",
            "stddev=954.392\n",
        ] {
            assert_eq!(testing::figures(&Lone, text), [], "{text}");
        }
    }
}
