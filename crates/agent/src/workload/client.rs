//! Common code of all workloads that submit jobs to simgpu.
//!
//! Each context has its own measurements, so that threads share nothing. A context's ring
//! in the kernel holds the records of its last jobs. Before a submission would overwrite
//! a record, the submitter waits for a quarter of the ring and reads it. All other
//! records are read at the end, outside the measurement.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use assize_job::{DriverShape, Queue, WorkloadKind};

use super::prepared::WorkloadContext;
use super::series::TimedSeries;
use crate::seed::Stream;
use crate::simgpu::uapi::{self, SimgpuDep, SimgpuExec, SimgpuInfo, SimgpuRecord, SimgpuStats};
use crate::simgpu::{SimgpuDevice, failed};
use crate::sys;

/// Timeout for a job; longer than any job or hang lasts.
const PATIENCE_NS: u64 = 150_000_000_000;

/// Settings that all workloads on simgpu share.
#[derive(Debug, Clone)]
pub(super) struct ClientTerms {
    /// The settings of the queues.
    pub(super) queue: Queue,
    /// The seed of the run.
    pub(super) seed: u64,
    /// Prefix of the labels of its random streams.
    pub(super) label: String,
    /// Whether it runs until it is killed, and measures nothing.
    pub(super) background: bool,
    /// Whether individual samples are sent.
    pub(super) samples: bool,
    /// Whether a thread has a real-time or raised priority.
    pub(super) urgent: bool,
}

impl ClientTerms {
    pub(super) fn new(context: &WorkloadContext<'_>, kind: &WorkloadKind) -> ClientTerms {
        let job = context.job;
        ClientTerms {
            queue: job.queue.clone().unwrap_or_default(),
            seed: job.seed,
            label: context.label.to_owned(),
            background: context.background,
            samples: job.samples,
            urgent: kind.schedulings().iter().any(|(_, one)| one.is_urgent()),
        }
    }

    /// The stream of random numbers for one use.
    pub(super) fn stream(&self, purpose: &str) -> Stream {
        Stream::new(self.seed, &format!("{}.{purpose}", self.label))
    }
}

/// The device and the settings of its queues.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) device: Arc<SimgpuDevice>,
    pub(super) info: SimgpuInfo,
    pub(super) terms: ClientTerms,
}

impl Client {
    pub(super) fn open(terms: &ClientTerms) -> Result<Client, String> {
        let device = SimgpuDevice::open()?;
        let info = device.info().map_err(|error| failed("info", &error))?;
        Ok(Client {
            device: Arc::new(device),
            info,
            terms: terms.clone(),
        })
    }

    /// Whether anything is measured.
    pub(super) fn measures(&self) -> bool {
        !self.terms.background
    }

    /// Creates a context on an engine, for `jobs` jobs. `name`: label of the stream of
    /// their durations.
    pub(super) fn lane(&self, name: &str, engine: u32, jobs: u64) -> Result<ContextLane, String> {
        self.lane_with_queue(&self.terms.queue, name, engine, jobs)
    }

    /// Like [`Client::lane`], with the settings of `queue`.
    pub(super) fn lane_with_queue(
        &self,
        queue: &Queue,
        name: &str,
        engine: u32,
        jobs: u64,
    ) -> Result<ContextLane, String> {
        let engines = self.info.engines;
        if engine >= engines {
            return Err(format!(
                "there is no engine {engine} among {engines}, which count from 0; \
                 set parameters = {{ engines = {} }} of the module simgpu",
                engine + 1
            ));
        }
        let context = self
            .device
            .create(queue, engine)
            .map_err(|error| not_created(queue, &error))?;
        let seed = self.terms.stream(&format!("durations.{name}")).next();
        self.device
            .seed(context, seed)
            .map_err(|error| failed("seed a context", &error))?;
        let keep = self.measures();
        let room = if keep { jobs } else { 0 };
        let capacity = usize::try_from(room.min(1 << 22)).unwrap_or(0);
        let mut records = vec![SimgpuRecord::default(); capacity.min(queue.ring as usize)];
        records.clear();
        Ok(ContextLane {
            device: self.device.clone(),
            context,
            ring: u64::from(queue.ring),
            keep,
            last: 0,
            records,
            ioctl: TimedSeries::with_room(room),
            woken: Vec::with_capacity(capacity),
        })
    }

