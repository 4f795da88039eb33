//! Reports on the jobs submitted to simgpu.

use assize_job::{AgentMessage, Design, JobPutter, Queue, WorkerSharing};

use super::client::{ClientTerms, Finished};
use super::series::TimedSeries;
use crate::records::{doubt, metric, raw};
use crate::simgpu::uapi::{SimgpuInfo, SimgpuRecord as JobRecord, SimgpuStats};

/// The records of all contexts of a workload. `start`: start of the workload.
pub(super) fn report(
    finished: Vec<Finished>,
    terms: &ClientTerms,
    info: &SimgpuInfo,
    start: u64,
) -> Vec<AgentMessage> {
    let mut latencies = JobLatencies::default();
    let mut stats = Vec::new();
    for one in finished {
        stats.push(one.stats);
        latencies.add(one);
    }
    let mut records = latencies.records(start, terms.samples);
    records.extend(queue_counts(terms, &stats, info));
    records
}

/// The latencies measured for each job.
#[derive(Debug, Default)]
struct JobLatencies {
    run: TimedSeries,
    handed: TimedSeries,
    ioctl: TimedSeries,
    wake: TimedSeries,
}

impl JobLatencies {
    fn add(&mut self, one: Finished) {
        for record in &one.records {
            self.run
                .push(record.t_run, since(record.t_run, record.t_commit));
            let handed = since(record.t_return, record.t_commit);
            self.handed.push(record.t_return, handed);
        }
        for (seqno, before, woke) in one.woken {
            if let Some(latency) = wake_latency(&one.records, seqno, before, woke) {
                self.wake.push(woke, latency);
            }
        }
        self.ioctl.append(one.ioctl);
    }

    fn records(self, start: u64, samples: bool) -> Vec<AgentMessage> {
        [
            ("submit_to_run", self.run),
            ("submit_to_return", self.handed),
            ("ioctl", self.ioctl),
            ("done_to_wake", self.wake),
        ]
        .into_iter()
        .flat_map(|(name, series)| series.records(name, "ns", start, samples))
        .collect()
    }
}

fn since(later: u64, earlier: u64) -> u64 {
    later.saturating_sub(earlier)
}

/// Nanoseconds from the end of a job on the engine until its waiter ran; `None` if the
/// wait began after that end.
fn wake_latency(records: &[JobRecord], seqno: u64, before: u64, woke: u64) -> Option<u64> {
    let at = usize::try_from(seqno.checked_sub(1)?).ok()?;
    let done = records.get(at)?.t_hw;
    (before < done).then(|| since(woke, done))
}

/// Counts of the queues, and a doubt for each requested feature that they never used.
fn queue_counts(
    terms: &ClientTerms,
    stats: &[SimgpuStats],
    info: &SimgpuInfo,
) -> Vec<AgentMessage> {
    let queue = &terms.queue;
    let sum = |counter: fn(&SimgpuStats) -> u64| stats.iter().map(counter).sum::<u64>();
    let jobs = sum(|stats| stats.submitted);
    let bypassed = sum(|stats| stats.bypassed);
    let (irq, submit) = (sum(|stats| stats.put_irq), sum(|stats| stats.put_submit));
    let mut metrics = vec![("jobs", jobs, ""), ("jobs_bypassed", bypassed, "")];
    // Contexts without a queue need no memory for one.
    let known = match queue.design {
        Design::DrmSched => Some(0),
        Design::Depq => Some(1),
        Design::None => None,
    };
    if let Some(at) = known {
        metrics.extend([
            ("queue_memory", u64::from(info.queue_bytes[at]), "B"),
            ("job_memory", u64::from(info.job_bytes[at]), "B"),
            ("fence_memory", u64::from(info.fence_bytes[at]), "B"),
        ]);
    }
    let raises = count_for_workers(queue, stats, |stats| stats.raises);
    if queue.worker.follows() {
        let lowers = count_for_workers(queue, stats, |stats| stats.lowers);
        metrics.extend([("worker_raises", raises, ""), ("worker_lowers", lowers, "")]);
    }
    let metrics = metrics.into_iter();
    let mut records: Vec<AgentMessage> = metrics
        .map(|(name, value, unit)| metric(name, value as f64, unit))
        .collect();
    let mut unreached = |what: &str| {
        records.push(doubt(
            "unreached-code",
            format!("{what} in none of {jobs} jobs"),
        ));
    };
    if queue.bypass && bypassed == 0 {
        unreached("bypass is on, but the submitter ran the job");
    }
    if queue.worker.follows() && terms.urgent && !queue.bypass && raises == 0 {
        unreached("the worker follows, but it was raised");
    }
    match queue.put {
        JobPutter::Irq if irq == 0 => unreached("put is irq, but the interrupt put the job"),
        JobPutter::Submit if submit == 0 => unreached("put is submit, but a submitter put the job"),
        _ => {}
    }
    records.push(raw("simgpu.txt", table(stats)));
    records
}

