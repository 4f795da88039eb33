mod about;
mod machines;
mod outcomes;
mod tradeoffs;

use assize_verdict::{
    Document, NoiseFloor, Place, RateTest, Relation, Spread, Statement, TTest, Table as Declared,
    TableCell,
};

/// The columns, in order; each kind of row fills those that apply to it.
const COLUMNS: &[&str] = &[
    "kind",
    "workload",
    "metric",
    "unit",
    "baseline",
    "configuration",
    "repetition",
    "order",
    "block",
    "n_baseline",
    "n",
    "mean_baseline",
    "mean",
    "standard_error",
    "standard_deviation",
    "ratio",
    "level",
    "ci_low",
    "ci_high",
    "t_test",
    "residual_df",
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
    "factor",
    "message",
    "line",
    "text",
    "machine",
    "resolution",
    "too_coarse",
    "origin",
    "simultaneous_low",
    "simultaneous_high",
    "primary",
    "capped_by",
    "test",
    "alpha",
    "relabelings",
    "visited",
    "exact",
];

/// Returns the whole document as one table. Every value of the document is in some cell,
/// numbers with all their digits. The column `kind` says what a row is:
///
/// | kind | what it is |
/// | --- | --- |
/// | `about` | the fact that `metric` names: the schema, the source, the baseline, … |
/// | `configuration`, `level`, `workload` | what was compared; a level has `factor` and `value` (1 is on) |
/// | `run` | one metric of a run |
/// | `summary`, `statement` | figures without runs |
/// | `outcome`, `ended` | how often runs ended in the way that `metric` names (`value` for the baseline, `count` for the configuration), and each such run |
/// | `comparison`, `noise_floor` | one configuration against another |
/// | `machine`, `pooled` | one machine of several, and all machines pooled, with `weight`, `random`, `prediction`, `q`, `q_welch`, `i2` and `tau2` |
/// | `table` | a table declared in the experiment |
/// | `median`, `normalised`, `relative` | its cells; for `normalised`, `baseline` is the reference workload |
/// | `tradeoff`, `tradeoff_x`, `tradeoff_y` | a trade-off and its two metrics; `value` is the good direction |
/// | `point_x`, `point_y`, `relative_x`, `relative_y`, `standing` | a configuration in both metrics, and its standing |
/// | `not_told_from`, `equivalent_to` | a configuration in a trade-off that cannot be distinguished from, or is equivalent to, `baseline` |
/// | `dominates` | a configuration that dominates `baseline` in a trade-off, in one metric |
/// | `effect` | the effect of one factor or of two together, named in `configuration` |
/// | `rate`, `rate_comparison` | events, named in `metric` |
/// | `claim`, `lint`, `sentence`, `limit` | text; for a sentence, `configuration` names the rows behind it |
///
/// # Errors
/// If the bytes cannot be written, which does not happen in memory.
pub fn csv(document: &Document) -> Result<String, ::csv::Error> {
    let mut table = CsvTable {
        writer: ::csv::Writer::from_writer(Vec::new()),
    };
    table.writer.write_record(COLUMNS)?;
    about::about(document, &mut table)?;
    write_recorded(document, &mut table)?;
    write_judged(document, &mut table)?;
    write_sentences(document, &mut table)?;
    let bytes = table
        .writer
        .into_inner()
        .map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct CsvTable {
    writer: ::csv::Writer<Vec<u8>>,
}

impl CsvTable {
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

/// The name of the t test, spelled as in JSON.
fn t_test(which: Option<TTest>) -> (&'static str, String) {
    let word = which.and_then(|which| serde_json::to_value(which).ok());
    let word = word.as_ref().and_then(serde_json::Value::as_str);
    ("t_test", number(word))
}

/// The line and message that a value was read from; empty for values that were not read
/// from text.
fn place(place: Place) -> [(&'static str, String); 2] {
    let read = |number: u32| number.to_string();
    if place == Place::default() {
        [("message", String::new()), ("line", String::new())]
    } else {
        [("message", read(place.message)), ("line", read(place.line))]
    }
}

fn write_recorded(document: &Document, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    for run in &document.runs {
        let [message, line] = place(run.place);
        for (metric, measurement) in &run.metrics {
            table.row(&[
                ("kind", "run".into()),
                ("workload", run.workload.clone()),
                ("metric", metric.clone()),
                ("unit", measurement.unit.clone()),
                ("configuration", run.configuration.clone()),
                ("repetition", run.repetition.to_string()),
                ("order", run.order.to_string()),
                ("block", number(run.block)),
                message.clone(),
                line.clone(),
                ("value", measurement.value.to_string()),
                ("machine", run.machine.clone().unwrap_or_default()),
            ])?;
        }
    }
    for summary in &document.summaries {
        let [message, line] = place(summary.place);
        let (standard_error, standard_deviation) = match summary.spread {
            Some(Spread::StandardError(value)) => (Some(value), None),
            Some(Spread::StandardDeviation(value)) => (None, Some(value)),
            None => (None, None),
        };
        table.row(&[
            ("kind", "summary".into()),
            ("workload", summary.workload.clone()),
            ("metric", summary.metric.clone()),
            ("unit", summary.unit.clone()),
            ("configuration", summary.configuration.clone()),
            ("n", number(summary.n)),
            ("standard_error", number(standard_error)),
            ("standard_deviation", number(standard_deviation)),
            message,
            line,
            ("value", summary.mean.to_string()),
        ])?;
    }
    document
        .statements
        .iter()
        .try_for_each(|one| statement(one, table))
}

fn statement(statement: &Statement, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    let [message, line] = place(statement.place);
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
        message,
        line,
    ])
}

/// Writes every configuration against its baseline.
fn write_compared(document: &Document, table: &mut CsvTable) -> Result<(), ::csv::Error> {
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
            ("level", document.level.to_string()),
            low,
            high,
            (
                "simultaneous_low",
                number(row.ci_simultaneous.map(|ci| ci[0])),
            ),
            (
                "simultaneous_high",
                number(row.ci_simultaneous.map(|ci| ci[1])),
            ),
            t_test(row.t_test),
            ("p_t", number(row.p_t)),
            ("p", number(row.p)),
            ("p_attainable", number(row.p_attainable)),
            ("p_adjusted", number(row.p_adjusted)),
            ("p_t_adjusted", number(row.p_t_adjusted)),
            ("primary", row.primary.to_string()),
            ("capped_by", row.capped_by.clone().unwrap_or_default()),
            ("scale", format!("{:?}", row.scale).to_lowercase()),
            ("difference", number(row.difference)),
            ("resolution", number(row.resolution)),
            ("too_coarse", row.too_coarse.to_string()),
            ("verdict", row.verdict.word().into()),
            ("runs_needed", number(row.runs_needed)),
            ("text", row.because.clone().unwrap_or_default()),
        ])?;
    }
    Ok(())
}

