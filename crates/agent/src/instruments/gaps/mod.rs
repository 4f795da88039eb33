//! Gaps: intervals in which a CPU did not run the thread that watches it.
//!
//! A process on each CPU reads the time-stamp counter in a loop. An iteration longer than
//! the threshold is a gap, after which the process reads counters to find its cause. The
//! processes are started when the instrument is opened, and first watch the idle machine
//! as a baseline.

mod counts;
mod detector;
mod report;
mod shared;
mod watch;

use std::path::Path;
use std::rc::Rc;

use assize_job::gaps::{Cause, GapsSettings, Seen, Watched};
use assize_job::{AgentMessage, Job, Policy};

use self::counts::{CpuCounts, CpuCountsReader};
use self::detector::GapLimits;
use self::report::NAME;
use self::shared::SharedWords;
use self::watch::{GapWatch, WatchedMachine};
use super::run_instrument::RunInstrument;
use crate::cpus;
use crate::files;
use crate::process::{self, Body, Child, Staged};
use crate::records::{doubt, raw, unavailable};
use crate::sys;
use crate::tsc::{self, CounterRate};

/// Minimum length of an iteration that was delayed: less than it takes to enter and leave
/// the kernel for an interrupt.
const NOTICE_NS: u64 = 500;
/// Minimum length of a delayed iteration in median iterations, if that is more than `NOTICE_NS`.
const NOTICE_ITERATIONS: u64 = 4;
/// Polling interval while waiting until all processes watch.
const LOOK_NS: u64 = 50_000;

/// The instrument `gaps`.
#[derive(Default)]
pub(crate) struct Watching {
    settings: GapsSettings,
    guest: bool,
    shared: Option<Rc<SharedWords>>,
    watchers: Vec<(u32, Child)>,
    rate: Option<CounterRate>,
    /// The time-stamp counter and CLOCK_MONOTONIC when watching began.
    start: (u64, u64),
    /// CLOCK_MONOTONIC when watching ended.
    stop_ns: u64,
    failed: Option<String>,
    counts_smis: bool,
}

impl RunInstrument for Watching {
    fn name(&self) -> &'static str {
        NAME
    }

    fn configure(&mut self, job: &Job, guest: bool) {
        self.settings = job.gaps.clone().unwrap_or_default();
        self.guest = guest;
    }

    fn open(&mut self) -> Result<(), String> {
        tsc::check()?;
        let online = cpus::online()?;
        let cpus = self.settings.cpus_to_watch(&online);
        cpus::check_online(&cpus, &online, "gaps.cpus")?;
        if matches!(self.settings.policy, Policy::Fifo | Policy::Rr) {
            let limit = |name| files::read(&Path::new("/proc/sys/kernel").join(name));
            let runtime = limit("sched_rt_runtime_us")?;
            let period = limit("sched_rt_period_us")?;
            room_for_others(&self.settings, &cpus, &online, &runtime, &period)?;
        }
        let rate = tsc::calibrate()?;
        self.counts_smis = cpus.iter().all(|cpu| counts::smi_register(*cpu).is_some());
        let shared = Rc::new(SharedWords::new()?);
        self.rate = Some(rate);
        self.shared = Some(Rc::clone(&shared));
        for cpu in cpus {
            let body = Body::Staged(Box::new(Watcher {
                cpu,
                settings: self.settings.clone(),
                rate,
                shared: Rc::clone(&shared),
                own: None,
                rest: Watched::default(),
            }));
            let child = Child::start(body, &self.settings.scheduling(cpu), self.guest)
                .map_err(sys::failure_of("new process"))?;
            self.watchers.push((cpu, child));
        }
        for (cpu, child) in &mut self.watchers {
            let ready = child.wait_ready(&process::NO_LIMITS);
            ready.map_err(|why| format!("the thread on CPU {cpu}: {why}"))?;
        }
        Ok(())
    }

    fn start(&mut self, _: i32) {
        self.start = tsc::both();
        for (_, child) in &mut self.watchers {
            child.release();
        }
        // Wait until all watch; otherwise a short run might be over before.
        while let Some(shared) = &self.shared
            && (shared.begun() as usize) < self.watchers.len()
        {
            if let Some((cpu, _)) = self.watchers.iter().find(|(_, child)| child.has_ended()) {
                self.failed = Some(format!("the thread on CPU {cpu} ended too early"));
                break;
            }
            sys::sleep_until(sys::now() + LOOK_NS);
        }
    }

    fn stop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.end();
        }
        self.stop_ns = sys::now();
        for (cpu, child) in &self.watchers {
            if let Some(why) = child.wait_done(&process::NO_LIMITS) {
                self.failed
                    .get_or_insert(format!("the thread on CPU {cpu}: {why}"));
            }
        }
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let mut seen = Seen {
            source: NAME.into(),
            start_ns: self.start.1,
            tsc: self.rate.map(|rate| (self.start.0, rate.khz)),
            threshold_ns: self.settings.threshold_ns,
            ..Seen::default()
        };
        let mut records = Vec::new();
        for (cpu, child) in std::mem::take(&mut self.watchers) {
            match seen_by(child) {
                Ok((part, doubts)) => {
                    seen.cpus.extend(part.cpus);
                    seen.gaps.extend(part.gaps);
                    records.extend(doubts);
                }
                Err(why) => {
                    self.failed
                        .get_or_insert(format!("the thread on CPU {cpu}: {why}"));
                }
            }
        }
        if let Some(why) = self.failed.take() {
            return vec![unavailable(NAME, None, why)];
        }
        let start = self.start.0;
        if let Some(rate) = self.rate {
            for gap in &mut seen.gaps {
                gap.at_ns = rate.ns(gap.at_ns.wrapping_sub(start));
            }
        }
        seen.gaps.sort_by_key(|gap| (gap.at_ns, gap.cpu));
        records.extend(report::records(
            &seen,
            &self.settings,
            self.stop_ns.saturating_sub(self.start.1),
            self.counts_smis,
        ));
        records
    }
}

