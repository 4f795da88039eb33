//! Grades of many texts, counted.

use std::fmt::Write;

use super::label::{Kind, Label, Part};
use super::reading::{Grade, Grouping};

/// What is counted of some texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Score {
    /// Texts.
    pub(super) mails: usize,
    /// Those that compare something.
    pub(super) comparisons: usize,
    /// Those in which the auditor compares something.
    pub(super) admitted: usize,
    /// Those of them that do compare something.
    pub(super) rightly_admitted: usize,
    /// Those that are admitted and do not compare, or are read wrong.
    pub(super) nonsense: usize,
    /// Comparisons read right.
    pub(super) right: usize,
    /// Comparisons of which a part was read, rightly.
    pub(super) partly: usize,
    /// Comparisons read wrong.
    pub(super) wrong: usize,
    /// Values of labels.
    pub(super) values: usize,
    /// Those that were read.
    pub(super) found: usize,
    /// Texts in which something is established or supported.
    pub(super) positive: usize,
    /// Those of them in which that is sound.
    pub(super) sound: usize,
    /// Texts in which something could be established or supported.
    pub(super) could: usize,
}

impl Score {
    /// Counts the grades of some texts.
    pub(super) fn of<'a>(graded: impl Iterator<Item = (&'a Label, &'a Grade)>) -> Score {
        let mut score = Score::default();
        for (label, grade) in graded {
            score.add(label, grade);
        }
        score
    }

    fn add(&mut self, label: &Label, grade: &Grade) {
        let count = usize::from;
        let compares = label.kind == Kind::Comparison;
        self.mails += 1;
        self.comparisons += count(compares);
        self.admitted += count(grade.admitted);
        self.rightly_admitted += count(grade.admitted && compares);
        self.nonsense += count(grade.admitted && grade.grouping == Grouping::Wrong);
        self.right += count(compares && grade.grouping == Grouping::Right);
        self.partly += count(compares && grade.grouping == Grouping::Partly);
        self.wrong += count(compares && grade.grouping == Grouping::Wrong);
        self.values += grade.values;
        self.found += grade.found;
        self.positive += count(grade.positive);
        self.sound += count(grade.sound);
        let could = label.comparison.as_ref().is_some_and(|c| c.sound);
        self.could += count(could);
    }

    /// The figures that have floors, in the order in which they are printed.
    pub(super) fn figures(&self) -> [Figure; 8] {
        let figure = |name, part, of, more_is_better| Figure {
            name,
            part,
            of,
            more_is_better,
        };
        [
            figure(
                "admission-precision",
                self.rightly_admitted,
                self.admitted,
                true,
            ),
            figure(
                "admission-recall",
                self.rightly_admitted,
                self.comparisons,
                true,
            ),
            figure("nonsense", self.nonsense, self.admitted, false),
            figure("read-right", self.right, self.comparisons, true),
            figure("read-wrong", self.wrong, self.comparisons, false),
            figure("values-read", self.found, self.values, true),
            figure("verdicts-sound", self.sound, self.positive, true),
            figure("verdicts-given", self.sound, self.could, true),
        ]
    }
}

/// One share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    /// Its name, in tables and among the floors.
    pub(super) name: &'static str,
    /// How many.
    pub(super) part: usize,
    /// Of how many.
    pub(super) of: usize,
    /// Whether more of it is better.
    pub(super) more_is_better: bool,
}

impl Figure {
    /// What it says, for readers of the table.
    pub(super) fn says(&self) -> &'static str {
        match self.name {
            "admission-precision" => "mails judged that hold a comparison",
            "admission-recall" => "comparisons that are judged",
            "nonsense" => "mails judged that compare nothing, or are grouped wrong",
            "read-right" => "comparisons grouped right with all values of the label",
            "read-wrong" => "comparisons grouped wrong",
            "values-read" => "values of labels that are read",
            "verdicts-sound" => "mails with established or supported in which that is sound",
            _ => "mails in which that could be said, and is",
        }
    }

    /// The share in per cent; where there is nothing, as good as can be.
    pub(super) fn percent(&self) -> f64 {
        match (self.of, self.more_is_better) {
            (0, true) => 100.0,
            (0, false) => 0.0,
            (of, _) => 100.0 * self.part as f64 / of as f64,
        }
    }

    /// The share as it is printed: `32 % (109 of 340)`.
    pub(super) fn shown(&self) -> String {
        match self.of {
            0 => "–".to_string(),
            of => format!("{:.0} % ({} of {of})", self.percent(), self.part),
        }
    }
}

/// A text that was graded.
pub(super) struct Graded {
    /// What it holds.
    pub(super) label: Label,
    /// What was made of it.
    pub(super) grade: Grade,
}

/// The score of one part.
pub(super) fn part(graded: &[Graded], part: Part) -> Score {
    let of = graded.iter().filter(|one| one.label.part() == part);
    Score::of(of.map(|one| (&one.label, &one.grade)))
}

/// The scores of the mails of lists, or of their twins, as a table of Markdown.
pub(super) fn table(graded: &[Graded]) -> String {
    let working = part(graded, Part::Working);
    let scored = part(graded, Part::Scored);
    let mails = graded.iter().filter(|one| one.label.written.is_none());
    let all = Score::of(mails.map(|one| (&one.label, &one.grade)));
    let scores = [working, scored, all];
    let mut text = String::from("| | working | scored | all |\n| --- | ---: | ---: | ---: |\n");
    let mut row = |name: &str, cells: [String; 3]| {
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    };
    row("mails", scores.map(|s| s.mails.to_string()));
    row(
        "… with a comparison",
        scores.map(|s| s.comparisons.to_string()),
    );
    row("… judged", scores.map(|s| s.admitted.to_string()));
    let [of_working, of_scored, of_all] = scores.map(|score| score.figures());
    for ((working, scored), all) in of_working.iter().zip(&of_scored).zip(&of_all) {
        let name = format!("{}: {}", all.name, all.says());
        row(&name, [working.shown(), scored.shown(), all.shown()]);
    }
    text
}

