//! The sentence on configurations that cannot differ from the baseline.

use crate::document::{Document, Sentence};
use crate::words::and_list;

pub(super) fn find(document: &Document) -> Option<Sentence> {
    let same = document.same.iter();
    Some(Sentence {
        text: document.same_sentence()?,
        rows: same.map(|one| one.configuration.clone()).collect(),
    })
}

impl Document {
    /// Names the configurations with the same files and settings as the baseline.
    #[must_use]
    pub fn same_sentence(&self) -> Option<String> {
        let same = self.same.iter();
        let same: Vec<&str> = same.map(|one| one.configuration.as_str()).collect();
        let has = if same.len() == 1 { "has" } else { "have" };
        Some(format!(
            "No difference: {} {has} the same files and settings as {}.",
            and_list(&same),
            self.same.first()?.baseline
        ))
    }
}
