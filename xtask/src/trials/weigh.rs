//! Compares the verdict document of a trial with the known truth.

use serde_json::Value;

use super::kinds::{Trial, Truth};

/// On a real machine, the ratio of the probe's loop must be in this range.
const REAL: (f64, f64) = (2.5, 3.6);
/// On a real machine, a false difference only counts as wrong beyond this, so that the trial does
/// not fail by chance.
const REAL_BESIDE: f64 = 0.25;

/// One row of the document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Row {
    ratio: Option<f64>,
    interval: Option<(f64, f64)>,
    mean_plain: f64,
    mean: f64,
    verdict: String,
}

/// The result for one level.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The text for the table.
    pub(super) shown: String,
    /// Why it is wrong, if it is.
    pub(super) wrong: Option<String>,
}

impl Row {
    /// The row of a level on a metric, if it was compared.
    pub(super) fn find(document: &Value, level: &str, metric: &str) -> Option<Row> {
        let rows = document["comparisons"].as_array()?;
        let row = rows
            .iter()
            .find(|row| row["configuration"] == level && row["metric"] == metric)?;
        let interval = || Some((row["ci"][0].as_f64()?, row["ci"][1].as_f64()?));
        Some(Row {
            ratio: row["ratio"].as_f64(),
            interval: interval(),
            mean_plain: row["mean_baseline"].as_f64().unwrap_or_default(),
            mean: row["mean"].as_f64().unwrap_or_default(),
            verdict: row["verdict"].as_str().unwrap_or_default().to_owned(),
        })
    }

    /// Whether the document reports a difference.
    fn differs(&self) -> bool {
        !matches!(self.verdict.as_str(), "equivalent" | "undecided")
    }

    fn text(&self) -> String {
        let ratio = self.ratio.unwrap_or(f64::NAN);
        match self.interval {
            Some((low, high)) => format!("{ratio:.3} [{low:.3}, {high:.3}] {}", self.verdict),
            None => format!("{ratio:.3} {}", self.verdict),
        }
    }
}

/// The ratio that the planted level must have, for the table.
pub(super) fn truth(trial: &Trial, real: bool, planted: Option<&Row>) -> String {
    match (trial.truth, planted) {
        (Truth::Fails, _) => "fails".into(),
        (Truth::Ratio(..), _) if real => format!("{} to {}", REAL.0, REAL.1),
        (Truth::Ratio(low, high), _) => format!("{low} to {high}"),
        (Truth::Added(ns), Some(row)) => {
            let times = |share: f64| (row.mean_plain + share * ns) / row.mean_plain;
            format!("{:.2} to {:.2}", times(0.9), times(1.1))
        }
        (Truth::Added(ns), None) => format!("+ {ns} ns"),
    }
}

/// Checks the planted level, with the results of its runs.
pub(super) fn planted(trial: &Trial, real: bool, row: Option<&Row>, runs: Runs) -> Found {
    let wrong = |shown: String, why: &str| Found {
        wrong: Some(format!("the planted level: {why}")),
        shown,
    };
    if trial.truth == Truth::Fails {
        let shown = format!("{} of {} failed", runs.failed, runs.failed + runs.whole);
        return match (runs.failed, runs.whole) {
            (1.., 0) => Found { shown, wrong: None },
            _ => wrong(shown, "each of its runs must fail"),
        };
    }
    let Some(row) = row else {
        return wrong("nothing".into(), "it was not compared");
    };
    let shown = row.text();
    if !row.differs() {
        return wrong(shown, "its effect was not found");
    }
    let right = match trial.truth {
        Truth::Ratio(low, high) => {
            let (low, high) = if real { REAL } else { (low, high) };
            row.ratio.is_some_and(|ratio| (low..=high).contains(&ratio))
        }
        Truth::Added(ns) => (row.mean - row.mean_plain - ns).abs() <= 0.1 * ns,
        Truth::Fails => false,
    };
    match right {
        true => Found { shown, wrong: None },
        false => wrong(shown, "its effect has another size than was planted"),
    }
}

/// Checks the null level.
pub(super) fn null(trial: &Trial, real: bool, row: Option<&Row>) -> Found {
    let Some(row) = row else {
        return Found {
            shown: "nothing".into(),
            wrong: Some("the null level: it was not compared".into()),
        };
    };
    let within = |share: f64, all: bool| {
        let (low, high) = row.interval.unwrap_or((f64::NAN, f64::NAN));
        let (least, most) = (1.0 / (1.0 + share), 1.0 + share);
        match all {
            true => low >= least && high <= most,
            false => low <= most && high >= least,
        }
    };
    let allowed = match real {
        true => within(REAL_BESIDE, false),
        false => within(trial.beside, true),
    };
    let right = !row.differs() || allowed;
    Found {
        shown: row.text(),
        wrong: (!right).then(|| "the null level: it was called a difference".into()),
    }
}

/// How many runs of a level completed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) whole: usize,
    pub(super) failed: usize,
}

