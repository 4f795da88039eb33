//! Runs one QEMU process: starts it, passes the job, waits, reads the output.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use assize_job::{Delay, Machine};
use serde_json::json;

use super::keep_error;
use super::qmp::{Qmp, QmpError, TURN};
use super::stall::{GuestLimits, MachineProgress, StallDetector};
use super::turns::{DELAYED, TurnOptions};
use crate::own_time::OwnTime;
use crate::process::{ChildProcess, in_words};
use crate::qemu::{Clock, Qemu, QemuProcessFiles, arguments};
use crate::scratch::ScratchDirectory;
use crate::{Error, RunFailure, scratch, stream};

/// Everything needed to boot the machine of one order.
#[derive(Debug, Clone)]
pub(crate) struct BootSpec<'a> {
    /// The directory for files.
    pub(crate) root: &'a Path,
    /// The QEMU to use.
    pub(crate) qemu: &'a Qemu,
    /// The machine to emulate.
    pub(crate) machine: &'a Machine,
    /// The clock the guest runs on.
    pub(crate) clock: Clock,
    /// The kernel image.
    pub(crate) kernel: &'a Path,
    pub(crate) initramfs: &'a Path,
    /// The host CPU to pin QEMU to, if any.
    pub(crate) cpu: Option<usize>,
    /// Limit on the host's clock; only the user can set one.
    pub(crate) limit: Duration,
    /// Limit on QEMU's own time ([`OwnTime`]), for machines whose clock is the host's.
    pub(crate) own: Option<Duration>,
    /// Limits on a boot for a memory image, independent of the host's clock.
    pub(crate) boot: GuestLimits,
    /// Limits on a run, independent of the host's clock.
    pub(crate) run: Option<GuestLimits>,
    /// Seed for the order in which the CPUs run after a resume from a memory image. Booting
    /// does not use it, so that one image serves all seeds.
    pub(crate) seed: u64,
    /// The plugin that watches the machine, if any.
    pub(crate) watch: Option<&'a WatchPlugin>,
    /// How the CPUs take turns after a resume from a memory image.
    pub(crate) turns: TurnOptions<'a>,
}

/// A plugin that watches a machine without affecting it.
#[derive(Debug)]
pub(crate) struct WatchPlugin {
    /// The value of QEMU's `-plugin`.
    pub(crate) plugin: OsString,
    /// Whether the machine should hand over its symbols instead of measuring.
    pub(crate) gives_symbols: bool,
}

/// The output of a machine that has ended.
#[derive(Debug, Clone)]
pub(crate) struct BootOutput {
    /// The agent's answer: the bytes that it sent.
    pub(crate) answer: Vec<u8>,
    /// The output of the kernel and QEMU.
    pub(crate) console: String,
    /// The failure, unless the machine ended normally.
    pub(crate) ended: Option<RunFailure>,
    /// The delays of the CPUs, in order of time, each with the address of the next instruction if
    /// it is known; empty unless delays are logged.
    pub(crate) delayed: Vec<(Delay, Option<u64>)>,
}

/// A running QEMU process and the directory with its files.
#[derive(Debug)]
pub(crate) struct RunningQemu {
    process: ChildProcess,
    directory: ScratchDirectory,
    limit: Duration,
    watched: Option<(StallDetector, GuestLimits)>,
    own: Option<OwnTime>,
    qmp: Option<Qmp>,
}

