//! Energy of the CPU packages, their cores and the memory, from RAPL:
//! through the perf PMU `power`, else through powercap.

use std::path::{Path, PathBuf};

use assize_job::AgentMessage;

use super::run_instrument::RunInstrument;
use crate::cpus;
use crate::files;
use crate::perf;
use crate::perf::{CounterSum, PerfEvent};
use crate::records::{doubt, metric, number, unavailable};

const NAME: &str = "energy";
const PMU: &str = "/sys/bus/event_source/devices/power";
const POWERCAP: &str = "/sys/class/powercap";

/// Metric, PMU event, powercap zone; a zone that ends with `-` is a prefix.
const METRICS: &[(&str, &str, &str)] = &[
    ("energy_package", "energy-pkg", "package-"),
    ("energy_cores", "energy-cores", "core"),
    ("energy_dram", "energy-ram", "dram"),
];

/// The instrument `energy`.
pub(crate) struct Energy {
    pmu: PathBuf,
    powercap: PathBuf,
    source: EnergySource,
    records: Vec<AgentMessage>,
}

enum EnergySource {
    None,
    Pmu(Vec<(&'static str, f64, CounterSum)>),
    Powercap {
        zones: Vec<Zone>,
        before: Vec<Result<u64, String>>,
    },
}

impl Default for Energy {
    fn default() -> Self {
        Energy {
            pmu: PMU.into(),
            powercap: POWERCAP.into(),
            source: EnergySource::None,
            records: Vec::new(),
        }
    }
}

impl RunInstrument for Energy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&mut self) -> Result<(), String> {
        let pmu = match pmu_events(&self.pmu).and_then(|found| open_pmu(&found)) {
            Ok(sums) => {
                self.source = EnergySource::Pmu(sums);
                return Ok(());
            }
            Err(why) => why,
        };
        let zones = zones(&self.powercap).and_then(|zones| {
            zones.iter().try_for_each(|zone| zone.read().map(|_| ()))?;
            Ok(zones)
        });
        match zones {
            Ok(zones) => {
                let before = Vec::with_capacity(zones.len());
                self.source = EnergySource::Powercap { zones, before };
                Ok(())
            }
            Err(powercap) => Err(format!(
                "{pmu}; {powercap}; needs a CPU with RAPL, not hidden by a hypervisor, and root"
            )),
        }
    }

    fn start(&mut self, _workload: i32) {
        match &mut self.source {
            EnergySource::None => {}
            EnergySource::Pmu(sums) => {
                for (name, _, sum) in sums {
                    if let Err(error) = sum.enable() {
                        let reason = perf::why(&error);
                        self.records.push(unavailable(NAME, Some(name), reason));
                    }
                }
            }
            EnergySource::Powercap { zones, before } => before.extend(zones.iter().map(Zone::read)),
        }
    }

    fn stop(&mut self) {
        match &self.source {
            EnergySource::None => {}
            EnergySource::Pmu(sums) => {
                for (name, scale, sum) in sums {
                    let total = sum.disable().and_then(|()| sum.total());
                    self.records.push(match total {
                        Ok(total) => metric(*name, total.value * scale, "J"),
                        Err(error) => unavailable(NAME, Some(name), perf::why(&error)),
                    });
                }
            }
            EnergySource::Powercap { zones, before } => {
                let after: Vec<_> = zones.iter().map(Zone::read).collect();
                self.records = powercap_records(zones, before, &after);
            }
        }
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        std::mem::take(&mut self.records)
    }
}

/// One event of the PMU `power`.
#[derive(Debug, Clone, PartialEq)]
struct PmuEvent {
    metric: &'static str,
    event: PerfEvent,
    /// Joules per count.
    scale: f64,
    /// The CPUs to count on, one per package.
    cpus: Vec<u32>,
}

