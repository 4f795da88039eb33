//! A file of the kernel that is read at the start of a run and at its end.

use std::path::Path;

use super::system;

/// What the file said, both times, or why that is not known.
pub(crate) struct Twice {
    path: &'static str,
    before: Result<String, String>,
    after: Result<String, String>,
}

impl Twice {
    /// Nothing is read yet.
    pub(crate) fn of(path: &'static str) -> Twice {
        Twice {
            path,
            before: Err("never read".into()),
            after: Err("never read".into()),
        }
    }

    /// Reads it for the first time.
    pub(crate) fn start(&mut self) {
        self.before = system::read(Path::new(self.path));
    }

    /// Reads it for the second time.
    pub(crate) fn stop(&mut self) {
        self.after = system::read(Path::new(self.path));
    }

    /// Both readings, parsed; the first reason if one of them is lacking.
    pub(crate) fn parsed<T>(
        &self,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<(T, T), String> {
        let one = |text: &Result<String, String>| parse(text.as_deref().map_err(Clone::clone)?);
        Ok((one(&self.before)?, one(&self.after)?))
    }
}
