//! Reverse execution: a run is taken back to an earlier point by repeating it up to there.
//!
//! The machine starts from the memory image, or from the last checkpoint before the point, runs
//! freely until shortly before it, and then executes single instructions. A long way leaves
//! checkpoints, denser towards the point, so that the next step back is short.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assize_job::Order;
use assize_target::exact::{Checkpoint, DebuggedRun, Exact};
use assize_target::gdb_stub::{GdbStub, Stop, StubError};

use super::point::{Point, clocks, sum};
use super::stops::Stops;

/// A CPU whose clock is at least this far, in ns, before a count has not executed the instruction
/// that reached that count: the longest, PAUSE, takes at most 100.
const BEFORE: u64 = 128;
/// Factor by which a search goes farther back while it finds only an idle CPU.
const GROWTH: u64 = 16;
/// A way longer than this, in ns of the guest, gets a checkpoint after three quarters of it.
const FAR: u64 = 5_000_000;

/// A stopped machine and the connection to its gdb stub.
pub(super) struct StandingMachine {
    pub(super) run: DebuggedRun,
    pub(super) stub: GdbStub,
}

/// Where a run stopped on the way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reached {
    /// Before an instruction of this CPU: after a step, or at a breakpoint.
    Cpu(usize),
    /// Before this CPU accesses watched memory; the text is for gdb's stop reply.
    Watchpoint(usize, String),
    /// At the first instruction after the memory image; the run begins there.
    Begin,
}

/// Why going back failed.
#[derive(Debug)]
pub(super) enum NotBack {
    Stub(StubError),
    Start(assize_target::Error),
    /// The repeated run does not reach this point.
    Differs,
}

impl From<StubError> for NotBack {
    fn from(error: StubError) -> Self {
        NotBack::Stub(error)
    }
}

impl From<assize_target::Error> for NotBack {
    fn from(error: assize_target::Error) -> Self {
        NotBack::Start(error)
    }
}

impl fmt::Display for NotBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotBack::Stub(error) => error.fmt(f),
            NotBack::Start(error) => error.fmt(f),
            NotBack::Differs => f.write_str(
                "the repeated run does not reach this instruction: something has changed the run",
            ),
        }
    }
}

/// A checkpoint and where in the run it was taken.
struct KeptMoment {
    /// The time at which the machine was stopped for it, in ns since it was switched on.
    stop: u64,
    at: Point,
    checkpoint: Checkpoint,
}

/// One instruction, or one interrupt or exception.
struct CpuEvent {
    before: Point,
    stop: Stop,
}

/// The consecutive events right before a point.
struct EventWindow {
    events: Vec<CpuEvent>,
    end: Point,
    /// The time at which the machine was stopped before the first event; `None`: the memory image.
    stop: Option<u64>,
}

/// Finds earlier points of one run, and keeps checkpoints for the next search.
pub(super) struct History<'a> {
    exact: &'a Exact,
    order: &'a Order,
    /// Set to cancel a search.
    cancel: Arc<AtomicBool>,
    /// Checkpoints; `None` after a run from a checkpoint turned out to differ.
    kept: Option<Vec<KeptMoment>>,
    window: Option<EventWindow>,
}

