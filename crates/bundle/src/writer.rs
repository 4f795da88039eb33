//! Writes a bundle while its runs are being executed.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::difference::FirstDifference;
use crate::head::{Head, StoredHead};
use crate::layout::{FOLDERS, head_path, raw_path, recorded, run_path, samples_path};
use crate::recorded::{RunRecord, StoredRun};
use crate::whole::{self, IfExists, UNFINISHED};
use crate::{Error, kept, samples};

/// The lock held while a process writes: exclusively by one that runs the
/// schedule, shared by those that do single runs.
const WRITERS: &str = "lock";
/// The lock held exclusively while one run is stored.
const PUTTING: &str = "lock.put";

/// Writes the runs of a schedule into a bundle, each when it is done.
///
/// Every file appears complete or not at all, and a run's `runs/NNNN.json` is
/// written last: a run whose file exists is complete. A killed process loses
/// only the runs it was about to store.
#[derive(Debug)]
pub struct Writer {
    directory: PathBuf,
    planned_runs: u32,
    /// Released when the file is closed.
    lock: File,
}

impl Writer {
    /// Creates a bundle in a directory that is new or empty, and locks it
    /// exclusively.
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Busy`], or [`Error::Io`] naming the file.
    pub fn create(directory: &Path, head: &Head) -> Result<Writer, Error> {
        Writer::may_create(directory)?;
        let lock = locked(directory, FlockOperation::NonBlockingLockExclusive)?;
        Writer::may_create(directory)?;
        remove_unfinished(directory)?;
        if let Err(error) = put_head(directory, head) {
            // Nothing is recorded, so leave the directory as it was. Errors of
            // the removal are less important than the one being returned.
            let _ = remove_unfinished(directory);
            let _ = whole::remove(&directory.join(WRITERS));
            return Err(error);
        }
        Writer::open_with_lock(directory, head, lock)
    }

    /// Checks that a bundle can be created in a directory: one that does not exist, is empty, or
    /// holds only what [`Writer::create`] leaves when it is killed.
    ///
    /// # Errors
    /// [`Error::NotEmpty`], or [`Error::Io`] naming the directory.
    pub fn may_create(directory: &Path) -> Result<(), Error> {
        holds_only(directory, |name| {
            name == WRITERS || name.starts_with(UNFINISHED)
        })
    }

    /// Resumes a bundle, after removing leftovers of interrupted writes, and
    /// locks it exclusively.
    ///
    /// # Errors
    /// [`Error::Differs`] with the first difference if the bundle was created
    /// for another experiment, schedule or target, or on another machine (except
    /// on the exact target); [`Error::Busy`]; [`Error::NoSchedule`];
    /// [`Error::Io`] or [`Error::Malformed`] naming the file.
    pub fn resume(directory: &Path, head: &Head) -> Result<Writer, Error> {
        same_head(directory, head)?;
        let lock = locked(directory, FlockOperation::NonBlockingLockExclusive)?;
        let writer = Writer::open_with_lock(directory, head, lock)?;
        writer.remove_leftovers()?;
        Ok(writer)
    }

    /// Opens a bundle for adding single runs, creating it if it does not exist.
    /// Any number of processes may do so at once; files that others are writing
    /// are left alone.
    ///
    /// # Errors
    /// Those of [`Writer::create`] and [`Writer::resume`].
    pub fn join(directory: &Path, head: &Head) -> Result<Writer, Error> {
        let begun = head_path(directory).exists();
        if !begun {
            holds_only(directory, |name| {
                [WRITERS, PUTTING, "bundle.json"].contains(&name)
                    || FOLDERS.contains(&name)
                    || name.starts_with(UNFINISHED)
            })?;
        }
        let lock = locked(directory, FlockOperation::NonBlockingLockShared)?;
        if !begun {
            match put_head(directory, head) {
                // Another process created it first.
                Err(Error::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
        }
        same_head(directory, head)?;
        Writer::open_with_lock(directory, head, lock)
    }

    fn open_with_lock(directory: &Path, head: &Head, lock: File) -> Result<Writer, Error> {
        for folder in FOLDERS {
            whole::create_folder(&directory.join(folder))?;
        }
        Ok(Writer {
            directory: directory.to_path_buf(),
            planned_runs: head.planned_runs,
            lock,
        })
    }

    /// The indices of the recorded runs, including failed ones.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn recorded(&self) -> Result<BTreeSet<u32>, Error> {
        recorded(&self.directory)
    }

    /// Records a run. Threads and processes may do so at once.
    ///
    /// # Errors
    /// [`Error::AlreadyRecorded`]; [`Error::NotPlanned`]; [`Error::Samples`];
    /// [`Error::Io`] naming the file, for example if the disk is full. Then
    /// nothing of the run is stored.
    pub fn put(&self, recorded: &RunRecord) -> Result<(), Error> {
        let index = recorded.index;
        let path = run_path(&self.directory, index);
        if index >= self.planned_runs {
            return Err(Error::NotPlanned {
                path: self.directory.clone(),
                index,
                planned: self.planned_runs,
            });
        }
        let stored = StoredRun::new(recorded);
        let text = whole::text(&path, &stored)?;
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        if !recorded.samples.is_empty() {
            let path = samples_path(&self.directory, index);
            let bytes = samples::encoded(&path, &recorded.samples)?;
            files.push((path, bytes));
        }
        for (name, (_, text)) in stored.raw.iter().zip(&recorded.raw) {
            files.push((raw_path(&self.directory, name), text.clone().into_bytes()));
        }
        let lock = self.directory.join(PUTTING);
        let _held = opened(&lock, FlockOperation::LockExclusive)?;
        if path.exists() {
            return Err(Error::AlreadyRecorded { path, index });
        }
        let done = files
            .iter()
            .try_for_each(|(path, bytes)| whole::put(path, bytes, IfExists::Replace))
            .and_then(|()| whole::put(&path, &text, IfExists::Refuse));
        if done.is_err() {
            for (path, _) in &files {
                // The earlier error is the one that matters.
                let _ = whole::remove(path);
            }
        }
        done
    }

    /// Appends a line to `log.jsonl`, which holds what differs between
    /// executions: host times, cache hits.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn log(&self, line: &serde_json::Value) -> Result<(), Error> {
        let path = self.directory.join("log.jsonl");
        let text = format!("{line}\n");
        // On a network file system hosts that append at once overwrite each other.
        let _held = opened(&self.directory.join(PUTTING), FlockOperation::LockExclusive)?;
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(Error::io(&path))
    }

    /// Removes what killed processes left in a bundle that this one [joined](Writer::join),
    /// unless another process is still writing.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn clean(&self) -> Result<(), Error> {
        match flock(&self.lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => self.remove_leftovers(),
            Err(Errno::WOULDBLOCK) => Ok(()),
            Err(error) => Err(Error::io(&self.directory)(error.into())),
        }
    }

    /// Removes what a killed process left: unfinished files, files of runs that
    /// are not recorded, half a line of the log.
    fn remove_leftovers(&self) -> Result<(), Error> {
        let there = self.recorded()?;
        remove_unfinished(&self.directory)?;
        remove_unfinished(&self.directory.join(kept::FOLDER))?;
        remove_unfinished(&self.directory.join(kept::MOMENTS))?;
        for folder in FOLDERS {
            let folder_path = self.directory.join(folder);
            remove_unfinished(&folder_path)?;
            if folder == "runs" {
                continue;
            }
            for name in whole::names(&folder_path)? {
                let digits = name.bytes().take_while(u8::is_ascii_digit).count();
                let index = name.get(..digits).and_then(|digits| digits.parse().ok());
                if index.is_some_and(|index: u32| !there.contains(&index)) {
                    whole::remove(&folder_path.join(name))?;
                }
            }
        }
        let log = self.directory.join("log.jsonl");
        if !log.exists() {
            return Ok(());
        }
        let text = fs::read(&log).map_err(Error::io(&log))?;
        let whole = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        OpenOptions::new()
            .write(true)
            .open(&log)
            .and_then(|file| file.set_len(whole as u64))
            .map_err(Error::io(&log))
    }
}

/// Removes unfinished files.
fn remove_unfinished(directory: &Path) -> Result<(), Error> {
    for name in whole::names(directory)? {
        if name.starts_with(UNFINISHED) {
            whole::remove(&directory.join(name))?;
        }
    }
    Ok(())
}

/// Refuses a directory that holds anything else, because it is not ours.
fn holds_only(directory: &Path, ours: impl Fn(&str) -> bool) -> Result<(), Error> {
    if whole::names(directory)?.iter().all(|name| ours(name)) {
        return Ok(());
    }
    Err(Error::NotEmpty(directory.to_path_buf()))
}

fn put_head(directory: &Path, head: &Head) -> Result<(), Error> {
    let stored = StoredHead::new(head.clone());
    whole::put_json(&head_path(directory), &stored, IfExists::Refuse)
}

fn same_head(directory: &Path, head: &Head) -> Result<(), Error> {
    let stored = StoredHead::read(directory)?;
    let difference = match stored.parts.is_empty() {
        true => stored.head.difference(head),
        false => Some(FirstDifference {
            field: "machine".into(),
            first: "several, merged,".into(),
            second: "one".into(),
        }),
    };
    difference.map_or(Ok(()), |difference| {
        Err(Error::Differs {
            path: head_path(directory),
            difference: Box::new(difference),
        })
    })
}

fn locked(directory: &Path, how: FlockOperation) -> Result<File, Error> {
    whole::create_folder(directory)?;
    opened(&directory.join(WRITERS), how)
}

fn opened(path: &Path, how: FlockOperation) -> Result<File, Error> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::io(path))?;
    loop {
        return match flock(&file, how) {
            Ok(()) => Ok(file),
            // A signal interrupted the wait.
            Err(Errno::INTR) => continue,
            Err(Errno::WOULDBLOCK) => Err(Error::Busy(
                path.parent().unwrap_or(Path::new(".")).to_path_buf(),
            )),
            Err(error) => Err(Error::io(path)(error.into())),
        };
    }
}
