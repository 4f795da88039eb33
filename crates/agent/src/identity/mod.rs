//! The identity of a run: the kernel, settings, modules, programs and files that it used,
//! as found on the machine.

pub(crate) mod digests;
mod mapped;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

use assize_job::{
    Action, AgentMessage, CarriedPackage, IdentityKind, Job, MemoryImage, Payload, RunIdentityPart,
    SETTING_MAX, Workload,
};

use self::digests::Digests;
use self::mapped::MappingWatch;
use crate::process::{Body, ExecProgram, SEED_VARIABLE};
use crate::records::{doubt, unavailable};
use crate::setup::modules::{RunModules, loaded_build_id};
use crate::setup::policy::AttachedPolicy;
use crate::setup::{power, sysctl_path};
use crate::{elf, sys};

type IdentityParts = BTreeMap<(IdentityKind, String), Option<String>>;

/// Collects the identity of a run in progress.
#[derive(Debug)]
pub(crate) struct IdentityCollector {
    guest: bool,
    digests: Digests,
    watch: Result<MappingWatch, String>,
    parts: IdentityParts,
}

impl IdentityCollector {
    /// Starts watching. `digests`: digests that are known already.
    pub(crate) fn open(guest: bool, digests: Digests) -> IdentityCollector {
        let mut evidence = IdentityCollector {
            guest,
            digests,
            watch: MappingWatch::open(guest),
            parts: IdentityParts::new(),
        };
        // Do this first, as a set-up may take CPUs offline.
        evidence.take_machine();
        evidence
    }

    /// Reads back the settings right after the set-up.
    pub(crate) fn take_settings(&mut self, job: &Job, modules: &RunModules) {
        self.parts.extend(settings(job, modules));
    }

    /// Records which placement policy is attached.
    pub(crate) fn take_policy(&mut self, policy: &AttachedPolicy) {
        for (kind, name, value) in policy.parts() {
            self.parts.insert((kind, name), value);
        }
        if let Some(object) = policy.object() {
            let digest = self.digests.digest(object).ok();
            let name = (IdentityKind::Policy, "object".to_string());
            self.parts.insert(name, digest);
        }
    }

    /// Records the program that a workload is about to start, and its environment
    /// variables.
    pub(crate) fn take_program(&mut self, workload: &Workload, body: &Body) {
        let Body::Exec(exec) = body else { return };
        self.take_exec(&workload.name, exec);
    }

    fn take_exec(&mut self, workload: &str, exec: &ExecProgram) {
        // A script is read by its interpreter and not mapped, so add it here.
        let path = fs::canonicalize(&exec.path);
        let path = path.map_or_else(
            |_| exec.path.clone(),
            |it| it.to_string_lossy().into_owned(),
        );
        self.take_file(IdentityKind::Program, path);
        for (name, value) in &exec.environment {
            // The seed differs from run to run.
            if name != SEED_VARIABLE {
                let name = format!("{workload} {name}");
                let value = Some(value.clone());
                self.parts.insert((IdentityKind::Environment, name), value);
            }
        }
    }

    /// Reads back the scheduling of a workload's process, which is waiting to
    /// be released.
    pub(crate) fn take_scheduling(&mut self, workload: &Workload, pid: i32) {
        for (what, value) in scheduling(pid) {
            let name = format!("{} {what}", workload.name);
            self.parts
                .insert((IdentityKind::Scheduling, name), Some(value));
        }
    }

    /// Adds the packages carried to this machine, as they are now.
    fn take_packages(&mut self) {
        let list = fs::read(Payload::PACKAGES).unwrap_or_default();
        let packages: Vec<CarriedPackage> = serde_json::from_slice(&list).unwrap_or_default();
        for package in packages {
            let listed = package.digest_list(|path| self.digests.digest(path).ok());
            let digest = blake3::hash(listed.as_bytes()).to_hex();
            let part = package.identity(&digest);
            self.parts.insert((part.kind, part.name), part.value);
        }
    }

    fn take_file(&mut self, kind: IdentityKind, path: String) {
        let digest = self.digests.digest(&path).ok();
        self.parts.insert((kind, path), digest);
    }

