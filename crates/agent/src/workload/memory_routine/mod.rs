//! Calls a routine that copies, zeroes or sums bytes.
//!
//! The content of the source is random, and so is the order of flushed places. Calls are
//! timed in batches with the time-stamp counter, which is read after all earlier
//! instructions have completed. At the end the results at all places are checked.
//!
//! The module copybench calls routines of the kernel and reads the counter. Its memory is
//! mapped, so that everything else is done here as for memory of the process.

mod check;
mod kernel;
mod places;
mod routines;

use std::cell::Cell;
use std::hint::black_box;

use assize_job::{AgentMessage, CacheState, MemoryRoutine};

use super::instructions::cache_line;
use super::prepared::{Prepared, WorkloadContext, prepare_staged};
use super::series::TimedSeries;
use crate::process::Staged;
use crate::records::metric;
use crate::seed::Stream;
use crate::sys;
use crate::tsc::{self, CounterRate};
use places::{LINE, RoutinePlaces};
use routines::{CallableRoutine, callable_routine};

pub(super) fn prepare(kind: &MemoryRoutine, context: &WorkloadContext<'_>) -> Prepared {
    let calling = RoutineWorkload {
        kind: kind.clone(),
        background: context.background,
        samples: context.job.samples,
        stream: context.stream("bytes"),
        ready: None,
        start: 0,
        times: TimedSeries::default(),
        alternative: Cell::new(0),
    };
    prepare_staged(kind.scheduling.clone(), calling)
}

/// The routine to call, and the measurements.
struct RoutineWorkload {
    kind: MemoryRoutine,
    /// Whether it runs until the process is killed, and measures nothing.
    background: bool,
    samples: bool,
    /// Random content of the source, and order of the places.
    stream: Stream,
    ready: Option<PreparedCalls>,
    start: u64,
    /// Ticks of each batch.
    times: TimedSeries,
    /// Number of calls in which the rule chose the alternative.
    alternative: Cell<u64>,
}

/// Everything that is prepared before the measurement.
struct PreparedCalls {
    called: CallableRoutine,
    places: RoutinePlaces,
    rate: CounterRate,
    /// Number of wrong results in trials before the measurement.
    wrong_before: u64,
}

impl Staged for RoutineWorkload {
    fn set_up(&mut self) -> Result<(), String> {
        let kind = &self.kind;
        self.times = TimedSeries::with_room(if self.background { 0 } else { kind.batches });
        sys::no_timer_slack();
        let called = callable_routine(kind)?;
        if kind.cache == CacheState::Cold && cache_line() != Some(LINE) {
            return Err(format!(
                "this CPU has no CLFLUSH of {LINE} bytes; set cache = \"hot\""
            ));
        }
        tsc::check()?;
        let rate = tsc::calibrate()?;
        let wrong_before = match called {
            CallableRoutine::Kernel(routine) => {
                let mut stream = self.stream.clone();
                check::count_wrong_in_kernel(routine, &mut stream)?
            }
            _ => 0,
        };
        let places = RoutinePlaces::new(kind, called, &self.stream)?;
        self.ready = Some(PreparedCalls {
            called,
            places,
            rate,
            wrong_before,
        });
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let ready = self.ready.as_ref().ok_or("nothing is ready to be called")?;
        self.start = sys::now();
        let calls = usize::try_from(self.kind.batch_calls()).map_err(|_| "too many calls")?;
        let mut first = 0;
        let mut done = 0;
        while self.background || done < self.kind.batches {
            if self.kind.cache == CacheState::Cold {
                ready.places.flush();
            }
            let ticks = self.batch(ready, first, calls)?;
            if !self.background {
                self.times.push(sys::now(), ticks);
            }
            first = (first + calls) % ready.places.order.len();
            done += 1;
        }
        Ok(())
    }

    fn records(&mut self) -> Result<Vec<AgentMessage>, String> {
        let ready = self.ready.take().ok_or("nothing is ready to be called")?;
        let calls = self.kind.batch_calls();
        let per_call =
            |ticks: u64| ready.rate.ns(ticks.saturating_mul(1000)) as f64 / 1000.0 / calls as f64;
        let mut ticks: Vec<u64> = self.times.values().to_vec();
        let call = per_call(median(&mut ticks));
        let mut empty = self.empty_batches(&ready, calls)?;
        let times = std::mem::take(&mut self.times).map(|ticks| ready.rate.ns(ticks));
        let mut records = times.records("batch_time", "ns", self.start, self.samples);
        records.push(metric("call_time", call, "ns"));
        records.push(metric(
            "empty_call_time",
            per_call(median(&mut empty)),
            "ns",
        ));
        if call > 0.0 {
            let speed = self.kind.size as f64 * 1000.0 / call;
            records.push(metric("routine_bandwidth", speed, "MB/s"));
        }
        if matches!(ready.called, CallableRoutine::Rule(_)) {
            let count = self.alternative.get() as f64;
            records.push(metric("alternative_calls", count, ""));
        }
        let reached = self.kind.batches.saturating_mul(calls);
        let wrong = ready.wrong_before + ready.places.wrong(ready.called, reached)?;
        records.push(metric("results_wrong", wrong as f64, ""));
        Ok(records)
    }
}

impl RoutineWorkload {
    /// Makes `calls` calls, beginning at place `first`. Returns the ticks.
    fn batch(&self, ready: &PreparedCalls, first: usize, calls: usize) -> Result<u64, String> {
        let places = &ready.places;
        let size = places.size;
        // SAFETY: a place has `size` bytes in each mapping, the mappings do not
        // overlap, and `callable_routine` has checked that the CPU has the instructions.
        Ok(unsafe {
            match ready.called {
                CallableRoutine::Copy(copy) => {
                    places.time_calls(first, calls, |to, from| copy(to, from, size))
                }
                CallableRoutine::Zero(zero) => {
                    places.time_calls(first, calls, |to, _| zero(to, size))
                }
                CallableRoutine::Sum(sum) => places.time_calls(first, calls, |_, from| {
                    black_box(sum(from, size, 0));
                }),
                CallableRoutine::Rule(rule) => places.time_calls(first, calls, |to, from| {
                    let alternative = rule.copy(to, from, size);
                    let before = self.alternative.get();
                    self.alternative.set(before + u64::from(alternative));
                }),
                CallableRoutine::Kernel(routine) => {
                    let batch = places.batch(routine, first, calls);
                    places.in_kernel(batch)?.ticks
                }
            }
        })
    }

    /// Measures batches of calls that do nothing, in ticks.
    fn empty_batches(&self, ready: &PreparedCalls, calls: u64) -> Result<Vec<u64>, String> {
        let places = &ready.places;
        let calls = usize::try_from(calls).unwrap_or(usize::MAX);
        let nothing: fn(*mut u8, *const u8, usize) = |_, _, _| {};
        let nothing = black_box(nothing);
        let one = |_| match ready.called {
            CallableRoutine::Kernel(routine) => {
                let batch = kernel::empty_batch(places.batch(routine, 0, calls));
                places.in_kernel(batch).map(|done| done.ticks)
            }
            _ => Ok(places.time_calls(0, calls, |to, from| nothing(to, from, places.size))),
        };
        (0..self.kind.batches.min(100)).map(one).collect()
    }
}

/// The median, or the lower of the two middle values; 0 if there are none.
fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
