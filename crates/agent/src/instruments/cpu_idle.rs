//! Non-idle time of each CPU, from the trace event power/cpu_idle.

use std::path::Path;

use assize_job::AgentMessage;

use super::idle::{self, IdleEvent, IdleSpan};
use super::proc_stat;
use super::residency::IdleStateStep;
use super::ring::{self, EventField};
use super::run_instrument::RunInstrument;
use super::tracefs::{Instance, InstanceSettings, RecordedTrace};
use crate::cpus;
use crate::files;
use crate::perf::{self, PerfCounter, PerfScope};
use crate::records::{doubt, metric, number, unavailable};
use crate::sys;

const NAME: &str = "cpu-idle";
const CPU_IDLE: &str = "power/cpu_idle";

/// A CPU counts as used if it was not idle for at least this share of the time.
const USED_SHARE: f64 = 0.0025;

/// The instrument `cpu-idle`.
#[derive(Default)]
pub(crate) struct CpuIdle {
    tracer: Option<IdleStateTracer>,
    window: Option<IdleSpan>,
    stat: [Option<String>; 2],
    failed: Option<String>,
}

impl RunInstrument for CpuIdle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&mut self) -> Result<(), String> {
        self.tracer = Some(IdleStateTracer::open(NAME, "mono", &[])?);
        Ok(())
    }

    fn start(&mut self, _workload: i32) {
        self.stat[0] = files::read(Path::new("/proc/stat")).ok();
        self.failed = self.tracer.as_mut().and_then(|tracer| tracer.on().err());
        let now = sys::now();
        self.window = Some(IdleSpan { from: now, to: now });
    }

    fn stop(&mut self) {
        let now = sys::now();
        if let Some(Err(why)) = self.tracer.as_mut().map(IdleStateTracer::off) {
            self.failed.get_or_insert(why);
        }
        if let Some(window) = &mut self.window {
            window.to = now;
        }
        self.stat[1] = files::read(Path::new("/proc/stat")).ok();
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let (Some(mut tracer), Some(window)) = (self.tracer.take(), self.window) else {
            return vec![unavailable(NAME, None, "it was not started")];
        };
        if let Some(why) = self.failed.take() {
            return vec![unavailable(NAME, None, why)];
        }
        let nudged = tracer.nudged();
        let trace = tracer.drain();
        let ticks = rustix::param::clock_ticks_per_second();
        let still = |cpu| match nudged {
            // It was interrupted at the start and traced nothing, so it was busy.
            true => Some(false),
            false => self.slept(cpu, window, ticks),
        };
        let mut records = records(&trace, window, &still);
        records.extend(trace.doubt(NAME));
        records.extend(self.untraced(&records, window, ticks));
        records
    }
}

impl CpuIdle {
    /// Idle time of a CPU by /proc/stat, in ticks.
    fn idle_ticks(&self, cpu: u32) -> Option<u64> {
        let idle =
            |text: &Option<String>| proc_stat::parse(text.as_deref()?).ok()?.cpu_idle_ticks(cpu);
        Some(idle(&self.stat[1])?.saturating_sub(idle(&self.stat[0])?))
    }

    /// Whether a CPU that traced nothing was idle, by /proc/stat; `None` if the run was
    /// too short to tell.
    fn slept(&self, cpu: u32, window: IdleSpan, hertz: u64) -> Option<bool> {
        let ticks = self.idle_ticks(cpu)?;
        let elapsed = (window.to - window.from).saturating_mul(hertz) / 1_000_000_000;
        (elapsed >= 4).then_some(ticks >= elapsed / 2)
    }

    /// A doubt for each CPU whose idle time by /proc/stat exceeds that of the trace by
    /// more than two ticks and a tenth of the time: some kernels do not trace all idle
    /// times.
    fn untraced(
        &self,
        records: &[AgentMessage],
        window: IdleSpan,
        hertz: u64,
    ) -> Vec<AgentMessage> {
        let elapsed = number(window.to - window.from) * 1e-9;
        let mut doubts = Vec::new();
        for record in records {
            let AgentMessage::Metric { metric, value, .. } = record else {
                continue;
            };
            let cpu = metric
                .strip_prefix("cpu")
                .and_then(|rest| rest.strip_suffix("_non_idle"));
            let Some(cpu) = cpu.and_then(|number| number.parse().ok()) else {
                continue;
            };
            let traced = elapsed - value * 1e-9;
            let reported = self
                .idle_ticks(cpu)
                .map(|ticks| number(ticks) / number(hertz));
            if let Some(reported) = reported
                && is_longer(reported, traced, elapsed, 1.0 / number(hertz))
            {
                let detail = format!(
                    "{metric} is too large: the CPU was idle for {reported:.2} s by /proc/stat, \
                     for {traced:.2} s by the trace; this kernel does not trace all idle times"
                );
                doubts.push(doubt("untraced-idle", detail));
            }
        }
        doubts
    }
}

