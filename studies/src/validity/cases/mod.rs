//! The cases: how to generate documents, what to count in them, and goals.

mod nulls;
mod outcomes;
mod planted;
pub(crate) mod power;

use super::source::Source;
use super::tally::{Measure, Tally};
use super::trial::Trial;

/// The number of documents that share a stream of random numbers.
pub(crate) const CHUNK: u32 = 20;

/// The section of the report that shows a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// A single fault of an experiment, or a single question.
    Single,
    /// Runs that crash.
    Crashes,
    /// The same design with increasing numbers of runs; the share found must not fall.
    Runs,
    /// The power by effect size and number of rows.
    Power,
    /// Nothing differs.
    Null,
}

/// The goal for a share.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    None,
    NoMore(f64),
    NoLess(f64),
    Never,
}

/// A function that generates a document of a case.
type Make = Box<dyn Fn(&mut Source) -> Trial + Send + Sync>;

pub(crate) struct Case {
    /// A unique name; the key of random numbers and figures.
    pub(crate) name: String,
    pub(crate) section: Section,
    /// A description for the table.
    pub(crate) what: String,
    /// The number of documents in a full and in a quick run.
    documents: [u32; 2],
    /// Whether to apply other methods to the same runs.
    pub(crate) with_peers: bool,
    /// The measures to show, with their goals.
    pub(crate) shown: Vec<(Measure, Goal)>,
    pub(crate) make: Make,
    /// The counts.
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

    /// The number of chunks to simulate.
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
