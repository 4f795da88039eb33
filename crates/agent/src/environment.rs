//! Facts about the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use assize_job::AgentMessage;

use crate::setup::policy;
use crate::sys;

/// Facts that are the content of one file each.
const FILES: &[(&str, &str)] = &[
    ("command_line", "/proc/cmdline"),
    (
        "clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    ("smt", "/sys/devices/system/cpu/smt/control"),
];

/// Identifies a boot. Not recorded in a guest, which boots for one run only.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The facts about the machine that do not change during a run.
pub(crate) fn record(guest: bool) -> AgentMessage {
    let mut facts = BTreeMap::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(name.to_string(), value);
        }
    };
    for (name, path) in FILES {
        fact(name, read(path));
    }
    if !guest {
        fact("boot_id", read(BOOT_ID));
    }
    let (release, version) = sys::uname();
    let selected = read("/sys/kernel/debug/sched/preempt");
    fact("preempt", Some(preemption(&version, selected.as_deref())));
    fact("cpus", Some(sys::cpus().to_string()));
    fact("kernel", Some(release));
    fact("kernel_version", Some(version));
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    fact("cpu_model", cpu_model(&cpu_info));
    fact("microcode", cpu_field(&cpu_info, "microcode"));
    fact("mitigations", mitigations());
    fact("governor", Some(governors()));
    // No policy of the job is attached yet.
    fact("sched_ext", policy::active_policy());
    AgentMessage::Environment { facts }
}

fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_string())
}

fn cpu_model(cpu_info: &str) -> Option<String> {
    cpu_field(cpu_info, "model name").or_else(|| cpu_field(cpu_info, "CPU part"))
}

/// The first CPU's value of a field of /proc/cpuinfo.
fn cpu_field(cpu_info: &str, name: &str) -> Option<String> {
    cpu_info.lines().find_map(|line| {
        let (field, value) = line.split_once(':')?;
        (field.trim() == name).then(|| value.trim().to_string())
    })
}

/// The preemption model that the kernel was built with, and the selected one
/// where that can be read.
fn preemption(version: &str, selected: Option<&str>) -> String {
    let built = ["PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT"]
        .into_iter()
        .find(|word| version.split_ascii_whitespace().any(|other| other == *word))
        .unwrap_or("none or voluntary");
    // The file holds every choice, the selected one in parentheses.
    let selected = selected.and_then(|choices| {
        let (_, rest) = choices.split_once('(')?;
        rest.split_once(')').map(|(choice, _)| choice)
    });
    match selected {
        Some(choice) => format!("{built}: {choice}"),
        None => built.to_string(),
    }
}

/// The kernel's mitigation of each CPU vulnerability.
fn mitigations() -> Option<String> {
    let directory = "/sys/devices/system/cpu/vulnerabilities";
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(state) = read(&format!("{directory}/{name}")) {
            all.insert(name, state);
        }
    }
    let all: Vec<String> = all
        .iter()
        .map(|(name, state)| format!("{name}: {state}"))
        .collect();
    Some(all.join("; "))
}

/// The frequency governors in use, without duplicates.
fn governors() -> String {
    let mut all = BTreeSet::new();
    let policies = fs::read_dir("/sys/devices/system/cpu/cpufreq");
    for entry in policies.into_iter().flatten().flatten() {
        let path = entry.path().join("scaling_governor");
        all.extend(read(&path.to_string_lossy()));
    }
    if all.is_empty() {
        return "none".into();
    }
    all.into_iter().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preemption_is_what_is_selected() {
        let dynamic = "#1 SMP PREEMPT_DYNAMIC Debian 6.12.1-1";
        assert_eq!(
            preemption(dynamic, Some("none (voluntary) full\n")),
            "PREEMPT_DYNAMIC: voluntary"
        );
        assert_eq!(preemption(dynamic, None), "PREEMPT_DYNAMIC");
        assert_eq!(preemption("#1 SMP PREEMPT_RT Debian", None), "PREEMPT_RT");
        assert_eq!(preemption("#1 SMP Debian", None), "none or voluntary");
    }

    #[test]
    fn facts_do_not_change() {
        assert_eq!(record(false), record(false));
    }

    #[test]
    fn a_boot_is_of_a_host_and_not_of_a_guest() {
        let boot_id = |guest| match record(guest) {
            AgentMessage::Environment { facts } => facts.get("boot_id").cloned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(boot_id(false), read(BOOT_ID));
        assert_eq!(boot_id(true), None);
    }

    #[test]
    fn the_first_cpu_counts() {
        let info = "processor\t: 0\nmodel name\t: A: B\n\nprocessor\t: 1\nmodel name\t: C\n";
        assert_eq!(cpu_model(info).as_deref(), Some("A: B"));
        assert_eq!(cpu_field(info, "microcode"), None);
    }
}
