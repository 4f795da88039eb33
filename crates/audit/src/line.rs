use std::borrow::Cow;

use assize_bundle::Place;

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
}

impl<'a> Line<'a> {
    /// A line of depth 0 in message 1, as tests want it.
    pub fn plain(number: u32, text: &'a str) -> Self {
        Line {
            text: Cow::Borrowed(text),
            depth: 0,
            place: Place {
                message: 1,
                line: number,
            },
        }
    }
}
