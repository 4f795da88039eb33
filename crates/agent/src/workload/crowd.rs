//! Many contexts that feed one engine.
//!
//! A few threads keep the same number of jobs in flight for every context. A job that is
//! done writes its number to the memory of the device, so that a thread sees without a
//! system call which of its contexts need jobs. If none does, the thread sleeps until
//! some jobs are done.

use std::collections::VecDeque;
use std::sync::Arc;

use assize_job::{AgentMessage, Crowd, Queue};

use super::client::{Client, ClientTerms, ContextLane, Finished};
use super::load::{FinishedRun, Load};
use super::threads::{join, spawn};
use crate::records::{doubt, metric};
use crate::simgpu::uapi::{self, SimgpuExec};
use crate::simgpu::{Memory, failed};
use crate::sys;

/// Limit of the random delay of each thread's start.
const OFFSET_NS_MAX: u64 = 100_000;
/// Maximum time that a thread waits before it checks again.
const WAIT_NS: u64 = 10_000_000;
/// Maximum number of jobs that the rings of all contexts hold together.
const RECORDS_MAX: u32 = 1 << 18;
/// Number of jobs to reserve memory for, over all contexts.
const JOBS: u64 = 1 << 16;

pub(super) struct Crowding {
    crowd: Crowd,
    memory: Option<Arc<Memory>>,
    /// Start and end of the time in which every context had all its jobs in flight.
    full: (u64, u64),
}

/// A context served by a thread.
struct ServedContext {
    lane: ContextLane,
    /// Index of the word that its jobs write.
    word: usize,
    submitted: u64,
}

/// The contexts that one thread serves.
struct ContextTable {
    seats: Vec<ServedContext>,
    /// Jobs in flight, in order of submission: index of the context, number of the job.
    flying: VecDeque<(usize, u64)>,
    crowd: Crowd,
    memory: Arc<Memory>,
    /// When all contexts had their jobs in flight for the first time.
    full: Option<u64>,
}

impl Crowding {
    pub(super) fn new(crowd: Crowd) -> Crowding {
        Crowding {
            crowd,
            memory: None,
            full: (0, 0),
        }
    }
}

impl Load for Crowding {
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String> {
        let contexts = self.crowd.contexts;
        let memory = client.device.memory();
        let memory = memory.map_err(|error| failed("map its memory", &error))?;
        self.memory = Some(Arc::new(memory));
        let most = (RECORDS_MAX / contexts.max(1)).max(2 * self.crowd.window);
        let queue = Queue {
            ring: client.terms.queue.ring.min(power_of_two_up_to(most)),
            ..client.terms.queue.clone()
        };
        let jobs = JOBS / u64::from(contexts.max(1));
        (0..contexts)
            .map(|index| client.lane_with_queue(&queue, &index.to_string(), 0, jobs))
            .collect()
    }

