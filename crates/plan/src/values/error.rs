//! Errors in an experiment file: what is wrong, where, and how to fix it.

use std::fmt;

/// Why an experiment cannot be planned. Always a usage error: exit status 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The file, by the name given to [`crate::parse`]; or the command-line
    /// option, for errors in [`crate::Overrides`].
    pub place: String,
    /// Line in the file, from 1; `None` for an option.
    pub line: Option<u32>,
    /// Column in the line, from 1, in characters.
    pub column: Option<u32>,
    /// The key's full path from the top of the file: `workloads.timer.interval`.
    /// Empty for the file as a whole.
    pub key: String,
    /// What is wrong.
    pub why: String,
    /// The correction: `did you mean 'hogs'?`.
    pub mend: Option<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.why)?;
        match &self.mend {
            Some(mend) => write!(f, "; {mend}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Adds the correction.
    pub(crate) fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    /// Adds the valid name closest to `given` as the correction, or all valid names if none is
    /// close.
    pub(crate) fn nearest<'a>(
        self,
        given: &str,
        valid: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Self {
        match nearest(given, valid) {
            Some(mend) => self.mend(mend),
            None => self,
        }
    }

    /// An error in a command-line option rather than in a file.
    pub(crate) fn option(option: &str, key: &str, why: impl Into<String>) -> Self {
        Error {
            place: option.to_owned(),
            line: None,
            column: None,
            key: key.to_owned(),
            why: why.into(),
            mend: None,
        }
    }
}

fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    suggestion(given, valid.clone()).or_else(|| {
        let all: Vec<&str> = valid.into_iter().collect();
        (!all.is_empty()).then(|| format!("valid: {}", comma_separated(&all)))
    })
}

pub(crate) fn comma_separated(names: &[&str]) -> String {
    names.join(", ")
}

/// `did you mean …?` with the valid name closest to `given`; `None` if none is close.
pub(crate) fn suggestion<'a>(
    given: &str,
    valid: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    let given = given.to_lowercase();
    let mut longer = valid.clone().into_iter();
    if given.chars().count() >= 2
        && let Some(name) = longer.find(|name| name.to_lowercase().starts_with(&given))
    {
        return Some(did_you_mean(name));
    }
    let distance = |name: &str| strsim::damerau_levenshtein(&given, &name.to_lowercase());
    let near = valid.into_iter().map(|name| (distance(name), name));
    let (distance, name) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + name.chars().count() / 3).then(|| did_you_mean(name))
}

pub(crate) fn did_you_mean(name: &str) -> String {
    format!("did you mean '{name}'?")
}
