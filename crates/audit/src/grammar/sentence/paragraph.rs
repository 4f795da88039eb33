//! The lines over which a sentence goes on.

use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::prose::is_prose;

use super::LONGEST;

/// A sentence is followed over so many lines.
pub(super) const LINES: usize = 4;

/// The lines of a paragraph joined, and where in it each ends.
pub(super) fn paragraph(lines: &[Line<'_>]) -> Option<(String, Vec<usize>)> {
    let depth = lines.first()?.depth;
    let prose = |at: usize| {
        let text = line_at(lines, at).filter(|_| lines[at].depth == depth)?;
        (is_prose(text) && text.len() <= LONGEST && !text.trim().is_empty()).then_some(text)
    };
    let mut text = item(prose(0)?).to_owned();
    let mut ends = vec![text.len()];
    for at in 1..LINES {
        let Some(more) = prose(at).filter(|more| item(more) == *more) else {
            break;
        };
        text.push(' ');
        text.push_str(more.trim());
        ends.push(text.len());
    }
    Some((text, ends))
}

/// A line without the mark of a list's item.
fn item(text: &str) -> &str {
    let bare = text.trim_start();
    bare.strip_prefix(['-', '*', '•'])
        .filter(|rest| rest.starts_with(' '))
        .map_or(text, str::trim_start)
}
