//! The lines above a block that say what the block is about.

mod machine;
mod nothing;

use crate::Line;
use crate::grammar::quantity::{is_measure, quantity};
use crate::grammar::table::is_rule;
use crate::roles::words::names_configuration;
use crate::states;
pub(crate) use machine::machine;
pub(crate) use nothing::{is_attribution, is_generic};
use nothing::{is_calculation, is_counted, is_letter_header, is_symbol, reads_files};

/// A heading: its text without decoration and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) text: String,
    pub(crate) at: usize,
}

/// A stretch of free lines without a blank between them.
struct Paragraph<'l> {
    at: usize,
    lines: Vec<&'l str>,
}

/// How far above a block headings are looked for.
const REACH: usize = 40;
/// The longest item of a list that is a heading.
const ITEM: usize = 240;
/// A line above such a name that is longer is part of a sentence.
const TITLE: usize = 40;
/// The longest sentence that is a heading.
const SENTENCE: usize = 240;
/// A name that ends with a colon has no more words.
const NAME: usize = 4;
/// Paragraphs looked at, nearest first.
const PARAGRAPHS: usize = 5;

/// The headings between line `from` and line `to` at the depth of line `to`,
/// outermost first; at most two, and two more that are underlined. `free` says which lines no block has taken.
pub(crate) fn above(
    lines: &[Line<'_>],
    from: usize,
    to: usize,
    free: &dyn Fn(usize) -> bool,
) -> Vec<Heading> {
    let depth = lines[to].depth;
    let from = from.max(to.saturating_sub(REACH));
    let mut found: Vec<Heading> = Vec::new();
    let mut skipped = false;
    for paragraph in paragraphs(lines, from, to, depth, free)
        .into_iter()
        .rev()
        .take(PARAGRAPHS)
    {
        let mut here = if found.len() < 2 {
            headings_of(&paragraph, to, !found.is_empty() || skipped)
        } else {
            underlined(&paragraph)
        };
        if here.is_empty() {
            skipped = true;
        }
        while let Some(heading) = here.pop() {
            found.push(heading);
        }
        if found.len() >= 4 {
            break;
        }
    }
    found.truncate(4);
    found.reverse();
    found
}

/// The heading of a block of quoted lines that stands right above them and is not quoted
/// itself: `Without the patch:` over what a terminal showed behind bars. It must name a
/// state, since else who answers says something of what is quoted.
pub(crate) fn above_quotation(
    lines: &[Line<'_>],
    from: usize,
    to: usize,
    free: &dyn Fn(usize) -> bool,
) -> Option<Heading> {
    let depth = lines[to].depth;
    let own = |at: &usize| lines[*at].depth >= depth || lines[*at].text.trim().is_empty();
    let at = (from.max(to.saturating_sub(REACH))..to)
        .rev()
        .take_while(|&at| free(at))
        .find(|at| !own(at))?;
    let text = lines[at].text.trim();
    let fits = text.ends_with(':') && is_short(text) && names_configuration(text);
    fits.then(|| heading(text, at)).flatten()
}

fn paragraphs<'l>(
    lines: &'l [Line<'_>],
    from: usize,
    to: usize,
    depth: u8,
    free: &dyn Fn(usize) -> bool,
) -> Vec<Paragraph<'l>> {
    let mut all: Vec<Paragraph<'l>> = Vec::new();
    let mut open = false;
    for (at, line) in lines.iter().enumerate().take(to).skip(from) {
        let text = line.text.trim();
        if line.depth != depth || !free(at) || text.is_empty() || is_fence(text) {
            open = false;
            continue;
        }
        // `Results :-` is `Results:`.
        let text = match text.ends_with(":-") {
            true => &text[..text.len() - 1],
            false => text,
        };
        match all.last_mut().filter(|_| open) {
            Some(last) => last.lines.push(text),
            None => all.push(Paragraph {
                at,
                lines: vec![text],
            }),
        }
        open = true;
    }
    all
}

