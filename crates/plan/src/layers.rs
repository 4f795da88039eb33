//! What the file and the levels of a configuration say under one key.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::check::join;
use crate::combine::{Levels, level_path, merge};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::raw::{Level, Parameters};

/// A key of the file and of levels, of which each puts its part over those
/// before it.
pub(crate) struct Layers<'a> {
    experiment: &'a Experiment,
    /// The paths at which it may be given, the top first.
    places: Vec<String>,
    settings: Parameters,
}

impl<'a> Layers<'a> {
    /// `of_level`: what a level says under the key.
    pub(crate) fn new(
        experiment: &'a Experiment,
        levels: &Levels<'_>,
        key: &str,
        top: &Parameters,
        of_level: impl Fn(&Level) -> &Parameters,
    ) -> Self {
        let mut settings = top.clone();
        let mut places = vec![key.to_owned()];
        for (factor, name, level) in levels {
            merge(&mut settings, of_level(level));
            places.push(join(&level_path(factor, name), key));
        }
        Layers {
            experiment,
            places,
            settings,
        }
    }

    /// Whether anybody gives it.
    pub(crate) fn given(&self) -> bool {
        let mut places = self.places.iter();
        places.any(|place| self.experiment.gives(place))
    }

    /// What all layers together say.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_value(Value::Object(self.settings.clone()))
            .map_err(|why| self.error("", format!("cannot be read: {why}")))
    }

    /// An error where the key was given last; if nowhere, where the table was.
    pub(crate) fn error(&self, key: &str, why: impl Into<String>) -> Error {
        let last = |key: &str| {
            let paths = self.places.iter().map(|place| match key {
                "" => place.clone(),
                key => format!("{place}.{key}"),
            });
            paths.rev().find(|path| self.experiment.gives(path))
        };
        let whole = key.split(['.', '[']).next().unwrap_or_default();
        let path = last(key).or_else(|| last(whole)).or_else(|| last(""));
        let path = path.unwrap_or_else(|| self.places[0].clone());
        self.experiment.error(&path, why)
    }

    /// What must be given in a list.
    pub(crate) fn must<T>(
        &self,
        value: Option<T>,
        list: &str,
        at: usize,
        key: &str,
    ) -> Result<T, Error> {
        value.ok_or_else(|| {
            let error = self.error(&format!("{list}[{at}]"), format!("has no {key}"));
            error.mend(format!("add {key}"))
        })
    }
}
