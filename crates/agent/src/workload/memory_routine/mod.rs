//! A routine that copies, zeroes or sums up bytes, called again and again.
//!
//! What the source holds is drawn from the seed, and so is the order of places that
//! were flushed. Calls are timed by batches, with a time-stamp counter that waits
//! for what was begun before it is read. In the end the results of all places are
//! compared with what they must be.

mod routines;

use std::cell::Cell;
use std::hint::black_box;
use std::path::Path;

use assize_job::{CacheState, MemoryRoutine, Record};

use super::instructions::{self, cache_line, clflush, mfence};
use super::memory::{Area, Mapping};
use super::series::Series;
use super::{Prepared, staged};
use crate::instruments::clock::{self, Rate};
use crate::process::Staged;
use crate::seed::Stream;
use crate::sys;
use routines::{Called, called, plain_sum};

/// What places begin at multiples of, and are apart.
const LINE: usize = 64;
/// How far the first place of the destination is behind the beginning of a page,
/// where the source has its first: loads do not wait for stores to the same place
/// of another page.
const APART: usize = 2048;
/// Where the kernel says how large caches are.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

pub(super) fn prepare(
    kind: &MemoryRoutine,
    seed: u64,
    label: &str,
    samples: bool,
    background: bool,
) -> Prepared {
    let calling = Calling {
        kind: kind.clone(),
        background,
        samples,
        stream: Stream::new(seed, &format!("{label}.bytes")),
        ready: None,
        start: 0,
        times: Series::default(),
        alternative: Cell::new(0),
    };
    staged(kind.scheduling.clone(), calling)
}

/// What is called, and what came of it.
struct Calling {
    kind: MemoryRoutine,
    /// It goes on until the process is killed, and measures nothing.
    background: bool,
    samples: bool,
    /// What the source holds, and in which order places are taken.
    stream: Stream,
    ready: Option<Ready>,
    start: u64,
    /// Ticks of each batch.
    times: Series,
    /// Calls in which the rule took the alternative.
    alternative: Cell<u64>,
}

/// All that is found out before anything is measured.
struct Ready {
    called: Called,
    places: Places,
    rate: Rate,
}

/// Where calls read and write.
struct Places {
    source: Mapping,
    destination: Mapping,
    /// How far each is behind the first, in the order in which they are taken.
    order: Vec<usize>,
    from: usize,
    to: usize,
    size: usize,
}

impl Staged for Calling {
    fn set_up(&mut self) -> Result<(), String> {
        let kind = &self.kind;
        self.times = Series::with_room(if self.background { 0 } else { kind.batches });
        sys::no_timer_slack();
        let called = called(kind)?;
        if kind.cache == CacheState::Cold && cache_line() != Some(LINE) {
            return Err(format!(
                "this CPU has no CLFLUSH of {LINE} bytes; take cache = \"hot\""
            ));
        }
        let rate = rate()?;
        let places = Places::new(kind, &self.stream)?;
        self.ready = Some(Ready {
            called,
            places,
            rate,
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
            let ticks = self.batch(ready, first, calls);
            if !self.background {
                self.times.push(sys::now(), ticks);
            }
            first = (first + calls) % ready.places.order.len();
            done += 1;
        }
        Ok(())
    }

    fn records(&mut self) -> Result<Vec<Record>, String> {
        let ready = self.ready.take().ok_or("nothing is ready to be called")?;
        let calls = self.kind.batch_calls();
        let metric = |name: &str, value: f64, unit: &str| Record::Metric {
            metric: name.into(),
            value,
            unit: unit.into(),
        };
        let per_call =
            |ticks: u64| ready.rate.ns(ticks.saturating_mul(1000)) as f64 / 1000.0 / calls as f64;
        let mut ticks: Vec<u64> = self.times.values().to_vec();
        let call = per_call(median(&mut ticks));
        let mut empty = self.empty_batches(&ready.places, calls);
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
        if matches!(ready.called, Called::Rule(_)) {
            let count = self.alternative.get() as f64;
            records.push(metric("alternative_calls", count, ""));
        }
        let reached = self.kind.batches.saturating_mul(calls);
        let wrong = ready.places.wrong(ready.called, reached)?;
        records.push(metric("results_wrong", wrong as f64, ""));
        Ok(records)
    }
}

impl Calling {
    /// Calls so many times, from the place of this number on; the ticks that took.
    fn batch(&self, ready: &Ready, first: usize, calls: usize) -> u64 {
        let places = &ready.places;
        let size = places.size;
        // SAFETY: a place has `size` bytes in each mapping, the mappings do not
        // overlap, and `called` has seen that the CPU has the instructions.
        unsafe {
            match ready.called {
                Called::Copy(copy) => places.each(first, calls, |to, from| copy(to, from, size)),
                Called::Zero(zero) => places.each(first, calls, |to, _| zero(to, size)),
                Called::Sum(sum) => places.each(first, calls, |_, from| {
                    black_box(sum(from, size, 0));
                }),
                Called::Rule(rule) => places.each(first, calls, |to, from| {
                    let alternative = rule.copy(to, from, size);
                    let before = self.alternative.get();
                    self.alternative.set(before + u64::from(alternative));
                }),
            }
        }
    }

