//! Figures and doubts in sentences: the last resort.
//!
//! A sentence says how large a change is but not from how many runs, so its
//! figures are statements: `from 63 seconds down to 50 seconds` is one
//! before and one after, `0.9% speedup` and `by a factor of 1.5` are relative
//! to before. A sentence that says that code is never reached, or that it has
//! no effect, becomes the doubt `unreached-code`.
//!
//! This grammar prefers silence: a number needs a unit and one of few
//! phrases around it; diff lines, comments and code are not read. A sentence
//! that was wrapped is followed into the next line.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::cells::{label, line_at};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;
use crate::trigger::Trigger;

/// A paragraph on one line may be long, but not so long.
const LINE_AT_MOST: usize = 16_000;

/// A short line that ends with a bracket and a colon is a heading.
const HEADING_AT_MOST: usize = 64;

/// A chain of wrapped phrases is followed over so many lines.
const SENTENCE_AT_MOST: usize = 6;

/// Figures in sentences.
pub struct Prose;

impl Grammar for Prose {
    fn name(&self) -> &'static str {
        "prose"
    }

    fn is_report(&self) -> bool {
        false
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= LINE_AT_MOST && PATTERNS.as_ref().is_some_and(|p| p.trigger.is_match(line))
    }

    /// That code is never reached is said without a digit.
    fn reach(&self) -> usize {
        usize::MAX
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let patterns = PATTERNS.as_ref()?;
        let first = line_at(lines, 0)?;
        // `patched (3.1% better):` is a heading.
        let heading = first.trim_end().ends_with("):") && first.len() <= HEADING_AT_MOST;
        if heading || !is_prose(first) {
            return None;
        }
        let mut text = first.to_owned();
        // Where in `text` each line ends.
        let mut ends = vec![text.len()];
        let mut matches = Vec::new();
        for next in 1..=SENTENCE_AT_MOST {
            let more = line_at(lines, next).filter(|t| is_prose(t));
            if let Some(more) = more {
                text.push(' ');
                text.push_str(more.trim_start());
            }
            let end = ends[next - 1];
            matches = patterns.matches(&text);
            let wrapped = matches.iter().any(|m| m.from < end && m.to > end + 1);
            if !wrapped || more.is_none() || next == SENTENCE_AT_MOST {
                matches.retain(|m| m.from < end && m.to <= end + 1);
                break;
            }
            ends.push(text.len());
        }
        let mut block = Block {
            taken: vec!["figure in prose"; ends.len()],
            ..Block::default()
        };
        for found in matches {
            let at = ends.partition_point(|end| *end <= found.from);
            for finding in found.findings {
                if let Finding::Doubt(..) = finding {
                    block.taken[at] = "doubt in prose";
                }
                block.find(at, finding);
            }
        }
        (!block.findings.is_empty()).then_some(block)
    }
}

/// Whether a text may hold a phrase that is read although the text has no digit.
pub(crate) fn says_without_digits(text: &[u8]) -> bool {
    static WORDS: LazyLock<Option<Trigger>> =
        LazyLock::new(|| Trigger::new("(?i)never|effect|reached|executed").ok());
    WORDS.as_ref().is_none_or(|words| words.is_match(text))
}

/// Whether a line is neither code nor part of a patch.
pub(super) fn is_prose(line: &str) -> bool {
    let text = line.trim();
    let patch = match line.as_bytes() {
        [] => true,
        [b'+' | b'@', ..] | [b'-', b'-', ..] => true,
        [b'-', next, ..] => *next != b' ',
        _ => text.starts_with("diff "),
    };
    let code = text.len() > LINE_AT_MOST
        || text.starts_with(['*', '/', '#', '|'])
        || text.ends_with([';', '\\', '{'])
        || CODE.as_ref().is_some_and(|code| code.is_match(text));
    !patch && !code
}

/// What a line of code holds.
static CODE: LazyLock<Option<Trigger>> =
    LazyLock::new(|| Trigger::new(r"->|==|&&|/\*|\*/| = |://").ok());

/// What one phrase says.
struct Match {
    from: usize,
    to: usize,
    findings: Vec<Finding>,
}

/// Reads what a phrase's captures say.
type Reader<'a> = dyn Fn(&Captures<'_>) -> Vec<Finding> + 'a;

/// The phrases that are read.
struct Patterns {
    /// What every phrase contains in its first line.
    trigger: Trigger,
    from_to: Regex,
    percent_noun: Regex,
    noun_percent: Regex,
    verb_percent: Regex,
    factor: Regex,
    times: Regex,
    unreached: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(Patterns::new);

const NUMBER: &str = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)";
const ABOUT: &str =
    r"(?:(?:about|around|roughly|approximately|nearly|almost|some|up to|over)\s+|~\s?|≈\s?)?";