/// A line that only says that what follows, or stood before, is printed as it is.
fn is_fence(text: &str) -> bool {
    let language = |rest: &str| rest.len() <= 20 && rest.bytes().all(|b| b.is_ascii_alphanumeric());
    let fenced = ["```", "~~~"].iter().any(|mark| {
        let rest = text.strip_prefix(mark);
        rest.is_some_and(|rest| language(rest.trim()))
    });
    let tags = [
        "<pre>",
        "</pre>",
        "<details>",
        "</details>",
        "{code}",
        "{noformat}",
        "{{{",
        "}}}",
    ];
    fenced || tags.contains(&text)
}

/// A rule, however short: `==`.
fn is_line(text: &str) -> bool {
    text == "==" || is_rule(text)
}

/// Lines with a rule below them, and a short one behind the last rule.
fn underlined(paragraph: &Paragraph<'_>) -> Vec<Heading> {
    let lines = &paragraph.lines;
    let ruled = |at: usize| lines.get(at).is_some_and(|line| is_line(line));
    let mut found: Vec<Heading> = (0..lines.len())
        .filter(|&at| !ruled(at) && ruled(at + 1) && is_short(lines[at]))
        .filter_map(|at| heading(lines[at], paragraph.at + at))
        .collect();
    let end = lines.len() - 1;
    let tail = end > 0 && ruled(end - 1) && !ruled(end) && is_short(lines[end]);
    if !found.is_empty() && tail && !is_typed(lines[end]) {
        found.extend(heading(lines[end], paragraph.at + end));
    }
    found
}

/// An item of a list right above a block, however long: `- wq max_active=8`,
/// `- at 4cbfd3de73 ("commit's subject")`.
fn item(text: &str) -> Option<&str> {
    let item = text.strip_prefix(['-', '*', '•'])?;
    let name = item.split(" (").next().unwrap_or(item).trim();
    let named = item.starts_with(' ') && text.len() <= ITEM && name.len() <= 72;
    (named && is_short(name) && (text.ends_with(')') || is_short(text))).then_some(name)
}

/// The last line of a paragraph right above a block, if it is an item too long for a short line.
fn long_item(paragraph: &Paragraph<'_>, to: usize) -> Option<Heading> {
    let lines = &paragraph.lines;
    let end = lines.len() - 1;
    let long = paragraph.at + lines.len() == to && lines[end].len() > 72;
    let name = long.then(|| item(lines[end])).flatten()?;
    heading(name, paragraph.at + end)
}

/// Commands of git right above a block: they made what was measured.
fn set_up(paragraph: &Paragraph<'_>, to: usize) -> Option<Heading> {
    const MADE: [&str; 6] = ["am", "apply", "checkout", "cherry-pick", "reset", "revert"];
    let made = |line: &&str| {
        let mut words = line.trim_start_matches(['$', '#', ' ']).split(' ');
        words.next() == Some("git") && words.next().is_some_and(|word| MADE.contains(&word))
    };
    let above = paragraph.at + paragraph.lines.len() == to;
    (above && paragraph.lines.iter().all(made)).then(|| Heading {
        text: paragraph.lines.join("; "),
        at: paragraph.at,
    })
}