/// What became of the texts that were written, batch by batch, when they were read
/// for the first time and what becomes of them now, as a table of Markdown.
pub(super) fn fresh(graded: &[Graded]) -> String {
    let written = |one: &Graded| one.label.written.as_ref().map(|w| w.batch);
    let mut batches: Vec<u32> = graded.iter().filter_map(written).collect();
    batches.sort_unstable();
    batches.dedup();
    let mut text = String::from("| |");
    for batch in &batches {
        let _ = write!(text, " batch {batch}, first | now |");
    }
    text.push_str("\n| --- |");
    text.push_str(&" ---: | ---: |".repeat(batches.len()));
    text.push('\n');
    let mut row = |name: &str, count: &dyn Fn(&Graded, Grouping) -> bool| {
        let _ = write!(text, "| {name} |");
        for batch in &batches {
            let of = || graded.iter().filter(|one| written(one) == Some(*batch));
            let first = |one: &Graded| one.label.written.as_ref().map(|w| w.first);
            let then = of().filter(|one| first(one).is_some_and(|first| count(one, first)));
            let now = of().filter(|one| count(one, one.grade.grouping));
            let _ = write!(text, " {} | {} |", then.count(), now.count());
        }
        text.push('\n');
    };
    let compares = |one: &Graded| one.label.kind == Kind::Comparison;
    row("comparisons", &|one, _| compares(one));
    row(
        "… grouped right with all values of the label",
        &|one, read| compares(one) && read == Grouping::Right,
    );
    row("… in part", &|one, read| {
        compares(one) && read == Grouping::Partly
    });
    row("… unread", &|one, read| {
        compares(one) && read == Grouping::Unread
    });
    row("… grouped wrong", &|one, read| {
        compares(one) && read == Grouping::Wrong
    });
    row("texts that compare nothing", &|one, _| !compares(one));
    row("… and are judged", &|one, read| {
        !compares(one) && read == Grouping::Wrong
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_nothing_is_as_good_as_can_be() {
        let figures = Score::default().figures();
        for figure in figures {
            let best = if figure.more_is_better { 100.0 } else { 0.0 };
            assert_eq!(figure.percent(), best, "{}", figure.name);
            assert_eq!(figure.shown(), "–");
        }
    }

    fn written(name: &str, batch: u32, first: &str, now: Grouping) -> Graded {
        let label = toml::from_str(&format!(
            "kind = \"comparison\"\nshape = \"s\"\n[written]\nname = \"{name}\"\n\
             follows = \"f\"\nbatch = {batch}\nfirst = \"{first}\"\n"
        ))
        .unwrap();
        let grade = Grade {
            admitted: true,
            grouping: now,
            found: 0,
            values: 0,
            positive: false,
            sound: false,
            faults: Vec::new(),
        };
        Graded { label, grade }
    }

    #[test]
    fn what_was_written_is_counted_by_batch_as_it_was_first_read_and_now() {
        let graded = [
            written("a", 1, "unread", Grouping::Right),
            written("b", 1, "in part", Grouping::Right),
            written("c", 2, "wrong", Grouping::Unread),
        ];
        let text = fresh(&graded);
        let row = |name: &str| {
            let line = text.lines().find(|line| line.contains(name))?;
            let (_, cells) = line.trim_end_matches(" |").split_once(" | ")?;
            Some(cells.split(" | ").collect::<Vec<_>>())
        };
        assert_eq!(row("comparisons"), Some(vec!["2", "2", "1", "1"]));
        assert_eq!(row("grouped right"), Some(vec!["0", "2", "0", "0"]));
        assert_eq!(row("… unread"), Some(vec!["1", "0", "0", "1"]));
        assert_eq!(row("grouped wrong"), Some(vec!["0", "0", "1", "0"]));
        // They are none of the mails.
        assert!(table(&graded).contains("| mails | 0 | 0 | 0 |"));
    }

    #[test]
    fn what_is_read_wrong_counts_against_precision_and_not_for_recall() {
        let label: Label = toml::from_str(
            "list = \"l\"\nyear = 1\nmessage_id = \"m\"\narchive = \"l.0\"\ncommit = \"c\"\n\
             stratum = \"figures\"\nkind = \"figures\"\nshape = \"s\"\n",
        )
        .unwrap();
        let grade = Grade {
            admitted: true,
            grouping: Grouping::Wrong,
            found: 0,
            values: 0,
            positive: true,
            sound: false,
            faults: Vec::new(),
        };
        let score = Score::of([(&label, &grade)].into_iter());
        let share = |name| {
            let figure = score.figures().into_iter().find(|f| f.name == name);
            figure.map(|figure| (figure.part, figure.of))
        };
        assert_eq!(share("admission-precision"), Some((0, 1)));
        assert_eq!(share("nonsense"), Some((1, 1)));
        assert_eq!(share("admission-recall"), Some((0, 0)));
        assert_eq!(share("verdicts-sound"), Some((0, 1)));
        assert_eq!(share("read-wrong"), Some((0, 0)));
    }
}
