//! Number of instructions that the machine executed, on a machine whose clock counts
//! them.
//!
//! On such a machine the time-stamp counter advances by one per instruction of any CPU, and apart
//! from that only jumps, when all CPUs sleep. So the number of executed instructions is its
//! increase minus the time in which all CPUs slept.
//!
//! A CPU traces that it goes idle some instructions before it sleeps, and that an
//! interrupt has begun some instructions after it woke. Their number is calibrated before
//! the run with many idle times, each longer than the one before: the first ones end
//! before the CPU sleeps at all, so the shortest takes exactly those instructions. The
//! instrument `cpu-idle` does not change the number: it is opened earlier, so its trace
//! of a CPU going idle precedes this one's.

use std::num::NonZeroU64;

use assize_job::AgentMessage;
use rustix::thread::{Timespec, current_timer_slack, nanosleep, set_current_timer_slack};

use super::cpu_idle::IdleStateTracer;
use super::idle::{self, IdleEvent, IdleSpan};
use super::run_instrument::RunInstrument;
use super::tracefs::RecordedTrace;
use crate::files;
use crate::records::{metric, number, unavailable};
use crate::tsc;

const NAME: &str = "guest-instructions";

/// Kernel parameters of an exact machine.
const EXACT: [&str; 2] = ["assize.channel=debugcon", "assize.clock=instructions"];

/// Step by which the calibration's sleeps grow, number of sleeps, and number of equal
/// results required. Going idle takes a few thousand instructions; the interval to hit is
/// a few hundred long.
const CALIBRATION_STEP_NS: i64 = 100;
const CALIBRATION_STEPS: i64 = 120;
const CALIBRATION_ALIKE: usize = 3;

/// Trace events that mark the beginning of an interrupt.
const INTERRUPTS: &[&str] = &["irq_vectors", "irq/irq_handler_entry"];

/// The instrument `guest-instructions`.
#[derive(Default)]
pub(crate) struct GuestInstructions {
    tracer: Option<IdleStateTracer>,
    window: Option<IdleSpan>,
    /// Number of instructions of an idle time without sleep.
    around_sleep: u64,
    failed: Option<String>,
}

impl RunInstrument for GuestInstructions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&mut self) -> Result<(), String> {
        if !exact(&files::read("/proc/cmdline".as_ref())?) {
            return Err(
                "the clock of this machine counts no instructions; use target exact".into(),
            );
        }
        let mut tracer = IdleStateTracer::open(NAME, "x86-tsc", INTERRUPTS)?;
        self.around_sleep = calibrate(&mut tracer)?;
        self.tracer = Some(tracer);
        Ok(())
    }

    fn start(&mut self, _workload: i32) {
        self.failed = self.tracer.as_mut().and_then(|tracer| tracer.on().err());
        let now = tsc::counter();
        self.window = Some(IdleSpan { from: now, to: now });
    }

    fn stop(&mut self) {
        let now = tsc::counter();
        if let Some(Err(why)) = self.tracer.as_mut().map(IdleStateTracer::off) {
            self.failed.get_or_insert(why);
        }
        if let Some(window) = &mut self.window {
            window.to = now;
        }
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let (Some(mut tracer), Some(window)) = (self.tracer.take(), self.window) else {
            return vec![unavailable(NAME, None, "it was not started")];
        };
        if let Some(why) = self.failed.take() {
            return vec![unavailable(NAME, None, why)];
        }
        let trace = tracer.drain();
        let mut records = match tracer.nudged() {
            true => records(&trace, window, self.around_sleep),
            false => vec![unavailable(
                NAME,
                None,
                "a CPU could not be interrupted at the start; use a kernel with CONFIG_PERF_EVENTS",
            )],
        };
        records.extend(trace.doubt(NAME));
        records
    }
}

fn exact(command_line: &str) -> bool {
    let words: Vec<&str> = command_line.split_ascii_whitespace().collect();
    EXACT.iter().all(|word| words.contains(word))
}

/// Sleeps for increasing times, starting with less than it takes to go idle.
/// Returns the shortest idle time that an interrupt ended.
fn calibrate(tracer: &mut IdleStateTracer) -> Result<u64, String> {
    let failed = |why: rustix::io::Errno| format!("timer slack: {why}");
    let slack = current_timer_slack().map_err(failed)?;
    set_current_timer_slack(NonZeroU64::new(1)).map_err(failed)?;
    tracer.on()?;
    for step in 1..=CALIBRATION_STEPS {
        let tv_nsec = step * CALIBRATION_STEP_NS;
        let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec });
    }
    tracer.off()?;
    set_current_timer_slack(NonZeroU64::new(slack)).map_err(failed)?;
    let trace = tracer.drain();
    let spans = trace.cpus.iter().flat_map(|cpu| interrupted(&cpu.events));
    shortest(spans.collect()).ok_or_else(|| {
        "going idle could not be calibrated; use a kernel with CONFIG_X86_LOCAL_APIC".into()
    })
}

