//! What the auditor makes of a text, and whether that is what the label says.

use std::collections::BTreeMap;

use assize_audit::Options;
use assize_verdict::{Document, Verdict, try_records};

use super::label::{Kind, Label, Value};
use super::matching::{self, Cell};
use crate::Error;
use serde::{Deserialize, Serialize};

/// A text as the auditor reads and judges it.
pub(super) struct Reading {
    /// The document; none if the records could not be tried, or hold nothing.
    pub(super) document: Option<Document>,
}

/// What became of the figures of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grouping {
    /// All values of the label were found, each in its place.
    Right,
    /// Those that were found are in their places, and others are missing.
    #[serde(rename = "in part")]
    Partly,
    /// None of the label's values was compared with another.
    Unread,
    /// Values are not in their places, or something else was compared.
    Wrong,
}

impl Grouping {
    /// The word that is printed.
    pub(super) fn word(self) -> &'static str {
        match self {
            Grouping::Right => "right",
            Grouping::Partly => "in part",
            Grouping::Unread => "unread",
            Grouping::Wrong => "wrong",
        }
    }
}

/// What was decided about a text, beside what the label says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grade {
    /// Whether anything was compared.
    pub(super) admitted: bool,
    /// What became of the figures; of no comparison, `Wrong` if something was
    /// compared, else `Unread`.
    pub(super) grouping: Grouping,
    /// Values of the label that were read.
    pub(super) found: usize,
    /// Values of the label.
    pub(super) values: usize,
    /// Whether anything is established or supported.
    pub(super) positive: bool,
    /// Whether what is established or supported could be.
    pub(super) sound: bool,
    /// What is wrong, in words.
    pub(super) faults: Vec<String>,
}

impl Grade {
    /// What a twin must have in common with its mail.
    pub(super) fn decision(&self) -> (bool, Grouping, usize, bool, bool) {
        (
            self.admitted,
            self.grouping,
            self.found,
            self.positive,
            self.sound,
        )
    }
}

impl Reading {
    /// Reads a text and judges it as `assize audit` does without options.
    pub(super) fn of(text: &[u8], name: &str) -> Result<Reading, Error> {
        Reading::with(text, name, &Options::default())
    }

    /// The same with options.
    pub(super) fn with(text: &[u8], name: &str, options: &Options) -> Result<Reading, Error> {
        let audit = assize_audit::read(text, name, options);
        let records = audit.map_err(|why| format!("{name}: {why}"))?.records;
        let document = try_records(&records, &assize_verdict::Options::default()).ok();
        Ok(Reading { document })
    }

    /// Compares with what the label says.
    pub(super) fn grade(&self, label: &Label) -> Grade {
        let admitted = self.compares();
        let positive = self.positive();
        let mut grade = Grade {
            admitted,
            grouping: Grouping::Unread,
            found: 0,
            values: label.values.len(),
            positive,
            sound: false,
            faults: Vec::new(),
        };
        match &label.comparison {
            Some(comparison) if label.kind == Kind::Comparison => {
                self.group(label, &mut grade);
                grade.sound = positive && comparison.sound && grade.grouping < Grouping::Unread;
                if positive && !comparison.sound {
                    let why = "the text cannot carry an established or supported".to_string();
                    grade.faults.push(why);
                }
            }
            _ if admitted => {
                grade.grouping = Grouping::Wrong;
                grade.faults.push("the text compares nothing".into());
            }
            _ => {}
        }
        grade
    }

    fn group(&self, label: &Label, grade: &mut Grade) {
        let cells = self.cells();
        let placed = matching::place(&label.values, &cells);
        grade.found = matching::read(&label.values, &cells);
        if !grade.admitted {
            return;
        }
        let Some(placed) = placed else {
            grade.grouping = Grouping::Wrong;
            grade.faults.push("values are not in their places".into());
            return;
        };
        grade.found = placed.iter().flatten().count();
        let told = matching::compared(&label.values, &placed);
        grade.grouping = match (told, grade.found == grade.values) {
            (true, true) => Grouping::Right,
            (true, false) => Grouping::Partly,
            (false, _) => Grouping::Wrong,
        };
        if !told {
            let why = "what is compared is none of the label's values".to_string();
            grade.faults.push(why);
        }
        for fault in self.too_much(label) {
            grade.grouping = Grouping::Wrong;
            grade.faults.push(fault);
        }
    }

