//! The text of an experiment file and the places of its keys, for messages.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;

use super::error::Error;

/// The byte range of each key and of each list element in the file.
pub(crate) type Spans = HashMap<String, Range<usize>>;

/// An experiment file that has been read.
#[derive(Debug, Clone)]
pub(crate) struct TomlDocument {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) spans: Spans,
}

impl TomlDocument {
    /// An error at a key, or at the nearest enclosing table if the file does not
    /// have the key.
    pub(crate) fn error(&self, path: &str, why: impl Into<String>) -> Error {
        let mut around = path;
        let span = loop {
            if let Some(span) = self.spans.get(around) {
                break span.clone();
            }
            match around.rfind(['.', '[']) {
                Some(end) => around = &around[..end],
                None => break 0..0,
            }
        };
        let source = SourceText {
            name: &self.name,
            text: &self.text,
        };
        source.error(&span, path, why)
    }

    /// Turns a mistake below a path into an error with the key, the reason and the correction.
    pub(crate) fn reject<T: Into<String>>(
        &self,
        path: &str,
        mistake: Option<(&str, T, T)>,
    ) -> Result<(), Error> {
        mistake.map_or(Ok(()), |(key, why, mend)| {
            Err(self.error(&join(path, key), why).mend(mend))
        })
    }

    /// The place of a key as messages print it: `FILE:LINE: KEY`.
    pub(crate) fn place(&self, path: &str) -> String {
        let here = self.error(path, "");
        let line = here.line.map_or(String::new(), |line| format!(":{line}"));
        format!("{}{line}: {}", here.place, here.key)
    }

    /// Checks that no name of a list is given twice.
    pub(crate) fn check_unique<T>(&self, path: &str, names: &[T]) -> Result<(), Error>
    where
        T: PartialEq + Display,
    {
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                let error =
                    self.error(&format!("{path}[{at}]"), format!("'{name}' is given twice"));
                return Err(error.mend("remove one"));
            }
        }
        Ok(())
    }

    /// Whether the file has this key.
    pub(crate) fn gives(&self, path: &str) -> bool {
        self.spans.contains_key(path)
    }
}

/// Appends a key to a path, quoted if necessary.
pub(crate) fn join(path: &str, key: &str) -> String {
    let dot = if path.is_empty() { "" } else { "." };
    if is_bare(key) {
        format!("{path}{dot}{key}")
    } else {
        format!("{path}{dot}\"{}\"", key.escape_debug())
    }
}

/// Whether TOML allows the key without quotes.
pub(crate) fn is_bare(key: &str) -> bool {
    !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// A text and its name, for finding lines and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceText<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl SourceText<'_> {
    /// An error at a byte range of the text.
    pub(crate) fn error(&self, span: &Range<usize>, key: &str, why: impl Into<String>) -> Error {
        let (line, column) = self.line_and_column(span.start);
        Error {
            place: self.name.to_owned(),
            line: Some(line),
            column: Some(column),
            key: key.to_owned(),
            why: why.into(),
            mend: None,
        }
    }

    /// The line and column of a byte offset; those of the end of the text if the offset is past it.
    fn line_and_column(&self, offset: usize) -> (u32, u32) {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let last = self.text.lines().count().max(1);
        let column = if line > last {
            let end = self.text.lines().last().unwrap_or_default();
            end.chars().count() + 1
        } else {
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            before[start..].chars().count() + 1
        };
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (narrow(line.min(last)), narrow(column))
    }
}
