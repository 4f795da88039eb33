//! Which package has a program.

/// Program and the Debian package that has it.
const PACKAGES: &[(&str, &str)] = &[
    ("bpftool", "bpftool"),
    ("chrt", "util-linux"),
    ("cyclictest", "rt-tests"),
    ("fio", "fio"),
    ("hackbench", "rt-tests"),
    ("hwlatdetect", "rt-tests"),
    ("iperf3", "iperf3"),
    ("modprobe", "kmod"),
    ("mpg123", "mpg123"),
    ("numactl", "numactl"),
    ("oslat", "rt-tests"),
    ("perf", "linux-perf"),
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("rt-app", "rt-app"),
    ("rtla", "rtla"),
    ("signaltest", "rt-tests"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
    ("stress-ng", "stress-ng"),
    ("sysbench", "sysbench"),
    ("sysctl", "procps"),
    ("tar", "tar"),
    ("taskset", "util-linux"),
    ("turbostat", "linux-cpupower"),
];

/// The Debian package that has this program, where it is known.
pub fn package_of(program: &str) -> Option<&'static str> {
    let (_, name) = program.rsplit_once('/').unwrap_or(("", program));
    let (_, package) = PACKAGES.iter().find(|(known, _)| *known == name)?;
    Some(package)
}

/// The command that installs what has these programs, if it is known of all
/// that are known at all.
pub(crate) fn install<'a>(programs: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut packages: Vec<&str> = programs.into_iter().filter_map(package_of).collect();
    packages.sort_unstable();
    packages.dedup();
    (!packages.is_empty()).then(|| format!("run `apt install {}`", packages.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_sorted_and_each_is_there_once() {
        assert!(PACKAGES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        assert_eq!(package_of("cyclictest"), Some("rt-tests"));
        assert_eq!(package_of("/usr/bin/perf"), Some("linux-perf"));
        assert_eq!(package_of("my-test"), None);
    }

    #[test]
    fn each_package_is_installed_once() {
        let command = install(["hackbench", "my-test", "cyclictest", "fio"]);
        assert_eq!(command.as_deref(), Some("run `apt install fio rt-tests`"));
        assert_eq!(install(["my-test"]), None);
    }
}
