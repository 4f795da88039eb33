//! The signs for and against a comparison, and what each weighs.

/// What a sign speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Whether the figures are measurements.
    Measurements,
    /// Whether the names are those of configurations.
    Configurations,
}

/// Something in a post that speaks for or against judging a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    /// A benchmark's own output was read.
    KnownOutput,
    /// A unit stands beside the figures.
    Unit,
    /// The figures are named as measurements usually are.
    MetricName,
    /// A benchmark or a measuring tool is named near the figures.
    ToolNamed,
    /// The text speaks of performance and its measurement.
    TextMeasures,
    /// Figures have digits behind the point.
    Fractions,
    /// A spread is given.
    SpreadGiven,
    /// Repetitions are numbered or their number is said.
    Repetitions,
    /// Figures stand before and after something.
    BeforeAndAfter,
    /// Changes are given beside the figures.
    ChangesGiven,
    /// A list of names, each with its value.
    Listing,
    /// The lines around are code, a device tree, registers, a log.
    Dump,
    /// Figures stand where the names of columns are looked for.
    FigureHeader,
    /// Sizes, flags or offsets: whole numbers without a unit, of which no changes are given.
    BareIntegers,
    /// The user has named the configurations.
    SaidByUser,
    /// The user has named another configuration of the same comparison.
    BesideOneNamed,
    /// The tool whose output this is names what it compares.
    ComparingFormat,
    /// One name says the opposite of the other.
    OppositeNames,
    /// The names are versions.
    Versions,
    /// The names are two values of one setting.
    Switched,
    /// One of the names is that of a baseline or a change.
    BaselineName,
    /// One name is the other with a word more or exchanged.
    ParallelNames,
    /// The names stand under a word such as `kernel` or `config`.
    ConfigurationKey,
    /// A column of changes stands beside them.
    ChangeColumn,
    /// Changes are given that follow from the figures under these names.
    ChangesAgree,
    /// The same output of a known tool stands under each of these headings.
    SameUnderEach,
    /// A table of the same shape stands under each of these headings.
    SameTableUnderEach,
    /// The same headings stand below several others, in one order.
    HeadingsRecur,
    /// The text speaks of comparing, or of what got better or worse.
    TextCompares,
    /// The text says that something is compared with one of the names.
    ComparedInText,
    /// Figures of one unit stand side by side under them.
    SideBySide,
    /// The names of benchmarks differ in these, and words or text say that they are compared.
    NamesCompared,
    /// The text mentions the names elsewhere.
    NamedInText,
    /// A name is a number, a percentage, an address or a time.
    FigureName,
    /// A name is code, a path or a row of a log.
    CodeName,
    /// A name says nothing.
    EmptyName,
    /// A name is a whole sentence.
    LongName,
    /// A name is that of a test or of a parameter.
    WorkloadName,
    /// A name is that of a metric.
    NamedLikeMetric,
    /// The figures come from several messages or quotations.
    SeveralPlaces,
    /// The message has figures under the same names that are quoted less deeply.
    QuotedBeside,
    /// What rows and columns of their table stand for is a guess.
    Guessed,
    /// Rows of a table that nothing tells apart became one figure.
    Pooled,
    /// Lines hold several numbers, or several lines became one figure, and nobody says what
    /// they are.
    UnclearLines,
    /// A metric has one figure under one name and several under another.
    OneBesideSeveral,
    /// Columns of a table measure the same of two things, so that these could be compared as
    /// well.
    ColumnsAlike,
    /// Rows of a table are the parts of which another is the total.
    PartsOfWhole,
    /// Names are of parameters, or differ in a number as parameters of a workload do.
    Parameters,
    /// All figures are zero, or flags.
    Zeros,
    /// Figures are times of day, in seconds since 1970.
    TimesOfDay,
    /// The same figures stand under all names.
    SameFigures,
    /// The text is about what a tool prints, and not about performance.
    AboutOutput,
    /// The text is about what parts are rated for, and not about performance.
    Ratings,
    /// A name is that of a time, a limit or the like, which is set.
    SettingName,
    /// Beside names of opposite meaning stand figures of quite another size.
    OtherScale,
}

/// A row of the table of weights.
pub(crate) struct Weight {
    /// The sign.
    pub(crate) sign: Sign,
    /// What it speaks of.
    pub(crate) of: Question,
    /// For (positive) or against (negative).
    pub(crate) points: i32,
    /// In words.
    pub(crate) says: &'static str,
}

/// So many points admit the figures as measurements.
pub(crate) const MEASUREMENTS_BAR: i32 = 3;
/// So many points admit the names as configurations.
pub(crate) const CONFIGURATIONS_BAR: i32 = 4;

