//! A sentence that says what was measured before and after a change:
//!
//! ```text
//! With it the throughput of random writes goes from 120 MB/s to 176 MB/s.
//! Before this series fsync took 3.2 ms, and with it 2.1 ms.
//! ```
//!
//! Sentences say much that was not measured, so this prefers silence: both sides have
//! the unit of a rate, or of a time with words for a time that was measured and for one
//! that changed, or the name of what is counted stands right before them. What is set
//! (`the default timeout from 10 s to 5 s`) is no measurement. Each side is one run,
//! which carries no verdict but `undecided`. A change in per cent that is given in the
//! same sentence must follow from both figures, else there is a doubt.

mod paragraph;

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::cells::label;
use super::number::{english, numbers};
use super::pairs::{Amount, follows};
use super::prose::{measure, takes_time};
use super::quantity::{is_measure, is_time, metric_of};
use super::{Block, Figure, Finding, Grammar};
use crate::Line;
use crate::trigger::Trigger;
use paragraph::paragraph;

/// Before and after in a sentence; see the module.
pub struct Sentence;

/// The format's name.
pub(crate) const SENTENCE: &str = "sentence";

/// A paragraph on one line may be long, but not so long.
const LONGEST: usize = 4000;
/// So many words before the figures are looked at for what was measured.
const WORDS: usize = 24;
/// So many for what takes time.
const NEAR: usize = 8;

const NUMBER: &str = r"([0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)";
const ABOUT: &str =
    r"(?:(?:about|around|roughly|approximately|nearly|almost|only|just|over|merely)\s+|~\s?|≈\s?)*";
const UNIT: &str = r"((?:[kKM]\s?)?(?:[KMGT]i?B/s(?:ec)?|[KMGT]i?Bps|[KMG]?bit/s|[KMG]bits?/s(?:ec)?|[KMG]bps|[kM]?IOP?S|ops(?:/s(?:ec)?)?|reqs?/s(?:ec)?|requests?/s(?:ec)?|(?:tps|qps|rps|fps|pps)|frames/s|files/s(?:ec)?|milliseconds?|microseconds?|nanoseconds?|[mun]?secs?|seconds?|minutes?|mins?|hours?|cycles|[mun]s|µs|μs|s|%)(?:$|[^\w/%])|[kM](?-u:\b))?";