const UNIT: &str = r"(%|(?:percent|ns|us|µs|μs|ms|s|[mun]?secs?|seconds?|milliseconds?|microseconds?|nanoseconds?|minutes?|mins?|hours?|cycles|fps|frames/s|m?W|watts?|m?J|joules?|[KMGT]i?B/s(?:ec)?|[KMG]bit/s|[KMG]bps|k?ops/s(?:ec)?|k?iops)\b)";
const PERCENT: &str = r"\s?(?:%|percent\b|per\s+cent\b)";
const NOUN: &str = r"(speed-?ups?|faster|quicker|slow-?downs?|slower|improvements?|better|worse|regressions?|degradations?|reductions?|increases?|decreases?|gains?|drops?|lower|higher|less|more)";

impl Patterns {
    fn new() -> Option<Self> {
        let of = |pattern: String| Regex::new(&format!("(?i){pattern}")).ok();
        let open = r"(?:^|[\s(~≈])";
        let which =
            r"(?:(?:performance|throughput|latency|overall|relative|slight|net|power|energy)\s+)?";
        let end = r"(?:$|[^\w.%]|\.(?:$|\s))";
        Some(Patterns {
            trigger: Trigger::new(
                r"(?i)[0-9] ?(?:%|x |times|per ?cent)|from (?:[a-z]+ |~)?[0-9]|(?:from|by)$|factor|never|effect|not (?:reach|exec)|(?:does|did|do) ?n",
            )
            .ok()?,
            from_to: of(format!(
                r"\bfrom\s+{ABOUT}{NUMBER}\s?{UNIT}?\s+(?:down\s+|up\s+|back\s+)?to\s+(?:just\s+|only\s+)?{ABOUT}{NUMBER}\s?{UNIT}"
            ))?,
            percent_noun: of(format!(r"{open}([+-]?){NUMBER}{PERCENT}\s+{which}{NOUN}\b"))?,
            noun_percent: of(format!(
                r"\b(speed-?up|slow-?down|improvement|regression|degradation|reduction|increase|decrease|gain|drop)\s+of\s+{ABOUT}{NUMBER}{PERCENT}"
            ))?,
            verb_percent: of(format!(
                r"\b(improv|reduc|increas|decreas|degrad|regress|slow|speed|sped|drop)[a-z]*(?:\s+[\w()-]+){{0,5}}?\s+by\s+{ABOUT}{NUMBER}{PERCENT}"
            ))?,
            factor: of(format!(
                r"\bby\s+{ABOUT}(?:a\s+)?factor\s+of\s+{ABOUT}{NUMBER}{end}"
            ))?,
            times: of(format!(r"{open}{NUMBER}\s?(?:x|×|times)\s+{NOUN}\b"))?,
            unreached: of(UNREACHED.to_owned())?,
        })
    }

    /// All phrases in a text, in order; none overlaps another.
    fn matches(&self, text: &str) -> Vec<Match> {
        let mut matches = Vec::new();
        // Most lines lack what most phrases need; to look for that is cheap.
        let plain = text.to_ascii_lowercase();
        let has = |needed: &[&str]| needed.iter().any(|n| plain.contains(n));
        let percent = has(&["%", "cent"]);
        let mut add = |needed: bool, pattern: &Regex, read: &Reader<'_>| {
            if !needed {
                return;
            }
            for captures in pattern.captures_iter(text) {
                if let Some(whole) = captures.get(0) {
                    matches.push(Match {
                        from: whole.start() + whole.as_str().len()
                            - whole.as_str().trim_start().len(),
                        to: whole.start() + whole.as_str().trim_end().len(),
                        findings: read(&captures),
                    });
                }
            }
        };
        add(has(&["from"]), &self.from_to, &|c| from_to(text, c));
        add(percent, &self.percent_noun, &|c| {
            relative(&c[3], &c[2], &c[1], "%")
        });
        add(percent && has(&[" of"]), &self.noun_percent, &|c| {
            relative(&c[1], &c[2], "", "%")
        });
        add(percent && has(&[" by"]), &self.verb_percent, &|c| {
            relative(&c[1], &c[2], "", "%")
        });
        add(has(&["factor"]), &self.factor, &|c| {
            let before = &text[..c.get(0).map_or(0, |m| m.start())];
            relative(last_verb(before), &c[1], "", "x")
        });
        add(has(&["x ", "times", "×"]), &self.times, &|c| {
            relative(&c[2], &c[1], "", "x")
        });
        let negative = has(&["never", "n't", "n’t", "not ", "no effect"]);
        add(negative, &self.unreached, &|c| {
            let doubt = format!("the post says “{}”", label(&c[0]));
            vec![Finding::Doubt("unreached-code", doubt)]
        });
        matches.retain(|m| !m.findings.is_empty());
        matches.sort_by_key(|m| m.from);
        let mut end = 0;
        matches.retain(|m| {
            let apart = m.from >= end;
            if apart {
                end = m.to;
            }
            apart
        });
        matches
    }
}

