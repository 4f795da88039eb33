//! The exact machine: QEMU with a clock that counts instructions.
//!
//! An exact run is a function of kernel, initramfs, command line, QEMU's version, the
//! machine's arguments and the job, which includes the seed. All of these form the key
//! under which its answer is cached.

mod boot;
mod checkpoint;
mod counting;
mod debugging;
mod difference;
mod drawing;
mod hunting;
mod image;
mod programs;
mod qmp;
pub(crate) mod stall;
mod state;
mod turns;
mod twice;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use assize_job::{AgentMessage, Job, Machine, Order, Payload, RunIdentityPart};

pub(crate) use boot::{BootOutput, BootSpec};
pub use checkpoint::Checkpoint;
pub use counting::{CountedExecution, SymbolTexts, TASK_FIELDS, TaskTypes};
pub use debugging::{DebuggedRun, DebuggerFiles};
pub use difference::{first_difference, lines};
pub use drawing::{Draw, DrawOrigin};
pub use hunting::Explored;
pub(crate) use image::{BOOT, keep_error};
pub use programs::ProgramFile;
pub use turns::DelayDraw;
pub(crate) use turns::TurnOptions;

use crate::cache::{Cache, CacheKey};
use crate::fault::{mend, wrong};
use crate::qemu::{Clock, Qemu, command_line, machine_arguments};
use crate::vm::{BootStock, PreparedBoot, job_text};
use crate::{
    Error, OrderResult, PreparationStep, ReportStep, RunFailure, RunOutcome, Target, agent,
    governors, scratch, stream,
};
use image::MemoryImage;
use stall::GuestLimits;

/// Options of exact runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Do not read the cache; results are still written to it.
    pub fresh: bool,
    /// Boot for every run instead of resuming from a stored memory image. The answer is the
    /// same, byte for byte; it only takes longer. With one CPU no image is used at all.
    /// With several CPUs the run still resumes from a temporary image, because the seed
    /// sets the order of the CPUs only when a machine resumes from an image.
    pub cold: bool,
    /// Leave the choice of the host's CPU to its scheduler, because other processes execute
    /// runs at the same time. Otherwise a run is pinned to the CPU of its slot.
    pub unpinned: bool,
}

/// The exact machine.
#[derive(Debug)]
pub struct Exact {
    qemu: Qemu,
    stock: BootStock,
    cache: Cache,
    options: Options,
    cpus: Vec<usize>,
    wall_limit: Duration,
    boot: GuestLimits,
}

impl Exact {
    /// Finds QEMU and the agent. Files are stored below `root`.
    ///
    /// # Errors
    /// One of them is missing or unsuitable.
    pub fn new(root: PathBuf, options: Options) -> Result<Exact, Error> {
        scratch::sweep(&root);
        Ok(Exact {
            qemu: Qemu::find(&root)?,
            cache: Cache::new(root.join("runs")),
            stock: BootStock::new(root, agent::find_here()?),
            options,
            cpus: allowed_cpus(),
            wall_limit: bounded(Duration::MAX)?,
            boot: BOOT,
        })
    }

    /// The QEMU in use.
    pub fn qemu(&self) -> &Qemu {
        &self.qemu
    }

    /// The error for a request that needs the QEMU that assize builds; `so` may add a consequence.
    fn other_qemu(&self, what: &str, so: &str) -> Error {
        let version = &self.qemu.version;
        let why = format!("QEMU {version} is not the one that assize builds{so}");
        let fetch = "unset ASSIZE_QEMU, then run `assize kernel fetch --qemu`";
        mend(wrong(what, why), fetch)
    }

    /// The cache key for the answer to an order with this job.
    fn answer_key(&self, ready: &PreparedBoot, order: &Order, job: &[u8]) -> CacheKey {
        let key = self.key(ready, &order.machine, Some(job));
        if order.interleaving.is_plain() {
            return key;
        }
        // A structure of numbers cannot fail to serialise.
        let turns = serde_json::to_vec(&order.interleaving).unwrap_or_default();
        CacheKey::hash(&[key.to_string().as_bytes(), b"interleaving", &turns])
    }

    /// The cache key for the machine of an order or, with `job`, for its answer if only the seed
    /// determines how the CPUs take turns.
    fn key(&self, ready: &PreparedBoot, machine: &Machine, job: Option<&[u8]>) -> CacheKey {
        let arguments = machine_arguments(&self.qemu, machine, Clock::Instructions).join(" ");
        let line = command_line(machine, Clock::Instructions);
        let mut parts: Vec<&[u8]> = vec![
            ready.kernel.digest.as_bytes(),
            ready.initramfs_digest.as_bytes(),
            line.as_bytes(),
            self.qemu.version.as_bytes(),
            arguments.as_bytes(),
        ];
        parts.extend(job);
        CacheKey::hash(&parts)
    }