    fn run(
        &mut self,
        terms: &ClientTerms,
        start: u64,
        lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String> {
        let end = match terms.background {
            true => u64::MAX,
            false => start.saturating_add(self.crowd.duration_ns),
        };
        let memory = self.memory.clone().ok_or("it was not set up")?;
        let threads = (self.crowd.threads as usize).min(lanes.len());
        let mut offsets = terms.stream("offset");
        let mut running = Vec::new();
        for (index, seats) in deal_out(served_contexts(lanes), threads)
            .into_iter()
            .enumerate()
        {
            let begin = start + offsets.below(OFFSET_NS_MAX);
            let table = ContextTable {
                seats,
                flying: VecDeque::new(),
                crowd: self.crowd.clone(),
                memory: memory.clone(),
                full: None,
            };
            let serve = move || {
                sys::sleep_until(begin);
                table.serve(end)
            };
            running.push(spawn(&format!("crowd{index}"), serve)?);
        }
        let mut seats = Vec::new();
        self.full = (start, end);
        for table in join(running)? {
            let table = table?;
            self.full.0 = self.full.0.max(table.full.unwrap_or(end));
            seats.extend(table.seats);
        }
        seats.sort_by_key(|seat| seat.word);
        Ok(seats.into_iter().map(|seat| seat.lane).collect())
    }

    fn records(&mut self, run: &FinishedRun<'_>) -> Result<Vec<AgentMessage>, String> {
        let (full, end) = self.full;
        if full >= end {
            return Err(format!(
                "every context had its jobs in flight only after {} ms, at the end of the run; \
                 give a longer duration",
                (full - run.start) / 1_000_000
            ));
        }
        let served = |one: &Finished| {
            let in_time = |job: &&uapi::SimgpuRecord| (full..end).contains(&job.t_hw);
            one.records.iter().filter(in_time).count() as u64
        };
        let services: Vec<u64> = run.contexts.iter().map(served).collect();
        let crowd = &self.crowd;
        Ok(fairness(&services, &|context| crowd.length(context)))
    }
}

/// The largest power of two up to `most`, but at least 2.
fn power_of_two_up_to(most: u32) -> u32 {
    1 << most.max(2).ilog2()
}

fn served_contexts(lanes: Vec<ContextLane>) -> Vec<ServedContext> {
    let seat = |(word, lane)| ServedContext {
        lane,
        word,
        submitted: 0,
    };
    lanes.into_iter().enumerate().map(seat).collect()
}

/// Deals out the items to threads in turn.
fn deal_out<T>(all: Vec<T>, threads: usize) -> Vec<Vec<T>> {
    let mut shares: Vec<Vec<T>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, one) in all.into_iter().enumerate() {
        shares[index % threads].push(one);
    }
    shares
}

impl ContextTable {
    /// Keeps jobs in flight for all contexts until `end`.
    fn serve(mut self, end: u64) -> Result<ContextTable, String> {
        loop {
            let is_full = self.fill()?;
            let now = sys::now();
            self.full = self.full.or(Some(now));
            if now >= end {
                break;
            }
            if is_full {
                self.wait()?;
            }
        }
        for seat in &mut self.seats {
            seat.lane.wait_all()?;
        }
        Ok(self)
    }

    /// Submits a job for each one that is done. Returns true if none was.
    fn fill(&mut self) -> Result<bool, String> {
        let mut is_full = true;
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let flying = seat.submitted - seat.done(&self.memory);
            for _ in flying..u64::from(self.crowd.window) {
                seat.submit(&self.crowd)?;
                self.flying.push_back((index, seat.submitted));
                is_full = false;
            }
        }
        Ok(is_full)
    }

    /// Waits until a quarter of the jobs in flight are done, if they finish in order of
    /// submission. So the thread seldom wakes, and no context runs out of jobs meanwhile.
    /// The wait is limited, so that a job that never finishes does not hold up others for
    /// long.
    fn wait(&mut self) -> Result<(), String> {
        let (seats, memory) = (&self.seats, &self.memory);
        self.flying
            .retain(|(seat, seqno)| *seqno > seats[*seat].done(memory));
        match self.flying.get(self.flying.len() / 4) {
            Some((seat, seqno)) => self.seats[*seat].lane.wait_at_most(*seqno, WAIT_NS),
            None => Ok(()),
        }
    }
}

impl ServedContext {
    /// The number of jobs that the engine has finished.
    fn done(&self, memory: &Memory) -> u64 {
        // Fewer jobs are in flight than a 32-bit word can count.
        let behind = (self.submitted as u32).wrapping_sub(memory.word(self.word));
        self.submitted - u64::from(behind)
    }