    /// More configurations or runs than the text has.
    fn too_much(&self, label: &Label) -> Vec<String> {
        let mut faults = Vec::new();
        let (Some(document), Some(comparison)) = (&self.document, &label.comparison) else {
            return faults;
        };
        let rows = document.comparisons.iter();
        let mut names: Vec<&str> = rows
            .flat_map(|row| [row.baseline.as_str(), row.configuration.as_str()])
            .collect();
        names.sort_unstable();
        names.dedup();
        let told = comparison.configurations.len();
        if names.len() > told {
            let some: Vec<&str> = names.iter().take(8).copied().collect();
            faults.push(format!(
                "compares {} configurations, the text {told}: {}",
                names.len(),
                some.join(", ")
            ));
        }
        let runs = document.comparisons.iter();
        let most = runs.filter_map(|row| row.n.max(row.n_baseline)).max();
        if let (Some(most), Some(told)) = (most, comparison.runs)
            && most > told
        {
            faults.push(format!("counts {most} runs, the text has {told}"));
        }
        faults
    }

    /// Whether anything is compared.
    pub(super) fn compares(&self) -> bool {
        let document = self.document.as_ref();
        document.is_some_and(|d| !d.comparisons.is_empty() || !d.rate_comparisons.is_empty())
    }

    fn positive(&self) -> bool {
        let is = |verdict| matches!(verdict, Verdict::Established | Verdict::Supported);
        self.document.as_ref().is_some_and(|document| {
            document.comparisons.iter().any(|row| is(row.verdict))
                || document.rate_comparisons.iter().any(|row| is(row.verdict))
        })
    }

    /// All figures that have a place.
    fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = Vec::new();
        let Some(document) = &self.document else {
            return cells;
        };
        for run in &document.runs {
            for (metric, measured) in &run.metrics {
                cells.push(Cell {
                    configuration: &run.configuration,
                    workload: &run.workload,
                    metric,
                    value: measured.value,
                });
            }
        }
        for summary in &document.summaries {
            cells.push(Cell {
                configuration: &summary.configuration,
                workload: &summary.workload,
                metric: &summary.metric,
                value: summary.mean,
            });
        }
        let means = means(&cells);
        cells.extend(means);
        cells
    }

    /// Whether a value of a label is among the figures.
    pub(super) fn has(&self, value: &Value) -> bool {
        let cells = self.cells();
        matching::read(std::slice::from_ref(value), &cells) == 1
    }
}

