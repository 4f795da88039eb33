//! Intervals of a running experiment.

use assize_bundle::Records;

use crate::baselines::Baselines;
use crate::cells::{CellKey, Cells};
use crate::compare::compare_cells;
use crate::document::Scale;
use crate::options::Options;

/// The interim result of one configuration compared with its baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct InterimResult {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The reference configuration.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// The ratio or, on the raw scale, the difference in the metric's unit.
    pub effect: f64,
    /// Its 95 % interval.
    pub ci: [f64; 2],
    /// The scale, which says whether `effect` is a ratio or a difference.
    pub scale: Scale,
    /// Runs of the baseline.
    pub n_baseline: u32,
    /// Runs of the configuration.
    pub n: u32,
}

/// The ratio and interval of every configuration on these metrics, from the runs
/// so far, in the order of the verdict document.
///
/// There is no test and no verdict in it: stopping when the figures look good
/// would invalidate both. Cells with fewer than two runs are left out.
pub fn interim_results(records: &Records, metrics: &[String]) -> Vec<InterimResult> {
    let cells = Cells::new(records);
    let Ok(baselines) = Baselines::new(&cells, &Options::default()) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (key, baseline) in baselines.compared(&cells) {
        let named = &cells.metrics[key.metric];
        let of_baseline = CellKey {
            configuration: baseline,
            ..key
        };
        let (true, Some(a), Some(b)) = (
            metrics.contains(&named.name),
            cells.get(of_baseline),
            cells.get(key),
        ) else {
            continue;
        };
        let comparison = compare_cells(&cells, a, b);
        let effect = comparison.ratio.or(comparison.difference);
        let (Some(effect), Some(ci), Some(n_baseline), Some(n)) =
            (effect, comparison.ci_ends(), comparison.n_a, comparison.n_b)
        else {
            continue;
        };
        all.push(InterimResult {
            workload: cells.workloads[key.workload].clone(),
            metric: named.name.clone(),
            unit: named.unit.clone(),
            baseline: cells.configurations[baseline].clone(),
            configuration: cells.configurations[key.configuration].clone(),
            effect,
            ci,
            scale: comparison.scale,
            n_baseline,
            n,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, try_records};
    use assize_bundle::{Measurement, Run};

    #[test]
    fn they_are_the_intervals_of_the_verdict() {
        let mut records = Records::default();
        for (configuration, by) in [("old", 1.0), ("new", 0.9)] {
            for (repetition, time) in (1..).zip([10.2, 10.0, 10.1, 9.9]) {
                let mut run = Run::new(configuration, "build", repetition);
                for metric in ["time", "other"] {
                    let value = Measurement::new(time * by, "s");
                    run.metrics.insert(metric.into(), value);
                }
                records.runs.push(run);
            }
        }
        let seen = interim_results(&records, &["time".into()]);
        assert_eq!(seen.len(), 1);
        let document = try_records(&records, &Options::default()).unwrap();
        let row = &document.comparisons[0];
        assert_eq!(
            (Some(seen[0].effect), Some(seen[0].ci)),
            (row.ratio, row.ci)
        );
        assert_eq!((seen[0].n_baseline, seen[0].n), (4, 4));
        records.runs.truncate(5);
        assert!(
            interim_results(&records, &["time".into()]).is_empty(),
            "one run has no interval"
        );
    }
}
