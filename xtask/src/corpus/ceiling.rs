//! What could be read right if the auditor judged all that it reads, and were told what the
//! rows and columns of each text's tables stand for.

use assize_audit::{Judged, Options, Role};

use super::label::{Kind, Label, Part};
use super::reading::{Grouping, Reading};
use super::score::Figure;
use super::texts;
use crate::Error;

/// What rows and columns may stand for, as a user would say it; first of all nothing.
const ROLES: [(Option<Role>, Option<Role>); 11] = {
    use Role::{Configurations, Metrics, Workloads};
    [
        (None, None),
        (Some(Configurations), None),
        (Some(Workloads), None),
        (Some(Metrics), None),
        (None, Some(Configurations)),
        (None, Some(Workloads)),
        (None, Some(Metrics)),
        (Some(Workloads), Some(Configurations)),
        (Some(Metrics), Some(Configurations)),
        (Some(Configurations), Some(Metrics)),
        (Some(Configurations), Some(Workloads)),
    ]
};

/// How many comparisons are read right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ceiling {
    comparisons: usize,
    /// As the auditor stands.
    right: usize,
    /// If nothing is left unjudged.
    all_judged: usize,
    /// If also the roles are those with which the most are read right.
    best_roles: usize,
}

impl Ceiling {
    fn add(&mut self, label: &Label, text: &[u8]) -> Result<(), Error> {
        let is_right = |options: &Options| -> Result<bool, Error> {
            let reading = Reading::with(text, &label.name(), options)?;
            Ok(reading.grade(label).grouping == Grouping::Right)
        };
        let judged = |(columns_are, rows_are)| Options {
            judged: Judged::All,
            columns_are,
            rows_are,
            ..Options::default()
        };
        self.comparisons += 1;
        let right = is_right(&Options::default())?;
        self.right += usize::from(right);
        let [unsaid, said @ ..] = ROLES.map(judged);
        let mut best = right || is_right(&unsaid)?;
        self.all_judged += usize::from(best);
        for options in &said {
            best = best || is_right(options)?;
        }
        self.best_roles += usize::from(best);
        Ok(())
    }
}

/// The ceilings of the twins of both parts, as a table of Markdown.
pub(super) fn table() -> Result<String, Error> {
    let [mut working, mut scored] = [Ceiling::default(); 2];
    for label in Label::all()? {
        let of = match label.part() {
            Part::Working => &mut working,
            Part::Scored => &mut scored,
            Part::Fresh => continue,
        };
        if label.kind == Kind::Comparison {
            of.add(&label, &texts::twin(&label)?)?;
        }
    }
    let rows = [
        ("read right", working.right, scored.right),
        (
            "… if all that is read were judged",
            working.all_judged,
            scored.all_judged,
        ),
        (
            "… and if somebody said what rows and columns are",
            working.best_roles,
            scored.best_roles,
        ),
    ];
    let shown = |of: Ceiling, part| {
        let figure = Figure {
            name: "read-right",
            part,
            of: of.comparisons,
            more_is_better: true,
        };
        figure.shown()
    };
    let mut text = String::from("| | working | scored |\n| --- | ---: | ---: |\n");
    for (name, of_working, of_scored) in rows {
        let [of_working, of_scored] = [shown(working, of_working), shown(scored, of_scored)];
        text.push_str(&format!("| {name} | {of_working} | {of_scored} |\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(values: [(&str, f64); 2]) -> Label {
        let mut text = String::from(
            "kind = \"comparison\"\nshape = \"s\"\n[written]\nname = \"n\"\nfollows = \"f\"\n\
             batch = 1\nfirst = \"right\"\n[comparison]\nconfigurations = [\"a\", \"b\"]\n\
             workloads = [\"w\"]\nmetrics = [\"t\"]\nsound = false\nruns = 1\n",
        );
        for (configuration, value) in values {
            text.push_str(&format!(
                "[[values]]\nconfiguration = \"{configuration}\"\nworkload = \"w\"\n\
                 metric = \"t\"\nvalue = {value:?}\n"
            ));
        }
        toml::from_str(&text).unwrap()
    }

    fn ceiling(text: &str, values: [(&str, f64); 2]) -> [usize; 3] {
        let mut ceiling = Ceiling::default();
        ceiling.add(&label(values), text.as_bytes()).unwrap();
        assert_eq!(ceiling.comparisons, 1);
        [ceiling.right, ceiling.all_judged, ceiling.best_roles]
    }

    #[test]
    fn what_is_missing_is_told_apart() {
        let read = "fio throughput (MB/s):\n\n       before   patched\nread   101.5    120.25\n\
                    write  88.25    97.5\n";
        assert_eq!(ceiling(read, [("a", 101.5), ("b", 120.25)]), [1, 1, 1]);
        // Whole numbers in sentences are wrong too often.
        let sentence = "With this patch fio went from 101 MB/s to 120 MB/s.\n";
        assert_eq!(ceiling(sentence, [("a", 101.0), ("b", 120.0)]), [0, 1, 1]);
        // The configurations are the rows.
        assert_eq!(ceiling(read, [("a", 101.5), ("b", 88.25)]), [0, 0, 1]);
        // None of these stands in the text.
        assert_eq!(ceiling(read, [("a", 1.5), ("b", 2.5)]), [0, 0, 0]);
    }
}
