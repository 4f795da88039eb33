//! Lists below two headings or more, whose lines come again.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::aligned;
use super::shape::{self, Shape};
use super::{CONTRAST, MOST, is_report};
use crate::Line;
use crate::admission::contrast::Name;
use crate::grammar::cells::{label, line_at};
use crate::grammar::table::{is_rule, wide_cells};
use crate::grammar::{self, Block, Finding, Labels, Taken};
use crate::roles::words::names_configuration;
use crate::roles::{configuration_name, difference};

/// The second heading stands at most so many lines below the first.
const REACH: usize = 160;
/// So many lines that are not echoed end the last list.
const STRANGE: usize = 4;
/// A heading of more words is a sentence, which may introduce anything.
const WORDS: usize = 7;
/// No line that says what stands below it is longer.
const TITLE: usize = 72;

/// Lists below two headings or more that differ as configurations do.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut sections = sections(lines)?;
    if sections.iter().any(|section| is_sentence(section.name)) {
        return None;
    }
    let figures = |at: usize| line_at(lines, at).is_some_and(shape::has_digit);
    if sections.iter().any(|s| !(s.at + 1..s.end).any(figures)) {
        return None;
    }
    let again = said_again(lines, &sections);
    let mut lists: Vec<Vec<Entry<'_>>> = sections
        .iter()
        .map(|section| entries(lines, section, &again))
        .collect();
    let first: Vec<String> = lists[0].iter().map(Entry::key).collect();
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

/// The sections from the first line on, each up to the heading of the next; at least two.
fn sections<'t>(lines: &'t [Line<'_>]) -> Option<Vec<Section<'t>>> {
    let first = heading(line_at(lines, 0)?).filter(|name| first_name(name))?;
    let mut sections = vec![Section {
        name: first,
        at: 0,
        end: 0,
    }];
    // What `differing` asks of each two of them.
    let mut names = vec![configuration_name(first)?];
    let mut at = 1;
    while let Some(text) = beside(lines, at).filter(|_| at <= REACH * sections.len()) {
        if let Some(name) = heading(text) {
            let again = sections.iter().any(|known| known.name == name);
            if again {
                break;
            }
            let contrasts = |new: &Name<'_>| names.iter().all(|n| difference(n, new) >= CONTRAST);
            if let Some(new) = configuration_name(name).filter(contrasts) {
                if sections.len() == MOST {
                    break;
                }
                sections.last_mut()?.end = at;
                sections.push(Section { name, at, end: at });
                names.push(new);
            }
        }
        at += 1;
    }
    sections.last_mut()?.end = at;
    (sections.len() >= 2).then_some(sections)
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
            .filter(|at| beside(lines, *at).is_some_and(|text| !text.trim().is_empty()))
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
    for (section, figures) in sections.iter().zip(aligned(lists)) {
        if figures.is_empty() {
            return None;
        }
        let labels = Labels {
            configuration: Some(label(section.name)),
            ..Labels::default()
        };
        block.find(section.at, Finding::Run { labels, figures });
    }
    Some(block)
}

/// Whether a heading says more than what was measured; what it says in parentheses apart.
fn is_sentence(name: &str) -> bool {
    let mut open = 0;
    let outside = name.split_whitespace().filter(|word| {
        let within = open > 0 || word.starts_with('(');
        open += word.matches('(').count();
        open = open.saturating_sub(word.matches(')').count());
        !within
    });
    outside.count() > WORDS
}

/// A line that may stand above figures: a name alone, or a sentence that ends with a colon.
fn heading(text: &str) -> Option<&str> {
    let marks = |c: char| matches!(c, '#' | '*' | '=' | '~' | '_' | '-' | ' ' | '•' | '`');
    let text = text.trim().trim_matches(marks);
    let (name, colon) = match text.strip_suffix(':') {
        Some(name) => (name.rsplit(['.', '!', '?']).next()?, true),
        None => (text, false),
    };
    let name = name.trim().trim_matches(marks);
    let (words, length) = if colon { (12, 90) } else { (4, 32) };
    let fits = name.len() >= 2
        && name.len() <= length
        && name.split_whitespace().count() <= words
        && name.starts_with(|c: char| c.is_alphanumeric() || c == '(' || c == '[')
        && !name.contains(['|', '\t', ';', '{', '}', '"', '<', '>', '$'])
        && !name.contains("  ")
        && !name.contains(": ")
        && !name.ends_with([',', '.', '/']);
    (fits && (colon || names_configuration(name))).then_some(name)
}

/// Whether a name is one that a first heading may have.
fn first_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    names_configuration(name) || lower.starts_with("no ") || lower.starts_with("current")
}

/// What stands below one heading.
struct Section<'t> {
    name: &'t str,
    at: usize,
    end: usize,
}

/// A line of a section: what stands above it without figures, and its shape.
pub(super) struct Entry<'t> {
    pub(super) at: usize,
    pub(super) above: &'t str,
    /// The last line above without figures.
    header: &'t str,
    /// What a line above calls each of its numbers; empty if none does.
    pub(super) columns: Vec<Option<&'t str>>,
    pub(super) shape: Shape<'t>,
}

impl Entry<'_> {
    /// What a line is compared by.
    pub(super) fn key(&self) -> String {
        format!("{}\n{}", self.above, self.shape.words)
    }
}

fn entries<'t>(
    lines: &'t [Line<'_>],
    section: &Section<'t>,
    again: &BTreeSet<&str>,
) -> Vec<Entry<'t>> {
    let (mut above, mut header) = ("", "");
    let mut all = Vec::new();
    for at in section.at + 1..section.end {
        let text = line_at(lines, at).unwrap_or_default();
        let words = text.trim();
        match shape::of(text) {
            Some(shape) => all.push(Entry {
                at,
                above,
                header,
                columns: Vec::new(),
                shape,
            }),
            None if is_prompt(words) && again.contains(words) => (above, header) = (words, ""),
            None if !is_title(text) => {}
            None => {
                header = text;
                if words.ends_with(':') && text.len() <= TITLE || again.contains(words) {
                    above = words;
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
        && !shape::is_code(text.trim())
        && !text.split_whitespace().any(figure)
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
        let own = (section.at + 1..section.end).filter_map(|at| line_at(lines, at));
        for text in own.map(str::trim) {
            let fits = text.len() <= TITLE && wide_cells(text).len() < 2;
            let parts = is_title(text) || is_prompt(text);
            if fits && parts && shape::of(text).is_none() {
                met.entry(text).or_default().insert(number);
            }
        }
    }
    met.retain(|_, numbers| numbers.len() >= 2);
    let several = met.len() >= 2;
    met.into_keys().filter(|_| several).collect()
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
    let wide = wide_cells(header);
    let words: Vec<&str> = header.split_whitespace().collect();
    let fits = |names: &Vec<&str>| {
        let keys = names.len().checked_sub(counts.len());
        counts.len() >= 2 && keys.is_some_and(|keys| keys <= 1)
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
