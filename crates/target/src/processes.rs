//! The processes of this machine, from `/proc`.

use std::fs;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its PID.
    pub pid: u32,
    /// The PID of its parent.
    pub parent: u32,
    /// Its name in the kernel.
    pub name: String,
}

/// All processes that run now.
#[must_use]
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let read = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        parsed(pid, &fs::read_to_string(entry.path().join("stat")).ok()?)
    };
    entries.filter_map(read).collect()
}

/// Parses `/proc/PID/stat`. The name may contain blanks and parentheses.
fn parsed(pid: u32, stat: &str) -> Option<Process> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    // State and parent follow the name.
    let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
    Some(Process {
        pid,
        parent,
        name: name.to_owned(),
    })
}

/// The descendants of a process, its children first. Uses the parent of each process, as the
/// `children` files of threads may miss processes while others exit.
#[must_use]
pub fn descendants(of: u32, all: Vec<Process>) -> Vec<Process> {
    let is_other = |process: &Process| process.pid != of;
    let mut left: Vec<Process> = all.into_iter().filter(is_other).collect();
    let mut found: Vec<Process> = Vec::new();
    let (mut at, mut parent) = (0, Some(of));
    // Each process is moved only once, so a table with a cycle cannot cause an endless loop.
    while let Some(pid) = parent {
        let (children, others) = left.into_iter().partition(|one| one.parent == pid);
        left = others;
        found.extend::<Vec<Process>>(children);
        parent = found.get(at).map(|process| process.pid);
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_read_behind_the_name() {
        let parent = |stat| parsed(12, stat).map(|process| process.parent);
        assert_eq!(parent("12 (a) b (c)) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (sh) R 1"), Some(1));
        assert_eq!(parent("nonsense"), None);
    }

    #[test]
    fn descendants_are_children_and_theirs_and_nobody_else() {
        let below = |of, parents: &[(u32, u32)]| -> Vec<u32> {
            let process = |&(pid, parent): &(u32, u32)| Process {
                pid,
                parent,
                name: String::new(),
            };
            let found = descendants(of, parents.iter().map(process).collect());
            found.into_iter().map(|process| process.pid).collect()
        };
        let parents = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 5), (7, 2)];
        assert_eq!(below(2, &parents), [3, 7, 4]);
        assert!(below(9, &parents).is_empty());
        assert_eq!(below(1, &[(1, 2), (2, 1)]), [2]);
    }

    #[test]
    fn a_child_of_this_process_is_found() {
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let Ok(mut child) = child else { return };
        let found = descendants(std::process::id(), all());
        let _ = child.kill();
        let _ = child.wait();
        assert!(found.iter().any(|one| one.pid == child.id()));
    }
}
