//! One configuration against its baseline on one metric, over all workloads: its outcome
//! in words. The terminal text and the page use the same words.

mod agreement;
mod figures;
mod fixed;
mod outcomes;
mod rates;
mod run_counts;

use std::cmp::Ordering;
use std::collections::HashSet;

use assize_verdict::{Agreement, Better, Comparison, Document, Sentence, Verdict};

pub(crate) use figures::{
    ChangeInterval, RowOutcome, absolute_means, effect, effect_with_interval, interval,
    interval_ends, log_gain, outcome, percent, range, relative_change, row_words, size,
    size_with_interval, stands_for,
};
pub(crate) use fixed::{fixed_outcome, fixed_values};
pub(crate) use outcomes::{
    count_incomplete_runs, describe_all_completed, describe_completed, outcome_word,
    ranked as ranked_outcomes,
};
pub use outcomes::{describe_outcome, outcome_figures};
pub(crate) use rates::{EventContrasts, RateContrast, by_event, events_lead};

pub(crate) use run_counts::describe_run_counts;

use agreement::agreement;
pub(crate) use agreement::contradicted;

/// The mark for a verdict in a table.
pub(crate) fn verdict_mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Established => "**",
        Verdict::Supported => "*",
        Verdict::Equivalent => "=",
        Verdict::Undecided => "?",
    }
}

/// The metrics of the rows in their order, each once.
pub(crate) fn distinct_metrics<'r>(rows: &[&'r Comparison]) -> Vec<&'r str> {
    distinct(rows.iter().map(|row| row.metric.as_str()))
}

/// Names in their order, each once.
pub(crate) fn distinct<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The wording of a metric: its name in the document, its title, and which direction is
/// good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricWords {
    /// As in [`assize_verdict::Comparison::metric`].
    pub metric: String,
    /// Its title, in words.
    pub title: String,
    /// The good direction; `None` if the metric has none.
    pub better: Option<Better>,
}

/// Looks up the wording of a metric; one without an entry is called by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wordings<'a>(pub(crate) &'a [MetricWords]);

impl<'a> Wordings<'a> {
    fn wording(self, metric: &str) -> Option<&'a MetricWords> {
        self.0.iter().find(|one| one.metric == metric)
    }

    pub(crate) fn title<'s>(self, metric: &'s str) -> &'s str
    where
        'a: 's,
    {
        self.wording(metric).map_or(metric, |one| &one.title)
    }

    pub(crate) fn better(self, metric: &str) -> Option<Better> {
        self.wording(metric).and_then(|one| one.better)
    }

    /// The title for the start of a line, or else the name.
    pub(crate) fn capitalised(self, metric: &str) -> String {
        match self.title(metric) {
            title if title == metric => title.to_owned(),
            title => capital(title),
        }
    }

    /// `Busy time per job (less is better)`.
    pub(crate) fn heading(self, metric: &str) -> String {
        let title = self.capitalised(metric);
        match self.better(metric) {
            Some(better) => format!("{title} ({})", direction(better)),
            None => title,
        }
    }
}

/// `less is better`.
pub(crate) fn direction(better: Better) -> &'static str {
    match better {
        Better::Lower => "less is better",
        Better::Higher => "more is better",
    }
}

/// Capitalises the first letter.
fn capital(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    text
}

/// A metric of the answer and its contrasts.
pub(crate) struct MetricContrasts<'a> {
    pub(crate) metric: &'a str,
    pub(crate) contrasts: Vec<ConfigurationContrast<'a>>,
}

/// One configuration against its baseline on one metric, over all workloads.
pub(crate) struct ConfigurationContrast<'a> {
    pub(crate) name: &'a str,
    pub(crate) rows: Vec<(&'a Comparison, RowOutcome)>,
    pub(crate) better: Option<Better>,
    margin: f64,
}

