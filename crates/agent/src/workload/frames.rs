//! A client that renders at a fixed rate, and its compositor.
//!
//! At each vertical blank the client works, submits the jobs of a frame, and passes the
//! fence of the last to the compositor, which waits for it and submits a job itself. Once
//! that is done, the frame is ready, and is shown at the next vertical blank. There are
//! two buffers: while a frame is not ready, the client has none to render to and skips
//! the blank.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use assize_job::{AgentMessage, FramesWorkload};

use super::blanks::{self, Blanks, ClientFrame};
use super::client::{Client, ClientTerms, ContextLane, fence_dependency};
use super::load::{FinishedRun, Load};
use super::series::TimedSeries;
use super::threads::{join, spawn, work};
use crate::records::metric;
use crate::simgpu::uapi::SimgpuExec;
use crate::sys;

pub(super) struct Rendering {
    frames: FramesWorkload,
    blanks: Blanks,
    /// For each frame, when its submission began and when it was ready.
    shown: Vec<(u64, u64)>,
}

impl Rendering {
    pub(super) fn new(frames: FramesWorkload) -> Rendering {
        Rendering {
            frames,
            blanks: Blanks::default(),
            shown: Vec::new(),
        }
    }

    fn most(&self) -> u64 {
        blanks::max_blanks(self.frames.rate, self.frames.duration_ns)
    }
}

/// The blanks at which no frame had become ready since the previous blank.
fn missed(blanks: &Blanks, ready: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut ready = ready.into_iter().peekable();
    let is_missed = |blank: &u64| {
        let mut is_new = false;
        while ready.next_if(|time| time <= blank).is_some() {
            is_new = true;
        }
        !is_new
    };
    blanks.but_the_first().filter(is_missed).collect()
}

impl Load for Rendering {
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String> {
        let most = self.most();
        let jobs = most * u64::from(self.frames.jobs);
        let room = if client.measures() { most } else { 0 };
        self.shown = Vec::with_capacity(usize::try_from(room.min(1 << 22)).unwrap_or(0));
        Ok(vec![
            client.lane("client", 0, jobs)?,
            client.lane("compositor", 0, most)?,
        ])
    }

    fn run(
        &mut self,
        terms: &ClientTerms,
        start: u64,
        lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String> {
        let frames = &self.frames;
        self.blanks = Blanks::new(terms, frames.rate, frames.duration_ns, start);
        let [lane, compositor_lane] =
            <[ContextLane; 2]>::try_from(lanes).map_err(|_| "there are not two contexts")?;
        let (give, take) = sync_channel(2);
        let done = Arc::new(AtomicU64::new(0));
        let client = FramesClient {
            frames: self.frames.clone(),
            blanks: self.blanks,
            lane,
            give,
            done: done.clone(),
        };
        let compositor = FramesCompositor {
            frames: self.frames.clone(),
            lane: compositor_lane,
            done,
            keep: !terms.background,
            shown: std::mem::take(&mut self.shown),
            woken: Vec::new(),
        };
        let client = spawn("client", move || client.run())?;
        let compositor = spawn("compositor", move || compositor.run(&take))?;
        let compositor = join(vec![compositor])?;
        let mut lanes: Vec<ContextLane> =
            join(vec![client])?.into_iter().collect::<Result<_, _>>()?;
        for done in compositor {
            let done = done?;
            for (seqno, before, woke) in done.woken {
                lanes[0].woke(seqno, before, woke);
            }
            self.shown = done.shown;
            lanes.push(done.lane);
        }
        Ok(lanes)
    }

    fn records(&mut self, run: &FinishedRun<'_>) -> Result<Vec<AgentMessage>, String> {
        let mut times = TimedSeries::default();
        for (begun, ready) in &self.shown {
            times.push(*ready, ready - begun);
        }
        let ready = self.shown.iter().map(|(_, ready)| *ready);
        let missed = missed(&self.blanks, ready);
        let mut records = times.records("frame_time", "ns", run.start, run.terms.samples);
        records.push(metric("frames", self.shown.len() as f64, ""));
        let duration_ns = self.frames.duration_ns;
        records.push(blanks::frames_missed(&missed, duration_ns, run.start));
        Ok(records)
    }
}

struct FramesClient {
    frames: FramesWorkload,
    blanks: Blanks,
    lane: ContextLane,
    give: SyncSender<ClientFrame>,
    /// Number of frames that are ready.
    done: Arc<AtomicU64>,
}

impl FramesClient {
    fn run(mut self) -> Result<ContextLane, String> {
        sys::no_timer_slack();
        let mut submitted = 0;
        let mut blank = self.blanks.first;
        while blank < self.blanks.end {
            sys::sleep_until(blank);
            if self.done.load(Ordering::Acquire) == submitted {
                work(self.frames.cpu_ns);
                let frame = self.render()?;
                if self.give.send(frame).is_err() {
                    // The compositor reports why it has ended.
                    break;
                }
                submitted += 1;
            }
            blank = self.blanks.after(sys::now().max(blank));
        }
        drop(self.give);
        self.lane.wait_all()?;
        Ok(self.lane)
    }

    /// Submits the jobs of a frame.
    fn render(&mut self) -> Result<ClientFrame, String> {
        let exec = SimgpuExec {
            duration_ns: self.frames.job_duration_ns,
            duration_spread_ns: self.frames.spread_ns,
            run_cost_ns: self.frames.run_cost_ns,
            ..SimgpuExec::default()
        };
        blanks::render(&mut self.lane, exec, self.frames.jobs, sys::now())
    }
}

struct FramesCompositor {
    frames: FramesWorkload,
    lane: ContextLane,
    done: Arc<AtomicU64>,
    keep: bool,
    shown: Vec<(u64, u64)>,
    /// The waits for jobs of the client's context.
    woken: Vec<(u64, u64, u64)>,
}

impl FramesCompositor {
    fn run(mut self, take: &Receiver<ClientFrame>) -> Result<FramesCompositor, String> {
        let exec = SimgpuExec {
            duration_ns: self.frames.composition_ns,
            run_cost_ns: self.frames.run_cost_ns,
            ..SimgpuExec::default()
        };
        while let Ok(frame) = take.recv() {
            let mut dep = None;
            if self.frames.in_fence {
                dep = Some(fence_dependency(&frame.fence));
            } else {
                let before = sys::now();
                sys::wait_readable(&[&frame.fence], None);
                if self.keep {
                    self.woken.push((frame.seqno, before, sys::now()));
                }
            }
            let job = self.lane.submit(exec, dep.as_slice())?;
            self.lane.wait(job.seqno)?;
            if self.keep {
                self.shown.push((frame.begun, sys::now()));
            }
            self.done.fetch_add(1, Ordering::Release);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLANKS: Blanks = Blanks {
        first: 100,
        period_ns: 10,
        end: 150,
    };

    #[test]
    fn a_blank_without_a_new_frame_is_missed() {
        // The blanks at which a frame may be shown are 110, 120, 130, 140.
        assert_eq!(missed(&BLANKS, [105, 115, 125, 135]), [0; 0]);
        assert_eq!(missed(&BLANKS, [110, 120, 130, 140]), [0; 0]);
        assert_eq!(missed(&BLANKS, []), [110, 120, 130, 140]);
        assert_eq!(missed(&BLANKS, [111, 135, 155]), [110, 130]);
        assert_eq!(missed(&BLANKS, [112, 113, 114]), [110, 130, 140]);
    }
}
