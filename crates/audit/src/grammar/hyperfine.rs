//! What `hyperfine` prints on a terminal.
//!
//! Each `Benchmark` section gives a mean, a standard deviation and a number
//! of runs, so it becomes summaries (`time`, `user` and `sys`); a single
//! run (`Time (abs ≡)`) becomes a run. The fastest and slowest time and the
//! `Summary` section repeat or rank what is known, and are only explained.

use assize_bundle::Spread;

use super::begins::Begins;
use super::cells::{
    bad_number, configuration, label, line_at, push_new, summary, truncated, unwrapped,
};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;
use crate::printed;

/// With `--show-output`, the command's own lines stand between the title and
/// the times; further away a title is somebody's heading.
const OUTPUT_AT_MOST: usize = 64;

/// The text output of `hyperfine`.
pub struct Hyperfine;

impl Grammar for Hyperfine {
    fn name(&self) -> &'static str {
        "hyperfine"
    }

    fn names_what_it_compares(&self) -> bool {
        true
    }

    fn begins(&self) -> Begins {
        Begins::with(b"BTS")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        match text.as_bytes().first() {
            Some(b'B') => title(text).is_some(),
            Some(b'T') => is_time(text),
            Some(b'S') => text == "Summary",
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = line_at(lines, 0)?;
        let mut block = Block::default();
        if let Some((number, command)) = numbered(first) {
            read_section(&mut block, lines, command).then(|| {
                read_session(&mut block, lines, number);
                block
            })
        } else if is_time(first) {
            read_times(&mut block, lines, 0, None).then_some(block)
        } else {
            read_ranking(&mut block, lines).then_some(block)
        }
    }
}

/// The command of `Benchmark 1: COMMAND` or `Benchmark #1: COMMAND`.
fn title(line: &str) -> Option<&str> {
    numbered(line).map(|(_, command)| command)
}

/// The same with its number.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let rest = line.trim_start().strip_prefix("Benchmark ")?;
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let command = rest.get(digits..)?.strip_prefix(':')?.trim();
    let number = rest.get(..digits)?.parse().ok()?;
    (!command.is_empty()).then_some((number, command))
}

/// No more blank lines stand between two sections of one session.
const BLANK: usize = 3;

