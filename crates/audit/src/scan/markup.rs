//! Tags of HTML in plain text, as people put them into Markdown: `<summary>Before</summary>`.

use std::borrow::Cow;

use crate::grammar::grid::Cell;
use crate::line::Line;

/// Tags that are stripped.
#[rustfmt::skip]
const TAGS: [&str; 34] = [
    "a", "b", "br", "center", "code", "details", "div", "em", "font", "h1", "h2", "h3", "h4", "hr",
    "i", "kbd", "li", "ol", "p", "pre", "samp", "small", "span", "strong", "sub", "summary", "sup",
    "table", "tbody", "tfoot", "thead", "tr", "tt", "ul",
];
/// Most lines of a row of a table.
const ROW: usize = 40;
/// Most columns that a cell spans.
const MOST_SPANNED: usize = 12;
/// Longest tag.
const LONGEST: usize = 300;

/// Strips tags. Cells of tables are parted by bars, and a row is one line. Returns the index and
/// the text of each line that is changed.
pub(super) fn strip<'a>(lines: &mut [Line<'a>]) -> Vec<(usize, Cow<'a, str>)> {
    let mut changed = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (begin, text) = (at, &lines[at].text);
        at += 1;
        if text.contains("<tr") && !text.contains("</tr>") {
            let depth = lines[begin].depth;
            let row = lines[at..].iter().take(ROW);
            let mut row = row.take_while(|line| line.depth == depth);
            let end = row.position(|line| line.text.contains("</tr>"));
            at += end.map_or(0, |end| end + 1);
        }
        let texts = lines[begin..at].iter().map(|line| &*line.text);
        let mut text = match at - begin {
            1 => stripped(&lines[begin].text),
            _ => stripped(&texts.collect::<Vec<_>>().join(" ")),
        };
        if text.is_some() {
            for (line, at) in lines[begin..at].iter_mut().zip(begin..) {
                // A bar alone is a rule between the rows of a table.
                let text = text.take().unwrap_or("|".to_owned()).into();
                changed.push((at, std::mem::replace(&mut line.text, text)));
            }
        }
    }
    changed
}

/// A text without its tags; `None` if it has none.
fn stripped(text: &str) -> Option<String> {
    let (mut out, mut from) = (String::new(), 0);
    // Where a cell over several columns begins, and over how many.
    let mut spanning: Option<(usize, usize)> = None;
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        let mut rest = text.as_bytes()[at..].iter().take(LONGEST);
        let inner = rest.position(|b| *b == b'>');
        let Some(inner) = inner.and_then(|end| text.get(at + 1..at + end)) else {
            continue;
        };
        let mut words = inner.trim_start_matches('/').split([' ', '/']);
        let name = words.next().unwrap_or_default();
        let is = |tags: &[&str]| tags.iter().any(|tag| name.eq_ignore_ascii_case(tag));
        let cell = is(&["td", "th"]);
        // `a <b && c> d` is code.
        let said = inner.contains('=') || !inner.trim_end_matches([' ', '/']).contains(' ');
        if said && (cell || is(&TAGS)) {
            out += text.get(from..at).unwrap_or_default();
            from = at + inner.len() + 2;
            if !cell {
                continue;
            }
            // The name above several columns is above each.
            if let Some((begin, columns)) = spanning.take()
                && let Some(name) = out.get(begin..).filter(|name| Cell::whole(name).is_none())
            {
                let again = format!(" | {name}").repeat(columns - 1);
                out += &again;
            }
            if !inner.starts_with('/') {
                out += " | ";
                spanning = columns(inner).map(|columns| (out.len(), columns));
            }
        }
    }
    (from > 0).then(|| (out + &text[from..]).trim_end().to_owned())
}

/// How many columns a cell spans, if it is more than one.
fn columns(tag: &str) -> Option<usize> {
    let (_, value) = tag.split_once("colspan=")?;
    let value = value.trim_start_matches(['"', '\'']);
    let digits = value.split(|c: char| !c.is_ascii_digit()).next()?;
    digits
        .parse()
        .ok()
        .filter(|columns| (2..=MOST_SPANNED).contains(columns))
}
