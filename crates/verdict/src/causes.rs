//! What runs with the same ending have in common, and on which side they are.

use std::collections::BTreeSet;

use crate::cells::Cells;
use crate::document::{OutcomeRun, OutcomeSignature, RunEnd};
use crate::outcomes::RunEnding;
use crate::words::and_list;

/// Causes and workloads with fewer runs are not mentioned in a note.
const FEWEST: usize = 2;

/// The first line of the reason why a run failed.
fn reason<'r>(run: &'r RunEnding<'_>) -> &'r str {
    run.why.lines().next().unwrap_or_default()
}

/// The runs with one ending, grouped by signature.
pub(crate) fn signatures(
    cells: &Cells<'_>,
    end: RunEnd,
    sides: [&[&RunEnding<'_>]; 2],
) -> Vec<OutcomeSignature> {
    let mut all: Vec<OutcomeSignature> = Vec::new();
    let runs = sides.into_iter().flatten();
    for run in runs.filter(|run| run.ended(end) == Some(true)) {
        let complaint = run.complaint(end);
        let signature = run.signature(end);
        let at = all.iter().position(|one| one.signature == signature);
        let at = at.unwrap_or_else(|| {
            all.push(OutcomeSignature {
                signature,
                line: complaint.map_or_else(|| reason(run).to_owned(), |one| one.line.clone()),
                frames: complaint.map_or(Vec::new(), |one| one.frames.clone()),
                runs: Vec::new(),
            });
            all.len() - 1
        });
        // Show what a run printed only if all runs with this cause printed it.
        if complaint.is_none() && all[at].line != reason(run) {
            all[at].line = all[at].signature.clone();
        }
        let (bundle, index) = cells.records.run_in_bundle(run.order);
        all[at].runs.push(OutcomeRun {
            configuration: cells.configurations[run.configuration].clone(),
            workload: cells.workloads[run.workload].clone(),
            index,
            bundle: bundle.map(str::to_owned),
            seed: run.seed,
            image: run.image,
        });
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.runs.len()));
    all
}

/// A note if runs of both sides ended this way, but some causes occur on one side only, or the
/// workloads differ between the sides.
pub(crate) fn one_sided(signatures: &[OutcomeSignature], baseline: &str) -> Option<String> {
    let runs = |of_baseline: bool| {
        let all = signatures.iter().flat_map(|one| &one.runs);
        all.filter(move |run| (run.configuration == baseline) == of_baseline)
    };
    if runs(true).count() < FEWEST || runs(false).count() < FEWEST {
        return None;
    }
    let workloads = [true, false].map(|side| {
        let names: BTreeSet<&str> = runs(side).map(|run| run.workload.as_str()).collect();
        names
    });
    if workloads[0].is_disjoint(&workloads[1]) {
        let [before, after] = workloads.map(|names| and_list(&Vec::from_iter(names)));
        return Some(format!("workloads differ: {before} before, {after} now"));
    }
    let only = |of_baseline: bool| -> Vec<String> {
        let one_sided = signatures.iter().filter(|one| {
            let mut runs = one.runs.iter();
            let all = runs.all(|run| (run.configuration == baseline) == of_baseline);
            all && one.runs.len() >= FEWEST
        });
        one_sided
            .map(|one| format!("{} ({} runs)", one.signature, one.runs.len()))
            .collect()
    };
    let said = [(only(true), "before"), (only(false), "now")];
    let said: Vec<String> = said
        .into_iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, when)| format!("{} only {when}", and_list(&names)))
        .collect();
    (!said.is_empty()).then(|| format!("causes differ: {}", said.join(", ")))
}
