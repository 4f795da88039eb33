//! Counters of perf_event_open(2).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use perf_event_open_sys::{bindings, ioctls, perf_event_open};

use crate::records;
use crate::sys;

/// An event of a PMU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PerfEvent {
    /// Number of the PMU.
    pub kind: u32,
    /// Number of the event.
    pub config: u64,
}

impl PerfEvent {
    /// A software event of the kernel.
    pub(crate) const fn software(config: u32) -> PerfEvent {
        PerfEvent {
            kind: bindings::PERF_TYPE_SOFTWARE,
            config: config as u64,
        }
    }

    /// A hardware event of the CPU.
    pub(crate) const fn hardware(config: u32) -> PerfEvent {
        PerfEvent {
            kind: bindings::PERF_TYPE_HARDWARE,
            config: config as u64,
        }
    }

    /// An event that never occurs.
    pub(crate) const DUMMY: PerfEvent = PerfEvent::software(bindings::PERF_COUNT_SW_DUMMY);
}

/// The CPU or tasks whose events are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PerfScope {
    /// Everything that happens on one CPU.
    Cpu(u32),
    /// A process's main thread and all threads and processes it starts.
    Task(i32),
}

/// A counter.
#[derive(Debug)]
pub(crate) struct PerfCounter {
    file: OwnedFd,
}

/// A reading of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CounterReading {
    /// Number of events.
    pub value: u64,
    /// Time enabled, in nanoseconds.
    pub enabled: u64,
    /// Time actually counting, in nanoseconds.
    pub running: u64,
}

impl PerfCounter {
    /// Opens a counter, disabled.
    pub(crate) fn open(event: PerfEvent, scope: PerfScope) -> io::Result<PerfCounter> {
        let mut attr = bindings::perf_event_attr {
            type_: event.kind,
            config: event.config,
            read_format: u64::from(
                bindings::PERF_FORMAT_TOTAL_TIME_ENABLED | bindings::PERF_FORMAT_TOTAL_TIME_RUNNING,
            ),
            ..Default::default()
        };
        attr.set_disabled(1);
        let (pid, cpu) = match scope {
            PerfScope::Cpu(cpu) => (-1, i32::try_from(cpu).unwrap_or(i32::MAX)),
            PerfScope::Task(pid) => {
                attr.set_inherit(1);
                (pid, -1)
            }
        };
        Ok(PerfCounter {
            file: open_event(attr, pid, cpu)?,
        })
    }

    /// Starts counting. Enabling a counter of another CPU interrupts that CPU.
    pub(crate) fn enable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is a perf event; the call has no other
        // argument.
        sys::check(unsafe { ioctls::ENABLE(self.file.as_raw_fd(), 0) }).map(|_| ())
    }

    /// Stops counting, including inherited counters.
    pub(crate) fn disable(&self) -> io::Result<()> {
        // SAFETY: as above.
        sys::check(unsafe { ioctls::DISABLE(self.file.as_raw_fd(), 0) }).map(|_| ())
    }

    /// Reads the counter, including inherited ones.
    pub(crate) fn read(&self) -> io::Result<CounterReading> {
        let mut bytes = [0u8; 24];
        let got = rustix::io::read(&self.file, &mut bytes)?;
        if got != bytes.len() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        let word = |at: usize| {
            let mut word = [0u8; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(word)
        };
        Ok(CounterReading {
            value: word(0),
            enabled: word(8),
            running: word(16),
        })
    }
}

/// Opens an event. `pid` and `cpu`: as for perf_event_open(2).
pub(crate) fn open_event(
    mut attr: bindings::perf_event_attr,
    pid: i32,
    cpu: i32,
) -> io::Result<OwnedFd> {
    attr.size = u32::try_from(size_of::<bindings::perf_event_attr>()).unwrap_or(0);
    let flags = u64::from(bindings::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: `attr` is valid for the call and carries its own size; the kernel does not
    // keep the pointer.
    let number = sys::check(unsafe { perf_event_open(&raw mut attr, pid, cpu, -1, flags) })?;
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Why a counter cannot be opened, with a remedy.
pub(crate) fn why(error: &io::Error) -> String {
    use rustix::io::Errno;
    let reason = match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NODEV | Errno::OPNOTSUPP) => {
            "no PMU counts this here; run on bare metal, or pass the PMU through to this machine"
        }
        Some(Errno::ACCESS | Errno::PERM) => {
            "not permitted; run as root or set kernel.perf_event_paranoid to 0"
        }
        Some(Errno::NOSYS) => "the kernel lacks perf_event_open; use one with CONFIG_PERF_EVENTS",
        Some(Errno::MFILE) => "too many open files; raise the limit (ulimit -n)",
        _ => return error.to_string(),
    };
    reason.into()
}

/// Counters whose sum is one metric.
#[derive(Debug, Default)]
pub(crate) struct CounterSum {
    counters: Vec<PerfCounter>,
}

/// The combined readings of a [`CounterSum`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct CounterTotal {
    /// Number of events, scaled up where counters were multiplexed.
    pub value: f64,
    /// The smallest share of its enabled time that a counter was counting.
    pub share: f64,
}

