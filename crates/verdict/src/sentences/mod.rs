//! At most five plain sentences: the summary for a hurried reader.
//!
//! All are about established or supported rows, in the words of their verdicts and with
//! simultaneous intervals, so each is backed by a row. Sentences on how runs ended come first, then
//! those on configurations of which every run failed.

mod against;
mod declared;
mod ended;
mod events;
mod factors;
mod failed;
mod limits;
mod machines;
mod plainly;
mod same;
mod workloads;

use std::collections::BTreeSet;

use crate::cells::Cells;
use crate::document::{Comparison, Document, Sentence, Verdict};
use crate::lints::UninformativeRows;
use crate::words::with_interval;
use machines::MachineCounts;

/// Maximum number of sentences in total.
const MOST: usize = 5;

/// A comparison with the data that sentences need.
#[derive(Clone, Copy)]
struct ComparisonFacts<'d> {
    row: &'d Comparison,
    workload: usize,
    metric: usize,
    ratio: f64,
    /// The simultaneous interval.
    ci: [f64; 2],
    /// Whether the metric is higher than with the baseline.
    up: bool,
    /// Whether the difference is established or supported.
    strong: bool,
    /// On how many machines the effect is shown, if there are several.
    shown: Option<MachineCounts>,
}

/// Finds the sentences: first on complete failures, then on the metrics in
/// `primary`, then the most important others.
pub(crate) fn find(
    document: &Document,
    cells: &Cells<'_>,
    faults: &UninformativeRows,
    primary: &BTreeSet<usize>,
    higher: &BTreeSet<usize>,
) -> Vec<Sentence> {
    let seen = comparison_facts(document, cells, faults);
    let contradictions = machines::contradictions(document);
    let mut sentences = declared::find(document, &seen, primary);
    // What an improvement of a primary metric costs, if there is a sentence about one.
    let none = BTreeSet::new();
    let concern = if sentences.is_empty() { &none } else { primary };
    sentences.extend(against::find(&seen, concern, higher));
    sentences.extend(workloads::find(&seen));
    sentences.extend(factors::find(document, cells, faults));
    if sentences.is_empty() && contradictions.is_empty() {
        sentences.extend(plainly::find(document, &seen));
    }
    sentences.splice(0..0, contradictions);
    sentences.splice(0..0, ended::find(document));
    sentences.splice(0..0, failed::find(cells));
    sentences.splice(0..0, same::find(document));
    let at = sentences.len().min(MOST - 1);
    sentences.splice(at..at, machines::sizes(document));
    let limits = limits::find(document);
    let events = events::find(document);
    sentences.truncate(MOST - usize::from(limits.is_some()) - usize::from(!events.is_empty()));
    sentences.extend(limits);
    sentences.extend(events);
    sentences.truncate(MOST);
    sentences
}

/// Comparisons with a ratio and an interval, of informative metrics.
fn comparison_facts<'d>(
    document: &'d Document,
    cells: &Cells<'_>,
    faults: &UninformativeRows,
) -> Vec<ComparisonFacts<'d>> {
    let rows = document.comparisons.iter().filter_map(|row| {
        let workload = cells.workload(&row.workload)?;
        let metric = cells
            .metrics
            .iter()
            .position(|m| m.name == row.metric && m.unit == row.unit)?;
        let (ratio, ci) = (row.ratio?, row.ci_simultaneous.or(row.ci)?);
        let known = !faults.says_nothing(workload, metric);
        known.then_some(ComparisonFacts {
            row,
            workload,
            metric,
            ratio,
            ci,
            up: ratio > 1.0,
            strong: matches!(row.verdict, Verdict::Established | Verdict::Supported),
            shown: machines::where_shown(
                document,
                [
                    &row.workload,
                    &row.metric,
                    &row.unit,
                    &row.baseline,
                    &row.configuration,
                ],
            ),
        })
    });
    rows.collect()
}

impl ComparisonFacts<'_> {
    /// `name (1.08 [1.03, 1.13])`.
    fn configuration(&self) -> String {
        format!("{} ({})", self.row.configuration, self.figures())
    }

    fn figures(&self) -> String {
        match self.shown {
            Some(shown) => shown.figures(self.ratio, self.ci),
            None => with_interval(self.ratio, Some(self.ci)),
        }
    }

    /// The name of the row.
    fn name(&self) -> String {
        format!(
            "{} {} {}",
            self.row.workload, self.row.metric, self.row.configuration
        )
    }
}

/// `is higher` or `is lower`, or of several metrics `are`.
fn verb(up: bool, several: bool) -> &'static str {
    match (up, several) {
        (true, false) => "is higher",
        (true, true) => "are higher",
        (false, false) => "is lower",
        (false, true) => "are lower",
    }
}

/// The verdict of rows, phrased as the end of a sentence.
fn verdict_suffix<'d, 's: 'd>(
    rows: impl IntoIterator<Item = &'d ComparisonFacts<'s>>,
) -> &'static str {
    let mut rows = rows.into_iter();
    if rows.all(|seen| seen.row.verdict == Verdict::Established) {
        ""
    } else {
        " (supported, not established)"
    }
}