/// The times from going idle to the interrupt that ended it.
fn interrupted(events: &[(u64, IdleEvent)]) -> Vec<u64> {
    let spans = events.windows(2).filter_map(|pair| match pair {
        [(from, IdleEvent::Enter), (to, IdleEvent::Interrupt)] => to.checked_sub(*from),
        _ => None,
    });
    spans.collect()
}

/// The shortest span that occurs [`CALIBRATION_ALIKE`] times.
fn shortest(mut spans: Vec<u64>) -> Option<u64> {
    spans.sort_unstable();
    let alike = spans.windows(CALIBRATION_ALIKE);
    alike
        .filter(|s| s.first() == s.last())
        .find_map(|s| s.first().copied())
}

/// Computes the metrics. A CPU without an event was busy: it was interrupted at the
/// start.
fn records(
    trace: &RecordedTrace<IdleEvent>,
    window: IdleSpan,
    around_sleep: u64,
) -> Vec<AgentMessage> {
    let mut all_idle = vec![window];
    for cpu in &trace.cpus {
        let spans = idle::idle(&cpu.events, window).unwrap_or_default();
        all_idle = idle::intersect_spans(&all_idle, &spans);
    }
    let slept: u64 = all_idle
        .iter()
        .map(|span| (span.to - span.from).saturating_sub(around_sleep))
        .sum();
    let executed = window.to - window.from - slept;
    let periods = all_idle.len().try_into().unwrap_or(u64::MAX);
    vec![
        metric("guest_instructions", number(executed), ""),
        metric("all_idle_periods", number(periods), ""),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::super::tracefs::CpuEvents;
    use super::*;

    #[test]
    fn the_command_line_says_whether_it_is_exact() {
        assert!(exact(
            "quiet assize.channel=debugcon assize.clock=instructions\n"
        ));
        assert!(!exact("assize.channel=debugcon"));
        assert!(!exact("assize.channel=debugcon assize.clock=instructions2"));
    }

    #[test]
    fn only_time_in_which_all_sleep_is_not_executed() {
        use IdleEvent::{Enter, Interrupt, Leave};
        let cpu = |cpu, events: &[(u64, IdleEvent)]| CpuEvents {
            cpu,
            events: events.to_vec(),
        };
        let window = IdleSpan { from: 0, to: 1000 };
        let cases = [
            // Both CPUs sleep from 200 to 500, and from 900.
            (
                vec![
                    cpu(
                        0,
                        &[(100, Enter), (500, Interrupt), (520, Leave), (900, Enter)],
                    ),
                    cpu(1, &[(0, Leave), (200, Enter), (600, Leave), (700, Enter)]),
                ],
                [600.0, 2.0],
            ),
            // One CPU never sleeps.
            (vec![cpu(0, &[(100, Enter)]), cpu(1, &[])], [1000.0, 0.0]),
            (vec![cpu(0, &[(100, Enter), (300, Leave)])], [800.0, 1.0]),
        ];
        for (cpus, [executed, periods]) in cases {
            let trace = RecordedTrace {
                cpus,
                lost: 0,
                broken: false,
            };
            let wanted = vec![
                metric("guest_instructions", executed, ""),
                metric("all_idle_periods", periods, ""),
            ];
            assert_eq!(records(&trace, window, 0), wanted);
        }
    }

    #[test]
    fn the_shortest_idle_time_must_occur_again() {
        use IdleEvent::{Enter, Interrupt, Leave};
        let events = [
            (0, Enter),
            (867, Interrupt),
            (900, Leave),
            (1000, Enter),
            (1300, Leave), // no interrupt ended this one
            (2000, Interrupt),
            (3000, Enter),
            (3867, Interrupt),
        ];
        assert_eq!(interrupted(&events), [867, 867]);
        assert_eq!(shortest(vec![900, 867, 12, 867, 950, 867]), Some(867));
        assert_eq!(shortest(vec![900, 867, 12, 867, 950]), None);
        assert_eq!(shortest(Vec::new()), None);
    }

    #[test]
    fn what_surrounds_a_sleep_was_executed() {
        let events = vec![
            (100, IdleEvent::Enter),
            (500, IdleEvent::Interrupt),
            (600, IdleEvent::Leave),
        ];
        let trace = RecordedTrace {
            cpus: vec![CpuEvents { cpu: 0, events }],
            lost: 0,
            broken: false,
        };
        let window = IdleSpan { from: 0, to: 1000 };
        for (around, executed) in [(0, 600.0), (150, 750.0), (900, 1000.0)] {
            let given = records(&trace, window, around);
            assert_eq!(given[0], metric("guest_instructions", executed, ""));
        }
    }

    #[test]
    fn this_machine_is_not_exact() {
        if exact(&files::read("/proc/cmdline".as_ref()).unwrap()) {
            eprintln!("skipped: this machine is exact");
            return;
        }
        let why = GuestInstructions::default().open().unwrap_err();
        assert!(why.contains("target exact"), "{why}");
    }
}
