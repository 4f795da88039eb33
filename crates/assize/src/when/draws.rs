//! Executes draws, several in parallel.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::ops::Range;

use assize_bundle::RunRecord;
use assize_target::Target;
use assize_target::exact::{Draw, DrawOrigin};
use assize_target::gdb_stub::{GdbStub, StubError};
use assize_why::when::Search;

use super::Repeatable;
use crate::debug::clock::GuestClock;
use crate::debug::place::{self, Missed, Place};
use crate::failure::Failure;
use crate::{parallel_map, record};

/// The size given for each draw, at which a batch holds only one.
const BATCH: usize = 1 << 18;
/// The step, in ns, in which a run is continued to find its end.
const STRIDE: u64 = 10_000_000;

/// The draws of a run, made so far.
pub(super) struct Draws<'a> {
    of: &'a Repeatable<'a>,
    /// Whether each draw was bad, by the count where it began and its number.
    ended: RefCell<BTreeMap<(u64, u32), bool>>,
    /// The saved machines that draws start from, by count.
    origins: RefCell<BTreeMap<u64, DrawOrigin>>,
}

impl<'a> Draws<'a> {
    pub(super) fn new(of: &'a Repeatable<'a>) -> Self {
        Draws {
            of,
            ended: RefCell::default(),
            origins: RefCell::default(),
        }
    }

    /// Whether each of these draws from the count `at` is bad.
    pub(super) fn from(&self, at: u64, numbers: Range<u32>) -> Result<Vec<bool>, Failure> {
        self.keep_origin(at, numbers.clone())?;
        let (of, origins) = (self.of, self.origins.borrow());
        let origin = origins.get(&at);
        let ended = parallel(numbers.clone(), |number| {
            of.draw(at, number, origin).map(|run| of.bad.is(&run))
        })?;
        let mut all = self.ended.borrow_mut();
        all.extend(
            numbers
                .map(|number| (at, number))
                .zip(ended.iter().copied()),
        );
        Ok(ended)
    }

    /// Saves the machine at a count, unless all these draws are cached.
    fn keep_origin(&self, at: u64, numbers: Range<u32>) -> Result<(), Failure> {
        let Repeatable { exact, again, .. } = self.of;
        let is_drawn = |number| exact.is_drawn(&again.order, draw_from(at, number));
        let drawn: Vec<bool> = numbers.map(is_drawn).collect::<Result<_, _>>()?;
        let mut origins = self.origins.borrow_mut();
        if origins.contains_key(&at) || !drawn.contains(&false) {
            return Ok(());
        }
        let earlier = origins.range(..at).next_back().map(|(_, one)| one);
        let origin = exact.draw_origin(&again.order, at, earlier)?;
        origins.insert(at, origin);
        Ok(())
    }

    /// The first draw from this count that was not bad.
    pub(super) fn ended_otherwise(&self, at: u64) -> Option<u32> {
        let all = self.ended.borrow();
        let mut of = all.range((at, 0)..=(at, u32::MAX));
        of.find(|(_, bad)| !**bad).map(|((_, number), _)| *number)
    }

    /// Whether each of these runs with another seed is bad.
    pub(super) fn of_seeds(&self, numbers: Range<u32>) -> Result<Vec<bool>, Failure> {
        let of = self.of;
        parallel(numbers, |number| {
            let mut order = of.again.order.clone();
            order.job.seed ^= u64::from(number) + 1;
            let done = of.exact.run(&order, 0)?;
            Ok(of.bad.is(&of.recorded(&done)))
        })
    }

    /// Prints the progress of the search, if standard error is a terminal.
    pub(super) fn tell(&self, search: &Search) {
        if std::io::stderr().is_terminal() {
            eprint!(
                "\r{} draws from {} moments ",
                search.draws(),
                search.points().len()
            );
        }
    }
}

