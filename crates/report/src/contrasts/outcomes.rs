//! How runs ended, in words.

use std::collections::BTreeMap;

use assize_verdict::{Comparison, Document, OutcomeComparison, OutcomeSignature, Verdict};

use super::capital;

/// At most this many causes are named; the rest are counted.
const SIGNATURES: usize = 2;

/// The outcome of a row: `worse`, `better`, `as often` or `cannot tell`.
pub(crate) fn outcome_word(row: &OutcomeComparison) -> &'static str {
    match (row.verdict, row.is_more()) {
        (Verdict::Established, true) => "worse",
        (Verdict::Established, false) => "better",
        _ if row.count == row.count_baseline && row.n == row.n_baseline => "as often",
        _ => "cannot tell",
    }
}

/// `0 of 40 -> 6 of 40 runs (oops in race_use+0x5e [race])`.
pub fn outcome_figures(row: &OutcomeComparison) -> String {
    let counts = format!(
        "{} of {} -> {} of {} runs",
        row.count_baseline, row.n_baseline, row.count, row.n
    );
    // The heading describes slow runs well enough.
    let of_others = row.signatures.iter().filter(|_| row.tail.is_none());
    let mut causes: Vec<String> = of_others.map(cause).collect();
    if causes.len() > SIGNATURES {
        let more = causes.len() - SIGNATURES;
        causes.truncate(SIGNATURES);
        causes.push(format!("{more} more"));
    }
    match causes.is_empty() {
        true => counts,
        false => format!("{counts} ({})", causes.join("; ")),
    }
}

/// The text of a cause.
fn cause(signature: &OutcomeSignature) -> String {
    signature.signature.clone()
}

/// Describes a row: `Crashes with buggy: worse: 0 of 40 -> 6 of 40 runs (oops in
/// use+0x5e), established`. If it is undecided, adds how many would have decided it.
pub fn describe_outcome(row: &OutcomeComparison) -> String {
    let heading = match &row.tail {
        Some(_) => row.heading(),
        None => capital(&row.heading()),
    };
    let mut text = format!(
        "{heading} with {}: {}: {}",
        row.configuration,
        outcome_word(row),
        outcome_figures(row)
    );
    match (row.verdict, row.fewest) {
        (Verdict::Established, _) => text.push_str(", established"),
        (_, Some(fewest)) if row.count_baseline == 0 && row.count < fewest => {
            text.push_str(&format!(
                "; {fewest} or more such runs would show a difference"
            ));
        }
        (_, None) => text.push_str("; so few runs cannot show a difference"),
        _ => {}
    }
    if let Some(note) = &row.note {
        text.push_str("; ");
        text.push_str(note);
    }
    text
}

/// The rows in the order in which they are reported: worse first.
pub(crate) fn ranked(document: &Document) -> Vec<&OutcomeComparison> {
    let mut rows: Vec<&OutcomeComparison> = document.outcomes.iter().collect();
    rows.sort_by_key(|row| {
        let decided = row.verdict != Verdict::Established;
        (!row.is_worse(), decided, row.outcome)
    });
    rows
}

/// The runs that did not complete, by bundle and index, with their configurations.
fn incomplete_runs(document: &Document) -> BTreeMap<(Option<&str>, u32), &str> {
    let ended = document.outcomes.iter();
    let ended = ended.filter(|row| !row.outcome.is_completed());
    let runs = ended
        .flat_map(|row| &row.signatures)
        .flat_map(|one| &one.runs);
    runs.map(|run| {
        (
            (run.bundle.as_deref(), run.index),
            run.configuration.as_str(),
        )
    })
    .collect()
}

/// The number of runs that did not complete.
pub(crate) fn count_incomplete_runs(document: &Document) -> usize {
    incomplete_runs(document).len()
}

/// How many of the started runs a row compares: `from 25 of 32 runs, of the baseline 32 of 32`.
/// `None` if all runs of both sides completed.
pub(crate) fn describe_completed(row: &Comparison) -> Option<String> {
    let ([of_baseline, of], n, n_baseline) = (row.attempted?, row.n?, row.n_baseline?);
    Some(format!(
        "from {n} of {of} runs, of the baseline {n_baseline} of {of_baseline}"
    ))
}

/// Says which runs the figures are of: `Figures are of the runs that completed: 25 of 32
/// with new`. `None` if all runs completed.
pub(crate) fn describe_all_completed(document: &Document) -> Option<String> {
    let incomplete = incomplete_runs(document);
    let counts = document.configurations.iter().filter_map(|configuration| {
        let name = &configuration.name;
        let runs = document.runs.iter();
        let completed = runs.filter(|run| run.configuration == *name).count();
        let lost = incomplete.values().filter(|of| *of == name).count();
        let all = completed + lost;
        (lost > 0).then(|| format!("{completed} of {all} with {name}"))
    });
    let counts: Vec<String> = counts.collect();
    let any = document
        .comparisons
        .iter()
        .any(|row| row.attempted.is_some());
    any.then(|| {
        format!(
            "Figures are of the runs that completed: {}",
            counts.join(", ")
        )
    })
}

/// The outcome rows, as sentences name them.
pub(super) fn names(document: &Document) -> impl Iterator<Item = String> {
    let rows = document.outcomes.iter();
    rows.map(|row| format!("{} {}", row.heading(), row.configuration))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn slow_runs_are_one_sentence() {
        let none: [u8; 0] = [];
        let row: OutcomeComparison = serde_json::from_value(json!({
            "outcome": "slow", "baseline": "never", "configuration": "rarely",
            "tail": {"workload": "read", "metric": "elapsed", "above": 3.1, "unit": "ms"},
            "count_baseline": 0, "n_baseline": 40, "count": 2, "n": 40, "test": "fisher",
            "p": 0.49, "p_attainable": 0.49, "p_adjusted": null, "fewest": 9,
            "verdict": "undecided", "signatures": [{"signature": "above the threshold",
                "line": "above the threshold", "frames": none, "runs": none}],
        }))
        .unwrap();
        assert_eq!(
            describe_outcome(&row),
            "elapsed above 3.1 ms on read with rarely: cannot tell: 0 of 40 -> 2 of 40 runs; 9 or \
             more such runs would show a difference"
        );
    }
}
