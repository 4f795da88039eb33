//! Cycles and instructions of all CPUs, user and kernel mode, from the PMU.

use std::io;

use assize_job::AgentMessage;
use perf_event_open_sys::bindings;

use super::run_instrument::RunInstrument;
use crate::cpus;
use crate::perf::{self, CounterSum, CounterTotal, PerfEvent};

const NAME: &str = "perf-hardware";

const EVENTS: &[(&str, u32)] = &[
    ("cycles", bindings::PERF_COUNT_HW_CPU_CYCLES),
    ("instructions", bindings::PERF_COUNT_HW_INSTRUCTIONS),
];

/// The instrument `perf-hardware`.
#[derive(Default)]
pub(crate) struct PerfHardware {
    sums: Vec<(&'static str, io::Result<CounterSum>)>,
    totals: Vec<(&'static str, io::Result<CounterTotal>)>,
}

impl RunInstrument for PerfHardware {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&mut self) -> Result<(), String> {
        let cpus = cpus::online()?;
        self.sums = EVENTS
            .iter()
            .map(|&(name, config)| {
                (
                    name,
                    CounterSum::of_cpus(PerfEvent::hardware(config), &cpus),
                )
            })
            .collect();
        self.totals = Vec::with_capacity(EVENTS.len());
        match self.sums.iter().find_map(|(_, sum)| sum.as_ref().err()) {
            Some(error) if self.sums.iter().all(|(_, sum)| sum.is_err()) => Err(perf::why(error)),
            _ => Ok(()),
        }
    }

    fn start(&mut self, _workload: i32) {
        for (_, sum) in &mut self.sums {
            if let Err(error) = sum.as_ref().map_or(Ok(()), CounterSum::enable) {
                *sum = Err(error);
            }
        }
    }

    fn stop(&mut self) {
        for (name, sum) in self.sums.drain(..) {
            let total = sum.and_then(|sum| sum.disable().and_then(|()| sum.total()));
            self.totals.push((name, total));
        }
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        self.totals
            .iter()
            .flat_map(|(name, total)| perf::records(NAME, name, "", total))
            .collect()
    }
}
