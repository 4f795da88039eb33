//! schbench, from its first version to the one that measures requests.
//!
//! The tool repeats its report every few seconds; of one invocation only the
//! last report counts.

use super::begins::Begins;
use super::latencies::{Cell, blanks, cell, is_digits, take, truncated};
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

mod report;

use report::Report;

/// schbench.
#[derive(Debug, Clone, Copy)]
pub struct Schbench;

/// What the percentiles of a section are of.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Kind {
    Latency,
    Wakeup,
    Request,
    Rps,
}

impl Kind {
    /// What the names of its figures begin with.
    fn prefix(self) -> &'static str {
        match self {
            Kind::Latency => "latency",
            Kind::Wakeup => "wakeup",
            Kind::Request => "request",
            Kind::Rps => "rps",
        }
    }

    /// The unit of its figures.
    fn unit(self) -> &'static str {
        if self == Kind::Rps {
            "requests/s"
        } else {
            "us"
        }
    }
}

/// The titles that versions of the tool print.
const TITLES: [(&str, Kind); 6] = [
    ("Latency percentiles (usec)", Kind::Latency),
    ("Wakeup Latencies percentiles (usec)", Kind::Wakeup),
    ("Wakeup latency percentiles (usec)", Kind::Wakeup),
    ("Request Latencies percentiles (usec)", Kind::Request),
    ("Request latency percentiles (usec)", Kind::Request),
    ("RPS percentiles (requests)", Kind::Rps),
];

/// The title of a section.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Title {
    kind: Kind,
    /// Seconds since the beginning.
    runtime: Option<u64>,
    samples: Option<u64>,
    /// Whether a mailer has broken it.
    broken: bool,
}

/// Reads a title.
fn title(text: &str) -> Option<Title> {
    if !matches!(text.as_bytes().first(), Some(b'L' | b'W' | b'R')) {
        return None;
    }
    let (kind, rest) = TITLES
        .iter()
        .find_map(|(name, kind)| Some((*kind, text.strip_prefix(name)?)))?;
    let tail = rest.trim_start();
    if !(tail.is_empty() || tail.starts_with("runtime ") || tail.starts_with('(')) {
        return None;
    }
    let mut title = Title {
        kind,
        runtime: None,
        samples: None,
        broken: rest.contains("runtime") && !rest.trim_end().ends_with(')'),
    };
    let mut before = "";
    for token in rest.split_ascii_whitespace().take(8) {
        let number = token.trim_start_matches('(');
        if before == "runtime" && is_digits(number) {
            title.runtime = number.parse().ok();
        } else if token.starts_with('(') && is_digits(number) {
            title.samples = number.parse().ok();
        }
        before = token;
    }
    Some(title)
}

/// A line that stands beside the percentiles.
#[derive(Debug, Clone, PartialEq)]
struct Aside<'a> {
    /// Metric, value and unit of each figure.
    figures: Vec<(&'static str, &'a str, &'a str)>,
    /// Whether the invocation ends with it.
    last: bool,
}

/// Reads a line that stands beside the percentiles.
fn aside(text: &str) -> Option<Aside<'_>> {
    rate(text)
        .or_else(|| delay(text))
        .or_else(|| transfer(text))
}

/// The lines that give a rate of requests, and whether each is a last one.
const RATES: [(&str, &str, bool); 3] = [
    ("average rps:", "average rps", true),
    ("current rps:", "current rps", false),
    ("final rps goal was", "final rps goal", true),
];

/// Reads a rate of requests.
fn rate(text: &str) -> Option<Aside<'_>> {
    let (rest, name, last) = RATES
        .iter()
        .find_map(|(head, name, last)| Some((text.strip_prefix(head)?, *name, *last)))?;
    let value = rest.trim();
    is_token(value).then(|| Aside {
        figures: vec![(name, value, "requests/s")],
        last,
    })
}

/// Reads `sched delay: message 4 (usec) worker 6 (usec)`.
fn delay(text: &str) -> Option<Aside<'_>> {
    let rest = text.strip_prefix("sched delay:")?;
    let mut tokens = rest.split_ascii_whitespace();
    let mut part = |name| {
        let value = (tokens.next()? == name).then(|| tokens.next())??;
        (tokens.next()? == "(usec)").then_some(value)
    };
    let message = part("message")?;
    let worker = part("worker")?;
    Some(Aside {
        figures: vec![
            ("sched delay message", message, "us"),
            ("sched delay worker", worker, "us"),
        ],
        last: false,
    })
}