    /// The cached answer and its outcome, if the cache may be used and has it.
    fn cached_answer(&self, key: &CacheKey) -> Option<(Vec<u8>, RunOutcome)> {
        let answer = (!self.options.fresh)
            .then(|| self.cache.get(key))
            .flatten()?;
        let outcome = exact(stream::outcome(&answer, "", None));
        Some((answer, outcome))
    }

    fn cpu_of(&self, slot: usize) -> Option<usize> {
        let cpu = self.cpus.get(slot % self.cpus.len().max(1)).copied();
        cpu.filter(|_| !self.options.unpinned)
    }

    fn booted<'a>(
        &'a self,
        ready: &'a PreparedBoot,
        order: &'a Order,
        slot: usize,
    ) -> BootSpec<'a> {
        BootSpec {
            root: self.stock.root(),
            qemu: &self.qemu,
            machine: &order.machine,
            clock: Clock::Instructions,
            kernel: &ready.kernel.image,
            initramfs: &ready.initramfs,
            cpu: self.cpu_of(slot),
            limit: self.wall_limit,
            own: None,
            boot: self.boot,
            run: Some(patience(&order.job)),
            seed: order.job.seed,
            watch: None,
            turns: TurnOptions {
                ordered: Some(&order.interleaving),
                ..TurnOptions::default()
            },
        }
    }

    fn image(
        &self,
        ready: &PreparedBoot,
        order: &Order,
        slot: usize,
    ) -> Result<MemoryImage, Error> {
        let key = self.key(ready, &order.machine, None);
        let booted = self.booted(ready, order, slot);
        MemoryImage::ensure(&key.to_string(), &booted)
    }

    fn carry_out(
        &self,
        ready: &PreparedBoot,
        order: &Order,
        job: &[u8],
        slot: usize,
        facts: &mut BTreeMap<String, String>,
    ) -> Result<(Vec<u8>, RunOutcome), Error> {
        let booted = self.booted(ready, order, slot);
        let left = if self.options.cold && order.machine.cpus == 1 {
            cold(&booted, job)?
        } else if self.options.cold {
            image::run_once(&booted, job)?
        } else {
            let image = self.image(ready, order, slot)?;
            facts.insert("memory_image".into(), image.digest.clone());
            image.run(&booted, job)?
        };
        let outcome = stream::outcome(&left.answer, &left.console, left.ended);
        Ok((left.answer, exact(outcome)))
    }

    /// One order for each memory image that is needed and does not exist yet.
    fn images_wanted<'a>(
        &self,
        orders: &'a [Order],
        tell: &ReportStep<'_>,
    ) -> Result<Vec<(Arc<PreparedBoot>, &'a Order)>, Error> {
        let mut wanted: BTreeMap<(&Machine, &Payload), _> = BTreeMap::new();
        for order in orders {
            let ready = self.stock.ready_telling(order, tell)?;
            let key = self.answer_key(&ready, order, &job_text(&ready, order)?);
            let cached = !self.options.fresh && self.cache.get(&key).is_some();
            let image = self.key(&ready, &order.machine, None).to_string();
            let there = MemoryImage::is_stored(self.stock.root(), &image);
            if !cached && !self.options.cold && !there {
                wanted
                    .entry((&order.machine, &order.payload))
                    .or_insert((ready, order));
            }
        }
        Ok(wanted.into_values().collect())
    }
}

impl Target for Exact {
    fn slots(&self) -> usize {
        self.cpus.len()
    }

    fn prepare_telling(&self, orders: &[Order], tell: &ReportStep<'_>) -> Result<(), Error> {
        for order in orders {
            self.qemu.fits(order.machine.cpus)?;
            governors::check_exact(order)?;
        }
        let wanted = self.images_wanted(orders, tell)?;
        let begun = AtomicUsize::new(0);
        let boot = |slot, ready: &PreparedBoot, order: &Order| {
            tell(PreparationStep::Boot {
                kernel: ready.kernel.name.clone(),
                number: 1 + begun.fetch_add(1, Ordering::Relaxed),
                of: wanted.len(),
            });
            self.image(ready, order, slot).map(|_| ())
        };
        for some in wanted.chunks(self.slots().max(1)) {
            std::thread::scope(|scope| {
                let boot = &boot;
                let booting: Vec<_> = some
                    .iter()
                    .enumerate()
                    .map(|(slot, (ready, order))| scope.spawn(move || boot(slot, ready, order)))
                    .collect();
                booting
                    .into_iter()
                    .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(panicked())))
            })?;
        }
        Ok(())
    }

    fn expected(&self, order: &Order) -> Result<Vec<RunIdentityPart>, Error> {
        let ready = self.stock.ready(order)?;
        let line = command_line(&order.machine, Clock::Instructions);
        Ok(ready.expected(order, &line))
    }

    fn is_kept(&self, order: &Order, twice: bool) -> Result<bool, Error> {
        self.holds(order, twice)
    }

    fn run_twice(&self, order: &Order, slot: usize, anew: bool) -> Result<OrderResult, Error> {
        self.twice(order, slot, anew)
    }

    fn run(&self, order: &Order, slot: usize) -> Result<OrderResult, Error> {
        let begun = Instant::now();
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let key = self.answer_key(&ready, order, &job);
        let mut machine = facts(&self.qemu, &ready, order, Clock::Instructions);
        let kept = self.cached_answer(&key);
        let was_cached = kept.is_some();
        let outcome = match kept {
            Some((_, outcome)) => outcome,
            None => {
                let (answer, outcome) = self.carry_out(&ready, order, &job, slot, &mut machine)?;
                if matches!(outcome, RunOutcome::Completed(_)) {
                    self.cache.put(&key, &answer)?;
                }
                outcome
            }
        };
        Ok(OrderResult {
            outcome,
            machine,
            cached: was_cached,
            elapsed: begun.elapsed(),
        })
    }
}