    /// The ticks of batches of calls that do nothing.
    fn empty_batches(&self, places: &Places, calls: u64) -> Vec<u64> {
        let calls = usize::try_from(calls).unwrap_or(usize::MAX);
        let nothing: fn(*mut u8, *const u8, usize) = |_, _, _| {};
        let nothing = black_box(nothing);
        let one = |_| places.each(0, calls, |to, from| nothing(to, from, places.size));
        (0..self.kind.batches.min(100)).map(one).collect()
    }
}

impl Places {
    fn new(kind: &MemoryRoutine, stream: &Stream) -> Result<Places, String> {
        let number = |bytes: u64| usize::try_from(bytes).map_err(|_| "a place is too large");
        let (size, from) = (number(kind.size)?, kind.source_offset as usize);
        let to = kind.destination_offset as usize;
        let apart = (size + LINE).next_multiple_of(LINE);
        let count = match kind.cache {
            CacheState::Hot => 1,
            CacheState::Cold => number(kind.batch_calls())?,
            CacheState::Beyond => arena(kind)?.div_ceil(apart).max(1),
        };
        let mut order: Vec<usize> = (0..count).map(|place| place * apart).collect();
        let mut stream = stream.clone();
        if kind.cache == CacheState::Cold {
            shuffle(&mut order, &mut stream);
        }
        let mapping = |bytes: usize| {
            let error = |error| format!("{bytes} bytes of memory: {}", sys::words(&error));
            Mapping::anonymous(bytes).map_err(error)
        };
        let places = Places {
            source: mapping(count * apart)?,
            destination: mapping(APART + count * apart)?,
            order,
            from,
            to: APART + to,
            size,
        };
        places.fill(&mut stream)?;
        Ok(places)
    }

    /// Writes what is drawn into each source, and the complement of it to each
    /// destination.
    fn fill(&self, stream: &mut Stream) -> Result<(), String> {
        let mut bytes = vec![0; self.size];
        for at in &self.order {
            stream.fill(&mut bytes);
            self.source_of(*at)?.fill(&bytes);
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
            self.destination_of(*at)?.fill(&bytes);
        }
        Ok(())
    }

    fn source_of(&self, at: usize) -> Result<Area<'_>, String> {
        let area = self.source.area(at + self.from, self.size);
        area.ok_or_else(|| "a place is not in its memory".into())
    }