/// Reads `avg worker transfer: 25192.00 ops/sec 98.41MB/s`.
fn transfer(text: &str) -> Option<Aside<'_>> {
    let rest = text.strip_prefix("avg worker transfer:")?;
    let mut tokens = rest.split_ascii_whitespace();
    let value = tokens.next()?;
    if tokens.next()? != "ops/sec" {
        return None;
    }
    let mut figures = vec![("worker transfer", value, "ops/sec")];
    if let Some(rate) = tokens.next() {
        let end = rate.find(|c: char| c.is_ascii_alphabetic());
        let (number, glued) = rate.split_at(end.unwrap_or(rate.len()));
        let unit = match glued {
            "" => tokens.next()?,
            _ => glued,
        };
        if !unit.ends_with("/s") {
            return None;
        }
        figures.push(("worker transfer bandwidth", number, unit));
    }
    tokens.next().is_none().then_some(Aside {
        figures,
        last: true,
    })
}

/// Whether a text is one word that is made as numbers are, good or bad.
fn is_token(text: &str) -> bool {
    let bare = text.trim_start_matches(['-', '+']);
    matches!(bare, "nan" | "inf")
        || (bare.starts_with(|c: char| c.is_ascii_digit())
            && bare
                .bytes()
                .all(|b| b.is_ascii_digit() || b".,'eE+-".contains(&b)))
}

/// Name and value of a percentile row (`* 99.0th: 118   (224187 samples)`).
fn percentile(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(['*', ' ', '\t']);
    let (rank, rest) = text.split_at(text.find("th:").filter(|end| *end <= 8)?);
    let mut tokens = rest[3..].split_ascii_whitespace();
    let value = tokens.next()?;
    let note = tokens.next().is_none_or(|token| token.starts_with('('));
    let rank_is_number = rank.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let rank = match rank.contains('.') {
        true => rank.trim_end_matches('0').trim_end_matches('.'),
        false => rank,
    };
    let known = note && rank_is_number && rank.parse::<f64>().is_ok_and(|rank| rank <= 100.0);
    known.then_some((rank, value))
}

/// The values in `min=1, max=104218`.
fn limits(text: &str) -> Option<(&str, &str)> {
    let (min, max) = text.strip_prefix("min=")?.split_once(',')?;
    let max = max.trim().strip_prefix("max=")?;
    let one_word = |text: &str| !text.is_empty() && !text.contains([' ', '\t']);
    (one_word(min.trim()) && one_word(max)).then_some((min.trim(), max))
}

/// Whether a line is a rule of `=` or `-`.
fn is_rule(text: &str) -> bool {
    text.len() >= 4 && (text.bytes().all(|b| b == b'=') || text.bytes().all(|b| b == b'-'))
}

/// The name of a configuration, with a rule under it and then percentiles:
/// the name and how many lines it takes.
fn label(lines: &[Line<'_>], at: usize) -> Option<(String, usize)> {
    let text = |at: usize| lines.get(at).map_or("", |line| line.text.trim());
    let name = text(at).trim_end_matches(':');
    if name.is_empty() || name.len() > 60 || is_rule(name) || !is_rule(text(at + 1)) {
        return None;
    }
    let next = at + 2 + blanks(lines.get(at + 2..).unwrap_or(&[]), 1);
    percentile(text(next))?;
    Some((name.to_owned(), next - at))
}

impl Grammar for Schbench {
    fn name(&self) -> &'static str {
        "schbench"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"LWRa")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        match text.as_bytes().first() {
            Some(b'L' | b'W' | b'R') => title(text).is_some(),
            Some(b'a') => text.starts_with("av") && aside(text).is_some(),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut reader = Reader::default();
        reader.read(lines);
        let Reader {
            mut block, reports, ..
        } = reader;
        for report in reports {
            report.finish(&mut block);
        }
        (!block.taken.is_empty()).then_some(block)
    }
}

/// Reads reports one after another.
#[derive(Debug, Default)]
struct Reader {
    block: Block,
    /// Those that count, the last of which may still be open.
    reports: Vec<Report>,
}