    /// Creates `count` contexts, distributed over the engines in turn.
    pub(super) fn lanes(&self, count: u32, jobs_of_each: u64) -> Result<Vec<ContextLane>, String> {
        (0..count)
            .map(|index| {
                self.lane(
                    &index.to_string(),
                    index % self.info.engines.max(1),
                    jobs_of_each,
                )
            })
            .collect()
    }
}

/// A context and the measurements of its jobs.
#[derive(Debug)]
pub(super) struct ContextLane {
    device: Arc<SimgpuDevice>,
    context: u32,
    ring: u64,
    /// Whether anything is measured.
    keep: bool,
    /// The sequence number of the newest job.
    last: u64,
    /// Records of the first jobs, in order, as far as read.
    records: Vec<SimgpuRecord>,
    /// How long each submission took, in nanoseconds.
    ioctl: TimedSeries,
    /// Each wait: the job, the start and the end of the wait.
    woken: Vec<(u64, u64, u64)>,
}

/// A submitted job.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) seqno: u64,
    pub(super) fence: Option<OwnedFd>,
}

impl ContextLane {
    /// Submits one job.
    pub(super) fn submit(
        &mut self,
        exec: SimgpuExec,
        deps: &[SimgpuDep],
    ) -> Result<Submitted, String> {
        self.make_room()?;
        let before = if self.keep { sys::now() } else { 0 };
        let (seqno, fence) = self
            .device
            .submit(self.context, exec, deps)
            .map_err(|error| failed("submit", &error))?;
        if self.keep {
            let after = sys::now();
            self.ioctl.push(after, after - before);
        }
        self.last = seqno;
        Ok(Submitted { seqno, fence })
    }

    /// A dependency on a job of this context; `None` if the job is certainly done,
    /// because the ring no longer holds it.
    pub(super) fn job(&self, seqno: u64) -> Option<SimgpuDep> {
        (seqno + self.ring > self.last + 1).then_some(SimgpuDep {
            kind: uapi::DEP_JOB,
            context: self.context,
            seqno,
            ..SimgpuDep::default()
        })
    }

    /// Waits for a job in the kernel.
    pub(super) fn wait(&mut self, seqno: u64) -> Result<(), String> {
        let before = if self.keep { sys::now() } else { 0 };
        let wait = self
            .device
            .wait(self.context, seqno, PATIENCE_NS)
            .map_err(|error| failed(&format!("wait for job {seqno}"), &error))?;
        if wait.error != 0 {
            return Err(self.ended_badly(seqno, wait.error));
        }
        if self.keep {
            self.woken.push((seqno, before, wait.t_wake));
        }
        Ok(())
    }

    /// Waits for a job in the kernel, for at most `ns` nanoseconds.
    pub(super) fn wait_at_most(&mut self, seqno: u64, ns: u64) -> Result<(), String> {
        match self.device.wait(self.context, seqno, ns) {
            Ok(wait) if wait.error != 0 => Err(self.ended_badly(seqno, wait.error)),
            Ok(_) => Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => Ok(()),
            Err(error) => Err(failed(&format!("wait for job {seqno}"), &error)),
        }
    }

    /// Waits for a job, unless the ring no longer holds it and it is done.
    pub(super) fn wait_remembered(&mut self, seqno: u64) -> Result<(), String> {
        match self.job(seqno) {
            Some(_) => self.wait(seqno),
            None => Ok(()),
        }
    }

