//! The trade-offs declared in the experiment.

use assize_verdict::{
    Document, Relation, Standing, Tradeoff, TradeoffAxis, TradeoffPoint, TradeoffValue,
};
use serde::Serialize;

use super::grid::with_unit;
use super::scatter::{ScatterPlot, plot};
use super::tables::{RelatedRuns, related_runs};
use crate::readable::Readable;

/// One trade-off.
#[derive(Debug, Serialize)]
pub(super) struct TradeoffView {
    origin: &'static str,
    x: TradeoffAxisView,
    y: TradeoffAxisView,
    because: Option<String>,
    /// A description of the plot in words.
    description: String,
    plot: Option<ScatterPlot>,
    rows: Vec<TradeoffRow>,
}

/// One of its metrics.
#[derive(Debug, Serialize)]
struct TradeoffAxisView {
    /// The metric and its workload.
    title: String,
    metric: String,
    better: &'static str,
    baseline: Option<String>,
}

/// One configuration.
#[derive(Debug, Serialize)]
struct TradeoffRow {
    configuration: String,
    x: String,
    y: String,
    to_x: Option<RelatedRuns>,
    to_y: Option<RelatedRuns>,
    standing: &'static str,
    supported: bool,
    why: String,
}

/// The trade-offs of a document.
pub(super) fn tradeoffs(document: &Document) -> Vec<TradeoffView> {
    let all = document.tradeoffs.iter();
    all.map(|one| tradeoff_view(document, one)).collect()
}

fn tradeoff_view(document: &Document, tradeoff: &Tradeoff) -> TradeoffView {
    let [in_x, in_y] = Readable::for_tradeoff(tradeoff);
    let rows = tradeoff.points.iter().map(|point| TradeoffRow {
        configuration: point.configuration.clone(),
        x: mean(&point.x, &in_x),
        y: mean(&point.y, &in_y),
        to_x: to_baseline(&point.x, &tradeoff.x),
        to_y: to_baseline(&point.y, &tradeoff.y),
        standing: point.standing.word(),
        supported: point.supported,
        why: why(tradeoff, point),
    });
    let rows: Vec<TradeoffRow> = rows.collect();
    let said = rows.iter().map(|row| {
        format!(
            "{}: {}, {}, {}.",
            row.configuration, row.x, row.y, row.standing
        )
    });
    TradeoffView {
        origin: tradeoff.origin.words(),
        x: axis(&tradeoff.x),
        y: axis(&tradeoff.y),
        because: tradeoff.because.clone(),
        description: said.collect::<Vec<_>>().join(" "),
        plot: plot(document, tradeoff, [&in_x, &in_y]),
        rows,
    }
}

fn axis(axis: &TradeoffAxis) -> TradeoffAxisView {
    TradeoffAxisView {
        title: format!("{} in {}", axis.metric, axis.workload),
        metric: axis.metric.clone(),
        better: axis.better.word(),
        baseline: axis.baseline.clone(),
    }
}

fn mean(value: &TradeoffValue, readable: &Readable) -> String {
    let mean = value.mean;
    mean.map_or_else(
        || "\u{2013}".to_owned(),
        |mean| with_unit(readable.value(mean), &readable.unit),
    )
}

fn to_baseline(value: &TradeoffValue, axis: &TradeoffAxis) -> Option<RelatedRuns> {
    let relation = value.relative.as_ref()?;
    Some(related_runs(relation, &axis.unit))
}

/// The configurations that decide a point's standing, in words.
fn why(tradeoff: &Tradeoff, point: &TradeoffPoint) -> String {
    let of = |relation: &Option<Relation>, axis: &TradeoffAxis| match relation {
        Some(relation) => {
            let related = related_runs(relation, &axis.unit);
            format!(
                "{} {}",
                related.value(),
                relation.verdict.map_or("", |one| one.word())
            )
        }
        None => "the same".to_owned(),
    };
    let mut said: Vec<String> = point.because.iter().cloned().collect();
    said.extend(point.dominated_by.iter().map(|one| {
        let (x, y) = (of(&one.x, &tradeoff.x), of(&one.y, &tradeoff.y));
        format!("by {} ({x}; {y})", one.configuration)
    }));
    if point.standing == Standing::Undecided && !point.not_told_from.is_empty() {
        said.push(format!(
            "cannot be distinguished from {}",
            point.not_told_from.join(", ")
        ));
    }
    if !point.equivalent_to.is_empty() {
        said.push(format!("equivalent to {}", point.equivalent_to.join(", ")));
    }
    said.join("; ")
}