/// Checks that the watching threads, if real-time, leave CPU time to others. If they
/// never sleep, they leave none on their CPUs, and the kernel throttles them for part of
/// each period, which would show as gaps. `runtime` and `period`: the kernel's limits.
fn room_for_others(
    settings: &GapsSettings,
    cpus: &[u32],
    online: &[u32],
    runtime: &str,
    period: &str,
) -> Result<(), String> {
    let always = settings.width_ns >= settings.window_ns;
    if always && online.iter().all(|cpu| cpus.contains(cpu)) {
        return Err(
            "real-time threads that watch every CPU all the time leave none to the workload; set \
             gaps.width below gaps.window, or leave a CPU out of gaps.cpus"
                .into(),
        );
    }
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let (Some(runtime), Some(period @ 1..)) = (number(runtime), number(period)) else {
        return Ok(());
    };
    let share = settings.width_ns as f64 / settings.window_ns.max(1) as f64;
    if runtime < 0 || share <= runtime as f64 / period as f64 {
        return Ok(());
    }
    Err(format!(
        "the kernel takes the CPU from real-time threads after {runtime} of each {period} us, \
         which would be gaps; set the sysctl kernel.sched_rt_runtime_us = -1 in the set-up, or \
         gaps.width to less than that part of gaps.window"
    ))
}

/// Collects the report of a watching process, with times in ticks of the counter.
fn seen_by(mut child: Child) -> Result<(Seen, Vec<AgentMessage>), String> {
    child.wait_end(&process::NO_LIMITS);
    let left = child.reap().map_err(|error| sys::error_text(&error))?;
    if let Some(why) = left.failure {
        return Err(why);
    }
    let mut seen = None;
    let mut doubts = Vec::new();
    for line in left.results.lines() {
        match serde_json::from_str(line).map_err(|error| error.to_string())? {
            AgentMessage::Raw { text, .. } => {
                seen = Some(Seen::parse(&text).map_err(|error| error.to_string())?);
            }
            other => doubts.push(other),
        }
    }
    let seen = seen.ok_or_else(|| format!("it printed nothing and ended with {:?}", left.end))?;
    Ok((seen, doubts))
}

/// The process that watches one CPU.
struct Watcher {
    cpu: u32,
    settings: GapsSettings,
    rate: CounterRate,
    shared: Rc<SharedWords>,
    own: Option<(ThisMachine, GapWatch)>,
    rest: Watched,
}

