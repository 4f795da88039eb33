//! Instruments that read a file of the kernel before and after the run.

use std::path::Path;

use assize_job::AgentMessage;

use super::run_instrument::RunInstrument;
use crate::files;
use crate::records::unavailable;

/// An instrument whose metrics are the difference between two readings of a file.
pub(crate) struct FileDifference<T> {
    name: &'static str,
    path: &'static str,
    parse: fn(&str) -> Result<T, String>,
    difference: fn(&T, &T) -> Result<Vec<AgentMessage>, String>,
    /// Configuration option that the kernel needs, for the error if the file is missing.
    needs: Option<&'static str>,
    /// The file's contents before and after the run, or why they are unknown.
    readings: [Result<String, String>; 2],
}

impl<T> RunInstrument for FileDifference<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn open(&mut self) -> Result<(), String> {
        let text = self.read().map_err(|why| match self.needs {
            Some(needs) => format!("{why}; use a kernel with {needs}"),
            None => why,
        })?;
        (self.parse)(&text).map(|_| ())
    }

    fn start(&mut self, _workload: i32) {
        self.readings[0] = self.read();
    }

    fn stop(&mut self) {
        self.readings[1] = self.read();
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let parsed =
            |text: &Result<String, String>| (self.parse)(text.as_deref().map_err(Clone::clone)?);
        let records = parsed(&self.readings[0])
            .and_then(|before| (self.difference)(&before, &parsed(&self.readings[1])?));
        records.unwrap_or_else(|why| vec![unavailable(self.name, None, why)])
    }
}

impl<T> FileDifference<T> {
    pub(super) fn new(
        name: &'static str,
        path: &'static str,
        parse: fn(&str) -> Result<T, String>,
        difference: fn(&T, &T) -> Result<Vec<AgentMessage>, String>,
    ) -> FileDifference<T> {
        FileDifference {
            name,
            path,
            parse,
            difference,
            needs: None,
            readings: [(); 2].map(|()| Err("never read".into())),
        }
    }

    /// Names the configuration option that the kernel needs.
    pub(super) fn needing(self, needs: &'static str) -> FileDifference<T> {
        FileDifference {
            needs: Some(needs),
            ..self
        }
    }

    fn read(&self) -> Result<String, String> {
        files::read(Path::new(self.path))
    }
}