    fn submit(&mut self, crowd: &Crowd) -> Result<(), String> {
        self.submitted += 1;
        let length = crowd.length(self.word);
        let exec = SimgpuExec {
            flags: uapi::EXEC_WRITE,
            duration_ns: crowd.job_duration_ns.saturating_mul(length),
            duration_spread_ns: crowd.spread_ns.saturating_mul(length),
            run_cost_ns: crowd.run_cost_ns,
            write_offset: (self.word * size_of::<u32>()) as u32,
            write_value: self.submitted as u32,
            ..SimgpuExec::default()
        };
        self.lane.submit(exec, &[]).map(|_| ())
    }
}

/// Metrics of how evenly contexts were served. `services`: number of jobs done for each;
/// `length`: length of the jobs of a context, in any unit.
fn fairness(services: &[u64], length: &dyn Fn(usize) -> u64) -> Vec<AgentMessage> {
    let ends = |values: &mut dyn Iterator<Item = u64>| {
        values.fold((u64::MAX, 0), |(least, most), one| {
            (least.min(one), most.max(one))
        })
    };
    let (least, most) = ends(&mut services.iter().copied());
    let times = services.iter().enumerate();
    let times = ends(&mut times.map(|(context, jobs)| jobs.saturating_mul(length(context))));
    let metric = |name: &str, value: f64| metric(name, value, "");
    let mut records = vec![
        metric("service_min", least as f64),
        metric("service_max", most as f64),
    ];
    if least > 0 {
        records.push(metric("service_ratio", most as f64 / least as f64));
        let ratio = times.1 as f64 / times.0 as f64;
        records.push(metric("engine_time_ratio", ratio));
    } else {
        let starved = services.iter().filter(|service| **service == 0).count();
        records.push(doubt(
            "starved",
            format!(
                "no job of {starved} among {} contexts was done while all wanted the engine, \
                 of one context {most} were: there is no service_ratio",
                services.len()
            ),
        ));
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::metric_value;

    /// A metric of contexts with these numbers of jobs, those of every second
    /// one `uneven` times as long.
    fn ratio(name: &str, services: &[u64], uneven: u32) -> Option<f64> {
        let crowd = Crowd {
            uneven,
            ..Crowd::default()
        };
        let records = fairness(services, &|context| crowd.length(context));
        metric_value(&records, name)
    }

    #[test]
    fn equal_jobs_are_unequal_time_where_jobs_are_uneven() {
        assert_eq!(ratio("service_ratio", &[40, 40, 40], 4), Some(1.0));
        assert_eq!(ratio("engine_time_ratio", &[40, 40, 40], 4), Some(4.0));
        assert_eq!(ratio("service_ratio", &[40, 10, 40], 4), Some(4.0));
        assert_eq!(ratio("engine_time_ratio", &[40, 10, 40], 4), Some(1.0));
        assert_eq!(ratio("engine_time_ratio", &[4, 6, 5], 1), Some(1.5));
    }

    #[test]
    fn who_is_not_served_at_all_is_told() {
        assert_eq!(ratio("service_ratio", &[4, 6, 5], 1), Some(1.5));
        assert_eq!(ratio("service_ratio", &[7], 1), Some(1.0));
        assert_eq!(ratio("service_ratio", &[4, 0, 5], 1), None);
        assert_eq!(ratio("engine_time_ratio", &[4, 0, 5], 1), None);
        let starved = fairness(&[4, 0, 5], &|_| 1);
        assert!(starved.iter().any(
            |record| matches!(record, AgentMessage::Doubt { detail, .. } if detail.contains("1 among 3"))
        ));
    }

    #[test]
    fn every_seat_has_one_thread() {
        let shares = deal_out((0..10).collect(), 4);
        assert_eq!(shares.len(), 4);
        assert!(shares.iter().all(|share| (2..=3).contains(&share.len())));
        let mut all = shares.concat();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_ring_is_a_power_of_two_of_what_there_is() {
        assert_eq!(power_of_two_up_to(RECORDS_MAX / 4096), 64);
        assert_eq!(power_of_two_up_to(100), 64);
        assert_eq!(power_of_two_up_to(0), 2);
    }
}
