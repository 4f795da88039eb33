//! Labels, summaries and doubts that several grammars build.

use assize_bundle::Spread;
use serde_json::Value;

use super::block::{Figure, Finding, Labels};
use crate::line::Line;

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
    Labels::new(name.map(label), None)
}

/// Returns the doubt about a cell that should be a number and is not.
pub(crate) fn bad_number(cell: &str, of: &str) -> Finding {
    Finding::Doubt(
        "bad-number",
        format!("`{}` is not a number; {of} is left out", label(cell)),
    )
}

/// Most lines of JSON.
const LONGEST_JSON: usize = 100_000;

/// The JSON that begins with the brace of the first line, if `key` is in its first lines, and how
/// many lines it has.
pub(crate) fn json(lines: &[Line<'_>], key: &str) -> Option<(Value, usize)> {
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth);
    let indent = |text: &str| text.len() - text.trim_start().len();
    let outer = indent(here(0)?);
    let named = (0..6).any(|at| here(at).is_some_and(|text| text.contains(key)));
    let closes = |at: usize, text: &str| match at {
        0 => text.trim_end().ends_with('}'),
        _ => indent(text) <= outer && text.trim_start().starts_with('}'),
    };
    let mut text = String::new();
    for at in (0..LONGEST_JSON).take_while(|_| named) {
        let line = here(at)?;
        text.push_str(line);
        text.push('\n');
        if closes(at, line) {
            return Some((serde_json::from_str(&text).ok()?, at + 1));
        }
    }
    None
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

/// Adds a figure unless one of that name exists; returns whether it was added.
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

/// The text of the line at `at`, if it belongs to the same message as `lines[0]`.
pub(crate) fn line_at<'a>(lines: &'a [Line<'_>], at: usize) -> Option<&'a str> {
    let line = lines.get(at)?;
    one_message(lines.first()?, line).then_some(line.text.as_ref())
}