/// Groups the rows of the answer into contrasts by metric: those of the primary metrics, or all if
/// there are none. The most striking contrast of each metric comes first.
pub(crate) fn by_metric<'a>(
    document: &'a Document,
    words: Wordings<'_>,
) -> Vec<MetricContrasts<'a>> {
    let mut metrics: Vec<MetricContrasts<'_>> = Vec::new();
    for row in leading_rows(document) {
        let better = words.better(&row.metric);
        let came_out = came_out(document, row, better);
        let at = metrics.iter().position(|one| one.metric == row.metric);
        let at = at.unwrap_or_else(|| {
            metrics.push(MetricContrasts {
                metric: &row.metric,
                contrasts: Vec::new(),
            });
            metrics.len() - 1
        });
        let Some(MetricContrasts { contrasts, .. }) = metrics.get_mut(at) else {
            continue;
        };
        match contrasts
            .iter_mut()
            .find(|one| one.name == row.configuration)
        {
            Some(contrast) => contrast.rows.push((row, came_out)),
            None => contrasts.push(ConfigurationContrast {
                name: &row.configuration,
                rows: vec![(row, came_out)],
                better,
                margin: document.margin,
            }),
        }
    }
    for one in &mut metrics {
        one.contrasts
            .sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    }
    if !rows_are_primary(document) {
        metrics.sort_by(|a, b| first(&b.contrasts).total_cmp(&first(&a.contrasts)));
    }
    metrics
}

/// Returns the outcome of a row. It is open if machines contradict each other, as no single figure
/// is valid for all of them.
pub(crate) fn came_out(
    document: &Document,
    row: &Comparison,
    better: Option<Better>,
) -> RowOutcome {
    if contradicted(document, row) {
        return RowOutcome::Open;
    }
    fixed_outcome(document, row).unwrap_or_else(|| outcome(row, better, document.margin))
}

