//! System state that several instruments read.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds * 1_000_000_000 + nanoseconds
}

/// The CPUs that are online, ascending.
pub(crate) fn online_cpus() -> Result<Vec<u32>, String> {
    let path = "/sys/devices/system/cpu/online";
    let text = read(Path::new(path))?;
    cpu_list(text.trim()).ok_or_else(|| format!("{path}: no list of CPUs: {}", text.trim()))
}

/// Checks that all these CPUs are online. `key`: the setting that names them.
pub(crate) fn check_online(cpus: &[u32], online: &[u32], key: &str) -> Result<(), String> {
    match cpus.iter().find(|cpu| !online.contains(cpu)) {
        None => Ok(()),
        Some(cpu) => {
            let online: Vec<String> = online.iter().map(u32::to_string).collect();
            Err(format!(
                "CPU {cpu} is not online; name some of {} in {key}",
                online.join(", ")
            ))
        }
    }
}

/// The text of a file, or why it cannot be read.
///
/// Some files of the kernel return only what fits the first read (tracefs:
/// events/header_page), and with large reads the least changes between two of
/// them.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    const PIECE: usize = 32 << 10;
    let failed = |why: std::io::Error| format!("{}: {why}", path.display());
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    loop {
        let filled = bytes.len();
        bytes.resize(filled + PIECE, 0);
        match file.read(bytes.get_mut(filled..).unwrap_or_default()) {
            Ok(got) => {
                bytes.truncate(filled + got);
                if got == 0 {
                    break;
                }
            }
            Err(why) if why.kind() == ErrorKind::Interrupted => bytes.truncate(filled),
            Err(why) => return Err(failed(why)),
        }
    }
    // Thread names may contain any bytes.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses a list of CPUs as the kernel writes it, such as `0-3,8`.
pub(crate) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    const CPUS_MAX: u32 = 65_536;
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last >= CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        let cases: &[(&str, Option<&[u32]>)] = &[
            ("0", Some(&[0])),
            ("0-3,8", Some(&[0, 1, 2, 3, 8])),
            ("8,0-1,1", Some(&[0, 1, 8])),
            ("", Some(&[])),
            ("3-1", None),
            ("a", None),
            ("0-4294967295", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(cpu_list(text).as_deref(), *wanted, "{text}");
        }
    }

    #[test]
    fn this_machine_has_a_cpu() {
        assert!(!online_cpus().unwrap().is_empty());
    }

    #[test]
    fn the_clock_goes_on() {
        let before = monotonic_ns();
        assert!(before > 0 && monotonic_ns() >= before);
    }
}
