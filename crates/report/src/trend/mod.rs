//! Bundles of one experiment in order, and the changes between them.

mod text;

use assize_verdict::{Better, Comparison, Document, RateComparison, Verdict};
use serde::{Deserialize, Serialize};

use crate::contrasts::{
    MetricWords, RowOutcome, Wordings, by_event, effect, interval_ends, outcome, range,
};

pub use text::trend_text;

/// The schema of [`Trend`].
pub const TREND: &str = "assize.trend/1";

/// Bundles in order, each compared with the one before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Always [`TREND`].
    pub schema: String,
    /// The experiment's title.
    pub title: String,
    /// The question that it asks; may be empty.
    pub question: String,
    /// The order of the bundles: `commit`, `date` or `path`.
    pub order: String,
    /// The bundles.
    pub points: Vec<TrendPoint>,
    /// Bundles that were not judged.
    pub left_out: Vec<SkippedBundle>,
    /// One series per metric or event and workload.
    pub series: Vec<TrendSeries>,
    /// The significance level of all tests together.
    pub alpha: f64,
    /// Ratios within 1 ± this count as no difference.
    pub margin: f64,
    /// The command that reproduces this result.
    pub reproduce: String,
}

/// One bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrendPoint {
    /// The path of the bundle, which is also its name in the judged document.
    pub path: String,
    /// The revision that was run, as recorded.
    pub revision: Option<String>,
    /// The subject of that commit, if the order is by commit.
    pub subject: Option<String>,
    /// The date of the commit if the order is by commit, else of the last run.
    pub date: Option<String>,
    /// The number of runs.
    pub runs: usize,
    /// The parts of the runs' identity (kernel, modules, programs, settings) that differ from the
    /// previous bundle.
    pub differs: Vec<String>,
    /// How its runs ended differently from those of the previous bundle, one sentence per ending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<String>,
}

/// A bundle that was not judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedBundle {
    /// The path of the bundle.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// One metric or event on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendSeries {
    /// The metric, or the event.
    pub metric: String,
    /// Its title in words.
    pub title: String,
    /// The good direction; `null` if it depends on the question.
    pub better: Option<Better>,
    /// The unit of the values; empty for plain counts.
    pub unit: String,
    /// The workload, followed by the configuration if the bundles have several.
    pub workload: String,
    /// The bundles that have the metric, in order.
    pub steps: Vec<TrendStep>,
}

/// One bundle compared with the previous one that has the metric.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TrendStep {
    /// The index of the bundle in `points`, from 0.
    pub point: usize,
    /// The mean of its runs, or events per second.
    pub value: Option<f64>,
    /// The index of the previous bundle; `null` for the first.
    pub before: Option<usize>,
    /// `after / before`; `null` if differences were compared.
    pub ratio: Option<f64>,
    /// `after - before`, if differences were compared.
    pub difference: Option<f64>,
    /// The interval of the ratio or of the difference; the intervals of all steps hold
    /// simultaneously.
    pub interval: Option<[f64; 2]>,
    /// The verdict; `null` for the first.
    pub verdict: Option<Verdict>,
    /// The outcome in words: `better`, `likely worse`, `cannot tell`, ….
    pub outcome: String,
    /// Whether a difference larger than the margin is established or supported.
    pub changed: bool,
    /// The lint that limits the verdict, if one does.
    pub capped_by: Option<String>,
    /// The formatted effect.
    #[serde(skip)]
    pub(crate) shown: String,
    /// The colour class.
    #[serde(skip)]
    pub(crate) tone: &'static str,
}

/// The bundles before they are judged, named like the document's configurations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrendInput {
    /// The experiment's title.
    pub title: String,
    /// The question that it asks.
    pub question: String,
    /// The order of the bundles.
    pub order: String,
    /// The bundles in order; their paths are the names of configurations.
    pub points: Vec<TrendPoint>,
    /// Bundles that were not judged.
    pub left_out: Vec<SkippedBundle>,
}

