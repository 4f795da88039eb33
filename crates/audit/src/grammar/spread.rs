//! Means with their spread, in the notations in which people post them.
//!
//! ```text
//! copy: avg 447 us, stddev 13 us        copy: 447 us (stddev 2.9%)
//! mean: 18.2s, stdev: 0.9s              copy: 447 ± 13 us (n=10)
//! avg    447                            copy: 447 +- 2.9%
//! stddev 13                             1820 +- 31 records / sec (30 runs)
//! ```
//!
//! What is called a deviation is one. What `±` is, is seldom said: it may be a
//! standard deviation, a standard error or half a confidence interval. It is
//! reported as a standard error, under which a mean is the least certain. A
//! relative spread is taken as large as its last digit allows.
//!
//! The number of runs is what the line says. Where it says nothing, it may
//! stand in the sentences above: the scanner looks there. `avg=…, stdev=…` of
//! fio and the like is no spread of runs and is left to their grammars.

use assize_bundle::Spread as Kind;

use super::begins::Begins;
use super::cells::{label, line_at, summary};
use super::quantity::{Quantity, metric_of, quantity};
use super::{Block, Figure, Grammar, Labels, Taken};
use crate::Line;
use crate::roles::words::names_configuration;

/// Means with their spread; see the module.
pub struct Spread;

/// A longer line is no such line.
const LONGEST: usize = 200;
/// No name of what was measured has more words.
const WORDS: usize = 8;

/// What a mean is called.
pub(crate) const MEANS: &[&str] = &["mean", "avg", "average"];
/// What a standard deviation is called.
pub(crate) const DEVIATIONS: &[&str] = &[
    "stddev",
    "stdev",
    "std dev",
    "std.dev",
    "std. dev.",
    "std. dev",
    "std-dev",
    "sd",
    "σ",
    "standard deviation",
    "std deviation",
    "stddev.",
];
const RELATIVE: &[&str] = &["cv", "rsd", "rel sd", "coeffvar"];
const MARKS: &[&str] = &["±", "+/-", "+-", "\u{fffd}"];

impl Grammar for Spread {
    fn name(&self) -> &'static str {
        "spread"
    }

    fn is_report(&self) -> bool {
        false
    }

    fn begins(&self) -> Begins {
        Begins::holding(b"\xc2\xcf\xef+vVdD")
    }

    fn starts(&self, line: &str) -> bool {
        if line.len() > LONGEST || line.len() < 5 {
            return false;
        }
        let bytes = line.as_bytes();
        memchr::memchr3(0xc2, 0xcf, 0xef, bytes).is_some()
            || memchr::memchr_iter(b'+', bytes).any(|at| {
                let after = &bytes[at + 1..];
                after.starts_with(b"-") || after.starts_with(b"/-")
            })
            || memchr::memchr2_iter(b'v', b'V', bytes).any(|at| names_statistic(bytes, at))
            || memchr::memmem::find(bytes, b"sd").is_some()
            || memchr::memmem::find(bytes, b"SD").is_some()
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let text = line_at(lines, 0)?;
        if text.len() > LONGEST || is_code(text) {
            return None;
        }
        let (told, taken) = match one_line(text) {
            Some(told) => (told, vec!["mean with its spread" as Taken]),
            None => several_lines(lines)?,
        };
        let unit = joined(told.mean.unit);
        let (configuration, metric) = if names_configuration(&told.metric) {
            (Some(told.metric), metric_of(&unit).to_owned())
        } else {
            (None, told.metric)
        };
        let figure = Figure::new(metric, told.mean.value, unit);
        let labels = Labels {
            configuration,
            ..Labels::default()
        };
        let mut block = Block {
            findings: Vec::new(),
            taken,
        };
        block.find(0, summary(&labels, figure, Some(told.spread), told.n));
        Some(block)
    }
}

/// Whether a `v` is that of `stddev`, `deviation`, `avg`, `average`, `cv` or
/// `coeffvar`. Of all letters in these words it is the rarest.
fn names_statistic(bytes: &[u8], at: usize) -> bool {
    let byte = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at));
        byte.map_or(b' ', u8::to_ascii_lowercase)
    };
    let before = |by: usize| byte(at.checked_sub(by));
    let (next, second) = (byte(Some(at + 1)), byte(Some(at + 2)));
    match before(1) {
        b'e' => {
            let whole = matches!(before(3), b't' | b'd' | b' ' | b'.' | b'-');
            before(2) == b'd' && (next == b'i' || whole)
        }
        b'a' => next == b'g' || next == b'e' && second == b'r',
        b'c' => !next.is_ascii_alphanumeric(),
        b'f' => next == b'a' && second == b'r',
        _ => false,
    }
}

/// A mean as it was read.
struct Told<'t> {
    metric: String,
    mean: Quantity<'t>,
    spread: Kind,
    n: Option<u32>,
}

