//! What a format is ([`Grammar`]) and what it reads: blocks of findings.

use assize_bundle::Spread;

use super::begins::Begins;
use super::grid::Grid;
use crate::line::Line;

/// What a block itself says about the place of a finding in the experiment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Labels {
    /// The configuration, if the block names it.
    pub configuration: Option<String>,
    /// The workload, if the block names it (a command line is fine: it is
    /// shortened later).
    pub workload: Option<String>,
    /// The repetition, if the block names it (any integer; renumbered later).
    pub repetition: Option<u32>,
}

/// A named value with its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The metric as the tool prints it (`context-switches`,
    /// `cpu_core/cycles/`, `power/energy-pkg/`, `latency max`).
    pub metric: String,
    /// The value as printed; finite.
    pub value: f64,
    /// The unit as printed; empty for a plain count.
    pub unit: String,
    /// The place of the last digit that was printed, where a number equal to
    /// the value stands in the text. Grammars leave it to the scanner, but for
    /// numbers with a suffix (`123k`).
    pub step: Option<f64>,
}

impl Figure {
    /// A named value with its unit.
    pub fn new(metric: impl Into<String>, value: f64, unit: impl Into<String>) -> Self {
        Figure {
            metric: metric.into(),
            value,
            unit: unit.into(),
            step: None,
        }
    }
}

/// One thing that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// One execution with all that was measured in it.
    Run {
        /// What the block says of its place.
        labels: Labels,
        /// Its metrics, in the order printed; no name twice.
        figures: Vec<Figure>,
    },
    /// A mean over several executions whose single values are not given.
    Summary {
        /// What the block says of its place.
        labels: Labels,
        /// The mean.
        figure: Figure,
        /// Its uncertainty, if printed.
        spread: Option<Spread>,
        /// Number of runs, if printed.
        n: Option<u32>,
    },
    /// Counted events.
    Events {
        /// What the block says of its place.
        labels: Labels,
        /// What was counted.
        event: String,
        /// How many.
        count: u64,
        /// Seconds of exposure, if the block says so.
        exposure_s: Option<f64>,
        /// Seconds on one clock, ascending; may be empty.
        times_s: Vec<f64>,
    },
    /// A figure behind which no known number of runs stands (a normalised
    /// percentage, a figure in prose).
    Statement {
        /// What the block says of its place.
        labels: Labels,
        /// The figure.
        figure: Figure,
        /// What it was divided by, if normalised.
        normalised_to: Option<String>,
    },
    /// A counter that gave no number.
    Unsupported {
        /// What the block says of its place.
        labels: Labels,
        /// The counter.
        metric: String,
        /// `not supported` or `not counted`.
        reason: String,
    },
    /// What the program under test printed about itself (an FPS line): one
    /// measurement inside a run, to be joined to the run it belongs to.
    Sample(Figure),
    /// A table whose rows and columns are given their roles later, from all
    /// that surrounds it.
    Grid(Box<Grid>),
    /// The command line of which a report says that it is of it; holds for the block
    /// alone.
    Command(String),
    /// Something doubtful: code (as the lints have, such as `unit-unknown`,
    /// `bad-number`, `truncated-block`) and one sentence.
    Doubt(&'static str, String),
}

/// What one line was taken for, for `--explain`.
pub type Taken = &'static str;

/// A block that a grammar has read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// What was read, each with the index of its line in the block.
    pub findings: Vec<(usize, Finding)>,
    /// What each consumed line was taken for; its length says how many lines
    /// the block has (at least one).
    pub taken: Vec<Taken>,
    /// The tool that printed it, where a format reads the reports of several.
    pub tool: Option<&'static str>,
}

impl Block {
    /// Notes a finding at line `at` of the block.
    pub fn find(&mut self, at: usize, finding: Finding) {
        self.findings.push((at, finding));
    }
}

/// [`Grammar::reach`] of formats that do not say.
pub const REACH: usize = 24;

/// A format.
pub trait Grammar: Sync {
    /// The format's name, as `--explain` prints it.
    fn name(&self) -> &'static str;

    /// What each line has for which [`Grammar::starts`] holds, blank ones apart; others
    /// are not put to it, which is cheaper than asking.
    fn begins(&self) -> Begins {
        Begins::ANY
    }

    /// Whether a block of this format may start with this line. Cheap and
    /// allocation-free: called for each line that [`Grammar::begins`] leaves. False
    /// positives are fine.
    fn starts(&self, line: &str) -> bool;

    /// Within how many lines from its first one a block of this format holds
    /// a digit. Lines without are not looked at, which most of a mailbox is.
    fn reach(&self) -> usize {
        REACH
    }

    /// Whether the tool itself names what it compares: what stands for a name
    /// in its blocks is one, were it a command or a path.
    fn names_what_it_compares(&self) -> bool {
        false
    }

    /// Whether its blocks are what one tool prints of what it measured, so that reports
    /// below several headings are of several configurations. Of a table, or of a figure
    /// behind a name, which anybody may write, that does not follow.
    fn is_report(&self) -> bool {
        true
    }

    /// Reads the block that starts at `lines[0]`, or `None` if it is not of
    /// this format after all. May look at all following lines; must not
    /// panic on any text; must stop at the end of its block.
    fn read(&self, lines: &[Line<'_>]) -> Option<Block>;
}

/// One figure for each metric and unit: the mean of its samples.
pub(crate) fn mean_figures<'f>(samples: impl Iterator<Item = &'f Figure>) -> Vec<Figure> {
    let mut sums: Vec<(Figure, f64)> = Vec::new();
    for sample in samples {
        match sums
            .iter_mut()
            .find(|(f, _)| f.metric == sample.metric && f.unit == sample.unit)
        {
            Some((figure, n)) => {
                figure.value += sample.value;
                *n += 1.0;
            }
            None => sums.push((sample.clone(), 1.0)),
        }
    }
    sums.into_iter()
        .map(|(f, n)| Figure {
            value: f.value / n,
            ..f
        })
        .collect()
}
