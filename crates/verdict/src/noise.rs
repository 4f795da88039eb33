//! Noise floors: repeated baselines compared with the baseline.

use crate::baselines::repeated;
use crate::cells::{CellKey, Cells};
use crate::compare::compare_cells;
use crate::document::NoiseFloor;

/// Compares every repeated baseline with its baseline. These rows test no
/// hypothesis, so they belong to no family and get no verdict.
pub(crate) fn noise_floors(cells: &Cells<'_>, seed: u64) -> Vec<NoiseFloor> {
    let mut floors = Vec::new();
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
                p: comparison.p_alone(seed),
                difference: comparison.difference,
            });
        }
    }
    floors
}