/// Whether a line is part of a program or of a patch.
fn is_code(text: &str) -> bool {
    let trimmed = text.trim();
    text.starts_with(['+', '@', '|'])
        || trimmed.ends_with([';', '{', '}', '\\'])
        || trimmed.starts_with(['/', '*', '#', '[', '<', '&'])
        || ["->", "==", "%d", "%s", "%l", "://", "()", "min="]
            .iter()
            .any(|mark| trimmed.contains(mark))
}

/// Whether a line by itself is a mean with its spread.
pub(super) fn is_mean(text: &str) -> bool {
    text.len() <= LONGEST && Spread.starts(text) && !is_code(text) && one_line(text).is_some()
}

fn one_line(text: &str) -> Option<Told<'_>> {
    let text = text.trim().trim_start_matches(['-', '*', '•', ' ']);
    with_words(text).or_else(|| with_mark(text))
}

/// `copy: avg 447 us, stddev 13 us` and `copy: 447 us (stddev 2.9%)`.
fn with_words(text: &str) -> Option<Told<'_>> {
    let lower = text.to_ascii_lowercase();
    // Byte offsets hold: only ASCII letters change.
    let (at, word, relative) =
        first_word(&lower, DEVIATIONS, false).or_else(|| first_word(&lower, RELATIVE, true))?;
    let (spread, rest) = quantity(text[at + word..].trim_start_matches([':', '=', ' ', '.']))?;
    let head = text[..at].trim_end_matches([' ', '(', '[', ',', ';', '/']);
    let (name, mean, between) = match first_word(&lower[..at], MEANS, false) {
        Some((mean_at, mean_word, _)) => {
            let after = text[mean_at + mean_word..at].trim_start_matches([':', '=', ' ']);
            let (mean, between) = quantity(after)?;
            (&text[..mean_at], mean, between)
        }
        None => {
            let (name, after) = head.rsplit_once([':', '='])?;
            let (mean, between) = quantity(after)?;
            (name, mean, between)
        }
    };
    // Between mean and deviation stand minimum and maximum at most.
    let quiet = between.split_whitespace().count() <= 8 && spread.value >= 0.0;
    let unit_fits = spread.unit.is_empty() || spread.unit == "%" || spread.unit == mean.unit;
    // `Range: 0.5 - 9.5; Mean: …`: before the mean stand other statistics.
    let name = match name.rsplit_once("; ") {
        Some((other, name)) if other.contains([':', '=']) => name,
        _ => name,
    };
    let metric = named(name)?;
    (quiet && unit_fits && is_tail(rest)).then(|| Told {
        metric,
        mean,
        spread: Kind::StandardDeviation(absolute(mean, spread, relative || spread.unit == "%")),
        n: runs(text),
    })
}

/// `copy: 447 ± 13 us (n=10)`, `copy: 447 us +- 2.9%`.
fn with_mark(text: &str) -> Option<Told<'_>> {
    let (at, mark) = MARKS
        .iter()
        .filter_map(|mark| text.find(mark).map(|at| (at, mark.len())))
        .min()?;
    let head = text[..at].trim_end();
    // The mean is what stands before the mark, up to the name of the metric.
    let (name, mean) = match head.rsplit_once([':', '=']) {
        Some((name, mean)) => (name, mean),
        None => head.split_at(head.find(|c: char| c.is_ascii_digit())?),
    };
    let (mut mean, nothing) = quantity(mean)?;
    let (spread, rest) = quantity(&text[at + mark..])?;
    let relative = spread.unit == "%" && mean.unit != "%";
    let rated = rate(rest).filter(|_| mean.unit.is_empty() && spread.unit.is_empty());
    let (rate, rest) = rated.unwrap_or(("", rest));
    if mean.unit.is_empty() && !relative {
        mean.unit = if rate.is_empty() { spread.unit } else { rate };
    }
    let fits = relative || spread.unit.is_empty() || spread.unit == mean.unit;
    let metric = match name.trim() {
        "" if !rate.is_empty() => joined(rate),
        name => named(name)?,
    };
    let told = nothing.trim().is_empty() && fits && spread.value >= 0.0 && is_tail(rest);
    // A bare pair of numbers may be anything.
    let measured = !mean.unit.is_empty() || relative || runs(text).is_some();
    (told && measured && metric != "mean").then(|| Told {
        metric,
        mean,
        spread: Kind::StandardError(absolute(mean, spread, relative)),
        n: runs(text).or_else(|| runs(rest)),
    })
}

