//! The directory of a hunt: its journal, from which it can be resumed, and what it has found.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::subject::{HuntSubject, SCHEMA};
use super::tally::JournalRun;
use crate::failure::Failure;

const JOURNAL: &str = "journal.jsonl";

/// Runs by the number of their schedule.
pub(super) type RunsByNumber = BTreeMap<u32, Vec<JournalRun>>;

/// The journal of a hunt: a line that says what is hunted, then one for each run.
#[derive(Debug)]
pub(super) struct Journal {
    directory: PathBuf,
    file: File,
}

impl Journal {
    /// Refuses a directory that is not empty.
    pub(super) fn may_create(directory: &Path) -> Result<(), Failure> {
        let mut there = match fs::read_dir(directory) {
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(failed(directory, source)),
            Ok(there) => there,
        };
        match there.next() {
            None => Ok(()),
            Some(_) => Err(Failure::Argument(format!(
                "{0}: the directory is not empty; name a new one, or continue a hunt: assize hunt \
                 --resume {0}",
                directory.display()
            ))),
        }
    }

    /// Whether a directory has a journal.
    pub(super) fn is_there(directory: &Path) -> bool {
        directory.join(JOURNAL).is_file()
    }

    /// Begins a hunt in a directory that does not exist or is empty.
    pub(super) fn create(directory: &Path, subject: &HuntSubject) -> Result<Journal, Failure> {
        Journal::may_create(directory)?;
        fs::create_dir_all(directory).map_err(|source| failed(directory, source))?;
        let mut journal = Journal::open(directory)?;
        journal.line(subject)?;
        Ok(journal)
    }

    /// Continues a hunt. A line that was being written when it was stopped is cut off, and so are
    /// the runs of a schedule that not every side has had.
    pub(super) fn resume(
        directory: &Path,
    ) -> Result<(Journal, HuntSubject, Vec<JournalRun>), Failure> {
        let path = directory.join(JOURNAL);
        let text = fs::read_to_string(&path).map_err(|source| Failure::Read {
            path: path.clone(),
            source,
        })?;
        let damaged = |line: usize, why: String| {
            Failure::Argument(format!("{}:{}: {why}", path.display(), line + 1))
        };
        let (mut subject, mut runs, mut whole) = (None, Vec::new(), 0);
        let lines = text.split_inclusive('\n').enumerate();
        for (number, line) in lines.filter(|(_, line)| line.ends_with('\n')) {
            let wrong = |error: serde_json::Error| damaged(number, error.to_string());
            match &subject {
                None => subject = Some(serde_json::from_str::<HuntSubject>(line).map_err(wrong)?),
                Some(_) => runs.push(serde_json::from_str::<JournalRun>(line).map_err(wrong)?),
            }
            whole += line.len();
        }
        let subject = subject.filter(|subject| subject.schema == SCHEMA);
        let subject = subject.ok_or_else(|| damaged(0, "is not the journal of a hunt".into()))?;
        let journal = Journal::open(directory)?;
        let cut = journal.file.set_len(whole as u64);
        cut.map_err(|source| failed(&path, source))?;
        Ok((journal, subject, runs))
    }

    fn open(directory: &Path) -> Result<Journal, Failure> {
        let path = directory.join(JOURNAL);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Journal {
            directory: directory.to_path_buf(),
            file: file.map_err(|source| failed(&path, source))?,
        })
    }

    /// Adds the runs of a schedule.
    pub(super) fn add(&mut self, runs: &[JournalRun]) -> Result<(), Failure> {
        runs.iter().try_for_each(|run| self.line(run))
    }

    fn line(&mut self, line: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(line).map_err(|error| Failure::Show(error.to_string()))?;
        let path = self.directory.join(JOURNAL);
        let written = self.file.write_all((text + "\n").as_bytes());
        written.map_err(|source| failed(&path, source))
    }

    /// The directory.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the bundle of failures is; one that is there is removed.
    pub(super) fn bundle(&self) -> Result<PathBuf, Failure> {
        let path = self.directory.join("failures.bundle");
        match fs::remove_dir_all(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(failed(&path, source)),
            _ => Ok(path),
        }
    }
}

fn failed(path: &Path, source: io::Error) -> Failure {
    Failure::Write {
        what: path.display().to_string(),
        source,
    }
}

/// The runs of schedules that each of `cells` sides has had, up to the first that is missing.
pub(super) fn complete(runs: Vec<JournalRun>, cells: usize) -> Vec<Vec<JournalRun>> {
    let mut by_number = RunsByNumber::new();
    for run in runs {
        let all = by_number.entry(run.number).or_default();
        // A schedule that was begun twice gives the same twice.
        if all.iter().all(|one| one.cell != run.cell) {
            all.push(run);
        }
    }
    let all = (1..).zip(by_number);
    all.take_while(|(at, (number, runs))| at == number && runs.len() == cells)
        .map(|(_, (_, runs))| runs)
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use assize_job::Interleaving;

    use super::*;
    use crate::hunting::oracle::RunVerdict;

    fn run(number: u32, cell: u32) -> JournalRun {
        let turns = Interleaving::default();
        JournalRun::new(number, "turns".into(), cell, &RunVerdict::Passed, &turns)
    }

    fn subject() -> HuntSubject {
        HuntSubject {
            schema: SCHEMA.into(),
            name: "x.toml".into(),
            experiment: "title = 'x'".into(),
            kernel: None,
            cpus: Some(2),
            levels: Vec::new(),
            until: Vec::new(),
            until_log: Vec::new(),
            strategies: Vec::new(),
            timeout_ms: None,
            command: "assize hunt x.toml".into(),
        }
    }

    #[test]
    fn a_journal_that_was_cut_off_anywhere_goes_on_behind_its_last_whole_line() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("x.hunt");
        let mut journal = Journal::create(&directory, &subject()).unwrap();
        journal.add(&[run(1, 0), run(1, 1)]).unwrap();
        journal.add(&[run(2, 0), run(2, 1)]).unwrap();
        let path = directory.join(JOURNAL);
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for length in first..=whole.len() {
            fs::write(&path, whole.get(..length).unwrap()).unwrap();
            let (mut journal, again, runs) = Journal::resume(&directory).unwrap();
            assert_eq!(again, subject());
            let there = complete(runs, 2).len() as u32;
            for number in there + 1..=2 {
                journal.add(&[run(number, 0), run(number, 1)]).unwrap();
            }
            let (_, _, runs) = Journal::resume(&directory).unwrap();
            assert_eq!(complete(runs, 2).len(), 2, "cut off at {length}");
        }
    }

    #[test]
    fn what_is_no_journal_is_refused_with_its_line() {
        let place = tempfile::tempdir().unwrap();
        for (text, why) in [
            ("", "is not the journal of a hunt"),
            ("{}\n", ":1: missing field"),
            ("x\n", ":1: expected value"),
        ] {
            fs::write(place.path().join(JOURNAL), text).unwrap();
            let said = Journal::resume(place.path()).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
        let said = Journal::create(place.path(), &subject()).unwrap_err();
        assert!(said.to_string().contains("--resume"), "{said}");
    }

    #[test]
    fn a_full_disk_is_told_with_the_file() {
        let mut journal = Journal {
            directory: "x.hunt".into(),
            file: File::options().write(true).open("/dev/full").unwrap(),
        };
        let failure = journal.add(&[run(1, 0)]).unwrap_err();
        let said = failure.to_string();
        assert!(
            said.contains("x.hunt/journal.jsonl: No space left"),
            "{said}"
        );
        assert_eq!(failure.code(), 3);
    }
}
