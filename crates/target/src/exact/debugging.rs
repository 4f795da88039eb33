//! Runs that a debugger stops.
//!
//! The machine is loaded from its memory image as for any run, but is left stopped, with QEMU's gdb
//! stub at a socket. Stops, steps and reads of a debugger do not change the answer; the caller
//! checks this.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assize_job::Order;

use super::boot::RunningQemu;
use super::checkpoint::joined;
use super::{BootSpec, Exact, exact, facts, keep_error};
use crate::fault::failed;
use crate::gdb_stub::{GdbStub, StubError};
use crate::qemu::Clock;
use crate::vm::{PreparedBoot, job_text};
use crate::{Error, OrderResult, scratch, stream};

/// A run whose machine is controlled through QEMU's gdb stub.
#[derive(Debug)]
pub struct DebuggedRun {
    pub(super) running: RunningQemu,
    /// The file with the device state of its memory image.
    pub(super) state: PathBuf,
    /// The output before the checkpoint that it was started from.
    pub(super) before: [Vec<u8>; 2],
    /// The directory of the socket, whose path must be short.
    place: tempfile::TempDir,
    facts: BTreeMap<String, String>,
    begun: Instant,
}

/// Directories for the files of a debugger, whichever machines it is connected to.
#[derive(Debug)]
pub struct DebuggerFiles {
    place: tempfile::TempDir,
    files: scratch::ScratchDirectory,
}

impl Exact {
    /// The facts in the record of a run that are known before the run.
    ///
    /// # Errors
    /// The order cannot be prepared.
    pub fn facts(&self, order: &Order) -> Result<BTreeMap<String, String>, Error> {
        let ready = self.stock.ready(order)?;
        Ok(facts(&self.qemu, &ready, order, Clock::Instructions))
    }

    /// Makes directories for a debugger.
    ///
    /// # Errors
    /// The directories cannot be written.
    pub fn debugger_files(&self) -> Result<DebuggerFiles, Error> {
        let root = self.stock.root();
        let files = scratch::directory(root).map_err(|error| keep_error(root, &error))?;
        Ok(DebuggerFiles {
            place: place()?,
            files,
        })
    }

    /// Loads the machine of this order and leaves it stopped before its job. The host's clock does
    /// not limit the run.
    ///
    /// # Errors
    /// QEMU is not the one that assize builds, or does not start.
    pub fn debug(&self, order: &Order, slot: usize) -> Result<DebuggedRun, Error> {
        self.debugged(order, slot, None)
    }

    /// Like [`Exact::debug`], with the device state at a URI if `devices` is given.
    pub(super) fn debugged(
        &self,
        order: &Order,
        slot: usize,
        devices: Option<&str>,
    ) -> Result<DebuggedRun, Error> {
        let other = || self.other_qemu("debug a run", "; stopping it would change the run");
        if !self.qemu.parallel {
            return Err(other());
        }
        let ready: Arc<PreparedBoot> = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let place = place()?;
        let socket = socket(place.path());
        let listen = format!("unix:{},server=on,wait=off", socket.display());
        let mut booted = BootSpec {
            limit: Duration::MAX,
            ..self.booted(&ready, order, slot)
        };
        let mut more = vec!["-gdb", &listen];
        if devices.is_some() {
            // The saved random generator of turns includes the seed. QEMU saves devices as those of
            // a running machine, so the machine must be stopped with -S.
            booted.seed = 0;
            more.push("-S");
        }
        let image = self.image(&ready, order, slot)?;
        let begun = Instant::now();
        let run = DebuggedRun {
            running: image.load(&booted, &job, &more, devices)?,
            state: image.state(),
            before: Default::default(),
            place,
            facts: facts(&self.qemu, &ready, order, Clock::Instructions),
            begun,
        };
        let shown = run.stub().and_then(|mut stub| stub.monitor("info icount"));
        match shown {
            Ok(text) if text.starts_with("now ") => Ok(run),
            Ok(_) => Err(other()),
            Err(error) => Err(failed("debug a run", error)),
        }
    }
}

/// A directory with a short path.
fn place() -> Result<tempfile::TempDir, Error> {
    let place = tempfile::Builder::new().prefix("assize-").tempdir();
    place.map_err(|error| keep_error(&std::env::temp_dir(), &error))
}

fn socket(place: &Path) -> PathBuf {
    place.join("gdb")
}

impl DebuggerFiles {
    /// The directory for files that the debugger reads.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.files.path()
    }

    /// The path of a socket to which the debugger connects.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        socket(self.place.path())
    }
}

impl DebuggedRun {
    /// The socket of QEMU's gdb stub, which serves one debugger at a time.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        socket(self.place.path())
    }

    /// A connection to the stub.
    ///
    /// # Errors
    /// The machine has ended.
    pub fn stub(&self) -> Result<GdbStub, StubError> {
        GdbStub::connect(&self.socket())
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.running.has_ended()
    }

    /// Continues the machine without a debugger.
    pub fn let_go(&mut self) {
        // The machine may have ended meanwhile.
        let _ = self.stub().and_then(GdbStub::detach);
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// The output cannot be read.
    pub fn finish(self) -> Result<OrderResult, Error> {
        Ok(self.finish_with_answer()?.0)
    }

    /// Waits for the end of the run and also returns the agent's answer.
    pub(super) fn finish_with_answer(self) -> Result<(OrderResult, Vec<u8>), Error> {
        let place = self.place.path().to_owned();
        let left = self
            .running
            .finish()
            .map_err(|error| keep_error(&place, &error))?;
        let all = joined(&self.before, [left.answer, left.console.into_bytes()]);
        let [answer, console] = all;
        let console = String::from_utf8_lossy(&console).replace('\r', "");
        let result = OrderResult {
            outcome: exact(stream::outcome(&answer, &console, left.ended)),
            machine: self.facts,
            cached: false,
            elapsed: self.begun.elapsed(),
        };
        Ok((result, answer))
    }
}