/// The events of [`METRICS`] that the PMU in this directory has.
fn pmu_events(directory: &Path) -> Result<Vec<PmuEvent>, String> {
    let text = |name: &str| files::read(&directory.join(name)).map(|text| text.trim().to_string());
    let wrong = |name: &str, text: &str| {
        format!("{}: not understood: {text}", directory.join(name).display())
    };
    let kind = text("type")?;
    let kind: u32 = kind.parse().map_err(|_| wrong("type", &kind))?;
    let mask = text("cpumask")?;
    let cpus = cpus::parse_list(&mask).ok_or_else(|| wrong("cpumask", &mask))?;
    let mut found = Vec::new();
    for &(metric, event, _) in METRICS {
        let name = format!("events/{event}");
        let Ok(config) = text(&name) else { continue };
        let number = config.strip_prefix("event=0x");
        let number = number.and_then(|n| u64::from_str_radix(n, 16).ok());
        let number = number.ok_or_else(|| wrong(&name, &config))?;
        let unit = text(&format!("{name}.unit"))?;
        if unit != "Joules" {
            return Err(wrong(&format!("{name}.unit"), &unit));
        }
        let scale = text(&format!("{name}.scale"))?;
        let scale: f64 = scale
            .parse()
            .map_err(|_| wrong(&format!("{name}.scale"), &scale))?;
        found.push(PmuEvent {
            metric,
            event: PerfEvent {
                kind,
                config: number,
            },
            scale,
            cpus: cpus.clone(),
        });
    }
    if found.is_empty() {
        return Err(format!("{}: it counts no energy", directory.display()));
    }
    Ok(found)
}

fn open_pmu(events: &[PmuEvent]) -> Result<Vec<(&'static str, f64, CounterSum)>, String> {
    let open = |event: &PmuEvent| {
        let sum =
            CounterSum::on_cpus(event.event, &event.cpus).map_err(|error| perf::why(&error))?;
        Ok((event.metric, event.scale, sum))
    };
    events.iter().map(open).collect()
}

/// A powercap zone.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Zone {
    metric: &'static str,
    energy: PathBuf,
    /// The value after which the counter wraps to 0.
    max_uj: u64,
}

impl Zone {
    fn read(&self) -> Result<u64, String> {
        let text = files::read(&self.energy)?;
        let number = text.trim().parse();
        number.map_err(|_| format!("{}: no number", self.energy.display()))
    }

    /// Microjoules between two readings, if the counter wrapped at most once.
    fn between(&self, before: u64, after: u64) -> u64 {
        if after >= before {
            after - before
        } else {
            self.max_uj.saturating_sub(before) + after
        }
    }
}

/// The powercap zones of packages, cores and memory in this directory, sorted.
fn zones(directory: &Path) -> Result<Vec<Zone>, String> {
    let listing =
        std::fs::read_dir(directory).map_err(|why| format!("{}: {why}", directory.display()))?;
    // The same zones appear again as intel-rapl-mmio on some machines.
    let mut paths: Vec<PathBuf> = listing
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("intel-rapl:"))
        })
        .collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = files::read(&path.join("name"))?;
        let name = name.trim();
        let wanted = METRICS.iter().find(|(_, _, zone)| {
            zone.strip_suffix('-')
                .map_or(name == *zone, |_| name.starts_with(zone))
        });
        let Some(&(metric, _, _)) = wanted else {
            continue;
        };
        let max = path.join("max_energy_range_uj");
        let max_uj = files::read(&max)?.trim().parse();
        found.push(Zone {
            metric,
            energy: path.join("energy_uj"),
            max_uj: max_uj.map_err(|_| format!("{}: no number", max.display()))?,
        });
    }
    if found.is_empty() {
        return Err(format!("{}: no zone of RAPL", directory.display()));
    }
    Ok(found)
}

