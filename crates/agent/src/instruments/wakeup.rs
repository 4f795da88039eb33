//! Wake-up latency: how long threads of the workload waited between being woken and
//! running, from the scheduler's trace events.
//!
//! The events stay in the kernel's ring buffer until the workload has ended.

use assize_job::{AgentMessage, Job};

use super::labels::{THREADS_MAX, labels};
use super::ring::{self, EventField, EventFormat};
use super::run_instrument::RunInstrument;
use super::tracefs::{Instance, InstanceSettings, RecordedTrace};
use super::waking::{SchedulerEvent, Waking, follow};
use crate::records::{doubt, number, unavailable};
use crate::sys;

const NAME: &str = "wakeup";
const METRIC: &str = "wakeup_latency";

const SWITCH: &str = "sched/sched_switch";
const WAKEUP: &str = "sched/sched_wakeup";
const WAKEUP_NEW: &str = "sched/sched_wakeup_new";
const FORK: &str = "sched/sched_process_fork";
const EXIT: &str = "sched/sched_process_exit";

/// The instrument `wakeup`.
#[derive(Default)]
pub(crate) struct Wakeup {
    instance: Option<Instance>,
    decoder: Option<WakeupDecoder>,
    samples: bool,
    workload: u32,
    start_ns: u64,
    failed: Option<String>,
}

impl RunInstrument for Wakeup {
    fn name(&self) -> &'static str {
        NAME
    }

    fn configure(&mut self, job: &Job, _guest: bool) {
        self.samples = job.samples;
    }

    fn open(&mut self) -> Result<(), String> {
        let instance = Instance::open(InstanceSettings {
            name: NAME,
            clock: "mono",
            kib_per_cpu: 16 << 10,
            events: &[SWITCH, WAKEUP, WAKEUP_NEW, FORK, EXIT],
        })?;
        self.decoder = Some(WakeupDecoder::new(&instance)?);
        // Follow the threads and processes that the workload starts.
        instance.write("options/event-fork", "1")?;
        self.instance = Some(instance);
        Ok(())
    }

    fn start(&mut self, workload: i32) {
        self.workload = u32::try_from(workload).unwrap_or(0);
        if let Some(instance) = &mut self.instance {
            let done = instance
                .write("set_event_pid", &workload.to_string())
                .and_then(|()| instance.on());
            self.failed = done.err();
        }
        self.start_ns = sys::now();
    }

    fn stop(&mut self) {
        if let Some(Err(why)) = self.instance.as_mut().map(Instance::off) {
            self.failed.get_or_insert(why);
        }
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let (Some(mut instance), Some(decoder)) = (self.instance.take(), &self.decoder) else {
            return vec![unavailable(NAME, None, "it was not opened")];
        };
        if let Some(why) = self.failed.take() {
            return vec![unavailable(NAME, None, why)];
        }
        let trace = instance.drain(&|event| decoder.decode(event));
        let lost = trace.doubt(NAME);
        let waking = follow(self.workload, &in_order(trace));
        let mut records = if waking.threads.is_empty() {
            let reason = "the trace does not show the workload; \
                          run in the initial PID namespace, outside of containers";
            vec![unavailable(NAME, None, reason)]
        } else {
            self.latency_records(&waking)
        };
        if waking.untraced > 0 {
            let detail = format!(
                "{NAME}: {} wake-ups are missing, because this kernel did not trace \
                 when their threads began to run",
                waking.untraced
            );
            records.push(doubt("untraced-switches", detail));
        }
        records.extend(lost);
        records
    }
}

impl Wakeup {
    fn latency_records(&self, waking: &Waking) -> Vec<AgentMessage> {
        let histogram = |metric: String, tid| AgentMessage::Histogram {
            metric,
            unit: "ns".into(),
            buckets: waking.histogram(tid),
            exact: true,
        };
        let mut records = vec![histogram(METRIC.into(), None)];
        if (2..=THREADS_MAX).contains(&waking.threads.len()) {
            let names = labels(waking.threads.values().map(String::as_str));
            for (name, tid) in names.iter().zip(waking.threads.keys()) {
                records.push(histogram(format!("{METRIC}:{name}"), Some(*tid)));
            }
        }
        if self.samples {
            let mut last = self.start_ns;
            let mut t_ns = Vec::with_capacity(waking.latencies.len());
            for latency in &waking.latencies {
                t_ns.push(latency.at.saturating_sub(last));
                last = last.max(latency.at);
            }
            let values = waking.latencies.iter().map(|l| number(l.waited));
            records.push(AgentMessage::Samples {
                metric: METRIC.into(),
                unit: "ns".into(),
                start_ns: Some(self.start_ns),
                t_ns,
                values: values.collect(),
            });
        }
        records
    }
}