struct Patterns {
    /// What every such sentence contains in its first line.
    trigger: Trigger,
    /// One of which it contains besides: a figure with its unit, or the name of what is
    /// counted without one.
    figure: Regex,
    from_to: Regex,
    before_after: Regex,
    before_then_after: Regex,
    after_before: Regex,
    figure_first: Regex,
    figure_first_turned: Regex,
    set: Regex,
    /// An identifier of a time: `min_sleep_time`, `PERST_DELAY_MS`.
    constant: Regex,
    took: Regex,
    /// A delay that was met with, and not one that is waited for on purpose.
    observed: Regex,
    changed: Regex,
    /// Who or what changed it.
    cause: Regex,
    /// It changed while one run went on.
    meanwhile: Regex,
    percent: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(Patterns::new);

impl Patterns {
    fn new() -> Option<Self> {
        let of = |pattern: String| Regex::new(&format!("(?i){pattern}")).ok();
        let amount = format!(r"{ABOUT}{NUMBER}\s?{UNIT}");
        // What stands between a word and its figure holds no other figure or sentence, but
        // maybe a name with digits: `generic/475`.
        let gap = r"(?:[^.!?;:0-9]|[a-z][/_-]?[0-9]+){0,80}?";
        let before = r"(?-u:\b)(?:before|without|unpatched|vanilla|originally|original|previously|baseline|mainline)(?-u:\b)";
        let after = r"(?-u:\b)(?:after|with|patched|now|afterwards)(?-u:\b)";
        Some(Patterns {
            trigger: Trigger::new(
                r"(?i)\b(?:from|before|without|previously|vanilla|unpatched|baseline|mainline|with|after)\b|\boriginal",
            )
            .ok()?,
            figure: of(format!(
                r"[0-9]\s?{}|{}|(?:^|[^a-z0-9])tps",
                UNIT.trim_end_matches('?'),
                COUNTED[..4].join("|"),
            ))?,
            from_to: of(format!(
                r"(?-u:\b)from\s+{amount}\s*(?:\([^)]{{1,40}}\)\s+)?(?:down\s+|up\s+|back\s+)?to\s+(?:a\s+)?{amount}"
            ))?,
            before_after: of(format!(
                r"{before}{gap}\s{amount}[^.!?;0-9]{{0,60}}?{after}{gap}\s{amount}"
            ))?,
            before_then_after: of(format!(
                r"{before}{gap}\s{amount}[^.!?;0-9]{{0,60}}?\s{amount}\s*(?:[a-z/]+\s+){{0,2}}{after}"
            ))?,
            after_before: of(format!(
                r"(?-u:\b)(?:with|after|patched)(?-u:\b){gap}\s{amount}[^.!?;0-9]{{0,60}}?(?-u:\b)(?:without|before|unpatched)(?-u:\b){gap}\s{amount}"
            ))?,
            figure_first: of(format!(
                r"\s{amount}\s*(?:[a-z/]+\s+){{0,2}}(?-u:\b)(?:before|without|previously|originally)(?-u:\b){gap}\s{amount}\s*(?:[a-z/]+\s+){{0,2}}(?-u:\b)(?:after|with|now|afterwards)(?-u:\b)"
            ))?,
            figure_first_turned: of(format!(
                r"\s{amount}\s*(?:[a-z/]+\s+){{0,2}}(?-u:\b)(?:after|with|now)(?-u:\b){gap}\s{amount}\s*(?:[a-z/]+\s+){{0,2}}(?-u:\b)(?:before|without|previously|originally)(?-u:\b)"
            ))?,
            set: Regex::new(
                r"(?i)(?-u:\b)(?:time-?outs?|intervals?|periods?|default|limit(?:s|ed)?|settings?|sleep(?:s|ing)?|quotas?|slices?|thresholds?|max(?:imum)?|min(?:imum)?|capped|throttled?|clock|frequency|sysctl|parameter|version|link|should|would|could|expect(?:ed)?|range[sd]?|varie[sd]|vary|between|increase it|reduce it)(?-u:\b)",
            ).ok()?,
            constant: Regex::new(
                r"(?i)_(?:time|delay|wait|sleep|latency|interval|period|(?:[mun]s|m?secs?))(?-u:\b)|(?-u:\b)(?:delay|sleep|wait)_",
            ).ok()?,
            took: Regex::new(r"(?i)(?-u:\b)(?:took|takes)(?-u:\b)").ok()?,
            observed: Regex::new(
                r"(?i)(?-u:\b)(?:averag|mean|median|percentile|p[59][0-9]|tail|measur|observed|observing|see[ns]?(?-u:\b)|schedul|queue|queuing|wake|boot|start-?up|switch|end-to-end|round-trip)",
            ).ok()?,
            changed: Regex::new(
                r"(?i)(?-u:\b)(?:improv|reduc|increas|decreas|degrad|regress|drop|dropp|fell|fall|rose|rise|rais|went|goes|go|grow|grew|shr[aiu]nk|sped|speed|slow|cut|lower|boost|jump|bring|brought|took|takes|take|get|got|chang|mov)[a-z]*(?-u:\b)",
            ).ok()?,
            cause: Regex::new(
                r"(?i)patch|series|change|commit|fix|revert|optimi|improv|reduc|this|enabl|disable|disabling|kernel|with|sped|speed",
            ).ok()?,
            meanwhile: Regex::new(
                r"(?i)(?-u:\b)(?:suddenly|gradually|slowly|eventually|over time|a while|later|then|sometimes|during|when|while|if|until|whenever)(?-u:\b)",
            ).ok()?,
            percent: of(format!(r"([+-]?){NUMBER}\s?%"))?,
        })
    }
}

impl Patterns {
    /// Whether a text has two numbers, and a figure of something that is measured: most
    /// paragraphs do not, and to look for all forms of a sentence takes time.
    fn may_compare(&self, text: &str) -> bool {
        numbers(text) >= 2 && self.figure.is_match(text)
    }

