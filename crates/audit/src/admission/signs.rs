//! What a name or a table says of a comparison.

/// Something that a post says of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
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
    /// The rows of a table number the runs of each name.
    NumberedRuns,
    /// Nothing says what rows and columns of their table stand for.
    Undeclared,
    /// Rows of a table that nothing tells apart became one figure.
    Pooled,
    /// The message has figures under the same names that are quoted less deeply.
    QuotedBeside,
}

impl Sign {
    /// Why figures of which this holds are not compared.
    pub(crate) fn forbids(self) -> Option<&'static str> {
        Some(match self {
            Sign::Undeclared => "nothing says what rows and columns of the table stand for",
            Sign::Pooled => "nothing tells apart the rows that became one figure",
            Sign::QuotedBeside => "the message has newer figures of the same names",
            _ => return None,
        })
    }

    /// How a table declares its configurations by this.
    pub(crate) fn declares(self) -> Option<&'static str> {
        Some(match self {
            Sign::ConfigurationKey => "a column names the configurations",
            Sign::NumberedRuns => "the rows number the runs of each configuration",
            _ => return None,
        })
    }
}