/// Phrases that say that the code in question does not run or does nothing.
const UNREACHED: &str = r"(?x)
    \bwill\s+never\s+(?:happen|(?:be|get)\s+(?:called|reached|executed|taken|hit|run|used))\b
    | \bnever\s+(?:(?:gets?|be|been|being)\s+)?(?:called|reached|executed)\b
    | \b(?:is|are|was|were|get|gets)\s+not\s+(?:even\s+)?(?:reached|executed)\b
    | \b(?:has|have|had)\s+no\s+effect\s+(?:on|for|here|at\ all)\b
    | \b(?:does|do|did)(?:n['’]t|\s+not)\s+(?:[\w]+\s+){0,3}have\s+any\s+effect\b";

/// `from 63 seconds down to 50 seconds`: a figure before and one after.
fn from_to(text: &str, captures: &Captures<'_>) -> Vec<Finding> {
    let whole = captures.get(0).map_or(0, |m| m.start());
    let metric = noun_before(&text[..whole]);
    let unit = &captures[4];
    let sides = [
        (
            "before",
            &captures[1],
            captures.get(2).map_or(unit, |m| m.as_str()),
        ),
        ("after", &captures[3], unit),
    ];
    let statement = |(side, digits, unit): (&str, &str, &str)| {
        let value = english(digits)?;
        Some(Finding::Statement {
            labels: Labels {
                configuration: Some(side.to_owned()),
                ..Labels::default()
            },
            figure: Figure::new(metric, value, unit),
            normalised_to: None,
        })
    };
    sides
        .into_iter()
        .map(statement)
        .collect::<Option<Vec<_>>>()
        .unwrap_or_default()
}

/// A change relative to before.
fn relative(word: &str, digits: &str, sign: &str, unit: &str) -> Vec<Finding> {
    let Some(value) = english(&format!("{sign}{digits}")) else {
        return Vec::new();
    };
    vec![Finding::Statement {
        labels: Labels::default(),
        figure: Figure::new(noun(word), value, unit),
        normalised_to: Some("before".to_owned()),
    }]
}

/// The noun of what a word says has changed.
fn noun(word: &str) -> &'static str {
    const STEMS: [(&str, &str); 15] = [
        ("speed", "speedup"),
        ("sped", "speedup"),
        ("fast", "speedup"),
        ("quick", "speedup"),
        ("slow", "slowdown"),
        ("improv", "improvement"),
        ("gain", "improvement"),
        ("regress", "regression"),
        ("degrad", "regression"),
        ("reduc", "reduction"),
        ("decreas", "reduction"),
        ("drop", "reduction"),
        ("lower", "reduction"),
        ("increas", "increase"),
        ("higher", "increase"),
    ];
    let word = word.to_lowercase();
    STEMS
        .iter()
        .find(|(stem, _)| word.starts_with(stem))
        .map_or("figure", |(_, noun)| noun)
}

/// The last words of a text, the very last first.
fn last_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .rev()
        .take(6)
        .map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// The last word of which [`noun`] knows the noun.
fn last_verb(text: &str) -> &str {
    last_words(text).find(|w| noun(w) != "figure").unwrap_or("")
}

/// Nouns of what is measured.
const MEASURES: [&str; 16] = [
    "latency",
    "time",
    "runtime",
    "throughput",
    "bandwidth",
    "power",
    "energy",
    "overhead",
    "delay",
    "jitter",
    "duration",
    "usage",
    "utilization",
    "consumption",
    "rate",
    "fps",
];

/// Which of these nouns a word is.
pub(super) fn measure(word: &str) -> Option<&'static str> {
    let mut measures = MEASURES.into_iter();
    measures.find(|noun| word.eq_ignore_ascii_case(noun))
}

/// The measure that is named shortly before `from`.
fn noun_before(text: &str) -> &'static str {
    last_words(text).find_map(measure).unwrap_or("figure")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_compile() {
        Patterns::new().unwrap();
    }
}
