//! Whether twins stand for their mails: the same is decided about both.

use std::fmt::Write;

use super::label::Label;
use super::score::Graded;
use super::texts::{self, Archives};
use crate::Error;

/// The share of twins, in per cent, about which the same is decided.
pub(super) const LEAST: f64 = 95.0;

/// Of how many twins the decisions were compared, and which differ.
pub(super) struct Standing {
    /// Labels whose mails are there.
    pub(super) compared: usize,
    /// Twins about which something else is decided, and what.
    pub(super) differing: Vec<String>,
}

impl Standing {
    /// Compares all mails that the archives hold with their twins; gives back
    /// the grades of the mails too.
    pub(super) fn of(archives: &mut Archives) -> Result<(Standing, Vec<Graded>), Error> {
        let labels: Vec<Label> = Label::all()?
            .into_iter()
            .filter(|label| archives.have(label))
            .collect();
        let mails = texts::graded(labels.clone(), |label| archives.mail(label))?;
        let twins = texts::graded(labels, texts::twin)?;
        let differing = mails.iter().zip(&twins).filter_map(|(mail, twin)| {
            let (ours, theirs) = (twin.grade.decision(), mail.grade.decision());
            let name = mail.label.name();
            (ours != theirs).then(|| format!("{name}: twin {ours:?}, mail {theirs:?}"))
        });
        let standing = Standing {
            compared: mails.len(),
            differing: differing.collect(),
        };
        Ok((standing, mails))
    }

    /// The share in per cent about which the same is decided.
    pub(super) fn percent(&self) -> f64 {
        let same = self.compared - self.differing.len();
        100.0 * same as f64 / self.compared.max(1) as f64
    }

    /// The line that the page has.
    pub(super) fn line(&self) -> String {
        let mut text = String::new();
        let same = self.compared - self.differing.len();
        let _ = write!(
            text,
            "The same is decided about {same} of {} mails and their twins: {:.1} %.",
            self.compared,
            self.percent()
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// `ASSIZE_ARCHIVES` names the directory with the clones.
    #[test]
    fn the_same_is_decided_about_twins_as_about_their_mails() {
        let Some(archives) = std::env::var_os("ASSIZE_ARCHIVES") else {
            println!("skipped: ASSIZE_ARCHIVES names no clones of archives");
            return;
        };
        let mut archives = Archives::below(&PathBuf::from(archives)).unwrap();
        let (standing, _) = Standing::of(&mut archives).unwrap();
        let line = standing.line();
        assert!(standing.compared > 0, "no archive of a label is there");
        let differing = standing.differing.join("\n");
        assert!(standing.percent() >= LEAST, "{line}\n{differing}");
    }

    #[test]
    fn a_twin_that_differs_counts_against_the_share() {
        let standing = Standing {
            compared: 4,
            differing: vec!["x".into()],
        };
        assert_eq!(standing.percent(), 75.0);
        assert!(standing.line().contains("3 of 4"));
    }
}
