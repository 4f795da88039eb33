//! What is not shown, counted, and where it is.

use super::Sheet;
use super::answers::{self, Answers};
use crate::contrasts::{by_event, decided, leading};

/// `1 run`, `2 runs`.
pub(super) fn of(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// What of the answer did not fit, and what is not part of it.
pub(super) fn hidden(sheet: &Sheet<'_>, shown: &Answers) -> Vec<String> {
    let document = sheet.document;
    let mut parts = answers::left(shown);
    let others: Vec<_> = {
        let lead = leading(document);
        let is_other = |row: &&assize_verdict::Comparison| {
            !lead.iter().any(|leading| std::ptr::eq(*leading, *row))
        };
        document.comparisons.iter().filter(is_other).collect()
    };
    if !others.is_empty() {
        let decided = decided(&others);
        let of_others = of(others.len(), "secondary row");
        parts.push(format!("{of_others} ({decided} decided)"));
    }
    let words = sheet.words();
    let shown = by_event(document, words);
    let shown: usize = shown.iter().map(|one| one.contrasts.len()).sum();
    let silent = document.rate_comparisons.len() - shown;
    if silent > 0 {
        let rates = of(silent, "rate");
        parts.push(format!("{rates} of events that did not occur"));
    }
    if !document.tradeoffs.is_empty() {
        parts.push(of(document.tradeoffs.len(), "trade-off"));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    sheet.wrapped(
        &format!("Not shown: {}: --format mail", parts.join(", ")),
        "  ",
    )
}

/// Warnings, and how to get the same again.
pub(super) fn rest(sheet: &Sheet<'_>) -> Vec<String> {
    let document = sheet.document;
    let mut lines = Vec::new();
    if let Some(first) = document.lints.first() {
        let more = match document.lints.len() {
            1 => String::new(),
            n => format!(" (the first of {n})"),
        };
        let text = format!("Warning{more}: [{}] {}", first.code, first.detail);
        let mut wrapped = sheet.wrapped(&text, "  ");
        if wrapped.len() > 2 {
            wrapped.truncate(2);
            if let Some(last) = wrapped.last_mut() {
                let room = sheet.width.saturating_sub(4);
                *last = last.chars().take(room).collect::<String>() + " ...";
            }
        }
        lines.extend(wrapped);
    }
    if !document.reproduce.is_empty() {
        let text = format!(
            "Reproduce: {}",
            document.rerun.as_ref().unwrap_or(&document.reproduce)
        );
        lines.extend(sheet.wrapped(&text, "  ").into_iter().take(3));
    }
    lines
}
