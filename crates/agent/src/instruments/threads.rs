//! Voluntary and involuntary context switches of each thread of the workload.
//!
//! A thread that has exited is no longer in /proc, and the kernel adds its counts to those of the
//! process only in a place that the parent alone can read, after reaping it. So the counts of
//! exited threads come from taskstats. /proc provides the counts that the workload's process had
//! before its release and, without taskstats, all others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assize_job::AgentMessage;

use super::labels::{THREADS_MAX, labels};
use super::run_instrument::RunInstrument;
use super::taskstats::{Taskstats, ThreadExit};
use crate::cpus;
use crate::files;
use crate::records::{doubt, metric, number, unavailable};

const NAME: &str = "threads";

/// The instrument `threads`.
#[derive(Default)]
pub(crate) struct ThreadsInstrument {
    taskstats: Option<Taskstats>,
    /// Why exits of threads are unknown.
    blind: Option<String>,
    workload: u32,
    before: Option<ThreadExit>,
    ended: Vec<ThreadExit>,
    left: Vec<ThreadExit>,
}

impl RunInstrument for ThreadsInstrument {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&mut self) -> Result<(), String> {
        match cpus::online().and_then(|cpus| Taskstats::open(&cpus)) {
            Ok(taskstats) => self.taskstats = Some(taskstats),
            Err(why) => self.blind = Some(why),
        }
        Ok(())
    }

    fn start(&mut self, workload: i32) {
        self.workload = u32::try_from(workload).unwrap_or(0);
        let path = format!("/proc/{workload}/status");
        self.before = files::read(Path::new(&path))
            .ok()
            .and_then(|text| status(&text));
        if let Some(taskstats) = &mut self.taskstats {
            // Drop exits from before the workload started.
            taskstats.drain();
        }
    }

    fn stop(&mut self) {
        if let Some(taskstats) = &mut self.taskstats {
            self.ended = taskstats.drain();
        }
        // Descendants that outlive the workload have another parent by now and cannot be
        // found.
        self.left = remaining_threads(self.workload);
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let mut threads = workload_threads(self.workload, &self.ended, &self.left);
        if let (Some(before), Some(own)) = (&self.before, threads.get_mut(&self.workload)) {
            own.voluntary = own.voluntary.saturating_sub(before.voluntary);
            own.involuntary = own.involuntary.saturating_sub(before.involuntary);
        }
        let mut records = records(&threads);
        let taskstats = self.taskstats.as_ref();
        if taskstats.is_some_and(|taskstats| taskstats.strange) {
            self.blind = Some("taskstats: its version is not known".into());
        }
        if taskstats.is_some_and(|taskstats| taskstats.lost) {
            let detail = "too many threads ended at once; some of their switches are not counted";
            records.push(doubt("lost-threads", detail));
        }
        if let Some(why) = &self.blind {
            let detail = format!(
                "switches of threads that ended before the workload did are not counted: {why}"
            );
            records.push(doubt("lost-threads", detail));
        }
        records
    }
}

/// The threads of the workload's process and of its descendants, by id. Counts
/// from a thread's exit replace those from /proc.
fn workload_threads(
    workload: u32,
    ended: &[ThreadExit],
    left: &[ThreadExit],
) -> BTreeMap<u32, ThreadExit> {
    let all = || left.iter().chain(ended);
    let mut processes = BTreeSet::from([workload]);
    loop {
        let before = processes.len();
        for thread in all() {
            if processes.contains(&thread.parent) {
                processes.insert(thread.process);
            }
        }
        if processes.len() == before {
            break;
        }
    }
    all()
        .filter(|thread| processes.contains(&thread.process))
        .map(|thread| (thread.tid, thread.clone()))
        .collect()
}

fn records(threads: &BTreeMap<u32, ThreadExit>) -> Vec<AgentMessage> {
    if threads.is_empty() {
        let reason = "the workload's process was not seen; it was reaped too early";
        return vec![unavailable(NAME, None, reason)];
    }
    let voluntary = threads.values().map(|thread| thread.voluntary).sum();
    let involuntary = threads.values().map(|thread| thread.involuntary).sum();
    let mut records = vec![
        metric("voluntary_switches", number(voluntary), ""),
        metric("involuntary_switches", number(involuntary), ""),
    ];
    if (2..=THREADS_MAX).contains(&threads.len()) {
        let names = labels(threads.values().map(|thread| thread.comm.as_str()));
        for (name, thread) in names.iter().zip(threads.values()) {
            let (voluntary, involuntary) = (thread.voluntary, thread.involuntary);
            records.push(metric(
                format!("voluntary_switches:{name}"),
                number(voluntary),
                "",
            ));
            records.push(metric(
                format!("involuntary_switches:{name}"),
                number(involuntary),
                "",
            ));
        }
    }
    records
}

