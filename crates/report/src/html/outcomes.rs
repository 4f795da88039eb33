//! How runs ended, for the top of the page.

use assize_verdict::{Document, OutcomeComparison, OutcomeRun};
use serde::Serialize;

use crate::contrasts::{outcome_said, ranked_outcomes};

/// One way in which runs ended.
#[derive(Debug, Serialize)]
pub(super) struct Ended {
    said: String,
    /// `bad` if the configuration is established to be worse.
    tone: &'static str,
    causes: Vec<Cause>,
}

/// Runs that ended this way for the same cause.
#[derive(Debug, Serialize)]
struct Cause {
    signature: String,
    line: String,
    frames: String,
    runs: String,
}

/// All ways in which runs ended, worst first.
pub(super) fn ended(document: &Document) -> Vec<Ended> {
    ranked_outcomes(document).into_iter().map(of_row).collect()
}

fn of_row(row: &OutcomeComparison) -> Ended {
    let run = |run: &OutcomeRun| {
        let seed = run
            .seed
            .map_or(String::new(), |seed| format!(", seed {seed}"));
        format!(
            "{} ({} on {}{seed})",
            run.index, run.configuration, run.workload
        )
    };
    let causes = row.signatures.iter().map(|one| Cause {
        signature: one.signature.clone(),
        line: one.line.clone(),
        frames: one.frames.join(" ← "),
        runs: one.runs.iter().map(run).collect::<Vec<_>>().join(", "),
    });
    Ended {
        said: outcome_said(row),
        tone: if row.is_worse() { "bad" } else { "open" },
        causes: causes.collect(),
    }
}