/// Whether a CPU was idle for longer by /proc/stat than by the trace. All in seconds.
///
/// Where CPUs sleep briefly and often, Linux 7.3 shows more idle time in /proc/stat than
/// has elapsed, so `reported` is capped at the elapsed time.
fn is_longer(reported: f64, traced: f64, elapsed: f64, tick: f64) -> bool {
    reported.min(elapsed) > traced + 2.0 * tick + 0.1 * elapsed
}

/// Computes the metrics. `still`: whether a CPU without any event was idle.
fn records(
    trace: &RecordedTrace<IdleEvent>,
    window: IdleSpan,
    still: &dyn Fn(u32) -> Option<bool>,
) -> Vec<AgentMessage> {
    let elapsed = window.to - window.from;
    let mut records = Vec::with_capacity(trace.cpus.len() + 2);
    let (mut sum, mut used) = (0, 0);
    let mut unknown = None;
    for cpu in &trace.cpus {
        let name = format!("cpu{}_non_idle", cpu.cpu);
        let spans = idle::idle(&cpu.events, window).or_else(|| {
            let whole = if still(cpu.cpu)? {
                vec![window]
            } else {
                Vec::new()
            };
            Some(whole)
        });
        let Some(spans) = spans else {
            let reason = "the trace has no event of this CPU, and the run was too short to tell \
                          why; make it longer";
            records.push(unavailable(NAME, Some(&name), reason));
            unknown = Some(reason);
            continue;
        };
        let non_idle = elapsed - idle::length(&spans);
        sum += non_idle;
        if number(non_idle) >= USED_SHARE * number(elapsed) && non_idle > 0 {
            used += 1;
        }
        records.push(metric(name, number(non_idle), "ns"));
    }
    if let Some(reason) = unknown {
        records.push(unavailable(NAME, Some("cpus_non_idle"), reason));
        records.push(unavailable(NAME, Some("cpus_used"), reason));
    } else {
        records.push(metric("cpus_non_idle", number(sum), "ns"));
        records.push(metric("cpus_used", number(used), ""));
    }
    records
}

/// Traces when CPUs enter and leave idle states.
#[derive(Debug)]
pub(crate) struct IdleStateTracer {
    instance: Instance,
    id: u16,
    state: EventField,
    /// One per CPU; enabling it interrupts the CPU.
    nudges: Vec<PerfCounter>,
    nudged: bool,
}

impl IdleStateTracer {
    /// Creates the instance. `interrupts`: trace events that also end an idle time.
    pub(crate) fn open(
        name: &str,
        clock: &str,
        interrupts: &[&str],
    ) -> Result<IdleStateTracer, String> {
        let mut events = vec![CPU_IDLE];
        events.extend(interrupts);
        let instance = Instance::open(InstanceSettings {
            name,
            clock,
            kib_per_cpu: 4 << 10,
            events: &events,
        })?;
        let format = instance.format(CPU_IDLE)?;
        let state = format.field("state");
        let state = state.ok_or("the trace event power/cpu_idle has no field state here")?;
        let nudge = |&cpu: &u32| PerfCounter::open(perf::PerfEvent::DUMMY, PerfScope::Cpu(cpu));
        // Without perf events, /proc/stat shows whether a CPU that traced nothing slept.
        let nudges: Option<Vec<PerfCounter>> =
            cpus::online()?.iter().map(|cpu| nudge(cpu).ok()).collect();
        Ok(IdleStateTracer {
            instance,
            id: format.id,
            state,
            nudges: nudges.unwrap_or_default(),
            nudged: false,
        })
    }

    /// Starts recording, and interrupts each CPU once: an idle CPU then leaves and
    /// enters its idle state again, which it traces.
    pub(crate) fn on(&mut self) -> Result<(), String> {
        self.instance.on()?;
        let done = |nudge: &PerfCounter| nudge.enable().is_ok();
        self.nudged = !self.nudges.is_empty() && self.nudges.iter().all(done);
        Ok(())
    }

    /// Stops recording.
    pub(crate) fn off(&mut self) -> Result<(), String> {
        self.instance.off()
    }

    /// Whether every CPU was interrupted at the start.
    pub(crate) fn nudged(&self) -> bool {
        self.nudged
    }

    /// Returns what was recorded, and prepares to record again.
    pub(crate) fn drain(&mut self) -> RecordedTrace<IdleEvent> {
        self.drain_as(&|step| match step {
            None => Some(IdleEvent::Interrupt),
            Some(IdleStateStep::Enter(_)) => Some(IdleEvent::Enter),
            Some(IdleStateStep::Leave) => Some(IdleEvent::Leave),
        })
    }

    /// Like [`IdleStateTracer::drain`], but with the states that CPUs entered and without
    /// interrupts.
    pub(crate) fn drain_states(&mut self) -> RecordedTrace<IdleStateStep> {
        self.drain_as(&|step| step)
    }

