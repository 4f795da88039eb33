//! A trend as a page: a plot of each metric over the bundles, and the bundles at which it
//! changed.

use serde::Serialize;

use super::{HtmlError, environment, render};
use crate::contrasts::direction;
use crate::number::significant;
use crate::readable::Readable;
use crate::series::plain;
use crate::trend::{Trend, TrendSeries, TrendStep};

/// The positions of the first and the last bundle in per cent of the width; the labels are
/// to the left.
const FIRST: f64 = 16.0;
const LAST: f64 = 97.0;
/// The top and bottom line of a plot, in pixels.
const TOP: f64 = 12.0;
const BOTTOM: f64 = 128.0;
/// The range of a plot is at least this many times the margin, so that noise looks small.
const MARGINS: f64 = 6.0;

/// A metric with a plot for each workload.
#[derive(Debug, Serialize)]
struct TrendMetric {
    metric: String,
    title: String,
    direction: Option<&'static str>,
    plots: Vec<TrendPlot>,
}

/// One metric on one workload; horizontal positions in per cent, vertical ones in pixels.
#[derive(Debug, Serialize)]
struct TrendPlot {
    workload: String,
    lines: Vec<[f64; 4]>,
    dots: Vec<TrendDot>,
    ticks: Vec<TrendTick>,
    /// A description of the plot in words.
    says: String,
}

#[derive(Debug, Serialize)]
struct TrendDot {
    x: f64,
    y: f64,
    /// The ends of the interval of the step.
    ends: Option<[f64; 2]>,
    tone: &'static str,
    changed: bool,
    number: usize,
    says: String,
}

#[derive(Debug, Serialize)]
struct TrendTick {
    y: f64,
    text: String,
}

/// One change in the list above the plots.
#[derive(Debug, Serialize)]
struct TrendChange {
    number: usize,
    point: usize,
    changes: Vec<TrendOutcome>,
}

#[derive(Debug, Serialize)]
struct TrendOutcome {
    outcome: String,
    verdict: &'static str,
    tone: &'static str,
    title: String,
    workload: String,
    shown: String,
}

/// Returns a trend as a page that needs neither scripts nor network. The same input gives
/// the same bytes.
///
/// # Errors
/// [`HtmlError`], never because of the contents of the bundles.
pub fn trend(trend: &Trend) -> Result<String, HtmlError> {
    let style = concat!(
        include_str!("style/page.css"),
        include_str!("style/index.css"),
        include_str!("style/plots.css"),
        include_str!("style/trend.css"),
        include_str!("style/print.css")
    );
    let names: Vec<&str> = trend.points.iter().map(|point| point.name()).collect();
    let view = minijinja::context! {
        title => trend.title,
        trend => trend,
        names => names,
        changes => changes(trend),
        parts => parts(trend),
        comparisons => trend.comparisons(),
        caps => trend.caps(),
        level => plain(100.0 * (1.0 - trend.alpha)),
        margin => plain(100.0 * trend.margin),
    };
    Ok(render(&environment()?, "trend.html", [style, ""], view)?)
}

fn changes(trend: &Trend) -> Vec<TrendChange> {
    let all = 0..trend.points.len();
    let of = |point: usize| TrendChange {
        number: point + 1,
        point,
        changes: trend
            .changes_at(point)
            .map(|(series, step)| TrendOutcome {
                outcome: step.outcome.clone(),
                verdict: step.verdict.map_or("", |verdict| verdict.word()),
                tone: step.tone,
                title: series.title.clone(),
                workload: series.workload.clone(),
                shown: step.shown.clone(),
            })
            .collect(),
    };
    let changed =
        |one: &TrendChange| !one.changes.is_empty() || !trend.points[one.point].ended.is_empty();
    all.map(of).filter(changed).collect()
}

fn parts(trend: &Trend) -> Vec<TrendMetric> {
    let mut parts: Vec<TrendMetric> = Vec::new();
    for series in &trend.series {
        let plot = plot(trend, series);
        match parts.last_mut().filter(|part| part.metric == series.metric) {
            Some(part) => part.plots.push(plot),
            None => parts.push(TrendMetric {
                metric: series.metric.clone(),
                title: series.title.clone(),
                direction: series.better.map(direction),
                plots: vec![plot],
            }),
        }
    }
    parts
}

