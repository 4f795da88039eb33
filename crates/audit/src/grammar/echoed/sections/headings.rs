//! Which headings below each other are those of sections, and how far each reaches.

use super::{Section, beside};
use crate::Line;
use crate::admission::contrast::Name;
use crate::grammar::cells::line_at;
use crate::grammar::echoed::heading::{
    Named, alike, differ_in_number, first_name, is_sentence, marked,
};
use crate::grammar::echoed::{CONTRAST, MOST, shape};
use crate::grammar::table::is_rule;
use crate::roles::difference;
use crate::states::begins_with_state;

/// The second heading stands at most so many lines below the first.
const REACH: usize = 320;
/// No further heading is looked for behind so many in a row that name no configuration
/// beside those found.
const HEADINGS: usize = 24;

/// The sections from the first line on, each up to the heading of the next; at least two.
pub(super) fn sections<'t>(lines: &'t [Line<'_>]) -> Option<Vec<Section<'t>>> {
    let first = Named::of(lines.first()?)?;
    // What a rule stands below is a heading, and the next one may say what it is.
    let told = first.is_first();
    if !(told || is_underlined(lines)) || is_above_another(lines) || is_changelog(lines) {
        return None;
    }
    let mut sections = vec![Section::begin(first.name, 0)];
    // What `differing` asks of each two of them.
    let mut names = Vec::new();
    let (mut at, mut others) = (1, 0);
    let mark = line_at(lines, 0).and_then(marked);
    while let Some(next) = next_beside(lines, at).filter(|_| others < HEADINGS) {
        if at > REACH * sections.len() {
            break;
        }
        at = next;
        let text: &str = &lines[at].text;
        let item = mark.is_some() && marked(text) == mark && !shape::has_digit(text);
        let item_of = || item.then(|| Named::item(text));
        if let Some(named) = Named::of(&lines[at]).or_else(item_of) {
            let Named { name, .. } = named;
            if sections.iter().any(|known| known.name == name) {
                break;
            }
            // A heading right below another one, or one that comes again, is of what stands
            // below both, unless it names a configuration itself.
            let from = sections.last().map_or(0, |section| section.at);
            if !named.is_first() && is_inner(lines, from, at) {
                at += 1;
                continue;
            }
            // Most first headings have no other below them, for which they would be needed.
            if names.is_empty() {
                names.push(first.configuration()?);
            }
            let follows = follows(&sections, name, item);
            let contrasts = |new: &Name| names.iter().all(|n| difference(n, new) >= CONTRAST);
            let new = named.configuration();
            if let Some(new) = new.filter(|new| follows || contrasts(new)) {
                if sections.len() == MOST {
                    break;
                }
                sections.last_mut()?.end = at;
                sections.push(Section::begin(name, at));
                names.push(new);
                others = 0;
            } else if sections.iter().any(|known| alike(known.name, name)) {
                // It is of something else than the heading before, and nobody knows what.
                return None;
            } else {
                others += 1;
            }
        }
        at += 1;
    }
    sections.last_mut()?.end = at;
    let named = told || sections[1..].iter().all(|section| first_name(section.name));
    (sections.len() >= 2 && named).then_some(sections)
}

/// Whether a heading stands right below the one before, or comes again.
fn is_inner(lines: &[Line<'_>], from: usize, at: usize) -> bool {
    let figures = |at: usize| line_at(lines, at).is_some_and(shape::has_digit);
    let elsewhere = || beside(lines, at).is_some_and(|text| stands_elsewhere(lines, at, text));
    !(from + 1..at).any(figures) || elsewhere()
}

/// Whether the headings before say that this one is a configuration too, however little
/// it differs: it is an item of their list, or differs from one of them in a number.
fn follows(sections: &[Section<'_>], name: &str, item: bool) -> bool {
    // Two items of a list that contrast say what the others are.
    let listed = item && sections.len() >= 2 && !is_sentence(name);
    let mut known = sections[1..].iter().map(|section| section.name);
    listed || known.any(|known| differ_in_number(known, name))
}

/// Whether a rule and nothing else stands between the first line, which ends with a colon,
/// and a line of figures.
fn is_underlined(lines: &[Line<'_>]) -> bool {
    let colon = line_at(lines, 0).is_some_and(|text| text.trim_end().ends_with(':'));
    let figures = |at: usize| beside(lines, at).is_some_and(shape::has_digit);
    colon && beside(lines, 1).is_some_and(is_rule) && (figures(2) || figures(3))
}

/// Whether the first line names a version of a series and the next one says what changed in
/// it: `v2:` above `- Added a test for it`.
fn is_changelog(lines: &[Line<'_>]) -> bool {
    let version = line_at(lines, 0).is_some_and(|text| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| {
            let number = word.strip_prefix(['v', 'V']).unwrap_or_default();
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        })
    });
    let item = beside(lines, 1).is_some_and(|text| {
        let text = text.trim_start();
        text.starts_with(['-', '*']) && text.split_whitespace().count() > 3
    });
    version && item
}

/// The next line from one on that is quoted as the first is. An answer without figures
/// between quoted lines is passed over.
fn next_beside(lines: &[Line<'_>], at: usize) -> Option<usize> {
    /// No answer between two parts of what is compared is longer.
    const ANSWER: usize = 12;
    let depth = lines.first()?.depth;
    for (next, line) in lines.iter().enumerate().skip(at).take(ANSWER) {
        if line.depth == depth {
            return Some(next);
        }
        if line.depth > depth || shape::has_digit(&line.text) {
            return None;
        }
    }
    None
}

/// Whether nothing stands between the first line and a heading that names a
/// configuration: what stands below is that one's.
fn is_above_another(lines: &[Line<'_>]) -> bool {
    let mut below = (1..4).map_while(|at| beside(lines, at).map(|_| &lines[at]));
    let next = below.find(|line| !line.text.trim().is_empty());
    let next = next.filter(|line| !shape::has_digit(&line.text));
    let outer = lines.first().and_then(Named::of);
    let outer = outer.is_some_and(|outer| begins_with_state(outer.name));
    !outer && next.and_then(Named::of).is_some_and(Named::is_first)
}

/// Whether a line stands in another place too.
fn stands_elsewhere(lines: &[Line<'_>], at: usize, text: &str) -> bool {
    (1..at + REACH)
        .map_while(|other| Some((other, beside(lines, other)?)))
        .any(|(other, same)| other != at && same == text)
}
