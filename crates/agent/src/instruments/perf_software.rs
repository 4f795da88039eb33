//! The kernel's software counters: system-wide in one instrument, for the
//! workload only in another.
//!
//! They are separate because the second is expensive: while a process is
//! counted, each context switch from or to one of its threads switches perf
//! events, too. System-wide events add nothing to a switch.
//!
//! There is no system-wide task clock: perf's own is always CPUs × elapsed
//! time, since it counts while its CPU exists. CPU time actually used is in the
//! instruments `cpu-idle` and `schedstat`.

use std::io;

use assize_job::AgentMessage;
use perf_event_open_sys::bindings;

use super::run_instrument::RunInstrument;
use crate::cpus;
use crate::perf::{self, CounterSum, CounterTotal, PerfEvent};
use crate::records::unavailable;

const SOFTWARE: &str = "perf-software";
const WORKLOAD: &str = "perf-workload";

/// Metric, unit, event.
type SoftwareCounter = (&'static str, &'static str, u32);

const SYSTEM_WIDE: &[SoftwareCounter] = &[
    (
        "context_switches",
        "",
        bindings::PERF_COUNT_SW_CONTEXT_SWITCHES,
    ),
    ("migrations", "", bindings::PERF_COUNT_SW_CPU_MIGRATIONS),
    ("page_faults", "", bindings::PERF_COUNT_SW_PAGE_FAULTS),
];

const OF_WORKLOAD: &[SoftwareCounter] = &[
    (
        "workload_context_switches",
        "",
        bindings::PERF_COUNT_SW_CONTEXT_SWITCHES,
    ),
    (
        "workload_migrations",
        "",
        bindings::PERF_COUNT_SW_CPU_MIGRATIONS,
    ),
    (
        "workload_page_faults",
        "",
        bindings::PERF_COUNT_SW_PAGE_FAULTS,
    ),
    (
        "workload_task_clock",
        "ns",
        bindings::PERF_COUNT_SW_TASK_CLOCK,
    ),
];

struct CountedMetric {
    instrument: &'static str,
    name: &'static str,
    unit: &'static str,
    sum: io::Result<CounterSum>,
    total: io::Result<CounterTotal>,
}

/// The instrument `perf-software`.
#[derive(Default)]
pub(crate) struct PerfSoftware {
    metrics: Vec<CountedMetric>,
}

impl RunInstrument for PerfSoftware {
    fn name(&self) -> &'static str {
        SOFTWARE
    }

    fn open(&mut self) -> Result<(), String> {
        let cpus = cpus::online()?;
        let metric = |&(name, unit, config): &SoftwareCounter| {
            let sum = CounterSum::of_cpus(PerfEvent::software(config), &cpus);
            CountedMetric::new(SOFTWARE, name, unit, sum)
        };
        self.metrics = SYSTEM_WIDE.iter().map(metric).collect();
        match self
            .metrics
            .iter()
            .find_map(|metric| metric.sum.as_ref().err())
        {
            Some(error) => Err(perf::why(error)),
            None => Ok(()),
        }
    }

    fn start(&mut self, _workload: i32) {
        enable(&mut self.metrics);
    }

    fn stop(&mut self) {
        disable(&mut self.metrics);
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        self.metrics
            .iter()
            .flat_map(CountedMetric::records)
            .collect()
    }
}

/// The instrument `perf-workload`.
#[derive(Default)]
pub(crate) struct PerfWorkload {
    metrics: Vec<CountedMetric>,
}

impl RunInstrument for PerfWorkload {
    fn name(&self) -> &'static str {
        WORKLOAD
    }

    fn open(&mut self) -> Result<(), String> {
        // Check now whether a process can be counted at all.
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let event = PerfEvent::software(bindings::PERF_COUNT_SW_TASK_CLOCK);
        CounterSum::of_task(event, own).map_err(|error| perf::why(&error))?;
        self.metrics = Vec::with_capacity(OF_WORKLOAD.len());
        Ok(())
    }

    fn start(&mut self, workload: i32) {
        for &(name, unit, config) in OF_WORKLOAD {
            let sum = CounterSum::of_task(PerfEvent::software(config), workload);
            self.metrics
                .push(CountedMetric::new(WORKLOAD, name, unit, sum));
        }
        enable(&mut self.metrics);
    }

    fn stop(&mut self) {
        disable(&mut self.metrics);
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        self.metrics
            .iter()
            .flat_map(CountedMetric::records)
            .collect()
    }
}

fn enable(metrics: &mut [CountedMetric]) {
    metrics.iter_mut().for_each(CountedMetric::enable);
}

fn disable(metrics: &mut [CountedMetric]) {
    metrics.iter_mut().for_each(CountedMetric::disable);
}

impl CountedMetric {
    fn new(
        instrument: &'static str,
        name: &'static str,
        unit: &'static str,
        sum: io::Result<CounterSum>,
    ) -> CountedMetric {
        CountedMetric {
            instrument,
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

    fn records(&self) -> Vec<AgentMessage> {
        match &self.sum {
            Ok(_) => perf::records(self.instrument, self.name, self.unit, &self.total),
            Err(error) => vec![unavailable(
                self.instrument,
                Some(self.name),
                perf::why(error),
            )],
        }
    }
}
