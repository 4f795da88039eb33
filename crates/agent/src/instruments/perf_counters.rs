//! Counters of perf events: the PMU's cycles and instructions, and the kernel's software
//! counters, system-wide or of the workload only.
//!
//! The software counters are two instruments because those of the workload are expensive:
//! while a process is counted, each context switch from or to one of its threads switches
//! perf events, too. System-wide events add nothing to a switch.
//!
//! There is no system-wide task clock: perf's own is always CPUs × elapsed time, since it
//! counts while its CPU exists. CPU time actually used is in the instruments `cpu-idle`
//! and `schedstat`.

use std::io;

use assize_job::AgentMessage;
use perf_event_open_sys::bindings;

use super::run_instrument::RunInstrument;
use crate::cpus;
use crate::perf::{self, CounterSum, CounterTotal, PerfEvent};
use crate::records::unavailable;

/// An instrument that counts perf events.
pub(crate) struct PerfCounters {
    name: &'static str,
    scope: CountedScope,
    /// Metric, unit, event.
    events: &'static [(&'static str, &'static str, PerfEvent)],
    metrics: Vec<CountedMetric>,
}

/// The CPUs or tasks whose events are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CountedScope {
    /// All CPUs.
    System,
    /// All CPUs; some events may be unavailable.
    SystemWhereAvailable,
    /// The processes of the workload.
    Workload,
}

/// A metric, its counters, and their total at the end.
struct CountedMetric {
    name: &'static str,
    unit: &'static str,
    sum: io::Result<CounterSum>,
    total: io::Result<CounterTotal>,
}

impl PerfCounters {
    /// The instrument `perf-hardware`.
    pub(crate) fn hardware() -> PerfCounters {
        const EVENTS: &[(&str, &str, PerfEvent)] = &[
            (
                "cycles",
                "",
                PerfEvent::hardware(bindings::PERF_COUNT_HW_CPU_CYCLES),
            ),
            (
                "instructions",
                "",
                PerfEvent::hardware(bindings::PERF_COUNT_HW_INSTRUCTIONS),
            ),
        ];
        PerfCounters::new("perf-hardware", CountedScope::SystemWhereAvailable, EVENTS)
    }

    /// The instrument `perf-software`.
    pub(crate) fn software() -> PerfCounters {
        const EVENTS: &[(&str, &str, PerfEvent)] = &[
            ("context_switches", "", SWITCHES),
            ("migrations", "", MIGRATIONS),
            ("page_faults", "", PAGE_FAULTS),
        ];
        PerfCounters::new("perf-software", CountedScope::System, EVENTS)
    }

    /// The instrument `perf-workload`.
    pub(crate) fn workload() -> PerfCounters {
        const EVENTS: &[(&str, &str, PerfEvent)] = &[
            ("workload_context_switches", "", SWITCHES),
            ("workload_migrations", "", MIGRATIONS),
            ("workload_page_faults", "", PAGE_FAULTS),
            ("workload_task_clock", "ns", TASK_CLOCK),
        ];
        PerfCounters::new("perf-workload", CountedScope::Workload, EVENTS)
    }

    fn new(
        name: &'static str,
        scope: CountedScope,
        events: &'static [(&'static str, &'static str, PerfEvent)],
    ) -> PerfCounters {
        PerfCounters {
            name,
            scope,
            events,
            metrics: Vec::with_capacity(events.len()),
        }
    }
}

const SWITCHES: PerfEvent = PerfEvent::software(bindings::PERF_COUNT_SW_CONTEXT_SWITCHES);
const MIGRATIONS: PerfEvent = PerfEvent::software(bindings::PERF_COUNT_SW_CPU_MIGRATIONS);
const PAGE_FAULTS: PerfEvent = PerfEvent::software(bindings::PERF_COUNT_SW_PAGE_FAULTS);
const TASK_CLOCK: PerfEvent = PerfEvent::software(bindings::PERF_COUNT_SW_TASK_CLOCK);

impl RunInstrument for PerfCounters {
    fn name(&self) -> &'static str {
        self.name
    }

    fn open(&mut self) -> Result<(), String> {
        if self.scope == CountedScope::Workload {
            // Check now whether a process can be counted at all.
            let own = i32::try_from(std::process::id()).unwrap_or(0);
            let checked = CounterSum::on_task(TASK_CLOCK, own);
            return checked.map(|_| ()).map_err(|error| perf::why(&error));
        }
        let cpus = cpus::online()?;
        for &(name, unit, event) in self.events {
            let sum = CounterSum::on_cpus(event, &cpus);
            self.metrics.push(CountedMetric::new(name, unit, sum));
        }
        let errors = || self.metrics.iter().filter_map(|one| one.sum.as_ref().err());
        let tolerated = match self.scope {
            CountedScope::SystemWhereAvailable => self.metrics.len() - 1,
            _ => 0,
        };
        match errors().next() {
            Some(error) if errors().count() > tolerated => Err(perf::why(error)),
            _ => Ok(()),
        }
    }

    fn start(&mut self, workload: i32) {
        if self.scope == CountedScope::Workload {
            for &(name, unit, event) in self.events {
                let sum = CounterSum::on_task(event, workload);
                self.metrics.push(CountedMetric::new(name, unit, sum));
            }
        }
        self.metrics.iter_mut().for_each(CountedMetric::enable);
    }

    fn stop(&mut self) {
        self.metrics.iter_mut().for_each(CountedMetric::disable);
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let metrics = self.metrics.iter();
        metrics
            .flat_map(|metric| metric.records(self.name))
            .collect()
    }
}

impl CountedMetric {
    fn new(name: &'static str, unit: &'static str, sum: io::Result<CounterSum>) -> CountedMetric {
        CountedMetric {
            name,
            unit,
            sum,
            total: Ok(CounterTotal::default()),
        }
    }

    fn enable(&mut self) {
        if let Err(error) = self.sum.as_ref().map_or(Ok(()), CounterSum::enable) {
            self.sum = Err(error);
        }
    }

    fn disable(&mut self) {
        if let Ok(sum) = &self.sum {
            self.total = sum.disable().and_then(|()| sum.total());
        }
    }

    fn records(&self, instrument: &'static str) -> Vec<AgentMessage> {
        match &self.sum {
            Ok(_) => perf::records(instrument, self.name, self.unit, &self.total),
            Err(error) => vec![unavailable(instrument, Some(self.name), perf::why(error))],
        }
    }
}