fn parallel(
    numbers: Range<u32>,
    work: impl Fn(u32) -> Result<bool, Failure> + Sync,
) -> Result<Vec<bool>, Failure> {
    let mut all = Vec::new();
    parallel_map::each(
        numbers,
        |_| BATCH,
        work,
        |ended| {
            all.push(ended?);
            Ok::<(), Failure>(())
        },
    )?;
    Ok(all)
}

impl Repeatable<'_> {
    fn recorded(&self, done: &assize_target::OrderResult) -> RunRecord {
        let run = &self.again.run;
        record::recorded(self.plan, run, done, self.expected.run(run))
    }

    /// The record of a draw. Without `origin`, the run is repeated up to `count` first.
    pub(super) fn draw(
        &self,
        count: u64,
        number: u32,
        origin: Option<&DrawOrigin>,
    ) -> Result<RunRecord, Failure> {
        let draw = draw_from(count, number);
        Ok(self.recorded(&self.exact.draw(&self.again.order, draw, origin)?))
    }

    pub(super) fn clock(&self) -> Result<&GuestClock, Failure> {
        self.kernel.clock.as_ref().map_err(|why| {
            Failure::Argument(format!(
                "when: the time of this kernel cannot be read: {why}"
            ))
        })
    }

    /// The counts between which to search: where the run begins, and where the bad sample ends or,
    /// if unknown, past the end of the run. Fails if the repeated run differs from the record.
    pub(super) fn bounds(&self) -> Result<[u64; 2], Failure> {
        let run = self.exact.debug(&self.again.order, 0)?;
        let mut stub = run.stub().map_err(failed)?;
        let begin = stub.icount("now ").map_err(failed)?;
        let end = match self.bad.end_ns() {
            Some(time) => {
                let there = place::go_to(
                    &mut stub,
                    &Place::Time(time),
                    &self.kernel.symbols,
                    &self.kernel.clock,
                );
                there.map_err(missed)?.count
            }
            None => last_stride(&mut stub, begin).map_err(failed)?,
        };
        // Fails if the machine has ended already.
        let _ = stub.detach();
        let done = run.finish()?;
        match self.again.difference(self.plan, &done, &self.expected) {
            None => Ok([begin, end]),
            Some(what) => Err(Failure::Argument(format!(
                "when: {}: run {} is not the same any more: {what}; rerun the experiment with \
                 this assize: `assize run --out NEW`",
                self.again.bundle.display(),
                self.again.run.index
            ))),
        }
    }

    /// The CLOCK_MONOTONIC time at each of these counts, which ascend.
    pub(super) fn times(&self, counts: &[u64]) -> Result<BTreeMap<u64, u64>, Failure> {
        let clock = self.clock()?;
        let run = self.exact.debug(&self.again.order, 0)?;
        let mut stub = run.stub().map_err(failed)?;
        let mut times = BTreeMap::new();
        for count in counts {
            match stub.go_to(*count) {
                Ok(_) | Err(StubError::Ended) => {}
                Err(error) => return Err(failed(error)),
            }
            match clock.read(&mut stub) {
                Ok(keeper) => times.insert(*count, keeper.time(*count)),
                // The count is past the end of the run.
                Err(_) => None,
            };
        }
        Ok(times)
    }
}

/// The draw with this number from a count.
pub(super) fn draw_from(count: u64, number: u32) -> Draw {
    let seed = u64::from(number) + 1;
    Draw { count, seed }
}

/// A count past the end of a run.
fn last_stride(stub: &mut GdbStub, begin: u64) -> Result<u64, StubError> {
    let mut now = begin;
    loop {
        now += STRIDE;
        let stopped = stub.go_to(now).and_then(|_| stub.icount("now "));
        match stopped {
            // All CPUs may have been idle past the count.
            Ok(later) => now = now.max(later),
            Err(StubError::Ended) => return Ok(now),
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn failed(error: StubError) -> Failure {
    Failure::Argument(format!("when: {error}"))
}

fn missed(why: Missed) -> Failure {
    Failure::Argument(format!("when: {why}"))
}
