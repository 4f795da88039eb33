//! For each metric and configuration one line: better or worse, where, by how much.

use assize_verdict::Comparison;

use super::{Sheet, counts};
use crate::contrasts::{
    Contrast, Outcome, RateContrast, by_event, by_metric, change, effect, events_lead, percent,
};
use crate::printable;

/// How many claims have a line.
const CLAIMS: usize = 4;

/// Keeps a figure on the line of what it is of.
const NO_BREAK: char = '\u{a0}';

/// What could be shown, and what could not.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) shown: Vec<String>,
    pub(super) claims_left: usize,
    pub(super) contrasts_left: usize,
}

/// The claims and the contrasts, in at most so many lines.
pub(super) fn lines(sheet: &Sheet<'_>, room: usize) -> Answers {
    let mut answers = Answers::default();
    claims(sheet, &mut answers);
    let words = sheet.words();
    let metrics = by_metric(sheet.document, words).into_iter().map(|one| {
        let lines = one.contrasts.iter().map(|it| contrast_lines(it, sheet));
        (heading(sheet, one.metric), lines.collect::<Vec<_>>())
    });
    let events = by_event(sheet.document, words).into_iter().map(|one| {
        let lines = one.contrasts.iter().map(|it| rate_lines(it, sheet));
        (heading(sheet, one.event), lines.collect::<Vec<_>>())
    });
    let parts: Vec<(String, Vec<Vec<String>>)> = if events_lead(sheet.document) {
        events.chain(metrics).collect()
    } else {
        metrics.chain(events).collect()
    };
    for (head, contrasts) in parts {
        let mut head = Some(head);
        for contrast in contrasts {
            let lines = head.iter().cloned().chain(contrast).collect::<Vec<_>>();
            if answers.shown.len() + lines.len() > room {
                answers.contrasts_left += 1;
                continue;
            }
            head = None;
            answers.shown.extend(lines);
        }
    }
    answers
        .shown
        .extend(noise(sheet, room - answers.shown.len().min(room)));
    if answers.shown.is_empty() && answers.contrasts_left == 0 {
        let why = "Nothing could be compared: fewer than two configurations have figures.";
        answers.shown.push(why.to_owned());
    }
    answers
}

fn claims(sheet: &Sheet<'_>, answers: &mut Answers) {
    let all = &sheet.document.claims;
    for claim in all.iter().take(CLAIMS) {
        let word = claim.outcome.word();
        let text = format!("{}: {}", word.to_uppercase(), claim.text);
        answers.shown.extend(sheet.wrapped(&text, "  "));
    }
    answers.claims_left = all.len().saturating_sub(CLAIMS);
}

/// Of a document that compares nothing but the baseline with itself, the noise.
fn noise(sheet: &Sheet<'_>, room: usize) -> Vec<String> {
    let document = sheet.document;
    if !document.comparisons.is_empty() || document.noise_floor.is_empty() || room < 2 {
        return Vec::new();
    }
    let mut lines = vec![sheet.bold("The same twice: what differs is noise")];
    let rows = document.noise_floor.iter().filter_map(|row| {
        let change = percent(row.ratio? - 1.0);
        let ends = row.ci.map_or(String::new(), |[low, high]| {
            format!(", {} to {}", percent(low - 1.0), percent(high - 1.0))
        });
        let title = sheet.words().title(&row.metric);
        Some(format!("{title} in {}: {change}{ends}", row.workload))
    });
    lines.extend(
        rows.map(|row| format!("  {}", printable(&row)))
            .take(room - 1),
    );
    lines
}

/// `Busy time per job (less is better)`.
fn heading(sheet: &Sheet<'_>, metric: &str) -> String {
    sheet.bold(&printable(&sheet.words().heading(metric)))
}

