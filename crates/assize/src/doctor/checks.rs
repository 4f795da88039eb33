//! The checks of `assize doctor`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use assize_target::kernels::{DEBIAN, Kernel, Kernels};
use assize_target::packages::{get, source_of};
use assize_target::qemu::Qemu;
use assize_target::testbed;
use assize_target::{Error, Sandbox, agent, policies};

use super::DoctorCheck;

/// The kernel of experiments that do not name one.
const USUAL_KERNEL: &str = "debian:6.12";

const AGENT: &str = "agent";
const QEMU: &str = "QEMU";
/// Programs, and the purpose of each.
const PROGRAMS: &[(&str, &str)] = &[
    ("aplay", "workloads of the kind audio"),
    ("cyclictest", "workloads of the kind cyclictest"),
    ("hackbench", "workloads of the kind hackbench"),
    ("mpg123", "workloads of the kind audio"),
    ("rt-app", "workloads of the kind periodic with rt_app"),
    ("stress-ng", "background loads of experiments"),
    ("ssh", "targets ssh:HOST"),
    ("gdb", "assize debug"),
    ("apt-get", "fetching kernels and QEMU from Debian's archive"),
];

/// The targets and, for each, the names of the checks that it needs to pass.
pub(super) fn targets() -> [(&'static str, Vec<String>); 2] {
    let usual = format!("kernel {USUAL_KERNEL}");
    [
        ("host", vec![AGENT.to_owned()]),
        ("exact", vec![AGENT.to_owned(), QEMU.to_owned(), usual]),
    ]
}

/// All checks, in the order in which they are shown.
pub(super) fn all() -> Vec<DoctorCheck> {
    let mut checks = vec![agent_check()];
    match Kernels::default_root() {
        Ok(root) => {
            checks.extend(qemu(&root));
            checks.extend(kernels(&Kernels::new(root)));
        }
        Err(error) => {
            let check = missing("cache", error.why, "the targets exact and live");
            checks.push(check.mend(error.mend.unwrap_or_default()));
        }
    }
    checks.extend([
        sandbox(),
        placement_policies(),
        kvm(),
        tracefs(),
        perf_hardware(),
        perf_software(),
        rapl(),
        schedstat(),
    ]);
    checks.extend(PROGRAMS.iter().map(|(name, what)| program(name, what)));
    checks
}

fn found(name: &str, detail: impl Into<String>) -> DoctorCheck {
    DoctorCheck {
        name: name.into(),
        needed_for: String::new(),
        there: true,
        detail: detail.into(),
        mend: None,
    }
}

fn missing(name: &str, why: impl Into<String>, needed_for: &str) -> DoctorCheck {
    DoctorCheck {
        name: name.into(),
        needed_for: needed_for.into(),
        there: false,
        detail: why.into(),
        mend: None,
    }
}

impl DoctorCheck {
    fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    fn failed(name: &str, error: Error, needed_for: &str) -> Self {
        DoctorCheck {
            mend: error.mend,
            ..missing(name, error.why, needed_for)
        }
    }
}

fn agent_check() -> DoctorCheck {
    match agent::find_here() {
        Ok(path) => found(AGENT, path.display().to_string()),
        Err(error) => DoctorCheck::failed(AGENT, error, "every run"),
    }
}

fn sandbox() -> DoctorCheck {
    let name = "sandbox for builds";
    match Sandbox::find() {
        Ok(sandbox) => found(name, sandbox.described()),
        Err(error) => {
            let needed_for = "try, bisect and kernel build, unless given --no-sandbox";
            DoctorCheck::failed(name, error, needed_for)
        }
    }
}

fn placement_policies() -> DoctorCheck {
    let name = "placement policies";
    match policies::compiler() {
        Ok(path) => found(name, format!("built with {}", path.display())),
        Err(error) => DoctorCheck::failed(name, error, "levels with a policy"),
    }
}

fn qemu(root: &Path) -> Vec<DoctorCheck> {
    let qemu = match Qemu::find(root) {
        Ok(qemu) => qemu,
        Err(error) => {
            return vec![DoctorCheck::failed(
                QEMU,
                error,
                "the targets exact and live",
            )];
        }
    };
    let detail = format!("{} in {}", qemu.version, qemu.binary.display());
    let mut checks = vec![found(QEMU, detail)];
    let name = "QEMU, 2 CPUs";
    checks.push(match qemu.fits(2) {
        Ok(()) => found(name, "each CPU of an exact machine has its own clock"),
        Err(error) => DoctorCheck::failed(name, error, "exact machines with more than one CPU"),
    });
    checks
}

fn kernels(kernels: &Kernels) -> Vec<DoctorCheck> {
    let there = match kernels.list() {
        Ok(there) => there,
        Err(error) => {
            return vec![DoctorCheck::failed(
                "kernels",
                error,
                "the targets exact and live",
            )];
        }
    };
    let mut checks: Vec<DoctorCheck> = there
        .iter()
        .map(|kernel| {
            let name = format!("kernel {}", kernel.name);
            found(
                &name,
                format!("{} in {}", kernel.release, kernel.image.display()),
            )
        })
        .collect();
    checks.extend(
        there
            .iter()
            .filter(|it| it.name == USUAL_KERNEL)
            .map(builds),
    );
    let lacking = DEBIAN
        .iter()
        .filter(|known| there.iter().all(|kernel| kernel.name != known.name));
    for known in lacking {
        let needed_for = if known.name == USUAL_KERNEL {
            "the targets exact and live, unless an experiment names another kernel"
        } else {
            "experiments that name it"
        };
        let check = missing(&format!("kernel {}", known.name), known.about, needed_for);
        checks.push(check.mend(format!("assize kernel fetch {}", known.name)));
    }
    checks
}

/// Whether the testbed's modules can be built for a kernel.
fn builds(kernel: &Kernel) -> DoctorCheck {
    let name = format!("modules for {}", kernel.name);
    match testbed::compiler(kernel) {
        Ok(compiler) => found(&name, format!("built with {compiler}")),
        Err(error) => DoctorCheck::failed(&name, error, "experiments with the testbed's modules"),
    }
}

fn kvm() -> DoctorCheck {
    let path = "/dev/kvm";
    match fs::File::options().read(true).write(true).open(path) {
        Ok(_) => found("KVM", format!("{path} opens; the first live run tests it")),
        Err(error) => missing(
            "KVM",
            format!("{path}: {error}"),
            "the target live at native speed; without KVM, QEMU emulates the CPU",
        )
        .mend(match error.kind() {
            std::io::ErrorKind::PermissionDenied => "add your user to the group kvm",
            _ => "load kvm_intel or kvm_amd, if the CPU supports it",
        }),
    }
}

fn tracefs() -> DoctorCheck {
    let path = "/sys/kernel/tracing/events/sched";
    match fs::read_dir(path) {
        Ok(_) => found("tracefs", "/sys/kernel/tracing"),
        Err(error) => {
            let check = missing(
                "tracefs",
                format!("{path}: {error}"),
                "the instruments cpu-idle and wakeup on the target host",
            );
            match error.kind() {
                std::io::ErrorKind::PermissionDenied => check.mend("run assize as root"),
                _ => check.mend("mount -t tracefs tracefs /sys/kernel/tracing"),
            }
        }
    }
}

fn paranoid() -> Option<i32> {
    let text = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    text.trim().parse().ok()
}

fn perf(name: &str, device: Option<PathBuf>, lacking: &str, needed_for: &str) -> DoctorCheck {
    let Some(level) = paranoid() else {
        let why = "this kernel has no perf events";
        return missing(name, why, needed_for).mend("boot a kernel with CONFIG_PERF_EVENTS");
    };
    let Some(device) = device else {
        return missing(name, lacking, needed_for);
    };
    if level <= 0 || rustix::process::geteuid().is_root() {
        return found(
            name,
            format!("{}, perf_event_paranoid {level}", device.display()),
        );
    }
    missing(name, format!("perf_event_paranoid is {level}"), needed_for)
        .mend("sysctl kernel.perf_event_paranoid=0, or run assize as root")
}

fn first_of(names: &[&str]) -> Option<PathBuf> {
    let devices = Path::new("/sys/bus/event_source/devices");
    names
        .iter()
        .map(|name| devices.join(name))
        .find(|path| path.exists())
}

fn perf_hardware() -> DoctorCheck {
    perf(
        "perf, hardware",
        first_of(&["cpu", "cpu_core", "armv8_pmuv3_0"]),
        "this machine has no PMU, like most virtual machines",
        "the instrument perf-hardware on the target host",
    )
}

fn perf_software() -> DoctorCheck {
    perf(
        "perf, software",
        first_of(&["software"]),
        "this kernel has no software events",
        "the instrument perf-software on the target host",
    )
}

fn rapl() -> DoctorCheck {
    let powercap = Path::new("/sys/class/powercap/intel-rapl:0/energy_uj");
    match first_of(&["power"]) {
        Some(device) => found("RAPL", device.display().to_string()),
        None if fs::read_to_string(powercap).is_ok() => {
            found("RAPL", powercap.display().to_string())
        }
        None if powercap.exists() => {
            let why = format!("{}: only root may read it", powercap.display());
            missing("RAPL", why, "the instrument energy").mend("run assize as root")
        }
        None => missing(
            "RAPL",
            "this machine has no energy counters, like most virtual machines",
            "the instrument energy",
        ),
    }
}

fn schedstat() -> DoctorCheck {
    let needed_for = "the instrument schedstat on the target host";
    match fs::read_to_string("/proc/schedstat") {
        Ok(text) if text.lines().any(|line| line.starts_with("cpu")) => {
            found("schedstat", "/proc/schedstat")
        }
        Ok(_) => missing("schedstat", "/proc/schedstat holds no CPU", needed_for),
        Err(error) => missing("schedstat", format!("/proc/schedstat: {error}"), needed_for)
            .mend("boot a kernel with CONFIG_SCHEDSTATS"),
    }
}

fn program(name: &str, needed_for: &str) -> DoctorCheck {
    let path = env::var_os("PATH").unwrap_or_default();
    let at = env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|path| path.is_file());
    match at {
        Some(path) => found(name, path.display().to_string()),
        None => {
            let check = missing(name, "not in PATH", needed_for);
            match source_of(name) {
                Some(_) => check.mend(get(name)),
                None => check,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_in_path() {
        assert!(program("sh", "shells").there);
        let check = program("assize-no-such-program", "nothing");
        assert_eq!((check.there, check.mend), (false, None));
    }

    #[test]
    fn whatever_is_missing_says_what_needs_it() {
        for check in all() {
            assert!(
                !check.name.is_empty() && !check.detail.is_empty(),
                "{check:?}"
            );
            assert_eq!(check.needed_for.is_empty(), check.there, "{check:?}");
        }
    }
}