fn first(contrasts: &[ConfigurationContrast<'_>]) -> f64 {
    contrasts.first().map_or(0.0, ConfigurationContrast::weight)
}

/// Whether any metric is declared primary.
pub(crate) fn rows_are_primary(document: &Document) -> bool {
    document.comparisons.iter().any(|row| row.primary)
}

/// The rows that make up the answer: the primary ones, or all rows if none is primary.
pub(crate) fn leading_rows(document: &Document) -> Vec<&Comparison> {
    let primary = rows_are_primary(document);
    let leads = |row: &&Comparison| row.primary == primary;
    document.comparisons.iter().filter(leads).collect()
}

/// The sentences of a document that contrasts do not cover: at least one of their rows is in no
/// contrast.
pub(crate) fn remaining_sentences(document: &Document) -> Vec<&Sentence> {
    let metrics = leading_rows(document).into_iter();
    // Contrasts do not show differences between machines.
    let is_one =
        |row: &&Comparison| agreement(document, row).is_none_or(|it| it == Agreement::Agree);
    let metrics = metrics.filter(is_one);
    let names = metrics.map(|row| [&row.workload, &row.metric, &row.configuration]);
    let events = by_event(document, Wordings(&[])).into_iter();
    let events = events.flat_map(|one| one.contrasts).map(|it| it.row);
    let events = events.flat_map(|row| {
        [&row.configuration, &row.baseline].map(|name| [&row.workload, &row.event, name])
    });
    let shown: HashSet<String> = names
        .chain(events)
        .map(|[a, b, c]| format!("{a} {b} {c}"))
        .chain(outcomes::names(document))
        .chain(document.same.iter().map(|one| one.configuration.clone()))
        .collect();
    let says_more = |sentence: &&Sentence| {
        sentence.rows.is_empty() || !sentence.rows.iter().all(|row| shown.contains(row))
    };
    document.sentences.iter().filter(says_more).collect()
}

impl<'a> ConfigurationContrast<'a> {
    /// The importance of a contrast, for sorting; established results come first.
    fn weight(&self) -> f64 {
        let of = |(row, came_out): &(&Comparison, RowOutcome)| {
            let size = log_gain(row, None).abs();
            match came_out {
                RowOutcome::Better | RowOutcome::Worse | RowOutcome::Less | RowOutcome::More => {
                    100.0 + size
                }
                RowOutcome::LikelyBetter
                | RowOutcome::LikelyWorse
                | RowOutcome::LikelyLess
                | RowOutcome::LikelyMore => 10.0 + size,
                RowOutcome::Fixed => 2.0,
                RowOutcome::Same => 1.0,
                RowOutcome::Equal | RowOutcome::Open => 0.0,
            }
        };
        self.rows.iter().map(of).fold(0.0, f64::max)
    }

    /// Whether every workload is undecided.
    pub(crate) fn is_open(&self) -> bool {
        self.rows
            .iter()
            .all(|(_, came_out)| *came_out == RowOutcome::Open)
    }

    /// Whether the two sides are equal in every run of every workload.
    pub(crate) fn is_equal(&self) -> bool {
        self.rows
            .iter()
            .all(|(_, came_out)| *came_out == RowOutcome::Equal)
    }

    /// `better`, or `better in 3, worse in 1, cannot tell in 2 of 6 workloads`. Established
    /// differences that are too small to matter are counted too.
    pub(crate) fn verdict(&self) -> String {
        let small = self.rows.iter().filter(|(row, came_out)| {
            let differs = relative_change(row).is_some_and(|change| change != 0.0);
            *came_out == RowOutcome::Same && row.verdict == Verdict::Established && differs
        });
        match small.count() {
            0 => self.by_outcome(),
            _ if self.rows.len() == 1 => self.by_outcome(),
            small => format!(
                "{} ({small} established, too small to matter)",
                self.by_outcome()
            ),
        }
    }

    fn by_outcome(&self) -> String {
        let counted = RowOutcome::ALL.iter().filter_map(|outcome| {
            let n = self.rows.iter().filter(|(_, one)| one == outcome).count();
            (n > 0).then(|| (outcome.words(self.margin), n))
        });
        let counted: Vec<(String, usize)> = counted.collect();
        match &counted[..] {
            [(word, 1)] => match self.rows[..] {
                [(row, came_out)] => row_words(row, came_out, self.better, self.margin),
                _ => word.clone(),
            },
            [(word, 2)] => format!("{word} in both workloads"),
            [(word, n)] => format!("{word} in all {n} workloads"),
            several => {
                let parts: Vec<String> = several
                    .iter()
                    .map(|(word, n)| format!("{word} in {n}"))
                    .collect();
                format!("{} of {} workloads", parts.join(", "), self.rows.len())
            }
        }
    }

    /// The best and the worst decided workload; if none is decided, of all workloads.
    pub(crate) fn best_and_worst(&self) -> Vec<(&'a Comparison, RowOutcome)> {
        let by_gain = |(a, _): &(&Comparison, _), (b, _): &(&Comparison, _)| -> Ordering {
            log_gain(b, self.better).total_cmp(&log_gain(a, self.better))
        };
        let decided = self
            .rows
            .iter()
            .any(|(_, came_out)| *came_out != RowOutcome::Open);
        let shown = |came_out: &RowOutcome| !decided || *came_out != RowOutcome::Open;
        let rows = self.rows.iter().filter(|(_, came_out)| shown(came_out));
        let mut rows: Vec<(&Comparison, RowOutcome)> = rows.copied().collect();
        rows.sort_by(by_gain);
        match rows[..] {
            [first, .., last] => vec![first, last],
            _ => rows,
        }
    }
}

/// A margin in per cent.
pub(crate) fn margin(margin: f64) -> String {
    percent(margin)
        .trim_start_matches('+')
        .replace(".0 %", " %")
}

/// The number of rows whose verdict is not undecided.
pub(crate) fn count_decided(rows: &[&Comparison]) -> usize {
    let is = |row: &&&Comparison| row.verdict != Verdict::Undecided;
    rows.iter().filter(is).count()
}
