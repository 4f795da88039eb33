//! The instruments, one per file. `docs/instruments.md` describes what each reports and
//! how far it can be trusted.
//!
//! All memory is allocated in [`RunInstrument::open`] where possible, and nothing is
//! printed while the workload runs, so that the overhead of the instruments is small and
//! the same in every run.

mod cpu_idle;
mod cpu_residency;
mod energy;
mod file_difference;
mod frequency_trace;
mod gaps;
mod guest_instructions;
mod idle;
mod kernel_events;
mod labels;
mod perf_counters;
mod planted_stalls;
mod proc_stat;
mod residency;
mod ring;
pub(crate) mod run_instrument;
mod schedstat;
mod taskstats;
mod threads;
mod timer_list;
mod tracefs;
mod tracer;
mod wakeup;
mod waking;

use assize_job::{AgentMessage, INSTRUMENTS, TracerKind};

use self::run_instrument::RunInstrument;
use crate::records::unavailable;

/// Creates the instruments of these names, in the order of [`INSTRUMENTS`], and a record
/// for each unknown name.
pub(crate) fn create(names: &[String]) -> (Vec<Box<dyn RunInstrument>>, Vec<AgentMessage>) {
    let mut unknown = Vec::new();
    for name in names {
        if !INSTRUMENTS.iter().any(|known| known.name == name) {
            let why = "no instrument has this name; `assize list instruments` shows them";
            unknown.push(unavailable(name, None, why));
        }
    }
    let chosen = INSTRUMENTS
        .iter()
        .filter(|known| names.iter().any(|name| name == known.name))
        .filter_map(|known| by_name(known.name))
        .collect();
    (chosen, unknown)
}

fn by_name(name: &str) -> Option<Box<dyn RunInstrument>> {
    Some(match name {
        "cpu-idle" => Box::new(cpu_idle::CpuIdle::default()),
        "cpu-residency" => Box::new(cpu_residency::CpuResidency::default()),
        "energy" => Box::new(energy::Energy::default()),
        "gaps" => Box::new(gaps::Watching::default()),
        "guest-instructions" => Box::new(guest_instructions::GuestInstructions::default()),
        "kernel-events" => Box::new(kernel_events::KernelEvents::default()),
        "perf-hardware" => Box::new(perf_counters::PerfCounters::hardware()),
        "perf-software" => Box::new(perf_counters::PerfCounters::software()),
        "perf-workload" => Box::new(perf_counters::PerfCounters::workload()),
        "planted-stalls" => Box::new(planted_stalls::PlantedStalls::default()),
        "proc-stat" => Box::new(proc_stat::instrument()),
        "schedstat" => Box::new(schedstat::instrument()),
        "threads" => Box::new(threads::ThreadsInstrument::default()),
        "timer-list" => Box::new(timer_list::instrument()),
        "wakeup" => Box::new(wakeup::Wakeup::default()),
        _ => Box::new(tracer::Tracing::new(TracerKind::from_name(name)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instrument_can_be_made_and_knows_its_name() {
        let names: Vec<String> = INSTRUMENTS
            .iter()
            .map(|i| i.name.to_string())
            .rev()
            .collect();
        let (chosen, unknown) = create(&names);
        assert!(unknown.is_empty(), "{unknown:?}");
        let got: Vec<&str> = chosen.iter().map(|i| i.name()).collect();
        let wanted: Vec<&str> = INSTRUMENTS.iter().map(|i| i.name).collect();
        assert_eq!(got, wanted);
    }

    #[test]
    fn a_name_that_no_instrument_has_is_reported() {
        let (chosen, unknown) = create(&["perf-softwear".into(), "threads".into()]);
        assert_eq!(chosen.len(), 1);
        assert!(
            matches!(&unknown[..], [AgentMessage::Unavailable { instrument, .. }] if instrument == "perf-softwear"),
            "{unknown:?}"
        );
    }
}
