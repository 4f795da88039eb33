//! A file of the kernel that is read at the start and at the end of a run.

use std::path::Path;

use crate::files;

/// Both contents of the file, or why they are not known.
pub(crate) struct BeforeAndAfter {
    path: &'static str,
    before: Result<String, String>,
    after: Result<String, String>,
}

impl BeforeAndAfter {
    /// A file that has not been read yet.
    pub(crate) fn unread(path: &'static str) -> BeforeAndAfter {
        BeforeAndAfter {
            path,
            before: Err("never read".into()),
            after: Err("never read".into()),
        }
    }

    /// Reads the file at the start.
    pub(crate) fn start(&mut self) {
        self.before = files::read(Path::new(self.path));
    }

    /// Reads the file at the end.
    pub(crate) fn stop(&mut self) {
        self.after = files::read(Path::new(self.path));
    }

    /// Both readings, parsed; the first error if one fails.
    pub(crate) fn parsed<T>(
        &self,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<(T, T), String> {
        let one = |text: &Result<String, String>| parse(text.as_deref().map_err(Clone::clone)?);
        Ok((one(&self.before)?, one(&self.after)?))
    }
}