fn write_judged(document: &Document, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    for family in &document.families {
        table.row(&[
            ("kind", "family".into()),
            ("n", family.tests.to_string()),
            ("p_attainable", family.p_attainable.to_string()),
            ("primary", family.primary.to_string()),
            ("alpha", family.alpha.to_string()),
            ("relabelings", family.relabelings.to_string()),
            ("visited", family.visited.to_string()),
            ("exact", family.exact.to_string()),
        ])?;
    }
    outcomes::rows(document, table)?;
    write_compared(document, table)?;
    machines::rows(document, table)?;
    for row in &document.noise_floor {
        noise_floor(row, table)?;
    }
    for asked in &document.tables {
        write_declared(asked, table)?;
    }
    for tradeoff in &document.tradeoffs {
        tradeoffs::rows(tradeoff, table)?;
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
                ("residual_df", fit.residual_df.to_string()),
                ("factor", fit.factors.join(" ")),
                ("ratio", effect.ratio.to_string()),
                low,
                high,
                ("p_t", number(effect.p)),
                ("p_adjusted", number(effect.p_adjusted)),
                ("verdict", effect.verdict.word().into()),
            ])?;
        }
    }
    rates(document, table)
}

fn noise_floor(row: &NoiseFloor, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    let [low, high] = bounds(row.ci);
    table.row(&[
        ("kind", "noise_floor".into()),
        ("workload", row.workload.clone()),
        ("metric", row.metric.clone()),
        ("unit", row.unit.clone()),
        ("baseline", row.baseline.clone()),
        ("configuration", row.configuration.clone()),
        ("n_baseline", number(row.n_baseline)),
        ("n", number(row.n)),
        ("ratio", number(row.ratio)),
        low,
        high,
        ("p_t", number(row.p_t)),
        ("p", number(row.p)),
        ("difference", number(row.difference)),
    ])
}

