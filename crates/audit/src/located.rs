//! Finds the line of each figure.
//!
//! Records know only where their block begins. The line within the block is found by searching for
//! the figure: values are kept as printed, except for their unit.

use std::collections::{BTreeSet, HashMap};

use assize_bundle::{Place, Spread};

use crate::audit::Audit;
use crate::line::Explained;
use crate::numbers;

/// A figure and the line it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// The line that shows the figure; where none does, or several do and none
    /// of them names the metric, the line at which the block begins.
    pub place: Place,
    /// Whether the line shows the figure.
    pub shown: bool,
    /// The configuration, if one is known.
    pub configuration: Option<String>,
    /// The workload, if one is known.
    pub workload: Option<String>,
    /// What the figure is: a run, a mean, a count or a statement.
    pub stands_for: StandsFor,
    /// The metric, or the event.
    pub metric: String,
    /// The value.
    pub value: f64,
    /// The unit; empty for plain counts.
    pub unit: String,
}

/// The kind of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StandsFor {
    /// One run: its repetition.
    Run(u32),
    /// The mean of several runs: their spread and their number, as far as they are known.
    Mean(Option<Spread>, Option<u32>),
    /// A count of events.
    Events,
    /// No number of runs.
    Statement,
}

/// Most lines of a block that are searched.
const LONGEST: usize = 80;

/// The figures of the records with their lines, in the order of the lines.
/// Without [`Options::explain`](crate::Options::explain) no line is known but
/// those at which blocks begin.
pub fn located(audit: &Audit) -> Vec<Located> {
    let lines = Lines::new(audit);
    let mut all = figures(audit);
    for figure in &mut all {
        if let Some(place) = lines.showing(figure) {
            figure.place = place;
            figure.shown = true;
        }
    }
    all.sort_by_key(|figure| figure.place);
    all
}

/// The figures, at the places where their blocks begin.
fn figures(audit: &Audit) -> Vec<Located> {
    let records = &audit.records;
    let mut all = Vec::new();
    let mut add = |[configuration, workload]: [Option<&String>; 2],
                   (place, stands_for),
                   (metric, value, unit): (&str, f64, &str)| {
        all.push(Located {
            place,
            shown: false,
            configuration: configuration.cloned(),
            workload: workload.cloned(),
            stands_for,
            metric: metric.to_owned(),
            value,
            unit: unit.to_owned(),
        });
    };
    for run in &records.runs {
        let names = [Some(&run.configuration), Some(&run.workload)];
        let of = (run.place, StandsFor::Run(run.repetition));
        for (metric, one) in &run.metrics {
            add(names, of, (metric, one.value, &one.unit));
        }
    }
    for one in &records.summaries {
        let names = [Some(&one.configuration), Some(&one.workload)];
        let of = (one.place, StandsFor::Mean(one.spread, one.n));
        add(names, of, (&one.metric, one.mean, &one.unit));
    }
    for one in &records.events {
        let names = [Some(&one.configuration), Some(&one.workload)];
        let of = (one.place, StandsFor::Events);
        add(names, of, (&one.event, one.count as f64, ""));
    }
    for one in &records.statements {
        let names = [one.configuration.as_ref(), one.workload.as_ref()];
        let of = (one.place, StandsFor::Statement);
        add(names, of, (&one.metric, one.value, &one.unit));
    }
    all
}

/// The lines of a post, and where blocks begin.
struct Lines<'a> {
    lines: &'a [Explained],
    at: HashMap<Place, usize>,
    begins: BTreeSet<usize>,
}

impl<'a> Lines<'a> {
    fn new(audit: &'a Audit) -> Self {
        let lines = &audit.explained[..];
        let numbered = lines.iter().enumerate().rev();
        let at: HashMap<Place, usize> = numbered.map(|(at, line)| (line.place, at)).collect();
        let places = figures(audit).into_iter().map(|figure| figure.place);
        let begins = places.filter_map(|place| at.get(&place).copied()).collect();
        Lines { lines, at, begins }
    }

    /// The line of its block that shows a figure. Figures that a program prints about itself are
    /// above the block to which they belong.
    fn showing(&self, figure: &Located) -> Option<Place> {
        let begin = *self.at.get(&figure.place)?;
        let next = self.begins.range(begin + 1..).next();
        let end = next.map_or(self.lines.len(), |&next| next);
        let below = begin..end.min(begin + LONGEST);
        let before = self.begins.range(..begin).next_back();
        let first = before.map_or(0, |&before| before + 1);
        let above = first.max(begin.saturating_sub(LONGEST))..begin;
        let found = self.among(below, figure);
        found.or_else(|| self.among(above, figure))
    }

    fn among(&self, range: std::ops::Range<usize>, figure: &Located) -> Option<Place> {
        let showing: Vec<&Explained> = self.lines[range]
            .iter()
            .filter(|line| !matches!(line.taken.as_str(), "prose" | "blank" | "command" | "diff"))
            .filter(|line| {
                let mut printed = numbers::find(&line.text).into_iter();
                printed.any(|one| is_printed(one.number.value, figure.value))
            })
            .collect();
        let mut all = showing.iter();
        let named = all.find(|line| names(&line.text, &figure.metric));
        match (named, &showing[..]) {
            (Some(line), _) | (None, [line]) => Some(line.place),
            _ => None,
        }
    }
}

/// Whether a number is the printed form of a figure, up to a factor of thousands.
fn is_printed(number: f64, figure: f64) -> bool {
    const SCALES: [f64; 6] = [1e3, 1e6, 1e9, 1024.0, 1_048_576.0, 1_073_741_824.0];
    let near = |scale: &f64| (number * scale - figure).abs() <= 1e-9 * figure.abs();
    number == figure || number != 0.0 && SCALES.iter().any(near)
}

/// Whether a line has the metric's name, or the last word of it.
fn names(text: &str, metric: &str) -> bool {
    let word = metric.rsplit(' ').next().unwrap_or(metric);
    text.contains(metric) || (word.len() > 2 && text.contains(word))
}
