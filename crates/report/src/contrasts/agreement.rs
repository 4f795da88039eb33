//! Whether several machines or blocks agree.

use assize_verdict::{Agreement, Comparison, Document, Pooled};

/// Whether machines contradict each other on a row, so that no single figure is valid for
/// all.
pub(crate) fn contradicted(document: &Document, row: &Comparison) -> bool {
    agreement(document, row) == Some(Agreement::Opposite)
}

/// Whether the machines agree on a row; `None` if there is only one machine.
pub(crate) fn agreement(document: &Document, row: &Comparison) -> Option<Agreement> {
    let is = |one: &&Pooled| {
        (&one.workload, &one.metric, &one.unit) == (&row.workload, &row.metric, &row.unit)
            && (&one.baseline, &one.configuration) == (&row.baseline, &row.configuration)
    };
    Some(document.pooled.iter().find(is)?.agreement)
}
