//! Two figures of one thing in a line:
//!
//! ```text
//! iodepth=32:
//!   old: 554 IOPS → new: 535 IOPS (-3.4%)
//!   avg clat: 57.7 ms → 59.8 ms
//!
//! page copy: 37.77M vs. 42.40M(batched), +12%
//!
//! - 100G: rx goes from 50 Gbps to 92.8 Gbps
//! - 200G: rx goes from 30 Gbps to 190 Gbps
//! ```
//!
//! What stands before the arrow is before the change; `IOPS(off/on): 729k vs 764k` says
//! itself what its figures are. A line is read if its
//! figures are surely measured: they have a rate as unit, their name is that of
//! something measured, or the change given beside them follows from them. Two
//! settings (`timeout: 10 ms -> 20 ms`) are none. Each side is one run.

mod names;
mod rows;

use std::collections::BTreeSet;

use super::begins::Begins;
use super::cells::{label, line_at};
use super::echoed::are_configurations;
use super::lists::is_setting;
use super::number::english;
use super::quantity::{is_measure, is_time, metric_of};
use super::{BEFORE_AND_AFTER, Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::roles::words::{names_configuration, names_measurement};
use names::{fit_name, names_listed, note, parted, state_before};

/// Two figures in a line; see the module.
pub struct Pairs;

/// A longer line is no such line.
const LONGEST: usize = 200;
/// A block has no more lines.
const MOST: usize = 60;
/// No name of what was measured has more words.
const WORDS: usize = 8;
/// So many lines of one form are measured if their figures have so many digits.
const SEVERAL: usize = 3;
const FINE: f64 = 0.001;
/// What stands between the figures, and whether the first is the older.
const MARKS: [(&str, bool); 6] = [
    ("→", true),
    ("-->", true),
    ("->", true),
    ("=>", true),
    (" vs. ", false),
    (" vs ", false),
];

impl Grammar for Pairs {
    fn name(&self) -> &'static str {
        "pairs"
    }

    fn is_report(&self) -> bool {
        false
    }

    fn begins(&self) -> Begins {
        Begins::holding(b">\xe2vf")
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= LONGEST
            && (marked(line) || memchr::memmem::find(line.as_bytes(), b" from ").is_some())
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        arrows(lines)
            .or_else(|| rows::read(lines))
            .or_else(|| sentences(lines))
    }
}

/// Whether one of the marks stands in a line.
fn marked(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memchr(b'>', bytes).is_some_and(|at| at > 0 && matches!(bytes[at - 1], b'-' | b'='))
        || memchr::memmem::find(bytes, "→".as_bytes()).is_some()
        || memchr::memmem::find(bytes, b" vs").is_some()
}

/// A number, maybe in thousands (`1.5M`), with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Amount<'t> {
    pub(super) value: f64,
    /// The place of the last digit.
    pub(super) step: f64,
    /// As written; may be empty.
    pub(super) unit: &'t str,
}

/// Reads a number at the start of a text; gives what follows.
pub(super) fn amount(text: &str) -> Option<(Amount<'_>, &str)> {
    let text = text.trim_start().trim_start_matches(['~', '≈']);
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')))
        .unwrap_or(text.len());
    let token = text[..end].trim_end_matches(['.', ',']);
    let value = english(token)?;
    let rest = &text[token.len()..];
    let places = token.rsplit_once('.').map_or(0, |(_, d)| d.len().min(9));
    let step = 10_f64.powi(-i32::try_from(places).unwrap_or(0));
    let ends = |rest: &str| {
        !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '%'))
    };
    let scaled = [('k', 1e3), ('K', 1e3), ('M', 1e6), ('G', 1e9)]
        .into_iter()
        .find_map(|(letter, factor)| Some((rest.strip_prefix(letter)?, factor)))
        .filter(|(rest, _)| ends(rest));
    let (rest, factor) = scaled.unwrap_or((rest, 1.0));
    let word = |text: &str| {
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | 'µ' | 'μ')))
            .unwrap_or(text.len())
    };
    let glued = word(rest);
    let (unit, rest) = if glued > 0 {
        rest.split_at(glued)
    } else {
        let next = rest.trim_start_matches(' ');
        let (unit, after) = next.split_at(word(next));
        if is_measure(unit) {
            (unit, after)
        } else {
            ("", rest)
        }
    };
    let known = unit.is_empty() || is_measure(unit);
    let amount = Amount {
        value: value * factor,
        step: step * factor,
        unit,
    };
    (known && ends(rest)).then_some((amount, rest))
}

