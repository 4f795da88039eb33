//! The lines above a block that say what the block is about.

use crate::correspondence::{is_attribution, is_correspondence};
use crate::grammar::units::is_measure;
use crate::line::Line;
use crate::numbers;
use crate::states::{side, state_at_end};

/// A heading: its text without decoration and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) text: String,
    pub(crate) at: usize,
}

/// How far above a block headings are looked for.
const REACH: usize = 40;
/// Paragraphs looked at, nearest first.
const PARAGRAPHS: usize = 8;
/// Maximum length in bytes and in words of a heading that is not marked as one.
const SHORT: (usize, usize) = (72, 12);
/// The longest heading.
const LONGEST: usize = 240;
/// Words of headings that name nothing.
#[rustfmt::skip]
const GENERIC: [&str; 22] = [
    "results", "result", "numbers", "benchmark", "benchmarks", "output", "data", "here", "are",
    "is", "the", "and", "of", "test", "tests", "raw", "some", "performance", "measurements",
    "summary", "following", "as",
];

/// The headings between line `from` and line `to` at the depth of line `to`, outermost first;
/// at most two. `free` says which lines no block has taken.
pub(crate) fn above(
    lines: &[Line<'_>],
    from: usize,
    to: usize,
    free: &dyn Fn(usize) -> bool,
) -> Vec<Heading> {
    let depth = lines[to].depth;
    let from = from.max(to.saturating_sub(REACH));
    let mut found: Vec<Heading> = Vec::new();
    let (mut end, mut paragraphs) = (to, 0);
    // Whether only blank lines and a fence stand below a paragraph.
    let mut fenced = false;
    while end > from && paragraphs < PARAGRAPHS && found.len() < 2 {
        let inside = |at: &usize| {
            let text = lines[*at].text.trim();
            lines[*at].depth == depth && free(*at) && !text.is_empty() && !is_fence(text)
        };
        let begin = (from..end).rev().take_while(inside).last().unwrap_or(end);
        if begin < end {
            let texts: Vec<&str> = lines[begin..end]
                .iter()
                .map(|line| line.text.trim())
                .collect();
            let heading = heading_of(&texts, begin, paragraphs > 0, fenced);
            fenced = false;
            found.extend(heading.filter(|heading| !names_nothing(&heading.text)));
            paragraphs += 1;
        }
        let above = begin.checked_sub(1).map(|at| lines[at].text.trim());
        fenced |= above.is_some_and(is_fence) && begin == end;
        end = begin.saturating_sub(usize::from(begin > from)).min(end - 1);
    }
    found.reverse();
    found
}

/// The heading that a paragraph is or ends with. If it is `far`, it must be marked as one, and if
/// not `fenced`, it is no number alone.
fn heading_of(texts: &[&str], at: usize, far: bool, fenced: bool) -> Option<Heading> {
    let ruled = texts.len() >= 2 && is_rule(texts[texts.len() - 1]);
    let texts = &texts[..texts.len() - usize::from(ruled)];
    // What was printed before the block is no heading, and one above it needs a mark.
    let printed = texts.iter().rev().take_while(|text| prints_a_figure(text));
    let printed = printed.count();
    let (texts, far) = (&texts[..texts.len() - printed], far || printed > 0);
    let (last, above) = texts.split_last()?;
    let heading = |text: &str| {
        let text = strip_marks(text);
        let joins = ["and ", "vs ", "vs. "];
        let bare = joins.iter().find_map(|word| text.strip_prefix(word));
        let text = bare.or_else(|| state_at_end(text)).unwrap_or(text);
        let named = text.chars().any(char::is_alphanumeric) && text.len() <= LONGEST;
        let said = is_attribution(text) || is_correspondence(text);
        (named && !said).then(|| Heading {
            text: text.to_owned(),
            at: at + texts.len() - 1,
        })
    };
    if last.ends_with(':') {
        return joined(texts).and_then(|text| heading(&text));
    }
    let words = last.split_whitespace().count();
    let short = last.len() <= SHORT.0
        && words <= SHORT.1
        && !last.ends_with(['.', '!', '?', ';', ',', '{', '}']);
    let dashed = last.starts_with("--- ");
    let marked = ruled || dashed || last.starts_with(['#', '=']) || is_decorated(last);
    // A number that stands alone was printed by something.
    let is_word = fenced || last.chars().any(char::is_alphabetic);
    let ends = |line: &&str| line.ends_with([':', '.']);
    let state = words <= 2 && side(strip_marks(last)).is_some();
    let alone = state || above.last().is_none_or(ends);
    let alone = alone && !far && !is_typed(last) && is_word;
    let item = !far && last.starts_with(['-', '*']) && last.get(1..2) == Some(" ");
    (marked || short && (alone || item))
        .then(|| heading(last))
        .flatten()
}

/// Whether a line shows what was measured: `fillseq: 3.1 us/op`. `V6.4 (~40us late)` and `delay of
/// 10 us` are names.
fn prints_a_figure(text: &str) -> bool {
    let Some(sign) = text.find([':', '=']).filter(|_| !text.ends_with(':')) else {
        return false;
    };
    let bare = numbers::find(text.split_once(" (").map_or(text, |(bare, _)| bare));
    let unit = bare.iter().any(|one| one.at > sign && is_measure(one.unit));
    // `lat (usec): min=13, max=7854, avg=31.15`
    let all = numbers::find(text).into_iter();
    unit || all.filter(|one| text[..one.at].ends_with('=')).count() > 2
}

/// Joins the lines of the sentence that ends with the colon of the last one.
fn joined(texts: &[&str]) -> Option<String> {
    let (_, above) = texts.split_last()?;
    // A line that a mark ends, or a short one above a capital letter, ended by itself.
    let goes_on = |at: &usize| {
        let small = texts[at + 1].starts_with(|c: char| c.is_lowercase());
        let ended = texts[*at].ends_with(['.', ':', '!', '?', ';']) || texts[*at].contains(": ");
        // `finished in 40.09s, 64985.35 req/s`
        let all = numbers::find(texts[*at]).into_iter();
        let printed = all.filter(|one| is_measure(one.unit)).count() > 1;
        !ended && !printed && (texts[*at].len() > 40 || small)
    };
    let open = (0..above.len()).rev().take_while(goes_on).count();
    let text = texts[above.len() - open..].join(" ");
    Some(
        text.rfind(". ")
            .map_or(text.clone(), |at| text[at + 2..].to_owned()),
    )
}

/// Whether a line opens or closes a block of preformatted text.
pub(crate) fn is_fence(text: &str) -> bool {
    let mut tags = "<pre>|</pre>|<details>|</details>|{code}|{noformat}".split('|');
    text.starts_with("```") || text.starts_with("~~~") || tags.any(|tag| tag == text)
}

/// Whether a line consists of marks only.
pub(crate) fn is_rule(text: &str) -> bool {
    text.len() >= 2 && text.bytes().all(|b| b"-=~_*+| ".contains(&b)) && !text.trim().is_empty()
}

/// Whether a line is enclosed in marks, as no sentence is: `**** 16 jobs, fsync ****`.
fn is_decorated(text: &str) -> bool {
    ["**", "--", "~~", "++", "__", "=="].iter().any(|mark| {
        let inner = text
            .strip_prefix(mark)
            .and_then(|text| text.strip_suffix(mark));
        inner.is_some_and(|inner| inner.chars().any(char::is_alphanumeric))
    })
}

/// A command as it was typed: `iostat -x 1`.
fn is_typed(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let program = words.next().unwrap_or_default();
    let typed = program
        .bytes()
        .all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'.' | b'/'));
    let option = words
        .next()
        .is_some_and(|word| word.len() >= 2 && word.starts_with('-'));
    typed && option && !matches!(program, "with" | "without")
}

