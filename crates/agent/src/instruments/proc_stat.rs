//! CPU time, interrupts, context switches and forks from /proc/stat.

use assize_job::AgentMessage;

use super::file_difference::FileDifference;
use crate::records::{metric, number};

const PATH: &str = "/proc/stat";

/// The instrument `proc-stat`.
pub(crate) fn instrument() -> FileDifference<Stat> {
    FileDifference::new("proc-stat", PATH, parse, |before, after| {
        let hertz = rustix::param::clock_ticks_per_second();
        Ok(difference(before, after, hertz))
    })
}

/// Sums since boot, over all CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    /// In ticks: user, nice, system, idle, iowait, irq, softirq, steal.
    all: [u64; 8],
    /// Idle plus iowait of each CPU, in ticks.
    idle: Vec<(u32, u64)>,
    interrupts: u64,
    switches: u64,
    forks: u64,
}

impl Stat {
    /// Idle time of a CPU since boot, including iowait, in ticks.
    pub(crate) fn cpu_idle_ticks(&self, cpu: u32) -> Option<u64> {
        let found = self.idle.iter().find(|(number, _)| *number == cpu)?;
        Some(found.1)
    }
}

/// Parses /proc/stat.
pub(crate) fn parse(text: &str) -> Result<Stat, String> {
    let mut stat = Stat::default();
    let (mut cpu, mut intr, mut ctxt, mut processes) = (false, false, false, false);
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { continue };
        let wrong = || format!("{PATH}: not understood: {:.60}", line);
        let mut next = || words.next().and_then(|word| word.parse::<u64>().ok());
        match first {
            "cpu" => {
                // Old kernels have fewer columns; missing ones are 0.
                for place in &mut stat.all {
                    *place = next().unwrap_or(0);
                }
                cpu = true;
            }
            "intr" => {
                stat.interrupts = next().ok_or_else(wrong)?;
                intr = true;
            }
            "ctxt" => {
                stat.switches = next().ok_or_else(wrong)?;
                ctxt = true;
            }
            "processes" => {
                stat.forks = next().ok_or_else(wrong)?;
                processes = true;
            }
            _ => {
                if let Some(number) = first.strip_prefix("cpu") {
                    let number = number.parse().map_err(|_| wrong())?;
                    let idle = words.nth(3).and_then(|word| word.parse().ok());
                    let iowait: u64 = words.next().and_then(|w| w.parse().ok()).unwrap_or(0);
                    let idle: u64 = idle.ok_or_else(wrong)?;
                    stat.idle.push((number, idle + iowait));
                }
            }
        }
    }
    if cpu && intr && ctxt && processes {
        Ok(stat)
    } else {
        Err(format!(
            "{PATH}: it lacks one of the lines cpu, intr, ctxt, processes"
        ))
    }
}

fn difference(before: &Stat, after: &Stat, hertz: u64) -> Vec<AgentMessage> {
    // idle and iowait may decrease by a tick: see proc(5).
    let ticks = |fields: &[usize]| {
        let sum = |stat: &Stat| fields.iter().map(|&field| stat.all[field]).sum::<u64>();
        number(sum(after).saturating_sub(sum(before))) / number(hertz)
    };
    let count = |before: u64, after: u64| number(after.saturating_sub(before));
    vec![
        metric("cpu_user", ticks(&[0, 1]), "s"),
        metric("cpu_system", ticks(&[2]), "s"),
        metric("cpu_idle", ticks(&[3, 4]), "s"),
        metric("cpu_irq", ticks(&[5, 6]), "s"),
        metric("cpu_steal", ticks(&[7]), "s"),
        metric("interrupts", count(before.interrupts, after.interrupts), ""),
        metric("switches", count(before.switches, after.switches), ""),
        metric("forks", count(before.forks, after.forks), ""),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 10 50 1000 5 1 2 3 0 0\n\
        cpu0 60 5 25 500 2 1 1 2 0 0\ncpu1 40 5 25 500 3 0 1 1 0 0\n\
        intr 2000 0 9\nctxt 400\nbtime 1\nprocesses 70\nprocs_running 1\n";
    const AFTER: &str = "cpu  150 20 60 1100 4 1 7 4 0 0\n\
        cpu0 60 5 25 620 2 1 1 2 0 0\ncpu1 90 15 35 480 2 0 6 2 0 0\n\
        intr 2300 0 9\nctxt 445\nbtime 1\nprocesses 77\nprocs_running 1\n";

    #[test]
    fn differences_of_two_readings() {
        let (before, after) = (parse(BEFORE).unwrap(), parse(AFTER).unwrap());
        assert_eq!(before.cpu_idle_ticks(1), Some(503));
        assert_eq!(after.cpu_idle_ticks(0), Some(622));
        assert_eq!(after.cpu_idle_ticks(2), None);
        let wanted = [
            ("cpu_user", 0.6, "s"),
            ("cpu_system", 0.1, "s"),
            ("cpu_idle", 0.99, "s"),
            ("cpu_irq", 0.05, "s"),
            ("cpu_steal", 0.01, "s"),
            ("interrupts", 300.0, ""),
            ("switches", 45.0, ""),
            ("forks", 7.0, ""),
        ];
        let wanted: Vec<AgentMessage> = wanted.iter().map(|&(n, v, u)| metric(n, v, u)).collect();
        assert_eq!(difference(&before, &after, 100), wanted);
    }

    #[test]
    fn a_kernel_of_old_has_fewer_columns() {
        let stat = parse("cpu 1 2 3 4\ncpu0 1 2 3 4\nintr 5\nctxt 7\nprocesses 6\n").unwrap();
        assert_eq!(stat.all, [1, 2, 3, 4, 0, 0, 0, 0]);
        assert_eq!(stat.cpu_idle_ticks(0), Some(4));
    }

    #[test]
    fn what_is_no_proc_stat_is_refused() {
        for text in [
            "",
            "cpu 1 2 3\n",
            "cpu 1\nintr x\nctxt 1\nprocesses 1\n",
            "cpu 1 2 3 4\nintr 5\nprocesses 6\n",
            "cpuX 1 2 3 4\n",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn this_machine_can_be_read() {
        use crate::instruments::run_instrument::RunInstrument;
        let mut instrument = instrument();
        instrument.open().unwrap();
        instrument.start(1);
        instrument.stop();
        assert_eq!(instrument.records().len(), 8);
    }
}
