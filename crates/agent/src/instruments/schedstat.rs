//! Run time, run delay and time slices of all CPUs from /proc/schedstat.

use assize_job::AgentMessage;

use super::file_difference::FileDifference;
use crate::records::{metric, number};

const PATH: &str = "/proc/schedstat";

/// Versions of the file that have the same lines of CPUs.
const VERSIONS: std::ops::RangeInclusive<u32> = 15..=17;

/// The instrument `schedstat`.
pub(crate) fn instrument() -> FileDifference<Vec<CpuRunTimes>> {
    FileDifference::new("schedstat", PATH, parse, |before, after| {
        difference(before, after)
    })
    .needing("CONFIG_SCHEDSTATS")
}

/// A CPU's sums since boot: run time and run delay in nanoseconds, and time slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuRunTimes {
    number: u32,
    sums: [u64; 3],
}

fn parse(text: &str) -> Result<Vec<CpuRunTimes>, String> {
    let version = text.lines().next().and_then(|line| {
        let number = line.strip_prefix("version")?;
        number.trim().parse::<u32>().ok()
    });
    match version {
        Some(version) if VERSIONS.contains(&version) => {}
        Some(version) => {
            return Err(format!(
                "{PATH}: version {version} is not supported, only 15 to 17"
            ));
        }
        None => return Err(format!("{PATH}: its first line names no version")),
    }
    let cpus = text.lines().filter(|line| line.starts_with("cpu"));
    let cpus: Vec<CpuRunTimes> = cpus.map(cpu).collect::<Result<_, _>>()?;
    if cpus.is_empty() {
        return Err(format!("{PATH}: it has no line of a CPU"));
    }
    Ok(cpus)
}

/// Parses `cpu0 0 0 … RUN DELAY SLICES`: nine numbers, of which the last three
/// are used.
fn cpu(line: &str) -> Result<CpuRunTimes, String> {
    let wrong = || format!("{PATH}: not understood: {line:.60}");
    let (name, rest) = line.split_once(' ').ok_or_else(wrong)?;
    let number = name.strip_prefix("cpu").and_then(|n| n.parse().ok());
    let numbers: Result<Vec<u64>, _> = rest.split_ascii_whitespace().map(str::parse).collect();
    match (number, numbers.as_deref()) {
        (Some(number), Ok([_, _, _, _, _, _, run, delay, slices])) => Ok(CpuRunTimes {
            number,
            sums: [*run, *delay, *slices],
        }),
        _ => Err(wrong()),
    }
}

fn difference(before: &[CpuRunTimes], after: &[CpuRunTimes]) -> Result<Vec<AgentMessage>, String> {
    let same = |(a, b): (&CpuRunTimes, &CpuRunTimes)| a.number == b.number;
    if before.len() != after.len() || !before.iter().zip(after).all(same) {
        return Err("CPUs went online or offline during the run; leave them as they are".into());
    }
    let mut sums = [0u64; 3];
    for (before, after) in before.iter().zip(after) {
        for (sum, (before, after)) in sums.iter_mut().zip(before.sums.iter().zip(after.sums)) {
            *sum += after.saturating_sub(*before);
        }
    }
    let [run, delay, slices] = sums.map(number);
    Ok(vec![
        metric("run_time", run, "ns"),
        metric("run_delay", delay, "ns"),
        metric("timeslices", slices, ""),
    ])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;

    fn fixture(version: u32, domain: &str, run: [u64; 2]) -> String {
        format!(
            "version {version}\ntimestamp 4294937330\n\
             cpu0 0 0 0 0 0 0 {} 20 30\n{domain}\n\
             cpu1 0 0 0 0 0 0 {} 25 35\n{domain}\n",
            run[0], run[1]
        )
    }

    #[test]
    fn every_version_known_reads_alike() {
        let eight = "0 ".repeat(36);
        let eleven = "0 ".repeat(45);
        let domains = [
            (15, format!("domain0 3 {eight}")),
            (16, format!("domain0 3 {eleven}")),
            (17, format!("domain0 MC 3 {eleven}")),
        ];
        for (version, domain) in domains {
            let before = parse(&fixture(version, &domain, [1000, 5000])).unwrap();
            let after = parse(&fixture(version, &domain, [1700, 5050])).unwrap();
            let wanted = vec![
                metric("run_time", 750.0, "ns"),
                metric("run_delay", 0.0, "ns"),
                metric("timeslices", 0.0, ""),
            ];
            assert_eq!(difference(&before, &after).unwrap(), wanted, "{version}");
        }
    }

    #[test]
    fn versions_unknown_and_lines_too_short_are_refused() {
        let cases = [
            fixture(14, "", [0, 0]),
            fixture(18, "", [0, 0]),
            "version 15\ntimestamp 1\n".into(),
            "version 15\ncpu0 0 0 0 0 0 0 1 2\n".into(),
            "version 15\ncpu0 0 0 0 0 0 0 1 2 3 4\n".into(),
            "version 15\ncpux 0 0 0 0 0 0 1 2 3\n".into(),
            String::new(),
        ];
        for text in cases {
            assert!(parse(&text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn cpus_that_come_or_go_are_noticed() {
        let two = parse(&fixture(15, "", [0, 0])).unwrap();
        assert!(difference(&two, &two[..1]).is_err());
        assert!(difference(&two[..1], &two[1..]).is_err());
    }
}
