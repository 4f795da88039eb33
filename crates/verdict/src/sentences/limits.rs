//! A sentence about what the design cannot show.

use assize_judge::permutation;

use crate::comparisons::against;
use crate::document::{Comparison, Document, Sentence};
use crate::words::p_value;

/// Says that nothing can be established, or nothing can be compared.
pub(super) fn find(document: &Document) -> Option<Sentence> {
    if document.comparisons.is_empty() && document.rate_comparisons.is_empty() {
        return document.same.is_empty().then(|| incomparable(document));
    }
    too_few_runs(document)
}

fn too_few_runs(document: &Document) -> Option<Sentence> {
    // If metrics are declared primary, only those matter.
    let primary = document.comparisons.iter().any(|c| c.primary);
    let tested: Vec<(&Comparison, f64)> = document
        .comparisons
        .iter()
        .filter(|c| c.primary || !primary)
        .filter_map(|c| Some((c, c.p_attainable?)))
        .collect();
    let best = tested.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (a, b) = (best.0.n_baseline?, best.0.n?);
    // Single runs do not matter if events were counted.
    let aside = a.min(b) < 2 && !document.rate_comparisons.is_empty();
    if best.1 <= document.alpha || aside {
        return None;
    }
    // Blocks raise the attainable p of a number of runs.
    let whole = permutation::attainable(a as usize, b as usize);
    let enough = permutation::runs_needed(document.alpha)
        .filter(|_| (whole - best.1).abs() <= 1e-9 * best.1)
        .map_or(String::new(), |n| {
            let p = permutation::attainable(n as usize, n as usize);
            format!("; {n} would reach {}", p_value(p))
        });
    let mut workloads: Vec<String> = tested.iter().map(|(c, _)| c.workload.clone()).collect();
    workloads.dedup();
    Some(Sentence {
        text: format!(
            "{} cannot establish anything: the smallest attainable p is {}{enough}.",
            against(a, b),
            p_value(best.1)
        ),
        rows: workloads,
    })
}

fn incomparable(document: &Document) -> Sentence {
    if let Some(floor) = document.noise_floor.first() {
        return Sentence {
            text: format!(
                "No claim can be judged: {} and {} are the same, so any difference is noise.",
                floor.baseline, floor.configuration
            ),
            rows: Vec::new(),
        };
    }
    let recorded = !document.runs.is_empty() || !document.summaries.is_empty();
    let normalised = document
        .statements
        .iter()
        .all(|s| s.normalised_to.is_some());
    let why = if recorded && document.configurations.len() < 2 {
        "only one configuration was recorded"
    } else if recorded {
        "no two configurations have a workload and a metric in common"
    } else if !document.rates.is_empty() {
        "events were counted for one configuration only"
    } else if normalised && !document.statements.is_empty() {
        "there are only normalised figures without a number of runs"
    } else if document.statements.iter().any(|s| s.not_admitted) {
        "nothing says that the figures that were read belong to a comparison"
    } else if !document.statements.is_empty() {
        "there are only figures without a number of runs"
    } else {
        "no figures were found"
    };
    let what = match document.outcomes.is_empty() {
        true => "No claim can be judged",
        false => "No metric can be compared",
    };
    Sentence {
        text: format!("{what}: {why}."),
        rows: Vec::new(),
    }
}
