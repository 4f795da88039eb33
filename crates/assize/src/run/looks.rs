//! When an experiment may stop before all its runs are done.

use std::collections::BTreeSet;

use assize_plan::{Plan, PlannedRun};
use assize_verdict::{Comparison, Document, Scale};

use crate::terms::Looks;

/// The runs up to a look, in the order of the schedule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stage {
    /// Runs that must be recorded before the look.
    pub(crate) runs: Vec<PlannedRun>,
    /// Blocks that are complete then; the look sees these and no others.
    pub(crate) blocks: BTreeSet<u32>,
    /// Whether anything is left to be decided: not after the last stage.
    pub(crate) look: bool,
}

/// Cuts the schedule where it has to be looked at.
pub(crate) fn stages(plan: &Plan) -> Vec<Stage> {
    let blocks: Vec<u32> = plan
        .runs
        .iter()
        .map(|run| run.block)
        .collect::<BTreeSet<u32>>()
        .into_iter()
        .collect();
    let most = blocks.len() as u32;
    let ends = plan
        .until
        .map_or_else(|| vec![most], |until| Looks::planned(&until, most).ends);
    let mut begin = 0;
    let mut stages = Vec::new();
    for end in ends.into_iter().map(|end| end as usize) {
        let new = &blocks[begin..end];
        let of_stage = |run: &&PlannedRun| new.contains(&run.block);
        stages.push(Stage {
            runs: plan.runs.iter().filter(of_stage).copied().collect(),
            blocks: blocks[..end].iter().copied().collect(),
            look: end < blocks.len(),
        });
        begin = end;
    }
    stages
}

/// Whether the intervals of all primary metrics are as narrow as asked: from
/// the ratio divided by 1 + `within` to the ratio times 1 + `within`.
///
/// A primary metric that was not recorded is never narrow.
pub(crate) fn narrow(document: &Document, primary: &[String], within: f64) -> bool {
    !primary.is_empty()
        && primary.iter().all(|metric| {
            let of_metric = |row: &&Comparison| row.metric == *metric;
            let mut rows = document.comparisons.iter().filter(of_metric).peekable();
            rows.peek().is_some() && rows.all(|row| is_narrow(row, within))
        })
}

fn is_narrow(row: &Comparison, within: f64) -> bool {
    let Some([low, high]) = row.ci else {
        return false;
    };
    match (row.scale, row.ratio) {
        (Scale::Log | Scale::Summary, Some(ratio)) => {
            high <= ratio * (1.0 + within) && low >= ratio / (1.0 + within)
        }
        // No ratio, no share of it: only values without any variation.
        _ => low == high,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use assize_bundle::{Measurement, Records, Run};
    use assize_verdict::{Options, try_records};

    fn document(spread: f64, level: f64) -> Document {
        let mut records = Records::default();
        for (configuration, mean) in [("old", 10.0), ("new", 5.0)] {
            for repetition in 1..=6u32 {
                let mut run = Run::new(configuration, "build", repetition);
                let value = mean * (1.0 + spread * (f64::from(repetition) - 3.5));
                run.metrics
                    .insert("time".into(), Measurement::new(value, "s"));
                records.runs.push(run);
            }
        }
        let options = Options {
            level,
            ..Options::default()
        };
        try_records(&records, &options).unwrap()
    }

    fn narrow(document: &Document, within: f64, primary: &[&str]) -> bool {
        let primary: Vec<String> = primary.iter().map(|name| (*name).into()).collect();
        super::narrow(document, &primary, within)
    }

    #[test]
    fn narrow_intervals_stop_and_wide_ones_do_not() {
        assert!(narrow(&document(0.001, 0.95), 0.05, &["time"]));
        assert!(!narrow(&document(0.1, 0.95), 0.05, &["time"]));
        assert!(
            narrow(&document(0.0, 0.95), 0.05, &["time"]),
            "no variation"
        );
    }

    #[test]
    fn a_higher_level_asks_for_more() {
        let width = |document: &Document| document.comparisons[0].ci.unwrap();
        let (one, many) = (document(0.01, 0.95), document(0.01, 0.995));
        assert!(width(&many)[1] > width(&one)[1] && width(&many)[0] < width(&one)[0]);
        let just = width(&one)[1] / one.comparisons[0].ratio.unwrap() - 1.0 + 1e-9;
        assert!(narrow(&one, just, &["time"]) && !narrow(&many, just, &["time"]));
    }

    #[test]
    fn what_was_not_recorded_or_not_declared_stops_nothing() {
        let document = document(0.001, 0.95);
        assert!(!narrow(&document, 0.5, &[]));
        assert!(!narrow(&document, 0.5, &["time", "power"]));
        assert!(!narrow(&document, 0.5, &["power"]));
    }
}
