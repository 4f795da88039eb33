//! The places that calls read and write.

use std::path::Path;

use assize_job::{CacheState, MemoryRoutine};

use super::super::instructions::{self, clflush, mfence};
use super::super::memory::{Area, Mapping};
use super::check;
use super::kernel::{CallProduct, CopybenchBatch, CopybenchDevice, KernelRoutine};
use super::routines::{CallableRoutine, plain_sum};
use crate::seed::Stream;
use crate::sys;
use crate::tsc;

/// Alignment of places before their offset is added.
pub(super) const LINE: usize = MemoryRoutine::LINE as usize;
/// Offset of the first destination in a page; that of the first source is 0. With equal
/// offsets, loads would wait for stores to the same offset of another page.
pub(super) const APART: usize = 2048;
/// Directory of the caches and their sizes.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// The places that calls read and write.
pub(super) struct RoutinePlaces {
    pub(super) source: Mapping,
    pub(super) destination: Mapping,
    /// Offsets of the places from the first, in order of use.
    pub(super) order: Vec<usize>,
    /// Distance between the beginnings of places.
    apart: usize,
    /// The kernel's device, if calls are made in the kernel.
    device: Option<CopybenchDevice>,
    from: usize,
    pub(super) to: usize,
    pub(super) size: usize,
}

impl RoutinePlaces {
    pub(super) fn new(
        kind: &MemoryRoutine,
        called: CallableRoutine,
        stream: &Stream,
    ) -> Result<RoutinePlaces, String> {
        let number = |bytes: u64| usize::try_from(bytes).map_err(|_| "a place is too large");
        let (size, from) = (number(kind.size)?, kind.source_offset as usize);
        let to = kind.destination_offset as usize;
        let apart = number(kind.stride())?;
        let count = match kind.cache {
            CacheState::Hot => 1,
            CacheState::Cold => number(kind.batch_calls())?,
            CacheState::Beyond => arena(kind)?.div_ceil(apart).max(1),
        };
        let mut stream = stream.clone();
        let is_kernel = matches!(called, CallableRoutine::Kernel(_));
        let order = order(
            count,
            kind.cache == CacheState::Cold,
            is_kernel,
            &mut stream,
        );
        let order = order.into_iter().map(|place| place * apart).collect();
        let (source, destination, device) = memory(called, count * apart, APART + count * apart)?;
        let places = RoutinePlaces {
            source,
            destination,
            order,
            apart,
            device,
            from,
            to: APART + to,
            size,
        };
        places.fill(&mut stream)?;
        Ok(places)
    }

    /// Writes random bytes to each source, and their complement to each
    /// destination.
    fn fill(&self, stream: &mut Stream) -> Result<(), String> {
        let mut bytes = vec![0; self.size];
        for at in &self.order {
            stream.fill(&mut bytes);
            self.source_area(*at)?.fill(&bytes);
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
            self.destination_area(*at)?.fill(&bytes);
        }
        Ok(())
    }

    pub(super) fn source_area(&self, at: usize) -> Result<Area<'_>, String> {
        let area = self.source.area(at + self.from, self.size);
        area.ok_or_else(|| "a place is not in its memory".into())
    }

    pub(super) fn destination_area(&self, at: usize) -> Result<Area<'_>, String> {
        let area = self.destination.area(at + self.to, self.size);
        area.ok_or_else(|| "a place is not in its memory".into())
    }

    /// Calls `act` for `calls` places from `first` on, continuing with the first after
    /// the last. Returns the ticks.
    #[inline]
    pub(super) fn time_calls(
        &self,
        first: usize,
        calls: usize,
        act: impl Fn(*mut u8, *const u8),
    ) -> u64 {
        // `new` has checked in `fill` that each place is in both mappings.
        let to = self.destination.start().wrapping_add(self.to);
        let from = self.source.start().wrapping_add(self.from);
        let begin = tsc::ordered_counter();
        let mut left = calls;
        let mut rest = self.order.get(first..).unwrap_or_default();
        while left > 0 {
            for at in rest.iter().take(left) {
                act(to.wrapping_add(*at), from.wrapping_add(*at));
            }
            left -= rest.len().min(left);
            rest = &self.order;
        }
        // Non-temporal stores are done when they are visible.
        instructions::sfence();
        tsc::ordered_counter().wrapping_sub(begin)
    }

    /// A batch of calls in the kernel, beginning at place `first`.
    pub(super) fn batch(
        &self,
        routine: KernelRoutine,
        first: usize,
        calls: usize,
    ) -> CopybenchBatch {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let address = |user: bool, mapping: &Mapping, at: usize| {
            let start = if user { mapping.start().addr() } else { 0 };
            (start + at) as u64
        };
        let at = |index: usize| self.order.get(index).map_or(0, |at| at / self.apart);
        let places = self.order.len();
        CopybenchBatch {
            routine: routine.number,
            from: address(routine.from_user, &self.source, self.from),
            to: address(routine.to_user, &self.destination, self.to),
            length: number(self.size),
            calls: number(calls),
            places: number(places),
            apart: number(self.apart),
            first: number(at(first)),
            // Places follow each other in equal steps, cyclically.
            step: number((at(1) + places - at(0)) % places.max(1)),
            ..CopybenchBatch::default()
        }
    }

    /// Makes the kernel carry out a batch on the places.
    pub(super) fn in_kernel(&self, mut batch: CopybenchBatch) -> Result<CopybenchBatch, String> {
        let device = self
            .device
            .as_ref()
            .ok_or("the kernel's device is not open")?;
        // SAFETY: all places lie in the two mappings, to whose content nothing
        // refers.
        unsafe { device.call(&mut batch)? };
        match batch.left {
            0 => Ok(batch),
            left => Err(format!("the kernel did not copy {left} bytes of a batch")),
        }
    }

    /// Flushes all places from the caches.
    pub(super) fn flush(&self) {
        for mapping in [&self.source, &self.destination] {
            // SAFETY: all of a mapping can be read, and `set_up` has checked the
            // size of cache lines.
            unsafe { clflush(mapping.start(), mapping.length(), LINE) };
        }
        mfence();
    }

    /// Counts wrong results among the first `reached` places.
    pub(super) fn wrong(&self, called: CallableRoutine, reached: u64) -> Result<u64, String> {
        let (mut source, mut found) = (vec![0; self.size], vec![0; self.size]);
        let reached = usize::try_from(reached).unwrap_or(usize::MAX);
        let mut wrong = 0;
        for (index, at) in self.order.iter().take(reached).enumerate() {
            let from = self.source_area(*at)?;
            from.read(&mut source);
            self.destination_area(*at)?.read(&mut found);
            let right = match called {
                CallableRoutine::Copy(_) | CallableRoutine::Rule(_) => source == found,
                CallableRoutine::Zero(_) => found.iter().all(|byte| *byte == 0),
                // SAFETY: the place can be read, and the CPU has the
                // instructions.
                CallableRoutine::Sum(sum) => unsafe {
                    let sum = sum(from.start(), from.length(), 0);
                    instructions::folded(sum) == plain_sum(&source, 0)
                },
                CallableRoutine::Kernel(routine) => {
                    let bytes = match routine.makes {
                        CallProduct::Copy | CallProduct::CopyAndSum => source == found,
                        CallProduct::Zeroes => found.iter().all(|byte| *byte == 0),
                        CallProduct::Sum => true,
                    };
                    bytes && self.has_sum(routine, index, &source)?
                }
            };
            wrong += u64::from(!right);
        }
        Ok(wrong)
    }

    /// Whether the kernel's sum of a place is right; true if the routine makes none.
    fn has_sum(&self, routine: KernelRoutine, index: usize, bytes: &[u8]) -> Result<bool, String> {
        if !routine.makes.sums() {
            return Ok(true);
        }
        let done = self.in_kernel(self.batch(routine, index, 1))?;
        Ok(check::is_same_sum(done.sum, plain_sum(bytes, 0)))
    }
}