    /// Whether what stands before the figures, around them or right behind them says
    /// that they are set.
    fn is_set(&self, [head, whole, rest]: [&str; 3]) -> bool {
        let behind: String = rest.chars().take(16).collect();
        let mut parts = [head, whole, &behind].into_iter();
        parts.any(|part| self.set.is_match(part)) || self.constant.is_match(head)
    }
}

impl Grammar for Sentence {
    fn name(&self) -> &'static str {
        SENTENCE
    }

    fn is_report(&self) -> bool {
        false
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= LONGEST && PATTERNS.as_ref().is_some_and(|p| p.trigger.is_match(line))
    }

    fn reach(&self) -> usize {
        2
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let patterns = PATTERNS.as_ref()?;
        let near = lines.iter().take(paragraph::LINES);
        if near.map(|line| numbers(&line.text)).sum::<usize>() < 2 {
            return None;
        }
        let (text, ends) = paragraph(lines)?;
        if !patterns.may_compare(&text) {
            return None;
        }
        let found = found(patterns, &text)
            .into_iter()
            .filter(|found| found.sentence < ends[0])
            .min_by_key(|found| found.from)?;
        let used = ends.partition_point(|end| *end < found.to) + 1;
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["before and after in a sentence"; used.min(ends.len())],
        };
        let at = 0;
        let sides = [found.before, found.after].map(|side| {
            let mut figure = Figure::new(found.metric.clone(), side.value, found.unit());
            figure.step = Some(side.step);
            vec![figure]
        });
        block.find_sides(at, None, found.names, sides);
        if let Some(percent) = found.contradicted {
            let detail = format!(
                "the change of {percent} % does not follow from {} and {}",
                found.before.value, found.after.value
            );
            block.find(at, Finding::Doubt("change-contradicts", detail));
        }
        Some(block)
    }
}

/// What one sentence says.
struct Found<'t> {
    /// Where the sentence begins: above the figures stands what was changed.
    sentence: usize,
    from: usize,
    to: usize,
    metric: String,
    names: [&'static str; 2],
    before: Amount<'t>,
    after: Amount<'t>,
    contradicted: Option<f64>,
}

impl Found<'_> {
    fn unit(&self) -> &str {
        let units = [self.after.unit, self.before.unit].into_iter();
        units
            .into_iter()
            .find(|unit| !unit.is_empty())
            .unwrap_or("")
    }
}

/// All that a paragraph says of before and after.
fn found<'t>(patterns: &Patterns, text: &'t str) -> Vec<Found<'t>> {
    let forms = [
        (&patterns.from_to, false),
        (&patterns.before_after, false),
        (&patterns.before_then_after, false),
        (&patterns.figure_first, false),
        (&patterns.figure_first_turned, true),
        (&patterns.after_before, true),
    ];
    let all = forms.into_iter().flat_map(|(pattern, turned)| {
        let amounts = |captures: &Captures<'_>| {
            let mut both = [1, 3].into_iter();
            both.all(|at| is_amount(text, captures, at))
        };
        let captures = pattern.captures_iter(text).filter(amounts);
        let captures = captures.filter(move |captures| !turned || sides_are_parted(text, captures));
        captures.filter_map(move |captures| measured(patterns, text, &captures, turned))
    });
    all.collect()
}

