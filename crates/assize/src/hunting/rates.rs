//! The failure rates of builds that get the same schedules, one build after the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::against::Sides;
use super::cells::Hunted;
use super::journal::{self, Journal};

use super::subject::HuntSubject;
use super::tally::{HuntTally, SidePair};
use super::{ScheduleSearch, prepare};
use crate::cli::{HuntArguments, Strategy};
use crate::failure::Failure;
use crate::run::interrupt::Interrupt;

/// So many schedules are executed between two looks at the evidence.
const STEP: u32 = 8;

/// The hunts of builds, each with a journal in one directory.
#[derive(Default)]
pub(crate) struct BuildHunts {
    directory: PathBuf,
    hunts: BTreeMap<String, BuildHunt>,
}

struct BuildHunt {
    hunted: Hunted,
    journal: Journal,
    tally: HuntTally,
}

impl BuildHunts {
    /// Hunts that keep their journals here.
    pub(crate) fn new(directory: &Path) -> BuildHunts {
        BuildHunts {
            directory: directory.to_path_buf(),
            hunts: BTreeMap::new(),
        }
    }

    /// Begins the hunt of the build of this name, or continues the one that is there. Its runs
    /// are those of the experiment `text`.
    pub(crate) fn open(
        &mut self,
        name: &str,
        text: String,
        kernel: Option<String>,
    ) -> Result<(), Failure> {
        if self.hunts.contains_key(name) {
            return Ok(());
        }
        let directory = self.directory.join(format!("{name}.hunt"));
        let command = format!("assize hunt --resume {}", directory.display());
        let sides = Sides { text, kernel };
        let subject = HuntSubject::of_sides(name.into(), sides, &HuntArguments::default(), command);
        let hunted = prepare(&subject)?;
        let (journal, runs) = match Journal::is_there(&directory) {
            false => (Journal::create(&directory, &subject)?, Vec::new()),
            true => {
                let (journal, there, runs) = Journal::resume(&directory)?;
                if there != subject {
                    return Err(Failure::Argument(format!(
                        "{}: it belongs to another hunt; give another directory: --out DIR, or \
                         remove this one",
                        directory.display()
                    )));
                }
                (journal, runs)
            }
        };
        let mut tally = HuntTally::default();
        for runs in journal::complete(runs, hunted.plan.runs.len()) {
            tally.add(&hunted.plan.runs, &runs);
        }
        let hunt = BuildHunt {
            hunted,
            journal,
            tally,
        };
        self.hunts.insert(name.into(), hunt);
        Ok(())
    }

    /// Gives both builds the same schedules, until the evidence is as much as `needed` or there
    /// are no more than `most`. Both must be open.
    pub(crate) fn compare(
        &mut self,
        old: &str,
        new: &str,
        most: u32,
        needed: f64,
    ) -> Result<SidePair, Failure> {
        let interrupt = Interrupt::watch()?;
        let mut to = 0;
        loop {
            to = most.min(to + STEP);
            for name in [old, new] {
                if let Some(hunt) = self.hunts.get_mut(name) {
                    hunt.extend(to, &interrupt)?;
                }
            }
            let tallies = [old, new].map(|name| self.hunts.get(name).map(|one| &one.tally));
            let [Some(before), Some(after)] = tallies else {
                return Err(Failure::Show("a build was not hunted".into()));
            };
            let pair = before.against(after, to);
            if interrupt.came() || to == most || pair.evidence >= needed {
                return Ok(pair);
            }
        }
    }
}

impl BuildHunt {
    fn extend(&mut self, to: u32, interrupt: &Interrupt) -> Result<(), Failure> {
        let search = ScheduleSearch {
            hunted: &self.hunted,
            strategies: Strategy::ALL.to_vec(),
            most: to,
            until: None,
            first: false,
            quiet: true,
            interrupt,
        };
        search.carry_out(&mut self.tally, &mut self.journal)
    }
}