impl Trend {
    /// Builds a trend from a document that compares each configuration with the previous one.
    #[must_use]
    pub fn new(document: &Document, metrics: &[MetricWords], of: TrendInput) -> Trend {
        let mut maker = TrendBuilder {
            document,
            words: Wordings(metrics),
            points: of.points,
            series: Vec::new(),
        };
        for row in &document.comparisons {
            maker.add_comparison(row);
        }
        maker.add_rates();
        maker.add_endings();
        maker.identities();
        let mut order: Vec<String> = Vec::new();
        for one in &maker.series {
            if !order.contains(&one.metric) {
                order.push(one.metric.clone());
            }
        }
        let place = |one: &TrendSeries| order.iter().position(|metric| *metric == one.metric);
        maker.series.sort_by_key(place);
        Trend {
            schema: TREND.into(),
            title: of.title,
            question: of.question,
            order: of.order,
            points: maker.points,
            left_out: of.left_out,
            series: maker.series,
            alpha: document.alpha,
            margin: document.margin,
            reproduce: document.reproduce.clone(),
        }
    }

    /// The number of comparisons of a bundle with a previous one, over all series.
    #[must_use]
    pub fn comparisons(&self) -> usize {
        let steps = self.series.iter().flat_map(|one| &one.steps);
        steps.filter(|step| step.before.is_some()).count()
    }

    /// The changes at a point, with their series.
    pub(crate) fn changes_at(
        &self,
        point: usize,
    ) -> impl Iterator<Item = (&TrendSeries, &TrendStep)> {
        let steps = self.series.iter().flat_map(|one| {
            let steps = one.steps.iter();
            steps.map(move |step| (one, step))
        });
        steps.filter(move |(_, step)| step.changed && step.point == point)
    }

    /// The number of points at which a metric changed or runs ended differently.
    pub(crate) fn changed(&self) -> usize {
        let points = self.points.iter().enumerate();
        let changed = points
            .filter(|(at, point)| !point.ended.is_empty() || self.changes_at(*at).next().is_some());
        changed.count()
    }

    /// The lints that cap changes at `supported`, without repeats.
    pub(crate) fn caps(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for step in self.series.iter().flat_map(|one| &one.steps) {
            if let Some(lint) = step.capped_by.as_deref()
                && !found.contains(&lint)
            {
                found.push(lint);
            }
        }
        found
    }
}

impl TrendPoint {
    /// The name shown to readers: the revision, abbreviated if it is a commit ID, else
    /// the path.
    #[must_use]
    pub fn name(&self) -> &str {
        const SHORT: usize = 12;
        match &self.revision {
            Some(id) if id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                id.get(..SHORT).unwrap_or(id)
            }
            Some(name) => name,
            None => self.path.strip_suffix(".bundle").unwrap_or(&self.path),
        }
    }
}

/// Returns the trend as JSON.
///
/// # Errors
/// Never, whatever the data.
pub fn trend_json(trend: &Trend) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(trend)? + "\n")
}

/// Sorts rows into series.
struct TrendBuilder<'a> {
    document: &'a Document,
    words: Wordings<'a>,
    points: Vec<TrendPoint>,
    series: Vec<TrendSeries>,
}

