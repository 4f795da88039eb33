use assize_verdict::Document;

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
];

/// The whole document as one table. The column `kind` says what a row is:
/// `run` (one row for each metric), `summary`, `statement`, `comparison`,
/// `effect`, `rate`, `rate_comparison`, `claim`, `lint` or `sentence`.
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
