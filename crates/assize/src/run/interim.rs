//! Decides whether an experiment may stop early.

use std::collections::BTreeSet;

use assize_plan::{Plan, PlannedRun};
use assize_verdict::{Comparison, Document, Scale, Verdict};

use crate::terms::InterimLooks;

/// The runs up to a look, in schedule order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InterimStage {
    /// Runs that must be recorded before the look.
    pub(crate) runs: Vec<PlannedRun>,
    /// The blocks complete then; the look uses only these.
    pub(crate) blocks: BTreeSet<u32>,
    /// Whether to look at the data then; false for the last stage, as nothing remains to be
    /// decided.
    pub(crate) look: bool,
}

/// Splits the schedule at the planned looks.
pub(crate) fn stages(plan: &Plan) -> Vec<InterimStage> {
    let blocks: Vec<u32> = plan
        .runs
        .iter()
        .map(|run| run.block)
        .collect::<BTreeSet<u32>>()
        .into_iter()
        .collect();
    let most = blocks.len() as u32;
    let until = plan.until.as_ref();
    let ends = until.map_or_else(
        || vec![most],
        |until| InterimLooks::planned(until, most).ends,
    );
    let mut begin = 0;
    let mut stages = Vec::new();
    for end in ends.into_iter().map(|end| end as usize) {
        let new = &blocks[begin..end];
        let of_stage = |run: &&PlannedRun| new.contains(&run.block);
        stages.push(InterimStage {
            runs: plan.runs.iter().filter(of_stage).copied().collect(),
            blocks: blocks[..end].iter().copied().collect(),
            look: end < blocks.len(),
        });
        begin = end;
    }
    stages
}

/// Whether more runs would not change the answer: every comparison of the watched metrics has a
/// verdict, and its interval lies between the ratio divided by 1 + `within` and the ratio times 1 +
/// `within`. A narrow interval alone is not enough, as it may contain both no difference and one
/// that matters.
///
/// A watched metric that was not recorded needs more runs.
pub(crate) fn enough(document: &Document, watched: &[String], within: f64) -> bool {
    !watched.is_empty()
        && watched.iter().all(|metric| {
            let of_metric = |row: &&Comparison| row.metric == *metric;
            let mut rows = document.comparisons.iter().filter(of_metric).peekable();
            rows.peek().is_some() && rows.all(|row| is_decided(row) && is_narrow(row, within))
        })
}

fn is_decided(row: &Comparison) -> bool {
    matches!(row.verdict, Verdict::Established | Verdict::Equivalent)
}

