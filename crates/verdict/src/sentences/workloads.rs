//! Sentences about effects that differ between workloads.

use super::{ComparisonFacts, verb, verdict_suffix};
use crate::document::Sentence;
use crate::words::and_list;

/// Maximum number of sentences of this kind.
const MOST: usize = 2;

/// The same metric and configuration on two workloads, with intervals that do
/// not overlap, so that the effects differ and not merely their precision.
struct WorkloadSplit<'d> {
    here: ComparisonFacts<'d>,
    there: ComparisonFacts<'d>,
}

impl WorkloadSplit<'_> {
    fn opposite(&self) -> bool {
        self.there.strong && self.there.up != self.here.up
    }

    fn distance(&self) -> f64 {
        (self.here.ratio / self.there.ratio).ln().abs()
    }
}

/// Finds, for each metric, the configuration whose effect differs most between
/// workloads; effects of opposite direction come first.
pub(super) fn find(seen: &[ComparisonFacts<'_>]) -> Vec<Sentence> {
    let mut splits = splits(seen);
    splits.sort_by(|a, b| {
        let opposite = b.opposite().cmp(&a.opposite());
        opposite.then(b.distance().total_cmp(&a.distance()))
    });
    let mut told: Vec<usize> = Vec::new();
    let mut sentences = Vec::new();
    for split in &splits {
        if sentences.len() < MOST && !told.contains(&split.here.metric) {
            told.push(split.here.metric);
            sentences.push(sentence(split, &splits));
        }
    }
    sentences
}

fn splits<'d>(seen: &[ComparisonFacts<'d>]) -> Vec<WorkloadSplit<'d>> {
    let mut splits = Vec::new();
    for here in seen.iter().filter(|s| s.strong) {
        let others = seen.iter().filter(|there| {
            there.workload != here.workload
                && there.metric == here.metric
                && there.row.configuration == here.row.configuration
                && there.row.baseline == here.row.baseline
        });
        for there in others {
            let apart = here.ci[0] > there.ci[1] || here.ci[1] < there.ci[0];
            let split = WorkloadSplit {
                here: *here,
                there: *there,
            };
            // Opposite effects on two workloads are reported once, with the first as `here`.
            let told = split.opposite() && there.workload < here.workload;
            if apart && (split.opposite() || !there.strong) && !told {
                splits.push(split);
            }
        }
    }
    splits
}

fn sentence(split: &WorkloadSplit<'_>, all: &[WorkloadSplit<'_>]) -> Sentence {
    let (here, there) = (&split.here, &split.there);
    let contrast = if split.opposite() {
        format!("and {} on {}", verb(there.up, false), there.row.workload)
    } else {
        format!("but not on {}", there.row.workload)
    };
    let alike = same_direction(split, all);
    let names: Vec<&str> = alike
        .iter()
        .map(|s| s.here.row.configuration.as_str())
        .collect();
    let also = if names.is_empty() {
        String::new()
    } else {
        format!("; the same with {}", and_list(&names))
    };
    let text = format!(
        "{} {} on {} ({}) {contrast} ({}) with {}{}{also}.",
        here.row.metric,
        verb(here.up, false),
        here.row.workload,
        here.figures(),
        there.figures(),
        here.row.configuration,
        verdict_suffix(if split.opposite() {
            vec![here, there]
        } else {
            vec![here]
        }),
    );
    let pairs = std::iter::once(split).chain(alike.iter().copied());
    Sentence {
        text,
        rows: pairs
            .flat_map(|s| [s.here.name(), s.there.name()])
            .collect(),
    }
}

/// The splits of other configurations in the same direction.
fn same_direction<'s, 'd>(
    split: &WorkloadSplit<'d>,
    all: &'s [WorkloadSplit<'d>],
) -> Vec<&'s WorkloadSplit<'d>> {
    all.iter()
        .filter(|other| {
            other.here.metric == split.here.metric
                && other.here.workload == split.here.workload
                && other.there.workload == split.there.workload
                && other.here.up == split.here.up
                && other.opposite() == split.opposite()
                && other.here.row.configuration != split.here.row.configuration
        })
        .collect()
}