/// A heading without what decorates it.
fn strip_marks(text: &str) -> &str {
    let text = text.trim_start_matches(['#', '=', '*', '~', '_', '\u{2022}', ' ']);
    let text = text
        .strip_prefix("- ")
        .or(text.strip_prefix("--- "))
        .unwrap_or(text.trim_start_matches("--"));
    text.trim_end_matches(['#', '=', '*', '~', '_', ':', '-', ' '])
        .trim()
}

/// Whether a heading names nothing: `Here are some numbers`.
fn names_nothing(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty());
    words.all(|word| GENERIC.contains(&word.to_lowercase().as_str()))
        || text.starts_with("Run status group")
}

/// The machine that a line names: `Host: a1 (96 X 1925 MHz), 5.19`.
pub(crate) fn machine(text: &str) -> Option<&str> {
    const MACHINES: [&str; 6] = ["host", "machine", "platform", "board", "hardware", "system"];
    let (key, value) = text.split_at(memchr::memchr(b':', text.as_bytes())?);
    let key = strip_marks(key);
    let name = value[1..]
        .split([',', '(', ';'])
        .next()?
        .trim()
        .trim_matches(['*', '`']);
    // `System: 12.3 s` is a time.
    let named = name.starts_with(char::is_alphabetic) && name.len() <= 60;
    (named && MACHINES.iter().any(|known| known.eq_ignore_ascii_case(key))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headings of the last of some lines, which bars part.
    fn found(texts: &str) -> String {
        let lines: Vec<Line<'_>> = (1..)
            .zip(texts.split('|'))
            .map(|(at, text)| Line::plain(at, text))
            .collect();
        let headings = above(&lines, 0, lines.len() - 1, &|_| true);
        let texts: Vec<String> = headings.into_iter().map(|heading| heading.text).collect();
        texts.join(", ")
    }

    #[test]
    fn a_short_line_or_one_with_a_mark_is_a_heading() {
        for (texts, headings) in [
            ("Before:|12", "Before"),
            ("V6.4 (~40us late)||12", "V6.4 (~40us late)"),
            ("best of 3: 768 ns per loop||12", ""),
            ("--- with the change|fill: 3.1 us/op|12", "with the change"),
            ("With it:|lat (us): min=1, avg=3.5, max=9|12", "With it"),
            ("audio playback (Android)|12", "audio playback (Android)"),
            ("hackbench:||patched:||12", "hackbench, patched"),
            ("base|====|12", "base"),
            ("## With the patch ##|12", "With the patch"),
            ("- with the patch|12", "with the patch"),
            (
                "Some text. With IRQ putting of jobs (flags =|BYPASS):|12",
                "With IRQ putting of jobs (flags = BYPASS)",
            ),
            ("We measured it again.|12", ""),
            ("iostat -x 1|12", ""),
            ("Results:|12", ""),
            ("On Monday, A wrote:|12", ""),
            ("Tested-by: A Tester|12", ""),
            ("one line of a text|and another one|12", ""),
            ("A Name, 12 May|before|12", "before"),
            ("far above||and that was it.||12", ""),
            ("new:|done in 40.5s, 65.5 req/s|wrk:|12", "wrk"),
        ] {
            assert_eq!(found(texts), headings, "{texts}");
        }
    }

    #[test]
    fn a_line_may_name_the_machine() {
        assert_eq!(machine("Host: a1 (96 CPUs), 5.19"), Some("a1"));
        assert_eq!(machine("System: 12.3 s"), None);
    }
}