impl<'a> History<'a> {
    pub(super) fn new(exact: &'a Exact, order: &'a Order, cancel: &Arc<AtomicBool>) -> History<'a> {
        History {
            exact,
            order,
            cancel: Arc::clone(cancel),
            kept: Some(Vec::new()),
            window: None,
        }
    }

    /// Goes back to before the last event of a CPU (instruction, interrupt or exception) that
    /// precedes `from`.
    pub(super) fn step_back(
        &mut self,
        from: &Point,
        cpu: usize,
    ) -> Result<(StandingMachine, Reached), NotBack> {
        self.exactly(|history| match history.event_before(from, cpu)? {
            Some(before) => Ok((history.go_to(&before)?, Reached::Cpu(cpu))),
            None => Ok((history.start_kept(None)?, Reached::Begin)),
        })
    }

    /// Goes back to the last hit of one of these breakpoints or watchpoints before `from`.
    pub(super) fn continue_back(
        &mut self,
        from: &Point,
        stops: &Stops<'_>,
    ) -> Result<(StandingMachine, Reached), NotBack> {
        self.exactly(|history| match history.hit_before(from, stops)? {
            Some((before, reached)) => Ok((history.go_to(&before)?, reached)),
            None => Ok((history.start_kept(None)?, Reached::Begin)),
        })
    }

    /// Goes back to a point.
    pub(super) fn go_back_to(&mut self, point: &Point) -> Result<StandingMachine, NotBack> {
        self.exactly(|history| history.go_to(point))
    }

    /// Tries again from the memory image alone if a run from a checkpoint does not reach the point.
    fn exactly<T>(
        &mut self,
        mut act: impl FnMut(&mut Self) -> Result<T, NotBack>,
    ) -> Result<T, NotBack> {
        match act(self) {
            Err(NotBack::Differs) if self.kept.is_some() => {
                self.kept = None;
                self.window = None;
                act(self)
            }
            done => done,
        }
    }

    /// A machine stopped at the last checkpoint before a time, or at the memory image.
    fn start(&self, time: u64) -> Result<StandingMachine, NotBack> {
        let all = self.kept.iter().flatten();
        let before = all.filter(|kept| kept.at.furthest() <= time);
        self.start_kept(before.map(|kept| kept.stop).max())
    }

    /// A machine stopped at the checkpoint taken at `stop`; without one, at the memory image.
    fn start_kept(&self, stop: Option<u64>) -> Result<StandingMachine, NotBack> {
        let mut all = self.kept.iter().flatten();
        let run = match all.find(|kept| Some(kept.stop) == stop) {
            Some(kept) => self.exact.debug_from(self.order, 0, &kept.checkpoint)?,
            None => self.exact.debug(self.order, 0)?,
        };
        let stub = run.stub()?.cancelled_by(&self.cancel);
        Ok(StandingMachine { run, stub })
    }

    /// A machine stopped where the first CPU reaches a time, and whether the time is not before the
    /// memory image.
    fn start_at(&mut self, time: u64) -> Result<(StandingMachine, bool), NotBack> {
        let mut machine = self.start(time)?;
        loop {
            let now = Point::read(&mut machine.stub)?.furthest();
            let left = time.saturating_sub(now);
            if left == 0 {
                return Ok((machine, now == time));
            }
            let stop = match &self.kept {
                Some(_) if left > FAR => time - left / 4,
                _ => time,
            };
            machine.stub.stop_at(stop)?;
            machine.stub.go()?;
            if stop == time {
                return Ok((machine, true));
            }
            self.keep(&mut machine.run, &mut machine.stub, stop)?;
        }
    }

    /// Adds a checkpoint of a machine that was stopped at the time `stop`.
    pub(super) fn keep(
        &mut self,
        run: &mut DebuggedRun,
        stub: &mut GdbStub,
        stop: u64,
    ) -> Result<(), NotBack> {
        let kept = KeptMoment {
            stop,
            at: Point::read(stub)?,
            checkpoint: self.exact.checkpoint(run)?,
        };
        if let Some(all) = &mut self.kept {
            all.push(kept);
        }
        Ok(())
    }

    /// A machine stopped at a point.
    fn go_to(&mut self, point: &Point) -> Result<StandingMachine, NotBack> {
        // Drops later checkpoints; a run that goes there makes them again.
        if let Some(all) = &mut self.kept {
            all.retain(|kept| kept.at.sum() <= point.sum());
        }
        let time = point.count(point.turn).saturating_sub(BEFORE);
        let (mut machine, _) = self.start_at(time)?;
        loop {
            let (_, counts) = clocks(&mut machine.stub)?;
            if point.is_at(&counts, &mut machine.stub)? {
                return Ok(machine);
            }
            if sum(&counts) > point.sum() {
                return Err(NotBack::Differs);
            }
            step(&mut machine.stub)?;
        }
    }

    /// Executes single events from a time on, until `is_enough` or the machine is at or past `end`.
    fn execute(
        &mut self,
        time: u64,
        end: &Point,
        stops: &Stops<'_>,
        is_enough: impl Fn(&Point, Option<&CpuEvent>) -> bool,
    ) -> Result<EventWindow, NotBack> {
        let (mut machine, later) = self.start_at(time)?;
        let mut watch = stops.insert(&mut machine.stub, false)?;
        let mut events = Vec::new();
        loop {
            let before = Point::read(&mut machine.stub)?;
            let is_past = before.sum() > end.sum();
            if is_past || before == *end || is_enough(&before, events.last()) {
                return Ok(EventWindow {
                    end: before,
                    events,
                    stop: later.then_some(time),
                });
            }
            let mut stop = step(&mut machine.stub)?;
            if !watch.is_hit(&stop, &mut machine.stub) {
                stop.watch = None;
            }
            events.push(CpuEvent { before, stop });
        }
    }

    /// The point before the last event of a CPU that precedes `from`; `None` if there is none.
    fn event_before(&mut self, from: &Point, cpu: usize) -> Result<Option<Point>, NotBack> {
        let known = self.window.as_ref().and_then(|it| it.event(from, cpu));
        if known.is_some() {
            return Ok(known);
        }
        let (mut count, mut back) = (from.count(cpu), BEFORE);
        loop {
            let time = self.nearer(count.saturating_sub(back), count, from, cpu)?;
            let is_close = from.turn == cpu && from.count(cpu) == count;
            let window = self.execute(time, from, &Stops::new(&[]), |point, last| {
                let others = last.is_some_and(|event| event.stop.cpu != cpu);
                !is_close && others && point.count(cpu) >= count
            })?;
            if window.end.sum() > from.sum() {
                return Err(NotBack::Differs);
            }
            let (is_begin, end) = (window.stop.is_none(), window.end.clone());
            let first = window.first().count(cpu);
            let found = window.event(&end, cpu);
            self.window = Some(window);
            if found.is_some() || is_begin {
                return Ok(found);
            }
            // The CPU was idle; its clock has had this count since `first` or longer.
            if first < count {
                (count, back) = (first, BEFORE);
            } else {
                back = back.saturating_mul(GROWTH);
            }
        }
    }

    /// Moves `time` forward to shortly before a CPU reaches `count`, never beyond that.
    fn nearer(
        &mut self,
        mut time: u64,
        count: u64,
        from: &Point,
        cpu: usize,
    ) -> Result<u64, NotBack> {
        let mut end = count;
        while end - time > BEFORE * GROWTH {
            let (mut machine, _) = self.start_at(time)?;
            let part = (end - time) / GROWTH;
            loop {
                let point = Point::read(&mut machine.stub)?;
                if point.count(cpu) >= count || point.sum() >= from.sum() {
                    end = end.min(time + part);
                    break;
                }
                if end - time <= part {
                    break;
                }
                machine.stub.stop_at(time + part)?;
                machine.stub.go()?;
                time += part;
            }
        }
        Ok(time)
    }

    /// The last hit of these breakpoints and watchpoints before `from`.
    fn hit_before(
        &mut self,
        from: &Point,
        stops: &Stops<'_>,
    ) -> Result<Option<(Point, Reached)>, NotBack> {
        let time = from.count(from.turn).saturating_sub(BEFORE);
        let window = self.execute(time, from, stops, |_, _| false)?;
        if window.end != *from {
            return Err(NotBack::Differs);
        }
        let (hit, mut end) = (window.hit(stops), window.stop);
        self.window = Some(window);
        if hit.is_some() {
            return Ok(hit);
        }
        while let Some(time) = end {
            let stops_before = self.kept.iter().flatten().map(|kept| kept.stop);
            let begin = stops_before.filter(|stop| *stop < time).max();
            let mut machine = self.start_kept(begin)?;
            match last_hit(&mut machine.stub, time, stops)? {
                Some((point, stop)) => return self.before_hit(point, stop),
                None => end = begin,
            }
        }
        Ok(None)
    }

    fn before_hit(
        &mut self,
        point: Point,
        stop: Stop,
    ) -> Result<Option<(Point, Reached)>, NotBack> {
        let Some(watch) = stop.watch else {
            return Ok(Some((point, Reached::Cpu(stop.cpu))));
        };
        let before = self.event_before(&point, stop.cpu)?;
        let before = before.ok_or(NotBack::Differs)?;
        Ok(Some((before, Reached::Watchpoint(stop.cpu, watch))))
    }
}