/// Sums a count of workers. Contexts that share a worker count as the one that reports
/// the most.
fn count_for_workers(
    queue: &Queue,
    stats: &[SimgpuStats],
    counter: fn(&SimgpuStats) -> u64,
) -> u64 {
    let each = stats.iter().map(counter);
    match queue.share {
        WorkerSharing::Context => each.sum(),
        WorkerSharing::Engine | WorkerSharing::Device => each.max().unwrap_or(0),
    }
}

/// The statistics of each context, one per line.
fn table(stats: &[SimgpuStats]) -> String {
    let mut text = String::from(
        "context submitted bypassed done failed timedout no_hang released \
         put_irq put_submit put_worker put_delayed kicks raises lowers softirqs\n",
    );
    for one in stats {
        let numbers = [
            u64::from(one.context),
            one.submitted,
            one.bypassed,
            one.done,
            one.failed,
            one.timedout,
            one.no_hang,
            one.released,
            one.put_irq,
            one.put_submit,
            one.put_worker,
            one.put_delayed,
            one.kicks,
            one.raises,
            one.lowers,
            one.softirqs,
        ];
        let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
        text.push_str(&words.join(" "));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use assize_job::Worker;

    use super::*;

    fn stats(bypassed: u64, put_irq: u64) -> SimgpuStats {
        SimgpuStats {
            submitted: 10,
            bypassed,
            put_irq,
            ..SimgpuStats::default()
        }
    }

    fn terms(queue: &Queue, urgent: bool) -> ClientTerms {
        ClientTerms {
            queue: queue.clone(),
            seed: 0,
            label: "workload".into(),
            background: false,
            samples: false,
            urgent,
        }
    }

    fn doubts(queue: &Queue, stats: &[SimgpuStats]) -> usize {
        doubts_of(&terms(queue, false), stats)
    }

    fn doubts_of(terms: &ClientTerms, stats: &[SimgpuStats]) -> usize {
        let records = queue_counts(terms, stats, &SimgpuInfo::default());
        let doubts = records.iter();
        doubts
            .filter(
                |record| matches!(record, AgentMessage::Doubt { code, .. } if code == "unreached-code"),
            )
            .count()
    }

    #[test]
    fn what_is_on_and_never_happened_is_doubted() {
        let plain = Queue::default();
        assert_eq!(doubts(&plain, &[stats(0, 0)]), 0);
        let both = Queue {
            design: Design::Depq,
            bypass: true,
            put: JobPutter::Irq,
            ..Queue::default()
        };
        assert_eq!(doubts(&both, &[stats(0, 0), stats(0, 0)]), 2);
        assert_eq!(doubts(&both, &[stats(0, 0), stats(1, 0)]), 1);
        assert_eq!(doubts(&both, &[stats(1, 0), stats(0, 1)]), 0);
        let submit = Queue {
            put: JobPutter::Submit,
            ..both
        };
        assert_eq!(doubts(&submit, &[stats(1, 1)]), 1);
    }

    #[test]
    fn a_worker_that_never_followed_is_doubted_if_it_should_have() {
        let follow = Queue {
            design: Design::Depq,
            worker: Worker::Follow,
            share: WorkerSharing::Engine,
            ..Queue::default()
        };
        let raised = SimgpuStats {
            raises: 3,
            lowers: 2,
            ..stats(0, 0)
        };
        assert_eq!(doubts_of(&terms(&follow, true), &[stats(0, 0)]), 1);
        assert_eq!(doubts_of(&terms(&follow, true), &[stats(0, 0), raised]), 0);
        assert_eq!(doubts_of(&terms(&follow, false), &[stats(0, 0)]), 0);
        let plain = Queue {
            worker: Worker::Kthread,
            ..follow.clone()
        };
        assert_eq!(doubts_of(&terms(&plain, true), &[stats(0, 0)]), 0);
        let raises = |queue: &Queue| count_for_workers(queue, &[raised, raised], |one| one.raises);
        // A shared worker is counted once.
        assert_eq!(raises(&follow), 3);
        let share = WorkerSharing::Context;
        assert_eq!(raises(&Queue { share, ..follow }), 6);
    }

    #[test]
    fn only_who_waited_woke() {
        let record = |seqno, t_hw| JobRecord {
            seqno,
            t_hw,
            ..JobRecord::default()
        };
        let records = [record(1, 100), record(2, 200)];
        assert_eq!(wake_latency(&records, 2, 150, 230), Some(30));
        assert_eq!(wake_latency(&records, 1, 150, 160), None);
        assert_eq!(wake_latency(&records, 3, 150, 160), None);
        assert_eq!(wake_latency(&records, 0, 150, 160), None);
    }

    #[test]
    fn every_context_has_a_line() {
        let text = table(&[stats(3, 4), stats(5, 6)]);
        let columns = |line: &str| line.split(' ').count();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| columns(line) == 16), "{text}");
    }
}
