//! The kernel's own latency tracers: hwlat, osnoise and timerlat.
//!
//! Each runs in a tracing instance of the agent. After the run its events are converted
//! to latencies, and to the time for which each CPU was actually watched.

mod event;
mod hwlat;
mod observation;
mod osnoise;
mod settings;
mod timerlat;

use assize_job::gaps::{Seen, Watched};
use assize_job::{AgentMessage, Job, TracerKind, TracerSettings};

use self::event::{TracerEvent, TracerEventDecoder};
use self::observation::{CpuObservation, RunObservation, TracerDescription};
use self::settings::ChangedSettings;
use super::run_instrument::RunInstrument;
use super::tracefs::{self, Instance, InstanceSettings, RecordedTrace};
use crate::cpus;
use crate::records::unavailable;
use crate::sys;
use crate::tsc;

/// An instrument that uses one of the kernel's tracers.
pub(crate) struct Tracing {
    description: &'static TracerDescription,
    settings: TracerSettings,
    cpus: Vec<u32>,
    // Dropped before `changed`: the tracer must be off when its settings change.
    instance: Option<Instance>,
    changed: Option<ChangedSettings>,
    decoder: TracerEventDecoder,
    /// Whether the time-stamp counter can serve as a clock.
    has_counter: bool,
    /// The counter and CLOCK_MONOTONIC when the tracer started.
    start: (u64, u64),
    /// The counter and CLOCK_MONOTONIC when the tracer stopped.
    stop: (u64, u64),
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC, in nanoseconds.
    wall_ns: u64,
    failed: Option<String>,
}

impl Tracing {
    /// The instrument for this tracer.
    pub(crate) fn new(kind: TracerKind) -> Tracing {
        Tracing {
            description: match kind {
                TracerKind::Hwlat => &hwlat::HWLAT,
                TracerKind::Osnoise => &osnoise::OSNOISE,
                TracerKind::Timerlat => &timerlat::TIMERLAT,
            },
            settings: TracerSettings::for_kind(kind),
            cpus: Vec::new(),
            instance: None,
            changed: None,
            decoder: TracerEventDecoder::default(),
            has_counter: false,
            start: (0, 0),
            stop: (0, 0),
            wall_ns: 0,
            failed: None,
        }
    }
}

impl RunInstrument for Tracing {
    fn name(&self) -> &'static str {
        self.description.kind.word()
    }

    fn configure(&mut self, job: &Job, _guest: bool) {
        if let Some(settings) = &job.tracer {
            self.settings = settings.clone();
        }
    }

    fn open(&mut self) -> Result<(), String> {
        let description = self.description;
        tracefs::has_tracer(self.name(), description.option)?;
        let online = cpus::online()?;
        self.cpus = self.settings.cpus_to_watch(&online);
        cpus::check_online(&self.cpus, &online, "tracer.cpus")?;
        self.has_counter = tsc::check().is_ok();
        let mut instance = Instance::open(InstanceSettings {
            name: self.name(),
            clock: "mono",
            kib_per_cpu: 16 << 10,
            events: description.events,
        })?;
        // Do this before there are child processes that would inherit the open pipes.
        instance.set_tracer("nop")?;
        if let Some(why) = settings::in_use(instance.root()) {
            return Err(why);
        }
        for reading in description.read {
            self.decoder.add(reading, &instance)?;
        }
        if let Some(filter) = description.filter {
            instance.write("events/sched/sched_switch/filter", filter)?;
        }
        instance.write("tracing_cpumask", &settings::mask(&self.cpus))?;
        let wanted = settings::wanted(description.kind, &self.settings, &self.cpus);
        self.changed = Some(ChangedSettings::set(instance.root(), &wanted)?);
        self.instance = Some(instance);
        Ok(())
    }

    fn start(&mut self, _: i32) {
        let Some(instance) = &mut self.instance else {
            return;
        };
        self.wall_ns = sys::wall().saturating_sub(sys::now());
        self.start = tsc::both();
        // In this order: some tracers watch at once, others skip a period if nothing is
        // recorded.
        let begun = instance
            .on()
            .and_then(|()| instance.set_tracer(self.description.kind.word()));
        if let Err(why) = begun {
            self.failed = Some(why);
        }
    }

    fn stop(&mut self) {
        let Some(instance) = &mut self.instance else {
            return;
        };
        self.stop = tsc::both();
        // This ends the tracer's threads.
        if let Err(why) = instance.off() {
            self.failed.get_or_insert(why);
        }
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let name = self.name();
        let Some(mut instance) = self.instance.take() else {
            return vec![unavailable(name, None, "it was not opened")];
        };
        if let Err(why) = instance.open_pipes(&self.cpus) {
            self.failed.get_or_insert(why);
        }
        let decoder = &self.decoder;
        let trace = instance.drain(&|bytes| decoder.decode(bytes));
        // Not before: switching the tracer discards what was recorded.
        if let Err(why) = instance.set_tracer("nop") {
            self.failed.get_or_insert(why);
        }
        drop(instance);
        self.changed = None;
        if let Some(why) = self.failed.take() {
            return vec![unavailable(name, None, why)];
        }
        self.trace_records(&trace)
    }
}