/// The means of several runs, as texts print them, rounded or cut: a label may have the
/// mean where the auditor takes the runs that stand beside it.
fn means<'a>(cells: &[Cell<'a>]) -> Vec<Cell<'a>> {
    const DIGITS: [i32; 4] = [0, 1, 2, 3];
    let mut places: BTreeMap<[&str; 3], Vec<f64>> = BTreeMap::new();
    for cell in cells {
        let place = [cell.configuration, cell.workload, cell.metric];
        places.entry(place).or_default().push(cell.value);
    }
    let several = places.into_iter().filter(|(_, values)| values.len() > 1);
    let printed = |([configuration, workload, metric], values): ([&'a str; 3], Vec<f64>)| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let scales = DIGITS.map(|digits| 10f64.powi(digits));
        let values = scales.map(|scale| {
            [
                (mean * scale).round() / scale,
                (mean * scale).trunc() / scale,
            ]
        });
        values.into_iter().flatten().map(move |value| Cell {
            configuration,
            workload,
            metric,
            value,
        })
    };
    several.flat_map(printed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(kind: &str, rest: &str) -> Label {
        let text = format!(
            "list = \"l\"\nyear = 2020\nmessage_id = \"m\"\narchive = \"l.0\"\ncommit = \"c\"\n\
             stratum = \"figures\"\nkind = \"{kind}\"\nshape = \"s\"\n{rest}"
        );
        toml::from_str(&text).unwrap()
    }

    fn comparison(sound: bool, runs: u32, values: &[(&str, f64)]) -> Label {
        let mut rest = format!(
            "[comparison]\nconfigurations = [\"a\", \"b\"]\nworkloads = [\"w\"]\n\
             metrics = [\"t\"]\nsound = {sound}\nruns = {runs}\n"
        );
        for (configuration, value) in values {
            rest.push_str(&format!(
                "[[values]]\nconfiguration = \"{configuration}\"\nworkload = \"w\"\n\
                 metric = \"t\"\nvalue = {value:?}\n"
            ));
        }
        label("comparison", &rest)
    }

    /// Means of ten runs each, far apart: supported.
    const POST: &str = "\
base:
 Performance counter stats for 'true' (10 runs):
        52.67 Joules power/energy-cores/       ( +-  0.24% )
patched:
 Performance counter stats for 'true' (10 runs):
        45.55 Joules power/energy-cores/       ( +-  0.27% )
";

    fn grade(text: &str, label: &Label) -> Grade {
        Reading::of(text.as_bytes(), "x").unwrap().grade(label)
    }

    #[test]
    fn a_comparison_that_is_read_as_labelled_is_right_and_its_verdict_sound() {
        let label = comparison(true, 10, &[("a", 52.67), ("b", 45.55)]);
        let grade = grade(POST, &label);
        assert!(grade.admitted && grade.positive && grade.sound, "{grade:?}");
        assert_eq!((grade.grouping, grade.found), (Grouping::Right, 2));
    }

    #[test]
    fn a_verdict_on_what_compares_nothing_is_wrong_and_unsound() {
        let grade = grade(POST, &label("figures", ""));
        assert!(grade.admitted && grade.positive && !grade.sound);
        assert_eq!(grade.grouping, Grouping::Wrong);
    }

    #[test]
    fn a_verdict_that_the_text_cannot_carry_is_unsound() {
        let label = comparison(false, 10, &[("a", 52.67), ("b", 45.55)]);
        let grade = grade(POST, &label);
        assert!(grade.positive && !grade.sound);
        assert_eq!(grade.grouping, Grouping::Right);
    }

    #[test]
    fn values_under_one_configuration_that_are_of_two_are_wrong() {
        // The label says that both are of the same configuration.
        let label = comparison(true, 10, &[("a", 52.67), ("a", 45.55), ("b", 1.0)]);
        assert_eq!(grade(POST, &label).grouping, Grouping::Wrong);
    }

    #[test]
    fn runs_that_the_text_does_not_have_are_wrong() {
        let label = comparison(true, 5, &[("a", 52.67), ("b", 45.55)]);
        let grade = grade(POST, &label);
        assert_eq!(grade.grouping, Grouping::Wrong);
        assert!(grade.faults[0].contains("10 runs"), "{:?}", grade.faults);
    }

    #[test]
    fn a_mean_is_read_where_its_runs_are() {
        let post = "The benchmark takes:\n\nbase:    40.3s = avg(40.6 39.3 39.2 41.6 41.2)\n\
                    patched: 40.8s = avg(40.6 41.1 40.9 41.0 40.7)\n";
        let label = comparison(true, 5, &[("a", 40.3), ("b", 40.8)]);
        assert_eq!(grade(post, &label).grouping, Grouping::Right);
        let turned = comparison(true, 5, &[("a", 40.3), ("a", 40.8), ("b", 1.5)]);
        assert_eq!(grade(post, &turned).grouping, Grouping::Wrong);
        let other = comparison(true, 5, &[("a", 40.5), ("b", 41.9)]);
        assert_eq!(grade(post, &other).found, 0);
    }

    #[test]
    fn values_that_were_not_read_make_it_right_in_part() {
        let label = comparison(true, 10, &[("a", 52.67), ("b", 45.55), ("b", 99.5)]);
        let grade = grade(POST, &label);
        assert_eq!((grade.grouping, grade.found), (Grouping::Partly, 2));
    }

    #[test]
    fn prose_is_neither_read_nor_judged() {
        let grade = grade("nothing here\n", &label("none", ""));
        assert!(!grade.admitted && !grade.positive);
        assert_eq!(grade.grouping, Grouping::Unread);
    }
}
