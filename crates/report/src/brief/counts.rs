//! What is not shown, counted, and where it is.

use assize_verdict::{Document, Verdict};

use super::Sheet;
use super::answers::{self, Answers};
use crate::contrasts::{by_event, decided, fixed, leading, lost};

/// `1 run`, `2 runs`.
pub(super) fn of(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// How many rows of the answer are not established, and how many more runs of each
/// configuration would likely settle half of those that any number of runs can settle.
pub(crate) fn settles(document: &Document) -> Option<String> {
    let rows = leading(document).into_iter();
    let open: Vec<_> = rows
        .filter(|row| matches!(row.verdict, Verdict::Undecided | Verdict::Supported))
        .filter(|row| fixed(document, row).is_none())
        .collect();
    let mut needed: Vec<(u32, u32)> = open
        .iter()
        .filter_map(|row| row.runs_needed.zip(row.n))
        .filter(|(needed, n)| needed > n)
        .collect();
    needed.sort_unstable();
    let &(runs, n) = needed.get(needed.len().saturating_sub(1) / 2)?;
    let settled = needed.iter().filter(|(one, _)| *one <= runs).count();
    let of_them = match (settled, open.len()) {
        (1, 1) => "it".to_owned(),
        (settled, all) if settled == all => "them".to_owned(),
        (settled, _) => format!("{settled} of them"),
    };
    let more = of((runs - n) as usize, "more run");
    Some(format!(
        "Not established: {}; {more} of each ({runs} instead of {n}) would likely settle {of_them}.",
        of(open.len(), "row"),
    ))
}

/// `30 runs`, `5 configurations`, `2 workloads`, and what else was read.
pub(crate) fn counts(document: &Document) -> Vec<String> {
    let lost = lost(document);
    let mut parts = vec![match lost {
        0 => of(document.runs.len(), "run"),
        _ => format!(
            "{} completed of {}",
            of(document.runs.len(), "run"),
            document.runs.len() + lost
        ),
    }];
    let events: u64 = document.rates.iter().map(|rate| rate.count).sum();
    for (n, noun, more) in [
        (document.summaries.len(), "mean", " of several runs"),
        (events as usize, "event", ""),
        (document.statements.len(), "figure", " not judged"),
    ] {
        if n > 0 {
            parts.push(of(n, noun) + more);
        }
    }
    parts.push(of(document.configurations.len(), "configuration"));
    parts.push(of(document.workloads.len(), "workload"));
    parts
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

/// How many runs would settle what is open, warnings, and how to get the same again.
pub(super) fn rest(sheet: &Sheet<'_>) -> Vec<String> {
    let document = sheet.document;
    let settles = settles(document);
    let mut lines = settles.map_or(Vec::new(), |text| sheet.wrapped(&text, "  "));
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