/// Maps values to pixels, which count from the top.
struct TrendScale {
    low: f64,
    high: f64,
}

impl TrendScale {
    fn for_series(series: &TrendSeries, margin: f64) -> Self {
        let values = series.steps.iter().filter_map(|step| step.value);
        let ends = (0..series.steps.len()).filter_map(|at| ends(series, at));
        let all: Vec<f64> = values.chain(ends.flatten()).collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !(low.is_finite() && high.is_finite()) {
            return TrendScale {
                low: 0.0,
                high: 1.0,
            };
        }
        let middle = f64::midpoint(low, high);
        let least = MARGINS * margin * middle.abs();
        let half = ((high - low).max(least) / 2.0).max(f64::MIN_POSITIVE);
        TrendScale {
            low: middle - half,
            high: middle + half,
        }
    }

    fn pixel(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        round(BOTTOM - share.clamp(0.0, 1.0) * (BOTTOM - TOP))
    }

    fn ticks(&self, unit: &str) -> Vec<TrendTick> {
        let readable = Readable::for_values(unit, [self.low, self.high].into_iter());
        let middle = f64::midpoint(self.low, self.high);
        let tick = |value: f64| TrendTick {
            y: self.pixel(value),
            text: format!(
                "{} {}",
                significant(readable.value(value), 4),
                readable.unit
            )
            .trim_end()
            .to_owned(),
        };
        [self.high, middle, self.low].map(tick).into()
    }
}

/// The interval of a step, applied to the previous value.
fn ends(series: &TrendSeries, at: usize) -> Option<[f64; 2]> {
    let step = series.steps.get(at)?;
    let before = step.before?;
    let mut steps = series.steps.iter();
    let from = steps.find(|one| one.point == before)?.value?;
    let end = |end: f64| match step.ratio {
        Some(_) => from * end,
        None => from + end,
    };
    let ends = step.interval?.map(end);
    // An interval much wider than the value would flatten the plot.
    let value = step.value?;
    let near = |end: f64| (end - value).abs() <= value.abs();
    ends.into_iter().all(near).then_some(ends)
}

fn plot(trend: &Trend, series: &TrendSeries) -> TrendPlot {
    let scale = TrendScale::for_series(series, trend.margin);
    let last = trend.points.len().saturating_sub(1).max(1) as f64;
    let across = |point: usize| round(FIRST + (LAST - FIRST) * point as f64 / last);
    let known = series.steps.iter().enumerate();
    let dots: Vec<TrendDot> = known
        .filter_map(|(at, step)| {
            Some(TrendDot {
                x: across(step.point),
                y: scale.pixel(step.value?),
                ends: ends(series, at).map(|ends| ends.map(|end| scale.pixel(end))),
                tone: step.tone,
                changed: step.changed,
                number: step.point + 1,
                says: step_text(trend, step),
            })
        })
        .collect();
    let lines = dots.windows(2).filter_map(|two| match two {
        [a, b] => Some([a.x, a.y, b.x, b.y]),
        _ => None,
    });
    let changed: Vec<String> = dots
        .iter()
        .filter(|dot| dot.changed)
        .map(|dot| dot.says.clone())
        .collect();
    TrendPlot {
        workload: series.workload.clone(),
        lines: lines.collect(),
        ticks: scale.ticks(&series.unit),
        says: match changed.is_empty() {
            true => "no change is found".to_owned(),
            false => changed.join("; "),
        },
        dots,
    }
}

/// `v6.12: worse, +10.1 % (30.2 -> 33.3 us)`.
fn step_text(trend: &Trend, step: &TrendStep) -> String {
    let name = trend
        .points
        .get(step.point)
        .map_or("", |point| point.name());
    match step.before {
        Some(_) => format!("{name}: {}, {}", step.outcome, step.shown),
        None => name.to_owned(),
    }
}

/// Rounds to a hundredth, which is finer than any screen.
fn round(place: f64) -> f64 {
    (place * 100.0).round() / 100.0
}