fn panicked() -> Error {
    Error {
        what: "boot a machine".into(),
        why: "an internal thread has panicked".into(),
        mend: None,
        wrong_use: false,
    }
}

/// Facts about the machine that the agent cannot know.
pub(crate) fn facts(
    qemu: &Qemu,
    ready: &PreparedBoot,
    order: &Order,
    clock: Clock,
) -> BTreeMap<String, String> {
    let pairs = [
        ("qemu", qemu.version.clone()),
        (
            "machine_arguments",
            machine_arguments(qemu, &order.machine, clock).join(" "),
        ),
        ("kernel_name", ready.kernel.name.clone()),
        ("kernel_digest", ready.kernel.digest.clone()),
        ("initramfs_digest", ready.initramfs_digest.clone()),
    ];
    pairs.map(|(name, value)| (name.to_string(), value)).into()
}

/// Boots and runs the job without a memory image.
pub(crate) fn cold(booted: &BootSpec<'_>, job: &[u8]) -> Result<BootOutput, Error> {
    let directory =
        scratch::directory(booted.root).map_err(|error| keep_error(booted.root, &error))?;
    let memory = directory.path().join("ram");
    let running = booted.start(&memory, true, job, &["-action", "panic=none"])?;
    running
        .finish()
        .map_err(|error| keep_error(directory.path(), &error))
}

/// Turns an answer from a machine whose clock has leaped into a failed run.
fn exact(outcome: RunOutcome) -> RunOutcome {
    let RunOutcome::Completed(records) = outcome else {
        return outcome;
    };
    let resumed = records.iter().find_map(|record| match record {
        AgentMessage::Hello { resumed_ns, .. } => *resumed_ns,
        _ => None,
    });
    match resumed {
        Some(ns) if ns <= image::RESUMED_NS_MAX => RunOutcome::Completed(records),
        other => RunOutcome::Failed {
            failure: RunFailure::Inexact {
                how: match other {
                    Some(ns) => {
                        let ns = ns.cast_signed();
                        format!("the clock advanced by {ns} ns while it was stopped")
                    }
                    None => "the agent did not check the clock".into(),
                },
            },
            records,
            console: String::new(),
        },
    }
}

/// Limits every run, in seconds of the host's clock.
const WALL_LIMIT: &str = "ASSIZE_WALL_LIMIT_S";

/// Returns `limit`, or the limit that the environment sets if it is shorter.
///
/// # Errors
/// The variable is not a whole number of seconds.
pub(crate) fn bounded(limit: Duration) -> Result<Duration, Error> {
    let Some(text) = std::env::var_os(WALL_LIMIT) else {
        return Ok(limit);
    };
    match text.to_str().map(str::parse::<u64>) {
        Some(Ok(seconds)) if seconds > 0 => Ok(limit.min(Duration::from_secs(seconds))),
        _ => Err(Error {
            what: format!("read {WALL_LIMIT}"),
            why: format!("'{}' is not a whole number above 0", text.to_string_lossy()),
            mend: Some(format!(
                "unset {WALL_LIMIT}, or set it to a number of seconds"
            )),
            wrong_use: true,
        }),
    }
}

/// The limits for a run. The agent itself ends each step of a job that exceeds the timeout,
/// so these only catch a kernel that hangs.
fn patience(job: &Job) -> GuestLimits {
    let timeout = Duration::from_millis(job.timeout_ms);
    let actions = job.setup.len() + job.teardown.len();
    // Each process takes up to the timeout to get ready, to run, and to end.
    let parts = actions + job.background.len() + 3;
    let parts = u32::try_from(parts).unwrap_or(u32::MAX);
    let all = timeout.saturating_mul(parts) + Duration::from_secs(60);
    GuestLimits {
        guest: (job.timeout_ms > 0).then_some(image::BOOT_GUEST + all),
        // A busy machine executes some hundred million instructions per second of CPU time,
        // and each takes one nanosecond of guest time.
        look: Duration::from_secs(30) + timeout.saturating_mul(20),
    }
}

/// The host CPUs that this process may use.
#[must_use]
pub fn allowed_cpus() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        return vec![0];
    };
    let cpus: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect();
    if cpus.is_empty() { vec![0] } else { cpus }
}

#[cfg(test)]
mod tests;
