//! The contents of a page.

use assize_bundle::{Place, ThinnedEvidence};
use assize_trace::Timeline;
use assize_verdict::Document;
use assize_why::{Kept, When};

use crate::MetricWords;

/// The contents of a page.
#[derive(Debug, Clone)]
pub struct ReportPage<'a> {
    /// The records, judged with the options given.
    pub document: &'a Document,
    /// The same records, judged against each other baseline.
    pub others: &'a [Document],
    /// Facts about the source of the records.
    pub about: About,
    /// Curves and time series behind the values of the runs.
    pub evidence: ThinnedEvidence,
    /// What CPUs and engines did during a few runs.
    pub timelines: Vec<Timeline>,
    /// The post, if the records were read from one.
    pub post: Option<ReadPost>,
    /// Results of `assize why`, if there are any.
    pub attributions: Attributions,
}

/// Facts about the source of the records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// The experiment's title, or the name of what was read.
    pub title: String,
    /// The question that it asks; may be empty.
    pub question: String,
    /// Where it ran, if known.
    pub target: Option<String>,
    /// Metrics that are declared primary.
    pub primary: Vec<String>,
    /// Titles and directions of metrics and events; one without an entry is called by its name.
    pub metrics: Vec<MetricWords>,
    /// Facts about the machine.
    pub facts: Vec<(String, String)>,
    /// The text of the experiment file.
    pub experiment: Option<String>,
}

/// A post and what was read from it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadPost {
    /// Its lines, in order.
    pub lines: Vec<PostLine>,
    /// The figures read from them.
    pub figures: Vec<PostFigure>,
}

/// A figure read from a post.
#[derive(Debug, Clone, PartialEq)]
pub struct PostFigure {
    /// Its place in the post.
    pub place: Place,
    /// The configuration, if the post gives one.
    pub configuration: Option<String>,
    /// The workload, if the post gives one.
    pub workload: Option<String>,
    /// The kind of data that it belongs to: `run 2`.
    pub behind: String,
    /// The metric.
    pub metric: String,
    /// The value with its unit.
    pub value: String,
    /// Whether the line contains the value; otherwise it is the first line of a block that does.
    pub shown: bool,
}

/// One line of a post.
#[derive(Debug, Clone, PartialEq)]
pub struct PostLine {
    /// The number of the message, starting at 1.
    pub message: u32,
    /// The line number in the file, starting at 1.
    pub line: u32,
    /// Its quoting depth.
    pub depth: u8,
    /// How the reader classified the line.
    pub taken: String,
    /// Its text, unquoted.
    pub text: String,
}

/// Results of `assize why` for the runs of a page.
#[derive(Debug, Clone, Default)]
pub struct Attributions {
    /// The results kept in the bundle.
    pub kept: Vec<Kept>,
    /// The results of `assize when` kept in the bundle.
    pub moments: Vec<When>,
    /// The words for commands that give more results; `None` if the runs cannot be repeated.
    pub shell: Option<ShellWords>,
}

/// Words of a command, quoted for the shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellWords {
    /// The bundle.
    pub source: String,
    /// The configurations, in the order of the document.
    pub configurations: Vec<String>,
    /// The workloads.
    pub workloads: Vec<String>,
}

impl ShellWords {
    /// The command that stops a run at a place, or at its start.
    pub(super) fn debug(&self, run: u32, at: Option<&str>) -> String {
        let at = at.map_or_else(String::new, |at| format!(" --at {at}"));
        format!("assize debug {} {run}{at}", self.source)
    }
}
