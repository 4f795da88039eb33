//! Noise floors: repeated baselines compared with the baseline.

use assize_judge::holm;

use crate::baselines::repeated;
use crate::cells::{CellKey, Cells};
use crate::compare::compare_cells;
use crate::document::{NoiseFloor, Verdict};
use crate::options::Options;
use crate::row::{equivalence_p, why_outliers};

/// Compares every repeated baseline with its baseline. A difference is noise, so only equivalence
/// is tested, in a family of these rows alone (Holm).
pub(crate) fn noise_floors(cells: &Cells<'_>, options: &Options) -> Vec<NoiseFloor> {
    let mut floors = Vec::new();
    let mut tests = Vec::new();
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
            let p = equivalence_p(&comparison, options);
            let p = p.filter(|_| why_outliers(a, b, options).is_none());
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
        // The interval that is printed must not say otherwise.
        let [low, high] = floor.ci.unwrap_or([0.0, f64::INFINITY]);
        let inside = (low - 1.0).abs() < options.margin && (high - 1.0).abs() < options.margin;
        if inside && p <= options.alpha {
            floor.verdict = Verdict::Equivalent;
        }
    }
    floors
}
