//! Clients that render at a fixed rate, and a compositor with a deadline.
//!
//! At each vertical blank every client works, submits the jobs of a frame and passes on
//! the fence of the last. A fixed time before the next vertical blank the compositor
//! takes the clients' frames and submits a job itself. It has missed the blank if the
//! engine has not finished that job by then. A client has three buffers: one that the
//! compositor shows, and two for frames that the compositor has not taken yet.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use assize_job::{AgentMessage, CompositorFences, CompositorWorkload as Parameters};

use super::blanks::{self, Blanks, ClientFrame};
use super::client::{Client, ClientTerms, ContextLane, fence_dependency};
use super::load::{FinishedRun, Load};
use super::series::TimedSeries;
use super::threads::{join, spawn, work};
use crate::process::schedule;
use crate::records::metric;
use crate::simgpu::uapi::SimgpuExec;
use crate::sys;

/// Maximum number of a client's frames that are submitted but not yet taken.
const WAITING_MAX: usize = 2;
/// Limit of the random delay of each client after the vertical blank.
const OFFSET_NS_MAX: u64 = 1_000_000;

pub(super) struct Composing {
    parameters: Parameters,
    blanks: Blanks,
    compositions: Vec<Composition>,
}

/// One frame of the compositor, which is one job.
#[derive(Debug, Clone)]
struct Composition {
    /// The vertical blank it is for.
    blank: u64,
    /// When it was due to begin.
    due: u64,
    /// When the clients began the frames that this one is the first to show.
    begun: Vec<u64>,
}

/// A client's frames that the compositor has not taken. The client holds the lock for a
/// few instructions only, and the compositor never waits for it.
type WaitingFrames = Arc<Mutex<VecDeque<ClientFrame>>>;

impl Composing {
    pub(super) fn new(parameters: Parameters) -> Composing {
        Composing {
            parameters,
            blanks: Blanks::default(),
            compositions: Vec::new(),
        }
    }

    fn blanks_to_meet(&self) -> impl Iterator<Item = u64> {
        let first = first_to_meet(&self.blanks, self.parameters.lead_ns);
        self.blanks
            .but_the_first()
            .skip_while(move |blank| *blank < first)
    }

    fn clients(&self, terms: &ClientTerms, lanes: Vec<ContextLane>) -> Vec<CompositorClient> {
        let mut offsets = terms.stream("offset");
        lanes
            .into_iter()
            .map(|lane| CompositorClient {
                parameters: self.parameters.clone(),
                blanks: self.blanks,
                offset: offsets.below(OFFSET_NS_MAX),
                lane,
                waiting: WaitingFrames::default(),
                over: Arc::default(),
            })
            .collect()
    }
}

impl Load for Composing {
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String> {
        let parameters = &self.parameters;
        let most = blanks::max_blanks(parameters.rate, parameters.duration_ns);
        let room = if client.measures() { most } else { 0 };
        let room = usize::try_from(room.min(1 << 22)).unwrap_or(0);
        self.compositions = Vec::with_capacity(room);
        let jobs = most * u64::from(parameters.jobs);
        let mut lanes: Vec<ContextLane> = (0..parameters.clients)
            .map(|index| client.lane(&format!("client{index}"), 0, jobs))
            .collect::<Result<_, _>>()?;
        lanes.push(client.lane("compositor", parameters.own_engine.into(), most)?);
        Ok(lanes)
    }