/// The events of all CPUs, in order of time and then of CPU.
fn in_order(trace: RecordedTrace<SchedulerEvent>) -> Vec<(u64, SchedulerEvent)> {
    let mut events = Vec::with_capacity(trace.cpus.iter().map(|cpu| cpu.events.len()).sum());
    for cpu in trace.cpus {
        events.extend(cpu.events);
    }
    events.sort_by_key(|(time, _)| *time);
    events
}

/// Decodes events by the formats that this kernel declares.
#[derive(Debug)]
struct WakeupDecoder {
    switch: (u16, EventField, EventField, EventField),
    wakeups: [(u16, EventField, EventField); 2],
    fork: (u16, EventField, EventField),
    exit: (u16, EventField),
}

impl WakeupDecoder {
    fn new(instance: &Instance) -> Result<WakeupDecoder, String> {
        let format = |event: &str| Ok::<_, String>((event.to_string(), instance.format(event)?));
        let field = |(event, format): &(String, EventFormat), name: &str| {
            let found = format.field(name);
            found.ok_or_else(|| format!("the trace event {event} has no field {name} here"))
        };
        let switch = format(SWITCH)?;
        let wakeup = |event: &str| {
            let wakeup = format(event)?;
            Ok::<_, String>((wakeup.1.id, field(&wakeup, "pid")?, field(&wakeup, "comm")?))
        };
        let fork = format(FORK)?;
        let exit = format(EXIT)?;
        Ok(WakeupDecoder {
            switch: (
                switch.1.id,
                field(&switch, "prev_pid")?,
                field(&switch, "next_pid")?,
                field(&switch, "next_comm")?,
            ),
            wakeups: [wakeup(WAKEUP)?, wakeup(WAKEUP_NEW)?],
            fork: (
                fork.1.id,
                field(&fork, "parent_pid")?,
                field(&fork, "child_pid")?,
            ),
            exit: (exit.1.id, field(&exit, "pid")?),
        })
    }

    fn decode(&self, event: &[u8]) -> Option<SchedulerEvent> {
        let id = ring::id(event)?;
        if id == self.switch.0 {
            return Some(SchedulerEvent::Switch {
                prev: self.switch.1.tid(event)?,
                next: self.switch.2.tid(event)?,
                comm: self.switch.3.comm(event)?,
            });
        }
        for (wakeup, pid, comm) in &self.wakeups {
            if id == *wakeup {
                return Some(SchedulerEvent::Wakeup {
                    tid: pid.tid(event)?,
                    comm: comm.comm(event)?,
                });
            }
        }
        if id == self.fork.0 {
            return Some(SchedulerEvent::Fork {
                parent: self.fork.1.tid(event)?,
                child: self.fork.2.tid(event)?,
            });
        }
        (id == self.exit.0).then_some(SchedulerEvent::Exit {
            tid: self.exit.1.tid(event)?,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn sleepers_are_woken_as_often_as_they_sleep() {
        let mut instrument = Wakeup {
            samples: true,
            ..Wakeup::default()
        };
        if let Err(why) = instrument.open() {
            eprintln!("skipped: {why}");
            return;
        }
        let mut child = Command::new("sh")
            .args(["-c", "read x; sleep 0.01; sleep 0.01; exit 0"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        instrument.start(child.id().cast_signed());
        drop(child.stdin.take());
        child.wait().unwrap();
        instrument.stop();
        let records = instrument.records();
        let doubted = |r: &AgentMessage| matches!(r, AgentMessage::Doubt { code, .. } if code == "untraced-switches");
        if records.iter().any(doubted) {
            eprintln!("skipped: this kernel does not trace all switches: {records:?}");
            return;
        }
        let find = |name: &str| {
            records.iter().find_map(|record| match record {
                AgentMessage::Histogram {
                    metric, buckets, ..
                } if metric == name => Some(buckets.iter().map(|(_, count)| count).sum::<u64>()),
                _ => None,
            })
        };
        // Woken when it is created, and from its sleep.
        assert!(find("wakeup_latency:sleep.1").unwrap() >= 2, "{records:?}");
        assert!(find("wakeup_latency:sleep.2").unwrap() >= 2, "{records:?}");
        let all = find("wakeup_latency").unwrap();
        let Some(AgentMessage::Samples { t_ns, values, .. }) = records.last() else {
            panic!("no samples: {records:?}");
        };
        assert_eq!(values.len() as u64, all);
        assert_eq!(t_ns.len() as u64, all);
        let last: u64 = t_ns.iter().sum();
        assert!(last >= 20_000_000, "both sleeps: {last}");
    }
}
