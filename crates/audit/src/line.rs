use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use assize_bundle::Place;

use crate::grammar::echoed::Heading;

/// One line of a posted text, decoded and unquoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// The text without quote marks and trailing white space, with HTML
    /// entities decoded. Leading white space and tabs are kept.
    pub text: Cow<'a, str>,
    /// How many quote marks stood before it.
    pub depth: u8,
    /// Where it stands in the source.
    pub place: Place,
    /// The heading that its text may be.
    pub(crate) heading: Known<Heading>,
}

impl<'a> Line<'a> {
    /// A line of which nothing is known yet.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, depth: u8, place: Place) -> Self {
        Line {
            text: text.into(),
            depth,
            place,
            heading: Known::default(),
        }
    }

    /// A line of depth 0 in message 1, as tests want it.
    pub fn plain(number: u32, text: &'a str) -> Self {
        let (message, line) = (1, number);
        Line::new(text, 0, Place { message, line })
    }
}

/// What follows from a line's text, found when it is first asked for and kept: a block may
/// begin at most lines, and reach over many that others have looked at before.
///
/// It depends on the text alone, so two lines are equal whether it is known of them or not.
/// Whoever changes the text does so before anything is asked.
#[derive(Clone)]
pub(crate) struct Known<T>(OnceCell<Option<Box<T>>>);

impl<T> Known<T> {
    /// What is known, or else found now.
    pub(crate) fn get(&self, find: impl FnOnce() -> Option<T>) -> Option<&T> {
        self.0.get_or_init(|| find().map(Box::new)).as_deref()
    }
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Known(OnceCell::new())
    }
}

impl<T> fmt::Debug for Known<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl<T> PartialEq for Known<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Known<T> {}
