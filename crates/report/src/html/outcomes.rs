//! How runs ended, for the top of the page.

use assize_verdict::{OutcomeComparison, OutcomeRun, OutcomeSignature, RunEnd};
use serde::Serialize;

use super::page::{ReportPage, ShellWords};
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
    /// The command that stops the first of these runs at its crash.
    debug: Option<String>,
}

/// All ways in which runs ended, worst first.
pub(super) fn ended_runs(page: &ReportPage<'_>) -> Vec<EndedRuns> {
    let shell = page.attributions.shell.as_ref();
    let rows = ranked_outcomes(page.document).into_iter();
    rows.map(|row| of_row(row, shell)).collect()
}

fn of_row(row: &OutcomeComparison, shell: Option<&ShellWords>) -> EndedRuns {
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
    let debug = |one: &OutcomeSignature| {
        let first = one.runs.first().filter(|run| run.bundle.is_none())?;
        let crashed = row.outcome == RunEnd::Crashed;
        crashed.then_some(shell?.debug(first.index, Some("crash")))
    };
    let causes = row.signatures.iter().map(|one| EndCause {
        debug: debug(one),
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
