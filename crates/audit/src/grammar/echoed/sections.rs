//! Lists below two headings or more, whose lines come again.

mod headings;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::figures::aligned;
use super::heading::{first_name, is_sentence, marked};
use super::is_report;
use super::shape::{self, Shape};
use crate::Line;
use crate::command;
use crate::grammar::cells::{label, line_at};
use crate::grammar::reports::REPORT;
use crate::grammar::table::{is_rule, wide_cells};
use crate::grammar::{self, Block, Finding, Labels, Taken};
use headings::sections;

/// So many lines that are not echoed end the last list.
const STRANGE: usize = 4;
/// No line that says what stands below it is longer.
const TITLE: usize = 72;

/// Lists below two headings or more that differ as configurations do.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut sections = sections(lines)?;
    if sections.iter().any(|section| is_sentence(section.name)) {
        return None;
    }
    let figures = |at: usize| line_at(lines, at).is_some_and(shape::has_digit);
    let mut two = sections.iter().take(2);
    if two.any(|s| !(s.at + 1..s.end).any(figures)) {
        return None;
    }
    let again = said_again(lines, &sections);
    let mut lists: Vec<Vec<Entry<'_>>> = sections
        .iter()
        .map(|section| entries(lines, section, &again))
        .collect();
    tell_apart(&mut lists);
    let first: Vec<String> = lists[0].iter().map(Entry::key).collect();
    // What stands below further items of a list, or headings, may be something else.
    let echoed = |list: &Vec<Entry<'_>>| list.iter().any(|entry| first.contains(&entry.key()));
    let other = |section: &Section<'_>| is_item(lines, section) || !first_name(section.name);
    while lists.len() > 2 && other(sections.last()?) && !lists.last().is_some_and(echoed) {
        lists.pop();
        sections.pop();
    }
    let last = lists.last_mut()?;
    let end = end_of_list(lines, sections.last()?.at, last, &first);
    last.retain(|entry| entry.at <= end);
    sections.last_mut()?.end = end + 1;
    if !comes_again(&lists, &first) || read_by_others(lines, &sections[0]) {
        return None;
    }
    for entry in lists.iter_mut().flatten() {
        let text = line_at(lines, entry.at).unwrap_or_default();
        entry.columns = columns(entry.header, text, &entry.shape);
    }
    block(&sections, &lists)
}

/// The text of a line, if it is quoted as the first is.
fn beside<'t>(lines: &'t [Line<'_>], at: usize) -> Option<&'t str> {
    line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth)
}

/// The line of the last list behind which its lines are no longer those of the first.
fn end_of_list(lines: &[Line<'_>], from: usize, list: &[Entry<'_>], first: &[String]) -> usize {
    let mut end = from;
    for entry in list.iter().filter(|entry| first.contains(&entry.key())) {
        let strange = (end + 1..entry.at)
            .filter_map(|at| beside(lines, at))
            .map(str::trim)
            .filter(|text| !text.is_empty() && !is_rule(text) && !shape::is_bar(text))
            .count();
        if end > from && strange > STRANGE {
            break;
        }
        end = entry.at;
    }
    end
}

/// Whether at least half of the lines with figures come again: of each further list in
/// the first, and of the first in the second.
fn comes_again(lists: &[Vec<Entry<'_>>], first: &[String]) -> bool {
    let echoed = |list: &Vec<Entry<'_>>| {
        let same = list.iter().filter(|e| first.contains(&e.key())).count();
        same > 0 && same * 2 >= list.len()
    };
    let second: Vec<String> = lists[1].iter().map(Entry::key).collect();
    let back = first.iter().filter(|key| second.contains(key)).count();
    lists.iter().skip(1).all(echoed) && back * 2 >= first.len()
}

/// A run for each section; none if one of them has no figures.
fn block(sections: &[Section<'_>], lists: &[Vec<Entry<'_>>]) -> Option<Block> {
    let end = sections.last()?.end;
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["text between" as Taken; end],
    };
    for (section, entries) in sections.iter().zip(lists) {
        block.taken[section.at] = "heading of lines that come again";
        for entry in entries {
            block.taken[entry.at] = "line that comes again";
        }
    }
    let tried = attempts(sections, lists);
    let mut unclear = false;
    for number in 0..tried.unwrap_or(1) {
        let own = match tried {
            Some(_) => aligned(&nth_of_each(lists, number)),
            None => aligned(lists),
        };
        unclear |= own.unclear;
        for (section, figures) in sections.iter().zip(own.figures) {
            if figures.is_empty() {
                return None;
            }
            let labels = Labels {
                configuration: Some(label(section.name)),
                repetition: tried.and_then(|_| u32::try_from(number + 1).ok()),
                ..Labels::default()
            };
            block.find(section.at, Finding::Run { labels, figures });
        }
    }
    if unclear {
        block.find(0, Finding::Unclear);
    }
    Some(block)
}