fn contrast_lines(contrast: &Contrast<'_>, sheet: &Sheet<'_>) -> Vec<String> {
    // What is least needed goes first where the terminal is narrow.
    let details = [
        details(contrast, true),
        details(contrast, false),
        extremes(contrast),
    ];
    let outcomes = contrast.rows.iter().map(|(_, came_out)| *came_out);
    named(
        contrast.name,
        &contrast.verdict(),
        &details,
        outcomes,
        sheet,
    )
}

fn rate_lines(contrast: &RateContrast<'_>, sheet: &Sheet<'_>) -> Vec<String> {
    let verdict = contrast.outcome.words(sheet.document.margin);
    let effect = contrast.effect();
    let details = match sheet.document.workloads.len() {
        1 => [effect.clone(), effect],
        _ => [format!("{} {effect}", printable(contrast.workload)), effect],
    };
    let outcomes = std::iter::once(contrast.outcome);
    named(contrast.name, &verdict, &details, outcomes, sheet)
}

/// A configuration, its verdict, and of the details the first that fit.
fn named(
    name: &str,
    verdict: &str,
    details: &[String],
    outcomes: impl Iterator<Item = Outcome>,
    sheet: &Sheet<'_>,
) -> Vec<String> {
    let name = printable(name).replace('\n', " ");
    let columns = sheet.names;
    let indent = " ".repeat(columns + 4);
    let wide = name.chars().count() > columns;
    let before = if wide {
        indent.clone()
    } else {
        format!("  {name:columns$}  ")
    };
    let mut lines = Vec::new();
    if wide {
        lines.push(format!("  {name}"));
    }
    let line = |detail: &String| {
        let colon = if detail.is_empty() { "" } else { ": " };
        format!("{before}{verdict}{colon}{detail}")
    };
    let fits = |line: &String| line.chars().count() <= sheet.width;
    match details.iter().map(line).find(fits) {
        Some(line) => {
            let line = line.replace(NO_BREAK, " ");
            lines.push(coloured(outcomes, sheet, &line, verdict));
        }
        None => {
            let last = details.last().map(line).unwrap_or_default();
            let wrapped = sheet.wrapped(&last, &indent);
            lines.extend(wrapped.iter().map(|line| line.replace(NO_BREAK, " ")));
        }
    }
    lines
}

/// Green where all is better, red where all is worse.
fn coloured(
    outcomes: impl Iterator<Item = Outcome>,
    sheet: &Sheet<'_>,
    line: &str,
    verdict: &str,
) -> String {
    let outcomes: Vec<Outcome> = outcomes.collect();
    let all = |outcome| outcomes.iter().all(|one| *one == outcome);
    let code = match outcomes.first() {
        Some(Outcome::Better) if all(Outcome::Better) => "32",
        Some(Outcome::Worse) if all(Outcome::Worse) => "31",
        _ => return line.to_owned(),
    };
    line.replacen(verdict, &sheet.dressed(verdict, code), 1)
}

/// The best and the worst workload of those that are decided, with absolute values.
fn details(contrast: &Contrast<'_>, with_interval: bool) -> String {
    let rows = contrast.best_and_worst();
    let detail = |row: &&Comparison| {
        let effect = effect(row, with_interval);
        match contrast.rows.len() {
            1 => effect,
            _ => format!("{} {effect}", printable(&row.workload)),
        }
    };
    let details: Vec<String> = rows.iter().map(detail).collect();
    details.join("; ")
}

/// The same without absolute values.
fn extremes(contrast: &Contrast<'_>) -> String {
    let shown = contrast.best_and_worst().into_iter().filter_map(|row| {
        let change = percent(change(row)?);
        Some(match contrast.rows.len() {
            1 => change,
            _ => format!("{} {change}", printable(&row.workload)).replace(' ', "\u{a0}"),
        })
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Counts in words, of what is not shown.
pub(super) fn left(answers: &Answers) -> Vec<String> {
    let mut parts = Vec::new();
    if answers.claims_left > 0 {
        parts.push(counts::of(answers.claims_left, "more claim"));
    }
    if answers.contrasts_left > 0 {
        parts.push(counts::of(answers.contrasts_left, "more contrast"));
    }
    parts
}
