//! Writes the scheduler events as the kernel recorded them.

use std::collections::BTreeMap;

use assize_job::events::{KernelEvent, KernelEventLog};

use super::proto::{
    FtraceEvent, FtraceEventBundle, SchedSwitch, SchedWaking, TaskNewtask, TracePacket,
};
use super::write::PerfettoFile;
use crate::TracedRun;

/// The number of events per packet.
const BUNDLE: usize = 1000;

/// Writes the events of each CPU.
pub(super) fn write(run: &TracedRun, file: &mut PerfettoFile) {
    let events = &run.events;
    let mut names = ThreadNames::default();
    let mut cpus: BTreeMap<u32, Vec<FtraceEvent>> = BTreeMap::new();
    for (at, row) in events.rows.iter().enumerate() {
        names.until(events, at);
        if let Some(event) = event(events, row, &names) {
            cpus.entry(row.cpu).or_default().push(event);
        }
    }
    for (cpu, all) in cpus {
        for bundle in all.chunks(BUNDLE) {
            file.packet(&TracePacket {
                ftrace_events: Some(FtraceEventBundle {
                    cpu: Some(cpu),
                    event: bundle.to_vec(),
                    lost_events: (events.lost > 0).then_some(true),
                }),
                ..TracePacket::default()
            });
        }
    }
}

fn event(events: &KernelEventLog, row: &KernelEvent, names: &ThreadNames) -> Option<FtraceEvent> {
    let value = |field: &str| events.value(row, field);
    let small = |field: &str| value(field).and_then(|value| i32::try_from(value).ok());
    let mut event = FtraceEvent {
        timestamp: Some(row.at_ns),
        pid: Some(row.tid),
        ..FtraceEvent::default()
    };
    match events.kind(row)?.name.as_str() {
        "sched/sched_switch" => {
            let (prev_pid, next_pid) = (small("prev_pid")?, small("next_pid")?);
            event.sched_switch = Some(SchedSwitch {
                prev_comm: Some(names.name(prev_pid, row.cpu)),
                prev_pid: Some(prev_pid),
                prev_prio: small("prev_prio"),
                prev_state: value("prev_state"),
                next_comm: Some(names.name(next_pid, row.cpu)),
                next_pid: Some(next_pid),
                next_prio: small("next_prio"),
            });
        }
        "sched/sched_waking" | "sched/sched_wakeup_new" => {
            let pid = small("pid")?;
            event.sched_waking = Some(SchedWaking {
                comm: Some(names.name(pid, row.cpu)),
                pid: Some(pid),
                prio: small("prio"),
                target_cpu: small("target_cpu"),
            });
        }
        "task/task_newtask" => {
            let pid = small("pid")?;
            event.task_newtask = Some(TaskNewtask {
                pid: Some(pid),
                comm: Some(names.name(pid, row.cpu)),
                clone_flags: value("clone_flags").map(i64::cast_unsigned),
            });
        }
        _ => return None,
    }
    Some(event)
}

/// The names of threads at the time of an event.
#[derive(Default)]
struct ThreadNames {
    known: BTreeMap<u32, String>,
    taken: usize,
}

impl ThreadNames {
    fn until(&mut self, events: &KernelEventLog, row: usize) {
        while let Some(name) = events.names.get(self.taken).filter(|name| name.row <= row) {
            self.known.insert(name.tid, name.name.clone());
            self.taken += 1;
        }
    }

    fn name(&self, tid: i32, cpu: u32) -> String {
        match u32::try_from(tid) {
            Ok(0) => format!("swapper/{cpu}"),
            Ok(tid) => self.known.get(&tid).cloned().unwrap_or_default(),
            Err(_) => String::new(),
        }
    }
}
