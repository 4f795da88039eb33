//! One run, from the job to the last record.

use std::os::fd::OwnedFd;

use assize_job::{
    AGENT_SCHEMA, AgentMessage, Job, MemoryImage, PLANTED_STALLS, RunStage, SCHEMA, Scheduling,
};

use crate::channel::Channel;
use crate::environment;
use crate::identity::IdentityCollector;
use crate::identity::digests::Digests;
use crate::instruments::{self, run_instrument::RunInstrument};
use crate::kernel_log::KernelLog;
use crate::marks;
use crate::process::{Body, Child, ProcessExit, WaitLimits};
use crate::records::{doubt, failed, unavailable};
use crate::seed::{Stream, reseed_kernel};
use crate::setup::modules::RunModules;
use crate::setup::policy::{self, AttachedPolicy};
use crate::setup::power::Governors;
use crate::setup::{self, CommandContext};
use crate::sys::{self, ProcessEnd};
use crate::workload::{self, ResultReader, output};

/// In a guest the workload starts at a multiple of this, plus the start offset.
const GRID_NS: u64 = 100_000_000;
/// Minimum delay from the start of the background to that of the workload.
const SETTLE_NS: u64 = 25_000_000;

/// Sends the agent's version and the facts about the machine.
pub(crate) fn send_greeting(channel: &mut Channel, resumed_ns: Option<u64>, guest: bool) {
    channel.send(&AgentMessage::Hello {
        schema: AGENT_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        resumed_ns,
    });
    channel.send(&environment::record(guest));
}

/// Facts that only process 1 knows.
#[derive(Debug)]
pub(crate) struct Guest {
    /// Digests of the machine's files.
    pub(crate) digests: Digests,
    /// The random choices of its memory image.
    pub(crate) image: MemoryImage,
    /// Modules that were loaded before the image was taken.
    pub(crate) preloaded: RunModules,
    /// Whether to pass the kernel's symbols to the plugin instead of measuring.
    pub(crate) passes_symbols: bool,
}

/// Carries out the job, or reports why it cannot be read.
pub(crate) fn carry_out_job(
    job: Result<String, String>,
    channel: &mut Channel,
    guest: Option<Guest>,
) {
    match job.and_then(|text| read(&text)) {
        Ok(job) => {
            let mut run = AgentRun::new(job, guest.is_some());
            let modules = RunModules::from_setup(&run.job.setup);
            match guest {
                Some(guest) => {
                    run.passes_symbols = guest.passes_symbols;
                    let modules = modules
                        .in_order(guest.image.modules)
                        .with_loaded(guest.preloaded);
                    run.carry_out(channel, guest.digests, modules);
                }
                None => run.carry_out(channel, Digests::default(), modules),
            }
        }
        Err(why) => channel.send(&failed(RunStage::Start, "read the job", why)),
    }
}

fn read(text: &str) -> Result<Job, String> {
    let job: Job = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if job.schema == SCHEMA {
        Ok(job)
    } else {
        Err(format!(
            "schema {}: this agent knows {SCHEMA}; use the agent that came with assize",
            job.schema
        ))
    }
}

/// A run and how it is carried out.
struct AgentRun {
    job: Job,
    guest: bool,
    passes_symbols: bool,
    /// Readable once a signal has asked the agent to end.
    interrupts: Option<OwnedFd>,
}

/// A background workload.
struct Background {
    name: String,
    child: Child,
    statuses: Vec<i32>,
    ended_early: bool,
    /// When it was released, in nanoseconds of CLOCK_MONOTONIC.
    since: u64,
    /// Owns resources that the process needs until it ends.
    _read: ResultReader,
}

/// The outcome of the measured workload.
struct MeasuredWorkload {
    instruments: Vec<Box<dyn RunInstrument>>,
    left: ProcessExit,
    elapsed_ns: u64,
    /// Why it failed, if it did.
    why: Option<String>,
    read: ResultReader,
}

impl AgentRun {
    fn new(job: Job, guest: bool) -> AgentRun {
        // Process 1 only gets signals for which it has handlers. Elsewhere, if signals
        // cannot be blocked, they end the agent at once.
        let held = (!guest).then(|| sys::hold_end_signals().ok());
        AgentRun {
            job,
            guest,
            passes_symbols: false,
            interrupts: held.flatten(),
        }
    }