/// Whether the second side does not go on with the first figure: in `with this disk, I see 3.9
/// Gb/s without it and 14.1 Gb/s` the first figure is that of what stands behind it.
fn sides_are_parted(text: &str, captures: &Captures<'_>) -> bool {
    let ends = captures.get(1).map(|number| number.end());
    let between = ends.zip(captures.get(3).map(|number| number.start()));
    let Some((first, second)) = between else {
        return true;
    };
    let between = &text[first..second];
    let word = ["without", "before", "unpatched", "previously", "originally"];
    let at = word.into_iter().filter_map(|word| between.find(word)).min();
    let joined = |at: usize| {
        let head = between[..at].trim_end();
        head.ends_with([',', ';', '(', ')']) || head.split_whitespace().count() > 1
    };
    at.is_none_or(joined)
}

/// Both sides of a match, if they were surely measured.
fn measured<'t>(
    patterns: &Patterns,
    text: &'t str,
    captures: &Captures<'t>,
    turned: bool,
) -> Option<Found<'t>> {
    let whole = captures.get(0)?;
    let end = |c: char| !(c.is_alphanumeric() || c == '%');
    let to = whole.start() + whole.as_str().trim_end_matches(end).len();
    let (mut before, mut after) = (side(captures, 1)?, side(captures, 3)?);
    let sentence = sentence(text, whole.start(), to);
    let head = &text[sentence.start..whole.start()];
    let printed = before.value;
    scale(&mut before, after, step(captures.get(3)?.as_str()));
    let rescaled = before.value != printed;
    let (first, second) = (before, after);
    if turned {
        std::mem::swap(&mut before, &mut after);
    }
    let mut units = [second.unit, first.unit].into_iter();
    let unit = units.find(|unit| !unit.is_empty()).unwrap_or_default();
    let said = &text[sentence.clone()];
    let noun = what_was_measured(patterns, [head, whole.as_str(), said], unit);
    let counted = last_words(head, 6).any(is_counted);
    let changed = patterns.changed.is_match(said) || turned || !whole.as_str().starts_with("from");
    let fits = match unit {
        "" => counted && first.value >= 10.0,
        "%" => matches!(noun, Some("usage" | "utilization" | "overhead")),
        unit if is_time(unit) => noun.is_some() && changed,
        _ => changed,
    };
    // `…, while it is 12 ms after it`: the other side, and not the same time.
    let sides = said.replace(", while ", ", ");
    let caused = patterns.cause.is_match(said) && !patterns.meanwhile.is_match(&sides);
    let units = share_a_unit([first, second], whole.as_str(), rescaled);
    let rest = &text[to..sentence.end.max(to)];
    let waited = noun == Some("delay") && !patterns.observed.is_match(said);
    let set = waited || patterns.is_set([head, whole.as_str(), rest]);
    // Once more the same is how long somebody looked.
    let differ = before.value != after.value && !of_two_things(text, captures, &text[to..]);
    if !fits || !units || before.value.min(after.value) <= 0.0 || set || !caused || !differ {
        return None;
    }
    let metric = match (noun, unit) {
        (Some(noun), _) => noun.to_owned(),
        (None, "") => "score".to_owned(),
        (None, unit) => metric_of(unit).to_owned(),
    };
    let contradicted = contradicted(patterns, rest, (before, after)).filter(|_| unit != "%");
    Some(Found {
        sentence: sentence.start,
        from: whole.start(),
        to,
        metric: label(&metric),
        names: names(whole.as_str()),
        before,
        after,
        contradicted,
    })
}

/// What the two states are called: `without` and `with` if the sentence says so.
fn names(whole: &str) -> [&'static str; 2] {
    let lower = whole.to_lowercase();
    let says = |name: &str| {
        lower
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == name)
    };
    match says("without") && says("with") {
        true => ["without", "with"],
        false => super::BEFORE_AND_AFTER,
    }
}

