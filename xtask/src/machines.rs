//! The machines that processes have started.

use std::fs;

/// The QEMU processes below these, by their ids. Uses the parent of each process, as the `children` files of
/// threads may miss processes while others exit.
pub fn machines(workers: &[u32]) -> Vec<u32> {
    let all = processes();
    let (mut below, mut left): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|process| workers.contains(&process.pid));
    let mut at = 0;
    while let Some(&parent) = below.get(at) {
        // Each process is moved to the list only once, so inconsistent data cannot cause an endless
        // loop.
        let (children, others) = left.iter().partition(|child| child.parent == parent.pid);
        left = others;
        below.extend::<Vec<_>>(children);
        at += 1;
    }
    let is_machine = |process: &&Process| process.name.starts_with("qemu-system");
    below
        .into_iter()
        .filter(is_machine)
        .map(|process| process.pid)
        .collect()
}

struct Process {
    pid: u32,
    parent: u32,
    name: String,
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let read = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        // State and parent follow the name.
        let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
        Some(Process {
            pid,
            parent,
            name: name.to_string(),
        })
    };
    entries.filter_map(read).collect()
}