/// How often all that stands below a heading was done, if each heading says so and each of
/// its lines comes again as often: `Before (3 attempts):` over three lines of one form.
fn attempts(sections: &[Section<'_>], lists: &[Vec<Entry<'_>>]) -> Option<usize> {
    let mut told = sections.iter().map(|section| said_attempts(section.name));
    let first = told.next()??;
    let each = |list: &Vec<Entry<'_>>| {
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        for entry in list {
            *keys.entry(entry.key()).or_default() += 1;
        }
        keys.into_values().all(|count| count == first)
    };
    (told.all(|more| more == Some(first)) && lists.iter().all(each)).then_some(first)
}

/// `(3 attempts)`: how often a name in parentheses says that something was done, and no
/// mean of it.
fn said_attempts(name: &str) -> Option<usize> {
    const WORDS: [&str; 7] = [
        "attempts",
        "iterations",
        "repetitions",
        "rounds",
        "runs",
        "times",
        "tries",
    ];
    let (_, inner) = name.strip_suffix(')')?.rsplit_once('(')?;
    let (number, word) = inner.trim().split_once(' ')?;
    let counted = WORDS.contains(&word.trim().to_ascii_lowercase().as_str());
    let number = number
        .parse()
        .ok()
        .filter(|number| (2..=99).contains(number));
    number.filter(|_| counted)
}

/// Of the lines of one form below each heading those that stand at one place.
fn nth_of_each<'t>(lists: &[Vec<Entry<'t>>], number: usize) -> Vec<Vec<Entry<'t>>> {
    let of = |list: &Vec<Entry<'t>>| {
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        let own = list.iter().filter(|entry| {
            let met = keys.entry(entry.key()).or_default();
            *met += 1;
            *met == number + 1
        });
        own.cloned().collect()
    };
    lists.iter().map(of).collect()
}

/// Lines that differ in nothing but a word that looks like a number (`99.9%ile`), and come
/// again with the same ones in each section, are called by these.
fn tell_apart(lists: &mut [Vec<Entry<'_>>]) {
    let mut met: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for (list, number) in lists.iter().zip(0..) {
        for entry in list.iter().filter(|entry| !entry.shape.odd.is_empty()) {
            let all = met.entry(entry.key()).or_default();
            all.resize(number + 1, Vec::new());
            all[number].push(entry.shape.odd.join(" "));
        }
    }
    let sections = lists.len();
    met.retain(|_, all| {
        let distinct: BTreeSet<&String> = all[0].iter().collect();
        let several = distinct.len() > 1 && distinct.len() == all[0].len();
        several && all.len() == sections && all.iter().all(|own| *own == all[0])
    });
    for entry in lists.iter_mut().flatten() {
        if met.contains_key(&entry.key()) {
            entry.apart = entry.shape.odd.join(" ");
        }
    }
}

/// Whether a section begins with an item of a list.
fn is_item(lines: &[Line<'_>], section: &Section<'_>) -> bool {
    line_at(lines, section.at).and_then(marked).is_some()
}

/// What stands below one heading.
struct Section<'t> {
    name: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Section<'t> {
    /// One of which nothing but its heading is known.
    fn begin(name: &'t str, at: usize) -> Self {
        Section { name, at, end: at }
    }
}

/// A line of a section: what stands above it without figures, and its shape.
#[derive(Clone)]
pub(super) struct Entry<'t> {
    pub(super) at: usize,
    pub(super) above: String,
    /// What tells it apart from lines of the same words; mostly empty.
    pub(super) apart: String,
    /// The last line above without figures.
    header: &'t str,
    /// What a line above calls each of its numbers; empty if none does.
    pub(super) columns: Vec<Option<&'t str>>,
    pub(super) shape: Shape<'t>,
}

impl Entry<'_> {
    /// What a line is compared by.
    pub(super) fn key(&self) -> String {
        format!("{}\n{}{}", self.above, self.apart, self.shape.words)
    }
}

fn entries<'t>(
    lines: &'t [Line<'_>],
    section: &Section<'t>,
    again: &BTreeSet<&str>,
) -> Vec<Entry<'t>> {
    let (mut typed, mut above, mut header) = ("", String::new(), "");
    let several = again.iter().filter(|text| is_prompt(text)).count() >= 2;
    // Whether the line before was taken for a name of what stands below.
    let mut goes_on = false;
    let mut all = Vec::new();
    for at in section.at + 1..section.end {
        let Some(text) = beside(lines, at) else {
            continue;
        };
        let words = text.trim();
        let figures = shape::of(text).filter(|_| !again.contains(words));
        match figures {
            Some(shape) => {
                goes_on = false;
                all.push(Entry {
                    at,
                    above: format!("{typed} {above}").trim().to_owned(),
                    apart: String::new(),
                    header,
                    columns: Vec::new(),
                    shape,
                });
            }
            None if is_prompt(words) => {
                goes_on = false;
                if several && again.contains(words) {
                    (typed, above, header) = (words, String::new(), "");
                }
            }
            None if !is_title(text) && !again.contains(words) => goes_on = false,
            None => {
                header = text;
                let named = again.contains(words);
                if words.ends_with(':') && text.len() <= TITLE || named {
                    // Two lines that stand in each section name it together.
                    above = match goes_on && named {
                        true => format!("{above} {words}"),
                        false => words.to_owned(),
                    };
                    goes_on = named;
                }
            }
        }
    }
    all
}

