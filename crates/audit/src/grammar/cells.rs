//! What the grammars of tools share: labels, joined lines and doubtful cells.

use std::borrow::Cow;

use assize_bundle::Spread;

use super::{Figure, Finding, Labels};
use crate::Line;

/// A longer line is never joined with the next: mailers wrap at 80 columns.
const WRAPPED_AT_MOST: usize = 1000;

/// The most bytes of a name that are kept as a label.
const LABEL_AT_MOST: usize = 400;

/// `text` cut to a length that is fit for a label or a sentence.
pub(crate) fn label(text: &str) -> String {
    let text = text.trim();
    let mut end = text.len().min(LABEL_AT_MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Labels that name the configuration only.
pub(crate) fn configuration(name: Option<&str>) -> Labels {
    Labels {
        configuration: name.map(label),
        ..Labels::default()
    }
}

/// The doubt about a cell that should be a number but is none.
pub(crate) fn bad_number(cell: &str, of: &str) -> Finding {
    Finding::Doubt(
        "bad-number",
        format!("`{}` is not a number; {of} is left out", label(cell)),
    )
}

/// The doubt about a block that breaks off.
pub(crate) fn truncated(what: &str) -> Finding {
    Finding::Doubt("truncated-block", format!("{what}; the block breaks off"))
}

/// A mean with what is known about it.
pub(crate) fn summary(
    labels: &Labels,
    figure: Figure,
    spread: Option<Spread>,
    n: Option<u32>,
) -> Finding {
    Finding::Summary {
        labels: labels.clone(),
        figure,
        spread,
        n,
    }
}

/// Adds a figure unless one of that name is there; says whether it was added.
pub(crate) fn push_new(figures: &mut Vec<Figure>, figure: Figure) -> bool {
    let new = figures.iter().all(|f| f.metric != figure.metric);
    if new {
        figures.push(figure);
    }
    new
}

/// Whether two lines belong to one message: no block reaches over its end.
pub(crate) fn one_message(a: &Line<'_>, b: &Line<'_>) -> bool {
    a.place.message == b.place.message
}

/// The line at `at` of the message in which `lines[0]` stands.
pub(crate) fn line_at<'a>(lines: &'a [Line<'_>], at: usize) -> Option<&'a str> {
    let line = lines.get(at)?;
    one_message(lines.first()?, line).then_some(line.text.as_ref())
}

/// The line at `at`, with the next one appended if only then `whole` holds:
/// a mailer may have wrapped it. Also says how many lines were used. If
/// `whole` never holds it is the line alone.
pub(crate) fn unwrapped<'a>(
    lines: &'a [Line<'_>],
    at: usize,
    whole: impl Fn(&str) -> bool,
) -> Option<(Cow<'a, str>, usize)> {
    let text = line_at(lines, at)?;
    if !whole(text)
        && let Some(next) = line_at(lines, at + 1)
        && text.len().max(next.len()) <= WRAPPED_AT_MOST
    {
        let joined = format!("{text} {}", next.trim_start());
        if whole(&joined) {
            return Some((Cow::Owned(joined), 2));
        }
    }
    Some((Cow::Borrowed(text), 1))
}

/// Whether a cell is a number, or what tools print for want of one (`nan`,
/// `-`, `****`, `0x1f`).
pub(crate) fn numeric_cell(cell: &str) -> bool {
    let bytes = cell.as_bytes();
    let rest = match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        all => all,
    };
    match rest {
        [] => bytes == b"-",
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => rest
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b".,%+-'".contains(b)),
        [b'*', ..] => rest.iter().all(|b| b"*.".contains(b)),
        other => [&b"nan"[..], b"inf", b"infinity"]
            .iter()
            .any(|name| other.eq_ignore_ascii_case(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_without_a_number_are_told_from_words() {
        for cell in [
            "1", "-1.5", "+2", ".5", "1,2,3", "-", "nan", "-NaN", "inf", "**.**", "0x1f", "5%",
        ] {
            assert!(numeric_cell(cell), "{cell}");
        }
        for word in ["", "--", "Core", "nano", "x1", "+", "3(a)", "C6"] {
            assert!(!numeric_cell(word), "{word}");
        }
    }

    #[test]
    fn labels_are_cut_at_a_character() {
        let long = "µ".repeat(1000);
        assert_eq!(label(&long).len(), LABEL_AT_MOST);
        assert_eq!(label(&format!("a{long}")).len(), LABEL_AT_MOST - 1);
    }
}
