//! How runs ended.

use assize_verdict::{Document, OutcomeComparison};

use super::{CsvTable, number};
use crate::contrasts::describe_outcome;

/// Writes a row for each way in which runs ended, and one for each run that ended that
/// way.
pub(super) fn rows(document: &Document, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    for row in &document.outcomes {
        write_compared_outcome(row, table)?;
        for one in &row.signatures {
            for run in &one.runs {
                table.row(&[
                    ("kind", "ended".into()),
                    ("metric", row.heading()),
                    ("workload", run.workload.clone()),
                    ("configuration", run.configuration.clone()),
                    ("order", run.index.to_string()),
                    ("text", one.signature.clone()),
                ])?;
            }
        }
    }
    Ok(())
}

fn write_compared_outcome(
    row: &OutcomeComparison,
    table: &mut CsvTable,
) -> Result<(), ::csv::Error> {
    table.row(&[
        ("kind", "outcome".into()),
        ("metric", row.heading()),
        ("baseline", row.baseline.clone()),
        ("configuration", row.configuration.clone()),
        ("n_baseline", row.n_baseline.to_string()),
        ("n", row.n.to_string()),
        ("count", row.count.to_string()),
        ("value", row.count_baseline.to_string()),
        ("test", row.test.name().into()),
        ("p", row.p.to_string()),
        ("p_attainable", row.p_attainable.to_string()),
        ("p_adjusted", number(row.p_adjusted)),
        ("verdict", row.verdict.word().into()),
        ("text", describe_outcome(row)),
    ])
}