/// Whether a line has words and no figures, and is no rule, fence, command or code.
fn is_title(text: &str) -> bool {
    let figure = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    text.contains(char::is_alphabetic)
        && !text
            .trim_start()
            .starts_with(['`', '$', '#', '<', '/', '.'])
        && !is_rule(text)
        && !shape::is_code(&unquoted(text.trim()))
        && !text.split_whitespace().any(figure)
}

/// A line that ends with a colon, without its quotes: `Get "rows" by index:`.
fn unquoted(text: &str) -> Cow<'_, str> {
    match text.ends_with(':') {
        true => Cow::Owned(text.replace('"', "")),
        false => Cow::Borrowed(text),
    }
}

/// Whether a line was typed: `>>> load(x)`, `$ make bench`.
fn is_prompt(text: &str) -> bool {
    [">>> ", "$ ", "% "]
        .iter()
        .any(|mark| text.starts_with(mark))
}

/// Lines of words that stand in several sections, but for headers of columns; they part
/// what stands below them if they are several.
fn said_again<'t>(lines: &'t [Line<'_>], sections: &[Section<'t>]) -> BTreeSet<&'t str> {
    let mut met: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (section, number) in sections.iter().zip(0..) {
        let own = (section.at + 1..section.end).filter_map(|at| beside(lines, at));
        for text in own.map(str::trim) {
            let fits = text.len() <= TITLE && wide_cells(text).len() < 2;
            let parts = is_title(text) || is_prompt(text);
            let figures = shape::of(text).is_some();
            // `name: 'lat', length: 1000000` is no measurement.
            let quoted = figures && text.contains('\'') && is_worded(text);
            if fits && (parts && !figures || quoted) {
                met.entry(text).or_default().insert(number);
            }
        }
    }
    met.retain(|_, numbers| numbers.len() >= 2);
    let several = met.len() >= 2;
    met.into_keys().filter(|_| several).collect()
}

/// Whether most of a line is words, and the first of it is none of a figure.
fn is_worded(text: &str) -> bool {
    let figure = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let figures = text.split_whitespace().filter(figure);
    text.starts_with(char::is_alphabetic) && figures.count() * 3 <= text.split_whitespace().count()
}

/// What the words of a line above call the numbers of a row, if they are as many: one
/// for each word with numbers, and maybe one for the name of the row.
fn columns<'t>(header: &'t str, text: &str, shape: &Shape<'_>) -> Vec<Option<&'t str>> {
    let figure = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let counts: Vec<usize> = text
        .split_whitespace()
        .filter(figure)
        .map(|word| shape::of(word).map_or(0, |shape| shape.fields.len()))
        .collect();
    // `root@host:~# cat /debug/pwm` names no columns.
    if command::find(header).is_some() {
        return Vec::new();
    }
    let wide = wide_cells(header);
    let words: Vec<&str> = header.split_whitespace().collect();
    let fits = |names: &Vec<&str>| {
        let keys = names.len().checked_sub(counts.len());
        counts.len() >= 2 && counts[0] > 0 && keys.is_some_and(|keys| keys <= 1)
    };
    let Some(names) = [wide, words].into_iter().find(fits) else {
        return Vec::new();
    };
    let named = !shape.fields[0].label.is_empty();
    if !named || counts.iter().sum::<usize>() != shape.fields.len() {
        return Vec::new();
    }
    let own = names[names.len() - counts.len()..].iter().zip(counts);
    // Of several numbers in a word, the name is that of the first.
    own.flat_map(|(name, count)| (0..count).map(move |at| (at == 0).then_some(*name)))
        .collect()
}

/// Whether formats that know what they read find it in a section.
fn read_by_others(lines: &[Line<'_>], section: &Section<'_>) -> bool {
    let (mut rows, mut figures) = (0, 0);
    let mut at = section.at + 1;
    while at < section.end {
        let text = line_at(lines, at).unwrap_or_default();
        let mut used = 1;
        for grammar in grammar::all() {
            let table = grammar.name() == "table";
            if text.trim().is_empty()
                || !is_report(grammar.name()) && !table
                || !grammar.starts(text)
            {
                continue;
            }
            if let Some(block) = grammar.read(&lines[at..]) {
                if grammar.name() == REPORT {
                    used = block.taken.len().max(1);
                    rows += used;
                    break;
                }
                if !table {
                    return true;
                }
                // A name and a figure in each row is what stands here.
                let wide = |(_, finding): &(usize, Finding)| match finding {
                    Finding::Grid(grid) => grid.header.columns.len() >= 2,
                    _ => true,
                };
                used = block.taken.len().max(1);
                rows += if block.findings.iter().any(wide) {
                    used
                } else {
                    0
                };
            }
        }
        let end = (at + used).min(section.end);
        let shaped = |at: usize| line_at(lines, at).is_some_and(|text| shape::of(text).is_some());
        figures += (at..end).filter(|at| shaped(*at)).count();
        at = end;
    }
    rows * 2 >= figures.max(1)
}