/// The threads of a process that are still in /proc.
fn remaining_threads(process: u32) -> Vec<ThreadExit> {
    let Ok(listing) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return Vec::new();
    };
    let paths = listing.filter_map(|entry| Some(entry.ok()?.path().join("status")));
    paths
        .filter_map(|path| status(&files::read(&path).ok()?))
        .collect()
}

/// Parses /proc/PID/task/TID/status.
fn status(text: &str) -> Option<ThreadExit> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.strip_prefix(':')).map(str::trim)
    };
    Some(ThreadExit {
        tid: field("Pid")?.parse().ok()?,
        process: field("Tgid")?.parse().ok()?,
        parent: field("PPid")?.parse().ok()?,
        comm: field("Name")?.into(),
        voluntary: field("voluntary_ctxt_switches")?.parse().ok()?,
        involuntary: field("nonvoluntary_ctxt_switches")?.parse().ok()?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;

    fn thread(tid: u32, process: u32, parent: u32, voluntary: u64) -> ThreadExit {
        ThreadExit {
            tid,
            process,
            parent,
            comm: format!("t{tid}"),
            voluntary,
            involuntary: 1,
        }
    }

    #[test]
    fn status_is_read() {
        let text = "Name:\thog\nUmask:\t0022\nState:\tZ (zombie)\nTgid:\t7\nNgid:\t0\n\
            Pid:\t8\nPPid:\t3\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t5\n";
        let wanted = ThreadExit {
            comm: "hog".into(),
            voluntary: 12,
            involuntary: 5,
            ..thread(8, 7, 3, 0)
        };
        assert_eq!(status(text), Some(wanted));
        assert_eq!(status("Name:\tkthreadd\n"), None);
    }

    #[test]
    fn the_workload_is_its_process_and_what_it_started() {
        // 10 started 20, which started 30. 11 is a thread of 10. 40 belongs to
        // somebody else.
        let ended = [
            thread(11, 10, 1, 5),
            thread(30, 30, 20, 4),
            thread(20, 20, 10, 3),
            thread(40, 40, 1, 9),
            thread(10, 10, 1, 2),
        ];
        let left = [thread(10, 10, 1, 1)];
        let found = workload_threads(10, &ended, &left);
        let numbers: Vec<u32> = found.keys().copied().collect();
        assert_eq!(numbers, [10, 11, 20, 30]);
        assert_eq!(found[&10].voluntary, 2, "its end is preferred");
        let given = records(&found);
        assert_eq!(given[0], metric("voluntary_switches", 14.0, ""));
        assert_eq!(given[1], metric("involuntary_switches", 4.0, ""));
        assert_eq!(given[2], metric("voluntary_switches:t10", 2.0, ""));
        assert_eq!(given.len(), 2 + 2 * 4);
    }

    #[test]
    fn a_workload_that_was_not_seen_is_unavailable() {
        let given = records(&workload_threads(10, &[], &[]));
        assert!(matches!(&given[..], [AgentMessage::Unavailable { .. }]));
    }

    #[test]
    fn threads_that_ended_early_are_counted() {
        let mut instrument = ThreadsInstrument::default();
        instrument.open().unwrap();
        if let Some(why) = &instrument.blind {
            eprintln!("skipped: {why}");
            return;
        }
        // The shell waits for the children, so that they end before it.
        let mut child = std::process::Command::new("sh")
            .args(["-c", "read x; sleep 0.01; sleep 0.01; exit 0"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        instrument.start(i32::try_from(pid).unwrap());
        drop(child.stdin.take());
        let pid_of = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::waitid(
            rustix::process::WaitId::Pid(pid_of),
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
        )
        .unwrap();
        instrument.stop();
        child.wait().unwrap();
        let given = instrument.records();
        let names: Vec<&str> = given
            .iter()
            .filter_map(|record| match record {
                AgentMessage::Metric { metric, .. } => Some(metric.as_str()),
                _ => None,
            })
            .collect();
        assert!(names.contains(&"voluntary_switches:sleep.2"), "{given:?}");
    }
}
