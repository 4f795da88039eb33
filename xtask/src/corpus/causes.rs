//! What has misled the auditor or what it did not read, and the texts that have it.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::label::Kind;
use super::reading::Grouping;
use super::score::Graded;

/// Something that many mails have and that was read wrong, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Cause {
    ValueText,
    ParametersAsConfigurations,
    ColumnsNamedByState,
    NoRepetitions,
    SamplesAsRuns,
    RowsTwice,
    RobotTable,
    LabelValue,
    MeanWithSpread,
    HeaderOfLines,
    TwoMachines,
    HeadingApart,
}

impl Cause {
    /// All of them: those that mislead first, then those that are easily not read.
    const ALL: [Cause; 12] = [
        Cause::ValueText,
        Cause::ParametersAsConfigurations,
        Cause::ColumnsNamedByState,
        Cause::NoRepetitions,
        Cause::SamplesAsRuns,
        Cause::RowsTwice,
        Cause::RobotTable,
        Cause::LabelValue,
        Cause::MeanWithSpread,
        Cause::HeaderOfLines,
        Cause::TwoMachines,
        Cause::HeadingApart,
    ];

    /// What it is, for readers of the table.
    fn says(self) -> &'static str {
        match self {
            Cause::ValueText => {
                "device trees, `lscpu`, attributes of sysfs, assembly, drawings: text with values \
                 that is no table of figures"
            }
            Cause::ParametersAsConfigurations => {
                "parameters or time stamps where configurations could stand"
            }
            Cause::ColumnsNamedByState => "columns or headings called Baseline, Patched, Good, Bad",
            Cause::NoRepetitions => {
                "tables whose rows are no repetitions: energy models, frequencies"
            }
            Cause::SamplesAsRuns => "samples inside of a run: seconds of `vmstat`, periodic rows",
            Cause::RowsTwice => "the same rows quoted, attached or pasted again",
            Cause::RobotTable => "mails of robots: `883.77 ± 4%  +67.2%  1478 ± 9%  metric`",
            Cause::LabelValue => "`label: value unit`, also with `x % better` behind",
            Cause::MeanWithSpread => "means with their spread, in any notation",
            Cause::HeaderOfLines => "headers of several lines, and ruled ones",
            Cause::TwoMachines => "two machines in one mail",
            Cause::HeadingApart => {
                "headings parted from their figures by a command or by other quoting"
            }
        }
    }
}

/// For each cause the texts that have it, which compare something and which do not,
/// and what becomes of them, as a table of Markdown.
pub(super) fn table(graded: &[Graded]) -> String {
    let mut text = String::from(
        "| what mails have | comparisons | … read right | … grouped wrong | others | … judged |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for cause in Cause::ALL {
        let [comparisons, others] = texts_with(graded, cause);
        let count = |of: &[&Graded], read: Grouping| {
            of.iter().filter(|one| one.grade.grouping == read).count()
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            cause.says(),
            comparisons.len(),
            count(&comparisons, Grouping::Right),
            count(&comparisons, Grouping::Wrong),
            others.len(),
            others.iter().filter(|one| one.grade.admitted).count(),
        );
    }
    text
}

/// The texts that have a cause: those that compare something, and the others.
fn texts_with(graded: &[Graded], cause: Cause) -> [Vec<&Graded>; 2] {
    let with = graded
        .iter()
        .filter(|one| one.label.causes.contains(&cause));
    let (comparisons, others) = with.partition(|one| one.label.kind == Kind::Comparison);
    [comparisons, others]
}

/// Why the texts do not show that the auditor copes with every cause, a sentence
/// each: of each cause a comparison must be read right, and there must be texts that
/// look like it and compare nothing, none of which is judged.
pub(super) fn faults(graded: &[Graded]) -> Vec<String> {
    let all = Cause::ALL.iter();
    all.flat_map(|cause| faults_of(graded, *cause)).collect()
}

fn faults_of(graded: &[Graded], cause: Cause) -> Vec<String> {
    let [comparisons, others] = texts_with(graded, cause);
    let mut faults = Vec::new();
    let right = |one: &&Graded| one.grade.grouping == Grouping::Right;
    if !comparisons.iter().any(right) {
        faults.push(format!(
            "{cause:?}: no comparison that has it is read right"
        ));
    }
    if others.is_empty() {
        faults.push(format!("{cause:?}: no text that compares nothing has it"));
    }
    for one in others.iter().filter(|one| one.grade.admitted) {
        let name = one.label.name();
        faults.push(format!("{cause:?}: {name} compares nothing and is judged"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::label::Label;
    use crate::corpus::reading::Grade;

    fn graded(name: &str, kind: Kind, read: bool) -> Graded {
        let label = format!(
            "list = \"{name}.example.org\"\ncommit = \"0123456789\"\nkind = \"none\"\n\
             shape = \"s\"\ncauses = [\"label-value\"]\n"
        );
        let mut label = toml::from_str::<Label>(&label).unwrap();
        label.kind = kind;
        let grouping = match read {
            true => Grouping::Right,
            false => Grouping::Unread,
        };
        let grade = Grade {
            admitted: read,
            grouping,
            found: 0,
            values: 0,
            positive: false,
            sound: false,
            faults: vec![],
        };
        Graded { label, grade }
    }

    #[test]
    fn a_cause_needs_a_comparison_that_is_read_and_a_text_that_is_not_judged() {
        let faults = |graded: &[Graded]| faults_of(graded, Cause::LabelValue);
        let right = || graded("right", Kind::Comparison, true);
        let alike = || graded("alike", Kind::None, false);
        assert_eq!(faults(&[right(), alike()]), Vec::<String>::new());
        let unread = graded("unread", Kind::Comparison, false);
        assert_eq!(faults(&[unread, alike()]).len(), 1);
        assert_eq!(faults(&[right()]).len(), 1);
        let judged = graded("judged", Kind::Figures, true);
        let told = faults(&[right(), alike(), judged]);
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("judged"), "{told:?}");
    }

    #[test]
    fn a_cause_that_is_not_known_is_an_error() {
        let label = "kind = \"none\"\nshape = \"s\"\ncauses = [\"value-test\"]\n";
        let why = toml::from_str::<Label>(label).unwrap_err().to_string();
        assert!(why.contains("value-test"), "{why}");
    }
}
