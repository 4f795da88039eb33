//! The cases: how documents are made, what is counted in them, what is promised.

mod nulls;
mod outcomes;
mod planted;
pub(crate) mod power;

use super::source::Source;
use super::tally::{Measure, Tally};
use super::trial::Trial;

/// Documents that share one stream of random numbers.
pub(crate) const CHUNK: u32 = 20;

/// The part of the report that shows a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// One fault of an experiment, or one question.
    Single,
    /// The same with more and more runs; the share that is found must not fall.
    Runs,
    /// What effect is found in how many rows.
    Power,
    /// Nothing differs.
    Null,
}

/// What is promised of a share.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    None,
    NoMore(f64),
    NoLess(f64),
    Never,
}

/// How a case's documents are made.
type Make = Box<dyn Fn(&mut Source) -> Trial + Send + Sync>;

/// One case.
pub(crate) struct Case {
    /// Unique; random numbers and figures are kept under it.
    pub(crate) name: String,
    pub(crate) section: Section,
    /// In words, for the table.
    pub(crate) what: String,
    /// Documents of a full and of a quick run.
    documents: [u32; 2],
    /// Whether other methods read the same runs.
    pub(crate) with_peers: bool,
    /// What is shown, and what is promised of it.
    pub(crate) shown: Vec<(Measure, Goal)>,
    pub(crate) make: Make,
    /// What was counted.
    pub(crate) tally: Tally,
}

impl Case {
    fn new(
        section: Section,
        name: impl Into<String>,
        what: impl Into<String>,
        documents: [u32; 2],
        make: impl Fn(&mut Source) -> Trial + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            section,
            what: what.into(),
            documents,
            with_peers: false,
            shown: Vec::new(),
            make: Box::new(make),
            tally: Tally::default(),
        }
    }

    fn shows(mut self, measure: Measure, goal: Goal) -> Self {
        self.shown.push((measure, goal));
        self
    }

    fn beside_peers(mut self) -> Self {
        self.with_peers = true;
        self
    }

    /// How many chunks are simulated.
    pub(crate) fn chunks(&self, quick: bool) -> u32 {
        self.documents[usize::from(quick)] / CHUNK
    }
}

/// All cases, in the order of the report.
pub(crate) fn all() -> Vec<Case> {
    let mut all = planted::cases();
    all.extend(outcomes::cases());
    all.extend(power::by_runs());
    all.extend(power::cases());
    all.extend(nulls::cases());
    all
}