/// `strong` asks for more than a short line: a colon, an underline, a mark.
fn headings_of(paragraph: &Paragraph<'_>, to: usize, strong: bool) -> Vec<Heading> {
    let mut lines = paragraph.lines.as_slice();
    if let [above @ .., aside] = lines
        && !above.is_empty()
        && is_aside(aside)
    {
        let named = Paragraph {
            at: paragraph.at,
            lines: above.to_vec(),
        };
        let adjacent = paragraph.at + lines.len() == to;
        return headings_of(&named, to - usize::from(adjacent), strong);
    }
    let several = underlined(paragraph);
    if several.len() >= 2 || !several.is_empty() && !is_line(lines[lines.len() - 1]) {
        return several;
    }
    if let Some(typed) = set_up(paragraph, to) {
        return vec![typed];
    }
    if let Some(found) = long_item(paragraph, to) {
        return vec![found];
    }
    let underlined = lines.len() >= 2 && is_line(lines[lines.len() - 1]);
    if underlined {
        lines = &lines[..lines.len() - 1];
    }
    while lines.first().is_some_and(|line| is_line(line)) && lines.len() > 1 {
        lines = &lines[1..];
    }
    let last = paragraph.at + (lines.len() - 1);
    let all_short = lines
        .iter()
        .all(|line| line.len() <= 48 && line.ends_with(':'));
    if lines.len() > 1 && all_short {
        return lines
            .iter()
            .enumerate()
            .filter_map(|(i, line)| heading(line, paragraph.at + i))
            .collect();
    }
    let text = lines[lines.len() - 1];
    if !underlined && let Some(stated) = by_state(paragraph, to) {
        return stated;
    }
    if lines.len() == 1 || underlined {
        let aside = !underlined && is_aside(text) && !text.ends_with(':');
        let marked = underlined || is_marked(text) || is_state_alone(text) || is_item_state(text);
        let named = marked || (!strong && is_short(text) && !is_typed(text));
        let found = heading(text, last).filter(|_| named && !aside);
        return found.into_iter().collect();
    }
    if text.ends_with(':') {
        return before_colon(lines, text, last);
    }
    Vec::new()
}

/// The headings of several lines, of which the last one, `text` on line `last`, ends with a colon.
fn before_colon(lines: &[&str], text: &str, last: usize) -> Vec<Heading> {
    // What stands above it is not wrapped: `Host: a, 8 CPUs` and `Before this change:`.
    let words = text.split_whitespace().count();
    let alone = (words == 1 || text.starts_with(char::is_uppercase) && words <= NAME)
        && names_configuration(text);
    let before = lines.len().checked_sub(2).and_then(|at| lines.get(at));
    if alone || is_bare_state(text) && before.is_some_and(|line| is_entry(line)) {
        return heading(text, last).into_iter().collect();
    }
    // A name below the title of all: no line of a paragraph is as short as that.
    if let [.., outer, _] = lines
        && words == 1
        && outer.len() <= TITLE
        && is_short(outer)
        && !is_typed(outer)
    {
        let both = [(*outer, last - 1), (text, last)].into_iter();
        return both.filter_map(|(text, at)| heading(text, at)).collect();
    }
    let above = &lines[..lines.len() - 1];
    // Two of them, each of which ends its line.
    if let [.., outer] = above
        && outer.ends_with(':')
        && !is_typed(outer)
        && let Some(outer) = last_sentence(above)
    {
        let both = [(&outer[..], last - 1), (text, last)].into_iter();
        return both.filter_map(|(text, at)| heading(text, at)).collect();
    }
    last_sentence(lines)
        .and_then(|sentence| heading(&sentence, last))
        .into_iter()
        .collect()
}

/// `Without this patch:` over `bs 4k` right above a block, or over anything else.
fn by_state(paragraph: &Paragraph<'_>, to: usize) -> Option<Vec<Heading>> {
    let end = paragraph.at + paragraph.lines.len();
    if let [rest @ .., outer, inner] = &paragraph.lines[..] {
        let named = end == to && inner.len() <= 48 && is_short(inner) && !is_typed(inner);
        let stated = rest.is_empty() && is_state(outer) || is_state_alone(outer);
        if named && stated {
            let both = [(*outer, end - 2), (*inner, end - 1)].into_iter();
            return Some(both.filter_map(|(text, at)| heading(text, at)).collect());
        }
    }
    let (first, below) = paragraph.lines.split_first()?;
    let stated = !below.is_empty() && is_bare_state(first);
    // It is of these figures, although no format reads them.
    let measured = end < to && below.iter().any(|line| is_measured(line));
    (stated && !measured).then(|| heading(first, paragraph.at).into_iter().collect())
}

