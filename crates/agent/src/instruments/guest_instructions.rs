//! How many instructions the machine executed, on a machine whose clock
//! counts them.
//!
//! There the time-stamp counter goes on by one for each instruction, of
//! whichever CPU, and else only jumps, when all CPUs sleep. So what it
//! advanced without the times in which all CPUs slept is what was executed.

use assize_job::Record;

use super::cpu_idle::Tracer;
use super::idle::{self, Event, Span};
use super::tracefs::Trace;
use super::{Instrument, metric, number, system, unavailable};

const NAME: &str = "guest-instructions";

/// What the command line of an exact machine says.
const EXACT: [&str; 2] = ["assize.channel=debugcon", "assize.clock=instructions"];

/// Trace events with which an interrupt begins.
const INTERRUPTS: &[&str] = &["irq_vectors", "irq/irq_handler_entry"];

/// The instrument `guest-instructions`.
#[derive(Default)]
pub(crate) struct GuestInstructions {
    tracer: Option<Tracer>,
    window: Option<Span>,
    failed: Option<String>,
}

impl Instrument for GuestInstructions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&mut self) -> Result<(), String> {
        if !exact(&system::read("/proc/cmdline".as_ref())?) {
            return Err(
                "the clock of this machine counts no instructions; use target exact".into(),
            );
        }
        self.tracer = Some(Tracer::open(NAME, "x86-tsc", INTERRUPTS)?);
        Ok(())
    }

    fn start(&mut self, _workload: i32) {
        self.failed = self.tracer.as_mut().and_then(|tracer| tracer.on().err());
        let now = counter();
        self.window = Some(Span { from: now, to: now });
    }

    fn stop(&mut self) {
        let now = counter();
        if let Some(Err(why)) = self.tracer.as_mut().map(Tracer::off) {
            self.failed.get_or_insert(why);
        }
        if let Some(window) = &mut self.window {
            window.to = now;
        }
    }

    fn records(&mut self) -> Vec<Record> {
        let (Some(mut tracer), Some(window)) = (self.tracer.take(), self.window) else {
            return vec![unavailable(NAME, None, "it was not started")];
        };
        if let Some(why) = self.failed.take() {
            return vec![unavailable(NAME, None, why)];
        }
        let trace = tracer.drain();
        let mut records = match tracer.nudges() {
            true => records(&trace, window),
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

/// A CPU without an event was busy: it was interrupted at the start.
fn records(trace: &Trace<Event>, window: Span) -> Vec<Record> {
    let mut all_idle = vec![window];
    for cpu in &trace.cpus {
        let spans = idle::idle(&cpu.events, window).unwrap_or_default();
        all_idle = idle::both(&all_idle, &spans);
    }
    let executed = window.to - window.from - idle::length(&all_idle);
    let periods = all_idle.len().try_into().unwrap_or(u64::MAX);
    vec![
        metric("guest_instructions", number(executed), ""),
        metric("all_idle_periods", number(periods), ""),
    ]
}

#[cfg(target_arch = "x86_64")]
fn counter() -> u64 {
    // SAFETY: every x86-64 CPU has this instruction, and Linux lets
    // processes use it unless they ask it not to.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// No machine but x86 is exact; `open` has refused.
#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    0
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
        use Event::{Enter, Interrupt, Leave};
        let cpu = |cpu, events: &[(u64, Event)]| CpuEvents {
            cpu,
            events: events.to_vec(),
        };
        let window = Span { from: 0, to: 1000 };
        let cases = [
            // Both sleep from 200 to 500, and from 900.
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
            // One never sleeps.
            (vec![cpu(0, &[(100, Enter)]), cpu(1, &[])], [1000.0, 0.0]),
            (vec![cpu(0, &[(100, Enter), (300, Leave)])], [800.0, 1.0]),
        ];
        for (cpus, [executed, periods]) in cases {
            let trace = Trace {
                cpus,
                lost: 0,
                broken: false,
            };
            let wanted = vec![
                metric("guest_instructions", executed, ""),
                metric("all_idle_periods", periods, ""),
            ];
            assert_eq!(records(&trace, window), wanted);
        }
    }

    #[test]
    fn this_machine_is_not_exact() {
        if exact(&system::read("/proc/cmdline".as_ref()).unwrap()) {
            eprintln!("skipped: this machine is exact");
            return;
        }
        let why = GuestInstructions::default().open().unwrap_err();
        assert!(why.contains("target exact"), "{why}");
    }
}