/// Whether a change in per cent follows from two figures as they were rounded,
/// whatever its sign.
pub(super) fn follows(first: Amount<'_>, second: Amount<'_>, percent: f64, step: f64) -> bool {
    let (low, high) = (
        (second.value - second.step / 2.0) / (first.value + first.step / 2.0),
        (second.value + second.step / 2.0) / (first.value - first.step / 2.0),
    );
    let within = |low: f64, high: f64| {
        let change = |ratio: f64| (ratio - 1.0) * 100.0;
        let fits = |p: f64| (change(low) - step..=change(high) + step).contains(&p);
        fits(percent.abs()) || fits(-percent.abs())
    };
    // A rate that rose from 2 to 3 rose by 50 %, or the first was lower by 33 %.
    first.value > first.step
        && second.value > second.step
        && (within(low, high) || within(1.0 / high, 1.0 / low))
}

/// One line with its two sides.
#[derive(Debug, Clone, PartialEq)]
struct Pair<'t> {
    /// What was measured; may be empty.
    metric: &'t str,
    /// What the sides are called, where the line says it.
    names: Option<(String, String)>,
    first: Amount<'t>,
    second: Amount<'t>,
    /// The change given behind them does not follow from them.
    contradicted: bool,
    /// The line itself says that its figures are measured.
    measured: bool,
}

impl Pair<'_> {
    fn unit(&self) -> &str {
        [self.second.unit, self.first.unit]
            .into_iter()
            .find(|unit| !unit.is_empty())
            .unwrap_or("")
    }

    fn name(&self) -> String {
        match self.metric {
            "" => metric_of(self.unit()).to_owned(),
            metric => label(metric),
        }
    }
}

/// Whether a line is code, a patch or a path.
pub(super) fn is_code(text: &str) -> bool {
    text.starts_with(['+', '@', '|', '/', '*', '#', '<', '&', '[', '$'])
        || text.contains([';', '{', '}', '<', '"', '\\', '&', '|'])
        || text.contains("()")
}

/// A line with a mark between two figures; `beside` another one a time is measured.
fn pair(text: &str, beside: bool) -> Option<Pair<'_>> {
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    // The first of them: a change may stand behind another arrow.
    let marks = MARKS.iter().filter_map(|(mark, older)| {
        let (left, right) = text.split_once(mark)?;
        Some((left, right, *older))
    });
    let (left, right, older) = marks.min_by_key(|(left, ..)| left.len())?;
    if text.len() > LONGEST || is_code(text) {
        return None;
    }
    let (head, first) = left_side(left)?;
    let (name, rest) = match right.split_once(':') {
        Some((name, rest)) if amount(rest).is_some() && amount(right).is_none() => {
            (Some(name.trim()), rest)
        }
        _ => (None, right),
    };
    let (stated, rest) = state_before(rest);
    let (second, tail) = amount(rest)?;
    if !first.unit.is_empty() && !second.unit.is_empty() && first.unit != second.unit {
        return None;
    }
    let (bracketed, tail) = note(tail);
    let change = change(behind_arrow(behind_spread(tail)))?;
    let agrees = change.map(|(percent, step)| follows(first, second, percent, step));
    let (head, listed) = names_listed(head);
    let (metric, names) = match parted(head, name, bracketed, stated)? {
        (metric, None) => (metric, listed.clone()),
        both => both,
    };
    let contrasted = names
        .as_ref()
        .is_some_and(|(a, b)| a != b && names_configuration(a) && names_configuration(b));
    let mut pair = Pair {
        metric,
        names,
        first,
        second,
        contradicted: agrees == Some(false),
        measured: false,
    };
    let unit = pair.unit();
    let rate = is_measure(unit) && !is_time(unit);
    pair.measured = rate
        || names_measurement(metric)
        || agrees == Some(true)
        || (contrasted || beside) && is_time(unit);
    let ordered = older || listed.is_some() || agrees == Some(true) && pair.names.is_some();
    let fits = metric.split_whitespace().count() <= WORDS
        && pair
            .names
            .as_ref()
            .is_none_or(|(a, b)| fit_name(a) && fit_name(b));
    (ordered && fits && !is_setting(metric)).then_some(pair)
}