/// `read: 1.5 ± 0.1 M/s, more or less`: a figure with its name, and the unit of something
/// measured.
fn is_measured(text: &str) -> bool {
    let figure = text.split_once([':', '=']);
    let figure = figure.and_then(|(_, rest)| quantity(rest.trim_start()));
    figure.is_some_and(|(figure, rest)| {
        is_measure(figure.unit) || rest.trim_start().starts_with(['±', '+'])
    })
}

/// `Before:` and `With this change:`, whatever stands on the lines below it.
fn is_bare_state(text: &str) -> bool {
    let first = states::first_word(text);
    let stated = matches!(first.as_str(), "with" | "without") || states::is_bare(&first);
    stated && is_state(text) && text.split_whitespace().count() <= NAME
}

/// `BEFORE` or `After this patch` with nothing else on the line.
fn is_state_alone(text: &str) -> bool {
    let words = text.split_whitespace().count();
    words <= NAME
        && is_short(text)
        && (states::is_state_of_all(text) && !text.contains([',', '(', '='])
            || words == 1 && states::is_bare(&states::first_word(text)))
}

/// `2. fua_disable = 0`: a section for each value of a setting.
fn is_item_state(text: &str) -> bool {
    let number = text.split_once(['.', ')']);
    number.is_some_and(|(number, rest)| {
        (1..=2).contains(&number.len())
            && number.bytes().all(|b| b.is_ascii_digit())
            && rest.starts_with(' ')
            && rest.contains('=')
            && is_short(rest)
    })
}

/// `sync speed: about 190MB/s`: a figure with its name, which no sentence goes on from.
fn is_entry(text: &str) -> bool {
    text.split_once(": ").is_some_and(|(name, rest)| {
        name.split_whitespace().count() <= 3 && rest.bytes().any(|b| b.is_ascii_digit())
    })
}

/// Whether a line says by its marks that it is a heading.
fn is_marked(text: &str) -> bool {
    text.ends_with(':') || text.starts_with(['#', '=']) || is_decorated(text)
}

/// `Without this patch:` on a line of its own.
fn is_state(text: &str) -> bool {
    text.len() <= 48 && text.ends_with(':') && names_configuration(text)
}

/// A line between marks that no sentence has: `**** 16 jobs, fsync ****`, `--- idle ---`.
fn is_decorated(text: &str) -> bool {
    let marks = |mark: char| {
        let from = text.chars().take_while(|c| *c == mark).count();
        let to = text.chars().rev().take_while(|c| *c == mark).count();
        from >= 2 && to >= 2 && from + to < text.len()
    };
    text.len() <= 100 && ['*', '-', '~', '+', '_'].into_iter().any(marks)
}

/// A command as it was typed, `iostat -x 1`, and not an option that was given or left out:
/// `without --verify`.
fn is_typed(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let program = |word: &str| {
        let typed = |b: u8| b.is_ascii_lowercase() || matches!(b, b'_' | b'.' | b'/');
        word.bytes().all(typed) && !matches!(word, "with" | "without")
    };
    words.next().is_some_and(program)
        && words
            .next()
            .is_some_and(|word| word.len() >= 2 && word.starts_with('-'))
}

/// A line that is no sentence.
fn is_short(text: &str) -> bool {
    text.len() <= 72
        && text.split_whitespace().count() <= 12
        && (!text.ends_with(['.', '!', '?', ';', '{', '}', '>']) || is_braced(text))
}

/// `base + {inlined helpers}`: what ends with a brace is a name if it holds the other too.
fn is_braced(text: &str) -> bool {
    let opened = text
        .strip_suffix('}')
        .and_then(|rest| rest.rsplit_once(" {"));
    opened.is_some_and(|(head, inner)| {
        head.starts_with(char::is_alphabetic)
            && !inner.trim().is_empty()
            && !format!("{head}{inner}").contains([';', '(', '{', '='])
    })
}

