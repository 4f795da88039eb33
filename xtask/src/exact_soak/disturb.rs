//! Stops machines for random times, and moves them between CPUs.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::over::Over;
use crate::draw::Draws;
use crate::machines::machines;

/// Number of times to check whether all threads have stopped.
const TURNS: u32 = 500;

/// The number of disturbances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Disturbed {
    pub(super) stops: u64,
    pub(super) moves: u64,
}

/// Disturbs the machines below these processes until the soak is over. Every other stop also moves
/// the machine to another CPU. All its threads are moved while they are stopped, so that they never
/// run on two CPUs at once: the machine is exact because it is bound to one CPU, no matter which.
pub(super) fn disturb(workers: &[u32], mut draws: Draws, over: &Over) -> Disturbed {
    let cpus = assize_target::exact::allowed_cpus();
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
        // The process may have been killed in the meantime.
        let _ = kill_process(pid, Signal::CONT);
    }
    done
}

fn tasks(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let names = entries.into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Waits until all threads of a process are stopped; returns whether they are.
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

/// Binds all threads to this CPU; returns whether that succeeded for all.
fn moved(pid: u32, cpu: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(cpu);
    let is_bound = |task: &u32| {
        let task = i32::try_from(*task).ok().and_then(Pid::from_raw);
        task.is_some_and(|task| sched_setaffinity(Some(task), &set).is_ok())
    };
    // A thread may have exited meanwhile.
    let all = tasks(pid);
    all.iter().filter(|task| is_bound(task)).count() == all.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn a_process_named_as_a_machine_is_found_stopped_and_moved() {
        // A process has the name of its executable.
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("qemu-system-test");
        std::os::unix::fs::symlink("/bin/sleep", &file).unwrap();
        let mut child = Command::new(&file)
            .arg0("sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        let pid = child.id();
        // The name changes only once the parent of the new process continues.
        let is_found = (0..TURNS).any(|_| {
            thread::sleep(Duration::from_millis(1));
            machines(&[std::process::id()]).contains(&pid)
        });
        let over = Over::default();
        let done = thread::scope(|scope| {
            let disturbing = scope.spawn(|| disturb(&[pid], Draws::new(1, 1), &over));
            thread::sleep(Duration::from_millis(400));
            over.set();
            disturbing.join().unwrap()
        });
        let bound =
            rustix::thread::sched_getaffinity(Pid::from_raw(i32::try_from(pid).unwrap())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_found);
        assert!(done.stops > 0);
        if done.moves > 0 {
            assert_eq!(bound.count(), 1);
        }
    }
}