    /// Records a wait for a job, from `before` until `woke`.
    pub(super) fn woke(&mut self, seqno: u64, before: u64, woke: u64) {
        if self.keep {
            self.woken.push((seqno, before, woke));
        }
    }

    /// Waits until all jobs are done.
    pub(super) fn wait_all(&mut self) -> Result<(), String> {
        if self.last > 0 {
            self.wait(self.last)?;
        }
        Ok(())
    }

    /// Waits for records and reads them if the next job would overwrite one.
    pub(super) fn make_room(&mut self) -> Result<(), String> {
        let read = self.records.len() as u64;
        if !self.keep || self.last - read < self.ring {
            return Ok(());
        }
        self.wait(read + (self.ring / 4).max(1))?;
        self.read()
    }

    /// Reads the records of jobs that are done, up to the first that is not.
    fn read(&mut self) -> Result<(), String> {
        let read = self.records.len();
        let left = usize::try_from(self.last).unwrap_or(0) - read;
        self.records.resize(read + left, SimgpuRecord::default());
        let count = self
            .device
            .read(self.context, read as u64 + 1, &mut self.records[read..])
            .map_err(|error| failed("read records", &error))?;
        let done = self.records[read..read + count]
            .iter()
            .zip(read as u64 + 1..)
            .take_while(|(record, wanted)| {
                record.seqno == *wanted && record.flags & uapi::RECORD_DONE != 0
            })
            .count();
        self.records.truncate(read + done);
        Ok(())
    }

    /// Returns all measurements, once all jobs are done.
    pub(super) fn finish(mut self) -> Result<Finished, String> {
        self.read()?;
        let missing = self.last - self.records.len() as u64;
        if missing > 0 {
            return Err(format!(
                "{missing} of {} jobs of context {} have no record, or are not done",
                self.last, self.context
            ));
        }
        if let Some(bad) = self.records.iter().find(|record| record.error != 0) {
            return Err(self.ended_badly(bad.seqno, bad.error));
        }
        let stats = self
            .device
            .stats(self.context)
            .map_err(|error| failed("statistics", &error))?;
        Ok(Finished {
            records: self.records,
            ioctl: self.ioctl,
            woken: self.woken,
            stats,
        })
    }

    fn ended_badly(&self, seqno: u64, error: i32) -> String {
        let error = std::io::Error::from_raw_os_error(error.saturating_neg());
        let words = sys::error_text(&error);
        format!("job {seqno} of context {}: {words}", self.context)
    }
}

/// The measurements of a context.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) records: Vec<SimgpuRecord>,
    pub(super) ioctl: TimedSeries,
    pub(super) woken: Vec<(u64, u64, u64)>,
    pub(super) stats: SimgpuStats,
}

/// A dependency on a fence.
pub(super) fn fence_dependency(fence: &OwnedFd) -> SimgpuDep {
    SimgpuDep {
        kind: uapi::DEP_FENCE,
        fd: fence.as_raw_fd(),
        ..SimgpuDep::default()
    }
}

/// Why a context could not be created.
fn not_created(queue: &Queue, error: &std::io::Error) -> String {
    let why = failed("create a context", error);
    if queue.shape != DriverShape::None && error.raw_os_error() == Some(libc::EOPNOTSUPP) {
        return format!(
            "{why}; drm_sched of this kernel has threads, not workqueues, so that it cannot be \
             used as xe and panthor use it; set shape = \"amdgpu\""
        );
    }
    why
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    #[test]
    fn a_shape_that_a_kernel_lacks_is_said() {
        let lacks = Error::from_raw_os_error(libc::EOPNOTSUPP);
        let plain = Queue::default();
        let xe = Queue {
            shape: DriverShape::Xe,
            ..Queue::default()
        };
        assert!(not_created(&xe, &lacks).contains("threads, not workqueues"));
        assert!(!not_created(&plain, &lacks).contains("threads"));
        let other = Error::from_raw_os_error(libc::ENOMEM);
        assert!(!not_created(&xe, &other).contains("threads"));
    }
}