impl Reader {
    /// Consumes lines up to the end of the block.
    fn read(&mut self, lines: &[Line<'_>]) {
        loop {
            let at = self.block.taken.len();
            let gap = blanks(lines.get(at..).unwrap_or(&[]), 2);
            let Some(line) = lines.get(at + gap) else {
                break;
            };
            let text = line.text.trim();
            let open = self
                .reports
                .last()
                .is_some_and(|report| !report.sections.is_empty());
            if let Some(title) = title(text) {
                take(&mut self.block, gap, "blank");
                self.title(lines, title);
            } else if let Some(aside) = aside(text) {
                take(&mut self.block, gap, "blank");
                self.aside(&aside);
            } else if let Some((rank, value)) = percentile(text).filter(|_| open) {
                take(&mut self.block, gap, "blank");
                self.row(&[(format!("p{rank}"), value)]);
            } else if let Some((min, max)) = limits(text).filter(|_| open) {
                take(&mut self.block, gap, "blank");
                self.row(&[("min".to_owned(), min), ("max".to_owned(), max)]);
            } else if let Some((name, lines)) = label(lines, at + gap).filter(|_| open) {
                take(&mut self.block, gap, "blank");
                self.label(name, lines);
            } else if text == "warmup done, zeroing stats" && at > 0 {
                take(&mut self.block, gap, "blank");
                take(&mut self.block, 1, "schbench header");
                self.close(at);
                for report in std::mem::take(&mut self.reports) {
                    report.supersede(&mut self.block);
                }
            } else {
                break;
            }
        }
        let end = self.block.taken.len();
        self.close(end);
    }

    /// Ends the report at hand before line `end`; if it goes on with the one
    /// before, that one was an interim report.
    fn close(&mut self, end: usize) {
        let Some(mut report) = self.reports.pop() else {
            return;
        };
        report.end.get_or_insert(end);
        if let Some(old) = self.reports.pop_if(|old| old.goes_on_as(&report)) {
            old.supersede(&mut self.block);
        }
        self.reports.push(report);
    }

    /// Begins a report at line `first`, with a section if it has a title.
    fn begin(&mut self, first: usize, title: Option<Title>) {
        self.close(first);
        let mut report = Report::new(first);
        if let Some(title) = title {
            report.open(title, first);
        }
        self.reports.push(report);
    }

    /// Takes the title of a section, which begins a report if the last one
    /// has such a section already.
    fn title(&mut self, lines: &[Line<'_>], title: Title) {
        let at = self.block.taken.len();
        let mut title = title;
        take(&mut self.block, 1, "schbench title");
        let next = lines.get(at + 1).map_or("", |line| line.text.trim());
        if title.broken && next.len() < 64 && next.ends_with("samples)") {
            take(&mut self.block, 1, "schbench title");
            let number = next.split_ascii_whitespace().next().unwrap_or("");
            let number = number.trim_start_matches('(');
            title.samples = title.samples.or_else(|| number.parse().ok());
        }
        match self.reports.last_mut() {
            Some(report) if report.takes(&title) => report.open(title, at),
            _ => self.begin(at, Some(title)),
        }
    }

    /// Takes a line beside the percentiles.
    fn aside(&mut self, aside: &Aside<'_>) {
        let at = self.block.taken.len();
        take(&mut self.block, 1, "schbench rate");
        let fits = |report: &Report| aside.figures.iter().all(|(name, ..)| !report.has(name));
        if !self.reports.last().is_some_and(fits) {
            self.begin(at, None);
        }
        let Some(report) = self.reports.last_mut() else {
            return;
        };
        report.ended |= aside.last;
        for (name, token, unit) in &aside.figures {
            report.interim |= *name == "current rps";
            report.push(cell(&mut self.block, at, name, token), name, unit);
        }
    }

    /// Takes a row of the section at hand; one that it has already begins
    /// the section anew.
    fn row(&mut self, figures: &[(String, &str)]) {
        let at = self.block.taken.len();
        take(&mut self.block, 1, "schbench percentile");
        let Some(title) = self.reports.last().and_then(Report::section) else {
            return;
        };
        let named = |name: &str| format!("{} {name}", title.kind.prefix());
        let again = |report: &Report| figures.iter().any(|(name, _)| report.has(&named(name)));
        if self.reports.last().is_some_and(again) {
            self.begin(at, Some(title));
        }
        let Some(report) = self.reports.last_mut() else {
            return;
        };
        for (name, token) in figures {
            let name = named(name);
            let value = cell(&mut self.block, at, &name, token);
            report.push(value, &name, title.kind.unit());
        }
        report.mark_rows();
    }

    /// Takes the name of a configuration and the rule under it.
    fn label(&mut self, name: String, lines: usize) {
        let at = self.block.taken.len();
        take(&mut self.block, lines, "schbench label");
        let Some(title) = self.reports.last().and_then(Report::section) else {
            return;
        };
        let used = |report: &Report| report.label.is_some() || report.any();
        if self.reports.last().is_some_and(used) {
            self.begin(at, Some(title));
        }
        if let Some(report) = self.reports.last_mut() {
            report.label = Some(name);
        }
    }
}
