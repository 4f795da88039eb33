//! Bundles of one experiment in their order: where something changed.

mod text;

use assize_verdict::{Better, Comparison, Document, RateComparison, Verdict};
use serde::{Deserialize, Serialize};

use crate::contrasts::{MetricWords, Outcome, Words, by_event, effect, ends, outcome, range};

pub use text::trend_text;

/// The schema of [`Trend`].
pub const TREND: &str = "assize.trend/1";

/// Bundles in their order, each compared with the one before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Always [`TREND`].
    pub schema: String,
    /// The experiment's title.
    pub title: String,
    /// Its question; may be empty.
    pub question: String,
    /// By what the bundles are ordered: `commit`, `date` or `path`.
    pub order: String,
    /// The bundles.
    pub points: Vec<TrendPoint>,
    /// Bundles that are not among them.
    pub left_out: Vec<LeftOut>,
    /// One for each metric or event on each workload.
    pub series: Vec<TrendSeries>,
    /// The level of all tests together.
    pub alpha: f64,
    /// Ratios within 1 ± this count as no difference.
    pub margin: f64,
    /// The command that makes this again.
    pub reproduce: String,
}

/// One bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrendPoint {
    /// Where it is; its name in what was judged.
    pub path: String,
    /// The revision that its runs are of, as it was recorded.
    pub revision: Option<String>,
    /// The first line of that commit's message, where the order is by commit.
    pub subject: Option<String>,
    /// The day of the commit where the order is by commit; else that of the last run.
    pub date: Option<String>,
    /// How many runs it has.
    pub runs: usize,
    /// What its runs were made of that those before them were not.
    pub differs: Vec<String>,
}

/// A bundle that was not judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Where it is.
    pub path: String,
    /// Why.
    pub why: String,
}

/// One metric or event on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendSeries {
    /// The metric, or the event.
    pub metric: String,
    /// Its title in words.
    pub title: String,
    /// What is good; `null` where that depends on the question.
    pub better: Option<Better>,
    /// The unit of the values; empty of plain counts.
    pub unit: String,
    /// The workload; of bundles with several configurations followed by the
    /// configuration.
    pub workload: String,
    /// The bundles that have it.
    pub steps: Vec<TrendStep>,
}

/// One bundle against the one before it that has the metric.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TrendStep {
    /// The place of the bundle among the points, from 0.
    pub point: usize,
    /// Mean of its runs, or events per second.
    pub value: Option<f64>,
    /// The place of the one before; `null` of the first.
    pub before: Option<usize>,
    /// After over before; `null` where differences were compared.
    pub ratio: Option<f64>,
    /// After less before, where these were compared.
    pub difference: Option<f64>,
    /// Interval of the one or the other; those of all steps hold at once.
    pub interval: Option<[f64; 2]>,
    /// What may be said of it; `null` of the first.
    pub verdict: Option<Verdict>,
    /// The same in words: `better`, `likely worse`, `cannot tell`, ….
    pub outcome: String,
    /// Whether a difference larger than the margin is established or supported.
    pub changed: bool,
    /// The lint for which the verdict is no better than it is, if one is.
    pub capped_by: Option<String>,
    /// The effect as text shows it.
    #[serde(skip)]
    pub(crate) shown: String,
    /// What colours stand for.
    #[serde(skip)]
    pub(crate) tone: &'static str,
}

/// Bundles as the document's configurations name them, before they are judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrendOf {
    /// The experiment's title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// By what the bundles are ordered.
    pub order: String,
    /// The bundles in their order; their paths are names of configurations.
    pub points: Vec<TrendPoint>,
    /// Bundles that are not among them.
    pub left_out: Vec<LeftOut>,
}

impl Trend {
    /// What a document says in which each configuration is compared with the one before.
    #[must_use]
    pub fn new(document: &Document, metrics: &[MetricWords], of: TrendOf) -> Trend {
        let mut maker = Maker {
            document,
            words: Words(metrics),
            points: of.points,
            series: Vec::new(),
        };
        for row in &document.comparisons {
            maker.add_comparison(row);
        }
        maker.add_rates();
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

    /// How many bundles were compared with one before them, over all series.
    #[must_use]
    pub fn comparisons(&self) -> usize {
        let steps = self.series.iter().flat_map(|one| &one.steps);
        steps.filter(|step| step.before.is_some()).count()
    }

    /// Changes at a point, with the series that they are of.
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

    /// How many points have a change.
    pub(crate) fn changed(&self) -> usize {
        let all = 0..self.points.len();
        all.filter(|at| self.changes_at(*at).next().is_some())
            .count()
    }

    /// Lints for which changes are no better than supported, each once.
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
    /// What a reader knows it by: its revision, shortened where that is the name of a
    /// commit, else its path.
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

/// As JSON.
///
/// # Errors
/// None that data can cause.
pub fn trend_json(trend: &Trend) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(trend)? + "\n")
}

/// Puts rows where they belong.
struct Maker<'a> {
    document: &'a Document,
    words: Words<'a>,
    points: Vec<TrendPoint>,
    series: Vec<TrendSeries>,
}

impl Maker<'_> {
    fn point(&self, name: &str) -> Option<usize> {
        self.points.iter().position(|point| point.path == name)
    }

    /// The steps of a metric on a workload.
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
        // What is said of any step is to hold of all.
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
        let shown = match ends(row).map(range) {
            Some(range) => format!("{effect}, {range}"),
            None => effect,
        };
        let steps = self.steps(&row.metric, &row.unit, &row.workload);
        begin(steps, before, row.mean_baseline);
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
            ..decided(came_out, margin)
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
                ..decided(contrast.outcome, self.document.margin)
            };
            found.push((row, rate(row, &row.baseline), before, step));
        }
        for (row, value, before, step) in found {
            let steps = self.steps(&row.event, "1/s", &row.workload);
            begin(steps, before, value);
            steps.push(step);
        }
    }

    /// Says of each point what its runs were made of that those before were not.
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

/// The first point of a series, of which only the value is known.
fn begin(steps: &mut Vec<TrendStep>, point: usize, value: Option<f64>) {
    if steps.is_empty() {
        steps.push(TrendStep {
            point,
            value,
            ..TrendStep::default()
        });
    }
}

fn decided(came_out: Outcome, margin: f64) -> TrendStep {
    TrendStep {
        outcome: came_out.words(margin),
        changed: !matches!(came_out, Outcome::Same | Outcome::Open),
        tone: came_out.tone(),
        ..TrendStep::default()
    }
}

#[cfg(test)]
mod tests;