/// `records / sec`: a rate of anything, and what follows it.
fn rate(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim_start_matches(' ');
    let letters = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_lowercase());
        end.unwrap_or(text.len())
    };
    let what = letters(rest);
    let time = rest[what..].trim_start().strip_prefix('/')?.trim_start();
    let word = &time[..letters(time)];
    let behind = &time[word.len()..];
    let is_rate = what >= 2
        && matches!(word, "s" | "sec" | "second")
        && !behind.starts_with(char::is_alphanumeric);
    is_rate.then(|| rest.split_at(rest.len() - behind.len()))
}

/// A unit without the blanks around its stroke.
fn joined(unit: &str) -> String {
    unit.split('/').map(str::trim).collect::<Vec<_>>().join("/")
}

/// `avg 447` with `stddev 13` a few lines below, nothing but statistics between.
fn several_lines<'t>(lines: &'t [Line<'_>]) -> Option<(Told<'t>, Vec<Taken>)> {
    let mut mean = None;
    let mut spread = None;
    let mut count = 0;
    for at in 0..8 {
        let Some((word, value)) = line_at(lines, at)
            .filter(|_| lines[at].depth == lines[0].depth)
            .and_then(statistic)
        else {
            break;
        };
        if MEANS.contains(&word.as_str()) {
            if mean.replace(value).is_some() {
                break;
            }
        } else if DEVIATIONS.contains(&word.as_str()) && spread.replace(value).is_some() {
            break;
        }
        count = at + 1;
    }
    let (mean, spread) = (mean?, spread?);
    let fits = spread.unit.is_empty() || spread.unit == "%" || spread.unit == mean.unit;
    (fits && spread.value >= 0.0).then(|| {
        let told = Told {
            metric: "mean".to_owned(),
            mean,
            spread: Kind::StandardDeviation(absolute(mean, spread, spread.unit == "%")),
            n: None,
        };
        (told, vec!["mean with its spread" as Taken; count])
    })
}

/// `stddev 13.2`: a statistic on a line of its own.
fn statistic(text: &str) -> Option<(String, Quantity<'_>)> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, ':' | '='))?;
    let word = text[..end].to_ascii_lowercase();
    let others = [
        "min", "max", "median", "minimum", "maximum", "count", "p50", "p99",
    ];
    let known = [MEANS, DEVIATIONS, &others]
        .iter()
        .any(|set| set.contains(&word.as_str()));
    let (value, rest) = quantity(text[end..].trim_start_matches([':', '=', ' ', '\t']))?;
    (known && rest.trim().is_empty()).then_some((word, value))
}

/// Where one of these words stands by itself, its length, and `relative`.
fn first_word(lower: &str, words: &[&str], relative: bool) -> Option<(usize, usize, bool)> {
    let free = |c: Option<char>| c.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    let found = words.iter().flat_map(|word| {
        lower.match_indices(word).filter_map(move |(at, found)| {
            let before = lower[..at].chars().next_back();
            let after = lower[at + found.len()..].chars().next();
            (free(before) && free(after)).then_some((at, found.len()))
        })
    });
    let found = found.min_by_key(|(at, length)| (*at, usize::MAX - length));
    found.map(|(at, length)| (at, length, relative))
}

/// The name of what was measured; `mean` where a line begins with that word.
fn named(text: &str) -> Option<String> {
    let text = text
        .trim()
        .trim_end_matches([':', '=', '(', '-'])
        .trim_end();
    if text.is_empty() {
        return Some("mean".to_owned());
    }
    let words = text.split_whitespace().count();
    let letters = text.chars().any(char::is_alphabetic);
    (words <= WORDS && letters && !text.ends_with(['.', ',', '?'])).then(|| label(text))
}

/// Whether nothing follows that another figure might be.
fn is_tail(rest: &str) -> bool {
    let rest = rest
        .trim()
        .trim_matches(|c: char| matches!(c, ')' | ']' | '(' | ',' | '.' | ' '));
    rest.is_empty()
        || runs(rest).is_some() && rest.split_whitespace().count() <= 5
        || is_change(rest)
}

/// `< 31% speed up`, `10% faster`: how it differs from another mean.
fn is_change(rest: &str) -> bool {
    const WORDS: [&str; 10] = [
        "speed",
        "speedup",
        "faster",
        "slower",
        "better",
        "worse",
        "increase",
        "decrease",
        "improvement",
        "regression",
    ];
    let text = rest.trim_start_matches(['<', '-', '+', '#', '~', ' ']);
    let Some((number, word)) = text.split_once('%') else {
        return false;
    };
    let mut words = word.split_whitespace();
    let known = words.next().is_some_and(|word| WORDS.contains(&word));
    known && number.parse::<f64>().is_ok() && words.all(|word| word == "up" || word == "down")
}

/// A spread in the unit of its mean, as large as its last digit allows where it
/// is given in per cent.
fn absolute(mean: Quantity<'_>, spread: Quantity<'_>, relative: bool) -> f64 {
    if relative {
        (spread.value + spread.step / 2.0) / 100.0 * mean.value.abs()
    } else {
        spread.value
    }
}