    fn run(
        &mut self,
        terms: &ClientTerms,
        start: u64,
        mut lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String> {
        let parameters = &self.parameters;
        self.blanks = Blanks::new(terms, parameters.rate, parameters.duration_ns, start);
        let lane = lanes.pop().ok_or("there are no contexts")?;
        let clients = self.clients(terms, lanes);
        let compositor = CompositorThread {
            parameters: self.parameters.clone(),
            blanks: self.blanks,
            lane,
            waiting: clients.iter().map(|one| one.waiting.clone()).collect(),
            keep: !terms.background,
            compositions: std::mem::take(&mut self.compositions),
            woken: Vec::new(),
        };
        let over: Vec<_> = clients.iter().map(|one| one.over.clone()).collect();
        let compositor = spawn("compositor", move || {
            let done = compositor.run();
            over.iter()
                .for_each(|one| one.store(true, Ordering::Relaxed));
            done
        })?;
        let clients: Vec<_> = clients
            .into_iter()
            .enumerate()
            .map(|(index, one)| spawn(&format!("client{index}"), move || one.run()))
            .collect::<Result<_, _>>()?;
        let compositor = join(vec![compositor])?;
        let mut lanes: Vec<ContextLane> = join(clients)?.into_iter().collect::<Result<_, _>>()?;
        for done in compositor {
            let done = done?;
            for (client, seqno, before, woke) in done.woken {
                lanes[client].woke(seqno, before, woke);
            }
            self.compositions = done.compositions;
            lanes.push(done.lane);
        }
        Ok(lanes)
    }

    fn records(&mut self, run: &FinishedRun<'_>) -> Result<Vec<AgentMessage>, String> {
        let jobs = run.contexts.last().map_or(&[][..], |one| &one.records);
        let done: Vec<u64> = jobs.iter().map(|job| job.t_hw).collect();
        let mut latency = TimedSeries::default();
        let mut end_to_end = TimedSeries::default();
        for (composition, &done) in self.compositions.iter().zip(&done) {
            latency.push(done, done.saturating_sub(composition.due));
            for begun in &composition.begun {
                end_to_end.push(done, done.saturating_sub(*begun));
            }
        }
        let missed = missed_blanks(self.blanks_to_meet(), &self.compositions, &done);
        let taken = self.compositions.iter().map(|one| one.begun.len());
        let mut records = latency.records("frame_latency", "ns", run.start, run.terms.samples);
        records.extend(end_to_end.records("end_to_end", "ns", run.start, run.terms.samples));
        records.push(metric("frames", self.compositions.len() as f64, ""));
        records.push(metric("client_frames", taken.sum::<usize>() as f64, ""));
        let duration_ns = self.parameters.duration_ns;
        records.push(blanks::frames_missed(&missed, duration_ns, run.start));
        Ok(records)
    }
}

/// The blanks for which no composition was finished in time. `done`: when the
/// engine finished each.
fn missed_blanks(
    blanks: impl Iterator<Item = u64>,
    compositions: &[Composition],
    done: &[u64],
) -> Vec<u64> {
    let mut finished = compositions.iter().zip(done).peekable();
    let is_missed = |blank: &u64| {
        let is_for_it = finished.next_if(|(composition, _)| composition.blank <= *blank);
        is_for_it.is_none_or(|(_, done)| done > blank)
    };
    blanks.filter(is_missed).collect()
}

/// The first blank for which the compositor does not begin before the clients.
fn first_to_meet(blanks: &Blanks, lead_ns: u64) -> u64 {
    blanks.after(blanks.first + lead_ns - 1)
}

struct CompositorClient {
    parameters: Parameters,
    blanks: Blanks,
    offset: u64,
    lane: ContextLane,
    waiting: WaitingFrames,
    /// Set when the compositor takes no more frames.
    over: Arc<AtomicBool>,
}

impl CompositorClient {
    fn run(mut self) -> Result<ContextLane, String> {
        sys::no_timer_slack();
        let parameters = &self.parameters;
        let exec = SimgpuExec {
            duration_ns: parameters.job_duration_ns,
            duration_spread_ns: parameters.spread_ns,
            run_cost_ns: parameters.run_cost_ns,
            ..SimgpuExec::default()
        };
        let mut blank = self.blanks.first;
        while blank < self.blanks.end && !self.over.load(Ordering::Relaxed) {
            let begin = blank + self.offset;
            sys::sleep_until(begin);
            if lock(&self.waiting).len() < WAITING_MAX {
                work(parameters.cpu_ns);
                let frame = blanks::render(&mut self.lane, exec, parameters.jobs, begin)?;
                lock(&self.waiting).push_back(frame);
            }
            let now = sys::now().saturating_sub(self.offset);
            blank = self.blanks.after(now.max(blank));
        }
        self.lane.wait_all()?;
        Ok(self.lane)
    }
}

/// Locks the frames.
fn lock(waiting: &WaitingFrames) -> std::sync::MutexGuard<'_, VecDeque<ClientFrame>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

struct CompositorThread {
    parameters: Parameters,
    blanks: Blanks,
    lane: ContextLane,
    /// One for each client.
    waiting: Vec<WaitingFrames>,
    keep: bool,
    compositions: Vec<Composition>,
    /// Client, job, and the start and end of the wait for its fence.
    woken: Vec<(usize, u64, u64, u64)>,
}

impl CompositorThread {
    fn run(mut self) -> Result<CompositorThread, String> {
        schedule(&self.parameters.compositor_scheduling)?;
        sys::no_timer_slack();
        let exec = SimgpuExec {
            duration_ns: self.parameters.composition_ns,
            run_cost_ns: self.parameters.run_cost_ns,
            ..SimgpuExec::default()
        };
        let lead = self.parameters.lead_ns;
        let mut blank = first_to_meet(&self.blanks, lead);
        while blank < self.blanks.end {
            let due = blank - lead;
            sys::sleep_until(due);
            let frames = self.take_newest_frames();
            if self.parameters.fences == CompositorFences::Wait {
                self.wait_for(&frames);
            }
            let deps = match self.parameters.fences {
                CompositorFences::Pass => frames
                    .iter()
                    .map(|(_, frame)| fence_dependency(&frame.fence))
                    .collect(),
                CompositorFences::Done | CompositorFences::Wait => Vec::new(),
            };
            let job = self.lane.submit(exec, &deps)?;
            self.lane.wait(job.seqno)?;
            if self.keep {
                let begun = frames.iter().map(|(_, frame)| frame.begun).collect();
                self.compositions.push(Composition { blank, due, begun });
            }
            // Compositions that were due before now have been missed.
            blank = self.blanks.after(blank.max(sys::now() + lead - 1));
        }
        Ok(self)
    }