fn write_declared(asked: &Declared, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    table.row(&[
        ("kind", "table".into()),
        ("workload", asked.workloads.join(" ")),
        ("metric", asked.metric.clone()),
        ("unit", asked.unit.clone()),
        ("baseline", asked.normalised_to.clone().unwrap_or_default()),
        ("level", asked.level.to_string()),
        ("factor", asked.factor.clone().unwrap_or_default()),
    ])?;
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
            let why = [&cell.because, &row.because];
            let why: Vec<&str> = why.into_iter().flatten().map(String::as_str).collect();
            let mut fields = vec![
                ("kind", "median".to_owned()),
                ("n", cell.n.to_string()),
                ("value", number(cell.median)),
                ("text", why.join("; ")),
            ];
            fields.extend(of(cell));
            table.row(&fields)?;
            for (kind, to, relation) in [
                ("normalised", &asked.normalised_to, &cell.normalised),
                ("relative", &row.baseline, &cell.relative),
            ] {
                if let Some(relation) = relation {
                    let mut fields = relation_fields(relation);
                    fields.push(("kind", kind.to_owned()));
                    fields.push(("level", asked.level.to_string()));
                    fields.push(("baseline", to.clone().unwrap_or_default()));
                    fields.extend(of(cell));
                    table.row(&fields)?;
                }
            }
        }
    }
    Ok(())
}

fn relation_fields(relation: &Relation) -> Vec<(&'static str, String)> {
    let [low, high] = bounds(relation.ci);
    let verdict = relation.verdict.map(|verdict| verdict.word());
    vec![
        ("n_baseline", number(relation.n_baseline)),
        ("n", number(relation.n)),
        ("ratio", number(relation.ratio)),
        low,
        high,
        t_test(relation.t_test),
        ("p_t", number(relation.p_t)),
        ("p", number(relation.p)),
        ("difference", number(relation.difference)),
        ("verdict", number(verdict)),
        ("text", relation.because.clone().unwrap_or_default()),
    ]
}

fn rates(document: &Document, table: &mut CsvTable) -> Result<(), ::csv::Error> {
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
            ("test", rate_test(row.test).into()),
            ("p", number(row.p)),
            ("p_adjusted", number(row.p_adjusted)),
            ("verdict", row.verdict.word().into()),
            ("text", row.note.clone().unwrap_or_default()),
        ])?;
    }
    Ok(())
}

fn rate_test(test: Option<RateTest>) -> &'static str {
    match test {
        Some(RateTest::Runs) => "runs",
        Some(RateTest::Windows) => "windows",
        Some(RateTest::Poisson) => "poisson",
        None => "",
    }
}

fn write_sentences(document: &Document, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    for claim in &document.claims {
        table.row(&[
            ("kind", "claim".into()),
            ("configuration", claim.text.clone()),
            ("verdict", claim.outcome.word().into()),
            ("text", claim.because.clone()),
            ("origin", claim.origin.words().into()),
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
        table.row(&[
            ("kind", "sentence".into()),
            ("configuration", sentence.rows.join("; ")),
            ("text", sentence.text.clone()),
        ])?;
    }
    for limit in &document.limits {
        table.row(&[("kind", "limit".into()), ("text", limit.clone())])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