    fn limits(&self) -> WaitLimits<'_> {
        WaitLimits {
            timeout_ms: self.job.timeout_ms,
            interrupts: self.interrupts.as_ref(),
        }
    }

    fn carry_out(&self, channel: &mut Channel, digests: Digests, mut modules: RunModules) {
        let mut evidence = IdentityCollector::open(self.guest, digests);
        let mut log = KernelLog::open();
        if self.guest
            && let Err(why) = reseed_kernel(Stream::new(self.job.seed, "kernel"))
        {
            let what = "reseed the kernel's random numbers";
            channel.send(&failed(RunStage::Setup, what, why));
        }
        let job = &self.job;
        let mut failures = self.actions(&job.setup, RunStage::Setup, &mut modules);
        let mut governors = Governors::default();
        if failures.is_empty()
            && let Err((what, why)) = governors.set(job)
        {
            failures.push(failed(RunStage::Setup, &what, why));
        }
        channel.send_all(&failures);
        log.take(RunStage::Setup);
        if failures.is_empty() {
            match self.attach() {
                Ok(policy) => {
                    evidence.take_settings(job, &modules);
                    self.under_policy(policy, channel, &mut evidence);
                    channel.send_all(&evidence.records(job, &modules));
                }
                Err(failure) => channel.send(&failure),
            }
        }
        log.take(RunStage::Workload);
        channel.send_all(&self.actions(&job.teardown, RunStage::Teardown, &mut modules));
        if !self.guest {
            governors.restore();
            let left = modules.unload().into_iter();
            let left = left.map(|(one, why)| {
                failed(RunStage::Teardown, format!("unload the module {one}"), why)
            });
            channel.send_all(&left.collect::<Vec<_>>());
        }
        log.take(RunStage::Teardown);
        channel.send_all(&log.records());
    }

    /// Attaches the placement policy that the job names, if any.
    fn attach(&self) -> Result<Option<AttachedPolicy>, AgentMessage> {
        let Some(wanted) = &self.job.policy else {
            return Ok(None);
        };
        let attached = policy::attach(wanted, &self.command_context());
        let what = format!("policy {}", wanted.name);
        attached
            .map(Some)
            .map_err(|why| failed(RunStage::Setup, &what, why))
    }

    /// Measures under the policy, if any; it must still be attached at the end.
    fn under_policy(
        &self,
        policy: Option<AttachedPolicy>,
        channel: &mut Channel,
        evidence: &mut IdentityCollector,
    ) {
        if let Some(policy) = &policy {
            evidence.take_policy(policy);
        }
        if self.passes_symbols {
            marks::pass_symbols();
        } else {
            self.measure(channel, evidence);
        }
        if let (Some(policy), Some(wanted)) = (policy, &self.job.policy) {
            if let Err(why) = policy.check() {
                let what = format!("policy {}", wanted.name);
                channel.send(&failed(RunStage::Workload, &what, why));
            }
            policy.detach();
        }
    }

    fn actions(
        &self,
        actions: &[assize_job::Action],
        stage: RunStage,
        modules: &mut RunModules,
    ) -> Vec<AgentMessage> {
        let mut context = self.command_context();
        if stage == RunStage::Teardown {
            // Undo the set-up even after an interrupt.
            context.limits.interrupts = None;
        }
        setup::carry_out(actions, stage, &context, modules)
    }

    fn command_context(&self) -> CommandContext<'_> {
        CommandContext {
            seed: self.job.seed,
            limits: self.limits(),
            guest: self.guest,
        }
    }

    /// Opens the instruments, then starts the background and measures the workload. Some
    /// instruments calibrate themselves on the idle machine, so they come first.
    fn measure(&self, channel: &mut Channel, evidence: &mut IdentityCollector) {
        let instruments = self.open_instruments(channel);
        let mut background = Vec::new();
        for (index, workload) in self.job.background.iter().enumerate() {
            match self.start_background(index, workload, evidence) {
                Ok(started) => background.push(started),
                Err(why) => {
                    channel.send(&failed(RunStage::Background, &workload.name, why));
                    end_background(background, channel);
                    return;
                }
            }
        }
        let measured = self.measure_workload(instruments, &mut background, evidence);
        end_background(background, channel);
        match measured {
            Ok(measured) => self.report(measured, channel),
            Err(why) => channel.send(&failed(RunStage::Workload, &self.job.workload.name, why)),
        }
    }

    fn open_instruments(&self, channel: &mut Channel) -> Vec<Box<dyn RunInstrument>> {
        let mut names = self.job.instruments.clone();
        if self.job.stalls.is_some() {
            names.push(PLANTED_STALLS.into());
        }
        let (mut instruments, missing) = instruments::create(&names);
        // Planting starts last and stops first, so that all other instruments see every
        // stall.
        instruments.sort_by_key(|instrument| instrument.name() == PLANTED_STALLS);
        channel.send_all(&missing);
        for instrument in &mut instruments {
            instrument.configure(&self.job, self.guest);
        }
        instruments.retain_mut(|instrument| match instrument.open() {
            Ok(()) => true,
            Err(reason) if instrument.name() == PLANTED_STALLS => {
                channel.send(&failed(RunStage::Setup, PLANTED_STALLS, reason));
                false
            }
            Err(reason) => {
                channel.send(&unavailable(instrument.name(), None, reason));
                false
            }
        });
        instruments
    }

    fn start_background(
        &self,
        index: usize,
        workload: &assize_job::Workload,
        evidence: &mut IdentityCollector,
    ) -> Result<Background, String> {
        let label = format!("background.{index}");
        let prepared = workload::prepare(workload, &self.job, &label, true)?;
        evidence.take_program(workload, &prepared.body);
        let mut child = self.start(prepared.body, &prepared.scheduling)?;
        evidence.take_scheduling(workload, child.pid());
        child.release();
        Ok(Background {
            name: workload.name.clone(),
            child,
            statuses: prepared.statuses,
            ended_early: false,
            since: sys::now(),
            _read: prepared.read,
        })
    }

    /// Starts a process and waits until it is ready to be released.
    fn start(&self, body: Body, scheduling: &Scheduling) -> Result<Child, String> {
        let mut child =
            Child::start(body, scheduling, self.guest).map_err(sys::failure_of("new process"))?;
        if let Err(why) = child.wait_ready(&self.limits()) {
            child.kill();
            // Wait briefly only: if the background starves the process, it ends after the
            // background.
            child.wait_dead(Some(1_000_000_000));
            return Err(why);
        }
        Ok(child)
    }

    fn measure_workload(
        &self,
        mut instruments: Vec<Box<dyn RunInstrument>>,
        background: &mut [Background],
        evidence: &mut IdentityCollector,
    ) -> Result<MeasuredWorkload, String> {
        let workload = &self.job.workload;
        let prepared = workload::prepare(workload, &self.job, "workload", false)?;
        evidence.take_program(workload, &prepared.body);
        let child = self.start(prepared.body, &prepared.scheduling)?;
        evidence.take_scheduling(workload, child.pid());
        let (left, elapsed_ns, why) = self.let_run(child, &mut instruments, background)?;
        Ok(MeasuredWorkload {
            instruments,
            why: why.or_else(|| left.why_failed(&prepared.statuses)),
            left,
            elapsed_ns,
            read: prepared.read,
        })
    }

    /// Sends the records of the measured workload.
    fn report(&self, mut measured: MeasuredWorkload, channel: &mut Channel) {
        for instrument in &mut measured.instruments {
            channel.send_all(&instrument.records());
        }
        let left = &measured.left;
        channel.forward(&left.results);
        if let Some(why) = measured.why {
            let assize_job::Workload { name, kind, .. } = &self.job.workload;
            channel.send(&failed(RunStage::Workload, name, why));
            channel.send_all(&output::output_records(name, kind.kept_output(), left));
        } else {
            channel.send_all(&(measured.read)(left, measured.elapsed_ns));
        }
    }

    /// Runs the workload from its start time to its end. Returns its exit, the elapsed
    /// nanoseconds, and why it was killed, if it was.
    fn let_run(
        &self,
        mut child: Child,
        instruments: &mut [Box<dyn RunInstrument>],
        background: &mut [Background],
    ) -> Result<(ProcessExit, u64, Option<String>), String> {
        let kills = oom_kills();
        let offset = Stream::new(self.job.seed, "offset").below(self.job.offset_ns_max);
        let settled = background.iter().map(|other| other.since + SETTLE_NS);
        let ready = settled.fold(sys::now(), u64::max);
        let grid = if self.guest {
            ready.next_multiple_of(GRID_NS)
        } else {
            ready
        };
        sys::sleep_until(grid + offset);
        for instrument in instruments.iter_mut() {
            instrument.start(child.pid());
        }
        marks::begin();
        let start = sys::now();
        child.release();
        let mut cut_short = child.wait_done(&self.limits());
        let elapsed_ns = sys::now() - start;
        for other in background {
            other.ended_early = other.child.has_ended();
            if cut_short.is_some() {
                // A background workload may be keeping it from dying.
                other.child.kill();
            }
        }
        if cut_short.is_some() || !child.goes_on() {
            child.wait_dead(None);
        }
        marks::end();
        for instrument in instruments.iter_mut().rev() {
            instrument.stop();
        }
        if cut_short.is_none() && child.goes_on() {
            cut_short = child.wait_end(&self.limits());
        }
        let left = child.reap().map_err(|error| sys::error_text(&error))?;
        let kills = oom_kills().saturating_sub(kills);
        let killed = (kills > 0 && left.end != ProcessEnd::Exited(0)).then(|| {
            format!(
                "the kernel killed {kills} of its processes for lack of memory; \
                 give the machine more"
            )
        });
        Ok((left, elapsed_ns, cut_short.or(killed)))
    }
}

/// Ends the background workloads and reports those that ended too early.
fn end_background(background: Vec<Background>, channel: &mut Channel) {
    for Background {
        name,
        child,
        statuses,
        ended_early,
        since: _,
        _read,
    } in background
    {
        child.kill();
        let left = match child.reap() {
            Ok(left) => left,
            Err(error) => {
                channel.send(&failed(RunStage::Background, name, sys::error_text(&error)));
                continue;
            }
        };
        if !ended_early {
            continue;
        }
        channel.send(&match left.why_failed(&statuses) {
            Some(why) => failed(RunStage::Background, &name, why),
            None => doubt(
                "background-ended",
                format!("{name}, in the background, ended before the workload did"),
            ),
        });
    }
}

/// How many processes the kernel has killed for lack of memory since boot.
fn oom_kills() -> u64 {
    let counters = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let mut counts = counters
        .lines()
        .filter_map(|line| line.strip_prefix("oom_kill "));
    counts
        .next()
        .and_then(|count| count.parse().ok())
        .unwrap_or(0)
}
