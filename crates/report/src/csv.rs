/// Fields of rows that are columns with the same names.
macro_rules! fields {
    ($row:expr; $($name:ident)*) => {
        vec![$((stringify!($name), $row.$name.cell())),*]
    };
}

use assize_verdict::{Document, Place, RateTest, Scale, Spread, TTest, Verdict};

use crate::contrasts::describe_outcome;
use crate::json::word;

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
    "message",
    "line",
    "text",
    "machine",
    "resolution",
    "too_coarse",
    "simultaneous_low",
    "simultaneous_high",
    "primary",
    "capped_by",
    "test",
];

/// Returns the figures of the document as one table, with all digits; JSON has more. The column
/// `kind` says what a row is:
///
/// | kind | what it is |
/// | --- | --- |
/// | `run` | one metric of a run |
/// | `summary`, `statement` | figures without runs |
/// | `outcome` | how often runs ended in the way that `metric` names (`value` for the baseline, `count` for the configuration) |
/// | `comparison` | one configuration against another |
/// | `rate`, `rate_comparison` | events, named in `metric` |
///
/// # Errors
/// If the bytes cannot be written, which does not happen in memory.
pub fn csv(document: &Document) -> Result<String, ::csv::Error> {
    let mut table = CsvTable {
        writer: ::csv::Writer::from_writer(Vec::new()),
    };
    table.writer.write_record(COLUMNS)?;
    write_recorded(document, &mut table)?;
    write_outcomes(document, &mut table)?;
    write_compared(document, &mut table)?;
    write_rates(document, &mut table)?;
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

/// Converts a value to the text of a cell, which is empty for `None`.
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

fn bounds(ci: Option<[f64; 2]>) -> Fields {
    let [low, high] = [0, 1].map(|end| ci.map(|ci| ci[end]).cell());
    vec![("ci_low", low), ("ci_high", high)]
}

/// The message and line from which a value was read; empty for values not read from text.
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
            Some(Spread::PrintedP(value)) => vec![("p_t", value.cell())],
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

/// Writes the comparisons of every configuration with its baseline.
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

/// Writes how often runs ended in each way.
fn write_outcomes(document: &Document, table: &mut CsvTable) -> Written {
    for row in &document.outcomes {
        let own = fields!(row; baseline configuration n_baseline n count p p_attainable p_adjusted
            verdict);
        let further = vec![
            ("metric", row.heading()),
            ("value", row.count_baseline.cell()),
            ("test", row.test.name().into()),
            ("text", describe_outcome(row)),
        ];
        table.row("outcome", &[own, further].concat())?;
    }
    Ok(())
}

fn write_rates(document: &Document, table: &mut CsvTable) -> Written {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_figure_is_in_the_column_of_its_name() {
        let comparison = json!({
            "workload": "disk, cold", "metric": "latency", "unit": "ns", "baseline": "old",
            "configuration": "new", "n_baseline": 3, "n": 4, "ratio": 1.25, "ci": [1.125, 1.5],
            "t_test": "welch", "scale": "log", "verdict": "supported",
        });
        let document = json!({
            "schema": "", "source": "", "alpha": 0.05, "level": 0.95, "margin": 0.01,
            "configurations": [], "workloads": [], "runs": [], "summaries": [],
            "statements": [], "comparisons": [comparison], "factorial": [], "rates": [],
            "rate_comparisons": [], "claims": [], "lints": [], "sentences": [],
            "reproduce": "",
        });
        let document: Document = serde_json::from_value(document).unwrap();
        let text = csv(&document).unwrap();
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().clone();
        let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let [row] = &rows[..] else { panic!("{text}") };
        for (column, value) in [
            ("kind", "comparison"),
            ("workload", "disk, cold"),
            ("configuration", "new"),
            ("n_baseline", "3"),
            ("ratio", "1.25"),
            ("level", "0.95"),
            ("ci_low", "1.125"),
            ("ci_high", "1.5"),
            ("t_test", "welch"),
            ("scale", "log"),
            ("verdict", "supported"),
            ("p", ""),
        ] {
            let at = head.iter().position(|name| name == column).unwrap();
            assert_eq!(&row[at], value, "{column}: {text}");
        }
    }
}
