//! Busy time, to the nanosecond and without overhead, from /proc/timer_list.
//!
//! The kernel accumulates the idle time of each CPU. /proc/stat rounds it to ticks; this
//! file does not. It is read before and after the workload only.

use super::file_difference::FileDifference;
use crate::records::{metric, number};

const PATH: &str = "/proc/timer_list";

/// The instrument `timer-list`.
pub(crate) fn instrument() -> FileDifference<TimerListReading> {
    FileDifference::new("timer-list", PATH, parse, |from, to| {
        Ok(vec![metric("busy_time", number(busy(from, to)?), "ns")])
    })
}

/// One reading of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TimerListReading {
    /// Time since boot, in nanoseconds.
    now: u64,
    /// Each CPU's idle time since boot in nanoseconds, iowait included.
    idle: Vec<(u32, u64)>,
}

/// The fields of one CPU.
#[derive(Default)]
struct CpuIdleFields {
    number: u32,
    tick_stopped: u64,
    idle_entrytime: u64,
    idle_waketime: u64,
    idle_exittime: u64,
    idle_sleeptime: u64,
    iowait_sleeptime: u64,
}

impl CpuIdleFields {
    fn field(&mut self, name: &str) -> Option<&mut u64> {
        Some(match name {
            "tick_stopped" => &mut self.tick_stopped,
            "idle_entrytime" => &mut self.idle_entrytime,
            "idle_waketime" => &mut self.idle_waketime,
            "idle_exittime" => &mut self.idle_exittime,
            "idle_sleeptime" => &mut self.idle_sleeptime,
            "iowait_sleeptime" => &mut self.iowait_sleeptime,
            _ => return None,
        })
    }

    /// Idle time until `now`. The kernel adds an idle period when it ends. One that still
    /// continues began after the last interrupt and the last exit from idle and, if it is
    /// long, has stopped the tick.
    fn idle(&self, now: u64) -> u64 {
        let left = self.idle_waketime.max(self.idle_exittime);
        let goes_on = self.tick_stopped != 0 && self.idle_entrytime >= left;
        let since = if goes_on {
            now.saturating_sub(self.idle_entrytime)
        } else {
            0
        };
        self.idle_sleeptime + self.iowait_sleeptime + since
    }
}

fn parse(text: &str) -> Result<TimerListReading, String> {
    let mut now = None;
    let mut cpus: Vec<CpuIdleFields> = Vec::new();
    // Linux 7 accumulates idle times elsewhere and shows them in ticks only.
    if !text.contains(".idle_sleeptime") && text.contains(".idle_entrytime") {
        return Err(format!(
            "{PATH}: this kernel does not print idle times there; use the instrument cpu-idle"
        ));
    }
    for line in text.lines() {
        let line = line.trim_start();
        let wrong = || format!("{PATH}: not understood: {line:.60}");
        if let Some(rest) = line.strip_prefix("now at ") {
            now = first_number(rest);
        } else if let Some(rest) = line.strip_prefix("cpu: ") {
            cpus.push(CpuIdleFields {
                number: rest.trim().parse().map_err(|_| wrong())?,
                ..CpuIdleFields::default()
            });
        } else if let Some((name, rest)) = line.strip_prefix('.').and_then(|l| l.split_once(':'))
            && let Some(field) = cpus.last_mut().and_then(|cpu| cpu.field(name.trim()))
        {
            *field = first_number(rest).ok_or_else(wrong)?;
        }
    }
    let Some(now) = now else {
        return Err(format!("{PATH}: it does not say the current time"));
    };
    if cpus.iter().all(|cpu| cpu.idle_sleeptime == 0) {
        return Err(format!("{PATH}: this kernel does not sum idle times"));
    }
    let idle = cpus.iter().map(|cpu| (cpu.number, cpu.idle(now)));
    Ok(TimerListReading {
        now,
        idle: idle.collect(),
    })
}

fn first_number(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Non-idle time of all CPUs together, in nanoseconds.
fn busy(from: &TimerListReading, to: &TimerListReading) -> Result<u64, String> {
    let elapsed = to.now.saturating_sub(from.now);
    let mut busy = 0;
    for (cpu, after) in &to.idle {
        let Some((_, before)) = from.idle.iter().find(|(number, _)| number == cpu) else {
            return Err(format!("CPU {cpu} went online while the workload ran"));
        };
        busy += elapsed.saturating_sub(after.saturating_sub(*before));
    }
    Ok(busy)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    const TEXT: &str = "Timer List Version: v0.10\nHRTIMER_MAX_CLOCK_BASES: 8\n\
        now at 5000 nsecs\n\ncpu: 0\n clock 0:\n  .base:       00000000\n\
          .nohz           : 3\n  .idle_entrytime : 4900 nsecs\n\
          .idle_sleeptime : 3000 nsecs\n  .iowait_sleeptime: 200 nsecs\n\
        cpu: 1\n  .idle_sleeptime : 4000 nsecs\n  .iowait_sleeptime: 0 nsecs\n";

    #[test]
    fn a_cpu_is_busy_when_it_is_not_idle() {
        let from = parse(TEXT).unwrap();
        assert_eq!((from.now, &*from.idle), (5000, &[(0, 3200), (1, 4000)][..]));
        let later = TEXT.replace("now at 5000", "now at 6000");
        let to = parse(&later.replace(": 3000", ": 3900")).unwrap();
        assert_eq!(busy(&from, &to), Ok(100 + 1000));
    }

    #[test]
    fn an_idle_time_that_goes_on_counts() {
        let text = TEXT.replace(".nohz           : 3", ".tick_stopped   : 1");
        assert_eq!(parse(&text).unwrap().idle[0], (0, 3300));
        for field in [".idle_exittime", ".idle_waketime"] {
            let line = format!("{field}: 4950 nsecs\n.idle_sleep");
            let text = text.replacen(".idle_sleep", &line, 1);
            assert_eq!(parse(&text).unwrap().idle[0], (0, 3200));
        }
    }

    #[test]
    fn a_cpu_that_comes_is_no_measurement() {
        let mut from = parse(TEXT).unwrap();
        let to = parse(TEXT).unwrap();
        from.idle.pop();
        assert!(busy(&from, &to).is_err());
    }

    #[test]
    fn a_kernel_that_says_no_idle_times_here_is_told_what_measures_them() {
        let seven = TEXT
            .replace(".idle_sleeptime", ".x")
            .replace(".iowait", ".y");
        let why = parse(&seven).unwrap_err();
        assert!(
            why.contains("does not print") && why.contains("cpu-idle"),
            "{why}"
        );
    }

    #[test]
    fn a_kernel_without_idle_times_is_told() {
        for text in ["", "now at 5 nsecs\ncpu: 0\n", "now at 5 nsecs\ncpu: x\n"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