/// The order of `count` places: ascending or, if `is_drawn`, shuffled; for the kernel, in
/// equal random steps.
pub(super) fn order(
    count: usize,
    is_drawn: bool,
    is_kernel: bool,
    stream: &mut Stream,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    match (is_drawn, is_kernel) {
        (false, _) => {}
        (true, false) => shuffle(&mut order, stream),
        (true, true) => {
            let step = coprime(count, stream);
            let number = |index: usize| (index as u64 * step % count as u64) as usize;
            order.iter_mut().for_each(|place| *place = number(*place));
        }
    }
    order
}

/// A random number that is below `count` and coprime to it: steps of that size
/// reach each place once.
fn coprime(count: usize, stream: &mut Stream) -> u64 {
    let count = count as u64;
    let divisor = |mut one: u64, mut other: u64| {
        while other > 0 {
            (one, other) = (other, one % other);
        }
        one
    };
    loop {
        let step = 1 + stream.below(count.saturating_sub(1));
        if divisor(count, step) == 1 {
            return step;
        }
    }
}

/// Maps memory to read from and to write to, of the process or of the kernel as the
/// routine needs it. Returns the device for the latter.
fn memory(
    called: CallableRoutine,
    from: usize,
    to: usize,
) -> Result<(Mapping, Mapping, Option<CopybenchDevice>), String> {
    let own = |bytes: usize| {
        Mapping::anonymous(bytes).map_err(sys::failure_of(format!("{bytes} bytes of memory")))
    };
    let CallableRoutine::Kernel(routine) = called else {
        return Ok((own(from)?, own(to)?, None));
    };
    let device = CopybenchDevice::open()?;
    let source = match routine.from_user {
        true => own(from)?,
        false => device.memory(false, from)?,
    };
    let destination = match routine.to_user {
        true => own(to)?,
        false => device.memory(true, to)?,
    };
    Ok((source, destination, Some(device)))
}

/// Number of bytes that calls cycle through to exceed the caches.
fn arena(kind: &MemoryRoutine) -> Result<usize, String> {
    let bytes = match kind.arena {
        Some(bytes) => bytes,
        None => largest_cache(Path::new(CACHES))?.saturating_mul(2),
    };
    usize::try_from(bytes).map_err(|_| "arena: too large".into())
}

/// The size of the largest cache that the kernel lists, in bytes.
pub(super) fn largest_cache(caches: &Path) -> Result<u64, String> {
    let entries = std::fs::read_dir(caches).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("size")).ok());
    let largest = sizes.filter_map(|size| cache_bytes(&size)).max();
    largest.ok_or_else(|| format!("{} gives the size of no cache; set arena", caches.display()))
}

/// Parses a size as the kernel writes it, such as `32768K`.
fn cache_bytes(size: &str) -> Option<u64> {
    let kilobytes: u64 = size.trim().strip_suffix('K')?.parse().ok()?;
    kilobytes.checked_mul(1024).filter(|bytes| *bytes > 0)
}

/// Shuffles with the algorithm of Fisher and Yates (Durstenfeld 1964).
pub(super) fn shuffle(order: &mut [usize], stream: &mut Stream) {
    for last in (1..order.len()).rev() {
        let other = usize::try_from(stream.below(last as u64 + 1)).unwrap_or(last);
        order.swap(last, other);
    }
}
