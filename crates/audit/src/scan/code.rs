//! What inside a message is code: no format looks at it.

use std::borrow::Cow;

use crate::{Explained, Line, diff, kconfig};

/// The lines that are code, each with what kind it is and its text.
pub(super) struct Code<'a>(Vec<(usize, &'static str, Cow<'a, str>)>);

impl<'a> Code<'a> {
    /// Takes the text of all such lines, which stay where they are.
    pub(super) fn take_from(lines: &mut [Line<'a>]) -> Self {
        let of = |what| move |(at, text)| (at, what, text);
        let patches = diff::blank(lines).into_iter().map(of("diff"));
        let mut code: Vec<_> = patches.collect();
        let options = kconfig::blank(lines).into_iter();
        code.extend(options.map(of("kernel configuration")));
        Code(code)
    }

    /// Where they are, and what.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &'static str)> {
        self.0.iter().map(|(at, what, _)| (*at, *what))
    }

    /// Gives the lines that are explained their text back.
    pub(super) fn explain(self, explained: &mut [Explained]) {
        for (at, _, text) in self.0 {
            if let Some(line) = explained.get_mut(at) {
                line.text = text.into_owned();
            }
        }
    }
}
