//! Compares a routine of the kernel with a plain implementation.
//!
//! The routine is called on places of random sizes and alignments, some of which end at
//! the end of the process's memory or beyond it. Nothing may change around a place, and
//! the routine must report the number of bytes that it could not access.

use super::super::memory::{Area, Mapping};
use super::kernel::{CallProduct, CopybenchBatch, CopybenchDevice, FaultAction, KernelRoutine};
use super::routines::plain_sum;
use crate::seed::Stream;
use crate::sys;

/// Number of places to try.
const TRIALS: usize = 64;
const PAGE: usize = 4096;
/// Size of the end of a page, which contains the places and of which all bytes are
/// checked.
const WINDOW: usize = 1024;
/// Minimum number of bytes before each place.
const ROOM: usize = 64;
/// Maximum length of a place, in bytes.
const LENGTH_MAX: usize = 700;
/// Maximum number of bytes by which a place extends beyond the end of memory.
const OVER_MAX: usize = 200;

/// A page to read from and one to write to. A page of the process is followed by an
/// inaccessible one.
pub(super) struct TrialPages {
    pub(super) from: Mapping,
    pub(super) to: Mapping,
}

/// A place to call a routine on: offsets in the two windows, and how many of its
/// bytes are beyond the end of the process's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoutineTrial {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) length: usize,
    pub(super) over: usize,
}

/// The result of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RoutineResult {
    pub(super) left: u64,
    pub(super) sum: u32,
}

/// Counts the places for which a routine of the kernel has a wrong result.
pub(super) fn count_wrong_in_kernel(
    routine: KernelRoutine,
    stream: &mut Stream,
) -> Result<u64, String> {
    let device = CopybenchDevice::open()?;
    let page = |user: bool, written: bool| match user {
        true => Mapping::guarded(PAGE).map_err(sys::failure_of("a page of memory")),
        false => device.memory(written, PAGE),
    };
    let ground = TrialPages {
        from: page(routine.from_user, false)?,
        to: page(routine.to_user, true)?,
    };
    let address = |user: bool, page: &Mapping, at: usize| {
        let behind = (PAGE - WINDOW + at) as u64;
        // The kernel's memory is addressed by the offset in it.
        behind + if user { page.start().addr() as u64 } else { 0 }
    };
    let call = |trial: RoutineTrial| {
        let mut batch = CopybenchBatch {
            routine: routine.number,
            from: address(routine.from_user, &ground.from, trial.from),
            to: address(routine.to_user, &ground.to, trial.to),
            length: trial.length as u32,
            calls: 1,
            places: 1,
            ..CopybenchBatch::default()
        };
        // SAFETY: the place lies in the two pages, which nothing refers to, or in
        // the inaccessible page after one of the process.
        unsafe { device.call(&mut batch)? };
        Ok(RoutineResult {
            left: batch.left,
            sum: batch.sum,
        })
    };
    count_wrong(routine, &ground, stream, call)
}

/// Counts the places for which a routine has a wrong result. `call` calls it on a trial
/// in `ground`.
pub(super) fn count_wrong(
    routine: KernelRoutine,
    ground: &TrialPages,
    stream: &mut Stream,
    call: impl Fn(RoutineTrial) -> Result<RoutineResult, String>,
) -> Result<u64, String> {
    let mut wrong = 0;
    for number in 0..TRIALS {
        let trial = random_trial(routine, number % 2 == 1, stream);
        let [from, to] = [&ground.from, &ground.to].map(window);
        let (from, to) = (from?, to?);
        let (mut source, mut before) = (vec![0; WINDOW], vec![0; WINDOW]);
        stream.fill(&mut source);
        stream.fill(&mut before);
        from.fill(&source);
        to.fill(&before);
        let result = call(trial)?;
        let (mut kept, mut after) = (vec![0; WINDOW], vec![0; WINDOW]);
        from.read(&mut kept);
        to.read(&mut after);
        let right = kept == source && is_right(routine, trial, result, &source, &before, &after);
        wrong += u64::from(!right);
    }
    Ok(wrong)
}

fn window(page: &Mapping) -> Result<Area<'_>, String> {
    let area = page.area(PAGE - WINDOW, WINDOW);
    area.ok_or_else(|| "a page is too small".into())
}

/// A random place. If `edge` is true and the routine accesses memory of the process, the
/// place ends at the end of that memory or beyond it.
fn random_trial(routine: KernelRoutine, edge: bool, stream: &mut Stream) -> RoutineTrial {
    let mut below = |limit: usize| stream.below(limit as u64) as usize;
    let length = below(LENGTH_MAX + 1);
    let over = below(length.min(OVER_MAX) + 1);
    let mut trial = RoutineTrial {
        from: ROOM + below(ROOM),
        to: ROOM + below(ROOM),
        length,
        over: 0,
    };
    if edge && (routine.from_user || routine.to_user) {
        let begin = WINDOW - (length - over);
        trial.over = over;
        if routine.from_user {
            trial.from = begin;
        } else {
            trial.to = begin;
        }
    }
    trial
}

/// Whether the number of bytes left, the sum, and all bytes of the destination window are
/// right.
fn is_right(
    routine: KernelRoutine,
    trial: RoutineTrial,
    result: RoutineResult,
    source: &[u8],
    before: &[u8],
    after: &[u8],
) -> bool {
    let RoutineTrial { from, to, over, .. } = trial;
    let left = usize::try_from(result.left).unwrap_or(usize::MAX);
    let most = match routine.fault {
        FaultAction::Exact | FaultAction::ExactThenZeroes => over,
        FaultAction::Word if over == 0 => 0,
        FaultAction::Word => (over + 7).min(trial.length),
    };
    if left < over || left > most {
        return false;
    }
    let there = |at: usize, length: usize| at..(at + length).min(WINDOW);
    let done = trial.length - left;
    if routine.makes.sums() {
        let wanted = plain_sum(&source[there(from, trial.length)], 0);
        if !is_same_sum(result.sum, wanted) {
            return false;
        }
    }
    let mut wanted = before.to_vec();
    match routine.makes {
        CallProduct::Copy | CallProduct::CopyAndSum => {
            wanted[there(to, done)].copy_from_slice(&source[there(from, done)]);
        }
        CallProduct::Zeroes => wanted[there(to, done)].fill(0),
        CallProduct::Sum => {}
    }
    let rest = there(to + done, left);
    match routine.fault {
        FaultAction::ExactThenZeroes => wanted[rest].fill(0),
        // Words on which the routine gave up may have been copied in part.
        FaultAction::Word if !rest.is_empty() => {
            wanted[rest.clone()].copy_from_slice(&after[rest]);
        }
        FaultAction::Exact | FaultAction::Word => {}
    }
    wanted == after
}

/// Whether an unfolded sum is equivalent to a folded one. One's complement has two
/// zeroes.
pub(super) fn is_same_sum(sum: u32, folded: u16) -> bool {
    sum % 0xffff == u32::from(folded) % 0xffff
}

#[cfg(test)]
mod tests;
