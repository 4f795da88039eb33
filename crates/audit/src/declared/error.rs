//! What is wrong with an input that declares what it holds.

use std::fmt;

/// An error with its place and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The file.
    pub source: String,
    /// The line, counted from 1, if it is in one.
    pub line: Option<u32>,
    /// What is wrong.
    pub fault: Fault,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It cannot be read.
    Io(String),
    /// It is not of the form it begins with.
    Syntax {
        /// What form that is.
        form: &'static str,
        /// What the parser says.
        why: String,
    },
    /// The text is no UTF-8.
    NotText,
    /// Something else stands where a number should.
    NoNumber {
        /// The column, key or place.
        column: String,
        /// What stands there.
        found: String,
    },
    /// A row has more or fewer cells than the header.
    Cells {
        /// How many it has.
        found: usize,
        /// How many the header has.
        expected: usize,
    },
    /// Two columns say the same thing.
    TwoColumns {
        /// The first.
        first: String,
        /// The second.
        second: String,
        /// What both say.
        role: &'static str,
    },
    /// A column that is needed is not there.
    Missing {
        /// What it would say.
        role: &'static str,
        /// How to mend that.
        mend: &'static str,
    },
    /// Columns of numbers that nobody says the meaning of.
    Undeclared {
        /// Their names.
        columns: Vec<String>,
    },
    /// A column cannot stand beside another.
    Beside {
        /// The column.
        column: String,
        /// What it contradicts.
        other: String,
    },
    /// A column that would part every row from every other.
    Unique {
        /// The column.
        column: String,
    },
    /// A cell that must say something is empty.
    Empty {
        /// Its column.
        column: String,
    },
    /// One run has one metric twice.
    Twice {
        /// The run.
        run: String,
        /// The metric.
        metric: String,
        /// The line of the first.
        first: u32,
    },
    /// It holds the figures of one configuration only.
    OneConfiguration {
        /// What it holds.
        what: &'static str,
    },
    /// It holds no figure.
    Nothing {
        /// What was looked for.
        what: &'static str,
    },
    /// Units contradict each other.
    Unit {
        /// What is said.
        said: String,
        /// What stands there.
        found: String,
    },
    /// Something else; the text says what and how to mend it.
    Other(String),
}

impl Error {
    /// An error in a line.
    pub(crate) fn at(source: &str, line: u32, fault: Fault) -> Error {
        Error {
            source: source.to_owned(),
            line: Some(line),
            fault,
        }
    }

    /// An error of the whole.
    pub(crate) fn whole(source: &str, fault: Fault) -> Error {
        Error {
            source: source.to_owned(),
            line: None,
            fault,
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is quoted of a text may hold anything.
        let fault = self.fault.to_string().replace(char::is_control, " ");
        match self.line {
            Some(line) => write!(f, "{}:{line}: {fault}", self.source),
            None => write!(f, "{}: {fault}", self.source),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Io(why) => write!(f, "cannot be read: {why}"),
            Fault::Syntax { form, why } => write!(f, "is not {form}: {why}; write the file anew"),
            Fault::NotText => write!(f, "is not UTF-8; convert it with iconv -t UTF-8"),
            Fault::NoNumber { column, found } => write!(
                f,
                "{column} holds '{found}', not a number; correct it, or leave the row out"
            ),
            Fault::Cells { found, expected } => write!(
                f,
                "has {found} cells and the header {expected}; quote a cell that holds the separator"
            ),
            Fault::TwoColumns {
                first,
                second,
                role,
            } => write!(
                f,
                "columns '{first}' and '{second}' both name the {role}; rename one"
            ),
            Fault::Missing { role, mend } => write!(f, "no column names the {role}; {mend}"),
            Fault::Undeclared { columns } => write!(
                f,
                "nobody says what the columns {} are; add --columns-are configurations or \
                 --columns-are metrics",
                quoted(columns)
            ),
            Fault::Beside { column, other } => {
                write!(f, "column '{column}' contradicts {other}; leave one out")
            }
            Fault::Unique { column } => write!(
                f,
                "column '{column}' differs in every row, so no row repeats another; name it run \
                 or order, or leave it out"
            ),
            Fault::Empty { column } => write!(f, "column '{column}' is empty; fill it in"),
            Fault::Twice { run, metric, first } => write!(
                f,
                "{run} has {metric} already in line {first}; give each run a row or a number of \
                 its own"
            ),
            Fault::OneConfiguration { what } => write!(
                f,
                "holds {what} of one configuration; give the other one too: assize audit \
                 base=FILE patched=FILE"
            ),
            Fault::Nothing { what } => write!(f, "holds no {what}; is it the right file?"),
            Fault::Unit { said, found } => {
                write!(
                    f,
                    "the unit is said to be {said} and is {found}; correct one"
                )
            }
            Fault::Other(text) => f.write_str(text),
        }
    }
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}