/// Whether pairs are measured though no line says it: there are several of one form, each
/// with a name of its own, and their figures have more digits than settings or versions.
fn are_measured(pairs: &[(usize, Pair<'_>)]) -> bool {
    let names: BTreeSet<&str> = pairs.iter().map(|(_, pair)| pair.metric).collect();
    let fine = |amount: Amount<'_>| amount.step <= FINE;
    pairs.len() >= SEVERAL
        && names.len() == pairs.len()
        && !names.contains("")
        && pairs.iter().all(|(_, pair)| {
            let plain = pair.names.is_none() && !pair.contradicted;
            plain && fine(pair.first) && fine(pair.second)
        })
}

/// Leaves pairs that are measured; the line of the first that is not.
fn leave_measured(pairs: &mut Vec<(usize, Pair<'_>)>) -> Option<usize> {
    let all = are_measured(pairs);
    let told = pairs.iter().take_while(|(_, pair)| all || pair.measured);
    let told = told.count();
    let end = pairs.get(told).map(|(at, _)| *at);
    pairs.truncate(told);
    end
}

/// What stands behind a spread: `(69702.90 0.21%):  4.93x speedup`, `0.77%: 1.52x`.
fn behind_spread(tail: &str) -> &str {
    match tail.split_once(':') {
        Some((spread, rest)) if is_spread(spread) => rest,
        _ => tail,
    }
}

/// `=> +5%`, `=> no difference`: what follows from the figures, in words as if nothing did.
fn behind_arrow(tail: &str) -> &str {
    let rest = ["=>", "→", "-->", "->"].iter();
    let mut rest = rest.filter_map(|mark| tail.trim_start().strip_prefix(mark));
    match rest.next().map(str::trim) {
        Some(words) if !words.contains(|c: char| c.is_ascii_digit()) => "",
        Some(change) => change,
        None => tail,
    }
}

/// `0.18%`, `(342155.88 0.02%)`: how a figure scatters, maybe with its mean.
fn is_spread(text: &str) -> bool {
    let text = text.trim();
    let inner = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let mut words = inner.unwrap_or(text).split_whitespace().rev();
    let percent = words.next().and_then(|word| word.strip_suffix('%'));
    let number =
        |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && english(word).is_some();
    percent.is_some_and(number) && words.all(number)
}

/// `iops: 554`, `old: 554 IOPS`, `throughput 554 MB/s`: what stands before the
/// number, and the number.
fn left_side(left: &str) -> Option<(&str, Amount<'_>)> {
    let left = left.trim_end();
    let parted = left.rsplit_once([':', '=']).and_then(|(head, value)| {
        let (first, rest) = amount(value)?;
        rest.trim().is_empty().then_some((head, first))
    });
    let (head, first) = parted.or_else(|| {
        let at = left.match_indices(' ').find_map(|(at, _)| {
            let (first, rest) = amount(&left[at..])?;
            (rest.trim().is_empty() || is_spread(rest)).then_some((at, first))
        });
        at.map(|(at, first)| (&left[..at], first))
    })?;
    let head = head.trim().trim_end_matches(" from").trim();
    let named = head.starts_with(|c: char| c.is_alphanumeric()) || head.is_empty();
    named.then_some((head, first))
}

/// `, +12%`, `  (~-3.4%)`: a change and the place of its last digit; `None` if
/// something else follows.
#[allow(clippy::option_option)]
fn change(tail: &str) -> Option<Option<(f64, f64)>> {
    let inner = tail
        .trim()
        .trim_matches(|c: char| matches!(c, '(' | ')' | '[' | ']' | ',' | ' ' | '.'));
    if inner.is_empty() {
        return Some(None);
    }
    let inner = inner.trim_start_matches(['~', '≈', ':', ' ']);
    if let Some(times) = times(inner) {
        return Some(Some(times));
    }
    let (number, words) = inner.split_once('%')?;
    let number = number.trim();
    let value = english(number.trim_start_matches('+'))?;
    let places = number.rsplit_once('.').map_or(0, |(_, d)| d.len().min(9));
    let step = 10_f64.powi(-i32::try_from(places).unwrap_or(0));
    (words.split_whitespace().count() <= 2).then_some(Some((value, step)))
}

/// `2.35x speedup`, as a change in per cent and the place of its last digit.
fn times(text: &str) -> Option<(f64, f64)> {
    let (number, word) = text.split_once('x')?;
    let known = matches!(
        word.trim(),
        "" | "speedup" | "slowdown" | "faster" | "slower"
    );
    let places = number.rsplit_once('.').map_or(0, |(_, d)| d.len().min(9));
    let step = 10_f64.powi(2 - i32::try_from(places).unwrap_or(0));
    known
        .then(|| english(number))
        .flatten()
        .map(|ratio| ((ratio - 1.0) * 100.0, step))
}

/// Whether a line is a bar, drawn for the figures above.
fn is_bar(text: &str) -> bool {
    let text = text.trim();
    let block = |c: char| matches!(c, '\u{2580}'..='\u{259f}' | char::REPLACEMENT_CHARACTER);
    !text.is_empty() && text.chars().all(block)
}

/// Lines with marks, one after the other.
fn arrows(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let mut taken: Vec<Taken> = Vec::new();
    let mut pairs: Vec<(usize, Pair<'_>)> = Vec::new();
    while let Some(text) = here(taken.len()).filter(|_| taken.len() < MOST) {
        if let Some(pair) = pair(text, !pairs.is_empty()) {
            pairs.push((taken.len(), pair));
            taken.push("two figures of one thing");
        } else if !pairs.is_empty() && is_bar(text) {
            taken.push("a bar");
        } else {
            break;
        }
    }
    let end = leave_measured(&mut pairs).unwrap_or(taken.len());
    taken.truncate(end);
    // Of what is called after configurations the arrow is no change from one to the other.
    let called: Vec<&str> = pairs.iter().map(|(_, pair)| pair.metric).collect();
    if called.len() >= 2 && are_configurations(&called) {
        return Some(Block {
            findings: Vec::new(),
            taken,
        });
    }
    runs_of(&pairs, taken)
}

/// A run for each side by its name, and doubts about changes that do not follow.
fn runs_of(pairs: &[(usize, Pair<'_>)], taken: Vec<Taken>) -> Option<Block> {
    let own = pairs.first()?.1.names.clone();
    let mut names = own.unwrap_or_else(|| ("before".to_owned(), "after".to_owned()));
    let mut block = Block {
        findings: Vec::new(),
        taken,
    };
    let mut runs: Vec<(usize, String, Vec<Figure>)> = Vec::new();
    for (at, pair) in pairs {
        let at = *at;
        if let Some(own) = &pair.names {
            names.clone_from(own);
        }
        let metric = pair.name();
        for (name, side) in [(&names.0, pair.first), (&names.1, pair.second)] {
            let mut figure = Figure::new(metric.clone(), side.value, pair.unit());
            figure.step = Some(side.step);
            match runs.iter_mut().find(|(_, known, _)| known == name) {
                // The same again is of something else, and nothing says of what.
                Some((_, _, figures)) if figures.iter().any(|f| f.metric == metric) => return None,
                Some((_, _, figures)) => figures.push(figure),
                None => runs.push((at, name.clone(), vec![figure])),
            }
        }
        if pair.contradicted {
            let detail = format!(
                "the change given for {metric} does not follow from {} and {}",
                pair.first.value, pair.second.value
            );
            block.find(at, Finding::Doubt("change-contradicts", detail));
        }
    }
    for (at, name, figures) in runs {
        let labels = Labels {
            configuration: Some(label(&name)),
            ..Labels::default()
        };
        block.find(at, Finding::Run { labels, figures });
    }
    block.findings.sort_by_key(|(at, _)| *at);
    Some(block)
}

/// `- 100G: rx goes from 50 Gbps to 92.8 Gbps (line rate).`
fn sentence(text: &str) -> Option<(&str, &str, Amount<'_>, Amount<'_>)> {
    let item = text.trim().strip_prefix(['-', '*', '•'])?.trim_start();
    let (place, rest) = item.split_once(": ")?;
    let (what, rest) = rest.split_once(" from ")?;
    let (first, rest) = amount(rest)?;
    let (word, rest) = rest.trim_start().split_once(' ')?;
    let (second, tail) = amount(rest)?;
    let tail = tail.trim().trim_end_matches('.');
    let said = tail.is_empty() || tail.starts_with('(') && tail.ends_with(')');
    let apart = !matches!(word, "and" | "or" | "by" | "in" | "with" | "of" | "at");
    let unit = is_measure(second.unit) && (first.unit.is_empty() || first.unit == second.unit);
    let fits = text.len() <= LONGEST
        && place.split_whitespace().count() <= WORDS
        && what.split_whitespace().count() <= WORDS
        && word.chars().all(char::is_alphabetic)
        && !is_code(text.trim())
        && !is_setting(what);
    (fits && said && apart && unit).then_some((place, what, first, second))
}

/// Sentences of one form, at least two.
fn sentences(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let said: Vec<_> = (0..MOST)
        .map_while(|at| sentence(line_at(lines, at).filter(|_| lines[at].depth == depth)?))
        .collect();
    let places: Vec<&str> = said.iter().map(|(place, ..)| *place).collect();
    let distinct = (1..places.len()).all(|at| !places[..at].contains(&places[at]));
    if said.len() < 2 || !distinct {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["two figures of one thing" as Taken; said.len()],
    };
    for (at, (place, what, first, second)) in said.into_iter().enumerate() {
        let unit = second.unit;
        let sides = [first, second].map(|side| {
            let mut figure = Figure::new(label(what), side.value, unit);
            figure.step = Some(side.step);
            vec![figure]
        });
        block.find_sides(at, Some(label(place)), BEFORE_AND_AFTER, sides);
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing::{self, told};

    /// Configuration, metric and value of all figures.
    fn figures(text: &str) -> Vec<(String, String, f64)> {
        testing::placed(&Pairs, text)
    }

    #[test]
    fn an_arrow_behind_a_configuration_is_no_change_to_it() {
        let text = |one: &str, other: &str| {
            format!(
                "{one}: 402.5 -> 330.5 Mbps (~17.9% less)\n{other}: 386.5 -> 314.5 Mbps (~18.6% less)\n"
            )
        };
        assert!(figures(&text("Base", "Patched")).is_empty());
        assert_eq!(figures(&text("Sending", "Receiving")).len(), 4);
    }

    #[test]
    fn what_stands_before_an_arrow_is_before_the_change() {
        assert_eq!(
            figures("  old: 554 IOPS → new: 535 IOPS  (~-3.4%)\n  avg clat: 57.7 ms → 59.8 ms"),
            told(&[
                ("old", "IOPS", 554.0),
                ("old", "avg clat", 57.7),
                ("new", "IOPS", 535.0),
                ("new", "avg clat", 59.8),
            ])
        );
        assert_eq!(
            figures("throughput: 1.2M -> 1.3M ops/s"),
            told(&[
                ("before", "throughput", 1.2e6),
                ("after", "throughput", 1.3e6)
            ])
        );
    }

    #[test]
    fn how_many_times_faster_it_is_may_stand_behind_with_a_bar_below() {
        let text = "image  paint_linear-512 26.13 -> 11.13: 2.35x speedup\n█▍\n\
                    image  paint_radial-256  6.47 ->  9.76: 1.51x slowdown\n▌\n";
        assert_eq!(
            figures(text),
            told(&[
                ("before", "image  paint_linear-512", 26.13),
                ("before", "image  paint_radial-256", 6.47),
                ("after", "image  paint_linear-512", 11.13),
                ("after", "image  paint_radial-256", 9.76),
            ])
        );
        // Without a unit it must follow from the figures.
        assert!(figures("offset of page 26.13 -> 11.13: 3.35x speedup\n").is_empty());
    }

    #[test]
    fn a_spread_behind_a_figure_is_none() {
        let text = "image  paint-512 26.13 0.18% -> 11.13 (11.51 0.77%):  2.35x speedup\n\
                    image  fill-256  (7.1 1.2%)  6.47 (6.63 2.10%) ->  9.76 0.10%: 1.51x slowdown\n";
        assert_eq!(
            figures(text.lines().next().unwrap()),
            told(&[
                ("before", "image  paint-512", 26.13),
                ("after", "image  paint-512", 11.13),
            ])
        );
        // A change is none.
        assert!(figures("image  paint-512 26.13 +0.18% -> 11.13\n").is_empty());
    }

    #[test]
    fn lines_of_one_form_are_measured_if_their_figures_have_digits_enough() {
        let line = |name: &str, a: &str, b: &str| format!("{name}:   {a} -> {b}\n");
        let three = |a: &str, b: &str| {
            line("copy_8", a, b) + &line("copy_16", a, b) + &line("fill_8", a, b)
        };
        let all = figures(&three("8.3769", "8.3380"));
        assert_eq!(all.len(), 6);
        assert_eq!(all[1], ("before".into(), "copy_16".into(), 8.3769));
        // Versions, settings, too few of them, and one name again.
        assert!(figures(&three("1.12", "1.13")).is_empty());
        assert!(figures(&three("512", "1024")).is_empty());
        assert!(figures(&line("copy_8", "8.3769", "8.3380")).is_empty());
        let again = line("copy_8", "8.3769", "8.3380").repeat(3);
        assert!(figures(&again).is_empty());
    }

    #[test]
    fn words_for_states_may_stand_before_both_figures() {
        assert_eq!(
            figures("MAP_TIME: before 104.4s -> after  90.4s  +13.4%\n"),
            [
                ("before".into(), "MAP_TIME".into(), 104.4),
                ("after".into(), "MAP_TIME".into(), 90.4)
            ]
        );
        for text in [
            "MAP_TIME: then 104.4s -> after 90.4s",
            "MAP_TIME: before 104.4s -> map 90.4s",
        ] {
            assert!(figures(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_name_in_brackets_is_that_of_the_second_figure() {
        assert_eq!(
            figures("- page copy:   37.77M vs. 42.40M(batch), +12%"),
            told(&[
                ("without batch", "page copy", 37.77e6),
                ("batch", "page copy", 42.4e6)
            ])
        );
        // Without a change that follows nothing says that they are two measurements.
        assert!(figures("- page copy: 37.77M vs. 42.40M(batch), +35%").is_empty());
    }

    #[test]
    fn names_of_both_figures_may_stand_behind_what_was_measured() {
        let told = told(&[("nopool", "IOPS", 412e3), ("pool", "IOPS", 431e3)]);
        for tail in ["", "  => +5%", " -> no difference"] {
            let text = format!("IOPS(nopool/pool): 412k vs 431k{tail}");
            assert_eq!(figures(&text), told, "{text}");
        }
        for text in [
            "IOPS(max): 412k vs 431k",
            "IOPS(a/b/c): 412k vs 431k",
            "IOPS(nopool/pool): 412k vs 431k => 12 more",
            "pages(nopool/pool): 412k vs 431k",
        ] {
            assert!(figures(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn settings_code_and_versions_are_no_measurements() {
        for text in [
            "timeout: 10 ms -> 20 ms",
            "runtime limit: 10 s -> 20 s",
            "v2 -> v3: rebased",
            "ptr->field: 5 -> 6",
            "nr_pages: 16 -> 32",
            "foo(): 12 ms -> 14 ms;",
            "index 73069f200cc5..30268ba07fd6 100644",
            "debounce: 5 ms -> 10 ms",
            "- a: moved from 5 to 6",
            "line 12 -> line 14",
        ] {
            assert!(figures(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn sentences_of_one_form_are_two_figures_each() {
        let post = "- 100G, 32 queues: rx goes from 50 Gbps to 92.8 Gbps (line rate).\n\
                    - 12 SSD: random read goes from 6M to 20.5M IOPS (max).";
        let all = figures(post);
        assert_eq!(all.len(), 4);
        assert_eq!(all[2].2, 6e6);
        assert!(figures(post.lines().next().unwrap()).is_empty());
        assert!(figures("- a: takes from 3 ms and 5 ms\n- b: takes from 4 ms and 6 ms").is_empty());
    }

    #[test]
    fn a_change_that_does_not_follow_is_a_doubt() {
        let block = Pairs
            .read(&testing::lines("throughput: 100 MB/s -> 110 MB/s (+25%)"))
            .unwrap();
        assert!(
            block
                .findings
                .iter()
                .any(|(_, f)| matches!(f, Finding::Doubt("change-contradicts", _)))
        );
        let right = Pairs
            .read(&testing::lines("throughput: 100 MB/s -> 110 MB/s (+10%)"))
            .unwrap();
        assert!(
            !right
                .findings
                .iter()
                .any(|(_, f)| matches!(f, Finding::Doubt(..)))
        );
    }

    #[test]
    fn one_figure_twice_is_left_alone() {
        assert!(figures("10 MB/s -> 11 MB/s\n12 MB/s -> 13 MB/s").is_empty());
    }
}
