//! The machines that processes have started.

use assize_target::processes;

/// The QEMU processes below these, by their ids.
pub fn machines(workers: &[u32]) -> Vec<u32> {
    let below = |&worker| processes::descendants(worker, processes::all());
    let all = workers.iter().flat_map(below);
    all.filter(|process| process.name.starts_with("qemu-system"))
        .map(|process| process.pid)
        .collect()
}
