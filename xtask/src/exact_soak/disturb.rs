//! Stops the machines for random times, and moves them between CPUs.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::draw::Draws;
use super::over::Over;

/// How long is waited for all threads to stand still.
const TURNS: u32 = 500;

/// What was done to machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Disturbed {
    pub(super) stops: u64,
    pub(super) moves: u64,
}

/// Disturbs the machines below these processes until it is over. Of two stops
/// one moves the machine. All threads of a machine are moved while they stand
/// still, so that they never run on two CPUs at once: that a machine is bound
/// to one CPU is what makes it exact, on which one is not.
pub(super) fn disturb(workers: &[u32], mut draws: Draws, over: &Over) -> Disturbed {
    let cpus = cpus();
    let mut done = Disturbed::default();
    while over.sleep(draws.time(5, 60)) {
        let machines = machines(workers);
        let Some(&machine) = machines.get(draws.below(machines.len())) else {
            continue;
        };
        let Some(pid) = i32::try_from(machine).ok().and_then(Pid::from_raw) else {
            continue;
        };
        if kill_process(pid, Signal::STOP).is_err() {
            continue;
        }
        done.stops += 1;
        let time = draws.time(1, 40);
        let cpu = cpus.get(draws.below(cpus.len()));
        if let Some(&cpu) = cpu.filter(|_| done.stops % 2 == 0)
            && stands_still(machine)
        {
            done.moves += u64::from(moved(machine, cpu));
        }
        thread::sleep(time);
        // It may have been killed meanwhile.
        let _ = kill_process(pid, Signal::CONT);
    }
    done
}

/// QEMU processes below these.
fn machines(workers: &[u32]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut left = workers.to_vec();
    while let Some(pid) = left.pop() {
        for task in tasks(pid) {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{task}/children"));
            let children = children.unwrap_or_default();
            left.extend(
                children
                    .split_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        if name.starts_with("qemu-system") {
            found.push(pid);
        }
    }
    found
}

fn tasks(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let names = entries.into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Waits until every thread of a process is stopped.
fn stands_still(pid: u32) -> bool {
    (0..TURNS).any(|_| {
        let all = tasks(pid);
        let still = !all.is_empty() && all.iter().all(|&task| is_stopped(pid, task));
        if !still {
            thread::sleep(Duration::from_millis(1));
        }
        still
    })
}

fn is_stopped(pid: u32, task: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{task}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// Binds all threads to this CPU; whether that was done.
fn moved(pid: u32, cpu: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(cpu);
    let is_bound = |task: &u32| {
        let task = i32::try_from(*task).ok().and_then(Pid::from_raw);
        task.is_some_and(|task| sched_setaffinity(Some(task), &set).is_ok())
    };
    // Each of them, also after one that has gone.
    let all = tasks(pid);
    all.iter().filter(|task| is_bound(task)).count() == all.len()
}

/// The CPUs that this process may use.
fn cpus() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else {
        return Vec::new();
    };
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn a_process_named_as_a_machine_is_found_stopped_and_moved() {
        let mut command = Command::new("sleep");
        // The name of a process is that of its file.
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("qemu-system-test");
        std::os::unix::fs::symlink("/bin/sleep", &file).unwrap();
        let mut child = Command::new(&file)
            .arg0("sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        let found = machines(&[std::process::id()]);
        let _ = command.arg("0").status();
        let pid = child.id();
        let over = Over::default();
        let done = thread::scope(|scope| {
            let disturbing = scope.spawn(|| disturb(&[pid], Draws::new(1, 1), &over));
            thread::sleep(Duration::from_millis(400));
            over.set();
            disturbing.join().unwrap()
        });
        let bound = sched_getaffinity(Pid::from_raw(i32::try_from(pid).unwrap())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&pid), "{found:?}");
        assert!(done.stops > 0);
        if done.moves > 0 {
            assert_eq!(bound.count(), 1);
        }
    }
}