impl CounterSum {
    /// Opens a counter on each of these CPUs, disabled.
    pub(crate) fn on_cpus(event: PerfEvent, cpus: &[u32]) -> io::Result<CounterSum> {
        let open = |&cpu: &u32| PerfCounter::open(event, PerfScope::Cpu(cpu));
        let counters = cpus.iter().map(open).collect::<io::Result<_>>()?;
        Ok(CounterSum { counters })
    }

    /// Opens a counter on a process and all its descendants, disabled.
    pub(crate) fn on_task(event: PerfEvent, pid: i32) -> io::Result<CounterSum> {
        let counters = vec![PerfCounter::open(event, PerfScope::Task(pid))?];
        Ok(CounterSum { counters })
    }

    /// Starts counting.
    pub(crate) fn enable(&self) -> io::Result<()> {
        self.counters.iter().try_for_each(PerfCounter::enable)
    }

    /// Stops counting.
    pub(crate) fn disable(&self) -> io::Result<()> {
        self.counters.iter().try_for_each(PerfCounter::disable)
    }

    /// Reads and sums the counters.
    pub(crate) fn total(&self) -> io::Result<CounterTotal> {
        let readings: Vec<CounterReading> = self
            .counters
            .iter()
            .map(PerfCounter::read)
            .collect::<io::Result<_>>()?;
        Ok(total(&readings))
    }
}

/// Sums readings, each scaled up to the time for which it was enabled.
#[allow(clippy::cast_precision_loss)] // Counts above 2^53 may be rounded.
pub(crate) fn total(readings: &[CounterReading]) -> CounterTotal {
    let mut sum = CounterTotal {
        value: 0.0,
        share: 1.0,
    };
    for reading in readings {
        let share = if reading.running >= reading.enabled {
            1.0
        } else {
            reading.running as f64 / reading.enabled as f64
        };
        if share > 0.0 {
            sum.value += reading.value as f64 / share;
        }
        sum.share = sum.share.min(share);
    }
    sum
}

/// The records for one metric of a [`CounterSum`].
pub(crate) fn records(
    instrument: &'static str,
    name: &str,
    unit: &str,
    total: &io::Result<CounterTotal>,
) -> Vec<assize_job::AgentMessage> {
    match total {
        Err(error) => vec![records::unavailable(instrument, Some(name), why(error))],
        Ok(total) if total.share <= 0.0 => {
            let reason = "the counter never ran: others held the PMU; measure fewer events at once";
            vec![records::unavailable(instrument, Some(name), reason)]
        }
        Ok(total) => {
            let mut records = vec![records::metric(name, total.value, unit)];
            if total.share < 1.0 {
                let percent = total.share * 100.0;
                let detail = format!(
                    "{name} is scaled up: a counter ran in {percent:.1} % of the time only"
                );
                records.push(records::doubt("multiplexed", detail));
            }
            records
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use assize_job::AgentMessage;

    fn reading(value: u64, enabled: u64, running: u64) -> CounterReading {
        CounterReading {
            value,
            enabled,
            running,
        }
    }

    #[test]
    fn readings_are_summed_and_scaled() {
        let cases: &[(&[CounterReading], f64, f64)] = &[
            (&[], 0.0, 1.0),
            (&[reading(7, 10, 10), reading(5, 10, 10)], 12.0, 1.0),
            (&[reading(7, 10, 5), reading(5, 10, 10)], 19.0, 0.5),
            (&[reading(0, 10, 0)], 0.0, 0.0),
            (&[reading(3, 0, 0)], 3.0, 1.0),
        ];
        for (readings, value, share) in cases {
            let wanted = CounterTotal {
                value: *value,
                share: *share,
            };
            assert_eq!(total(readings), wanted, "{readings:?}");
        }
    }

    #[test]
    fn what_took_turns_is_doubted_and_what_never_ran_is_unavailable() {
        let half = Ok(CounterTotal {
            value: 19.0,
            share: 0.5,
        });
        let given = records("perf-hardware", "cycles", "", &half);
        assert!(matches!(
            &given[..],
            [AgentMessage::Metric { .. }, AgentMessage::Doubt { code, .. }] if code == "multiplexed"
        ));
        let never = Ok(CounterTotal::default());
        let given = records("perf-hardware", "cycles", "", &never);
        assert!(matches!(&given[..], [AgentMessage::Unavailable { .. }]));
    }

    #[test]
    fn errors_name_a_mend() {
        for errno in [libc_number("ENOENT"), libc_number("EACCES")] {
            let words = why(&io::Error::from_raw_os_error(errno));
            assert!(words.contains("; "), "{words}");
        }
    }

    fn libc_number(name: &str) -> i32 {
        match name {
            "ENOENT" => rustix::io::Errno::NOENT.raw_os_error(),
            _ => rustix::io::Errno::ACCESS.raw_os_error(),
        }
    }

    #[test]
    fn context_switches_of_this_process_are_counted() {
        let event = PerfEvent::software(bindings::PERF_COUNT_SW_CONTEXT_SWITCHES);
        let sum = match CounterSum::on_task(event, 0) {
            Ok(sum) => sum,
            Err(error) => {
                eprintln!("skipped: {}", why(&error));
                return;
            }
        };
        sum.enable().unwrap();
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        sum.disable().unwrap();
        let total = sum.total().unwrap();
        assert!(total.value >= 3.0, "{total:?}");
    }
}
