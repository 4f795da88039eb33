//! The first screen of the page: for each metric and configuration its outcome, effect
//! and certainty, next to a plot of the intervals.
//!
//! The plot is drawn here rather than by the script, so it is visible without one. Positions are
//! percentages of the width, so it fits every screen.

use assize_verdict::{Better, Comparison, Document, Verdict};
use serde::Serialize;

use super::scale::EffectScale;
use crate::brief::what_would_settle;
use crate::contrasts::{
    ChangeInterval, ConfigurationContrast, EventContrasts, MetricWords, RateContrast, RowOutcome,
    Wordings, absolute_means, by_event, by_metric, direction, events_lead, interval,
    relative_change, size,
};
use crate::contrasts::{contradicted, describe_run_counts};

/// The number of configurations shown unfolded, over all metrics together.
const ROOM: usize = 8;
/// The number of metrics and events with unfolded configurations.
const PARTS: usize = 4;

/// The answer for one baseline.
#[derive(Debug, Serialize)]
pub(super) struct Hero {
    baseline: Option<String>,
    parts: Vec<HeroPart>,
    /// The folded metrics and events.
    folded: Vec<HeroPart>,
    /// The text on what would settle undecided rows.
    settles: Option<String>,
}

/// One metric, or one kind of event.
#[derive(Debug, Serialize)]
struct HeroPart {
    metric: String,
    title: String,
    /// `less is better`; empty if the metric has no good direction.
    direction: &'static str,
    /// The labels of the left and right side of the plot.
    sides: [&'static str; 2],
    scale: Option<EffectScale>,
    shown: Vec<HeroRow>,
    folded: Vec<HeroRow>,
}

/// One configuration.
#[derive(Debug, Serialize)]
struct HeroRow {
    configuration: String,
    verdict: String,
    /// `good`, `bad`, `differs`, `same`, `open`, or `mixed`.
    tone: &'static str,
    /// The verdict, if it is the same for all rows of the configuration.
    certainty: Option<&'static str>,
    /// `6 runs against 6`, if all rows have the same numbers.
    runs: Option<String>,
    lanes: Vec<HeroLane>,
    /// The positions of the workloads between the best and the worst.
    between: Vec<f64>,
}

/// One configuration on one workload.
#[derive(Debug, Serialize)]
struct HeroLane {
    /// Empty if there is only one workload.
    workload: String,
    tone: &'static str,
    verdict: &'static str,
    size: String,
    absolute: String,
    interval: String,
    bar: Option<Bar>,
}

/// A value and its interval.
#[derive(Debug, Serialize)]
struct Bar {
    at: f64,
    interval: Option<[f64; 2]>,
    width: f64,
    /// Whether the interval extends beyond the plot at either end.
    beyond: [bool; 2],
}

/// Builds the first screen from a document.
pub(super) fn hero(document: &Document, metrics: &[MetricWords]) -> Hero {
    let words = Wordings(metrics);
    let of_metrics = by_metric(document, words);
    let of_events = by_event(document, words);
    let parts = (of_metrics.len() + of_events.len()).clamp(1, PARTS);
    let room = (ROOM / parts).max(2);
    let metrics = of_metrics.into_iter().map(|one| {
        let scale = scale_of(document, &one.contrasts);
        let row = |contrast: &ConfigurationContrast<'_>| row(document, contrast, &scale);
        let rows = one.contrasts.iter().map(row).collect();
        part(one.metric, words, Some(scale), rows, room)
    });
    let events = of_events.iter().map(|one: &EventContrasts<'_>| {
        let row = |contrast: &RateContrast<'_>| rate(document, contrast);
        let rows = one.contrasts.iter().map(row).collect();
        part(one.event, words, None, rows, room)
    });
    let mut parts: Vec<HeroPart> = if events_lead(document) {
        events.chain(metrics).collect()
    } else {
        metrics.chain(events).collect()
    };
    let folded = parts.split_off(PARTS.min(parts.len()));
    Hero {
        baseline: document.baseline.clone(),
        parts,
        folded,
        settles: what_would_settle(document),
    }
}

fn part(
    metric: &str,
    words: Wordings<'_>,
    scale: Option<EffectScale>,
    mut rows: Vec<HeroRow>,
    room: usize,
) -> HeroPart {
    let better = words.better(metric);
    let folded = rows.split_off(room.min(rows.len()));
    HeroPart {
        metric: metric.to_owned(),
        title: words.capitalised(metric),
        direction: better.map_or("", direction),
        sides: match better {
            Some(_) => ["better ←", "→ worse"],
            None => ["less ←", "→ more"],
        },
        scale,
        shown: rows,
        folded,
    }
}

/// The position of a change, as a log ratio: worse is farther right; without a good direction, more
/// is.
fn place(change: f64, better: Option<Better>) -> f64 {
    let log = (1.0 + change).max(0.01).ln();
    match better {
        Some(Better::Higher) => -log,
        Some(Better::Lower) | None => log,
    }
}