/// How many runs a text says that a mean is of: `n=10`, `average of 10 runs`.
pub(crate) fn runs(text: &str) -> Option<u32> {
    let lower = text.to_lowercase();
    let mut words: Vec<&str> = Vec::new();
    // Where a clause begins there may be a bare number: `hackbench -g 20, 10 runs`.
    let mut begins: Vec<usize> = Vec::new();
    for clause in lower.split([',', ';', '(']) {
        begins.push(words.len());
        let parted = clause.split(|c: char| !(c.is_alphanumeric() || c == '='));
        words.extend(parted.filter(|word| !word.is_empty()));
    }
    let mut told = None;
    for (at, word) in words.iter().enumerate() {
        let found = match word.strip_prefix("n=") {
            Some(digits) if !digits.is_empty() => digits.parse().ok(),
            _ if *word == "n" && words.get(at + 1) == Some(&"=") => {
                words.get(at + 2).and_then(|digits| digits.parse().ok())
            }
            _ if at > 0
                && matches!(
                    *word,
                    "runs" | "repetitions" | "iterations" | "trials" | "rounds"
                ) =>
            {
                let bare = *word == "runs" && begins.contains(&(at - 1));
                let means = bare || are_means(&words[..at - 1]);
                number_of(words[at - 1]).filter(|_| means)
            }
            _ => None,
        };
        if let Some(n) = found.filter(|n| (2..=100_000).contains(n)) {
            if told.is_some_and(|told| told != n) {
                return None;
            }
            told = Some(n);
        }
    }
    told
}

/// Whether `average of`, `mean over` and the like stand before a number.
fn are_means(before: &[&str]) -> bool {
    let last = before.last().copied().unwrap_or_default();
    let earlier = before.iter().rev().take(5);
    let mean = earlier.into_iter().any(|w| {
        MEANS.contains(w) || matches!(*w, "averaged" | "averages" | "means" | "averaging")
    });
    mean && matches!(last, "of" | "over" | "from" | "across" | "for" | "the")
}

fn number_of(word: &str) -> Option<u32> {
    const WORDS: [&str; 11] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ];
    let spelled = WORDS.iter().position(|w| *w == word);
    let spelled = spelled.and_then(|at| u32::try_from(at + 2).ok());
    spelled.or_else(|| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Finding;

    #[test]
    fn a_range_before_the_mean_is_no_name() {
        let text = "  Range: 0.250 - 9647.500; Mean: 619.5; Median: 548.5; Stddev: 34.5\n";
        let block = crate::grammar::testing::read(&Spread, text).unwrap();
        let Finding::Summary { labels, figure, .. } = &block.findings[0].1 else {
            panic!("no summary")
        };
        assert_eq!(labels.configuration, None);
        assert_eq!((figure.metric.as_str(), figure.value), ("mean", 619.5));
    }

    #[test]
    fn a_rate_of_anything_with_its_spread_is_a_mean_of_the_runs_behind_it() {
        let read = |text: &str| {
            let lines = [Line::plain(1, text)];
            let block = Spread.read(&lines)?;
            match block.findings.into_iter().next()? {
                (
                    _,
                    Finding::Summary {
                        labels, figure, n, ..
                    },
                ) => Some((labels.configuration, figure.metric, figure.unit, n)),
                _ => None,
            }
        };
        let rate = || "records/sec".to_owned();
        assert_eq!(
            read("18250.25 +- 31.5 records / sec (30 runs, 2 readers)"),
            Some((None, rate(), rate(), Some(30)))
        );
        assert_eq!(
            read("before: 18250.25 ± 31.5 records/sec (8 runs)"),
            Some((Some("before".to_owned()), rate(), rate(), Some(8)))
        );
        for text in [
            "18250.25 +- 31.5 records (30 runs)",
            "18250.25 +- 31.5 records / section",
            "18250.25 +- 31.5 / sec",
            "18250.25 +- 31.5 records / sec if all of the 7 readers are made to wait",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn the_number_of_runs_is_what_a_text_says_of_a_mean() {
        for (text, n) in [
            ("copy: 12 ms ± 3 (n=10)", Some(10)),
            ("n = 7", Some(7)),
            ("The average of 5 runs, in seconds:", Some(5)),
            ("Mean over ten iterations", Some(10)),
            ("(8 runs)", Some(8)),
            ("hackbench -g 20, ten runs of each:", Some(10)),
            ("8 iterations of the loop, 3 warm-ups", None),
            ("Each run makes 1000 iterations", None),
            ("of the first 4 runs one crashed", None),
            ("averaged over 3 runs, or mean of 4 runs", None),
            ("n=1", None),
        ] {
            assert_eq!(runs(text), n, "{text}");
        }
    }
}
