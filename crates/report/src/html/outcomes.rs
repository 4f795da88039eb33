//! How runs ended, for the top of the page.

use assize_verdict::{Document, OutcomeComparison, OutcomeRun};
use serde::Serialize;

use crate::contrasts::{describe_outcome, ranked_outcomes};

/// One way in which runs ended.
#[derive(Debug, Serialize)]
pub(super) struct EndedRuns {
    said: String,
    /// `bad` if the configuration is established to be worse.
    tone: &'static str,
    causes: Vec<EndCause>,
}

/// Runs that ended this way for the same cause.
#[derive(Debug, Serialize)]
struct EndCause {
    signature: String,
    line: String,
    frames: String,
    runs: String,
}

/// All ways in which runs ended, worst first.
pub(super) fn ended_runs(document: &Document) -> Vec<EndedRuns> {
    ranked_outcomes(document).into_iter().map(of_row).collect()
}

fn of_row(row: &OutcomeComparison) -> EndedRuns {
    let run = |run: &OutcomeRun| {
        let seed = run
            .seed
            .map_or(String::new(), |seed| format!(", seed {seed}"));
        format!(
            "{} ({} on {}{seed})",
            run.number(),
            run.configuration,
            run.workload
        )
    };
    let causes = row.signatures.iter().map(|one| EndCause {
        signature: one.signature.clone(),
        line: one.line.clone(),
        frames: one.frames.join(" ← "),
        runs: one.runs.iter().map(run).collect::<Vec<_>>().join(", "),
    });
    EndedRuns {
        said: describe_outcome(row),
        tone: if row.is_worse() { "bad" } else { "open" },
        causes: causes.collect(),
    }
}
