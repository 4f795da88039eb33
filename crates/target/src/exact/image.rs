//! Memory images: snapshots of a machine taken right before its job.
//!
//! A machine boots once. When the agent is ready it stops the machine with one write to a
//! port, and QEMU saves the device state next to the file that is the guest's memory. A run
//! maps that file copy-on-write and resumes from there, so booting costs nothing and the
//! file serves any number of runs at once.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assize_job::AgentMessage;
use rustix::fs::{FlockOperation, flock};
use serde_json::json;

use super::boot::{BootOutput, BootSpec, RunningQemu, capabilities, load, restore, state_uris};
use super::qmp::QmpError;
use super::stall::GuestLimits;
use super::state::take_out_leap;
use super::turns::TurnOptions;
use crate::fault::failed;
use crate::prune::{in_use, make_room, touch};
use crate::scratch::ScratchDirectory;
use crate::{Error, RunFailure, scratch};

/// How many boots are tried before a memory image with a leap (a jump of the guest's clock
/// between stop and resume) is an error.
const ATTEMPTS: u32 = 4;
/// Maximum number of times a leap is removed from one image. On a busy host the probe itself may
/// leap, and the next probe then shows the opposite leap.
const PATCHES: u32 = 8;
/// A clock difference of more than this between stop and resume, in nanoseconds, is a leap.
pub(super) const RESUMED_NS_MAX: u64 = 64;
/// Limit in bytes for stored images; the oldest are removed first.
const IMAGES: u64 = 8 << 30;
/// How long a boot may take. It takes less than 10 s of guest time, and several times as
/// long with a debug kernel.
pub(crate) const BOOT: GuestLimits = GuestLimits {
    guest: Some(BOOT_GUEST),
    look: Duration::from_secs(60),
};
/// The limit in guest time.
pub(super) const BOOT_GUEST: Duration = Duration::from_secs(120);

/// A memory image on disk.
#[derive(Debug)]
pub(crate) struct MemoryImage {
    directory: PathBuf,
    /// BLAKE3 digest of the guest's memory.
    pub(crate) digest: String,
    /// Lock that keeps other processes from removing the image.
    _used: Option<File>,
}

impl MemoryImage {
    /// Returns the image called `key`, booting it if it does not exist yet. One process
    /// boots; others that want the same image wait.
    pub(crate) fn ensure(key: &str, booted: &BootSpec<'_>) -> Result<MemoryImage, Error> {
        let parent = booted.root.join("images");
        let directory = parent.join(key);
        if let Some(image) = MemoryImage::stored(&directory) {
            return Ok(image);
        }
        let failed = |error: io::Error| keep_error(&parent, &error);
        fs::create_dir_all(&parent).map_err(failed)?;
        let lock = File::create(parent.join(format!("{key}.lock"))).map_err(failed)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        if let Some(image) = MemoryImage::stored(&directory) {
            return Ok(image);
        }
        make_room(&parent, IMAGES);
        let made = attempt(booted)?;
        let digest = digest_of(&made.path().join("ram")).map_err(failed)?;
        fs::write(made.path().join("digest"), &digest).map_err(failed)?;
        // Lock it before another process can find it.
        let used = in_use(made.path());
        let made = made.keep();
        if let Err(error) = fs::rename(&made, &directory) {
            // The new image is useless in this case.
            let _ = fs::remove_dir_all(&made);
            return Err(failed(error));
        }
        Ok(MemoryImage {
            directory,
            digest,
            _used: used,
        })
    }

    /// Whether there is an image of this name.
    pub(crate) fn is_stored(root: &Path, key: &str) -> bool {
        root.join("images").join(key).join("digest").exists()
    }

    fn stored(directory: &Path) -> Option<MemoryImage> {
        let used = in_use(directory)?;
        let digest = fs::read_to_string(directory.join("digest")).ok()?;
        touch(directory);
        Some(MemoryImage {
            directory: directory.to_path_buf(),
            digest,
            _used: Some(used),
        })
    }

    /// Resumes a machine from this image, with its job.
    pub(crate) fn run(&self, booted: &BootSpec<'_>, job: &[u8]) -> Result<BootOutput, Error> {
        resume(&self.directory, booted, job)
    }
}

/// Boots, resumes from a private image, and keeps nothing.
pub(crate) fn run_once(booted: &BootSpec<'_>, job: &[u8]) -> Result<BootOutput, Error> {
    let made = attempt(booted)?;
    resume(made.path(), booted, job)
}

/// Creates images in new directories until one has no leap.
fn attempt(booted: &BootSpec<'_>) -> Result<ScratchDirectory, Error> {
    let mut leap = 0;
    for _ in 0..ATTEMPTS {
        let making =
            scratch::directory(booted.root).map_err(|error| keep_error(booted.root, &error))?;
        leap = make(making.path(), booted)?;
        if leap <= RESUMED_NS_MAX {
            return Ok(making);
        }
    }
    Err(Error {
        what: format!("make a memory image with QEMU {}", booted.qemu.version),
        why: format!(
            "in {ATTEMPTS} attempts the clock advanced by {} ns while the machine was stopped",
            leap.cast_signed()
        ),
        mend: Some("try once more, or with another QEMU: assize kernel fetch --qemu".into()),
        wrong_use: false,
    })
}

const FREE_SPACE: &str = "free some space there, or set ASSIZE_CACHE to another directory";

