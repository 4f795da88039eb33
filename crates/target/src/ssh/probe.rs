//! Queries another host before anything is copied there.

use std::collections::BTreeSet;

use assize_job::LinkedProgram;

use super::connection::quote;
use crate::needs::MachineFacts;

/// Marks the lines of the answer, since a login shell may print others.
const MARK: &str = "assize:";

/// Properties of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HostProbe {
    /// The output of `uname -s`.
    pub(super) system: String,
    /// The output of `uname -m`.
    pub(super) architecture: String,
    /// The kernel's boot ID.
    pub(super) boot_id: String,
    pub(super) facts: MachineFacts,
    /// Requested programs that are not in PATH.
    pub(super) missing: BTreeSet<String>,
    /// Requested files that exist and cannot be written.
    pub(super) unwritable: BTreeSet<String>,
    /// Directories in which this user may store files, best first. They need not exist.
    pub(super) directories: Vec<String>,
}

/// The shell script that collects these properties.
pub(super) fn script<'a>(
    programs: impl IntoIterator<Item = &'a LinkedProgram>,
    files: &BTreeSet<String>,
) -> String {
    let mut script = String::from(
        r#"say() { printf 'assize:%s:%s\n' "$1" "$2"; }
say system "$(uname -s)"
say architecture "$(uname -m)"
say boot "$(cat /proc/sys/kernel/random/boot_id 2> /dev/null)"
sed 's/^/assize:status:/' /proc/self/status
sed 's/^/assize:limits:/' /proc/self/limits
say paranoid "$(cat /proc/sys/kernel/perf_event_paranoid 2> /dev/null)"
for root in /sys/kernel/tracing /sys/kernel/debug/tracing; do
    if [ -w "$root/current_tracer" ]; then say tracefs "$root"; fi
done
for path in /sys/bus/event_source/devices/power /sys/class/powercap/intel-rapl; do
    if [ -e "$path" ]; then say energy "$path"; fi
done
say directory "${XDG_CACHE_HOME:-$HOME/.cache}/assize"
say directory "/tmp/assize-$(id -u)"
"#,
    );
    for linked in programs {
        let program = quote(&linked.program);
        let path = linked.environment.iter().find(|(name, _)| name == "PATH");
        let path = path.map_or(String::new(), |(_, path)| format!("PATH={}; ", quote(path)));
        script +=
            &format!("({path}command -v {program} > /dev/null 2>&1) || say missing {program}\n");
    }
    for file in files {
        let file = quote(file);
        script += &format!("[ ! -e {file} ] || [ -w {file} ] || say unwritable {file}\n");
    }
    script += "exit 0\n";
    script
}

/// Parses the script's output.
pub(super) fn read(answer: &str) -> HostProbe {
    let mut probe = HostProbe::default();
    let (mut status, mut limits, mut paranoid) = (String::new(), String::new(), String::new());
    let (mut tracefs, mut energy) = (false, false);
    for line in answer.lines() {
        let Some((key, value)) = line
            .strip_prefix(MARK)
            .and_then(|rest| rest.split_once(':'))
        else {
            continue;
        };
        match key {
            "system" => probe.system = value.into(),
            "architecture" => probe.architecture = value.into(),
            "boot" => probe.boot_id = value.into(),
            "status" => status += &format!("{value}\n"),
            "limits" => limits += &format!("{value}\n"),
            "paranoid" => paranoid = value.into(),
            "tracefs" => tracefs = true,
            "energy" => energy = true,
            "directory" => probe.directories.push(value.into()),
            "missing" => {
                probe.missing.insert(value.into());
            }
            "unwritable" => {
                probe.unwritable.insert(value.into());
            }
            _ => {}
        }
    }
    probe.facts = MachineFacts {
        tracefs,
        energy,
        ..MachineFacts::read(&status, &limits, &paranoid)
    };
    probe
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn this_machine_answers() {
        let home = tempfile::tempdir().unwrap();
        let mut programs = ["sh", "assize-no-such-program", "it's", "/bin/sh"]
            .map(|name| LinkedProgram::new(name, &[]))
            .to_vec();
        let elsewhere = [("PATH".to_string(), "/nowhere".to_string())];
        programs.push(LinkedProgram::new("env", &elsewhere));
        let files = BTreeSet::from(["/proc/sys/no/such/file".to_string()]);
        let done = Command::new("sh")
            .arg("-c")
            .arg(format!("echo welcome; {}", script(&programs, &files)))
            .env("HOME", home.path())
            .env_remove("XDG_CACHE_HOME")
            .output()
            .unwrap();
        let probe = read(&String::from_utf8(done.stdout).unwrap());
        assert_eq!(probe.system, "Linux");
        assert_eq!(probe.architecture, std::env::consts::ARCH);
        assert_eq!(
            Vec::from_iter(&probe.missing),
            ["assize-no-such-program", "env", "it's"]
        );
        assert!(probe.unwritable.is_empty());
        let cache = home.path().join(".cache/assize");
        assert_eq!(probe.directories[0], cache.to_str().unwrap());
        let root = rustix::process::geteuid().is_root();
        assert_eq!(probe.facts.root, root);
    }

    #[test]
    fn only_marked_lines_are_read() {
        let probe = read("system:Linux\nassize:system:Linux\nassize:nonsense\nassize:x:y\n");
        assert_eq!(probe.system, "Linux");
        assert_eq!(read("").directories, Vec::<String>::new());
    }
}
