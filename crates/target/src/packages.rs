//! How to install programs that are missing.

use ProgramOrigin::{Code, Package};

/// Where a program comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramOrigin {
    /// A Debian package.
    Package(&'static str),
    /// Not packaged in Debian; built from these sources.
    Code(&'static str),
}

/// Programs that users are likely to name.
const PROGRAMS: &[(&str, ProgramOrigin)] = &[
    ("aplay", Package("alsa-utils")),
    ("bpftool", Package("bpftool")),
    ("chrt", Package("util-linux")),
    ("cyclicdeadline", Package("rt-tests")),
    ("cyclictest", Package("rt-tests")),
    ("fio", Package("fio")),
    ("hackbench", Package("rt-tests")),
    ("hwlatdetect", Package("rt-tests")),
    ("iperf3", Package("iperf3")),
    ("modprobe", Package("kmod")),
    ("mpg123", Package("mpg123")),
    ("numactl", Package("numactl")),
    ("oslat", Package("rt-tests")),
    ("perf", Package("linux-perf")),
    ("pi_stress", Package("rt-tests")),
    ("ptsematest", Package("rt-tests")),
    ("qemu-system-x86_64", Package("qemu-system-x86")),
    ("rt-app", Package("rt-app")),
    ("rtla", Package("rtla")),
    (
        "schbench",
        Code("https://git.kernel.org/pub/scm/linux/kernel/git/mason/schbench.git"),
    ),
    ("signaltest", Package("rt-tests")),
    ("ssh", Package("openssh-client")),
    ("sshd", Package("openssh-server")),
    ("stress-ng", Package("stress-ng")),
    ("sysbench", Package("sysbench")),
    ("sysctl", Package("procps")),
    ("tar", Package("tar")),
    ("taskset", Package("util-linux")),
    ("trace-cmd", Package("trace-cmd")),
    ("turbostat", Package("linux-cpupower")),
];

/// Where this program, given by name or path, comes from, if known.
#[must_use]
pub fn source_of(program: &str) -> Option<ProgramOrigin> {
    let (_, name) = program.rsplit_once('/').unwrap_or(("", program));
    let (_, source) = PROGRAMS.iter().find(|(known, _)| *known == name)?;
    Some(*source)
}

/// How to get a program that is not in PATH.
#[must_use]
pub fn get(program: &str) -> String {
    match source_of(program) {
        Some(Package(package)) => format!("apt-get install {package}"),
        Some(Code(place)) => built(program, place),
        None => "install it, or give its path".into(),
    }
}

fn built(program: &str, place: &str) -> String {
    format!("Debian has no package of {program}: build it from {place}, and give its path")
}

/// The command that installs the packages of these programs, and what to do about those
/// that are not packaged. Unknown programs are ignored.
pub(crate) fn install<'a>(programs: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let (mut packages, mut others) = (Vec::new(), Vec::new());
    for program in programs {
        match source_of(program) {
            Some(Package(package)) => packages.push(package),
            Some(Code(place)) => others.push(built(program, place)),
            None => {}
        }
    }
    packages.sort_unstable();
    packages.dedup();
    let mut words = match packages.is_empty() {
        true => Vec::new(),
        false => vec![format!("run `apt install {}`", packages.join(" "))],
    };
    words.extend(others);
    (!words.is_empty()).then(|| words.join("; "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn programs_are_sorted_and_each_is_there_once() {
        assert!(PROGRAMS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        assert_eq!(source_of("cyclictest"), Some(Package("rt-tests")));
        assert_eq!(source_of("/usr/bin/perf"), Some(Package("linux-perf")));
        assert_eq!(source_of("my-test"), None);
    }

    #[test]
    fn each_package_is_installed_once() {
        let command = install(["hackbench", "my-test", "cyclictest", "fio"]);
        assert_eq!(command.as_deref(), Some("run `apt install fio rt-tests`"));
        assert_eq!(install(["my-test"]), None);
    }

    #[test]
    fn what_has_no_package_is_built() {
        let words = install(["schbench", "fio"]).unwrap();
        let (first, second) = words.split_once("; ").unwrap();
        assert_eq!(first, "run `apt install fio`");
        assert!(second.starts_with("Debian has no package of schbench: build it from https://"));
        assert_eq!(get("schbench"), second);
        assert_eq!(get("fio"), "apt-get install fio");
        assert_eq!(get("my-test"), "install it, or give its path");
    }

    /// Which of these packages Debian's package lists contain; nothing is fetched.
    fn listed<'a>(packages: &[&'a str]) -> Vec<&'a str> {
        let told = Command::new("apt-cache")
            .arg("policy")
            .args(packages)
            .output();
        let told = told.map_or_else(|_| Vec::new(), |told| told.stdout);
        let told = String::from_utf8_lossy(&told);
        let is_there = |package: &&&str| {
            let of = told.split(&format!("{package}:\n")).nth(1);
            of.and_then(|of| of.lines().nth(1))
                .is_some_and(|candidate| !candidate.ends_with("(none)"))
        };
        packages.iter().filter(is_there).copied().collect()
    }

    #[test]
    fn debian_has_every_package_and_no_other() {
        let release = std::fs::read_to_string("/etc/debian_version").unwrap_or_default();
        if !release.starts_with("12.") || listed(&["rt-tests"]).is_empty() {
            eprintln!("skipped: this is no Debian 12 with its lists of packages");
            return;
        }
        let (mut packages, mut others) = (Vec::new(), Vec::new());
        for (program, source) in PROGRAMS {
            match source {
                Package(package) => packages.push(*package),
                Code(_) => others.push(*program),
            }
        }
        packages.sort_unstable();
        packages.dedup();
        assert_eq!(listed(&packages), packages);
        assert_eq!(listed(&others), [""; 0], "Debian has them");
    }
}
