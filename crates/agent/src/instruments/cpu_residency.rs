//! Time that CPUs spent in each idle state, individually and all at once, and the energy
//! that this takes by the powers that the experiment declares.
//!
//! Times are those of the trace: a governor may not get the state it requested. The
//! kernel's own counters show how often it found a state too deep or too shallow.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use assize_job::{AgentMessage, Frequency, Idle, Job};

use super::cpu_idle::IdleStateTracer;
use super::frequency_trace::FrequencyTrace;
use super::idle::{self, IdleSpan};
use super::residency::{self, Changes, PowerDraws, Sojourn};
use super::run_instrument::RunInstrument;
use crate::cpus;
use crate::records::{doubt, metric, number, raw, unavailable};
use crate::sys;

const NAME: &str = "cpu-residency";
/// Name of the tracing instance for frequencies.
const OF_FREQUENCIES: &str = "cpu-residency-frequency";
/// Maximum difference between the kernel's count of idle times and the trace, per CPU and
/// state: idle times at the ends of the window may be missing from one of them.
const ENDS: u64 = 4;

/// The instrument `cpu-residency`.
#[derive(Default)]
pub(crate) struct CpuResidency {
    idle: Option<Idle>,
    frequency: Option<Frequency>,
    tracer: Option<IdleStateTracer>,
    frequencies: Option<FrequencyTrace>,
    kernel: IdleStateFiles,
    window: Option<IdleSpan>,
    counted: [Vec<Vec<StateCounts>>; 2],
    failed: Option<String>,
}

/// The kernel's counters of idle states.
#[derive(Debug, Default)]
struct IdleStateFiles {
    /// Names of the idle states.
    states: Vec<String>,
    /// The files of the counters, for each CPU and state.
    files: Vec<Vec<[Option<File>; COUNTERS.len()]>>,
}

/// The kernel's counters for each idle state of a CPU. `rejected` counts how
/// often the driver refused the state.
const COUNTERS: [&str; 4] = ["usage", "above", "below", "rejected"];
type StateCounts = [Option<u64>; COUNTERS.len()];
const USAGE: usize = 0;

/// The observations of the window.
struct ObservedStates {
    window: IdleSpan,
    cpus: Vec<u32>,
    sojourns: Vec<Vec<Sojourn>>,
    /// Increase of the kernel's counters, for each CPU and state.
    counted: Vec<Vec<StateCounts>>,
}

impl RunInstrument for CpuResidency {
    fn name(&self) -> &'static str {
        NAME
    }

    fn configure(&mut self, job: &Job, _guest: bool) {
        self.idle.clone_from(&job.idle);
        self.frequency.clone_from(&job.frequency);
    }

    /// Starts recording here, so that the state of a CPU that is idle at the start of the
    /// window is known.
    fn open(&mut self) -> Result<(), String> {
        self.kernel = IdleStateFiles::open(&cpus::online()?);
        if self.frequency.is_some() {
            self.frequencies = Some(FrequencyTrace::open(OF_FREQUENCIES)?);
        }
        let mut tracer = IdleStateTracer::open(NAME, "mono", &[])?;
        tracer.on()?;
        self.tracer = Some(tracer);
        Ok(())
    }

    fn start(&mut self, _workload: i32) {
        self.counted[0] = self.kernel.counts();
        let now = sys::now();
        self.window = Some(IdleSpan { from: now, to: now });
    }

    fn stop(&mut self) {
        let now = sys::now();
        let traced = self.tracer.as_mut().map(IdleStateTracer::off);
        let changes = self.frequencies.as_mut().map(FrequencyTrace::off);
        let mut ended = [traced, changes].into_iter().flatten();
        self.failed = ended.find_map(Result::err);
        if let Some(window) = &mut self.window {
            window.to = now;
        }
        self.counted[1] = self.kernel.counts();
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let (Some(mut tracer), Some(window)) = (self.tracer.take(), self.window) else {
            return vec![unavailable(NAME, None, "it was not started")];
        };
        if let Some(why) = self.failed.take() {
            return vec![unavailable(NAME, None, why)];
        }
        let nudged = tracer.nudged();
        let trace = tracer.drain_states();
        // A CPU that was interrupted and traced nothing was always busy.
        let busy = nudged.then_some(true);
        let of_cpu =
            |cpu: &super::tracefs::CpuEvents<_>| residency::sojourns(&cpu.events, window, busy);
        let sojourns: Result<Vec<_>, _> = trace.cpus.iter().map(of_cpu).collect();
        let sojourns = match sojourns {
            Ok(sojourns) => sojourns,
            Err(why) => return vec![unavailable(NAME, None, why)],
        };
        let found = ObservedStates {
            window,
            cpus: trace.cpus.iter().map(|cpu| cpu.cpu).collect(),
            sojourns,
            counted: counter_increases(&self.counted),
        };
        let mut records = found.cpu_records();
        records.extend(found.state_records(&self.kernel.states, self.idle.is_some()));
        records.extend(found.doubt_untraced());
        records.extend(trace.doubt(NAME));
        records.extend(self.power_records(&found));
        records
    }
}