fn is_narrow(row: &Comparison, within: f64) -> bool {
    let Some([low, high]) = row.ci else {
        return false;
    };
    match (row.scale, row.ratio) {
        (Scale::Log | Scale::Summary, Some(ratio)) => {
            high <= ratio * (1.0 + within) && low >= ratio / (1.0 + within)
        }
        // Without a ratio there is no percentage, so only values without variation are enough.
        _ => low == high,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use assize_bundle::{Measurement, Records, Run};
    use assize_plan::Overrides;
    use assize_verdict::{Options, try_records};
    use std::collections::BTreeMap;

    use crate::cli::TrialArguments;
    use crate::output;
    use crate::terms::JudgingTerms;

    fn document(spread: f64, level: f64) -> Document {
        let mut records = Records::default();
        for repetition in 1..=6u32 {
            for (at, configuration, mean) in [(0, "old", 10.0), (1, "new", 5.0)] {
                let mut run = Run::new(configuration, "build", repetition);
                run.order = 2 * repetition + at;
                run.block = Some(repetition);
                // Shuffled, so that there is no drift.
                let place = f64::from((4 + at) * repetition % 7) - 3.5;
                let value = mean * (1.0 + spread * place);
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

    fn enough(document: &Document, within: f64, watched: &[&str]) -> bool {
        let watched: Vec<String> = watched.iter().map(|name| (*name).into()).collect();
        super::enough(document, &watched, within)
    }

    #[test]
    fn narrow_intervals_stop_and_wide_ones_do_not() {
        assert!(enough(&document(0.001, 0.95), 0.05, &["time"]));
        assert!(!enough(&document(0.1, 0.95), 0.05, &["time"]));
        assert!(
            enough(&document(0.0, 0.95), 0.05, &["time"]),
            "no variation"
        );
    }

    #[test]
    fn a_higher_level_asks_for_more() {
        let width = |document: &Document| document.comparisons[0].ci.unwrap();
        let (one, many) = (document(0.01, 0.95), document(0.01, 0.995));
        assert!(width(&many)[1] > width(&one)[1] && width(&many)[0] < width(&one)[0]);
        let ([low, high], ratio) = (width(&one), one.comparisons[0].ratio.unwrap());
        let just = (high / ratio).max(ratio / low) - 1.0 + 1e-9;
        assert!(enough(&one, just, &["time"]) && !enough(&many, just, &["time"]));
    }

    #[test]
    fn what_was_not_recorded_or_not_declared_stops_nothing() {
        let document = document(0.001, 0.95);
        assert!(!enough(&document, 0.5, &[]));
        assert!(!enough(&document, 0.5, &["time", "power"]));
        assert!(!enough(&document, 0.5, &["power"]));
    }

    /// How many of 20 comparisons of two commands, using the experiment of `compare`, end
    /// with each verdict on elapsed and on CPU time. `elapsed` and `cpu` are the relative
    /// variation of runs; the second command takes `ratio` times as long in both.
    fn compared(elapsed: f64, cpu: f64, ratio: f64) -> BTreeMap<(&'static str, &'static str), u32> {
        let text = crate::commands::file_of(&["one", "other"]);
        let experiment = assize_plan::parse(&text, "compare.toml").unwrap();
        let plan = experiment.plan(&Overrides::default()).unwrap();
        let watched = [plan.until.clone().unwrap().metric.unwrap()];
        let within = plan.until.as_ref().unwrap().within;
        let mut verdicts = BTreeMap::new();
        for seed in 0..20 {
            println!("seed {seed}");
            // Knuth's MMIX generator; the sum of twelve draws is approximately normal.
            let mut state: u64 = seed;
            let mut draw = || {
                let (times, plus) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
                state = state.wrapping_mul(times).wrapping_add(plus);
                (state >> 40) as f64 / (1_u64 << 24) as f64
            };
            let mut value = |spread: f64, effect: f64| {
                let sum: f64 = (0..12).map(|_| draw()).sum();
                Measurement::new(1e8 * effect * (spread * (sum - 6.0)).exp(), "ns")
            };
            let mut records = Records::default();
            for planned in &plan.runs {
                let name = &plan.configurations[planned.configuration].name;
                let mut run = Run::new(name.clone(), "command", planned.repetition);
                (run.order, run.block) = (planned.index, Some(planned.block));
                let effect = [1.0, ratio][planned.configuration];
                let metrics = [("elapsed", elapsed), ("command_cpu_time", cpu)];
                run.metrics = metrics
                    .map(|(metric, spread)| (metric.to_owned(), value(spread, effect)))
                    .into();
                records.runs.push(run);
            }
            records.primary = plan.primary.iter().map(|one| one.metric.clone()).collect();
            let document = stages(&plan).iter().find_map(|stage| {
                let terms = JudgingTerms::planned(&plan).with_complete(stage.blocks.len() as u32);
                let mut options = output::options(&TrialArguments::default(), &terms).unwrap();
                options.baseline = Some(plan.configurations[0].name.clone());
                let mut there = records.clone();
                there
                    .runs
                    .retain(|run| stage.blocks.contains(&run.block.unwrap()));
                let document = try_records(&there, &options).unwrap();
                (!stage.look || super::enough(&document, &watched, within)).then_some(document)
            });
            for row in document.unwrap().comparisons {
                let metric = match row.metric.as_str() {
                    "elapsed" => "elapsed",
                    _ => "cpu",
                };
                *verdicts.entry((metric, row.verdict.word())).or_insert(0) += 1;
            }
        }
        verdicts
    }

    #[test]
    fn compare_can_say_that_there_is_no_difference() {
        let verdicts = compared(0.01, 0.005, 1.0);
        let of = |metric, verdict| {
            verdicts
                .get(&(metric, Verdict::word(verdict)))
                .copied()
                .unwrap_or(0)
        };
        assert!(of("elapsed", Verdict::Equivalent) >= 15, "{verdicts:?}");
        let found = of("elapsed", Verdict::Established) + of("cpu", Verdict::Established);
        assert!(found <= 1, "{verdicts:?}");
    }

    #[test]
    fn cpu_time_finds_what_load_hides_of_elapsed_time() {
        let verdicts = compared(0.1, 0.005, 1.02);
        let of = |metric, verdict| {
            verdicts
                .get(&(metric, Verdict::word(verdict)))
                .copied()
                .unwrap_or(0)
        };
        assert!(of("cpu", Verdict::Established) >= 19, "{verdicts:?}");
        assert!(of("elapsed", Verdict::Established) <= 5, "{verdicts:?}");
    }
}
