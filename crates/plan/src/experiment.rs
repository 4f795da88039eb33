//! An experiment file, read and found to be in order.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::check::{self, Spans};
use crate::error::{Error, Source};
use crate::plan::Plan;
use crate::{build, mistakes, raw};

/// An experiment file that can be planned.
#[derive(Debug, Clone)]
pub struct Experiment {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) file: raw::File,
    pub(crate) spans: Spans,
}

/// What the command line says instead of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// Runs of each cell; with `until` the most of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// The seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Factor to the levels that are kept; factors not named keep all. The
    /// first that is kept in the order of the file is the baseline.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub levels: IndexMap<String, Vec<String>>,
    /// Number of CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// The kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// What is run, as the revision control calls it. It changes no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Reads an experiment file. `name` is what messages call it.
///
/// # Errors
/// The first mistake found, with its line.
pub fn parse(text: &str, name: &str) -> Result<Experiment, Error> {
    let source = Source { name, text };
    let (value, spans) = check::read(source)?;
    let file = serde_json::from_value(value)
        .map_err(|why| source.error(&(0..0), "", format!("cannot be read: {why}")))?;
    let experiment = Experiment {
        name: name.to_owned(),
        text: text.to_owned(),
        file,
        spans,
    };
    mistakes::find(&experiment)?;
    // What only shows when levels meet.
    experiment.plan(&Overrides::default())?;
    Ok(experiment)
}

impl Experiment {
    /// Its title.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The question it asks; may be empty.
    pub fn question(&self) -> &str {
        &self.file.question
    }

    /// The configurations and the schedule. The same experiment and overrides
    /// give the same plan.
    ///
    /// # Errors
    /// An override that names what is not there, or leaves something that
    /// cannot be run.
    pub fn plan(&self, overrides: &Overrides) -> Result<Plan, Error> {
        build::plan(self, overrides)
    }

    /// An error at a key; at the nearest table around it if the key is not
    /// in the file.
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
        let source = Source {
            name: &self.name,
            text: &self.text,
        };
        source.error(&span, path, why)
    }

    /// Where a key is, as messages say it: `FILE:LINE: KEY`.
    pub(crate) fn place(&self, path: &str) -> String {
        let here = self.error(path, "");
        let line = here.line.map_or(String::new(), |line| format!(":{line}"));
        format!("{}{line}: {}", here.place, here.key)
    }

    /// Whether the file says so itself.
    pub(crate) fn gives(&self, path: &str) -> bool {
        self.spans.contains_key(path)
    }
}
