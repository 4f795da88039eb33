//! How runs ended.

use assize_verdict::Document;

use super::{CellText, CsvTable, Written};
use crate::contrasts::describe_outcome;

/// Writes a row for each way in which runs ended, and one for each run that ended that
/// way.
pub(super) fn rows(document: &Document, table: &mut CsvTable) -> Written {
    for row in &document.outcomes {
        let metric = ("metric", row.heading());
        let own = fields!(row; baseline configuration n_baseline n count p p_attainable p_adjusted
            verdict);
        let further = vec![
            metric.clone(),
            ("value", row.count_baseline.cell()),
            ("test", row.test.name().into()),
            ("text", describe_outcome(row)),
        ];
        table.row("outcome", &[own, further].concat())?;
        for one in &row.signatures {
            for run in &one.runs {
                let own = fields!(run; workload configuration);
                let text = ("text", one.signature.clone());
                let further = vec![metric.clone(), ("order", run.index.cell()), text];
                table.row("ended", &[own, further].concat())?;
            }
        }
    }
    Ok(())
}
