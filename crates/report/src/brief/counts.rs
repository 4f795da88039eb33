//! Counts of what is left out, and the options that show it.

use assize_verdict::{Comparison, Document, Lint, Verdict, count_of};

use super::answers::{self, BriefAnswers};
use super::{BriefSheet, LOCATION, first_of};
use crate::contrasts::{
    self, by_event, count_decided, count_incomplete_runs, fixed_outcome, leading_rows,
};
use crate::wrap::{lint_line, push_wrapped_code_after};

/// Says how many rows of the answer are not established and what would settle them: how many runs
/// per configuration could establish the supported rows; how many runs would probably settle half
/// of the rows that more runs can settle; and why the remaining rows are undecided. `None` if all
/// is settled.
pub(crate) fn what_would_settle(document: &Document) -> Option<String> {
    let rows = leading_rows(document).into_iter();
    let open: Vec<&Comparison> = rows
        .filter(|row| matches!(row.verdict, Verdict::Undecided | Verdict::Supported))
        .filter(|row| fixed_outcome(document, row).is_none())
        .collect();
    let reason = undecided(document).into_iter().find(|why| why.leads);
    let parts = [
        could_establish(&open),
        would_tell(&open, document.margin),
        reason.map(|why| {
            format!(
                "{} undecided: {}.",
                count_with_verb(why.rows.len()),
                why.text
            )
        }),
    ];
    let said: Vec<String> = parts.into_iter().flatten().collect();
    let count = count_of(open.len(), "row");
    (!said.is_empty()).then(|| format!("Not established: {count}. {}", said.join(" ")))
}

/// `1 is`, `2 are`.
fn count_with_verb(n: usize) -> String {
    format!("{n} {}", if n == 1 { "is" } else { "are" })
}

/// `(runs needed, runs present)` for each row with this verdict that needs more runs, smallest
/// first.
fn runs_needed(open: &[&Comparison], verdict: Verdict) -> Vec<(u32, u32)> {
    let of_verdict = open.iter().filter(|row| row.verdict == verdict);
    let mut needed: Vec<(u32, u32)> = of_verdict
        .filter_map(|row| row.runs_needed.zip(row.n))
        .filter(|(needed, n)| needed > n)
        .collect();
    needed.sort_unstable();
    needed
}

fn could_establish(open: &[&Comparison]) -> Option<String> {
    let needed = runs_needed(open, Verdict::Supported);
    let (runs, _) = needed.last()?;
    Some(format!(
        "{} supported: {runs} runs a side could establish {}.",
        count_with_verb(needed.len()),
        if needed.len() == 1 { "it" } else { "them" }
    ))
}

fn would_tell(open: &[&Comparison], margin: f64) -> Option<String> {
    let needed = runs_needed(open, Verdict::Undecided);
    let &(runs, n) = needed.get(needed.len().saturating_sub(1) / 2)?;
    let settled = needed.iter().filter(|(one, _)| *one <= runs).count();
    let which = match (settled, open.len()) {
        (1, 1) => "it".to_owned(),
        (settled, all) if settled == all => "them".to_owned(),
        (settled, _) => format!("{settled} of them"),
    };
    let margin = contrasts::margin(margin);
    Some(format!(
        "{runs} runs a side instead of {n} would likely settle {which} at a margin of {margin}."
    ))
}

/// A reason why rows are undecided.
pub(crate) struct Reason<'a> {
    pub(crate) text: &'a str,
    pub(crate) rows: Vec<&'a Comparison>,
    /// Whether [`what_would_settle`] reports this reason.
    pub(crate) leads: bool,
}