/// Whether two figures have one unit, or the only one is that of both. A number before other words (`10 MB
/// object previously … 17 Gbps`, `without it a depth of 1 yields 32K IOPS`) counts those.
fn share_a_unit([first, second]: [Amount<'_>; 2], whole: &str, rescaled: bool) -> bool {
    let near = first.value * 10.0 > second.value && first.value < second.value * 10.0;
    let worded = whole.starts_with(|c: char| c.is_alphabetic()) && near && !rescaled;
    let alone = first.unit.is_empty() || second.unit.is_empty();
    first.unit == second.unit || alone && (whole.starts_with("from") || worded)
}

/// Whether what stands in parentheses behind each figure says of what else it is: `from 150 MB/s
/// (one drive) to 300 MB/s (two drives)`, and not the same in another unit.
fn of_two_things(text: &str, captures: &Captures<'_>, rest: &str) -> bool {
    let inner = |text: &str| {
        let (inner, _) = text.split_once('(')?.1.split_once(')')?;
        let letters = inner.chars().filter(|c| c.is_alphabetic());
        Some(letters.collect::<String>())
    };
    let ends = captures.get(1).map(|number| number.end());
    let between = ends.zip(captures.get(3).map(|number| number.start()));
    let first = between.and_then(|(from, to)| inner(&text[from..to]));
    let behind = rest.trim_start().starts_with('(');
    let second = behind.then(|| inner(rest)).flatten();
    first.is_some_and(|first| second.is_some_and(|second| first != second))
}

/// Whether a number neither goes on with letters that are no unit (`75xxx`) nor is one end
/// of a range (`50 ~ 75 ns`).
fn is_amount(text: &str, captures: &Captures<'_>, at: usize) -> bool {
    let Some(number) = captures.get(at) else {
        return false;
    };
    let rest = &text[number.end()..];
    let worded = captures.get(at + 1).is_none() && rest.starts_with(char::is_alphanumeric);
    let digit = |c: char| c.is_ascii_digit();
    let before = text[..number.start()].trim_end();
    let in_range = |mark: char| {
        let ends = before.strip_suffix(mark).map(str::trim_end);
        let goes_on = rest.trim_start().strip_prefix(mark).map(str::trim_start);
        ends.is_some_and(|text| text.ends_with(digit))
            || goes_on.is_some_and(|text| text.starts_with(digit))
    };
    !worded && !['~', '–'].into_iter().any(in_range)
}

/// `from 1.5 to 1.9M IOPS`: both in millions, where the place of the second number's last
/// digit says how many a unit of it is.
fn scale(before: &mut Amount<'_>, after: Amount<'_>, step: f64) {
    let scale = after.step / step;
    let near = |value: f64| value * 10.0 > after.value && value < after.value * 10.0;
    let scaled = before.value < scale || near(before.value * scale) && !near(before.value);
    if before.unit.is_empty() && scale > 1.0 && scaled {
        (before.value, before.step) = (before.value * scale, before.step * scale);
    }
}

/// The noun of what was measured, before the figures or, where they come first, in all
/// the sentence.
fn what_was_measured(
    patterns: &Patterns,
    [head, whole, said]: [&str; 3],
    unit: &str,
) -> Option<&'static str> {
    let nouns = if head.trim().is_empty() { said } else { head };
    let noun = last_words(nouns, WORDS).find_map(measure);
    // `a build dropped from 63 s`: what takes time, and right before the figures a change.
    let verb = last_words(head, 1).any(|word| patterns.changed.is_match(word));
    let takes_long = is_time(unit) && verb && last_words(head, NEAR).any(takes_time);
    // `before it, the test took 130 s`
    let took = || is_time(unit) && patterns.took.is_match(whole);
    noun.or((takes_long || took()).then_some("time"))
}

/// What is counted without a unit.
const COUNTED: [&str; 5] = ["throughput", "bandwidth", "iops", "score", "tps"];

