//! Noise floors: repeated baselines compared with the baseline.

use assize_judge::{equivalence, holm};

use crate::baselines::repeated;
use crate::cells::{CellKey, Cells};
use crate::compare::compare_cells;
use crate::document::{NoiseFloor, Verdict};
use crate::options::Options;
use crate::row::{equivalence_p, why_outliers};

/// Compares every repeated baseline with its baseline. Any difference is noise, so only equivalence
/// is tested, with Holm's correction over these rows alone.
pub(crate) fn noise_floors(cells: &Cells<'_>, options: &Options) -> Vec<NoiseFloor> {
    let mut floors = Vec::new();
    let mut tests = Vec::new();
    let margin = equivalence::bounds(options.margin).ok();
    for (workload, metric) in cells.rows() {
        for (configuration, b) in cells.row(workload, metric) {
            let Some(baseline) = repeated(cells, configuration) else {
                continue;
            };
            let key = CellKey {
                workload,
                metric,
                configuration: baseline,
            };
            let Some(a) = cells.get(key) else {
                continue;
            };
            let comparison = compare_cells(cells, a, b);
            // The printed interval must not contradict the verdict.
            let inside = comparison
                .ci
                .zip(margin)
                .is_some_and(|(ci, m)| ci.within(&m));
            let may_be_equal = inside && why_outliers(a, b, options).is_none();
            let p = equivalence_p(&comparison, options).filter(|_| may_be_equal);
            tests.push(p.unwrap_or(1.0));
            floors.push(NoiseFloor {
                workload: cells.workloads[workload].clone(),
                metric: cells.metrics[metric].name.clone(),
                unit: cells.metrics[metric].unit.clone(),
                baseline: cells.configurations[baseline].clone(),
                configuration: cells.configurations[configuration].clone(),
                n_baseline: comparison.n_a,
                n: comparison.n_b,
                ratio: comparison.ratio,
                ci: comparison.ci_ends(),
                p_t: comparison.p_t,
                p: comparison.p_alone(options.seed),
                difference: comparison.difference,
                verdict: Verdict::Undecided,
            });
        }
    }
    for (floor, p) in floors.iter_mut().zip(holm(&tests)) {
        if p <= options.alpha {
            floor.verdict = Verdict::Equivalent;
        }
    }
    floors
}
