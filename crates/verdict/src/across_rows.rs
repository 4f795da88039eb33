//! Rows of the document for comparisons on several machines.

use assize_judge::Interval;

use crate::across::{AcrossMachines, Generalisation};
use crate::compare::{CellComparison, ends};
use crate::document::{Agreement, Comparison, MachineComparison, Pooled, Scale};
use crate::words::{finite, p_value};

/// How far the machines agree, in words, for the row's `because`.
pub(crate) fn agreement_sentence(across: &AcrossMachines, alpha: f64) -> String {
    if let Some(text) = across.disagreement() {
        return text;
    }
    let several = format!("{} {}", across.machines.len(), across.kind.plural());
    let p = match &across.together {
        Some((heterogeneity, _)) => format!(" (p {})", p_value(heterogeneity.p_welch)),
        None => String::new(),
    };
    let kind = across.kind.plural();
    let reach = match across.generalisation(alpha) {
        Generalisation::LikeThese => String::new(),
        Generalisation::AllOfThese => format!("; shown for these {kind}, not for others like them"),
        Generalisation::None => {
            format!("; shown neither for these {kind} nor for others like them")
        }
    };
    let how = match across.agreement() {
        Agreement::Differ => format!("whose effects differ in size{p}"),
        _ if across.together.is_none() => return format!("pooled over {several}{reach}"),
        _ => format!("which are not shown to differ{p}"),
    };
    format!("pooled over {several}, {how}{reach}")
}

pub(crate) fn machine_rows(across: &AcrossMachines, row: &Comparison) -> Vec<MachineComparison> {
    let of = across.machines.iter().map(|on| {
        let comparison = &on.comparison;
        MachineComparison {
            workload: row.workload.clone(),
            metric: row.metric.clone(),
            unit: row.unit.clone(),
            baseline: row.baseline.clone(),
            configuration: row.configuration.clone(),
            machine: on.machine.clone(),
            n_baseline: comparison.n_a,
            n: comparison.n_b,
            mean_baseline: comparison.mean_a,
            mean: comparison.mean_b,
            scale: comparison.scale,
            ratio: comparison.ratio,
            difference: comparison.difference,
            ci: comparison.ci_ends(),
            standard_error: comparison.estimate.and_then(|e| finite(e.standard_error)),
            df: comparison.estimate.and_then(|e| finite(e.df)),
            weight: on.weight.and_then(finite),
            p_t: comparison.p_t,
            t_test: comparison.t_test,
            p: on.answer.p,
            p_attainable: comparison.p_attainable,
            p_adjusted: on.answer.p_adjusted,
            p_t_adjusted: on.answer.p_t_adjusted,
            verdict: on.verdict,
            because: joined(comparison),
        }
    });
    of.collect()
}

fn joined(comparison: &CellComparison) -> Option<String> {
    (!comparison.because.is_empty()).then(|| comparison.because.join("; "))
}

/// The pooled row of all machines; `row` is the comparison with its figures.
pub(crate) fn pooled_row(
    across: &AcrossMachines,
    comparison: &CellComparison,
    row: &Comparison,
) -> Pooled {
    let together = across.together.as_ref();
    let raw = row.scale == Scale::Raw;
    let back = |value: f64| finite(if raw { value } else { value.exp() });
    let interval = |of: Interval| Some([back(of.low)?, back(of.high)?]);
    let random = together.map(|both| both.1);
    let differ = together.map(|both| both.0);
    let mean = random.and_then(|random| back(random.effect));
    Pooled {
        workload: row.workload.clone(),
        metric: row.metric.clone(),
        unit: row.unit.clone(),
        baseline: row.baseline.clone(),
        configuration: row.configuration.clone(),
        machines: u32::try_from(across.machines.len()).unwrap_or(u32::MAX),
        shown_on: across.machines_showing(comparison),
        scale: row.scale,
        ratio: row.ratio,
        difference: row.difference,
        ci: row.ci,
        ratio_random: mean.filter(|_| !raw),
        difference_random: mean.filter(|_| raw),
        ci_random: random.and_then(|random| interval(random.ci)),
        prediction: random.and_then(|random| interval(random.prediction?)),
        q: differ.and_then(|of| finite(of.q)),
        q_p: differ.and_then(|of| finite(of.p)),
        q_p_welch: differ.and_then(|of| finite(of.p_welch)),
        i2: differ.and_then(|of| finite(of.i2)),
        i2_ci: differ.and_then(|of| ends(of.i2_ci)),
        tau2: differ.and_then(|of| finite(of.tau2)),
        tau2_ci: differ.and_then(|of| ends(of.tau2_ci)),
        p_t: row.p_t,
        p: row.p,
        p_attainable: row.p_attainable,
        p_adjusted: row.p_adjusted,
        p_t_adjusted: row.p_t_adjusted,
        agreement: across.agreement(),
        verdict: row.verdict,
        because: row.because.clone(),
    }
}