/// Checks that the levels `plain` and `same`, which do not differ, are not compared: planning
/// refuses them, and a run reports that they are the same.
pub(super) fn sameness(document: &Value, said: &str) -> Found {
    let wrong = |shown: &str, why: &str| Found {
        shown: shown.into(),
        wrong: Some(format!("levels that do not differ: {why}")),
    };
    let entries = |key: &str| document[key].as_array().into_iter().flatten();
    if entries("comparisons").any(|row| row["configuration"] == "same") {
        return wrong("no", "they were compared");
    }
    let refused = said.contains("sets the same as 'plain'");
    let known = |one: &Value| one["configuration"] == "same" && one["baseline"] == "plain";
    match refused || entries("same").any(known) {
        true => Found {
            shown: "yes".into(),
            wrong: None,
        },
        false => {
            let line = said.lines().last().unwrap_or("nothing was said");
            wrong("another answer", line)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::trials::kinds::Kind;

    fn row(ratio: f64, spread: f64, verdict: &str) -> Row {
        Row {
            ratio: Some(ratio),
            interval: Some((ratio / (1.0 + spread), ratio * (1.0 + spread))),
            mean_plain: 30_000.0,
            mean: 30_000.0 * ratio,
            verdict: verdict.into(),
        }
    }

    fn trial(kind: Kind, name: &str) -> Trial {
        let mut trials = kind.trials().into_iter();
        trials.find(|trial| trial.name == name).unwrap()
    }

    #[test]
    fn a_planted_effect_must_be_found_with_its_size() {
        let three = trial(Kind::Memory, "memory");
        let wrong = |row: Option<&Row>| planted(&three, false, row, Runs::default()).wrong;
        assert_eq!(wrong(Some(&row(3.0, 0.01, "supported"))), None);
        assert_eq!(wrong(Some(&row(3.0, 0.01, "established"))), None);
        let merged = wrong(Some(&row(1.0, 0.0, "equivalent")));
        assert!(merged.unwrap().contains("was not found"));
        let halved = wrong(Some(&row(1.5, 0.01, "established")));
        assert!(halved.unwrap().contains("another size"));
        assert!(wrong(None).unwrap().contains("not compared"));
    }

    #[test]
    fn what_is_added_is_added_to_the_plain_level() {
        let busy = trial(Kind::ModuleName, "scheduler-name");
        let wrong = |ratio: f64| {
            let row = row(ratio, 0.01, "supported");
            planted(&busy, false, Some(&row), Runs::default()).wrong
        };
        assert_eq!(wrong(130.0 / 30.0), None);
        assert!(wrong(3.0).is_some());
        assert_eq!(
            truth(&busy, false, Some(&row(4.0, 0.01, "supported"))),
            "4.00 to 4.67"
        );
    }

    #[test]
    fn a_tear_down_that_fails_must_fail_every_run() {
        let teardown = trial(Kind::Teardown, "teardown");
        let wrong = |whole, failed| planted(&teardown, true, None, Runs { whole, failed }).wrong;
        assert_eq!(wrong(0, 5), None);
        assert!(wrong(1, 4).is_some());
        assert!(wrong(0, 0).is_some());
    }

    #[test]
    fn a_null_must_not_be_called_a_difference() {
        let memory = trial(Kind::Memory, "memory");
        let cpus = trial(Kind::Cpus, "cpus");
        let wrong = |trial: &Trial, real, row: &Row| null(trial, real, Some(row)).wrong.is_some();
        assert!(!wrong(&memory, false, &row(1.0, 0.0, "equivalent")));
        assert!(!wrong(&memory, false, &row(1.2, 0.5, "undecided")));
        assert!(!wrong(&memory, false, &row(1.003, 0.001, "supported")));
        assert!(wrong(&memory, false, &row(1.01, 0.001, "supported")));
        assert!(!wrong(&cpus, false, &row(1.01, 0.001, "supported")));
        assert!(wrong(&cpus, false, &row(1.06, 0.001, "supported")));
        assert!(!wrong(&memory, true, &row(1.1, 0.01, "supported")));
        assert!(wrong(&memory, true, &row(3.0, 0.01, "supported")));
    }

    #[test]
    fn levels_that_do_not_differ_are_named_and_not_compared() {
        let wrong = |document: &Value, said| sameness(document, said).wrong.is_some();
        let none = Value::Null;
        assert!(!wrong(
            &none,
            "assize: a.toml: level.same: sets the same as 'plain'"
        ));
        assert!(wrong(&none, "assize: plain and same: no such file"));
        let same = json!([{"configuration": "same", "baseline": "plain"}]);
        assert!(!wrong(&json!({"same": same, "comparisons": []}), ""));
        let rows = json!([{"configuration": "same"}]);
        assert!(wrong(&json!({"same": same, "comparisons": rows}), ""));
        assert!(wrong(&json!({"same": [], "comparisons": []}), ""));
    }

    #[test]
    fn rows_are_found_by_level_and_metric() {
        let document = json!({"comparisons": [
            {"configuration": "null", "metric": "time", "ratio": 1.0, "verdict": "equivalent"},
            {"configuration": "planted", "metric": "time", "ratio": 3.0, "ci": [2.9, 3.1],
             "mean": 6.0, "mean_baseline": 2.0, "verdict": "supported"},
        ]});
        let row = Row::find(&document, "planted", "time").unwrap();
        assert_eq!(row.text(), "3.000 [2.900, 3.100] supported");
        assert_eq!((row.mean_plain, row.mean), (2.0, 6.0));
        assert_eq!(Row::find(&document, "planted", "loop_time"), None);
    }
}
