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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::label::Label;
    use crate::corpus::texts;

    #[test]
    fn every_cause_has_a_comparison_that_is_read_and_a_text_that_is_not_judged() {
        let graded = texts::graded(Label::all().unwrap(), texts::twin).unwrap();
        for cause in Cause::ALL {
            let [comparisons, others] = texts_with(&graded, cause);
            let right = |one: &&&Graded| one.grade.grouping == Grouping::Right;
            assert!(comparisons.iter().any(|one| right(&one)), "{cause:?}");
            assert!(!others.is_empty(), "{cause:?}");
            for one in others {
                assert!(!one.grade.admitted, "{cause:?}: {}", one.label.name());
            }
        }
    }

    #[test]
    fn a_cause_that_is_not_known_is_an_error() {
        let label = "kind = \"none\"\nshape = \"s\"\ncauses = [\"value-test\"]\n";
        let why = toml::from_str::<Label>(label).unwrap_err().to_string();
        assert!(why.contains("value-test"), "{why}");
    }
}