    /// Returns the records, after the workload has ended.
    pub(crate) fn records(mut self, job: &Job, modules: &RunModules) -> Vec<AgentMessage> {
        let mut records = self.changed(&settings(job, modules));
        self.take_modules(modules);
        if self.guest {
            self.take_packages();
        }
        for workload in std::iter::once(&job.workload).chain(&job.background) {
            for file in workload.kind.reads() {
                self.take_file(IdentityKind::File, file.into());
            }
        }
        records.extend(self.take_mapped());
        let parts = self.parts.into_iter();
        let parts = parts.map(|((kind, name), value)| RunIdentityPart { kind, name, value });
        records.push(AgentMessage::Identity {
            parts: parts.collect(),
        });
        records
    }

    /// Settings that have changed since the set-up.
    fn changed(&self, now: &IdentityParts) -> Vec<AgentMessage> {
        let differs = |((kind, name), value): (&(IdentityKind, String), &Option<String>)| {
            let before = self.parts.get(&(*kind, name.clone()))?;
            let describe = |value: &Option<String>| match value {
                Some(value) => format!("'{value}'"),
                None => "unreadable".into(),
            };
            (before != value).then(|| {
                let (noun, before, now) = (kind.noun(), describe(before), describe(value));
                let what =
                    format!("{noun} {name} was {before} before the workload and {now} after it");
                doubt("setting-changed", what)
            })
        };
        now.iter().filter_map(differs).collect()
    }

    fn take_machine(&mut self) {
        let (release, version) = sys::uname();
        let notes = fs::read("/sys/kernel/notes").ok();
        let build_id = notes.and_then(|notes| elf::build_id(&notes));
        let mut add = |kind, name: &str, value: Option<String>| {
            if value.is_some() {
                self.parts.insert((kind, name.to_string()), value);
            }
        };
        add(IdentityKind::Kernel, "release", Some(release));
        add(IdentityKind::Kernel, "version", Some(version));
        add(IdentityKind::Kernel, "build-id", build_id);
        // The random choices of a memory image are not part of the identity.
        let line = read("/proc/cmdline").map(|line| MemoryImage::without(&line));
        add(IdentityKind::CommandLine, "", line);
        add(IdentityKind::Machine, "cpus", Some(sys::cpus().to_string()));
        let memory = read("/proc/iomem").and_then(|map| memory_mib(&map));
        add(
            IdentityKind::Machine,
            "memory_mib",
            memory.map(|mib| mib.to_string()),
        );
    }

    fn take_modules(&mut self, modules: &RunModules) {
        for name in modules.names() {
            let id = loaded_build_id(name);
            self.parts
                .insert((IdentityKind::ModuleBuildId, name.into()), id);
            if let Some(file) = modules.file(name) {
                let digest = self.digests.digest(file).ok();
                self.parts
                    .insert((IdentityKind::Module, name.into()), digest);
            }
        }
    }

    /// Adds the programs and libraries that were mapped. Returns what could not
    /// be observed.
    fn take_mapped(&mut self) -> Vec<AgentMessage> {
        // The agent is always part of a run.
        let agent = if self.guest {
            "/init"
        } else {
            "/proc/self/exe"
        };
        let digest = self.digests.digest(agent).ok();
        let agent = (IdentityKind::Program, "assize-agent".to_string());
        self.parts.insert(agent, digest);
        let seen = match &self.watch {
            Ok(watch) => watch.seen(),
            Err(why) => {
                let why = format!("which libraries were mapped is not known: {why}");
                return vec![unavailable("identity", Some("libraries"), why)];
            }
        };
        for path in seen.paths {
            let kind = match path.rsplit('/').next().unwrap_or_default().contains(".so") {
                true => IdentityKind::Library,
                false => IdentityKind::Program,
            };
            self.take_file(kind, path);
        }
        if seen.lost == 0 {
            return Vec::new();
        }
        let what = format!(
            "{} mappings of programs and libraries were not noted",
            seen.lost
        );
        vec![doubt("identity-incomplete", what)]
    }
}

/// The current values of all settings that the set-up changes.
fn settings(job: &Job, modules: &RunModules) -> IdentityParts {
    let mut parts = IdentityParts::new();
    for path in power::settings(job) {
        let value = read(&path);
        parts.insert((IdentityKind::Setting, path), value);
    }
    for action in &job.setup {
        match action {
            Action::Sysctl { name, .. } => {
                let value = read(&sysctl_path(name));
                parts.insert((IdentityKind::Sysctl, name.clone()), value);
            }
            Action::Write { path, .. } => {
                parts.insert((IdentityKind::Setting, path.clone()), read(path));
            }
            Action::Module { .. } | Action::Command { .. } => {}
        }
    }
    for module in modules.names() {
        if !modules.is_step(module) {
            continue;
        }
        let directory = format!("/sys/module/{module}/parameters");
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let value = read(&format!("{directory}/{name}"));
            parts.insert((IdentityKind::Parameter, format!("{module}.{name}")), value);
        }
    }
    parts
}