    fn destination_of(&self, at: usize) -> Result<Area<'_>, String> {
        let area = self.destination.area(at + self.to, self.size);
        area.ok_or_else(|| "a place is not in its memory".into())
    }

    /// Does something with so many places from this one on, again from the first
    /// after the last; the ticks from the first until all are done.
    #[inline]
    fn each(&self, first: usize, calls: usize, act: impl Fn(*mut u8, *const u8)) -> u64 {
        // `new` has seen in `fill` that each place is in both mappings.
        let to = self.destination.start().wrapping_add(self.to);
        let from = self.source.start().wrapping_add(self.from);
        let begin = clock::ordered_counter();
        let mut left = calls;
        let mut rest = self.order.get(first..).unwrap_or_default();
        while left > 0 {
            for at in rest.iter().take(left) {
                act(to.wrapping_add(*at), from.wrapping_add(*at));
            }
            left -= rest.len().min(left);
            rest = &self.order;
        }
        // Stores that pass the caches are done when they are visible.
        instructions::sfence();
        clock::ordered_counter().wrapping_sub(begin)
    }

    /// Has all places in memory alone.
    fn flush(&self) {
        for mapping in [&self.source, &self.destination] {
            // SAFETY: the whole of a mapping can be read, and `set_up` has seen
            // that lines have so many bytes.
            unsafe { clflush(mapping.start(), mapping.length(), LINE) };
        }
        mfence();
    }

    /// Of how many of the first so many places the result is not what it must be.
    fn wrong(&self, called: Called, reached: u64) -> Result<u64, String> {
        let (mut source, mut found) = (vec![0; self.size], vec![0; self.size]);
        let reached = usize::try_from(reached).unwrap_or(usize::MAX);
        let mut wrong = 0;
        for at in self.order.iter().take(reached) {
            let from = self.source_of(*at)?;
            from.read(&mut source);
            self.destination_of(*at)?.read(&mut found);
            let right = match called {
                Called::Copy(_) | Called::Rule(_) => source == found,
                Called::Zero(_) => found.iter().all(|byte| *byte == 0),
                // SAFETY: the place can be read, and the CPU has the
                // instructions.
                Called::Sum(sum) => unsafe {
                    let sum = sum(from.start(), from.length(), 0);
                    instructions::folded(sum) == plain_sum(&source, 0)
                },
            };
            wrong += u64::from(!right);
        }
        Ok(wrong)
    }
}

/// How fast the counter goes, if it is a clock.
fn rate() -> Result<Rate, String> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|why| format!("{path}: {why}"));
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    clock::usable(&read("/proc/cpuinfo")?, &read(source)?)?;
    clock::calibrate()
}

/// The bytes that calls go through where they go beyond the caches.
fn arena(kind: &MemoryRoutine) -> Result<usize, String> {
    let bytes = match kind.arena {
        Some(bytes) => bytes,
        None => largest_cache(Path::new(CACHES))?.saturating_mul(2),
    };
    usize::try_from(bytes).map_err(|_| "arena: too large".into())
}

/// The bytes of the largest cache that the kernel tells of.
fn largest_cache(caches: &Path) -> Result<u64, String> {
    let entries = std::fs::read_dir(caches).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("size")).ok());
    let largest = sizes.filter_map(|size| cache_bytes(&size)).max();
    largest.ok_or_else(|| {
        format!(
            "{} says of no cache how large it is; set arena",
            caches.display()
        )
    })
}

/// A size as the kernel writes it: `32768K`.
fn cache_bytes(size: &str) -> Option<u64> {
    let kilobytes: u64 = size.trim().strip_suffix('K')?.parse().ok()?;
    kilobytes.checked_mul(1024).filter(|bytes| *bytes > 0)
}

/// The order of Fisher and Yates, as Durstenfeld (1964) draws it.
fn shuffle(order: &mut [usize], stream: &mut Stream) {
    for last in (1..order.len()).rev() {
        let other = usize::try_from(stream.below(last as u64 + 1)).unwrap_or(last);
        order.swap(last, other);
    }
}

/// The middle one, or the lower of the two in the middle; 0 of none.
fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
