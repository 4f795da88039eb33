//! What is reported of jobs that were submitted to simgpu.

use assize_job::{Design, Put, Queue, Record};

use super::client::{Finished, Terms};
use super::series::Series;
use crate::simgpu::uapi::{Info, Record as JobRecord, Stats};

/// The records of all contexts of a workload. `start`: when it began.
pub(super) fn report(
    finished: Vec<Finished>,
    terms: &Terms,
    info: &Info,
    start: u64,
) -> Vec<Record> {
    let mut latencies = Latencies::default();
    let mut stats = Vec::new();
    for one in finished {
        stats.push(one.stats);
        latencies.add(one);
    }
    let mut records = latencies.records(start, terms.samples);
    records.extend(counts(&terms.queue, &stats, info));
    records
}

/// What is measured of each job.
#[derive(Debug, Default)]
struct Latencies {
    run: Series,
    handed: Series,
    ioctl: Series,
    wake: Series,
}

impl Latencies {
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

    fn records(self, start: u64, samples: bool) -> Vec<Record> {
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

/// How long after the engine was done with a job its waiter ran. A waiter
/// that came when the job was done did not wait.
fn wake_latency(records: &[JobRecord], seqno: u64, before: u64, woke: u64) -> Option<u64> {
    let at = usize::try_from(seqno.checked_sub(1)?).ok()?;
    let done = records.get(at)?.t_hw;
    (before < done).then(|| since(woke, done))
}

/// What the queues did, and a doubt where they did not do what they were
/// asked to.
fn counts(queue: &Queue, stats: &[Stats], info: &Info) -> Vec<Record> {
    let sum = |of: fn(&Stats) -> u64| stats.iter().map(of).sum::<u64>();
    let jobs = sum(|stats| stats.submitted);
    let bypassed = sum(|stats| stats.bypassed);
    let (irq, submit) = (sum(|stats| stats.put_irq), sum(|stats| stats.put_submit));
    let design = usize::from(queue.design == Design::Depq);
    let mut records: Vec<Record> = [
        ("jobs", jobs, ""),
        ("jobs_bypassed", bypassed, ""),
        ("queue_memory", u64::from(info.queue_bytes[design]), "B"),
        ("job_memory", u64::from(info.job_bytes[design]), "B"),
        ("fence_memory", u64::from(info.fence_bytes[design]), "B"),
    ]
    .into_iter()
    .map(|(name, value, unit)| Record::Metric {
        metric: name.into(),
        value: value as f64,
        unit: unit.into(),
    })
    .collect();
    let mut unreached = |what: &str| {
        records.push(Record::Doubt {
            code: "unreached-code".into(),
            detail: format!("{what} in none of {jobs} jobs"),
        });
    };
    if queue.bypass && bypassed == 0 {
        unreached("bypass is on, but the submitter ran the job");
    }
    match queue.put {
        Put::Irq if irq == 0 => unreached("put is irq, but the interrupt put the job"),
        Put::Submit if submit == 0 => unreached("put is submit, but a submitter put the job"),
        _ => {}
    }
    records.push(Record::Raw {
        name: "simgpu.txt".into(),
        text: table(stats),
    });
    records
}

/// What each context did, one a line.
fn table(stats: &[Stats]) -> String {
    let mut text = String::from(
        "context submitted bypassed done failed timedout no_hang released \
         put_irq put_submit put_worker put_delayed kicks raises lowers\n",
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
        ];
        let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
        text.push_str(&words.join(" "));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(bypassed: u64, put_irq: u64) -> Stats {
        Stats {
            submitted: 10,
            bypassed,
            put_irq,
            ..Stats::default()
        }
    }

    fn doubts(queue: &Queue, stats: &[Stats]) -> usize {
        let records = counts(queue, stats, &Info::default());
        let doubts = records.iter();
        doubts
            .filter(
                |record| matches!(record, Record::Doubt { code, .. } if code == "unreached-code"),
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
            put: Put::Irq,
            ..Queue::default()
        };
        assert_eq!(doubts(&both, &[stats(0, 0), stats(0, 0)]), 2);
        assert_eq!(doubts(&both, &[stats(0, 0), stats(1, 0)]), 1);
        assert_eq!(doubts(&both, &[stats(1, 0), stats(0, 1)]), 0);
        let submit = Queue {
            put: Put::Submit,
            ..both
        };
        assert_eq!(doubts(&submit, &[stats(1, 1)]), 1);
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
        assert!(lines.iter().all(|line| columns(line) == 13), "{text}");
    }
}
