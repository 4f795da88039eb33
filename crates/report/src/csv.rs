mod machines;

use assize_verdict::{Document, Relation, Table as Declared, TableCell};

/// The columns, in order; a kind of row fills those that it has.
const COLUMNS: &[&str] = &[
    "kind",
    "workload",
    "metric",
    "unit",
    "baseline",
    "configuration",
    "repetition",
    "n_baseline",
    "n",
    "mean_baseline",
    "mean",
    "ratio",
    "ci_low",
    "ci_high",
    "p_t",
    "p",
    "p_attainable",
    "p_adjusted",
    "p_t_adjusted",
    "scale",
    "difference",
    "verdict",
    "runs_needed",
    "count",
    "exposure_s",
    "rate_per_s",
    "value",
    "text",
    "machine",
];

/// The whole document as one table. The column `kind` says what a row is:
/// `run` (one row for each metric), `summary`, `statement`, `comparison`,
/// of several machines `machine` and `pooled` with `weight`, `random`,
/// `prediction`, `q`, `q_welch`, `i2` and `tau2`, `median`, `normalised` (of which `baseline` is the workload that is 1),
/// `relative`, `effect`, `rate`, `rate_comparison`, `claim`, `lint` or
/// `sentence`.
///
/// # Errors
/// If the bytes cannot be written, which memory never refuses.
pub fn csv(document: &Document) -> Result<String, ::csv::Error> {
    let mut table = Table {
        writer: ::csv::Writer::from_writer(Vec::new()),
    };
    table.writer.write_record(COLUMNS)?;
    recorded(document, &mut table)?;
    judged(document, &mut table)?;
    spoken(document, &mut table)?;
    let bytes = table
        .writer
        .into_inner()
        .map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct Table {
    writer: ::csv::Writer<Vec<u8>>,
}

impl Table {
    fn row(&mut self, fields: &[(&str, String)]) -> Result<(), ::csv::Error> {
        self.writer.write_record(COLUMNS.iter().map(|column| {
            fields
                .iter()
                .find(|(name, _)| name == column)
                .map_or("", |(_, value)| value.as_str())
        }))
    }
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

fn bounds(ci: Option<[f64; 2]>) -> [(&'static str, String); 2] {
    [
        ("ci_low", number(ci.map(|c| c[0]))),
        ("ci_high", number(ci.map(|c| c[1]))),
    ]
}

fn recorded(document: &Document, table: &mut Table) -> Result<(), ::csv::Error> {
    for run in &document.runs {
        for (metric, measurement) in &run.metrics {
            table.row(&[
                ("kind", "run".into()),
                ("workload", run.workload.clone()),
                ("metric", metric.clone()),
                ("unit", measurement.unit.clone()),
                ("configuration", run.configuration.clone()),
                ("repetition", run.repetition.to_string()),
                ("value", measurement.value.to_string()),
                ("machine", run.machine.clone().unwrap_or_default()),
            ])?;
        }
    }
    for summary in &document.summaries {
        table.row(&[
            ("kind", "summary".into()),
            ("workload", summary.workload.clone()),
            ("metric", summary.metric.clone()),
            ("unit", summary.unit.clone()),
            ("configuration", summary.configuration.clone()),
            ("n", number(summary.n)),
            ("value", summary.mean.to_string()),
        ])?;
    }
    for statement in &document.statements {
        table.row(&[
            ("kind", "statement".into()),
            ("workload", statement.workload.clone().unwrap_or_default()),
            ("metric", statement.metric.clone()),
            ("unit", statement.unit.clone()),
            (
                "baseline",
                statement.normalised_to.clone().unwrap_or_default(),
            ),
            (
                "configuration",
                statement.configuration.clone().unwrap_or_default(),
            ),
            ("value", statement.value.to_string()),
        ])?;
    }
    Ok(())
}

fn judged(document: &Document, table: &mut Table) -> Result<(), ::csv::Error> {
    for row in &document.comparisons {
        let [low, high] = bounds(row.ci);
        table.row(&[
            ("kind", "comparison".into()),
            ("workload", row.workload.clone()),
            ("metric", row.metric.clone()),
            ("unit", row.unit.clone()),
            ("baseline", row.baseline.clone()),
            ("configuration", row.configuration.clone()),
            ("n_baseline", number(row.n_baseline)),
            ("n", number(row.n)),
            ("mean_baseline", number(row.mean_baseline)),
            ("mean", number(row.mean)),
            ("ratio", number(row.ratio)),
            low,
            high,
            ("p_t", number(row.p_t)),
            ("p", number(row.p)),
            ("p_attainable", number(row.p_attainable)),
            ("p_adjusted", number(row.p_adjusted)),
            ("p_t_adjusted", number(row.p_t_adjusted)),
            ("scale", format!("{:?}", row.scale).to_lowercase()),
            ("difference", number(row.difference)),
            ("verdict", row.verdict.word().into()),
            ("runs_needed", number(row.runs_needed)),
            ("text", row.because.clone().unwrap_or_default()),
        ])?;
    }
    machines::rows(document, table)?;
    for asked in &document.tables {
        declared(asked, table)?;
    }
    for fit in &document.factorial {
        for effect in &fit.effects {
            let [low, high] = bounds(effect.ci);
            table.row(&[
                ("kind", "effect".into()),
                ("workload", fit.workload.clone()),
                ("metric", fit.metric.clone()),
                ("unit", fit.unit.clone()),
                ("configuration", effect.name.clone()),
                ("n", fit.n.to_string()),
                ("ratio", effect.ratio.to_string()),
                low,
                high,
                ("p_t", number(effect.p)),
            ])?;
        }
    }
    rates(document, table)
}

fn declared(asked: &Declared, table: &mut Table) -> Result<(), ::csv::Error> {
    for row in &asked.rows {
        let configuration = ("configuration", row.configuration.clone());
        let of = |cell: &TableCell| {
            [
                ("workload", cell.workload.clone()),
                ("metric", asked.metric.clone()),
                ("unit", asked.unit.clone()),
                configuration.clone(),
            ]
        };
        for cell in &row.cells {
            let why = cell.because.as_ref().or(row.because.as_ref());
            let mut fields = vec![
                ("kind", "median".to_owned()),
                ("n", cell.n.to_string()),
                ("value", number(cell.median)),
                ("text", why.cloned().unwrap_or_default()),
            ];
            fields.extend(of(cell));
            table.row(&fields)?;
            for (kind, to, relation) in [
                ("normalised", &asked.normalised_to, &cell.normalised),
                ("relative", &row.baseline, &cell.relative),
            ] {
                if let Some(relation) = relation {
                    let mut fields = related(relation);
                    fields.push(("kind", kind.to_owned()));
                    fields.push(("baseline", to.clone().unwrap_or_default()));
                    fields.extend(of(cell));
                    table.row(&fields)?;
                }
            }
        }
    }
    Ok(())
}

fn related(relation: &Relation) -> Vec<(&'static str, String)> {
    let [low, high] = bounds(relation.ci);
    let verdict = relation.verdict.map(|verdict| verdict.word());
    vec![
        ("n_baseline", number(relation.n_baseline)),
        ("n", number(relation.n)),
        ("ratio", number(relation.ratio)),
        low,
        high,
        ("p_t", number(relation.p_t)),
        ("p", number(relation.p)),
        ("difference", number(relation.difference)),
        ("verdict", number(verdict)),
        ("text", relation.because.clone().unwrap_or_default()),
    ]
}

fn rates(document: &Document, table: &mut Table) -> Result<(), ::csv::Error> {
    for rate in &document.rates {
        let [low, high] = bounds(rate.ci);
        table.row(&[
            ("kind", "rate".into()),
            ("workload", rate.workload.clone()),
            ("metric", rate.event.clone()),
            ("configuration", rate.configuration.clone()),
            ("count", rate.count.to_string()),
            ("exposure_s", number(rate.exposure_s)),
            ("rate_per_s", number(rate.rate_per_s)),
            low,
            high,
            ("text", rate.note.clone().unwrap_or_default()),
        ])?;
    }
    for row in &document.rate_comparisons {
        table.row(&[
            ("kind", "rate_comparison".into()),
            ("workload", row.workload.clone()),
            ("metric", row.event.clone()),
            ("baseline", row.baseline.clone()),
            ("configuration", row.configuration.clone()),
            ("ratio", number(row.ratio)),
            ("p", number(row.p)),
            ("p_adjusted", number(row.p_adjusted)),
            ("verdict", row.verdict.word().into()),
            ("text", row.note.clone().unwrap_or_default()),
        ])?;
    }
    Ok(())
}

fn spoken(document: &Document, table: &mut Table) -> Result<(), ::csv::Error> {
    for claim in &document.claims {
        table.row(&[
            ("kind", "claim".into()),
            ("configuration", claim.text.clone()),
            ("verdict", claim.outcome.word().into()),
            ("text", claim.because.clone()),
        ])?;
    }
    for lint in &document.lints {
        table.row(&[
            ("kind", "lint".into()),
            ("metric", lint.code.clone()),
            ("configuration", lint.location.clone()),
            ("text", lint.detail.clone()),
        ])?;
    }
    for sentence in &document.sentences {
        table.row(&[("kind", "sentence".into()), ("text", sentence.text.clone())])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_row_for_each_median_and_each_ratio() {
        let none: [u8; 0] = [];
        let relation = |ratio: f64, verdict: Option<&str>| {
            serde_json::json!({
                "n_baseline": 8, "n": 8, "ratio": ratio, "ci": [0.25, 0.5], "p_t": 0.125,
                "t_test": "paired", "p": 0.0625, "difference": null, "verdict": verdict,
                "because": null,
            })
        };
        let document: Document = serde_json::from_value(serde_json::json!({
            "schema": "assize.verdict/1", "source": "bundle", "baseline": "base",
            "alpha": 0.05, "margin": 0.01, "configurations": none, "workloads": none,
            "runs": none, "summaries": none, "statements": none, "comparisons": none,
            "tables": [{
                "metric": "jitter", "unit": "ns", "workloads": ["normal", "fifo"],
                "normalised_to": "normal", "factor": null, "level": 0.95,
                "rows": [{"configuration": "follow", "baseline": "base", "because": null, "cells": [
                    {"workload": "normal", "n": 0, "median": null, "normalised": null,
                     "relative": null, "because": "no completed run"},
                    {"workload": "fifo", "n": 8, "median": 4.5,
                     "normalised": relation(0.375, None),
                     "relative": relation(0.4, Some("established")), "because": null},
                ]}],
            }],
            "factorial": none, "rates": none, "rate_comparisons": none, "claims": none,
            "lints": none, "sentences": none, "reproduce": "",
        }))
        .unwrap();
        let text = csv(&document).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "median,normal,jitter,ns,,follow,,,0,,,,,,,,,,,,,,,,,,,no completed run,",
                "median,fifo,jitter,ns,,follow,,,8,,,,,,,,,,,,,,,,,,4.5,,",
                "normalised,fifo,jitter,ns,normal,follow,,8,8,,,0.375,0.25,0.5,0.125,0.0625,,,,,,,,,,,,,",
                "relative,fifo,jitter,ns,base,follow,,8,8,,,0.4,0.25,0.5,0.125,0.0625,,,,,,established,,,,,,,",
            ]
        );
    }
}
