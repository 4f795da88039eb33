//! How the keys of an experiment file are described.
//!
//! The reader, the messages and the published schema all come from these
//! descriptions, so that they cannot contradict each other.

/// What a value may be, and what becomes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Type {
    /// Any text on one line that is not empty.
    Text,
    /// The name of a target.
    Target,
    /// The name of an instrument.
    Instrument,
    /// Any text at all.
    Free,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number within these limits.
    Whole(i64, i64),
    /// Text as in [`crate::quantity::duration_ns`], at least so many
    /// nanoseconds.
    Duration(u64),
    /// Text as in [`crate::quantity::size_mib`].
    Size,
    /// Text as in [`crate::quantity::share`].
    Share,
    /// Text as in [`crate::quantity::power_uw`].
    Power,
    /// Text as in [`crate::quantity::energy_nj`].
    Energy,
    /// Text as in [`crate::quantity::frequency_khz`].
    Frequency,
    /// True or false.
    Flag,
    /// Text or a whole number, which becomes text.
    Value,
    /// A list.
    List(&'static Type),
    /// One of these words, or a list.
    WordOrList(&'static [&'static str], &'static Type),
    /// A list, or one element of it.
    OneOrMore(&'static Type),
    /// A table with free keys.
    Map(&'static Type),
    /// A table with free keys and text, which becomes a list of pairs.
    Pairs,
    /// A table with these keys.
    Table(&'static Section),
    /// The same, of which only those keys count that are given: others are
    /// put over it.
    Part(&'static Section),
    /// A step of set-up or tear-down.
    Action,
    /// A placement policy.
    Policy,
    /// A workload: `kind` decides which keys there are.
    Workload,
    /// Workloads to the parameters that differ.
    Changes,
}

/// A table with fixed keys.
#[derive(Debug)]
pub(crate) struct Section {
    /// What it describes, for titles and messages.
    pub(crate) name: &'static str,
    /// Its keys.
    pub(crate) keys: &'static [Key],
}

impl Section {
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    /// As it is written.
    pub(crate) name: &'static str,
    /// As it is called where it goes: `interval_ns`.
    pub(crate) field: &'static str,
    /// What it holds.
    pub(crate) kind: Type,
    /// What holds if it is not given.
    pub(crate) absent: Absent,
    /// What it means, in one line.
    pub(crate) meaning: &'static str,
}

/// What holds if a key is not given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Absent {
    /// It must be given.
    Required,
    /// This, as it would be written.
    Is(&'static str),
    /// Nothing, or what the meaning says.
    Open,
}

/// A key that is called the same everywhere.
pub(crate) const fn key(
    name: &'static str,
    kind: Type,
    absent: Absent,
    meaning: &'static str,
) -> Key {
    named(name, name, kind, absent, meaning)
}

/// A key that is called something else where it goes.
pub(crate) const fn named(
    name: &'static str,
    field: &'static str,
    kind: Type,
    absent: Absent,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        field,
        kind,
        absent,
        meaning,
    }
}
