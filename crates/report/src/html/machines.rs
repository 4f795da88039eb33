//! The pooled results of several machines.

use assize_verdict::{Agreement, Document, Pooled};
use serde::Serialize;

use super::grid::direction_of_move;
use crate::contrasts::verdict_mark;
use crate::number::{self, p, ratio, significant};

/// Comparisons pooled over machines, kernels or bundles.
#[derive(Debug, Serialize)]
pub(super) struct Machines {
    /// `machines`, `kernels`.
    several: String,
    rows: Vec<MachineRow>,
}

/// One comparison.
#[derive(Debug, Serialize)]
struct MachineRow {
    workload: String,
    metric: String,
    configuration: String,
    baseline: String,
    verdict: &'static str,
    mark: &'static str,
    way: &'static str,
    effect: String,
    random: String,
    differ: String,
    agreement: &'static str,
    shown_on: String,
    because: String,
}

/// The pooled comparisons; `None` if the document has none.
pub(super) fn machines(document: &Document) -> Option<Machines> {
    (!document.pooled.is_empty()).then(|| Machines {
        several: document.across.plural().to_string(),
        rows: document.pooled.iter().map(row).collect(),
    })
}

fn row(row: &Pooled) -> MachineRow {
    let i2 = row
        .i2
        .map(|share| format!("I² {} %", significant(share * 100.0, 2)));
    let p_welch = row.q_p_welch.map(|value| format!("p {}", p(value)));
    let differ: Vec<String> = [i2, p_welch].into_iter().flatten().collect();
    MachineRow {
        workload: row.workload.clone(),
        metric: row.metric.clone(),
        configuration: row.configuration.clone(),
        baseline: row.baseline.clone(),
        verdict: row.verdict.word(),
        mark: verdict_mark(row.verdict),
        way: direction_of_move(row.ratio, row.difference),
        effect: match row.agreement {
            Agreement::Opposite => "–".to_owned(),
            _ => effect(row, row.ratio, row.difference, row.ci),
        },
        random: effect(row, row.ratio_random, row.difference_random, row.ci_random),
        differ: differ.join(", "),
        agreement: agreement(row.agreement),
        shown_on: format!("{} of {}", row.shown_on, row.machines),
        because: row.because.clone().unwrap_or_default(),
    }
}

/// Whether the machines agree, spelled as in JSON.
pub(super) fn agreement(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Agree => "agree",
        Agreement::Differ => "differ",
        Agreement::Opposite => "opposite",
    }
}

/// `0.812 (0.790 to 0.834)`.
fn effect(row: &Pooled, of: Option<f64>, difference: Option<f64>, ci: Option<[f64; 2]>) -> String {
    let show = |value: f64| match of {
        Some(_) => ratio(value),
        None => significant(value, 2),
    };
    let difference = difference.map(|value| number::difference(value, &row.unit));
    let Some(value) = of.map(ratio).or(difference) else {
        return "–".to_owned();
    };
    match ci {
        Some([low, high]) => format!("{value} ({} to {})", show(low), show(high)),
        None => value,
    }
}
