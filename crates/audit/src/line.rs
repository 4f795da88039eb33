//! Lines of a text, and their descriptions.

use std::borrow::Cow;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use assize_bundle::Place;
use serde::Serialize;

/// One line of a posted text, decoded and unquoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// The text without quote marks and trailing white space, with HTML
    /// entities decoded. Leading white space and tabs are kept.
    pub text: Cow<'a, str>,
    /// The number of quote marks before it.
    pub depth: u8,
    /// Its place in the source.
    pub place: Place,
}

impl<'a> Line<'a> {
    /// A line of which nothing is known yet.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, depth: u8, place: Place) -> Self {
        Line {
            text: text.into(),
            depth,
            place,
        }
    }

    /// A line of depth 0 in message 1, as tests want it.
    pub fn plain(number: u32, text: &'a str) -> Self {
        let (message, line) = (1, number);
        Line::new(text, 0, Place { message, line })
    }
}

/// A hash of a value, the same within one execution.
pub(crate) fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

/// A line and its description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Its place.
    pub place: Place,
    /// Its quote depth.
    pub depth: u8,
    /// Its description.
    pub taken: String,
    /// Its text, unquoted.
    pub text: String,
}
