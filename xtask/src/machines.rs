//! The machines that processes have started.

use assize_target::processes;

/// The QEMU processes among these processes and their descendants, by their ids.
pub fn machines(workers: &[u32]) -> Vec<u32> {
    let all = processes::all();
    let below = workers
        .iter()
        .flat_map(|&worker| processes::descendants(worker, all.clone()));
    let themselves = all.iter().filter(|one| workers.contains(&one.pid)).cloned();
    below
        .chain(themselves)
        .filter(|process| process.name.starts_with("qemu-system"))
        .map(|process| process.pid)
        .collect()
}
