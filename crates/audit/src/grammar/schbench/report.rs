//! One report of schbench.

use std::collections::HashSet;

use super::{Block, Cell, Figure, Finding, Kind, Labels, Title, truncated};

/// A section of a report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    title: Title,
    at: usize,
    /// Whether it has rows.
    rows: bool,
}

/// One report: percentiles and what stands beside them.
#[derive(Debug)]
pub(super) struct Report {
    /// Its first line.
    first: usize,
    /// The line after its last, once it is known.
    pub(super) end: Option<usize>,
    /// Its sections in the order printed.
    pub(super) sections: Vec<Section>,
    /// The configuration it names.
    pub(super) label: Option<String>,
    figures: Vec<Figure>,
    /// The names that it has read, with good values or bad.
    names: HashSet<String>,
    /// Whether it says that it is an interim report.
    pub(super) interim: bool,
    /// Whether it says that it is the last of its invocation.
    pub(super) ended: bool,
}

impl Report {
    /// A report that begins at line `first`.
    pub(super) fn new(first: usize) -> Report {
        Report {
            first,
            end: None,
            sections: Vec::new(),
            label: None,
            figures: Vec::new(),
            names: HashSet::new(),
            interim: false,
            ended: false,
        }
    }

    /// Whether a section with this title can belong to the report: sections
    /// come in a fixed order, and all at one time.
    pub(super) fn takes(&self, title: &Title) -> bool {
        let Some(last) = self.section() else {
            return false;
        };
        !self.ended
            && !self.interim
            && !self.has("sched delay message")
            && last.kind != Kind::Latency
            && last.kind < title.kind
            && last.runtime == title.runtime
    }

    /// Opens a section.
    pub(super) fn open(&mut self, title: Title, at: usize) {
        self.sections.push(Section {
            title,
            at,
            rows: false,
        });
    }

    /// The title of the section at hand.
    pub(super) fn section(&self) -> Option<Title> {
        self.sections.last().map(|section| section.title)
    }

    /// Whether a figure of this name was read.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether any figure was read.
    pub(super) fn any(&self) -> bool {
        !self.names.is_empty()
    }

    /// Adds a figure, if its value is good.
    pub(super) fn push(&mut self, value: Cell, name: &str, unit: &str) {
        self.names.insert(name.to_owned());
        if let Some(value) = value.value() {
            self.figures.push(Figure::new(name, value, unit));
        }
    }

    /// Notes that the section at hand has rows.
    pub(super) fn mark_rows(&mut self) {
        if let Some(section) = self.sections.last_mut() {
            section.rows = true;
        }
    }

    /// The value of a figure.
    fn value(&self, name: &str) -> Option<f64> {
        let figure = self.figures.iter().find(|figure| figure.metric == name);
        figure.map(|figure| figure.value)
    }

    /// Whether `next` is a later report of the same invocation.
    pub(super) fn goes_on_as(&self, next: &Report) -> bool {
        let (Some(old), Some(new)) = (self.sections.first(), next.sections.first()) else {
            return false;
        };
        let (old, new) = (old.title, new.title);
        if self.ended || self.label.is_some() || next.label.is_some() || old.kind != new.kind {
            return false;
        }
        let (Some(before), Some(after)) = (old.runtime, new.runtime) else {
            return false;
        };
        if self.interim {
            return before <= after;
        }
        let value = |report: &Report, name| report.value(&format!("{} {name}", old.kind.prefix()));
        let grows = |a: Option<f64>, b: Option<f64>| a.zip(b).is_none_or(|(a, b)| a <= b);
        let samples = |title: Title| title.samples.map(|samples| samples as f64);
        if before == after {
            return old.samples == new.samples
                && value(self, "min") == value(next, "min")
                && value(self, "max") == value(next, "max");
        }
        before < after
            && grows(samples(old), samples(new))
            && grows(value(next, "min"), value(self, "min"))
            && grows(value(self, "max"), value(next, "max"))
    }

    /// Marks the lines of the report as those of an interim one.
    pub(super) fn supersede(&self, block: &mut Block) {
        let end = self.end.unwrap_or(self.first).min(block.taken.len());
        if let Some(taken) = block.taken.get_mut(self.first..end) {
            taken.fill("schbench interim report");
        }
    }

    /// Turns the report into a run.
    pub(super) fn finish(self, block: &mut Block) {
        for section in self.sections.iter().filter(|section| !section.rows) {
            truncated(
                block,
                section.at,
                "the title is not followed by percentiles",
            );
        }
        if self.figures.is_empty() {
            return;
        }
        let labels = Labels {
            configuration: self.label,
            ..Labels::default()
        };
        let run = Finding::Run {
            labels,
            figures: self.figures,
        };
        block.find(self.first, run);
    }
}