/// The error for a cache file that cannot be written.
pub(crate) fn keep_error(place: &Path, error: &io::Error) -> Error {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let mend = match error.kind() {
        StorageFull | QuotaExceeded => Some(FREE_SPACE),
        PermissionDenied | ReadOnlyFilesystem => {
            Some("set ASSIZE_CACHE to a directory that you may write to")
        }
        _ => None,
    };
    Error {
        what: "keep files".into(),
        why: format!("{}: {error}", place.display()),
        mend: mend.map(String::from),
        wrong_use: false,
    }
}

fn digest_of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Boots and saves an image in `directory`. Returns the leap that remains in it.
fn make(directory: &Path, booted: &BootSpec<'_>) -> Result<u64, Error> {
    let booted = BootSpec {
        limit: Duration::MAX,
        run: Some(booted.boot),
        seed: 0,
        watch: None,
        turns: TurnOptions::default(),
        ..booted.clone()
    };
    let memory = directory.join("ram");
    let mut running = booted.start(&memory, true, b"", &["-action", "panic=pause"])?;
    let [_, to] = state_uris(booted.qemu);
    if let Err(error) = save(&mut running, to) {
        let why = running.give_up(&error.to_string());
        return Err(Error {
            what: format!("boot {} as an exact machine", booted.kernel.display()),
            mend: Some(mend_of(&why).into()),
            why: format!("the agent did not get ready: {why}"),
            wrong_use: false,
        });
    }
    drop(running);
    let path = directory.join("state");
    let failed = |error: io::Error| keep_error(&path, &error);
    let mut resumed = probe(directory, &booted)?;
    for _ in 0..PATCHES {
        if resumed <= RESUMED_NS_MAX {
            break;
        }
        let mut state = fs::read(&path).map_err(failed)?;
        // If the clock went back, the difference is negative and wraps.
        let leap = resumed.wrapping_sub(assize_job::RESUMED_NS).cast_signed();
        if !take_out_leap(&mut state, leap) {
            break;
        }
        fs::write(&path, state).map_err(failed)?;
        resumed = probe(directory, &booted)?;
    }
    Ok(resumed)
}

/// The advice for a machine that did not boot.
fn mend_of(why: &str) -> &'static str {
    const SIGBUS: &str = "signal 7";
    if why.contains("Attempted to kill init") || why.contains("No working init") {
        // The kernel got as far as starting the agent, which is process 1.
        "the agent exited immediately: run `make build`, or unset ASSIZE_AGENT"
    } else if why.contains(SIGBUS) || why.contains("No space left") {
        FREE_SPACE
    } else {
        "the kernel needs a console on ttyS0, an initramfs and devtmpfs, all built in"
    }
}

/// Waits until the guest has stopped itself, and saves the device state.
fn save(running: &mut RunningQemu, uri: &str) -> Result<(), QmpError> {
    running.until_stopped()?;
    let qmp = running.control()?;
    capabilities(qmp)?;
    qmp.execute("migrate", json!({"uri": uri}))?;
    qmp.migrated()
}

/// Resumes the image once and returns by how many nanoseconds the guest's clock jumps
/// between stop and resume.
fn probe(directory: &Path, booted: &BootSpec<'_>) -> Result<u64, Error> {
    let left = resume(directory, booted, b"")?;
    let hello = left.answer.split(|byte| *byte == b'\n').find_map(|line| {
        match serde_json::from_slice::<AgentMessage>(line) {
            Ok(AgentMessage::Hello { resumed_ns, .. }) => resumed_ns,
            _ => None,
        }
    });
    hello.ok_or_else(|| Error {
        what: "resume a memory image".into(),
        why: match left.ended {
            Some(failure) => failure.to_string(),
            None => format!(
                "the agent does not answer; it printed: {}",
                left.console.lines().last().unwrap_or("nothing")
            ),
        },
        mend: None,
        wrong_use: false,
    })
}

impl MemoryImage {
    /// The file with the state of the devices.
    pub(super) fn state(&self) -> PathBuf {
        self.directory.join("state")
    }

    /// Loads the machine of this image, with its job and further arguments, and leaves it stopped.
    /// The device state is that of the image, or another one from a URI.
    pub(super) fn load(
        &self,
        booted: &BootSpec<'_>,
        job: &[u8],
        more: &[&str],
        devices: Option<&str>,
    ) -> Result<RunningQemu, Error> {
        let mut running = incoming(&self.directory, booted, job, more)?;
        let [from, _] = state_uris(booted.qemu);
        match load(&mut running, devices.unwrap_or(from)) {
            Ok(()) => Ok(running),
            Err(error) => Err(failed(
                "resume a memory image",
                running.give_up(&error.to_string()),
            )),
        }
    }
}

/// Starts a machine that waits for its state, with further arguments.
fn incoming(
    directory: &Path,
    booted: &BootSpec<'_>,
    job: &[u8],
    more: &[&str],
) -> Result<RunningQemu, Error> {
    let arguments = [&["-incoming", "defer"], more].concat();
    booted.start(&directory.join("ram"), false, job, &arguments)
}

fn resume(directory: &Path, booted: &BootSpec<'_>, job: &[u8]) -> Result<BootOutput, Error> {
    let mut running = incoming(directory, booted, job, &[])?;
    let mut refused = None;
    let [from, _] = state_uris(booted.qemu);
    match restore(&mut running, from) {
        Ok(()) => {}
        // The machine may have ended too soon to reply.
        Err(QmpError::Gone(_)) => {}
        Err(QmpError::Refused(why) | QmpError::Stalled(why)) => {
            running.stop();
            refused = Some(RunFailure::Ended { how: why });
        }
    }
    let mut left = running
        .finish()
        .map_err(|error| keep_error(directory, &error))?;
    if refused.is_some() {
        left.ended = refused;
    }
    Ok(left)
}