impl CpuResidency {
    /// Records of frequencies and energy.
    fn power_records(&mut self, found: &ObservedStates) -> Vec<AgentMessage> {
        let mut records = Vec::new();
        let mut changes = None;
        if let Some(mut frequencies) = self.frequencies.take() {
            match frequencies.changes() {
                Ok((of_cpus, trace)) => {
                    records.extend(found.frequency_records(&of_cpus, self.frequency.as_ref()));
                    records.extend(trace.doubt(OF_FREQUENCIES));
                    changes = Some(of_cpus);
                }
                Err(why) => records.push(unavailable(NAME, Some("mean_frequency"), why)),
            }
        }
        records.extend(self.energy_records(found, changes.as_deref()));
        records
    }

    fn energy_records(
        &self,
        found: &ObservedStates,
        changes: Option<&[Changes]>,
    ) -> Vec<AgentMessage> {
        let none = |why: &str| {
            let names = ["modelled_energy", "modelled_power"];
            names.map(|name| unavailable(NAME, Some(name), why)).into()
        };
        let Some(idle) = &self.idle else {
            return none(
                "no idle states with their powers are declared; write `idle = { states = \"phone\" }`",
            );
        };
        let frequency = match (&self.frequency, changes) {
            (Some(declared), Some(changes)) => Some((declared, changes)),
            (Some(_), None) => return none("the frequencies of the CPUs are not known"),
            (None, _) => None,
        };
        let draws = PowerDraws { idle, frequency };
        let Some(energy) = residency::energy_fj(&found.sojourns, found.window, &draws) else {
            return none("a CPU was in an idle state that is not declared");
        };
        // 1e12 fJ are a mJ, and a mJ in 1e9 ns is a mW.
        #[allow(clippy::cast_precision_loss)] // Rounded, like any JSON number.
        let mj = energy as f64 / 1e12;
        let seconds = number(found.elapsed()) * 1e-9;
        vec![
            metric("modelled_energy", mj, "mJ"),
            metric("modelled_power", mj / seconds, "mW"),
        ]
    }
}

impl ObservedStates {
    fn elapsed(&self) -> u64 {
        (self.window.to - self.window.from).max(1)
    }

    fn share(&self, ns: u64) -> f64 {
        100.0 * number(ns) / number(self.elapsed())
    }

    /// Records of each CPU, and of all together.
    fn cpu_records(&self) -> Vec<AgentMessage> {
        let mut records = Vec::new();
        let seconds = number(self.elapsed()) * 1e-9;
        let (mut asleep, mut wakeups) = (0, 0);
        for (cpu, sojourns) in self.cpus.iter().zip(&self.sojourns) {
            let idle = idle::length(&residency::spans(sojourns, |_| true));
            let ended = count_idle_exits(sojourns);
            let non_idle = self.share(self.elapsed() - idle);
            records.push(metric(format!("cpu{cpu}_non_idle_share"), non_idle, "%"));
            let rate = number(ended) / seconds;
            records.push(metric(format!("cpu{cpu}_wakeups_per_second"), rate, "1/s"));
            asleep += idle;
            wakeups += ended;
        }
        let rate = number(wakeups) / seconds;
        records.push(metric("wakeups_per_second", rate, "1/s"));
        let mean = number(asleep) / number(self.elapsed());
        records.push(metric("cpus_asleep", mean, "CPUs"));
        let all = residency::all_in(&self.sojourns, self.window, |_| true);
        let share = self.share(idle::length(&all));
        records.push(metric("package_idle_share", share, "%"));
        records
    }

