//! Settings under one key, merged from the top of the file and the levels of a
//! configuration.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::document::TomlDocument;
use super::error::Error;

/// Settings, such as the parameters of a workload, by field name.
pub(crate) type Parameters = Map<String, Value>;

/// The settings under a key that may be given at the top of the file and in
/// levels. Later ones override earlier ones, field by field.
pub(crate) struct SettingLayers<'a> {
    document: &'a TomlDocument,
    /// The paths at which the key may be given, the top of the file first.
    places: Vec<String>,
    settings: Parameters,
}

impl<'a> SettingLayers<'a> {
    /// `layers`: the paths at which the key may be given, and the settings there.
    pub(crate) fn new<'s>(
        document: &'a TomlDocument,
        layers: impl Iterator<Item = (String, &'s Parameters)>,
    ) -> Self {
        let mut settings = Parameters::new();
        let mut places = Vec::new();
        for (place, given) in layers {
            merge(&mut settings, given);
            places.push(place);
        }
        SettingLayers {
            document,
            places,
            settings,
        }
    }

    /// Whether the key is given anywhere.
    pub(crate) fn is_given(&self) -> bool {
        let mut places = self.places.iter();
        places.any(|place| self.document.gives(place))
    }

    /// Whether a setting is given anywhere.
    pub(crate) fn gives(&self, key: &str) -> bool {
        let mut paths = self.places.iter().map(|place| format!("{place}.{key}"));
        paths.any(|path| self.document.gives(&path))
    }

    /// Deserialises the merged settings.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_value(Value::Object(self.settings.clone()))
            .map_err(|why| self.error("", format!("cannot be read: {why}")))
    }

    /// An error at the last place where the key is given; if there is none, at the last place of
    /// the table.
    pub(crate) fn error(&self, key: &str, why: impl Into<String>) -> Error {
        let last = |key: &str| {
            let paths = self.places.iter().map(|place| match key {
                "" => place.clone(),
                key => format!("{place}.{key}"),
            });
            paths.rev().find(|path| self.document.gives(path))
        };
        let whole = key.split(['.', '[']).next().unwrap_or_default();
        let path = last(key).or_else(|| last(whole)).or_else(|| last(""));
        let path = path.unwrap_or_else(|| self.places[0].clone());
        self.document.error(&path, why)
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

/// Merges `changes` into `into`: tables are merged recursively, `environment`
/// pairs by name; other values are replaced.
pub(crate) fn merge(into: &mut Parameters, changes: &Parameters) {
    for (field, change) in changes {
        match (into.get_mut(field), change) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new)) if field == "environment" => {
                for pair in new {
                    match old.iter_mut().find(|old| old.get(0) == pair.get(0)) {
                        Some(same) => same.clone_from(pair),
                        None => old.push(pair.clone()),
                    }
                }
            }
            _ => {
                into.insert(field.clone(), change.clone());
            }
        }
    }
}
