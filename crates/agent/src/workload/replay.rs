//! Replays jobs that a text describes.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use assize_job::replay::{ReplayBatch, ReplayStep, Script, parse};
use assize_job::{AgentMessage, Replay};

use super::client::{Client, ClientTerms, ContextLane, fence_dependency};
use super::load::{FinishedRun, Load};
use super::series::TimedSeries;
use super::threads::{join, spawn};
use crate::simgpu::uapi::{self, SimgpuExec};
use crate::sys;

/// Limit of the random delay of each client's start.
const OFFSET_NS_MAX: u64 = 1_000_000;

pub(super) struct Replaying {
    replay: Replay,
    script: Arc<Script>,
    rounds: TimedSeries,
}

impl Replaying {
    pub(super) fn new(replay: &Replay) -> Result<Replaying, String> {
        let (text, place) = match (&replay.file, &replay.steps) {
            (Some(file), None) => {
                let text = fs::read_to_string(file);
                let text = text.map_err(sys::failure_of(&file))?;
                (text, file.as_str())
            }
            (None, Some(steps)) => (steps.clone(), "steps"),
            _ => return Err("file, steps: one of them must be given".into()),
        };
        let script = parse(&text).map_err(|why| format!("{place}: {why}"))?;
        Ok(Replaying {
            replay: replay.clone(),
            script: Arc::new(script),
            rounds: TimedSeries::default(),
        })
    }
}

impl Load for Replaying {
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String> {
        let mut lanes = Vec::new();
        for number in 0..self.replay.clients {
            for (index, (_, engine)) in self.script.lanes.iter().enumerate() {
                let of_lane =
                    |step: &&ReplayStep| matches!(step, ReplayStep::Batch(b) if b.lane == index);
                let jobs = self.script.steps.iter().filter(of_lane).count() as u64;
                let jobs = jobs * u64::from(self.replay.repeat);
                lanes.push(client.lane(&format!("{number}.{index}"), *engine, jobs)?);
            }
        }
        Ok(lanes)
    }

    fn run(
        &mut self,
        terms: &ClientTerms,
        start: u64,
        lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String> {
        let mut offsets = terms.stream("offset");
        let mut lanes = lanes.into_iter();
        let mut running = Vec::new();
        for number in 0..self.replay.clients {
            let begin = start + offsets.below(OFFSET_NS_MAX);
            let repeat = (!terms.background).then_some(self.replay.repeat);
            let lanes = lanes.by_ref().take(self.script.lanes.len()).collect();
            let player = ReplayClient::new(self.script.clone(), lanes, self.replay.run_cost_ns);
            let play = move || player.play(begin, repeat);
            running.push(spawn(&format!("client{number}"), play)?);
        }
        let mut lanes = Vec::new();
        for done in join(running)? {
            let player = done?;
            lanes.extend(player.lanes);
            self.rounds.append(player.rounds);
        }
        Ok(lanes)
    }

    fn records(&mut self, run: &FinishedRun<'_>) -> Result<Vec<AgentMessage>, String> {
        let rounds = std::mem::take(&mut self.rounds);
        Ok(rounds.records("round_time", "ns", run.start, run.terms.samples))
    }
}

/// A client that replays a script.
struct ReplayClient {
    script: Arc<Script>,
    lanes: Vec<ContextLane>,
    run_cost_ns: u64,
    /// Steps on whose fences others depend.
    fenced: BTreeSet<usize>,
    /// For each step of this round, its job and, if another may need it, its
    /// fence.
    jobs: Vec<Option<(usize, u64, Option<OwnedFd>)>>,
    /// The newest jobs, oldest first, to wait for if a throttle or depth is set.
    newest: VecDeque<(usize, u64)>,
    throttle: usize,
    depth: usize,
    rounds: TimedSeries,
}

impl ReplayClient {
    fn new(script: Arc<Script>, lanes: Vec<ContextLane>, run_cost_ns: u64) -> ReplayClient {
        let batches = script.steps.iter().filter_map(|step| match step {
            ReplayStep::Batch(batch) => Some(batch),
            _ => None,
        });
        let fenced = batches
            .flat_map(|batch| &batch.dependencies)
            .filter(|dependency| dependency.fence)
            .map(|dependency| dependency.step)
            .collect();
        ReplayClient {
            script,
            lanes,
            run_cost_ns,
            fenced,
            jobs: Vec::new(),
            newest: VecDeque::new(),
            throttle: 0,
            depth: 0,
            rounds: TimedSeries::default(),
        }
    }