    /// Records of each idle state. `declared` states are never refused, so they have no
    /// `rejected` counter.
    fn state_records(&self, states: &[String], declared: bool) -> Vec<AgentMessage> {
        if states.is_empty() {
            let why = "this machine distinguishes no idle states; \
                       write `idle = { states = \"phone\" }`";
            let names = ["package_deepest_share", "state_time:STATE"];
            return names.map(|name| unavailable(NAME, Some(name), why)).into();
        }
        let count = states.len();
        let deepest = |state| residency::is_deepest(state, count);
        let all = residency::all_in(&self.sojourns, self.window, deepest);
        let share = self.share(idle::length(&all));
        let mut records = vec![metric("package_deepest_share", share, "%")];
        let mut table = String::from("cpu state time_ns usage above below rejected\n");
        for (at, name) in states.iter().enumerate() {
            let is_it = |state| usize::try_from(state) == Ok(at);
            let mut sums = [Some(0); COUNTERS.len()];
            let mut time = 0;
            for (which, cpu) in self.cpus.iter().enumerate() {
                let own = idle::length(&residency::spans(&self.sojourns[which], is_it));
                time += own;
                records.push(metric(
                    format!("state_time:cpu{cpu}.{name}"),
                    number(own),
                    "ns",
                ));
                let counts = self.counts(which, at);
                if let Some(usage) = counts[USAGE] {
                    let name = format!("state_usage:cpu{cpu}.{name}");
                    records.push(metric(name, number(usage), ""));
                }
                sums = add(sums, counts);
                let words = counts.map(|count| count.map_or("-".into(), |count| count.to_string()));
                // Writing to a string cannot fail.
                let _ = writeln!(table, "{cpu} {name} {own} {}", words.join(" "));
            }
            records.push(metric(format!("state_time:{name}"), number(time), "ns"));
            let given = COUNTERS.len() - usize::from(declared);
            for (counter, sum) in COUNTERS.iter().zip(sums).take(given) {
                let name = format!("state_{counter}:{name}");
                records.push(match sum {
                    Some(sum) => metric(name, number(sum), ""),
                    None => unavailable(NAME, Some(&name), "this kernel does not count it"),
                });
            }
        }
        records.push(raw(format!("{NAME}.txt"), table));
        records
    }

    fn counts(&self, cpu: usize, state: usize) -> StateCounts {
        let of_cpu = self.counted.get(cpu);
        let counts = of_cpu.and_then(|states| states.get(state));
        counts.copied().unwrap_or_default()
    }

    /// A doubt about the first CPU and state for which the kernel's count of
    /// idle times differs from the trace.
    fn doubt_untraced(&self) -> Option<AgentMessage> {
        for (at, (cpu, sojourns)) in self.cpus.iter().zip(&self.sojourns).enumerate() {
            let states = self.counted.get(at).map_or(0, Vec::len);
            for state in 0..states {
                let is_it = |one: &&Sojourn| usize::try_from(one.state) == Ok(state);
                let own: Vec<Sojourn> = sojourns.iter().filter(is_it).copied().collect();
                let (traced, counted) = (count_idle_exits(&own), self.counts(at, state)[USAGE]?);
                if traced.abs_diff(counted) > ENDS {
                    let detail = format!(
                        "CPU {cpu} was {counted} times in idle state {state} by the kernel's \
                         count and {traced} times by the trace; not all of it was traced"
                    );
                    return Some(doubt("untraced-idle", detail));
                }
            }
        }
        None
    }

    /// Records of the frequencies of CPUs while not idle, including declared frequencies
    /// that were not used.
    fn frequency_records(
        &self,
        changes: &[Changes],
        declared: Option<&Frequency>,
    ) -> Vec<AgentMessage> {
        let steps = declared.iter().flat_map(|declared| &declared.steps);
        let mut times: BTreeMap<u64, u64> = steps.map(|step| (step.frequency_khz, 0)).collect();
        let mut switches = 0;
        for (sojourns, changes) in self.sojourns.iter().zip(changes) {
            let busy = residency::busy(sojourns, self.window);
            for (khz, ns) in residency::at_frequencies(&busy, changes) {
                *times.entry(khz).or_default() += ns;
            }
            let within = |time: u64| self.window.from <= time && time < self.window.to;
            let pairs = changes.windows(2);
            let new = pairs.filter(|pair| within(pair[1].0) && pair[0].1 != pair[1].1);
            switches += new.count();
        }
        let mut records = Vec::new();
        let (mut sum, mut all) = (0.0, 0);
        for (khz, ns) in times {
            let name = format!("frequency_time:{}MHz", number(khz) / 1000.0);
            records.push(metric(name, number(ns), "ns"));
            sum += number(khz) / 1000.0 * number(ns);
            all += ns;
        }
        let switches = u64::try_from(switches).unwrap_or(u64::MAX);
        records.push(metric("frequency_changes", number(switches), ""));
        if all > 0 {
            records.push(metric("mean_frequency", sum / number(all), "MHz"));
        }
        records
    }
}