    /// Takes the newest frame of each client that has a new one.
    fn take_newest_frames(&self) -> Vec<(usize, ClientFrame)> {
        let only_done = self.parameters.fences == CompositorFences::Done;
        let newest = |waiting: &WaitingFrames| {
            let mut waiting = match waiting.try_lock() {
                Ok(waiting) => waiting,
                // The client is adding a frame at this moment: too late.
                Err(TryLockError::WouldBlock) => return None,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            };
            let mut newest = None;
            while let Some(frame) = waiting.front()
                && (!only_done || is_done(frame))
            {
                newest = waiting.pop_front();
            }
            newest
        };
        let taken = self.waiting.iter().enumerate();
        taken
            .filter_map(|(client, waiting)| Some((client, newest(waiting)?)))
            .collect()
    }

    fn wait_for(&mut self, frames: &[(usize, ClientFrame)]) {
        for (client, frame) in frames {
            let before = sys::now();
            sys::wait_readable(&[&frame.fence], None);
            if self.keep {
                self.woken.push((*client, frame.seqno, before, sys::now()));
            }
        }
    }
}

/// Whether the frame's fence has signalled.
fn is_done(frame: &ClientFrame) -> bool {
    sys::wait_readable(&[&frame.fence], Some(0))[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_is_met_by_its_own_composition_in_time() {
        // The blanks to meet are 110, 120, 130, 140.
        let blanks = Blanks {
            first: 100,
            period_ns: 10,
            end: 150,
        };
        let missed = |all: &[(u64, u64)]| {
            let compositions = all.iter().map(|(blank, _)| Composition {
                blank: *blank,
                due: blank - 5,
                begun: Vec::new(),
            });
            let done: Vec<u64> = all.iter().map(|(_, done)| *done).collect();
            missed_blanks(
                blanks.but_the_first(),
                &compositions.collect::<Vec<_>>(),
                &done,
            )
        };
        assert_eq!(
            missed(&[(110, 107), (120, 120), (130, 126), (140, 139)]),
            [0; 0]
        );
        assert_eq!(missed(&[]), [110, 120, 130, 140]);
        // The second is late by one, the third is missing.
        assert_eq!(missed(&[(110, 107), (120, 121), (140, 136)]), [120, 130]);
        assert_eq!(first_to_meet(&blanks, 5), 110);
        assert_eq!(first_to_meet(&blanks, 10), 110);
        assert_eq!(first_to_meet(&blanks, 11), 120);
        // A composition for a later blank does not meet an earlier one.
        assert_eq!(missed(&[(130, 105)]), [110, 120, 140]);
    }
}