/// The machine the process runs on.
struct ThisMachine {
    rate: CounterRate,
    reader: CpuCountsReader,
}

impl WatchedMachine for ThisMachine {
    #[inline]
    fn now(&mut self) -> u64 {
        tsc::counter()
    }

    fn counts(&mut self) -> CpuCounts {
        self.reader.read()
    }

    fn steal(&mut self) -> u64 {
        self.reader.read_steal()
    }

    fn own_counts(&mut self) -> CpuCounts {
        self.reader.read_own()
    }

    fn sleep(&mut self, ticks: u64) {
        sys::sleep_until(sys::now() + self.rate.ns(ticks));
    }
}

impl Staged for Watcher {
    /// Measures the loop and watches the idle machine.
    fn set_up(&mut self) -> Result<(), String> {
        sys::no_timer_slack();
        // A page fault in the loop's own code would be an unexplained gap. If
        // RLIMIT_MEMLOCK forbids the lock, there may be some.
        let _ = sys::lock_memory();
        let ticks = |ns| self.rate.ticks(ns);
        let mut here = ThisMachine {
            rate: self.rate,
            reader: CpuCountsReader::open(self.cpu)?,
        };
        let limits = GapLimits {
            threshold: ticks(self.settings.threshold_ns),
            notice: ticks(NOTICE_NS),
            width: ticks(self.settings.width_ns),
            window: ticks(self.settings.window_ns),
        };
        let (median, longest) = GapWatch::new(limits, self.rate).iteration_lengths(&mut here);
        if limits.threshold <= longest {
            return Err(format!(
                "gaps of {} ns cannot be distinguished from iterations of the loop, which take up to {} ns; \
                 set gaps.threshold above that",
                self.settings.threshold_ns,
                self.rate.ns(longest)
            ));
        }
        let notice = limits.notice.max(NOTICE_ITERATIONS * median);
        let limits = GapLimits {
            notice: notice.min(limits.threshold),
            ..limits
        };
        let mut watch = GapWatch::new(limits, self.rate);
        let reading = GapWatch::reading_length(&mut here);
        let begin = here.now();
        let length = ticks(self.settings.baseline_ns);
        if length > 0 {
            watch.run(&mut here, |now| now.wrapping_sub(begin) >= length);
        }
        let unexplained = watch.found.iter();
        let unexplained = unexplained.filter(|found| found.cause == Cause::Unexplained);
        self.rest = Watched {
            cpu: self.cpu,
            loop_ns_median: self.rate.ns(median),
            loop_ns_max: self.rate.ns(longest),
            reading_ns: self.rate.ns(reading),
            rest_ns: watch.watched(Watched::default()).observed_ns,
            rest_gaps: watch.found.len() as u64,
            rest_unexplained: unexplained.count() as u64,
            ..Watched::default()
        };
        self.own = Some((here, watch));
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let (here, watch) = self.own.as_mut().ok_or("it was not set up")?;
        let shared = &self.shared;
        shared.begin();
        watch.run(here, |_| shared.ended());
        Ok(())
    }

    fn records(&mut self) -> Result<Vec<AgentMessage>, String> {
        let (_, watch) = self.own.as_ref().ok_or("it was not set up")?;
        let mut gaps = watch.gaps(self.cpu, 0);
        for (gap, found) in gaps.iter_mut().zip(&watch.found) {
            // In ticks: only the agent knows the start.
            gap.at_ns = found.span.from;
        }
        let seen = Seen {
            source: NAME.into(),
            cpus: vec![watch.watched(self.rest)],
            gaps,
            ..Seen::default()
        };
        let mut records = vec![raw(NAME, seen.text())];
        let cpu = self.cpu;
        if watch.is_full() {
            let detail = format!(
                "CPU {cpu} had more gaps than there is room for ({}); it was not watched after the \
                 last, where its exposure ends",
                watch.found.len()
            );
            records.push(doubt("lost-events", detail));
        }
        if watch.backwards() > 0 {
            let detail = format!(
                "the time-stamp counter of CPU {cpu} went back {} times",
                watch.backwards()
            );
            records.push(doubt("clock-went-back", detail));
        }
        Ok(records)
    }
}