/// The last sentence of a paragraph that ends with a colon.
fn last_sentence(lines: &[&str]) -> Option<String> {
    let joined = lines[lines.len().saturating_sub(4)..].join(" ");
    let start = joined
        .match_indices(['.', '!', '?'])
        .filter(|(at, _)| {
            joined[at + 1..].starts_with(' ')
                && joined[at + 2..].starts_with(|c: char| c.is_uppercase())
        })
        .map(|(at, _)| at + 2)
        .next_back()
        .unwrap_or(0);
    let sentence = joined[start..].trim();
    if sentence.len() <= SENTENCE {
        return Some(sentence.to_string());
    }
    // Of a long one what stands behind its last comma.
    let (_, clause) = sentence.rsplit_once(", ")?;
    (clause.len() <= SENTENCE).then(|| clause.to_string())
}

/// Whether a whole line stands in parentheses: it says more of what the line above names.
fn is_aside(line: &str) -> bool {
    let text = line.trim().trim_end_matches(':');
    text.starts_with('(') && text.ends_with(')')
}

fn heading(text: &str, at: usize) -> Option<Heading> {
    if is_letter_header(text) || is_attribution(text) {
        return None;
    }
    let text = strip_marks(text);
    let printed = text.ends_with(" records in") || text.ends_with(" records out");
    let figures = is_calculation(text) || is_counted(text);
    if is_generic(text) || figures || is_symbol(text) || reads_files(text) || printed {
        return None;
    }
    (!text.is_empty() && text.bytes().any(|b| b.is_ascii_alphanumeric())).then(|| Heading {
        text: text.to_string(),
        at,
    })
}