impl BootSpec<'_> {
    /// Starts QEMU with the file `memory` as the guest's memory. `share` writes changes
    /// back to the file; without it they stay private. `more` are further arguments.
    pub(crate) fn start(
        &self,
        memory: &Path,
        share: bool,
        job: &[u8],
        more: &[&str],
    ) -> Result<RunningQemu, Error> {
        let failed = |error: io::Error| Error {
            what: format!("start {}", self.qemu.binary.display()),
            mend: (error.kind() == io::ErrorKind::StorageFull)
                .then(|| "free some space there, or set ASSIZE_CACHE to another directory".into()),
            why: error.to_string(),
            wrong_use: false,
        };
        let directory = scratch::directory(self.root).map_err(|e| keep_error(self.root, &e))?;
        let at = |name: &str| directory.path().join(name);
        let gives_symbols = self.watch.is_some_and(|watch| watch.gives_symbols);
        fs::write(at("job"), framed(job, gives_symbols)).map_err(failed)?;
        let (answer, console, job) = (at("answer"), at("console"), at("job"));
        let files = QemuProcessFiles {
            kernel: self.kernel,
            initramfs: self.initramfs,
            memory,
            share,
            job: &job,
            answer: &answer,
            console: &console,
            seed: if share { 0 } else { self.seed },
        };
        let mut command = Command::new(&self.qemu.binary);
        command
            .args(arguments(self.qemu, self.machine, self.clock, &files))
            .args(more);
        if let Some(watch) = self.watch {
            command.arg("-plugin").arg(&watch.plugin);
        }
        let turns = self.turns.icount(directory.path()).map_err(failed)?;
        if let Some(turns) = turns.filter(|_| !share) {
            command.arg("-icount").arg(turns);
        }
        let errors = File::create(at("errors")).map_err(failed)?;
        let beside = memory.parent().unwrap_or(Path::new("/"));
        let process =
            ChildProcess::start(command, beside, errors, self.cpu, self.limit).map_err(failed)?;
        let gauge = |patience| (StallDetector::new(process.id(), patience), patience);
        Ok(RunningQemu {
            watched: self.run.map(gauge),
            own: self.own.map(|limit| OwnTime::new(process.id(), limit)),
            process,
            directory,
            limit: self.limit,
            qmp: None,
        })
    }
}

impl RunningQemu {
    /// QEMU's control channel.
    pub(crate) fn control(&mut self) -> Result<&mut Qmp, QmpError> {
        let qmp = match self.qmp.take() {
            Some(qmp) => qmp,
            None => Qmp::connect(self.process.child())?,
        };
        Ok(self.qmp.insert(qmp))
    }

    /// Waits until the guest has stopped itself.
    pub(crate) fn until_stopped(&mut self) -> Result<(), QmpError> {
        loop {
            let event = self.control()?.event()?;
            if event.is_some_and(|event| event["event"] == "STOP") {
                return Ok(());
            }
            if let Some(how) = self.stalls() {
                return Err(QmpError::Stalled(how));
            }
        }
    }

