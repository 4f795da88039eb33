//! Settings under one key, merged from the top of the file and the levels of a
//! configuration.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::experiment::Experiment;
use crate::levels::combine::{Levels, level_path, merge};
use crate::raw::{Parameters, RawLevel};
use crate::values::error::Error;
use crate::values::read::join;

/// The settings under a key that may be given at the top of the file and in
/// levels. Later ones override earlier ones, field by field.
pub(crate) struct SettingLayers<'a> {
    experiment: &'a Experiment,
    /// The paths at which the key may be given, the top of the file first.
    places: Vec<String>,
    settings: Parameters,
}

impl<'a> SettingLayers<'a> {
    /// `of_level` returns a level's settings under the key.
    pub(crate) fn new(
        experiment: &'a Experiment,
        levels: &Levels<'_>,
        key: &str,
        top: &Parameters,
        of_level: impl Fn(&RawLevel) -> &Parameters,
    ) -> Self {
        let mut settings = top.clone();
        let mut places = vec![key.to_owned()];
        for (factor, name, level) in levels {
            merge(&mut settings, of_level(level));
            places.push(join(&level_path(factor, name), key));
        }
        SettingLayers {
            experiment,
            places,
            settings,
        }
    }

    /// Whether the key is given anywhere.
    pub(crate) fn is_given(&self) -> bool {
        let mut places = self.places.iter();
        places.any(|place| self.experiment.gives(place))
    }

    /// Deserialises the merged settings.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_value(Value::Object(self.settings.clone()))
            .map_err(|why| self.error("", format!("cannot be read: {why}")))
    }

    /// An error at the last place where the key is given; if nowhere, at the
    /// last place of the table.
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

    /// Returns a value that must be present in element `at` of `list`, or an
    /// error.
    pub(crate) fn required<T>(
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