impl IdleStateFiles {
    /// Opens the files of these CPUs; without a cpuidle driver there are none.
    fn open(cpus: &[u32]) -> IdleStateFiles {
        let place = |cpu: u32, state: usize| {
            PathBuf::from(format!(
                "/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}"
            ))
        };
        let first = cpus.first().copied().unwrap_or_default();
        let name = |state| fs::read_to_string(place(first, state).join("name")).ok();
        let states: Vec<String> = (0..)
            .map_while(name)
            .map(|name| name.trim().replace(char::is_whitespace, "_"))
            .collect();
        let of_state = |cpu: u32, state: usize| {
            COUNTERS.map(|name| File::open(place(cpu, state).join(name)).ok())
        };
        let of_cpu = |cpu: &u32| (0..states.len()).map(|at| of_state(*cpu, at)).collect();
        IdleStateFiles {
            files: cpus.iter().map(of_cpu).collect(),
            states,
        }
    }

    fn counts(&self) -> Vec<Vec<StateCounts>> {
        let count = |file: &Option<File>| {
            let mut bytes = [0; 32];
            let got = file.as_ref()?.read_at(&mut bytes, 0).ok()?;
            let text = std::str::from_utf8(bytes.get(..got)?).ok()?;
            text.trim().parse().ok()
        };
        let of_state = |files: &[Option<File>; COUNTERS.len()]| files.each_ref().map(count);
        let of_cpu = |states: &Vec<_>| states.iter().map(of_state).collect();
        self.files.iter().map(of_cpu).collect()
    }
}

/// How often a CPU left an idle state.
fn count_idle_exits(sojourns: &[Sojourn]) -> u64 {
    let ended = sojourns.iter().filter(|sojourn| sojourn.ended);
    u64::try_from(ended.count()).unwrap_or(u64::MAX)
}

/// The increase of each counter from the first reading to the second.
fn counter_increases([before, after]: &[Vec<Vec<StateCounts>>; 2]) -> Vec<Vec<StateCounts>> {
    let of_state = |(before, after): (&StateCounts, &StateCounts)| {
        std::array::from_fn(|at| Some(after[at]?.saturating_sub(before[at]?)))
    };
    let of_cpu = |(before, after): (&Vec<StateCounts>, &Vec<StateCounts>)| {
        before.iter().zip(after).map(of_state).collect()
    };
    before.iter().zip(after).map(of_cpu).collect()
}

