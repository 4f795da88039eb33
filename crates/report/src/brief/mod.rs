//! The answer for a terminal, in at most 25 lines; a mail starts with the same lines.
//!
//! The outcomes of the claims come first, then for each primary metric and configuration whether it
//! is better or worse than the baseline, on how many workloads, and by how much on the best and the
//! worst. The runs behind the largest effect come last. Whatever does not fit is counted, with the
//! option that shows it.

mod answers;
mod counts;
mod outcomes;
mod resources;
mod spread;

use assize_verdict::{Document, count_of};

use crate::contrasts::{MetricWords, Wordings};
use crate::style::Style;
use crate::{WIDTH, printable};

pub(crate) use counts::{counts, undecided, what_would_settle};

/// The maximum number of lines of the brief report.
const LINES: usize = 25;
/// The maximum number of lines of the question.
const QUESTION: usize = 2;
/// Number of blank lines around the answer.
const BETWEEN: usize = 2;
/// Lines that count what is left out.
const HIDDEN: usize = 2;
/// Maximum length, in characters, of the names of inputs and of the place of a warning.
const SOURCES: usize = 120;
const LOCATION: usize = 60;
/// The widest name column; a longer name gets a separate line.
const NAME: usize = 28;
/// The terminal width is clamped to this range.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=120;

/// What the brief report needs in addition to the document.
#[derive(Debug, Clone, Default)]
pub struct Brief<'a> {
    /// Titles and directions of the document's metrics and events; one without an entry is called
    /// by its name.
    pub metrics: &'a [MetricWords],
    /// The question that the experiment asks.
    pub question: Option<&'a str>,
    /// The width of the terminal in columns.
    pub width: usize,
    /// Whether a mail includes the tables of secondary metrics.
    pub all: bool,
}

/// Returns the brief report: at most 25 lines.
pub fn brief(document: &Document, brief: &Brief<'_>, style: Style) -> String {
    let width = brief.width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let sheet = BriefSheet::new(document, brief, style, width);
    let head = sheet.head(QUESTION);
    let rest = counts::closing_lines(&sheet);
    let room = LINES.saturating_sub(head.len() + rest.len() + BETWEEN + HIDDEN);
    let ended = outcomes::lines(&sheet);
    let claims = answers::claims(&sheet);
    // A blank line separates the outcomes of runs from the answer.
    let room = room.saturating_sub(ended.len() + usize::from(!ended.is_empty()));
    let room_for_answers = room.saturating_sub(claims.shown.len());
    // Reserves lines for the runs unless a decided row would not fit then.
    let wish = spread::lines_wanted(&sheet, room);
    let mut answers = answers::lines(&sheet, room_for_answers.saturating_sub(wish));
    if answers.decided_left > 0 {
        answers = answers::lines(&sheet, room_for_answers);
    }
    answers.shown.splice(0..0, claims.shown);
    answers.claims_left = claims.claims_left;
    let left = room.saturating_sub(answers.shown.len() + 1);
    let mut runs = spread::lines(&sheet, left);
    let left = left.saturating_sub(runs.len());
    runs.extend(resources::lines(&sheet, left));
    let left = room.saturating_sub(answers.shown.len() + 1 + runs.len());
    runs.extend(outcomes::slow_lines(&sheet, left));
    let tail = counts::count_hidden(&sheet, &answers);
    join_sections([head, ended, answers.shown, runs, [tail, rest].concat()])
}

/// Returns the head of a mail: what was judged, and the answer with no more contrasts
/// than on a terminal. It leaves claims out, because a mail reports them in full.
pub(crate) fn head(document: &Document, brief: &Brief<'_>, style: Style) -> [String; 2] {
    let sheet = BriefSheet::new(document, brief, style, WIDTH);
    let mut answers = answers::lines(&sheet, LINES);
    let left = answers::count_omitted(&answers);
    if !left.is_empty() {
        let text = format!("In the tables below: {}", left.join(", "));
        answers.shown.extend(sheet.wrapped(&text, "  "));
    }
    if let Some(text) = what_would_settle(document) {
        answers.shown.extend(sheet.wrapped(&text, "  "));
    }
    let head = join_sections([sheet.head(usize::MAX), outcomes::lines(&sheet)]);
    [head, join_sections([answers.shown])]
}

/// Joins sections with blank lines.
fn join_sections<const N: usize>(parts: [Vec<String>; N]) -> String {
    let mut out = String::new();
    for part in parts {
        if !part.is_empty() && !out.is_empty() {
            out.push('\n');
        }
        for line in part {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

/// A list of names; if it is longer than `most` characters, only the first and a count.
fn first_of(names: &str, most: usize) -> String {
    match names.split_once(", ") {
        Some((first, others)) if names.chars().count() > most => {
            format!(
                "{first} and {}",
                count_of(others.split(", ").count(), "other")
            )
        }
        _ => names.to_owned(),
    }
}

/// The inputs of all sections of the report.
struct BriefSheet<'a> {
    document: &'a Document,
    brief: &'a Brief<'a>,
    style: Style,
    width: usize,
    /// The width of the column of configuration names.
    names: usize,
}

impl<'a> BriefSheet<'a> {
    fn new(document: &'a Document, brief: &'a Brief<'_>, style: Style, width: usize) -> Self {
        let names = document.configurations.iter();
        let names = names.map(|configuration| configuration.name.chars().count());
        BriefSheet {
            document,
            brief,
            style,
            width,
            names: names.filter(|columns| *columns <= NAME).max().unwrap_or(0),
        }
    }

    fn words(&self) -> Wordings<'_> {
        Wordings(self.brief.metrics)
    }

    /// The inputs and the question, in at most so many lines.
    fn head(&self, most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(question) = self.brief.question.filter(|text| !text.trim().is_empty()) {
            let mut wrapped = self.wrapped(question.trim(), "");
            if wrapped.len() > most {
                wrapped.truncate(most);
                if let Some(last) = wrapped.last_mut() {
                    last.push_str(" …");
                }
            }
            lines.extend(wrapped.iter().map(|line| self.bold(line)));
        }
        let mut text = first_of(&self.document.source, SOURCES);
        text.push_str(&format!(": {}", counts(self.document).join(", ")));
        let several = self.document.configurations.len() > 1;
        let mut rows = self.document.comparisons.iter();
        let differ = rows.any(|row| Some(&row.baseline) != self.document.baseline.as_ref());
        match self.document.baseline.as_deref().filter(|_| several) {
            Some(_) if differ => {
                text.push_str("; each workload compared with its own baseline");
            }
            Some(baseline) => text.push_str(&format!("; compared with {baseline}")),
            None => {}
        }
        lines.extend(self.wrapped(&text, ""));
        lines
    }

    /// Wraps text to the terminal; all lines but the first start with `indent`.
    fn wrapped(&self, text: &str, indent: &str) -> Vec<String> {
        let options = textwrap::Options::new(self.width)
            .subsequent_indent(indent)
            .break_words(false)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let text = printable(text).replace('\n', " ");
        let lines = textwrap::wrap(&text, options);
        lines
            .into_iter()
            .map(std::borrow::Cow::into_owned)
            .collect()
    }

    fn bold(&self, text: &str) -> String {
        self.dressed(text, "1")
    }

    /// Wraps text in an escape sequence. Escape sequences alone never carry a meaning.
    fn dressed(&self, text: &str, code: &str) -> String {
        if self.style.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests;