impl EventWindow {
    fn first(&self) -> &Point {
        self.events.first().map_or(&self.end, |event| &event.before)
    }

    /// The point before the last event of a CPU before `from`, if `from` is in this window.
    fn event(&self, from: &Point, cpu: usize) -> Option<Point> {
        let is_it = |event: &CpuEvent| event.before == *from;
        let until = match self.events.iter().position(is_it) {
            Some(index) => index,
            None if self.end == *from => self.events.len(),
            None => return None,
        };
        let mut events = self.events.get(..until)?.iter().rev();
        let event = events.find(|event| event.stop.cpu == cpu)?;
        Some(event.before.clone())
    }

    /// The last hit of a breakpoint or watchpoint in this window.
    fn hit(&self, stops: &Stops<'_>) -> Option<(Point, Reached)> {
        let mut after = &self.end;
        for CpuEvent { before, stop } in self.events.iter().rev() {
            if let Some(watch) = &stop.watch {
                let reached = Reached::Watchpoint(stop.cpu, watch.clone());
                return Some((before.clone(), reached));
            }
            let counter = before.counters.get(stop.cpu);
            let has_executed = before.counts != after.counts;
            if has_executed && counter.is_some_and(|it| stops.has_breakpoint(*it)) {
                return Some((before.clone(), Reached::Cpu(stop.cpu)));
            }
            after = before;
        }
        None
    }
}

fn step(stub: &mut GdbStub) -> Result<Stop, StubError> {
    if stub.is_cancelled() {
        return Err(StubError::Cancelled);
    }
    stub.step_machine()
}

/// Continues a machine up to a time, through all stops, and returns the last hit.
fn last_hit(
    stub: &mut GdbStub,
    time: u64,
    stops: &Stops<'_>,
) -> Result<Option<(Point, Stop)>, StubError> {
    let mut last = None;
    let mut watch = stops.insert(stub, true)?;
    stub.stop_at(time)?;
    let mut stop = stub.go()?;
    loop {
        if stub.is_cancelled() {
            return Err(StubError::Cancelled);
        }
        let point = Point::read(stub)?;
        let cpu = stop.cpu;
        let counter = point.counters.get(cpu);
        if stop.watch.is_some() {
            if watch.is_hit(&stop, stub) {
                last = Some((point, stop));
            }
            stop = stub.go()?;
        } else if point.count(cpu) >= time {
            return Ok(last);
        } else if counter.is_some_and(|it| stops.has_breakpoint(*it)) {
            last = Some((point, stop));
            stop = stub.step(cpu)?;
        } else {
            stop = stub.go()?;
        }
    }
}
