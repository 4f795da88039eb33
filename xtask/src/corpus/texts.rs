//! Where the texts of labelled mails come from, and their grades.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::archive::{Archive, Mails};
use super::label::Label;
use super::reading::Reading;
use super::score::Graded;
use crate::Error;

/// The archives that the user has.
pub(super) struct Archives {
    known: Vec<Archive>,
    open: BTreeMap<String, Mails>,
}

impl Archives {
    /// Those below a directory.
    pub(super) fn below(directory: &Path) -> Result<Archives, Error> {
        Ok(Archives {
            known: Archive::all(directory)?,
            open: BTreeMap::new(),
        })
    }

    /// Whether the archive of a label is there.
    pub(super) fn have(&self, label: &Label) -> bool {
        self.known.iter().any(|one| one.name == label.archive)
    }

    /// The mail of a label.
    pub(super) fn mail(&mut self, label: &Label) -> Result<Vec<u8>, Error> {
        let name = &label.archive;
        if !self.open.contains_key(name) {
            let known = self.known.iter().find(|one| one.name == *name);
            let archive = known.ok_or(format!("{name}: no clone of it is there"))?;
            self.open.insert(name.clone(), archive.mails()?);
        }
        let mails = self.open.get_mut(name).ok_or("no archive is open")?;
        let mail = mails.get(&label.commit)?;
        mail.ok_or(format!(
            "{name}: {}: holds no mail; fetch anew",
            label.commit
        ))
    }
}

/// The text of a twin.
pub(super) fn twin(label: &Label) -> Result<Vec<u8>, Error> {
    let path = label.twin()?;
    fs::read(&path).map_err(|why| {
        format!(
            "{}: {why}; `cargo xtask corpus twin {}`",
            path.display(),
            label.name()
        )
    })
}

/// Grades texts.
pub(super) fn graded(
    labels: Vec<Label>,
    mut text: impl FnMut(&Label) -> Result<Vec<u8>, Error>,
) -> Result<Vec<Graded>, Error> {
    let grade = |label: Label| {
        let reading = Reading::of(&text(&label)?, &label.name())?;
        let grade = reading.grade(&label);
        Ok(Graded { label, grade })
    };
    labels.into_iter().map(grade).collect()
}