fn add(a: StateCounts, b: StateCounts) -> StateCounts {
    std::array::from_fn(|at| Some(a[at]? + b[at]?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use assize_job::{FrequencyGovernor, FrequencyStep};

    use super::*;
    use crate::records::metric_value;

    const WINDOW: IdleSpan = IdleSpan {
        from: 0,
        to: 1_000_000_000,
    };

    fn sojourn(from_ms: u64, to_ms: u64, state: u32) -> Sojourn {
        Sojourn {
            span: IdleSpan {
                from: from_ms * 1_000_000,
                to: to_ms * 1_000_000,
            },
            state,
            ended: to_ms < 1000,
        }
    }

    fn found(sojourns: &[&[Sojourn]]) -> ObservedStates {
        let counted = |of_cpu: &&[Sojourn]| {
            let count = |state| of_cpu.iter().filter(|one| one.state == state).count() as u64;
            vec![
                [Some(count(0)), Some(1), Some(2), None],
                [Some(count(1)); 4],
            ]
        };
        ObservedStates {
            window: WINDOW,
            cpus: (0..sojourns.len() as u32).collect(),
            sojourns: sojourns.iter().map(|of_cpu| of_cpu.to_vec()).collect(),
            counted: sojourns.iter().map(counted).collect(),
        }
    }

    fn value(records: &[AgentMessage], name: &str) -> f64 {
        metric_value(records, name).unwrap_or_else(|| panic!("no {name} in {records:?}"))
    }

    /// CPU 0 is busy from 200 to 300 ms, CPU 1 from 250 to 500 ms.
    fn two() -> ObservedStates {
        found(&[
            &[sojourn(0, 200, 0), sojourn(300, 1000, 1)],
            &[sojourn(0, 250, 1), sojourn(500, 1000, 1)],
        ])
    }

    #[test]
    fn shares_and_what_happens_at_once() {
        let records = two().cpu_records();
        for (name, wanted) in [
            ("cpu0_non_idle_share", 10.0),
            ("cpu1_non_idle_share", 25.0),
            ("cpu0_wakeups_per_second", 1.0),
            ("wakeups_per_second", 2.0),
            ("cpus_asleep", 1.65),
            ("package_idle_share", 70.0),
        ] {
            assert_eq!(value(&records, name), wanted, "{name}");
        }
    }

    #[test]
    fn time_in_states_by_cpu_and_of_all() {
        let states = ["light", "deep"].map(String::from);
        let records = two().state_records(&states, false);
        for (name, wanted) in [
            ("package_deepest_share", 50.0),
            ("state_time:light", 2e8),
            ("state_time:deep", 1.45e9),
            ("state_time:cpu0.deep", 7e8),
            ("state_usage:cpu1.deep", 2.0),
            ("state_usage:deep", 3.0),
            ("state_below:light", 4.0),
        ] {
            assert_eq!(value(&records, name), wanted, "{name}");
        }
        let missing = |record: &AgentMessage| {
            matches!(record, AgentMessage::Unavailable { metric: Some(name), .. }
                if name == "state_rejected:light")
        };
        assert!(records.iter().any(missing), "{records:?}");
        let raw = records.iter().find_map(|record| match record {
            AgentMessage::Raw { text, .. } => Some(text.as_str()),
            _ => None,
        });
        assert!(
            raw.unwrap().contains("\n1 deep 750000000 2 2 2 2\n"),
            "{raw:?}"
        );
        let declared = two().state_records(&states, true);
        assert_eq!(declared.len() + 2, records.len(), "{declared:?}");
        // Without states, no values are invented.
        let none = two().state_records(&[], true);
        let unavailable =
            |record: &AgentMessage| matches!(record, AgentMessage::Unavailable { .. });
        assert!(none.len() == 2 && none.iter().all(unavailable), "{none:?}");
    }

    #[test]
    fn what_the_kernel_counts_and_the_trace_lacks_is_noticed() {
        let mut found = two();
        assert_eq!(found.doubt_untraced(), None);
        // One of the two idle times ended within the window.
        found.counted[1][1][USAGE] = Some(1 + ENDS);
        assert_eq!(found.doubt_untraced(), None);
        found.counted[1][1][USAGE] = Some(2 + ENDS);
        let doubt = format!("{:?}", found.doubt_untraced().unwrap());
        assert!(
            doubt.contains("CPU 1 was 6 times in idle state 1"),
            "{doubt}"
        );
    }

    #[test]
    fn frequencies_are_those_of_busy_times() {
        let step = |mhz: u64| FrequencyStep {
            frequency_khz: mhz * 1000,
            power_uw: mhz,
        };
        let declared = Frequency {
            steps: vec![step(500), step(1000), step(2000)],
            governor: FrequencyGovernor::Schedutil,
            domain: 1,
            set_khz: None,
            rate_ns: 0,
        };
        // CPU 0: 50 ms at 1 GHz and 50 ms at 2 GHz; CPU 1: 250 ms at 2 GHz.
        let changes = [
            vec![
                (0, 1_000_000),
                (250_000_000, 2_000_000),
                (600_000_000, 2_000_000),
            ],
            vec![(0, 2_000_000)],
        ];
        let records = two().frequency_records(&changes, Some(&declared));
        assert_eq!(value(&records, "frequency_time:500MHz"), 0.0);
        assert_eq!(value(&records, "frequency_time:1000MHz"), 5e7);
        assert_eq!(value(&records, "frequency_time:2000MHz"), 3e8);
        assert_eq!(value(&records, "frequency_changes"), 1.0);
        let mean = value(&records, "mean_frequency");
        assert!((mean - 650.0 / 350.0 * 1000.0).abs() < 1e-9, "{mean}");
    }

    #[test]
    fn energy_wants_powers_that_are_declared() {
        let instrument = CpuResidency::default();
        let records = instrument.energy_records(&two(), None);
        assert!(
            matches!(&records[0], AgentMessage::Unavailable { reason, .. }
                if reason.contains("idle = {")),
            "{records:?}"
        );
    }

    #[test]
    fn counters_that_are_missing_stay_missing() {
        let before = vec![vec![[Some(3), Some(1), None, Some(1)]]];
        let after = vec![vec![[Some(5), Some(1), Some(9), None]]];
        let wanted = vec![vec![[Some(2), Some(0), None, None]]];
        assert_eq!(counter_increases(&[before, after]), wanted);
    }
}