impl Tracing {
    /// Evaluates the trace.
    fn trace_records(&self, trace: &RecordedTrace<TracerEvent>) -> Vec<AgentMessage> {
        let name = self.name();
        let (seen, cpus) = self.seen(trace);
        let mut records = Vec::from_iter(trace.doubt(name));
        if seen.cpus.iter().all(|cpu| cpu.observed_ns == 0) {
            let why = match self.description.kind {
                TracerKind::Timerlat => "no timer expired in the run; set a shorter tracer.period",
                _ => {
                    "no window was completed in the run; make the run longer, or set a shorter \
                     tracer.window and tracer.width"
                }
            };
            records.push(unavailable(name, None, why));
            return records;
        }
        let outcome = RunObservation {
            settings: &self.settings,
            seen: &seen,
            cpus: &cpus,
            span_ns: self.stop.1.saturating_sub(self.start.1),
        };
        records.extend((self.description.records)(&outcome));
        records.extend(observation::records(&outcome));
        records
    }

    /// Every latency with its time since the start, and how each CPU was watched.
    fn seen(&self, trace: &RecordedTrace<TracerEvent>) -> (Seen, Vec<CpuObservation>) {
        let (start, stop) = (self.start, self.stop);
        let rate = tsc::rate(start, stop).ok();
        let mut seen = Seen {
            source: self.name().into(),
            start_ns: start.1,
            tsc: rate
                .filter(|_| self.has_counter)
                .map(|rate| (start.0, rate.khz)),
            threshold_ns: self.settings.threshold_ns,
            ..Seen::default()
        };
        let began = match self.description.kind {
            TracerKind::Hwlat => start.1.saturating_add(self.wall_ns),
            _ => start.1,
        };
        let mut all = Vec::new();
        for cpu in &self.cpus {
            let found = trace.cpus.iter().find(|events| events.cpu == *cpu);
            let mut observed = found.map_or_else(CpuObservation::default, |events| {
                (self.description.observe)(events, &self.settings)
            });
            let span = stop.1.saturating_sub(start.1);
            seen.cpus.push(Watched {
                cpu: *cpu,
                observed_ns: observed.observed_ns,
                outside_ns: span.saturating_sub(observed.observed_ns),
                ..Watched::default()
            });
            for gap in &mut observed.latencies {
                gap.at_ns = gap.at_ns.saturating_sub(began);
            }
            for at in &mut observed.late_irqs {
                *at = at.saturating_sub(began);
            }
            for window in &mut observed.windows {
                window.at_ns = window.at_ns.saturating_sub(start.1);
            }
            seen.windows.append(&mut observed.windows);
            seen.gaps.append(&mut observed.latencies);
            all.push(observed);
        }
        seen.windows
            .sort_by_key(|window| (window.at_ns, window.cpu));
        seen.gaps.sort_by_key(|gap| (gap.at_ns, gap.cpu));
        (seen, all)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
