/// Fields of a row that are columns under the same names.
macro_rules! fields {
    ($row:expr; $($name:ident)*) => {
        vec![$((stringify!($name), $row.$name.cell())),*]
    };
}

mod about;
mod machines;
mod outcomes;
mod tradeoffs;

use assize_verdict::{
    Document, Place, RateTest, Relation, Scale, Spread, TTest, Table as Declared, TableCell,
    Verdict,
};
use serde::Serialize;

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

type Fields = Vec<(&'static str, String)>;
type Written = Result<(), ::csv::Error>;

struct CsvTable {
    writer: ::csv::Writer<Vec<u8>>,
}

impl CsvTable {
    fn row(&mut self, kind: &str, fields: &[(&str, String)]) -> Written {
        let cell = |column: &&str| {
            let of_column = fields.iter().find(|(name, _)| name == column);
            of_column.map_or("", |(_, value)| value.as_str())
        };
        let cells = COLUMNS.iter().map(cell).skip(1);
        self.writer.write_record(std::iter::once(kind).chain(cells))
    }
}

/// What a cell shows of a value; nothing if there is none.
trait CellText {
    fn cell(&self) -> String;
}

impl<T: CellText> CellText for Option<T> {
    fn cell(&self) -> String {
        self.as_ref().map(CellText::cell).unwrap_or_default()
    }
}

macro_rules! shown_as {
    ($text:path: $($kind:ident)*) => {
        $(impl CellText for $kind {
            fn cell(&self) -> String {
                $text(self)
            }
        })*
    };
}

shown_as!(ToString::to_string: String bool u32 u64 f64);
shown_as!(word: RateTest Scale TTest Verdict);

/// The word for it in JSON.
fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn bounds(ci: Option<[f64; 2]>) -> Fields {
    let [low, high] = [0, 1].map(|end| ci.map(|ci| ci[end]).cell());
    vec![("ci_low", low), ("ci_high", high)]
}

/// The line and message that a value was read from; nothing for values that were not read
/// from text.
fn place(place: Place) -> Fields {
    match place == Place::default() {
        true => Vec::new(),
        false => fields!(place; message line),
    }
}

fn write_recorded(document: &Document, table: &mut CsvTable) -> Written {
    for run in &document.runs {
        let of_run = fields!(run; workload configuration repetition order block machine);
        for (metric, measurement) in &run.metrics {
            let own = vec![("metric", metric.clone())];
            let value = fields!(measurement; unit value);
            let fields = [of_run.clone(), own, value, place(run.place)];
            table.row("run", &fields.concat())?;
        }
    }
    for summary in &document.summaries {
        let spread = match summary.spread {
            Some(Spread::StandardError(value)) => vec![("standard_error", value.cell())],
            Some(Spread::StandardDeviation(value)) => vec![("standard_deviation", value.cell())],
            None => Vec::new(),
        };
        let own = fields!(summary; workload metric unit configuration n);
        let value = vec![("value", summary.mean.cell())];
        let fields = [own, spread, value, place(summary.place)];
        table.row("summary", &fields.concat())?;
    }
    for statement in &document.statements {
        let own = fields!(statement; workload metric unit configuration value);
        let baseline = vec![("baseline", statement.normalised_to.cell())];
        let fields = [own, baseline, place(statement.place)];
        table.row("statement", &fields.concat())?;
    }
    Ok(())
}

/// Writes every configuration against its baseline.
fn write_compared(document: &Document, table: &mut CsvTable) -> Written {
    for row in &document.comparisons {
        let own = fields!(row; workload metric unit baseline configuration n_baseline n
            mean_baseline mean ratio t_test p_t p p_attainable p_adjusted p_t_adjusted primary
            capped_by scale difference resolution too_coarse verdict runs_needed);
        let [low, high] = [0, 1].map(|end| row.ci_simultaneous.map(|ci| ci[end]).cell());
        let further = vec![
            ("level", document.level.cell()),
            ("simultaneous_low", low),
            ("simultaneous_high", high),
            ("text", row.because.cell()),
        ];
        table.row("comparison", &[own, bounds(row.ci), further].concat())?;
    }
    Ok(())
}

fn write_judged(document: &Document, table: &mut CsvTable) -> Written {
    for family in &document.families {
        let own = fields!(family; p_attainable primary alpha relabelings visited exact);
        let tests = vec![("n", family.tests.cell())];
        table.row("family", &[own, tests].concat())?;
    }
    outcomes::rows(document, table)?;
    write_compared(document, table)?;
    machines::rows(document, table)?;
    for row in &document.noise_floor {
        let own = fields!(row; workload metric unit baseline configuration n_baseline n ratio p_t p
            difference verdict);
        table.row("noise_floor", &[own, bounds(row.ci)].concat())?;
    }
    for asked in &document.tables {
        write_declared(asked, table)?;
    }
    for tradeoff in &document.tradeoffs {
        tradeoffs::rows(tradeoff, table)?;
    }
    for fit in &document.factorial {
        let of_fit = fields!(fit; workload metric unit n residual_df);
        for effect in &fit.effects {
            let own = fields!(effect; ratio p_adjusted verdict);
            let names = vec![
                ("configuration", effect.name.clone()),
                ("factor", fit.factors.join(" ")),
                ("p_t", effect.p.cell()),
            ];
            let fields = [of_fit.clone(), own, names, bounds(effect.ci)];
            table.row("effect", &fields.concat())?;
        }
    }
    rates(document, table)
}

fn write_declared(asked: &Declared, table: &mut CsvTable) -> Written {
    let further = vec![
        ("workload", asked.workloads.join(" ")),
        ("baseline", asked.normalised_to.cell()),
    ];
    let own = fields!(asked; metric unit level factor);
    table.row("table", &[own, further].concat())?;
    for row in &asked.rows {
        let of = |cell: &TableCell| {
            let fields = [
                fields!(asked; metric unit),
                fields!(row; configuration),
                fields!(cell; workload),
            ];
            fields.concat()
        };
        for cell in &row.cells {
            let why = [&cell.because, &row.because];
            let why: Vec<&str> = why.into_iter().flatten().map(String::as_str).collect();
            let further = vec![("value", cell.median.cell()), ("text", why.join("; "))];
            let fields = [of(cell), fields!(cell; n), further];
            table.row("median", &fields.concat())?;
            for (kind, to, relation) in [
                ("normalised", &asked.normalised_to, &cell.normalised),
                ("relative", &row.baseline, &cell.relative),
            ] {
                if let Some(relation) = relation {
                    let further = vec![("level", asked.level.cell()), ("baseline", to.cell())];
                    let fields = [relation_fields(relation), further, of(cell)];
                    table.row(kind, &fields.concat())?;
                }
            }
        }
    }
    Ok(())
}

fn relation_fields(relation: &Relation) -> Fields {
    let own = fields!(relation; n_baseline n ratio t_test p_t p difference verdict);
    let text = vec![("text", relation.because.cell())];
    [own, bounds(relation.ci), text].concat()
}

fn rates(document: &Document, table: &mut CsvTable) -> Written {
    for rate in &document.rates {
        let own = fields!(rate; workload configuration count exposure_s rate_per_s);
        let further = vec![("metric", rate.event.cell()), ("text", rate.note.cell())];
        table.row("rate", &[own, bounds(rate.ci), further].concat())?;
    }
    for row in &document.rate_comparisons {
        let own = fields!(row; workload baseline configuration ratio test p p_adjusted verdict);
        let further = vec![("metric", row.event.cell()), ("text", row.note.cell())];
        table.row("rate_comparison", &[own, further].concat())?;
    }
    Ok(())
}

fn write_sentences(document: &Document, table: &mut CsvTable) -> Written {
    for claim in &document.claims {
        let fields = [
            ("configuration", claim.text.clone()),
            ("verdict", claim.outcome.word().into()),
            ("text", claim.because.clone()),
            ("origin", claim.origin.words().into()),
        ];
        table.row("claim", &fields)?;
    }
    for lint in &document.lints {
        let fields = [
            ("metric", lint.code.clone()),
            ("configuration", lint.location.clone()),
            ("text", lint.detail.clone()),
        ];
        table.row("lint", &fields)?;
    }
    for sentence in &document.sentences {
        let rows = ("configuration", sentence.rows.join("; "));
        table.row("sentence", &[rows, ("text", sentence.text.clone())])?;
    }
    for limit in &document.limits {
        table.row("limit", &[("text", limit.clone())])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
