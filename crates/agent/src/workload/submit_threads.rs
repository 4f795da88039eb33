//! Threads that submit independent jobs, each to a separate context.

use std::sync::Arc;

use assize_job::{AgentMessage, ThreadsWorkload};

use super::client::{Client, ClientTerms, ContextLane};
use super::load::{FinishedRun, Load};
use super::threads::{join, spawn};
use crate::seed::Stream;
use crate::simgpu::uapi::{self, SimgpuExec};
use crate::simgpu::{Memory, failed};
use crate::sys;

/// Limit of the random delay of each thread's start.
const OFFSET_NS_MAX: u64 = 100_000;

pub(super) struct Submitters(pub(super) ThreadsWorkload);

/// The words that a thread's jobs write, and their values. Jobs use all words of the
/// thread in turn.
#[derive(Debug, Clone, Copy)]
struct JobWords {
    first: usize,
    count: usize,
    key: u64,
}

impl JobWords {
    /// The words of one of `threads` threads.
    fn for_thread(thread: usize, threads: usize, key: u64) -> JobWords {
        let count = (Memory::WORDS / threads.max(1)).max(1);
        JobWords {
            first: thread * count,
            count,
            key,
        }
    }

    /// Word and value of a job. Jobs that share a word write the same value.
    fn word_and_value(&self, job: usize) -> (usize, u32) {
        let index = job % self.count;
        let value = Stream::new(self.key, "word").next() ^ index as u64;
        (self.first + index, (value as u32) | 1)
    }

    /// The first of `jobs` jobs whose word is not in memory.
    fn missing(&self, jobs: usize, memory: impl Fn(usize) -> u32) -> Option<usize> {
        (0..jobs.min(self.count)).find(|job| {
            let (word, value) = self.word_and_value(*job);
            memory(word) != value
        })
    }
}

/// The words that a thread writes.
fn words(terms: &ClientTerms, thread: usize, threads: u32) -> JobWords {
    let key = terms.stream(&format!("words.{thread}")).next();
    JobWords::for_thread(thread, threads as usize, key)
}

impl Load for Submitters {
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String> {
        client.lanes(self.0.threads, self.0.submissions.into())
    }

    fn run(
        &mut self,
        terms: &ClientTerms,
        start: u64,
        lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String> {
        let mut offsets = terms.stream("offset");
        let threads = Arc::new(self.0.clone());
        let endless = terms.background;
        let mut running = Vec::new();
        for (index, mut lane) in lanes.into_iter().enumerate() {
            let begin = start + offsets.below(OFFSET_NS_MAX);
            let threads = threads.clone();
            let words = words(terms, index, threads.threads);
            let run = move || {
                sys::sleep_until(begin);
                one_thread(&mut lane, &threads, words, endless).map(|()| lane)
            };
            running.push(spawn(&format!("submit{index}"), run)?);
        }
        join(running)?.into_iter().collect()
    }

    fn records(&mut self, run: &FinishedRun<'_>) -> Result<Vec<AgentMessage>, String> {
        let memory = run.client.device.memory();
        let memory = memory.map_err(|error| failed("map its memory", &error))?;
        let jobs = self.0.submissions as usize;
        for thread in 0..self.0.threads as usize {
            let words = words(run.terms, thread, self.0.threads);
            if let Some(job) = words.missing(jobs, |word| memory.word(word)) {
                return Err(format!(
                    "thread {thread}: job {} is done, but its write is not visible",
                    job + 1
                ));
            }
        }
        Ok(Vec::new())
    }
}

fn one_thread(
    lane: &mut ContextLane,
    threads: &ThreadsWorkload,
    words: JobWords,
    endless: bool,
) -> Result<(), String> {
    let mut job = 0;
    while endless || job < threads.submissions as usize {
        if let Some(window) = threads.window
            && let Some(oldest) = job.checked_sub(window as usize)
        {
            lane.wait(oldest as u64 + 1)?;
        }
        let (word, value) = words.word_and_value(job);
        let exec = SimgpuExec {
            flags: uapi::EXEC_WRITE,
            duration_ns: threads.job_duration_ns,
            duration_spread_ns: threads.spread_ns,
            run_cost_ns: threads.run_cost_ns,
            write_offset: (word * size_of::<u32>()) as u32,
            write_value: value,
            ..SimgpuExec::default()
        };
        lane.submit(exec, &[])?;
        job += 1;
    }
    lane.wait_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_threads_do_not_overlap_and_are_checked() {
        for threads in [1, 7, 256] {
            let mut memory = vec![0_u32; Memory::WORDS];
            let words = |thread| JobWords::for_thread(thread, threads, thread as u64);
            let jobs = 3000;
            for thread in 0..threads {
                for job in 0..jobs {
                    let (word, value) = words(thread).word_and_value(job);
                    assert!(memory[word] == 0 || memory[word] == value);
                    memory[word] = value;
                }
            }
            let missing = |memory: &[u32]| {
                (0..threads).find_map(|thread| words(thread).missing(jobs, |word| memory[word]))
            };
            assert_eq!(missing(&memory), None);
            memory[words(threads - 1).word_and_value(5).0] = 0;
            assert_eq!(missing(&memory), Some(5));
        }
    }
}
