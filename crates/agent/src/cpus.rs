//! Lists of CPUs.

use std::path::Path;

use crate::files;

/// The online CPUs, ascending.
pub(crate) fn online() -> Result<Vec<u32>, String> {
    let path = "/sys/devices/system/cpu/online";
    let text = files::read(Path::new(path))?;
    parse_list(text.trim()).ok_or_else(|| format!("{path}: no list of CPUs: {}", text.trim()))
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

/// Parses a list of CPUs as the kernel writes it, such as `0-3,8`.
pub(crate) fn parse_list(text: &str) -> Option<Vec<u32>> {
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
            assert_eq!(parse_list(text).as_deref(), *wanted, "{text}");
        }
    }

    #[test]
    fn this_machine_has_a_cpu() {
        assert!(!online().unwrap().is_empty());
    }
}
