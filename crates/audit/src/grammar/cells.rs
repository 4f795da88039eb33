//! Labels, summaries and doubts that several grammars build.

use assize_bundle::Spread;

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
    Labels {
        configuration: name.map(label),
        ..Labels::default()
    }
}

/// Returns the doubt about a cell that should be a number and is not.
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