/// Sums the zones of each metric.
fn powercap_records(
    zones: &[Zone],
    before: &[Result<u64, String>],
    after: &[Result<u64, String>],
) -> Vec<AgentMessage> {
    let mut records = Vec::new();
    for &(name, _, _) in METRICS {
        let mut sum_uj = None;
        let mut wrong = None;
        for ((zone, before), after) in zones.iter().zip(before).zip(after) {
            if zone.metric != name {
                continue;
            }
            match (before, after) {
                (Ok(before), Ok(after)) => {
                    *sum_uj.get_or_insert(0) += zone.between(*before, *after);
                }
                (Err(why), _) | (_, Err(why)) => wrong = Some(why),
            }
        }
        match (sum_uj, wrong) {
            (_, Some(why)) => records.push(unavailable(NAME, Some(name), why)),
            (Some(sum), None) => records.push(metric(name, number(sum) * 1e-6, "J")),
            (None, None) => {}
        }
    }
    if zones.len() > before.len() {
        let detail = "a zone of RAPL was not read at the start";
        records.push(doubt("energy-incomplete", detail));
    }
    records
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use std::fs;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    /// The layout of a machine with two packages.
    fn powercap(root: &Path) {
        let zone = |name: &str, called: &str, energy: &str| {
            write(
                root,
                &[
                    (&format!("{name}/name"), called),
                    (&format!("{name}/energy_uj"), energy),
                    (&format!("{name}/max_energy_range_uj"), "262143328850\n"),
                ],
            );
        };
        zone("intel-rapl:0", "package-0\n", "262143000000\n");
        zone("intel-rapl:0:0", "core\n", "10\n");
        zone("intel-rapl:0:1", "uncore\n", "10\n");
        zone("intel-rapl:0:2", "dram\n", "7\n");
        zone("intel-rapl:1", "package-1\n", "5000000\n");
        zone("intel-rapl-mmio:0", "package-0\n", "1\n");
        write(root, &[("intel-rapl/enabled", "1\n")]);
    }

    /// The instrument, started with zones of powercap in this directory and no PMU.
    fn started(root: &Path) -> Energy {
        powercap(root);
        let mut energy = Energy {
            pmu: root.join("no-pmu"),
            powercap: root.into(),
            ..Energy::default()
        };
        energy.open().unwrap();
        energy.start(1);
        energy
    }

    #[test]
    fn powercap_is_summed_over_packages_and_may_wrap_around() {
        let root = tempfile::tempdir().unwrap();
        let mut energy = started(root.path());
        write(
            root.path(),
            &[
                ("intel-rapl:0/energy_uj", "2000000\n"),
                ("intel-rapl:1/energy_uj", "8000000\n"),
                ("intel-rapl:0:0/energy_uj", "500010\n"),
            ],
        );
        energy.stop();
        let wanted = vec![
            // 328 850 µJ up to the end of the range, 2 J after it, 3 J.
            metric("energy_package", 5_328_850.0 * 1e-6, "J"),
            metric("energy_cores", 500_000.0 * 1e-6, "J"),
            metric("energy_dram", 0.0, "J"),
        ];
        assert_eq!(energy.records(), wanted);
    }

    #[test]
    fn a_zone_that_vanishes_is_unavailable() {
        let root = tempfile::tempdir().unwrap();
        let mut energy = started(root.path());
        fs::remove_file(root.path().join("intel-rapl:0:2/energy_uj")).unwrap();
        energy.stop();
        let records = energy.records();
        assert_eq!(records.len(), 3);
        assert!(
            matches!(&records[2], AgentMessage::Unavailable { metric: Some(m), .. } if m == "energy_dram"),
            "{records:?}"
        );
    }

    #[test]
    fn the_pmu_is_read_as_the_kernel_shows_it() {
        let root = tempfile::tempdir().unwrap();
        let scale = "2.3283064365386962890625e-10\n";
        write(
            root.path(),
            &[
                ("type", "23\n"),
                ("cpumask", "0,18\n"),
                ("events/energy-pkg", "event=0x02\n"),
                ("events/energy-pkg.scale", scale),
                ("events/energy-pkg.unit", "Joules\n"),
                ("events/energy-ram", "event=0x03\n"),
                ("events/energy-ram.scale", scale),
                ("events/energy-ram.unit", "Joules\n"),
            ],
        );
        let event = |metric, config| PmuEvent {
            metric,
            event: PerfEvent { kind: 23, config },
            scale: 2f64.powi(-32),
            cpus: vec![0, 18],
        };
        let wanted = vec![event("energy_package", 2), event("energy_dram", 3)];
        assert_eq!(pmu_events(root.path()).unwrap(), wanted);

        fs::write(root.path().join("events/energy-ram.unit"), "Watts\n").unwrap();
        assert!(pmu_events(root.path()).is_err());
    }

    #[test]
    fn where_there_is_no_rapl_both_reasons_are_given() {
        let root = tempfile::tempdir().unwrap();
        let mut energy = Energy {
            pmu: root.path().join("power"),
            powercap: root.path().join("powercap"),
            ..Energy::default()
        };
        let why = energy.open().unwrap_err();
        assert!(
            why.contains("power/type") && why.contains("powercap:"),
            "{why}"
        );
    }
}