fn strip_marks(text: &str) -> &str {
    let text = text
        .trim()
        .trim_matches(|c| matches!(c, '#' | '*' | '=' | '~' | '_' | '-' | ' ' | '•' | '`'));
    let text = match text.split_once([')', '.']) {
        Some((number, rest))
            if number.len() <= 2
                && rest.starts_with(' ')
                && number.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            rest
        }
        _ => text,
    };
    let text = text.strip_prefix("o ").unwrap_or(text);
    let text = text.strip_prefix("and with").map_or(text, |_| &text[4..]);
    text.trim().trim_end_matches([':', ',']).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let lines: Vec<Line<'_>> = text
            .lines()
            .enumerate()
            .map(|(i, t)| Line::plain(i as u32, t))
            .collect();
        above(&lines, 0, lines.len() - 1, &|_| true)
            .into_iter()
            .map(|h| h.text)
            .collect()
    }

    #[test]
    fn the_two_nearest_headings_are_taken_outermost_first() {
        assert_eq!(
            of("Some prose here.\n\nhackbench:\n\nbase:\nBLOCK"),
            ["hackbench", "base"]
        );
        assert_eq!(of("hackbench:\nbase:\nBLOCK"), ["hackbench", "base"]);
        assert_eq!(
            of("Results on x86\n=======\n\nWith this patch,\nBLOCK"),
            ["Results on x86", "With this patch"]
        );
    }

    #[test]
    fn what_stands_in_parentheses_below_a_heading_is_none() {
        assert_eq!(
            of("before:\n(times of the first shell):\nBLOCK"),
            ["before"]
        );
        assert_eq!(of("(first machine):\nBLOCK"), ["(first machine)"]);
        assert!(of("(on the first machine)\n\nBLOCK").is_empty());
    }

    #[test]
    fn an_option_that_was_given_or_not_is_a_heading_and_a_command_is_none() {
        for text in ["with --direct=1", "without -q"] {
            assert_eq!(of(&format!("{text}\n\nBLOCK")), [text]);
        }
        assert!(of("iostat -x 1\n\nBLOCK").is_empty());
    }

    #[test]
    fn lines_between_marks_are_headings_above_others() {
        for section in ["**** 16 jobs, 1 GiB ****", "--- 16 jobs, 1 GiB ---"] {
            assert_eq!(
                of(&format!("{section}\n\nbefore this change:\n\nBLOCK")),
                ["16 jobs, 1 GiB", "before this change"]
            );
        }
        assert_eq!(
            of("(+3.5% throughput)\n\nbefore this change:\n\nBLOCK"),
            ["before this change"]
        );
    }

    #[test]
    fn counters_symbols_and_logs_are_no_headings() {
        for text in [
            "40,168      dTLB-miss",
            "1.013131404   50939   sched:sched_switch",
            "__take.constprop.0",
            "---Logs---",
            "Changes:",
        ] {
            assert!(of(&format!("{text}\n\nBLOCK")).is_empty(), "{text}");
        }
        for text in [
            "8 threads",
            "5.10 kernel",
            "6.1.55 + series",
            "take_fast",
            "With changes",
        ] {
            assert_eq!(of(&format!("{text}:\n\nBLOCK")), [text]);
        }
    }

    #[test]
    fn a_state_on_the_first_line_of_a_paragraph_is_a_heading() {
        for text in [
            "Before:\nLast commit:\nb3b1ba7b8c0d a subject that is\nwrapped\n\nBLOCK",
            "Before:\nfio --bs=4k\nBLOCK",
        ] {
            assert_eq!(of(text), ["Before"], "{text}");
        }
        for text in [
            "I saw this:\nit is slow, and then\nno more\n\nBLOCK",
            "fio-3.19\nBLOCK",
        ] {
            assert!(of(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_state_may_stand_right_above_what_was_done() {
        assert_eq!(
            of("Without this patch:\nbs 4k\nBLOCK"),
            ["Without this patch", "bs 4k"]
        );
        // The first line is no state.
        assert!(of("I ran this:\nbs 4k\nBLOCK").is_empty());
    }

    #[test]
    fn a_heading_stands_over_what_is_quoted_if_it_names_a_state() {
        let of = |text: &str| {
            let lines: Vec<Line<'_>> = (0..)
                .zip(text.lines())
                .map(|(number, text)| {
                    let quoted = text.strip_prefix("| ");
                    let mut line = Line::plain(number, quoted.unwrap_or(text));
                    line.depth = u8::from(quoted.is_some());
                    line
                })
                .collect();
            let free = |at: usize| lines[at].text != "USED";
            let found = above_quotation(&lines, 0, lines.len() - 1, &free);
            found.map(|heading| heading.text)
        };
        assert_eq!(
            of("Without the patch:\n\n| # dd\n| 12 records\n| BLOCK").as_deref(),
            Some("Without the patch")
        );
        for text in [
            "I do not see that:\n\n| BLOCK",
            "On Monday, the author of the patch wrote:\n| BLOCK",
            "Without the patch it is slow.\n\n| BLOCK",
            "Without the patch:\n\nThis is it.\n| BLOCK",
            "Without the patch:\n\n| USED\n| BLOCK",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn the_last_sentence_before_a_colon_is_a_heading() {
        assert_eq!(
            of("No regression was seen. Results with\nthe old timer:\n\nBLOCK"),
            ["Results with the old timer"]
        );
    }

    #[test]
    fn a_name_below_a_short_title_is_a_heading_of_its_own() {
        assert_eq!(
            of("Suite of programs (+6.4%)\n  ring_gate:\nBLOCK"),
            ["Suite of programs (+6.4%)", "ring_gate"]
        );
        // A word that ends a sentence is none.
        assert_eq!(
            of(
                "These are the figures of all programs of the suite as they were with the\ngate:\nBLOCK"
            ),
            ["These are the figures of all programs of the suite as they were with the gate"]
        );
    }

    #[test]
    fn underlined_lines_are_headings_wherever_they_stand() {
        assert_eq!(
            of("after the change:\n======\niostat output\n------\nBLOCK"),
            ["after the change", "iostat output"]
        );
        assert_eq!(
            of("bound to node 0\n======\nclient output,\nBLOCK"),
            ["bound to node 0", "client output"]
        );
        assert_eq!(
            of(
                "Some words.\n\n- at 4cbfd3de73 (\"a subject that is so long that no line holds it, nor two\")\nBLOCK"
            ),
            ["at 4cbfd3de73"]
        );
        assert!(of("- a sentence that goes on for so long that it is none of the headings, as it is none\nBLOCK").is_empty());
    }

    #[test]
    fn a_state_alone_is_a_heading_above_another_one() {
        assert_eq!(
            of("BEFORE\n\nfigures of the small box\n\nBLOCK"),
            ["BEFORE", "figures of the small box"]
        );
        assert_eq!(
            of("Results:\nAfter this patch\n1) rates:\nBLOCK"),
            ["After this patch", "rates"]
        );
        for text in [
            "New numbers of everything\n\nfigures of the small box\n\nBLOCK",
            "Before and after\n\nfigures of the small box\n\nBLOCK",
        ] {
            assert_eq!(of(text), ["figures of the small box"], "{text}");
        }
    }

    #[test]
    fn two_lines_that_end_with_a_colon_are_two_headings() {
        let text = "Numbers for a block device :-\n1. With the patch and use_vfs=0, which is the default:-\nx";
        let first = "Numbers for a block device :";
        let second = "1. With the patch and use_vfs=0, which is the default:";
        let stripped = |text: &str| strip_marks(text).to_owned();
        assert_eq!(of(text), [first, second].map(stripped));
        let merged =
            "The following commit has been merged into the perf/urgent branch of tip:\n\nx";
        assert!(of(merged).is_empty());
        assert_eq!(of("The following commit was measured, too:\n\nx").len(), 1);
    }

    #[test]
    fn a_numbered_setting_is_a_heading_above_numbered_tests() {
        let text = "2. lazy_flush = 0 (default 0)\n\nEach was done 5 times.\n\n1) Random read:\nx";
        assert_eq!(of(text), ["lazy_flush = 0 (default 0)", "Random read"]);
        let text = "2. I tried it again\n\nEach was done 5 times.\n\n1) Random read:\nx";
        assert_eq!(of(text), ["Random read"]);
    }

    #[test]
    fn a_state_below_a_figure_is_no_end_of_a_sentence() {
        assert_eq!(
            of("resync speed: about 190MB/s\nwith my patch:\nBLOCK"),
            ["with my patch"]
        );
        assert_eq!(
            of("These are the numbers of a run\nwith my patch:\nBLOCK"),
            ["These are the numbers of a run with my patch"]
        );
    }

    #[test]
    fn commands_of_git_say_what_was_measured() {
        assert_eq!(
            of("git reset --hard v4.19\ngit cherry-pick -x 9316a9ed\nBLOCK"),
            ["git reset --hard v4.19; git cherry-pick -x 9316a9ed"]
        );
        assert!(
            of("git log --oneline\nBLOCK")
                .iter()
                .all(|h| !h.contains(';'))
        );
    }

    #[test]
    fn a_name_may_end_with_a_brace_if_it_is_no_code() {
        assert_eq!(
            of("base + {small helpers}\nBLOCK"),
            ["base + {small helpers}"]
        );
        for text in ["if (x) { y }\nBLOCK", "struct foo {}\nBLOCK", "}\nBLOCK"] {
            assert!(of(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn letter_headers_and_attributions_are_no_headings() {
        assert!(of("From: Some Body\n\nBLOCK").is_empty());
        assert!(of("On Monday, X wrote:\n\nBLOCK").is_empty());
        assert!(of("This is only a sentence.\nBLOCK").is_empty());
        assert!(of("Raw numbers:\n\nBLOCK").is_empty());
    }

    #[test]
    fn means_done_by_hand_and_commands_that_show_files_are_no_headings() {
        for text in [
            "(12.5+12.9+12.1)/3 = 12.5\nBLOCK",
            "box (old) # grep -w IOPS *.log\nBLOCK",
            "me@box:~$ cat results.txt\nBLOCK",
            "512+0 records out\nBLOCK",
        ] {
            assert!(of(text).is_empty(), "{text}");
        }
        for text in ["8 * 4k = 32k\nBLOCK", "Test #3, grep of a tree:\nBLOCK"] {
            assert_eq!(of(text).len(), 1, "{text}");
        }
    }
}