    /// Replays `repeat` rounds, or until the process is killed.
    fn play(mut self, begin: u64, repeat: Option<u32>) -> Result<ReplayClient, String> {
        sys::no_timer_slack();
        sys::sleep_until(begin);
        let script = self.script.clone();
        let mut done = 0;
        while repeat.is_none_or(|repeat| done < repeat) {
            let start = sys::now();
            self.jobs.clear();
            for (index, step) in script.steps.iter().enumerate() {
                self.step(index, step, start)?;
            }
            if repeat.is_some() {
                let now = sys::now();
                self.rounds.push(now, now - start);
            }
            done = done.saturating_add(1);
        }
        self.lanes.iter_mut().try_for_each(ContextLane::wait_all)?;
        Ok(self)
    }

    fn step(&mut self, index: usize, step: &ReplayStep, start: u64) -> Result<(), String> {
        let mut job = None;
        match step {
            ReplayStep::Batch(batch) => job = Some(self.batch(index, batch)?),
            ReplayStep::Delay { ns } => sys::sleep_until(sys::now() + ns),
            ReplayStep::Period { ns } => sys::sleep_until(start + ns),
            ReplayStep::Sync { step } => {
                if let Some(Some((lane, seqno, _))) = self.jobs.get(*step) {
                    self.lanes[*lane].wait_remembered(*seqno)?;
                }
            }
            ReplayStep::Throttle { jobs } => self.throttle = *jobs,
            ReplayStep::Depth { jobs } => self.depth = *jobs,
        }
        self.jobs.push(job);
        Ok(())
    }

    fn batch(
        &mut self,
        index: usize,
        batch: &ReplayBatch,
    ) -> Result<(usize, u64, Option<OwnedFd>), String> {
        self.limit_depth(batch.lane)?;
        let flags = if self.fenced.contains(&index) {
            uapi::EXEC_FENCE_OUT
        } else {
            0
        };
        let mut deps = Vec::with_capacity(batch.dependencies.len());
        for dependency in &batch.dependencies {
            let Some(Some((lane, seqno, fence))) = self.jobs.get(dependency.step) else {
                continue;
            };
            match fence {
                Some(fence) if dependency.fence => deps.push(fence_dependency(fence)),
                _ => deps.extend(self.lanes[*lane].job(*seqno)),
            }
        }
        let exec = SimgpuExec {
            flags,
            duration_ns: batch.duration_ns,
            duration_spread_ns: batch.spread_ns,
            run_cost_ns: self.run_cost_ns,
            ..SimgpuExec::default()
        };
        let lane = &mut self.lanes[batch.lane];
        let job = lane.submit(exec, &deps)?;
        if batch.wait {
            lane.wait(job.seqno)?;
        }
        self.throttle(batch.lane, job.seqno)?;
        Ok((batch.lane, job.seqno, job.fence))
    }

    /// Waits for the job that is `throttle` jobs before this one.
    fn throttle(&mut self, lane: usize, seqno: u64) -> Result<(), String> {
        self.newest.push_back((lane, seqno));
        // Larger numbers in a script make no difference.
        const MOST: usize = 1 << 16;
        while self.newest.len() > MOST {
            self.newest.pop_front();
        }
        let before = self.newest.len().checked_sub(1 + self.throttle);
        if self.throttle > 0
            && let Some((lane, seqno)) = before.and_then(|at| self.newest.get(at)).copied()
        {
            self.lanes[lane].wait_remembered(seqno)?;
        }
        Ok(())
    }

    /// Waits until fewer than `depth` jobs are in flight on the engine of `lane`.
    fn limit_depth(&mut self, lane: usize) -> Result<(), String> {
        let engine = |lane: usize| self.script.lanes.get(lane).map(|(_, engine)| *engine);
        if self.depth == 0 {
            return Ok(());
        }
        let mut same = self.newest.iter().rev();
        let mut same = same
            .by_ref()
            .filter(|(other, _)| engine(*other) == engine(lane));
        if let Some((lane, seqno)) = same.nth(self.depth - 1).copied() {
            self.lanes[lane].wait_remembered(seqno)?;
        }
        Ok(())
    }
}