/// The positions of both ends of an interval, the better one first.
fn places(ends: [f64; 2], better: Option<Better>) -> [f64; 2] {
    let [a, b] = ends.map(|end| place(end, better));
    [a.min(b), a.max(b)]
}

fn scale_of(document: &Document, contrasts: &[ConfigurationContrast<'_>]) -> EffectScale {
    let better = contrasts.first().and_then(|one| one.better);
    let rows = || contrasts.iter().flat_map(|one| &one.rows);
    let values = rows().filter_map(|(row, _)| Some(place(relative_change(row)?, better)));
    let ends = rows().filter_map(|(row, came_out)| {
        let interval = interval(document, row, *came_out)?;
        Some(places(interval.ends, better))
    });
    EffectScale::new(
        &values.collect::<Vec<_>>(),
        &ends.collect::<Vec<_>>(),
        document.margin,
        |change| place(change, better),
    )
}

fn row(document: &Document, contrast: &ConfigurationContrast<'_>, scale: &EffectScale) -> HeroRow {
    let chosen = contrast.best_and_worst();
    let several = contrast.rows.len() > 1;
    let lanes = chosen
        .iter()
        .map(|chosen| lane(document, *chosen, contrast.better, several, scale));
    let is_chosen = |row: &Comparison| chosen.iter().any(|(one, _)| std::ptr::eq(*one, row));
    let between = contrast.rows.iter().filter(|(row, _)| !is_chosen(row));
    let between = between.filter_map(|(row, _)| relative_change(row));
    let outcomes: Vec<RowOutcome> = contrast.rows.iter().map(|(_, one)| *one).collect();
    let verdicts: Vec<Verdict> = contrast.rows.iter().map(|(row, _)| row.verdict).collect();
    HeroRow {
        configuration: contrast.name.to_owned(),
        verdict: contrast.verdict(),
        tone: tone(&outcomes),
        certainty: common_value(&verdicts).map(Verdict::word),
        runs: describe_run_counts(contrast.rows.iter().map(|(row, _)| *row), "runs"),
        lanes: lanes.collect(),
        between: between
            .filter_map(|change| scale.inside(place(change, contrast.better)))
            .collect(),
    }
}

/// The colour class of the decided workloads, or `mixed` if they disagree.
fn tone(outcomes: &[RowOutcome]) -> &'static str {
    let tones = outcomes.iter().map(|one| one.tone());
    let decided: Vec<&str> = tones.filter(|tone| *tone != "open").collect();
    if decided.is_empty() {
        return "open";
    }
    common_value(&decided).unwrap_or("mixed")
}

/// The common value, if all values are the same.
fn common_value<T: Copy + PartialEq>(all: &[T]) -> Option<T> {
    let first = *all.first()?;
    all.iter().all(|one| *one == first).then_some(first)
}

fn lane(
    document: &Document,
    (row, came_out): (&Comparison, RowOutcome),
    better: Option<Better>,
    several: bool,
    scale: &EffectScale,
) -> HeroLane {
    let workload = if several { row.workload.as_str() } else { "" };
    if contradicted(document, row) {
        return HeroLane {
            workload: workload.to_owned(),
            tone: "open",
            verdict: row.verdict.word(),
            size: format!("{} disagree", document.across.plural()),
            absolute: String::new(),
            interval: String::new(),
            bar: None,
        };
    }
    let interval = interval(document, row, came_out);
    let means = absolute_means(document, row);
    HeroLane {
        workload: workload.to_owned(),
        tone: came_out.tone(),
        verdict: row.verdict.word(),
        size: size(row),
        absolute: means.map(|means| means.typeset()).unwrap_or_default(),
        interval: interval
            .as_ref()
            .map(ChangeInterval::text)
            .unwrap_or_default(),
        bar: relative_change(row).map(|change| {
            let ends = interval.map(|it| places(it.ends, better));
            bar(place(change, better), ends, scale)
        }),
    }
}

fn bar(at: f64, ends: Option<[f64; 2]>, scale: &EffectScale) -> Bar {
    let interval = ends.map(|ends| ends.map(|end| scale.at(end)));
    Bar {
        at: scale.at(at),
        width: interval.map_or(0.0, |[low, high]| high - low),
        beyond: ends.map_or([false; 2], |ends| {
            ends.map(|end| scale.inside(end).is_none())
        }),
        interval,
    }
}

fn rate(document: &Document, contrast: &RateContrast<'_>) -> HeroRow {
    let several = document.workloads.len() > 1;
    let lane = HeroLane {
        workload: if several { contrast.workload } else { "" }.to_owned(),
        tone: contrast.outcome.tone(),
        verdict: contrast.row.verdict.word(),
        size: contrast.effect().replace("->", "→"),
        absolute: String::new(),
        interval: String::new(),
        bar: None,
    };
    HeroRow {
        configuration: contrast.name.to_owned(),
        verdict: contrast.outcome.words(document.margin),
        tone: contrast.outcome.tone(),
        certainty: Some(contrast.row.verdict.word()),
        runs: None,
        lanes: vec![lane],
        between: Vec::new(),
    }
}