use Question::{Configurations, Measurements};

/// What every sign weighs.
#[rustfmt::skip]
pub(crate) const WEIGHTS: &[Weight] = &[
    Weight { sign: Sign::KnownOutput,      of: Measurements,   points: 4,  says: "output of a known tool" },
    Weight { sign: Sign::Unit,             of: Measurements,   points: 2,  says: "a unit of a measurement" },
    Weight { sign: Sign::MetricName,       of: Measurements,   points: 2,  says: "a metric's name" },
    Weight { sign: Sign::ToolNamed,        of: Measurements,   points: 2,  says: "a benchmark named near the figures" },
    Weight { sign: Sign::TextMeasures,     of: Measurements,   points: 1,  says: "a text about performance" },
    Weight { sign: Sign::Fractions,        of: Measurements,   points: 1,  says: "digits behind the point" },
    Weight { sign: Sign::SpreadGiven,      of: Measurements,   points: 2,  says: "a spread" },
    Weight { sign: Sign::Repetitions,      of: Measurements,   points: 2,  says: "numbered repetitions" },
    Weight { sign: Sign::BeforeAndAfter,   of: Measurements,   points: 2,  says: "figures before and after" },
    Weight { sign: Sign::ChangesGiven,     of: Measurements,   points: 1,  says: "changes beside the figures" },
    Weight { sign: Sign::Listing,          of: Measurements,   points: -2, says: "a list of names with values" },
    Weight { sign: Sign::Dump,             of: Measurements,   points: -5, says: "code, a log or a dump" },
    Weight { sign: Sign::FigureHeader,     of: Measurements,   points: -5, says: "figures for names of columns" },
    Weight { sign: Sign::BareIntegers,     of: Measurements,   points: -1, says: "whole numbers without a unit" },
    Weight { sign: Sign::Zeros,            of: Measurements,   points: -9, says: "nothing but zeros or flags" },
    Weight { sign: Sign::TimesOfDay,       of: Measurements,   points: -14,says: "times of day" },
    Weight { sign: Sign::SameFigures,      of: Measurements,   points: -14,says: "the same figures under all names" },
    Weight { sign: Sign::AboutOutput,      of: Measurements,   points: -14,says: "a text about what a tool prints" },
    Weight { sign: Sign::Ratings,          of: Measurements,   points: -5, says: "ratings of a data sheet" },
    Weight { sign: Sign::SaidByUser,       of: Configurations, points: 9,  says: "named by the user" },
    Weight { sign: Sign::BesideOneNamed,   of: Configurations, points: 4,  says: "beside one that the user named" },
    Weight { sign: Sign::ComparingFormat,  of: Configurations, points: 5,  says: "the tool names what it compares" },
    Weight { sign: Sign::OppositeNames,    of: Configurations, points: 4,  says: "names of opposite meaning" },
    Weight { sign: Sign::Versions,         of: Configurations, points: 3,  says: "names of versions" },
    Weight { sign: Sign::Switched,         of: Configurations, points: 3,  says: "values of one setting" },
    Weight { sign: Sign::BaselineName,     of: Configurations, points: 3,  says: "a baseline's or a change's name" },
    Weight { sign: Sign::ParallelNames,    of: Configurations, points: 2,  says: "names that differ in a word" },
    Weight { sign: Sign::ConfigurationKey, of: Configurations, points: 3,  says: "a column that names configurations" },
    Weight { sign: Sign::ChangeColumn,     of: Configurations, points: 2,  says: "a column of changes" },
    Weight { sign: Sign::ChangesAgree,     of: Configurations, points: 4,  says: "changes that follow from the figures" },
    Weight { sign: Sign::SameUnderEach,    of: Configurations, points: 3,  says: "the same output under each heading" },
    Weight { sign: Sign::SameTableUnderEach, of: Configurations, points: 1, says: "a table of one shape under each heading" },
    Weight { sign: Sign::HeadingsRecur,    of: Configurations, points: 3,  says: "the same headings below several others" },
    Weight { sign: Sign::TextCompares,     of: Configurations, points: 1,  says: "a text that compares" },
    Weight { sign: Sign::ComparedInText,   of: Configurations, points: 2,  says: "a text that compares with one of the names" },
    Weight { sign: Sign::SideBySide,       of: Configurations, points: 4,  says: "figures of one unit and size side by side" },
    Weight { sign: Sign::NamesCompared,    of: Configurations, points: 5,  says: "what the names of benchmarks differ in, and the text compares" },
    Weight { sign: Sign::NamedInText,      of: Configurations, points: 1,  says: "names that the text explains" },
    Weight { sign: Sign::QuotedBeside,     of: Configurations, points: -9, says: "older figures of the same names" },
    Weight { sign: Sign::Pooled,           of: Configurations, points: -9, says: "rows that nothing tells apart" },
    Weight { sign: Sign::UnclearLines,     of: Configurations, points: -9, says: "lines of several numbers that nobody names" },
    Weight { sign: Sign::OneBesideSeveral, of: Configurations, points: -9, says: "one run of one and several of another" },
    Weight { sign: Sign::ColumnsAlike,     of: Configurations, points: -9, says: "columns that could be compared as well" },
    Weight { sign: Sign::PartsOfWhole,     of: Configurations, points: -9, says: "rows that add up to a total" },
    Weight { sign: Sign::Parameters,       of: Configurations, points: -9, says: "names of several workloads" },
    Weight { sign: Sign::FigureName,       of: Configurations, points: -6, says: "a number for a name" },
    Weight { sign: Sign::CodeName,         of: Configurations, points: -6, says: "code or a path for a name" },
    Weight { sign: Sign::EmptyName,        of: Configurations, points: -6, says: "a name that says nothing" },
    Weight { sign: Sign::LongName,         of: Configurations, points: -3, says: "a sentence for a name" },
    Weight { sign: Sign::WorkloadName,     of: Configurations, points: -2, says: "a test's name" },
    Weight { sign: Sign::NamedLikeMetric,  of: Configurations, points: -2, says: "a metric's name as configuration" },
    Weight { sign: Sign::SettingName,      of: Configurations, points: -6, says: "a name of what is set" },
    Weight { sign: Sign::OtherScale,       of: Configurations, points: -9, says: "figures of another size than beside it" },
    Weight { sign: Sign::SeveralPlaces,    of: Configurations, points: -2, says: "figures of several authors or messages" },
];

