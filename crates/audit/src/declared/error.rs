//! Errors in inputs that declare their contents.

use std::fmt;

/// An error with its place and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The file.
    pub source: String,
    /// The line, counted from 1, if it is in one.
    pub line: Option<u32>,
    /// The mistake and the remedy.
    pub fault: Fault,
}

/// A mistake and its remedy, without the place.
pub type Fault = String;

impl Error {
    /// An error in a line.
    pub(crate) fn at(source: &str, line: u32, fault: Fault) -> Error {
        Error {
            line: Some(line),
            ..Error::whole(source, fault)
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

    /// An input that cannot be read.
    pub(crate) fn io(source: &str, why: impl fmt::Display) -> Error {
        Error::whole(source, format!("cannot be read: {why}"))
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Quoted text may contain anything.
        let fault = self.fault.replace(char::is_control, " ");
        match self.line {
            Some(line) => write!(f, "{}:{line}: {fault}", self.source),
            None => write!(f, "{}: {fault}", self.source),
        }
    }
}

/// The text is in another character set.
pub(crate) const NOT_TEXT: &str = "is not UTF-8; convert it with iconv -t UTF-8";

/// Something else stands in a column, a key or a place where a number should.
pub(crate) fn no_number(place: &str, found: &str) -> Fault {
    format!("{place} holds '{found}', not a number; correct it, or leave the row out")
}

/// A row has more or fewer cells than the header.
pub(crate) fn cells(found: usize, expected: usize) -> Fault {
    format!("has {found} cells and the header {expected}; quote a cell that holds the separator")
}

/// The input is not of the form it begins with.
pub(crate) fn syntax(form: &str, why: impl fmt::Display) -> Fault {
    format!("is not {form}: {why}; write the file anew")
}

/// A column that is needed is not there.
pub(crate) fn missing(role: &str, mend: &str) -> Fault {
    format!("no column names the {role}; {mend}")
}

/// Units contradict each other.
pub(crate) fn units(said: &str, found: &str) -> Fault {
    format!("the unit is said to be {said} and is {found}; correct one")
}

/// The input holds the figures of one configuration only.
pub(crate) fn one_configuration(what: &str) -> Fault {
    format!(
        "holds {what} of one configuration; give the other one too: assize audit base=FILE \
         patched=FILE"
    )
}

/// The input holds no figure.
pub(crate) fn nothing(what: &str) -> Fault {
    format!("holds no {what}; is it the right file?")
}
