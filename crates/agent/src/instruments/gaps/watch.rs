//! Watches one CPU: the loop, and the counters it reads after a gap.

use assize_job::gaps::{Cause, Gap, Watched};

use super::counts::{CpuCounts, STEAL_NS_MIN};
use super::detector::{BlindSpan, DetectorStep, GapDetector, GapLimits};
use crate::tsc::CounterRate;

/// Maximum number of gaps to keep per CPU.
const GAPS_MAX: usize = 1 << 16;
/// Counters are also read after a delay that is no gap, so that its counts are not
/// attributed to the next gap. This may take at most 1/REFRESH_PART of the time.
const REFRESH_PART: u64 = 100;
/// Minimum time between two readings of steal time, except after long gaps.
const STEAL_EVERY_NS: u64 = 100_000_000;
/// Number of iterations per batch, and of batches, for measuring the length of an
/// iteration.
const BATCH: usize = 64;
const BATCHES: usize = 201;
/// Number of readings of the counters for measuring the length of one.
const READINGS: usize = 15;

/// The machine, as the loop sees it.
pub(super) trait WatchedMachine {
    /// The time-stamp counter.
    fn now(&mut self) -> u64;
    /// The counters, except steal time, which is 0.
    fn counts(&mut self) -> CpuCounts;
    /// Ticks of steal time.
    fn steal(&mut self) -> u64;
    /// The counters that are quick to read; the others are 0.
    fn own_counts(&mut self) -> CpuCounts;
    /// Sleeps for this many ticks.
    fn sleep(&mut self, ticks: u64);
}

/// One gap, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TickGap {
    pub(super) span: BlindSpan,
    pub(super) cause: Cause,
    pub(super) counted: CpuCounts,
}

/// The loop and the gaps it has found.
#[derive(Debug)]
pub(super) struct GapWatch {
    limits: GapLimits,
    rate: CounterRate,
    pub(super) found: Vec<TickGap>,
    /// Maximum number of gaps to keep.
    room: usize,
    detector: GapDetector,
    before: CpuCounts,
    stale: bool,
    /// When steal time was last read.
    steal_read: u64,
    /// Ticks spent reading counters after delays that are no gaps.
    refreshing: u64,
}

impl GapWatch {
    /// Allocates all memory.
    pub(super) fn new(limits: GapLimits, rate: CounterRate) -> GapWatch {
        let empty = TickGap {
            span: BlindSpan { from: 0, length: 1 },
            cause: Cause::Unexplained,
            counted: CpuCounts::default(),
        };
        // Nonzero, so that its pages are present.
        let mut found = vec![empty; GAPS_MAX];
        found.clear();
        GapWatch {
            limits,
            rate,
            found,
            room: GAPS_MAX,
            detector: GapDetector::new(limits, 0),
            before: CpuCounts::default(),
            stale: false,
            steal_read: 0,
            refreshing: 0,
        }
    }

    /// Watches until `done` returns true for a reading or there is no room for another
    /// gap.
    pub(super) fn run(
        &mut self,
        machine: &mut impl WatchedMachine,
        mut done: impl FnMut(u64) -> bool,
    ) {
        self.found.clear();
        self.refreshing = 0;
        self.read(machine, true);
        self.detector = GapDetector::new(self.limits, machine.now());
        while self.found.len() < self.room {
            let now = machine.now();
            match self.detector.add_reading(now) {
                DetectorStep::Quiet => {}
                DetectorStep::Noticed => self.refresh(machine),
                DetectorStep::Gap(span) => self.record(span, machine),
            }
            if done(now) {
                return;
            }
            if let Some(next) = self.detector.next_window() {
                self.sleep_until_window(next, machine);
            }
        }
    }

    /// Records a gap and what the counters counted during it.
    fn record(&mut self, span: BlindSpan, machine: &mut impl WatchedMachine) {
        let length_ns = self.rate.ns(span.length);
        let (before, stale) = (self.before, self.stale);
        self.read(machine, length_ns >= STEAL_NS_MIN);
        let counted = self.before.since(before);
        self.found.push(TickGap {
            span,
            cause: counted.cause(length_ns, stale),
            counted,
        });
        self.detector.resume(machine.now());
    }