/// Reads on behind the section of that number, as long as sections of the next numbers
/// follow: what one call of hyperfine compares is one block.
fn read_session(block: &mut Block, lines: &[Line<'_>], mut number: u32) {
    let Some(depth) = lines.first().map(|line| line.depth) else {
        return;
    };
    loop {
        let rest = lines.get(block.taken.len()..).unwrap_or_default();
        let blanks = rest.iter().take_while(|line| line.text.trim().is_empty());
        let blanks = blanks.count();
        let section = rest.get(blanks..).unwrap_or_default();
        let next = section.first().filter(|line| line.depth == depth);
        let next = next.and_then(|line| numbered(&line.text));
        let Some((_, command)) = next.filter(|(next, _)| Some(*next) == number.checked_add(1))
        else {
            return;
        };
        let mut more = Block::default();
        if blanks > BLANK || !read_section(&mut more, section, command) {
            return;
        }
        block.taken.resize(block.taken.len() + blanks, "blank");
        let from = block.taken.len();
        let findings = more.findings.into_iter();
        block
            .findings
            .extend(findings.map(|(at, found)| (from + at, found)));
        block.taken.extend(more.taken);
        number += 1;
    }
}

fn is_time(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("Time (mean") || text.starts_with("Time (abs")
}

fn is_range(line: &str) -> bool {
    line.trim_start().starts_with("Range (min")
}

/// Reads a section from its title on.
fn read_section(block: &mut Block, lines: &[Line<'_>], command: &str) -> bool {
    let time_at = (1..=OUTPUT_AT_MOST)
        .map_while(|at| line_at(lines, at).map(|text| (at, text)))
        .take_while(|(_, text)| title(text).is_none() && !is_range(text))
        .find(|(_, text)| is_time(text))
        .map(|(at, _)| at);
    block.taken.push("hyperfine title");
    match time_at {
        Some(at) => {
            block.taken.resize(at, "hyperfine output of the command");
            read_times(block, lines, at, Some(command))
        }
        None => read_unfinished(block, lines, command),
    }
}

/// A title without times: a heading that somebody wrote, unless the next
/// line shows that it was hyperfine's.
fn read_unfinished(block: &mut Block, lines: &[Line<'_>], command: &str) -> bool {
    let next = (1..4)
        .filter_map(|at| Some((at, line_at(lines, at)?.trim())))
        .find(|(_, text)| !text.is_empty());
    let Some((at, text)) = next else {
        return false;
    };
    if text.starts_with("Error: Command terminated with") {
        block.taken.resize(at, "blank");
        block.taken.push("hyperfine error");
        let doubt = format!("hyperfine gave up, `{}` failed", label(command));
        block.find(at, Finding::Doubt("failed-run", doubt));
        return true;
    }
    let broken = is_range(text)
        || title(text).is_some()
        || text.contains("Current estimate")
        || text.contains("Initial time measurement");
    if broken {
        block.find(
            0,
            truncated(&format!("no times follow `{}`", label(command))),
        );
    }
    broken
}

/// A printed duration: its digits and its unit.
#[derive(Clone, Copy)]
struct Duration<'a> {
    digits: &'a str,
    unit: &'a str,
}

impl<'a> Duration<'a> {
    /// Takes the next number and unit; skips a `±` in whatever spelling.
    fn next(tokens: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        let digits = tokens.find(|t| {
            t.bytes().any(|b| b.is_ascii_digit())
                || t.eq_ignore_ascii_case("nan")
                || t.eq_ignore_ascii_case("inf")
        })?;
        let unit = tokens.next().unwrap_or("").trim_end_matches([',', ']']);
        Some(Duration { digits, unit })
    }

    /// The figure, or a doubt noted at line `at`.
    fn figure(self, block: &mut Block, at: usize, metric: &str) -> Option<Figure> {
        match english(self.digits) {
            Some(value) => Some(Figure::new(metric, value, self.unit)),
            None => {
                block.find(at, bad_number(self.digits, metric));
                None
            }
        }
    }
}

/// Reads from the `Time` line at `at` to the end of the section.
fn read_times(block: &mut Block, lines: &[Line<'_>], at: usize, command: Option<&str>) -> bool {
    let closed = |text: &str| text.trim_end().ends_with(']');
    let Some((text, used)) = unwrapped(lines, at, closed) else {
        return false;
    };
    block
        .taken
        .extend(std::iter::repeat_n("hyperfine mean", used));
    let single = text.trim_start().starts_with("Time (abs");
    let (head, tail) = text.split_once('[').unwrap_or((&text, ""));
    let (_, head) = head.split_once(')').unwrap_or((head, ""));
    let mut tokens = head.split_whitespace();
    let Some(mean) = Duration::next(&mut tokens) else {
        block.find(at, truncated("a line of hyperfine has no time"));
        return true;
    };
    let deviation = Duration::next(&mut tokens);
    let labels = configuration(command);
    let cpu = [("User:", "user"), ("System:", "sys")].map(|(key, metric)| {
        let (_, rest) = tail.split_once(key)?;
        Duration::next(&mut rest.split_whitespace())?.figure(block, at, metric)
    });
    let time = mean.figure(block, at, "time");
    let range_at = at + used;
    if single {
        let mut figures = Vec::new();
        for figure in time.into_iter().chain(cpu.into_iter().flatten()) {
            push_new(&mut figures, figure);
        }
        if !figures.is_empty() {
            let labels = labels.clone();
            block.find(at, Finding::Run { labels, figures });
        }
    } else {
        let n = read_range(block, lines, range_at);
        let spread = deviation.and_then(|d| deviation_of(block, at, mean, d));
        if let Some(figure) = time {
            block.find(at, summary(&labels, figure, spread, n));
        }
        for figure in cpu.into_iter().flatten() {
            block.find(at, summary(&labels, figure, None, n));
        }
    }
    read_warnings(block, lines, &labels);
    true
}

fn deviation_of(
    block: &mut Block,
    at: usize,
    mean: Duration<'_>,
    deviation: Duration<'_>,
) -> Option<Spread> {
    if deviation.unit != mean.unit {
        let doubt = format!(
            "the deviation is in `{}` but the mean in `{}`",
            label(deviation.unit),
            label(mean.unit)
        );
        block.find(at, Finding::Doubt("spread-unknown", doubt));
        return None;
    }
    let figure = deviation.figure(block, at, "the standard deviation")?;
    let value = printed::spread(figure.value, deviation.digits);
    Some(Spread::StandardDeviation(value))
}

/// The number of runs from the `Range` line at `at`.
fn read_range(block: &mut Block, lines: &[Line<'_>], at: usize) -> Option<u32> {
    let counted = |text: &str| runs(text).is_some();
    let (text, used) = unwrapped(lines, at, counted).unwrap_or(("".into(), 0));
    if !is_range(&text) {
        block.find(
            at.saturating_sub(1),
            truncated("the number of hyperfine's runs is missing"),
        );
        return None;
    }
    block
        .taken
        .extend(std::iter::repeat_n("hyperfine range", used));
    let n = runs(&text);
    if n.is_none() {
        block.find(at, bad_number(&text, "the number of runs"));
    }
    n
}

/// The number before `runs` at the end of a line.
fn runs(text: &str) -> Option<u32> {
    let mut from_end = text.split_whitespace().rev();
    matches!(from_end.next()?, "runs" | "run").then_some(())?;
    from_end.next()?.parse().ok()
}

/// Reads the warnings below the times, with the lines they were wrapped to.
fn read_warnings(block: &mut Block, lines: &[Line<'_>], labels: &Labels) {
    let name = labels.configuration.as_deref().unwrap_or("the command");
    loop {
        let at = block.taken.len();
        let gap = (at..at + 2)
            .take_while(|&i| line_at(lines, i).is_some_and(|t| t.trim().is_empty()))
            .count();
        let Some(text) = line_at(lines, at + gap) else {
            return;
        };
        if !text.trim_start().starts_with("Warning: ") {
            return;
        }
        block.taken.extend(std::iter::repeat_n("blank", gap));
        let wrapped = (at + gap + 1..at + gap + 6)
            .take_while(|&i| {
                line_at(lines, i).is_some_and(|t| {
                    let t = t.trim();
                    !t.is_empty() && !t.starts_with("Warning: ") && title(t).is_none()
                })
            })
            .count();
        block
            .taken
            .extend(std::iter::repeat_n("hyperfine warning", wrapped + 1));
        if let Some((code, what)) = warning(text) {
            block.find(
                at + gap,
                Finding::Doubt(code, format!("hyperfine warns: {what} `{name}`")),
            );
        }
    }
}

/// What a warning means for the figures.
fn warning(text: &str) -> Option<(&'static str, &'static str)> {
    if text.contains("non-zero exit code") {
        Some(("failed-run", "a failing exit code was ignored of"))
    } else if text.contains("outliers") {
        Some(("outlier-run", "statistical outliers were among the runs of"))
    } else if text.contains("first benchmarking run") {
        Some(("outlier-run", "the first run was slower than the others of"))
    } else if text.contains("took less than") {
        Some((
            "too-short",
            "the shell's start-up blurs the times of the short command",
        ))
    } else {
        None
    }
}

/// Reads the ranking under `Summary`: explained only.
fn read_ranking(block: &mut Block, lines: &[Line<'_>]) -> bool {
    let winner = line_at(lines, 1).unwrap_or("");
    if !winner.trim_end().ends_with(" ran") {
        return false;
    }
    block.taken.extend(["hyperfine ranking"; 2]);
    let rest = (2..)
        .map_while(|at| line_at(lines, at))
        .take_while(|text| {
            text.trim_start().starts_with(|c: char| c.is_ascii_digit()) && text.contains(" times ")
        })
        .count();
    block
        .taken
        .extend(std::iter::repeat_n("hyperfine ranking", rest));
    true
}
