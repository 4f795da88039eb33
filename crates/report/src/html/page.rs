//! What a page shows.

use assize_bundle::{Evidence, Place};
use assize_trace::Timeline;
use assize_verdict::Document;

use super::attributed::Attributions;
use crate::MetricWords;

/// What a page shows.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// The records judged as was asked.
    pub document: &'a Document,
    /// The same records judged against other baselines.
    pub others: &'a [Document],
    /// What their source says of itself.
    pub about: About,
    /// What lies behind the values of the runs.
    pub evidence: Evidence,
    /// What CPUs and engines did in a few runs.
    pub timelines: Vec<Timeline>,
    /// The post, where the records were read from one.
    pub post: Option<Post>,
    /// Where differences come from, as far as that was asked.
    pub attributions: Attributions,
}

/// What the source of the records says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// The experiment's title, or what was read.
    pub title: String,
    /// The question it asks; may be empty.
    pub question: String,
    /// Where it ran, where that is known.
    pub target: Option<String>,
    /// Metrics declared primary.
    pub primary: Vec<String>,
    /// How metrics and events read; what is missing is called as in the document.
    pub metrics: Vec<MetricWords>,
    /// Facts about the machine.
    pub facts: Vec<(String, String)>,
    /// The experiment file.
    pub experiment: Option<String>,
}

/// A post as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Post {
    /// Its lines, in order.
    pub lines: Vec<PostLine>,
    /// What was read from them.
    pub figures: Vec<PostFigure>,
}

/// A figure that was read, and from where.
#[derive(Debug, Clone, PartialEq)]
pub struct PostFigure {
    /// Its line.
    pub place: Place,
    /// The configuration, where something says it.
    pub configuration: Option<String>,
    /// The workload, where something says it.
    pub workload: Option<String>,
    /// What stands behind it: `run 2`.
    pub behind: String,
    /// The metric.
    pub metric: String,
    /// The value with its unit.
    pub value: String,
    /// Whether the line shows it; else it only begins the block.
    pub shown: bool,
}

/// One line of a post.
#[derive(Debug, Clone, PartialEq)]
pub struct PostLine {
    /// The message, counted from 1.
    pub message: u32,
    /// The line in the file, counted from 1.
    pub line: u32,
    /// How deep it was quoted.
    pub depth: u8,
    /// What it was taken for.
    pub taken: String,
    /// Its text, unquoted.
    pub text: String,
}