/// Whether a word names what is counted without a unit.
fn is_counted(word: &str) -> bool {
    COUNTED.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// The change in per cent that is given behind two figures, if it does not follow from
/// them.
fn contradicted(
    patterns: &Patterns,
    rest: &str,
    (before, after): (Amount<'_>, Amount<'_>),
) -> Option<f64> {
    let percent = patterns.percent.captures(rest)?;
    let value = english(&percent[2])?;
    (!follows(before, after, value, step(&percent[2]).max(1.0))).then_some(value)
}

fn last_words(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric()).rev();
    words.filter(|word| !word.is_empty()).take(most)
}

/// The sentence around a match.
fn sentence(text: &str, from: usize, to: usize) -> std::ops::Range<usize> {
    let ends = |at: usize| {
        let next = text.as_bytes().get(at + 1);
        next.is_none_or(|b| b.is_ascii_whitespace())
    };
    let stop = |(at, c): &(usize, char)| matches!(c, '.' | '!' | '?' | ';') && ends(*at);
    let start = text[..from]
        .char_indices()
        .rev()
        .find(stop)
        .map_or(0, |(at, _)| at + 1);
    let rest = text[to..]
        .char_indices()
        .map(|(at, c)| (at + to, c))
        .find(stop);
    start..rest.map_or(text.len(), |(at, _)| at)
}

/// A number and its unit, the captures from one on.
fn side<'t>(captures: &Captures<'t>, at: usize) -> Option<Amount<'t>> {
    let number = captures.get(at)?.as_str();
    let unit = captures.get(at + 1).map_or("", |unit| unit.as_str());
    let unit = unit.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '%'));
    let bare = unit.trim_start_matches(['k', 'K', 'M']).trim_start();
    // `120k`, `120K IOPS`: thousands, unless they belong to the unit.
    let scaled = !is_measure(unit) && unit != "%" && (bare.is_empty() || is_measure(bare));
    let (factor, unit) = match unit.as_bytes().first() {
        Some(b'k' | b'K') if scaled => (1e3, bare),
        Some(b'M') if scaled => (1e6, bare),
        _ => (1.0, unit),
    };
    let known = unit.is_empty() || unit == "%" || is_measure(unit) || unit.contains("/s");
    known.then_some(Amount {
        value: english(number)? * factor,
        step: step(number) * factor,
        unit,
    })
}