impl TrendBuilder<'_> {
    /// Records for each point the endings, such as crashes, whose share differs from the previous
    /// bundle's, whether or not the difference is established.
    fn add_endings(&mut self) {
        for row in crate::contrasts::ranked_outcomes(self.document) {
            let share = |count: u32, of: u32| u64::from(count) * u64::from(of.max(1));
            let equal = share(row.count, row.n_baseline) == share(row.count_baseline, row.n);
            if let Some(at) = self.point(&row.configuration).filter(|_| !equal) {
                let said = crate::contrasts::describe_outcome(row);
                self.points[at].ended.push(said);
            }
        }
    }

    fn point(&self, name: &str) -> Option<usize> {
        self.points.iter().position(|point| point.path == name)
    }

    /// The steps of a metric on a workload; adds the series if it is new.
    fn steps(&mut self, metric: &str, unit: &str, workload: &str) -> &mut Vec<TrendStep> {
        let is = |one: &TrendSeries| {
            (&*one.metric, &*one.unit, &*one.workload) == (metric, unit, workload)
        };
        let at = self.series.iter().position(is).unwrap_or_else(|| {
            self.series.push(TrendSeries {
                metric: metric.into(),
                title: self.words.capitalised(metric),
                better: self.words.better(metric),
                unit: unit.into(),
                workload: workload.into(),
                steps: Vec::new(),
            });
            self.series.len() - 1
        });
        &mut self.series[at].steps
    }

    fn add_comparison(&mut self, row: &Comparison) {
        // Statements about all steps must hold simultaneously.
        let row = &Comparison {
            ci: row.ci_simultaneous.or(row.ci),
            ..row.clone()
        };
        let (Some(before), Some(point)) =
            (self.point(&row.baseline), self.point(&row.configuration))
        else {
            return;
        };
        let better = self.words.better(&row.metric);
        let margin = self.document.margin;
        let came_out = outcome(row, better, margin);
        let effect = effect(self.document, row);
        let shown = match interval_ends(row).map(range) {
            Some(range) => format!("{effect}, {range}"),
            None => effect,
        };
        let steps = self.steps(&row.metric, &row.unit, &row.workload);
        begin_series(steps, before, row.mean_baseline);
        steps.push(TrendStep {
            point,
            value: row.mean,
            before: Some(before),
            ratio: row.ratio,
            difference: row.difference,
            interval: row.ci,
            verdict: Some(row.verdict),
            capped_by: row.capped_by.clone(),
            shown,
            ..decided_step(came_out, margin)
        });
    }

    fn add_rates(&mut self) {
        let rate = |row: &RateComparison, configuration: &str| {
            let mut rates = self.document.rates.iter();
            let is = |workload: &str, event: &str| workload == row.workload && event == row.event;
            let found = rates
                .find(|one| one.configuration == configuration && is(&one.workload, &one.event));
            found.and_then(|one| one.rate_per_s)
        };
        let mut found = Vec::new();
        for contrast in by_event(self.document, self.words)
            .into_iter()
            .flat_map(|one| one.contrasts)
        {
            let row = contrast.row;
            let (Some(before), Some(point)) =
                (self.point(&row.baseline), self.point(&row.configuration))
            else {
                continue;
            };
            let step = TrendStep {
                point,
                value: rate(row, &row.configuration),
                before: Some(before),
                ratio: row.ratio,
                verdict: Some(row.verdict),
                shown: contrast.effect(),
                ..decided_step(contrast.outcome, self.document.margin)
            };
            found.push((row, rate(row, &row.baseline), before, step));
        }
        for (row, value, before, step) in found {
            let steps = self.steps(&row.event, "1/s", &row.workload);
            begin_series(steps, before, value);
            steps.push(step);
        }
    }

    /// Records for each point how its runs differ in identity from those of the previous point.
    fn identities(&mut self) {
        for difference in &self.document.identity_differences {
            let Some(at) = self.point(&difference.configuration) else {
                continue;
            };
            let parts = difference.parts.iter();
            let mut parts: Vec<String> = parts
                .map(|part| format!("{} {}", part.kind, part.name))
                .collect();
            parts.dedup();
            self.points[at].differs = parts;
        }
    }
}

/// Starts a series with its first point, of which only the value is known.
fn begin_series(steps: &mut Vec<TrendStep>, point: usize, value: Option<f64>) {
    if steps.is_empty() {
        steps.push(TrendStep {
            point,
            value,
            ..TrendStep::default()
        });
    }
}

fn decided_step(came_out: RowOutcome, margin: f64) -> TrendStep {
    TrendStep {
        outcome: came_out.words(margin),
        changed: !matches!(came_out, RowOutcome::Same | RowOutcome::Open),
        tone: came_out.tone(),
        ..TrendStep::default()
    }
}

#[cfg(test)]
mod tests;
