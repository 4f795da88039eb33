//! How runs ended, and what runs with the same cause have in common.

use std::collections::VecDeque;
use std::fmt::Write;

use assize_verdict::{Document, OutcomeComparison, OutcomeRun};

use crate::contrasts::{describe_outcome, ranked_outcomes};
use crate::number::significant;
use crate::wrap::{push_wrapped, push_wrapped_code};

/// At most this many runs per cause are listed.
const RUNS: usize = 8;

/// Every way in which runs ended abnormally, with the runs.
pub(super) fn outcomes(document: &Document, out: &mut String) {
    let rows = ranked_outcomes(document);
    if rows.is_empty() {
        return;
    }
    out.push_str("How runs ended\n");
    for row in rows {
        push_wrapped(out, "  ", "    ", &describe_outcome(row));
        push_wrapped(out, "    ", "    ", &tested(row));
        for one in &row.signatures {
            push_wrapped(out, "    - ", "      ", &one.line);
            if !one.frames.is_empty() {
                let frames = one.frames.join(" < ");
                push_wrapped(out, "      ", "      ", &frames);
            }
            push_wrapped(out, "      ", "      ", &runs(&one.runs));
        }
    }
    if let Some(command) = &document.look {
        out.push_str("  Run one of them again:\n");
        push_wrapped_code(out, command);
    }
    out.push('\n');
}

/// The test and its p value.
fn tested(row: &OutcomeComparison) -> String {
    let mut text = format!("{}: p = {}", row.test.name(), significant(row.p, 2));
    if let Some(p) = row.p_adjusted {
        let _ = write!(text, ", adjusted {}", significant(p, 2));
    }
    if let Some(pairs) = row.pairs {
        let _ = write!(
            text,
            "; of {} pairs with the same seed and image, {} ended so with {} only, {} with {} only",
            pairs.pairs,
            pairs.only_baseline,
            row.baseline,
            pairs.only_configuration,
            row.configuration
        );
        if pairs.design_effect >= 1.05 {
            let effect = significant(pairs.design_effect, 2);
            let _ = write!(
                text,
                "; pairs with the same image are alike, so {effect} of them count as one"
            );
        }
    }
    text
}

/// `run 3 (new on use, seed 17), ...`.
fn runs(runs: &[OutcomeRun]) -> String {
    let one = |run: &OutcomeRun| {
        let seed = run
            .seed
            .map_or(String::new(), |seed| format!(", seed {seed}"));
        let (configuration, workload) = (&run.configuration, &run.workload);
        format!("run {} ({configuration} on {workload}{seed})", run.number())
    };
    let of_both = alternating(runs);
    let mut said: Vec<String> = of_both.into_iter().take(RUNS).map(one).collect();
    if runs.len() > RUNS {
        said.push(format!("and {} more", runs.len() - RUNS));
    }
    said.join(", ")
}

/// The runs of the first configuration and those of the others alternately, so that both are shown.
fn alternating(runs: &[OutcomeRun]) -> Vec<&OutcomeRun> {
    let first = runs.first().map(|run| &run.configuration);
    let (mut one, mut other): (VecDeque<_>, VecDeque<_>) = runs
        .iter()
        .partition(|run| Some(&run.configuration) == first);
    let mut all = Vec::new();
    while !(one.is_empty() && other.is_empty()) {
        all.extend(one.pop_front());
        all.extend(other.pop_front());
    }
    all
}
