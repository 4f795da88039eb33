//! A parsed and validated experiment file.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::values::error::{Error, SourceText};
use crate::values::read::{self, Spans};
use crate::{build, check, raw};

/// A valid experiment file, which can be planned.
#[derive(Debug, Clone)]
pub struct Experiment {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) file: raw::RawExperiment,
    pub(crate) spans: Spans,
}

/// Command-line settings that override the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// Runs of each cell; with `until`, the maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// The seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Maps factors to the levels to keep; other factors keep all their levels.
    /// The baseline is the first level kept, in the order of the file.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub levels: IndexMap<String, Vec<String>>,
    /// Number of CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// The kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The revision under test, by its version-control name. For information
    /// only: it changes no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Parses an experiment file. `name` is the file's name in messages.
pub fn parse(text: &str, name: &str) -> Result<Experiment, Error> {
    let source = SourceText { name, text };
    let (value, spans) = read::read(source)?;
    let file = serde_json::from_value(value)
        .map_err(|why| source.error(&(0..0), "", format!("cannot be read: {why}")))?;
    let experiment = Experiment {
        name: name.to_owned(),
        text: text.to_owned(),
        file,
        spans,
    };
    check::find(&experiment)?;
    // Finds mistakes that only show when levels are combined.
    experiment.plan(&Overrides::default())?;
    Ok(experiment)
}

impl Experiment {
    /// The experiment's title.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The question that the experiment asks; may be empty.
    pub fn question(&self) -> &str {
        &self.file.question
    }

    /// Plans the configurations and the schedule. The same experiment and
    /// overrides always give the same plan.
    ///
    /// # Errors
    /// An override that names something that does not exist, or that leaves
    /// nothing that can be run.
    pub fn plan(&self, overrides: &Overrides) -> Result<Plan, Error> {
        build::plan(self, overrides)
    }

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

    /// The place of a key as messages print it: `FILE:LINE: KEY`.
    pub(crate) fn place(&self, path: &str) -> String {
        let here = self.error(path, "");
        let line = here.line.map_or(String::new(), |line| format!(":{line}"));
        format!("{}{line}: {}", here.place, here.key)
    }

    /// Whether the file itself has this key.
    pub(crate) fn gives(&self, path: &str) -> bool {
        self.spans.contains_key(path)
    }
}
