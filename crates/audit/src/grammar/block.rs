//! [`Grammar`], which describes a format, and the blocks that formats return.

use assize_bundle::Spread;

use super::cells::line_at;
use super::grid::Grid;
use crate::line::Line;

/// The configuration, workload and repetition that a block itself gives for a finding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Labels {
    /// The configuration, if the block names it.
    pub configuration: Option<String>,
    /// The workload, if the block names it (a command line is fine: it is shortened later).
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
    /// The place of the last printed digit, if the text prints the value. The
    /// scanner fills it in, except for numbers with a suffix (`123k`).
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

    /// With the place of its last digit.
    pub(crate) fn with_step(self, step: Option<f64>) -> Self {
        Figure { step, ..self }
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// One execution with all that was measured in it.
    Run {
        /// The names that the block gives.
        labels: Labels,
        /// Its metrics, in the order printed; no name twice.
        figures: Vec<Figure>,
    },
    /// A mean over several executions whose single values are not given.
    Summary {
        /// The names that the block gives.
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
        /// The names that the block gives.
        labels: Labels,
        /// The counted event.
        event: String,
        /// How many.
        count: u64,
        /// Seconds of exposure, if the block gives them.
        exposure_s: Option<f64>,
        /// Seconds on one clock, ascending; may be empty.
        times_s: Vec<f64>,
    },
    /// A figure of an unknown number of runs (a normalised percentage, a figure in prose).
    Statement {
        /// The names that the block gives.
        labels: Labels,
        /// The figure.
        figure: Figure,
        /// The divisor's name, if the figure is normalised.
        normalised_to: Option<String>,
    },
    /// A counter without a value.
    Unsupported {
        /// The names that the block gives.
        labels: Labels,
        /// The counter.
        metric: String,
        /// `not supported` or `not counted`.
        reason: String,
    },
    /// A measurement that the program under test printed (an FPS line). It is
    /// joined to the run in which it was printed.
    Sample(Figure),
    /// A table. Its rows and columns get their roles during grouping.
    Grid(Box<Grid>),
    /// The command line that a report names as its own; applies to this block only.
    Command(String),
    /// A doubt: the code of a lint (`unit-unknown`, `bad-number`, `truncated-block`)
    /// and one sentence.
    Doubt(&'static str, String),
}

/// How `--explain` describes a line.
pub type Taken = &'static str;

/// A block that a grammar has read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// The findings, each with the index of its line in the block.
    pub findings: Vec<(usize, Finding)>,
    /// A description of each line of the block; there is at least one.
    pub taken: Vec<Taken>,
    /// The tool that printed it, where a format reads the reports of several.
    pub tool: Option<&'static str>,
}

impl Labels {
    /// Labels without a repetition.
    pub fn new(configuration: Option<String>, workload: Option<String>) -> Self {
        Labels {
            configuration,
            workload,
            repetition: None,
        }
    }

    /// Labels that name the workload only.
    pub fn workload(name: impl Into<String>) -> Self {
        Labels::new(None, Some(name.into()))
    }

    /// The same for one of several repetitions.
    pub(crate) fn repeated(&self, repetition: u32) -> Self {
        Labels {
            repetition: Some(repetition),
            ..self.clone()
        }
    }
}

impl Block {
    /// A block of `lines` lines with one description.
    pub fn new(what: Taken, lines: usize) -> Self {
        Block::from(vec![what; lines])
    }

    /// Takes lines of the block's message as long as `take` describes them. It gets the block, the
    /// index of the line and its text.
    pub(crate) fn extend(
        &mut self,
        lines: &[Line<'_>],
        mut take: impl FnMut(&mut Block, usize, &str) -> Option<Taken>,
    ) {
        let mut next = |block: &mut Block| {
            let at = block.taken.len();
            take(block, at, line_at(lines, at)?)
        };
        while let Some(what) = next(self) {
            self.taken.push(what);
        }
    }

    /// Notes a run at line `at` of the block, if it has figures.
    pub fn run(&mut self, at: usize, labels: Labels, figures: Vec<Figure>) {
        if !figures.is_empty() {
            self.find(at, Finding::Run { labels, figures });
        }
    }

    /// Notes a doubt about line `at` of the block.
    pub fn doubt(&mut self, at: usize, code: &'static str, detail: impl Into<String>) {
        self.find(at, Finding::Doubt(code, detail.into()));
    }

    /// Notes a finding at line `at` of the block.
    pub fn find(&mut self, at: usize, finding: Finding) {
        self.findings.push((at, finding));
    }
}

impl From<Vec<Taken>> for Block {
    fn from(taken: Vec<Taken>) -> Self {
        Block {
            taken,
            ..Block::default()
        }
    }
}

/// A format: a block of it is recognised by its first line and then read.
pub struct Grammar {
    /// The format's name, as `--explain` prints it.
    pub name: &'static str,
    /// What the first byte after blanks of such a line may be, and bytes of which it has one;
    /// empty for any. For other lines `starts` is not called, which is cheaper.
    pub first: &'static [u8],
    /// See `first`.
    pub holds: &'static [u8],
    /// Whether a block may start with this line. Cheap and allocation-free: called for each
    /// line that is left. False positives are fine.
    pub starts: fn(&str) -> bool,
    /// A block has a digit within this many lines of its first line. Most lines of a mailbox
    /// are far from any digit and are skipped.
    pub reach: usize,
    /// Whether the tool compares and names the configurations itself. Its names count even if
    /// they are commands or paths.
    pub names_what_it_compares: bool,
    /// Whether its blocks are reports that a tool printed, so that their order in the text is
    /// the order of the runs. Tables and lists are written by people and may be sorted.
    pub is_report: bool,
    /// Reads the block that starts at the first line, or `None` if it is not of this format
    /// after all. May look at all following lines; must not panic on any text; must stop at
    /// the end of its block.
    pub read: fn(&[Line<'_>]) -> Option<Block>,
}

impl Grammar {
    /// A format of reports that may begin with any byte.
    pub const fn new(
        name: &'static str,
        starts: fn(&str) -> bool,
        read: fn(&[Line<'_>]) -> Option<Block>,
    ) -> Grammar {
        Grammar {
            name,
            first: b"",
            holds: b"",
            starts,
            reach: 24,
            names_what_it_compares: false,
            is_report: true,
            read,
        }
    }
}

/// One figure for each metric and unit: the mean of its samples.
pub(crate) fn mean_figures<'f>(samples: impl Iterator<Item = &'f Figure>) -> Vec<Figure> {
    let mut sums: Vec<(Figure, f64)> = Vec::new();
    for sample in samples {
        let same = |(f, _): &&mut (Figure, f64)| f.metric == sample.metric && f.unit == sample.unit;
        match sums.iter_mut().find(same) {
            Some((figure, n)) => {
                figure.value += sample.value;
                *n += 1.0;
            }
            None => sums.push((sample.clone(), 1.0)),
        }
    }
    for (figure, n) in &mut sums {
        figure.value /= *n;
    }
    sums.into_iter().map(|(figure, _)| figure).collect()
}
