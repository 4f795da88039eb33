//! Counters that the kernel itself keeps, system-wide and for the workload.
//!
//! There is no system-wide task clock: perf's own is CPUs × elapsed time
//! whatever happens, since it counts while its CPU exists. CPU time that was
//! really used is in the instruments `cpu-idle` and `schedstat`.

use std::io;

use assize_job::Record;
use perf_event_open_sys::bindings;

use super::perf::{self, Event, Sum, Total};
use super::{Instrument, system};

const NAME: &str = "perf-software";

/// Metric system-wide, metric of the workload, unit, event.
const EVENTS: &[(Option<&str>, &str, &str, u32)] = &[
    (
        Some("context_switches"),
        "workload_context_switches",
        "",
        bindings::PERF_COUNT_SW_CONTEXT_SWITCHES,
    ),
    (
        Some("migrations"),
        "workload_migrations",
        "",
        bindings::PERF_COUNT_SW_CPU_MIGRATIONS,
    ),
    (
        Some("page_faults"),
        "workload_page_faults",
        "",
        bindings::PERF_COUNT_SW_PAGE_FAULTS,
    ),
    (
        None,
        "workload_task_clock",
        "ns",
        bindings::PERF_COUNT_SW_TASK_CLOCK,
    ),
];

struct Metric {
    name: &'static str,
    unit: &'static str,
    sum: io::Result<Sum>,
    total: io::Result<Total>,
}

/// The instrument `perf-software`.
#[derive(Default)]
pub(crate) struct PerfSoftware {
    metrics: Vec<Metric>,
}

impl Instrument for PerfSoftware {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&mut self) -> Result<(), String> {
        let cpus = system::online_cpus()?;
        // Find out now whether a process can be counted at all.
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let event = Event::software(bindings::PERF_COUNT_SW_TASK_CLOCK);
        Sum::of_task(event, own).map_err(|error| perf::why(&error))?;
        self.metrics = Vec::with_capacity(2 * EVENTS.len());
        for &(name, _, unit, config) in EVENTS {
            if let Some(name) = name {
                let sum = Sum::of_cpus(Event::software(config), &cpus);
                self.metrics.push(Metric::new(name, unit, sum));
            }
        }
        Ok(())
    }

    fn start(&mut self, workload: i32) {
        for &(_, name, unit, config) in EVENTS {
            let sum = Sum::of_task(Event::software(config), workload);
            self.metrics.push(Metric::new(name, unit, sum));
        }
        for metric in &mut self.metrics {
            metric.enable();
        }
    }

    fn stop(&mut self) {
        for metric in &mut self.metrics {
            metric.disable();
        }
    }

    fn records(&mut self) -> Vec<Record> {
        self.metrics.iter().flat_map(Metric::records).collect()
    }
}

impl Metric {
    fn new(name: &'static str, unit: &'static str, sum: io::Result<Sum>) -> Metric {
        Metric {
            name,
            unit,
            sum,
            total: Ok(Total::default()),
        }
    }

    fn enable(&mut self) {
        if let Err(error) = self.sum.as_ref().map_or(Ok(()), Sum::enable) {
            self.sum = Err(error);
        }
    }

    fn disable(&mut self) {
        if let Ok(sum) = &self.sum {
            self.total = sum.disable().and_then(|()| sum.total());
        }
    }

    fn records(&self) -> Vec<Record> {
        match &self.sum {
            Ok(_) => perf::records(NAME, self.name, self.unit, &self.total),
            Err(error) => vec![super::unavailable(NAME, Some(self.name), perf::why(error))],
        }
    }
}