    /// The reason to stop waiting, if there is one.
    fn stalls(&mut self) -> Option<String> {
        let (gauge, patience) = self.watched.as_mut()?;
        let (seen, most) = (gauge.see(), patience.guest);
        if seen == MachineProgress::GetsOn || (seen == MachineProgress::Works && most.is_none()) {
            return None;
        }
        let time = self.control().ok().and_then(Qmp::guest_time);
        let ran = time.map(|time| format!("{} s of the guest's time have passed", time.as_secs()));
        match (seen, ran) {
            (MachineProgress::Asleep, ran) => {
                let all = "all CPUs are idle, and no timer will wake them";
                Some(ran.map_or(all.into(), |ran| format!("{ran}; {all}")))
            }
            (_, Some(ran)) if time >= most => Some(ran),
            // The machine is slow, or too busy to reply.
            _ => None,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The output so far: the agent's answer, and the console.
    pub(crate) fn output(&self) -> io::Result<[Vec<u8>; 2]> {
        Ok([self.read("answer")?, self.read("console")?])
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.process.ends_within(Duration::ZERO)
    }

    /// Continues a stopped machine, for at most `limit` of guest time.
    pub(crate) fn go_on_for(&mut self, limit: Duration, look: Duration) -> Result<(), QmpError> {
        let qmp = self.control()?;
        let guest = qmp.guest_time().map(|now| now + limit);
        match qmp.execute("cont", json!({})) {
            // The machine may have ended too soon to reply.
            Ok(_) | Err(QmpError::Gone(_)) => {}
            Err(error) => return Err(error),
        }
        let limits = GuestLimits { guest, look };
        self.watched = Some((StallDetector::new(self.process.id(), limits), limits));
        Ok(())
    }

    pub(crate) fn stop(&mut self) {
        self.process.kill();
    }

    /// Waits for the process to end and reads its output.
    pub(crate) fn finish(mut self) -> io::Result<BootOutput> {
        let mut stalled = None;
        let pause = self.own.as_ref().map_or(TURN, OwnTime::pause);
        while !self.process.ends_within(pause) {
            stalled = self.stalls().map(|how| RunFailure::Stalled { how });
            if let Some(own) = &mut self.own
                && own.is_up(pause)
            {
                stalled = Some(RunFailure::Timeout {
                    after_s: own.limit().as_secs(),
                });
            }
            if stalled.is_some() {
                self.process.kill();
                break;
            }
        }
        let status = self.process.wait()?;
        let ended = match status {
            _ if stalled.is_some() => stalled,
            None => Some(RunFailure::Timeout {
                after_s: self.limit.as_secs(),
            }),
            Some(status) if as_it_should(status) => None,
            Some(status) => Some(RunFailure::Ended {
                how: format!("QEMU: {}", in_words(status)),
            }),
        };
        Ok(BootOutput {
            answer: self.read("answer")?,
            console: self.printed()?,
            ended,
            delayed: self.delayed()?,
        })
    }

    /// Kills the process and returns why it could not continue, with its output.
    pub(crate) fn give_up(mut self, why: &str) -> String {
        self.process.kill();
        let status = self.process.wait();
        let printed = self.printed().unwrap_or_default();
        let why = match status {
            Ok(None) => format!("not done after {} s", self.limit.as_secs()),
            // Signal 9 is our own kill above.
            Ok(Some(status)) if !matches!(status.signal(), None | Some(9)) => {
                format!("{why}, {}", in_words(status))
            }
            _ => why.to_string(),
        };
        if let Some(failure) = stream::kernel_failure(&printed) {
            return failure.to_string();
        }
        let last: Vec<&str> = printed.lines().rev().take(5).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        if last.is_empty() {
            why
        } else {
            format!("{why}; it printed: {}", last.join(" | "))
        }
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let path: PathBuf = self.directory.path().join(name);
        match fs::read(path) {
            // QEMU may have ended before it created the file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other,
        }
    }

    /// Parses the delays that QEMU logged, without a last line that was cut off when QEMU ended.
    fn delayed(&self) -> io::Result<Vec<(Delay, Option<u64>)>> {
        let text = self.read(DELAYED)?;
        let text = String::from_utf8_lossy(&text);
        let lines = text.split_inclusive('\n');
        let lines = lines.filter_map(|line| line.strip_suffix('\n'));
        let mut delays: Vec<_> = lines.filter_map(Delay::parse).collect();
        delays.sort_by_key(|(delay, _)| (delay.at_ns, delay.cpu));
        Ok(delays)
    }

    fn printed(&self) -> io::Result<String> {
        let mut text = self.read("console")?;
        text.extend(self.read("errors")?);
        Ok(String::from_utf8_lossy(&text).replace('\r', ""))
    }
}

/// Whether QEMU exited normally: the agent ends the machine by writing to a port, and QEMU
/// then exits with twice the value plus one.
fn as_it_should(status: ExitStatus) -> bool {
    status.code() == Some(1)
}

/// Frames the job for the guest: its length in eight hexadecimal digits, the job, and one
/// letter that says whether to measure or to hand over symbols.
fn framed(job: &[u8], gives_symbols: bool) -> Vec<u8> {
    let mut bytes = format!("{:08x}", job.len()).into_bytes();
    bytes.extend(job);
    bytes.push(if gives_symbols { b's' } else { b'm' });
    bytes
}

/// The URIs from which QEMU reads the device state and to which it writes it: the file
/// `state` next to the memory. From 8.2 on QEMU needs no other process for that.
pub(crate) fn state_uris(qemu: &Qemu) -> [&'static str; 2] {
    if qemu.number() >= (8, 2) {
        ["file:state"; 2]
    } else {
        ["exec:cat state", "exec:cat > state"]
    }
}

/// Loads the device state from `uri` and resumes the machine.
pub(crate) fn restore(running: &mut RunningQemu, uri: &str) -> Result<(), QmpError> {
    load(running, uri)?;
    running.control()?.execute("cont", json!({}))?;
    Ok(())
}

/// Loads the device state from `uri`, and leaves the machine stopped.
pub(crate) fn load(running: &mut RunningQemu, uri: &str) -> Result<(), QmpError> {
    let qmp = running.control()?;
    capabilities(qmp)?;
    // After a migration QEMU announces the machine on the network several times, by a timer on the
    // host's clock. Such a timer also bounds how long a guest CPU runs before the next one is
    // scheduled, so with several CPUs their order would depend on the host.
    qmp.execute("migrate-set-parameters", json!({"announce-rounds": 0}))?;
    qmp.execute("migrate-incoming", json!({"uri": uri}))?;
    qmp.migrated()
}

/// Sets the migration capabilities: the memory is a separate file, so only the rest is
/// migrated.
pub(crate) fn capabilities(qmp: &mut Qmp) -> Result<(), QmpError> {
    let on = |name: &str| json!({"capability": name, "state": true});
    qmp.execute(
        "migrate-set-capabilities",
        json!({"capabilities": [on("x-ignore-shared"), on("events")]}),
    )?;
    Ok(())
}