impl Sign {
    /// Its row in the table.
    pub(crate) fn weight(self) -> Option<&'static Weight> {
        WEIGHTS.iter().find(|weight| weight.sign == self)
    }
}

/// The signs that were met, each once, and what they come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Signs(Vec<Sign>);

impl Signs {
    /// Notes a sign.
    pub(crate) fn note(&mut self, sign: Sign) {
        if !self.0.contains(&sign) {
            self.0.push(sign);
        }
    }

    /// Notes a sign if it is there.
    pub(crate) fn note_if(&mut self, there: bool, sign: Sign) {
        if there {
            self.note(sign);
        }
    }

    /// Notes the signs of others.
    pub(crate) fn join(&mut self, others: &Signs) {
        for sign in &others.0 {
            self.note(*sign);
        }
    }

    /// Whether a sign was met.
    pub(crate) fn contains(&self, sign: Sign) -> bool {
        self.0.contains(&sign)
    }

    /// Points for a question.
    pub(crate) fn points(&self, of: Question) -> i32 {
        let weights = self.0.iter().filter_map(|sign| sign.weight());
        weights.filter(|w| w.of == of).map(|w| w.points).sum()
    }

    /// Whether the points for the configurations reach a bar without some signs, and do not
    /// with them.
    pub(crate) fn fails_by(&self, bar: i32, these: &[Sign]) -> bool {
        let rest = self.0.iter().filter(|sign| !these.contains(sign)).copied();
        let of = Question::Configurations;
        self.points(of) < bar && Signs(rest.collect()).points(of) >= bar
    }

    /// The signs of a question with their points, as `--explain` shows them.
    pub(crate) fn words(&self, of: Question) -> String {
        let weights = self.0.iter().filter_map(|sign| sign.weight());
        let words: Vec<String> = weights
            .filter(|w| w.of == of)
            .map(|w| format!("{} {:+}", w.says, w.points))
            .collect();
        if words.is_empty() {
            "nothing".to_string()
        } else {
            words.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_the_table_stands_in_it_once() {
        for weight in WEIGHTS {
            let same = WEIGHTS.iter().filter(|w| w.sign == weight.sign).count();
            assert_eq!(same, 1, "{}", weight.says);
            assert!(weight.points != 0);
        }
    }

    #[test]
    fn points_are_those_of_one_question() {
        let mut signs = Signs::default();
        signs.note(Sign::Unit);
        signs.note(Sign::Unit);
        signs.note(Sign::OppositeNames);
        assert_eq!(signs.points(Measurements), 2);
        assert_eq!(signs.points(Configurations), 4);
        assert_eq!(signs.words(Measurements), "a unit of a measurement +2");
    }
}