    /// Reads the counters, and steal time if it is `due` or was read long ago.
    fn read(&mut self, machine: &mut impl WatchedMachine, due: bool) {
        let now = machine.now();
        let since = self.rate.ns(now.wrapping_sub(self.steal_read));
        let mut counts = machine.counts();
        counts.steal = self.before.steal;
        if due || since >= STEAL_EVERY_NS {
            counts.steal = machine.steal();
            self.steal_read = now;
        }
        self.before = counts;
        self.stale = false;
    }

    /// Handles a delay that is no gap: what it adds to counters must not be attributed to
    /// the next gap.
    fn refresh(&mut self, machine: &mut impl WatchedMachine) {
        if self.refreshing > self.detector.observed() / REFRESH_PART {
            self.before = self.before.with_own(machine.own_counts());
            self.stale = true;
            self.detector.resume(machine.now());
            return;
        }
        let blind = self.detector.blind();
        self.read(machine, false);
        self.detector.resume(machine.now());
        self.refreshing += self.detector.blind() - blind;
    }

    /// Sleeps until the next window.
    fn sleep_until_window(&mut self, next: u64, machine: &mut impl WatchedMachine) {
        let left = next.wrapping_sub(machine.now());
        if left <= self.limits.window {
            machine.sleep(left);
        }
        self.read(machine, false);
        self.detector.open_window(machine.now());
    }

    /// Whether watching stopped because there was no room for another gap.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= self.room
    }

    /// How often the counter went back.
    pub(super) fn backwards(&self) -> u64 {
        self.detector.backwards()
    }

    /// How the CPU was watched, after [`GapWatch::run`]. `rest` has the other fields.
    pub(super) fn watched(&self, rest: Watched) -> Watched {
        Watched {
            observed_ns: self.rate.ns(self.detector.observed()),
            blind_ns: self.rate.ns(self.detector.blind()),
            outside_ns: self.rate.ns(self.detector.outside()),
            ..rest
        }
    }

    /// The gaps, with times since the reading `start`.
    pub(super) fn gaps(&self, cpu: u32, start: u64) -> Vec<Gap> {
        let gap = |found: &TickGap| Gap {
            cpu,
            at_ns: self.rate.ns(found.span.from.wrapping_sub(start)),
            length_ns: self.rate.ns(found.span.length),
            cause: found.cause,
            switches: found.counted.switches,
            interrupts: found.counted.interrupts,
            softirqs: found.counted.softirqs,
            count: 1,
        };
        self.found.iter().map(gap).collect()
    }

    /// Measures the length of an iteration: the median of all, and the median of the
    /// longest of each batch.
    pub(super) fn iteration_lengths(&self, machine: &mut impl WatchedMachine) -> (u64, u64) {
        let mut lengths = vec![0; BATCH * BATCHES];
        // Unreachable limits, to time the path without a gap.
        let limits = GapLimits {
            notice: u64::MAX / 2,
            threshold: u64::MAX / 2,
            ..self.limits
        };
        let mut last = machine.now();
        let mut detector = GapDetector::new(limits, last);
        for length in &mut lengths {
            let now = machine.now();
            detector.add_reading(now);
            *length = now.wrapping_sub(last);
            last = now;
        }
        let batches = lengths.chunks(BATCH);
        let mut longest: Vec<u64> = batches.filter_map(|b| b.iter().max().copied()).collect();
        (median(&mut lengths), median(&mut longest))
    }

    /// Measures the median time it takes to read the counters.
    pub(super) fn reading_length(machine: &mut impl WatchedMachine) -> u64 {
        let mut lengths = [0; READINGS];
        for length in &mut lengths {
            let before = machine.now();
            machine.counts();
            *length = machine.now().wrapping_sub(before);
        }
        median(&mut lengths)
    }
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
