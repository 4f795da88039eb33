//! Descriptions of the keys of an experiment file.
//!
//! The parser, the messages and the published schema are all derived from these
//! descriptions, so that they cannot contradict each other.

use super::quantity;

pub(crate) use KeyType::{
    Changes, Flag, Free, Instrument, List, Map, OneOrMore, Pairs, Part, Quantity, Share, Table,
    Target, Text, Value, Whole, Word, WordOrList, Workload,
};

/// The type of a value, and how it is converted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyType {
    /// Non-empty text on one line.
    Text,
    /// The name of a target.
    Target,
    /// The name of an instrument.
    Instrument,
    /// Any text; may be empty or have several lines.
    Free,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number within these limits.
    Whole(i64, i64),
    /// A quantity with a unit, of at least this many of the smallest unit.
    Quantity(&'static quantity::Quantity, u64),
    /// A percentage as [`super::quantity::share`] parses it.
    Share,
    /// True or false.
    Flag,
    /// Text, or an integer that is converted to text.
    Value,
    /// A list.
    List(&'static KeyType),
    /// One of these words, or a list.
    WordOrList(&'static [&'static str], &'static KeyType),
    /// A list, or a single element without brackets.
    OneOrMore(&'static KeyType),
    /// A table with arbitrary keys.
    Map(&'static KeyType),
    /// A table that maps arbitrary keys to text; becomes a list of pairs.
    Pairs,
    /// A table with these keys.
    Table(&'static KeySection),
    /// Like `Table`, but without defaults for absent keys, because tables of several levels are
    /// merged.
    Part(&'static KeySection),
    /// A step of set-up or tear-down.
    Action,
    /// A placement policy.
    Policy,
    /// A workload, whose `kind` determines its keys.
    Workload,
    /// A table that maps workload names to the parameters that a level changes.
    Changes,
}

/// A duration of at least this many nanoseconds.
pub(crate) const fn duration(least_ns: u64) -> KeyType {
    Quantity(&quantity::DURATION, least_ns)
}

pub(crate) const SIZE: KeyType = Quantity(&quantity::SIZE, 0);
pub(crate) const POWER: KeyType = Quantity(&quantity::POWER, 0);
pub(crate) const ENERGY: KeyType = Quantity(&quantity::ENERGY, 0);
pub(crate) const FREQUENCY: KeyType = Quantity(&quantity::FREQUENCY, 0);

/// A table with fixed keys.
#[derive(Debug)]
pub(crate) struct KeySection {
    /// The name of the described item, for titles and messages.
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [SectionKey],
}

impl KeySection {
    pub(crate) fn key(&self, name: &str) -> Option<&'static SectionKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }
}

#[derive(Debug)]
pub(crate) struct SectionKey {
    /// The key as written in the file.
    pub(crate) name: &'static str,
    /// The name of the field, if it is not formed from key and unit.
    named: Option<&'static str>,
    /// The type of its value.
    pub(crate) kind: KeyType,
    /// The rule for an absent key.
    absent: KeyDefault,
    /// A one-line description.
    pub(crate) meaning: &'static str,
}

impl SectionKey {
    /// The default value as it would be written in the file, if there is one.
    pub(crate) fn default(&self) -> Option<String> {
        match self.absent {
            KeyDefault::Is(text) if self.kind.is_quoted() => Some(format!("\"{text}\"")),
            KeyDefault::Is(text) => Some(text.to_owned()),
            KeyDefault::Required | KeyDefault::Open => None,
        }
    }

    pub(crate) fn is_required(&self) -> bool {
        matches!(self.absent, KeyDefault::Required)
    }

    /// The name of the field: `interval_ns` for `interval`.
    pub(crate) fn field(&self) -> String {
        let unit = match &self.kind {
            Quantity(kind, _) | OneOrMore(Quantity(kind, _)) => kind.suffix,
            _ => "",
        };
        self.named
            .map_or_else(|| format!("{}{unit}", self.name), str::to_owned)
    }
}

/// The rule for an absent key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyDefault {
    /// An error: the key is required.
    Required,
    /// The default value, as it would be written in the file without quotes.
    Is(&'static str),
    /// No default, or one that the description explains.
    Open,
}

impl KeyType {
    /// A value of a key that must be given.
    pub(crate) const fn required(self) -> (KeyType, KeyDefault) {
        (self, KeyDefault::Required)
    }

    /// A value without a default, or with one that the description explains.
    pub(crate) const fn optional(self) -> (KeyType, KeyDefault) {
        (self, KeyDefault::Open)
    }

    /// A value with this default, as it would be written in the file without quotes.
    pub(crate) const fn or(self, default: &'static str) -> (KeyType, KeyDefault) {
        (self, KeyDefault::Is(default))
    }

    /// Whether a single value is text in quotes.
    fn is_quoted(&self) -> bool {
        matches!(
            self,
            Text | Target | Free | Word(_) | WordOrList(..) | Quantity(..) | Share
        )
    }
}

/// A key whose field is named after the key and its unit.
pub(crate) const fn key(
    name: &'static str,
    (kind, absent): (KeyType, KeyDefault),
    meaning: &'static str,
) -> SectionKey {
    SectionKey {
        name,
        named: None,
        kind,
        absent,
        meaning,
    }
}

/// The same key, with another name of the field.
pub(crate) const fn named(field: &'static str, mut key: SectionKey) -> SectionKey {
    key.named = Some(field);
    key
}
