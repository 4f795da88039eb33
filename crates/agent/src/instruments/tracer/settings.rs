//! Settings of the tracers, which all instances share; restored after the run.

use std::fs;
use std::path::{Path, PathBuf};

use assize_job::{TracerKind, TracerSettings};

use crate::files;

/// Files of tracefs and the content to write.
pub(super) type WantedFiles = Vec<(&'static str, String)>;

/// Settings that were changed; dropping this restores them.
#[derive(Debug)]
pub(super) struct ChangedSettings {
    root: PathBuf,
    before: Vec<(&'static str, String)>,
}

impl ChangedSettings {
    /// Saves the current settings and writes the wanted ones.
    pub(super) fn set(root: &Path, wanted: &WantedFiles) -> Result<ChangedSettings, String> {
        let mut changed = ChangedSettings {
            root: root.to_owned(),
            before: Vec::new(),
        };
        for (file, _) in wanted {
            let text = files::read(&root.join(file))?;
            changed.before.push((file, text.trim().to_owned()));
        }
        write(root, wanted)?;
        Ok(changed)
    }
}

impl Drop for ChangedSettings {
    fn drop(&mut self) {
        let _ = write(&self.root, &self.before);
    }
}

/// Writes all settings. A width must not exceed its window, so one may have to be
/// written before the other: what is refused is tried again after the rest.
fn write(root: &Path, all: &WantedFiles) -> Result<(), String> {
    let one = |(file, value): &(&str, String)| {
        let path = root.join(file);
        fs::write(&path, value).map_err(|why| format!("{}: {value}: {why}", path.display()))
    };
    let refused: Vec<_> = all.iter().filter(|setting| one(setting).is_err()).collect();
    refused.into_iter().try_for_each(one)
}

/// The settings for this tracer.
pub(super) fn wanted(kind: TracerKind, settings: &TracerSettings, cpus: &[u32]) -> WantedFiles {
    let us = |ns: u64| (ns / 1000).to_string();
    if kind == TracerKind::Hwlat {
        return vec![
            ("hwlat_detector/window", us(settings.window_ns)),
            ("hwlat_detector/width", us(settings.width_ns)),
            ("hwlat_detector/mode", settings.mode.word().into()),
            // A latency must exceed this many whole microseconds.
            (THRESHOLD, (settings.threshold_ns / 1000 - 1).to_string()),
        ];
    }
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let mut wanted = vec![
        ("osnoise/cpus", list.join(",")),
        ("osnoise/stop_tracing_us", "0".into()),
        ("osnoise/stop_tracing_total_us", "0".into()),
    ];
    match kind {
        TracerKind::Timerlat => {
            wanted.push(("osnoise/timerlat_period_us", us(settings.period_ns)));
        }
        _ => wanted.extend([
            ("osnoise/period_us", us(settings.window_ns)),
            ("osnoise/runtime_us", us(settings.width_ns)),
            (THRESHOLD, us(settings.threshold_ns)),
        ]),
    }
    wanted
}

/// File of the threshold, in microseconds.
const THRESHOLD: &str = "tracing_thresh";

/// CPUs in the kernel's mask format: groups of 32 bits, the highest first.
pub(super) fn mask(cpus: &[u32]) -> String {
    let groups = cpus.iter().max().map_or(1, |most| most / 32 + 1);
    let group = |at: u32| {
        let own = cpus.iter().filter(|cpu| *cpu / 32 == at);
        format!("{:08x}", own.fold(0u32, |bits, cpu| bits | 1 << (cpu % 32)))
    };
    let groups: Vec<String> = (0..groups).rev().map(group).collect();
    groups.join(",")
}

/// Why no tracer can be started, if an instance is using one: each can have one user
/// only.
pub(super) fn in_use(root: &Path) -> Option<String> {
    let listing = fs::read_dir(root.join("instances")).into_iter().flatten();
    let instances = listing.flatten().map(|entry| entry.path());
    std::iter::once(root.to_owned())
        .chain(instances)
        .find_map(|place| {
            let path = place.join("current_tracer");
            let text = files::read(&path).ok()?;
            let kind = TracerKind::from_name(text.trim())?;
            Some(format!(
                "the tracer {} is in use by another program ({}); stop it",
                kind.word(),
                path.display()
            ))
        })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn masks_are_groups_of_32_bits_the_highest_first() {
        for (cpus, wanted) in [
            (&[0][..], "00000001"),
            (&[1, 3], "0000000a"),
            (&[31, 32, 70], "00000040,00000001,80000000"),
            (&[], "00000000"),
        ] {
            assert_eq!(mask(cpus), wanted);
        }
    }

    #[test]
    fn what_was_set_is_set_back_and_the_threshold_of_hwlat_is_the_shortest() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::create_dir(root.join("hwlat_detector")).unwrap();
        let hwlat = wanted(
            TracerKind::Hwlat,
            &TracerSettings::for_kind(TracerKind::Hwlat),
            &[1],
        );
        for (at, (file, _)) in hwlat.iter().enumerate() {
            fs::write(root.join(file), format!("{at}\n")).unwrap();
        }
        let read = |file: &str| fs::read_to_string(root.join(file)).unwrap();
        let changed = ChangedSettings::set(root, &hwlat).unwrap();
        assert_eq!(read("tracing_thresh"), "9", "10 us and more");
        assert_eq!(read("hwlat_detector/width"), "500000");
        assert_eq!(read("hwlat_detector/mode"), "round-robin");
        drop(changed);
        for (at, (file, _)) in hwlat.iter().enumerate() {
            assert_eq!(read(file), at.to_string());
        }
        let lacks = wanted(
            TracerKind::Osnoise,
            &TracerSettings::for_kind(TracerKind::Osnoise),
            &[1],
        );
        let why = ChangedSettings::set(root, &lacks).unwrap_err();
        assert!(why.contains("osnoise/cpus"), "{why}");
    }

    #[test]
    fn a_tracer_at_work_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::write(root.join("current_tracer"), "nop\n").unwrap();
        fs::create_dir_all(root.join("instances/mine")).unwrap();
        assert_eq!(in_use(root), None);
        fs::write(root.join("instances/mine/current_tracer"), "timerlat\n").unwrap();
        let why = in_use(root).unwrap();
        assert!(why.contains("timerlat") && why.contains("mine"), "{why}");
    }
}
