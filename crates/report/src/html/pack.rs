//! The data of the plots, column by column.
//!
//! Names are replaced by indices into lists. Numbers are rounded to seven significant digits, at
//! least two more than are shown.

use std::collections::HashMap;

use assize_trace::Timeline;
use assize_verdict::{Better, Comparison, Document, Factorial, NoiseFloor, Run, Verdict, convert};
use serde_json::{Value, json};

use super::page::ReportPage;
use super::{answer, attributed, grid, machines};
use crate::contrasts::contradicted;
use crate::contrasts::{Wordings, absolute_means};

/// Lists of names, and the index of each name.
struct NameTable<'p> {
    configurations: HashMap<&'p str, usize>,
    workloads: HashMap<&'p str, usize>,
    /// Metrics with their units.
    metrics: Vec<(&'p str, &'p str)>,
    metric_at: HashMap<(&'p str, &'p str), usize>,
}

/// Returns all data that the script uses.
pub(super) fn pack_page(page: &ReportPage<'_>, heroes: &[String]) -> Value {
    let document = page.document;
    let names = NameTable::new(page);
    let words = Wordings(&page.about.metrics);
    // The page contains the first screen for its first baseline already.
    let heroes = std::iter::once("").chain(heroes.iter().map(String::as_str));
    let judged: Vec<Value> = std::iter::once(document)
        .chain(page.others)
        .zip(heroes)
        .map(|(document, hero)| pack_verdicts(document, &names, words, hero))
        .collect();
    let configurations: Vec<Value> = document
        .configurations
        .iter()
        .map(|c| json!({"name": c.name, "label": c.label, "factors": c.factors, "repeats": c.repeats}))
        .collect();
    let primary: Vec<usize> = (0..names.metrics.len())
        .filter(|&m| page.about.primary.iter().any(|p| p == names.metrics[m].0))
        .collect();
    let [why, shell] = attributed::data(page);
    json!({
        "configurations": configurations,
        "workloads": document.workloads,
        "metrics": names.metrics.iter().map(|&(metric, unit)| {
            let better = words.better(metric).map(|better| match better {
                Better::Lower => "lower",
                Better::Higher => "higher",
            });
            json!([metric, unit, words.capitalised(metric), better])
        }).collect::<Vec<_>>(),
        "primary": primary,
        "alpha": document.alpha,
        "level": document.level,
        "margin": document.margin,
        "judged": judged,
        "floor": pack_noise_floor(&document.noise_floor, &names),
        "factorial": factorial(&document.factorial, &names),
        "runs": runs(&document.runs, &names),
        "rates": document.rates,
        "lints": document.lints,
        "several": document.across.plural().to_string(),
        "machines": on_machines(document, &names),
        "pooled": pooled(document, &names),
        "curves": page.evidence.curves.iter().map(|curve| json!({
            "run": curve.run, "metric": curve.metric, "unit": curve.unit, "n": curve.count,
            "x": curve.values.iter().copied().map(short).collect::<Vec<_>>(),
            "y": curve.shares.iter().copied().map(short).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "series": page.evidence.series.iter().map(|series| json!({
            "run": series.run, "metric": series.metric, "unit": series.unit, "n": series.count,
            "t": series.t_ns.iter().copied().map(short).collect::<Vec<_>>(),
            "low": series.low.iter().copied().map(short).collect::<Vec<_>>(),
            "high": series.high.iter().copied().map(short).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "why": why,
        "shell": shell,
        "timelines": page.timelines.iter().map(timeline).collect::<Vec<_>>(),
    })
}

impl<'p> NameTable<'p> {
    fn new(page: &'p ReportPage<'_>) -> Self {
        let document = page.document;
        let at = |names: Vec<&'p str>| -> HashMap<&'p str, usize> {
            names.into_iter().enumerate().map(|(i, n)| (n, i)).collect()
        };
        let mut names = NameTable {
            configurations: at(document
                .configurations
                .iter()
                .map(|c| c.name.as_str())
                .collect()),
            workloads: at(document.workloads.iter().map(String::as_str).collect()),
            metrics: Vec::new(),
            metric_at: HashMap::new(),
        };
        for row in &document.comparisons {
            names.add(&row.metric, &row.unit);
        }
        for run in &document.runs {
            for (metric, measurement) in &run.metrics {
                names.add_recorded(metric, &measurement.unit);
            }
        }
        let rows = page.others.iter().flat_map(|other| &other.comparisons);
        for row in rows {
            names.add(&row.metric, &row.unit);
        }
        for row in &document.noise_floor {
            names.add(&row.metric, &row.unit);
        }
        for fit in &document.factorial {
            names.add(&fit.metric, &fit.unit);
        }
        names
    }

    fn add(&mut self, metric: &'p str, unit: &'p str) {
        let next = self.metrics.len();
        let at = *self.metric_at.entry((metric, unit)).or_insert(next);
        if at == next {
            self.metrics.push((metric, unit));
        }
    }

    /// Adds a recorded metric, unless it is listed with a unit to which its values can be
    /// converted.
    fn add_recorded(&mut self, metric: &'p str, unit: &'p str) {
        let mut known = self.metrics.iter();
        if self.metric(metric, unit).is_none()
            && known.all(|&(name, other)| name != metric || convert(1.0, unit, other).is_none())
        {
            self.add(metric, unit);
        }
    }

    fn configuration(&self, name: &str) -> Option<usize> {
        self.configurations.get(name).copied()
    }

    fn workload(&self, name: &str) -> Option<usize> {
        self.workloads.get(name).copied()
    }

    fn metric(&self, metric: &str, unit: &str) -> Option<usize> {
        self.metric_at.get(&(metric, unit)).copied()
    }
}

/// The verdicts for one baseline.
fn pack_verdicts(
    document: &Document,
    names: &NameTable<'_>,
    words: Wordings<'_>,
    hero: &str,
) -> Value {
    let rows = &document.comparisons;
    let column = |of: &dyn Fn(&Comparison) -> Value| -> Value {
        rows.iter().map(of).collect::<Vec<Value>>().into()
    };
    let number = |of: &dyn Fn(&Comparison) -> Option<f64>| column(&|row| rounded(of(row)));
    let verdicts: String = rows.iter().map(|row| verdict_letter(row.verdict)).collect();
    let because: serde_json::Map<String, Value> = rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Some((at.to_string(), row.because.clone()?.into())))
        .collect();
    let opposite = rows.iter().enumerate();
    let opposite = opposite.filter(|(_, row)| contradicted(document, row));
    let opposite: Vec<usize> = opposite.map(|(at, _)| at).collect();
    json!({
        "baseline": document.baseline,
        "w": column(&|row| names.workload(&row.workload).into()),
        "m": column(&|row| names.metric(&row.metric, &row.unit).into()),
        "b": column(&|row| names.configuration(&row.baseline).into()),
        "c": column(&|row| names.configuration(&row.configuration).into()),
        "ratio": number(&|row| row.ratio),
        "difference": number(&|row| row.difference),
        "low": number(&|row| row.ci.map(|ci| ci[0])),
        "high": number(&|row| row.ci.map(|ci| ci[1])),
        "absolute": column(&|row| absolute_means(document, row).map(|means| means.typeset()).into()),
        "mean_baseline": number(&|row| row.mean_baseline),
        "mean": number(&|row| row.mean),
        "n_baseline": column(&|row| row.n_baseline.into()),
        "n": column(&|row| row.n.into()),
        "p": number(&|row| row.p_adjusted),
        "needed": column(&|row| row.runs_needed.into()),
        "verdict": verdicts,
        "tone": rows.iter().map(|row| grid::tone(document, row, words)).collect::<Vec<_>>(),
        "hero": hero,
        "opposite": opposite,
        "because": because,
        "sentences": answer::sentences(document),
        "tally": answer::tally(document),
        "rates": document.rate_comparisons,
    })
}

/// A timeline with its spans column by column; thread names repeat, so they are stored
/// once and referred to by index.
fn timeline(timeline: &Timeline) -> Value {
    let lanes = timeline.lanes.iter().map(|lane| {
        let mut labels: Vec<&str> = Vec::new();
        let label: Vec<usize> = lane
            .spans
            .iter()
            .map(|span| {
                let known = labels.iter().position(|label| *label == span.label);
                known.unwrap_or_else(|| {
                    labels.push(&span.label);
                    labels.len() - 1
                })
            })
            .collect();
        json!({
            "name": lane.name,
            "from": lane.spans.iter().map(|span| span.start_ns).collect::<Vec<_>>(),
            "to": lane.spans.iter().map(|span| span.end_ns).collect::<Vec<_>>(),
            "kind": lane.spans.iter().map(|span| span.kind).collect::<Vec<_>>(),
            "label": label,
            "labels": labels,
        })
    });
    json!({
        "run": timeline.run,
        "start": timeline.start_ns,
        "end": timeline.end_ns,
        "lanes": lanes.collect::<Vec<_>>(),
        "thinned": timeline.thinned,
    })
}

/// A row with an effect: names, ratio or difference, interval.
macro_rules! effect_row {
    ($names:expr, $row:expr; $($before:literal: $value:expr)?; $($key:literal: $further:expr),*) => {
        json!({
            "w": $names.workload(&$row.workload),
            "m": $names.metric(&$row.metric, &$row.unit),
            "b": $names.configuration(&$row.baseline),
            "c": $names.configuration(&$row.configuration),
            $($before: $value,)?
            "ratio": rounded($row.ratio),
            "difference": rounded($row.difference),
            "ci": $row.ci.map(|ci| ci.map(short)),
            $($key: $further,)*
        })
    };
}

/// The per-machine comparisons.
fn on_machines(document: &Document, names: &NameTable<'_>) -> Value {
    let rows = document
        .machines
        .iter()
        .map(|row| effect_row!(names, row; "machine": row.machine; "verdict": row.verdict.word()));
    rows.collect()
}

/// The comparisons pooled over machines.
fn pooled(document: &Document, names: &NameTable<'_>) -> Value {
    let rows = document.pooled.iter().map(|row| {
        effect_row!(names, row;;
            "ratio_random": rounded(row.ratio_random),
            "difference_random": rounded(row.difference_random),
            "ci_random": row.ci_random.map(|ci| ci.map(short)),
            "prediction": row.prediction.map(|ci| ci.map(short)),
            "agreement": machines::agreement(row.agreement),
            "verdict": row.verdict.word())
    });
    rows.collect()
}

fn verdict_letter(verdict: Verdict) -> char {
    match verdict {
        Verdict::Established => 'e',
        Verdict::Supported => 's',
        Verdict::Equivalent => 'q',
        Verdict::Undecided => 'u',
    }
}

/// The noise floor: the effects found where nothing differs.
fn pack_noise_floor(rows: &[NoiseFloor], names: &NameTable<'_>) -> Value {
    rows.iter().map(|row| effect_row!(names, row;;)).collect()
}

fn factorial(fits: &[Factorial], names: &NameTable<'_>) -> Value {
    let fits = fits.iter().map(|fit| {
        let effects = fit.effects.iter().map(|effect| {
            json!({
                "name": effect.name,
                "ratio": short(effect.ratio),
                "ci": effect.ci.map(|ci| ci.map(short)),
                "p_adjusted": rounded(effect.p_adjusted),
                "verdict": effect.verdict.word(),
            })
        });
        json!({
            "w": names.workload(&fit.workload),
            "m": names.metric(&fit.metric, &fit.unit),
            "factors": fit.factors,
            "n": fit.n,
            "df": fit.residual_df,
            "effects": effects.collect::<Vec<_>>(),
        })
    });
    fits.collect()
}

/// The runs: a column for each metric, `null` where a run lacks it.
fn runs(runs: &[Run], names: &NameTable<'_>) -> Value {
    let column = |of: &dyn Fn(&Run) -> Value| -> Value {
        runs.iter().map(of).collect::<Vec<Value>>().into()
    };
    let values: Vec<Value> = names
        .metrics
        .iter()
        .map(|&(metric, unit)| {
            column(&|run| {
                let measured = run.metrics.get(metric);
                rounded(measured.and_then(|m| convert(m.value, &m.unit, unit)))
            })
        })
        .collect();
    json!({
        "c": column(&|run| names.configuration(&run.configuration).into()),
        "w": column(&|run| names.workload(&run.workload).into()),
        "repetition": column(&|run| run.repetition.into()),
        "order": column(&|run| run.order.into()),
        "block": column(&|run| run.block.into()),
        "line": column(&|run| run.place.line.into()),
        "values": values,
    })
}

fn rounded(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| json!(short(value)))
}

/// Rounds to seven significant digits.
fn short(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_seven_digits() {
        assert_eq!(short(0.943_387_448_777), 0.943_387_4);
        assert_eq!(short(101_376.051_885), 101_376.1);
        assert_eq!(short(0.0), 0.0);
    }
}
