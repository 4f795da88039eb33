//! What two names, a name, a table or its surroundings say of a comparison.

/// Something that a post says of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
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
    /// A name is a number, a percentage, an address or a time.
    FigureName,
    /// A name is code, a path or a row of a log.
    CodeName,
    /// A name says nothing.
    EmptyName,
    /// A name is a whole sentence.
    LongName,
    /// The names stand under a word such as `kernel` or `config`.
    ConfigurationKey,
    /// Changes are given that follow from the figures under these names.
    ChangesAgree,
    /// The names of benchmarks differ in these, and words or text say that they are compared.
    NamesCompared,
    /// What rows and columns of their table stand for is a guess.
    Guessed,
    /// Rows of a table that nothing tells apart became one figure.
    Pooled,
    /// Columns of a table measure the same of two things, so that these could be compared as
    /// well.
    ColumnsAlike,
    /// Rows of a table are the parts of which another is the total.
    PartsOfWhole,
    /// Names are of parameters of a workload.
    Parameters,
    /// All figures are zero, or flags.
    Zeros,
    /// Figures stand where the names of columns are looked for.
    FigureHeader,
    /// The lines around are code, a device tree, registers, a log.
    Dump,
    /// The message has figures under the same names that are quoted less deeply.
    QuotedBeside,
}

impl Sign {
    /// How clearly two names are those of configurations: an order, from 0 for not at all.
    pub(crate) fn rank(self) -> i32 {
        match self {
            Sign::OppositeNames => 4,
            Sign::Versions | Sign::Switched | Sign::BaselineName => 3,
            Sign::ParallelNames => 2,
            _ => 0,
        }
    }

    /// Why figures of which this holds are not compared.
    pub(crate) fn forbids(self) -> Option<&'static str> {
        Some(match self {
            Sign::Guessed => "nothing says what rows and columns of the table stand for",
            Sign::Pooled => "nothing tells apart the rows that became one figure",
            Sign::ColumnsAlike => "the columns could be compared as well",
            Sign::PartsOfWhole => "the rows are parts of a total",
            Sign::Parameters => "the names are those of parameters",
            Sign::Zeros => "the figures are flags",
            Sign::FigureHeader => "the columns have figures for names",
            Sign::Dump => "the lines around are code or a log",
            Sign::QuotedBeside => "the message has newer figures of the same names",
            _ => return None,
        })
    }

    /// How a table or a text declares its configurations by this.
    pub(crate) fn declares(self) -> Option<&'static str> {
        Some(match self {
            Sign::ConfigurationKey => "a column names the configurations",
            Sign::ChangesAgree => "changes are given that follow from the figures",
            Sign::NamesCompared => "the names of benchmarks hold the configurations",
            _ => return None,
        })
    }
}