fn step(number: &str) -> f64 {
    let places = number.rsplit_once('.').map_or(0, |(_, d)| d.len().min(9));
    10_f64.powi(-i32::try_from(places).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn sides(text: &str) -> Vec<(String, f64)> {
        testing::placed(&Sentence, text)
            .into_iter()
            .map(|(_, metric, value)| (metric, value))
            .collect()
    }

    fn told(metric: &str, before: f64, after: f64) -> Vec<(String, f64)> {
        vec![(metric.to_owned(), before), (metric.to_owned(), after)]
    }

    #[test]
    fn an_end_of_a_range_or_a_number_within_a_word_is_no_figure() {
        let text = |after: &str| {
            format!("Before this change the latency was 75 us and with it {after} now.")
        };
        assert_eq!(sides(&text("50 us")), told("latency", 75.0, 50.0));
        for after in ["50xxx us", "50 ~ 60 us", "about 50 – 60 us"] {
            assert!(sides(&text(after)).is_empty(), "{after}");
        }
    }

    #[test]
    fn what_was_measured_before_and_after_is_a_run_each() {
        for (text, metric, before, after) in [
            (
                "With this patch the rate went from 2355 to 4480k RPS again.",
                "rate",
                2.355e6,
                4.48e6,
            ),
            (
                "With it throughput goes from 120 MB/s to 176 MB/s.",
                "throughput",
                120.0,
                176.0,
            ),
            (
                "This improves it from 1.5M to 1.9M IOPS here.",
                "IOPS",
                1.5e6,
                1.9e6,
            ),
            (
                "random reads improve from 310K IOPS to 355K IOPS",
                "IOPS",
                310e3,
                355e3,
            ),
            (
                "the boot time was reduced from 63 seconds down\nto about 50 seconds.",
                "time",
                63.0,
                50.0,
            ),
            (
                "with it the latency went from about 40 to ~20us",
                "latency",
                40.0,
                20.0,
            ),
            (
                "CPU usage drops from 35% to 12% with this",
                "usage",
                35.0,
                12.0,
            ),
            (
                "Before this series the runtime is 3.2 ms, and with it 2.1 ms.",
                "runtime",
                3.2,
                2.1,
            ),
            (
                "Without the patch we get 445 MiB/s, with the patch 643 MiB/s.",
                "MiB/s",
                445.0,
                643.0,
            ),
            (
                "With the patch we get 643 MiB/s, without it 445 MiB/s.",
                "MiB/s",
                445.0,
                643.0,
            ),
            (
                "The mount time of a disk was 42.1 seconds before this patch and it is 3.4 seconds after.",
                "time",
                42.1,
                3.4,
            ),
            (
                "The original speed of this job is 312 MiB/s with the queue of above,\nwhile it is 405 MiB/s after applying the patch.",
                "MiB/s",
                312.0,
                405.0,
            ),
            (
                "Before the commit, block/004 took around 130 seconds. After the commit, it takes\naround 300 seconds.",
                "time",
                130.0,
                300.0,
            ),
            (
                "random writes give 180K IOPS with the patch, 120K IOPS without it.",
                "IOPS",
                120e3,
                180e3,
            ),
            (
                "the throughput rises from 1200 to 1450 in this test",
                "throughput",
                1200.0,
                1450.0,
            ),
            (
                "It sorts once. With the list sorted,\na build of all of it dropped\n\
                 from 63 s to 50 s here.",
                "time",
                63.0,
                50.0,
            ),
        ] {
            assert_eq!(sides(text), told(metric, before, after), "{text}");
        }
    }

    #[test]
    fn what_was_set_or_may_be_is_no_measurement() {
        for text in [
            "All downloading a 10 MB object previously showed 17 Gbps with the patch.",
            "reduce the default timeout from 10 seconds to 5 seconds",
            "the delay is moved from 10 ms to 20 ms intervals",
            "raise the limit from 100 MB/s to 200 MB/s",
            "it varies from 100 MB/s to 200 MB/s",
            "from 5 to 7 threads",
            "move it from 2 s to 3 s",
            "with 4 CPUs and without 8 of them",
            "in versions from 5.4 to 5.10 the time of boot",
            "sizes from 4 KB to 64 KB",
            "The original speed of this disk is 312 MB/s, and while it fills it is 405 MB/s after this.",
            "Before the commit it waited 130 seconds. It is old. After the commit, it takes 300 seconds.",
            "Before the commit, block/004 took 130 files. After the commit, it takes 300 files.",
            "After a while the speed of this disk drops from 120 MB/s to 20 MB/s.",
            "the throughput rises from 100 MB/s to 200 MB/s",
            "With this patch he went from 10 s to 5 s.",
            "With this patch a build improves, and he waits from 10 s to 5 s.",
            "if (from 120 MB/s to 176 MB/s) {",
        ] {
            assert_eq!(sides(text), [], "{text}");
        }
    }

    #[test]
    fn a_change_that_does_not_follow_is_doubted() {
        let doubts = |text: &str| {
            let block = testing::read(&Sentence, text).unwrap();
            let doubt = |(_, f): &(usize, Finding)| matches!(f, Finding::Doubt(..));
            block.findings.iter().filter(|f| doubt(f)).count()
        };
        assert_eq!(
            doubts("With it throughput rises from 100 MB/s to 120 MB/s (+20%)."),
            0
        );
        assert_eq!(
            doubts("With it throughput rises from 100 MB/s to 120 MB/s (+35%)."),
            1
        );
        assert_eq!(
            doubts("With it throughput rises from 100 MB/s to 120 MB/s. 35% of CPUs idle."),
            0
        );
    }

    #[test]
    fn all_patterns_compile() {
        Patterns::new().unwrap();
    }
}