/// The trimmed content of a regular file. Devices and pipes are not read: that could
/// consume data or block forever.
fn read(path: &str) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let mut bytes = Vec::new();
    // A character has four bytes at most.
    let most = SETTING_MAX as u64 * 4;
    file.take(most).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim().chars().take(SETTING_MAX).collect())
}

/// RAM listed in `/proc/iomem`, in MiB, rounded up to include what the firmware reserves
/// below the first MiB.
fn memory_mib(map: &str) -> Option<u64> {
    let mut bytes = 0;
    for line in map.lines().filter(|line| !line.starts_with(' ')) {
        let (range, what) = line.split_once(" : ")?;
        if what != "System RAM" {
            continue;
        }
        let (start, end) = range.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text.trim(), 16).ok();
        bytes += number(end)?.checked_sub(number(start)?)? + 1;
    }
    // Without privileges all addresses read as 0.
    (bytes >= 1 << 20).then(|| bytes.div_ceil(1 << 20))
}

/// The scheduling of a process's first thread.
fn scheduling(pid: i32) -> Vec<(&'static str, String)> {
    let stat = read(&format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in parentheses, may contain anything.
    let Some((_, rest)) = stat.rsplit_once(") ") else {
        return Vec::new();
    };
    let fields: Vec<&str> = rest.split(' ').collect();
    // proc(5) counts fields from 1; this list starts with the third.
    let field = |number: usize| fields.get(number - 3).map(ToString::to_string);
    let policy = field(41).map(|number| {
        match number.as_str() {
            "0" => "other",
            "1" => "fifo",
            "2" => "rr",
            "3" => "batch",
            "5" => "idle",
            "6" => "deadline",
            "7" => "ext",
            _ => "unknown",
        }
        .to_string()
    });
    let status = read(&format!("/proc/{pid}/status")).unwrap_or_default();
    let cpus = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .map(|list| list.trim().to_string());
    let all = [
        ("policy", policy),
        ("priority", field(40)),
        ("nice", field(19)),
        ("cpus", cpus),
    ];
    all.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_the_machine_was_given() {
        let map = "00000000-00000fff : Reserved\n00001000-0009fbff : System RAM\n\
                   000f0000-000fffff : System ROM\n00100000-0fffffff : System RAM\n  \
                   01000000-01ffffff : Kernel code\n";
        assert_eq!(memory_mib(map), Some(256));
        assert_eq!(memory_mib("00000000-00000000 : System RAM\n"), None);
        assert_eq!(memory_mib("nonsense"), None);
    }

    #[test]
    fn only_files_are_read_back() {
        assert_eq!(read("/dev/zero"), None, "it would never end");
        assert_eq!(
            read("/proc/self/comm").map(|name| name.is_empty()),
            Some(false)
        );
        let place = tempfile::tempdir().unwrap();
        let long = place.path().join("long");
        fs::write(&long, " x".repeat(SETTING_MAX)).unwrap();
        let kept = read(&long.to_string_lossy()).unwrap();
        assert_eq!(kept.chars().count(), SETTING_MAX);
    }

    #[test]
    fn this_process_is_scheduled_somehow() {
        let found = scheduling(i32::try_from(std::process::id()).unwrap());
        let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["policy", "priority", "nice", "cpus"]);
    }

    #[test]
    fn what_changes_after_the_set_up_is_doubted() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("setting").to_string_lossy().into_owned();
        fs::write(&path, "1\n").unwrap();
        let job = Job {
            setup: vec![Action::Write {
                path: path.clone(),
                value: "1".into(),
            }],
            ..Job::default()
        };
        let modules = RunModules::default();
        let mut evidence = IdentityCollector::open(false, Digests::default());
        evidence.take_settings(&job, &modules);
        assert!(evidence.changed(&settings(&job, &modules)).is_empty());
        fs::write(&path, "2").unwrap();
        let found = evidence.changed(&settings(&job, &modules));
        assert!(matches!(&found[..], [AgentMessage::Doubt { code, detail }]
            if code == "setting-changed" && detail.contains("'1' before")));
    }
}
