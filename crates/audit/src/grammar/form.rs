//! Regular expressions of the formats.

use std::sync::OnceLock;

use regex::{Captures, Match, Regex};

/// A regular expression, compiled when first used. If that fails, it matches nothing.
pub(crate) struct Form {
    pattern: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Form {
    pub(crate) const fn new(pattern: &'static str) -> Form {
        let compiled = OnceLock::new();
        Form { pattern, compiled }
    }

    fn get(&self) -> Option<&Regex> {
        let compile = || Regex::new(self.pattern).ok();
        self.compiled.get_or_init(compile).as_ref()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.get().is_some_and(|form| form.is_match(text))
    }

    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.get()?.captures(text)
    }

    /// All matches, one behind the other.
    pub(crate) fn each<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        let form = self.get().into_iter();
        form.flat_map(move |form| form.captures_iter(text))
    }

    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.get()?.find(text)
    }

    pub(crate) fn find_each<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        let form = self.get().into_iter();
        form.flat_map(move |form| form.find_iter(text))
    }
}