/// Why rows are undecided, for those that no known number of runs would settle; the most frequent
/// reason among the answer's rows comes first.
pub(crate) fn undecided(document: &Document) -> Vec<Reason<'_>> {
    let leading = leading_rows(document);
    let leads = |row: &Comparison| leading.iter().any(|one| std::ptr::eq(*one, row));
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for row in &document.comparisons {
        let open = row.verdict == Verdict::Undecided && row.runs_needed.is_none();
        let Some(text) = row.because.as_deref().filter(|_| open) else {
            continue;
        };
        if fixed_outcome(document, row).is_some() {
            continue;
        }
        let leads = leads(row);
        let same = |one: &&mut Reason<'_>| one.text == text && one.leads == leads;
        match reasons.iter_mut().find(same) {
            Some(reason) => reason.rows.push(row),
            None => reasons.push(Reason {
                text,
                rows: vec![row],
                leads,
            }),
        }
    }
    reasons.sort_by_key(|one| (!one.leads, std::cmp::Reverse(one.rows.len())));
    for other in reasons.iter_mut().skip(1) {
        other.leads = false;
    }
    reasons
}

/// The numbers of inputs: `30 runs`, `5 configurations`, `2 workloads`, and so on.
pub(crate) fn counts(document: &Document) -> Vec<String> {
    let lost = count_incomplete_runs(document);
    let mut parts = match (document.runs.len(), lost) {
        (0, 0) if !document.summaries.is_empty() => Vec::new(),
        (runs, 0) => vec![count_of(runs, "run")],
        (runs, _) => vec![format!(
            "{} completed of {}",
            count_of(runs, "run"),
            runs + lost
        )],
    };
    let events: u64 = document.rates.iter().map(|rate| rate.count).sum();
    for (n, noun, more) in [
        (document.summaries.len(), "mean", " of several runs"),
        (events as usize, "event", ""),
        (document.statements.len(), "figure", " not judged"),
    ] {
        if n > 0 {
            parts.push(count_of(n, noun) + more);
        }
    }
    parts.push(count_of(document.configurations.len(), "configuration"));
    parts.push(count_of(document.workloads.len(), "workload"));
    parts
}

/// Counts of what did not fit into the answer, and of what is not part of it.
pub(super) fn count_hidden(sheet: &BriefSheet<'_>, shown: &BriefAnswers) -> Vec<String> {
    let document = sheet.document;
    let mut parts = answers::count_omitted(shown);
    let others: Vec<_> = {
        let lead = leading_rows(document);
        let is_other = |row: &&assize_verdict::Comparison| {
            !lead.iter().any(|leading| std::ptr::eq(*leading, *row))
        };
        document.comparisons.iter().filter(is_other).collect()
    };
    if !others.is_empty() {
        let decided = count_decided(&others);
        let of_others = count_of(others.len(), "secondary row");
        parts.push(format!("{of_others} ({decided} decided)"));
    }
    let words = sheet.words();
    let shown = by_event(document, words);
    let shown: usize = shown.iter().map(|one| one.contrasts.len()).sum();
    let silent = document.rate_comparisons.len() - shown;
    if silent > 0 {
        let rates = count_of(silent, "rate");
        parts.push(format!("{rates} of events that did not occur"));
    }
    if !document.tradeoffs.is_empty() {
        parts.push(count_of(document.tradeoffs.len(), "trade-off"));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    sheet.wrapped(
        &format!("Not shown: {}: --format mail", parts.join(", ")),
        "  ",
    )
}

/// The closing lines: the runs that would settle open rows, warnings, and the command that
/// reproduces the report.
pub(super) fn closing_lines(sheet: &BriefSheet<'_>) -> Vec<String> {
    let document = sheet.document;
    let settles = what_would_settle(document);
    let mut lines = settles.map_or(Vec::new(), |text| sheet.wrapped(&text, "  "));
    if let Some(first) = document.lints.first() {
        let more = match document.lints.len() {
            1 => String::new(),
            n => format!(" (the first of {n})"),
        };
        let first = Lint {
            location: first_of(&first.location, LOCATION),
            ..first.clone()
        };
        let text = format!("Warning{more}: {}", lint_line(&first));
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
        let command = document.rerun.as_ref().unwrap_or(&document.reproduce);
        let mut text = String::new();
        push_wrapped_code_after(&mut text, "Reproduce: ", command);
        lines.extend(text.lines().map(str::to_owned));
    }
    lines
}
