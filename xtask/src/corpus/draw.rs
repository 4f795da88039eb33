//! The seeded draw of mails to be labelled.

use std::collections::BTreeSet;
use std::path::Path;

use super::archive::{Archive, Commit, Mails};
use super::label::{mixed, part_of};
use super::strata::{self, Stratum};
use crate::Error;

/// What to draw.
#[derive(Debug)]
pub(super) struct Draw {
    /// Decides everything that is left to chance.
    pub(super) seed: u64,
    /// Mails of each list and year that hold figures.
    pub(super) figures: usize,
    /// Mails of each list and year that may compare besides.
    pub(super) may_compare: usize,
    /// Mails of each list and year that may be of several runs besides.
    pub(super) may_repeat: usize,
}

/// A mail that was drawn.
struct Drawn {
    rank: u64,
    list: String,
    year: i64,
    stratum: Stratum,
    archive: String,
    commit: String,
    message_id: String,
}

impl Draw {
    /// Prints what is drawn from the archives below a directory, in the order
    /// in which it should be labelled: any beginning of it is a draw too.
    pub(super) fn print(&self, archives: &Path) -> Result<(), Error> {
        let mut drawn = Vec::new();
        for archive in Archive::all(archives)? {
            self.of_archive(&archive, &mut drawn)?;
        }
        drawn.sort_by_key(|mail| mail.rank);
        // What was sent to several lists is one mail.
        let mut met = BTreeSet::new();
        drawn.retain(|mail| met.insert(mail.message_id.clone()));
        println!("list\tyear\tstratum\tpart\tarchive\tcommit\tmessage-id");
        for mail in drawn {
            let part = part_of(&mail.list, &mail.message_id).word();
            println!(
                "{}\t{}\t{}\t{part}\t{}\t{}\t{}",
                mail.list,
                mail.year,
                mail.stratum.word(),
                mail.archive,
                mail.commit,
                mail.message_id
            );
        }
        Ok(())
    }

    fn of_archive(&self, archive: &Archive, drawn: &mut Vec<Drawn>) -> Result<(), Error> {
        let mut commits = archive.commits()?;
        commits.sort_by_key(|commit| (commit.year, self.rank(&commit.hash)));
        let mut mails = archive.mails()?;
        for year in commits.chunk_by(|a, b| a.year == b.year) {
            self.of_year(archive, year, &mut mails, drawn)?;
        }
        Ok(())
    }

    fn of_year(
        &self,
        archive: &Archive,
        commits: &[Commit],
        mails: &mut Mails,
        drawn: &mut Vec<Drawn>,
    ) -> Result<(), Error> {
        let mut left = [
            (Stratum::Figures, self.figures),
            (Stratum::MayCompare, self.may_compare),
            (Stratum::MayRepeat, self.may_repeat),
        ];
        for commit in commits {
            if left.iter().all(|(_, left)| *left == 0) {
                break;
            }
            let Some(bytes) = mails.get(&commit.hash)? else {
                continue;
            };
            let Some(message) = strata::message(&bytes)? else {
                continue;
            };
            let strata = strata::of(&message.lines());
            let mut open = left.iter_mut();
            let found = open.find(|(stratum, left)| *left > 0 && strata.contains(stratum));
            let Some((stratum, left)) = found else {
                continue;
            };
            *left -= 1;
            drawn.push(Drawn {
                // Another order than that inside a year.
                rank: mixed(self.rank(&commit.hash), b"order"),
                list: archive.list.clone(),
                year: commit.year,
                stratum: *stratum,
                archive: archive.name.clone(),
                commit: commit.hash.clone(),
                message_id: message.message_id.clone().unwrap_or_default(),
            });
        }
        Ok(())
    }

    fn rank(&self, commit: &str) -> u64 {
        mixed(self.seed, commit.as_bytes())
    }
}