    /// Drains the trace. `convert` gets `None` for an interrupt.
    fn drain_as<E>(
        &mut self,
        convert: &dyn Fn(Option<IdleStateStep>) -> Option<E>,
    ) -> RecordedTrace<E> {
        // Enabling an enabled counter would not interrupt its CPU.
        let done = |nudge: &PerfCounter| nudge.disable().is_ok();
        if !self.nudges.iter().all(done) {
            self.nudges.clear();
        }
        let (id, state) = (self.id, self.state);
        self.instance.drain(&|event| {
            if ring::id(event)? != id {
                return convert(None);
            }
            // The kernel writes -1 when a CPU leaves an idle state.
            convert(Some(match u32::try_from(state.number(event)?) {
                Ok(u32::MAX) | Err(_) => IdleStateStep::Leave,
                Ok(state) => IdleStateStep::Enter(state),
            }))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::super::tracefs::CpuEvents;
    use super::*;
    use crate::records::metric_value;

    const WINDOW: IdleSpan = IdleSpan {
        from: 1000,
        to: 2000,
    };

    fn trace(cpus: &[&[(u64, IdleEvent)]]) -> RecordedTrace<IdleEvent> {
        let cpu = |(cpu, events): (usize, &&[(u64, IdleEvent)])| CpuEvents {
            cpu: cpu as u32,
            events: events.to_vec(),
        };
        RecordedTrace {
            cpus: cpus.iter().enumerate().map(cpu).collect(),
            lost: 0,
            broken: false,
        }
    }

    #[test]
    fn idle_times_are_missing_where_more_were_counted_than_traced() {
        assert!(is_longer(1.0, 0.8, 1.1, 0.004));
        assert!(!is_longer(1.0, 0.95, 1.1, 0.004));
        // More than has elapsed: 1.35 s of 1.09.
        assert!(!is_longer(1.35, 1.08, 1.09, 0.004));
        assert!(is_longer(1.35, 0.5, 1.09, 0.004));
    }

    #[test]
    fn each_cpu_and_their_sum() {
        let trace = trace(&[
            &[(1100, IdleEvent::Leave), (1400, IdleEvent::Enter)],
            &[(1001, IdleEvent::Leave), (1002, IdleEvent::Enter)],
            &[],
        ]);
        let wanted = vec![
            metric("cpu0_non_idle", 300.0, "ns"),
            metric("cpu1_non_idle", 1.0, "ns"),
            metric("cpu2_non_idle", 1000.0, "ns"),
            metric("cpus_non_idle", 1301.0, "ns"),
            metric("cpus_used", 2.0, ""),
        ];
        assert_eq!(records(&trace, WINDOW, &|_| Some(false)), wanted);
        let sleeping = records(&trace, WINDOW, &|_| Some(true));
        assert_eq!(sleeping[3], metric("cpus_non_idle", 301.0, "ns"));
    }

    #[test]
    fn what_a_cpu_did_is_not_guessed() {
        let trace = trace(&[&[(1100, IdleEvent::Leave)], &[]]);
        let given = records(&trace, WINDOW, &|_| None);
        assert_eq!(given[0], metric("cpu0_non_idle", 900.0, "ns"));
        let unavailable = |r: &AgentMessage| matches!(r, AgentMessage::Unavailable { .. });
        assert!(given[1..].iter().all(unavailable), "{given:?}");
    }

    #[test]
    fn idle_time_that_was_not_traced_is_noticed() {
        let stat = |idle: u64| {
            let text =
                format!("cpu 0 0 0 {idle} 0\ncpu0 0 0 0 {idle} 0\nintr 1\nctxt 1\nprocesses 1\n");
            Some(text)
        };
        let window = IdleSpan {
            from: 0,
            to: 1_000_000_000,
        };
        // 0.5 s idle by the trace.
        let given = [
            metric("cpu0_non_idle", 5e8, "ns"),
            metric("cpus_used", 1.0, ""),
        ];
        for (ticks, doubts) in [(0, 0), (50, 0), (61, 0), (63, 1), (100, 1)] {
            let instrument = CpuIdle {
                stat: [stat(7), stat(7 + ticks)],
                ..CpuIdle::default()
            };
            assert_eq!(
                instrument.untraced(&given, window, 100).len(),
                doubts,
                "{ticks}"
            );
        }
    }

    #[test]
    fn this_machine_is_measured() {
        let mut instrument = CpuIdle::default();
        if let Err(why) = instrument.open() {
            eprintln!("skipped: {why}");
            return;
        }
        let cpus = cpus::online().unwrap();
        instrument.start(1);
        std::thread::sleep(std::time::Duration::from_millis(100));
        instrument.stop();
        let window = instrument.window.unwrap();
        let elapsed = number(window.to - window.from);
        let records = instrument.records();
        for cpu in &cpus {
            let name = format!("cpu{cpu}_non_idle");
            let value = metric_value(&records, &name).unwrap();
            assert!((0.0..=elapsed).contains(&value), "{records:?}");
        }
        // This thread slept, but it had to run to get there.
        assert!(
            metric_value(&records, "cpus_used") > Some(0.0),
            "{records:?}"
        );
    }
}
