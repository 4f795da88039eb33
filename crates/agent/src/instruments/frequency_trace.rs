//! The frequency of each CPU over time, from the trace event
//! power/cpu_frequency.

use std::path::Path;

use assize_job::FREQUENCY_POLICIES;

use super::residency::Changes;
use super::tracefs::{Instance, InstanceSettings, RecordedTrace};
use crate::cpus;
use crate::files;

const CPU_FREQUENCY: &str = "power/cpu_frequency";

/// Traces frequency changes.
#[derive(Debug)]
pub(crate) struct FrequencyTrace {
    instance: Instance,
    /// Each CPU and its frequency in kHz right after recording started.
    first: Vec<(u32, u64)>,
}

impl FrequencyTrace {
    /// Starts recording.
    pub(crate) fn open(name: &str) -> Result<FrequencyTrace, String> {
        let mut instance = Instance::open(InstanceSettings {
            name,
            clock: "mono",
            kib_per_cpu: 1 << 10,
            events: &[CPU_FREQUENCY],
        })?;
        instance.on()?;
        let mut first = Vec::new();
        for cpu in cpus::online()? {
            first.push((cpu, now(cpu)?));
        }
        Ok(FrequencyTrace { instance, first })
    }

    /// Stops recording.
    pub(crate) fn off(&mut self) -> Result<(), String> {
        self.instance.off()
    }

    /// The frequency changes of each CPU, in ascending order of CPUs. The returned trace
    /// has no events, only what was lost.
    pub(crate) fn changes(&mut self) -> Result<(Vec<Changes>, RecordedTrace<()>), String> {
        let format = self.instance.format(CPU_FREQUENCY)?;
        let field = |name: &str| {
            let found = format.field(name);
            found.ok_or_else(|| format!("{CPU_FREQUENCY} has no field {name} here"))
        };
        let (khz, cpu) = (field("state")?, field("cpu_id")?);
        let trace = self
            .instance
            .drain(&|event| Some((cpu.number(event)?, khz.number(event)?)));
        let mut all: Vec<(u64, (u64, u64))> = Vec::new();
        for of_cpu in &trace.cpus {
            all.extend(&of_cpu.events);
        }
        // A change may have been traced by another CPU.
        all.sort_unstable();
        let changes_of = |(cpu, first): &(u32, u64)| {
            let own = all
                .iter()
                .filter(|(_, (owner, _))| *owner == u64::from(*cpu));
            let own = own.map(|(time, (_, khz))| (*time, *khz));
            std::iter::once((0, *first)).chain(own).collect()
        };
        let left = RecordedTrace {
            cpus: Vec::new(),
            lost: trace.lost,
            broken: trace.broken,
        };
        Ok((self.first.iter().map(changes_of).collect(), left))
    }
}

/// Current frequency of a CPU, in kHz.
fn now(cpu: u32) -> Result<u64, String> {
    let directory = Path::new(FREQUENCY_POLICIES).with_file_name(format!("cpu{cpu}"));
    let path = directory.join("cpufreq/scaling_cur_freq");
    let text = files::read(&path)?;
    let number = text.trim().parse();
    number.map_err(|_| format!("{}: '{}' is no number", path.display(), text.trim()))
}
