//! The files that a virtual machine carries, and the identity that a run with them must
//! report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assize_job::{
    Action, CarriedPackage, Frequency, IdentityKind, Idle, Job, LinkedProgram, PlacementPolicy,
    Policy, RunIdentityPart, SETTING_MAX, Workload, WorkloadKind, below_experiment,
};

use crate::Error;
use crate::elf::{self, ProgramHost};
use crate::fault::read;
use crate::module_files::{canonical, plain, stem};
use crate::needs::is_file;
use crate::policies::is_object;

/// The guest directory for files that have no absolute path there.
pub(crate) const EXPERIMENT: &str = "/experiment";

/// Kind and name to value.
type PartValues = BTreeMap<(IdentityKind, String), String>;

/// The files in a guest and their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CarriedFiles {
    /// BLAKE3 digest of every file, by path.
    pub(crate) files: BTreeMap<String, String>,
    /// The programs of the payload.
    pub(crate) programs: Vec<CarriedProgram>,
    /// The packages of the payload, and the packages these depend on.
    pub(crate) packages: Vec<CarriedPackage>,
    /// The kernel modules.
    pub(crate) modules: Vec<CarriedModule>,
    /// The placement policies that are BPF objects.
    pub(crate) policies: Vec<CarriedPolicy>,
}

/// A placement policy in a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CarriedPolicy {
    /// The policy as requested.
    pub(crate) asked: PlacementPolicy,
    /// The program that attaches it in the guest, with its arguments.
    pub(crate) argv: Vec<String>,
    /// BLAKE3 digest of its object.
    pub(crate) digest: String,
}

/// A program in a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CarriedProgram {
    /// The program and environment as requested.
    pub(crate) linked: LinkedProgram,
    /// Its path with links followed.
    pub(crate) path: String,
    /// The libraries that the loader maps at start.
    pub(crate) libraries: BTreeSet<String>,
}

/// A kernel module in a guest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CarriedModule {
    /// Its name in the kernel.
    pub(crate) name: String,
    /// The path by which steps name the module file, if any do.
    pub(crate) source: Option<String>,
    /// Its absolute path in the guest.
    pub(crate) path: String,
    /// BLAKE3 digest of its bytes.
    pub(crate) digest: String,
    /// The build id that the kernel will report.
    pub(crate) build_id: Option<String>,
    /// Names of the modules that it depends on.
    pub(crate) needs: Vec<String>,
}

impl CarriedModule {
    /// A module of these bytes at this path.
    pub(crate) fn from_bytes(name: &str, path: &str, bytes: &[u8]) -> Self {
        CarriedModule {
            name: name.into(),
            path: format!("/{}", path.trim_start_matches('/')),
            digest: blake3::hash(bytes).to_hex().to_string(),
            build_id: elf::build_id(bytes),
            ..CarriedModule::default()
        }
    }
}

impl CarriedFiles {
    /// The files that a run of this job uses on this machine: modules that steps name by
    /// path, policy objects, programs and input files. Libraries are left out: only the
    /// loader knows which ones it maps.
    pub(crate) fn here(job: &Job) -> Result<Self, Error> {
        let host = ProgramHost::this();
        let mut carried = CarriedFiles::default();
        for action in &job.setup {
            if let Action::Module { module, .. } = action
                && is_file(module)
            {
                carried.modules.push(module_here(module)?);
            }
        }
        if let Some(policy) = &job.policy
            && let ([_, object, ..], true) = (&policy.argv[..], is_object(policy))
        {
            carried.policies.push(CarriedPolicy {
                asked: policy.clone(),
                argv: policy.argv.clone(),
                digest: blake3::hash(&read(Path::new(object))?).to_hex().to_string(),
            });
        }
        for workload in std::iter::once(&job.workload).chain(&job.background) {
            for file in workload.kind.reads() {
                carried.digest_here(file, file)?;
            }
            let environment = workload.kind.environment();
            let Some(name) = workload.kind.program() else {
                continue;
            };
            let linked = LinkedProgram::new(name, environment);
            let Some(path) = host.program_in(name, linked.directories("PATH")) else {
                continue;
            };
            let path = host.real(&path).to_string_lossy().into_owned();
            carried.digest_here(&path, &path)?;
            carried.programs.push(CarriedProgram {
                linked,
                path,
                libraries: BTreeSet::new(),
            });
        }
        Ok(carried)
    }

    /// Records the digest of the file at `here` under the path `there`.
    pub(crate) fn digest_here(&mut self, here: &str, there: &str) -> Result<(), Error> {
        let digest = blake3::hash(&read(Path::new(here))?).to_hex().to_string();
        self.files.insert(there.into(), digest);
        Ok(())
    }

    /// The job, with the paths of modules, policies and programs replaced by those in the guest.
    pub(crate) fn placed(&self, job: &Job) -> Job {
        let mut job = job.clone();
        for action in job.setup.iter_mut().chain(&mut job.teardown) {
            match action {
                Action::Module { module, .. } => {
                    if let Some(found) = self.named_by_path(module) {
                        module.clone_from(&found.path);
                    }
                }
                Action::Command { argv } => self.place_program(argv, &[]),
                Action::Sysctl { .. } | Action::Write { .. } => {}
            }
        }
        if let Some(policy) = &mut job.policy {
            match self.policy(policy) {
                Some(found) => policy.argv.clone_from(&found.argv),
                None => self.place_program(&mut policy.argv, &[]),
            }
        }
        for workload in std::iter::once(&mut job.workload).chain(&mut job.background) {
            if let WorkloadKind::Command(command) = &mut workload.kind {
                self.place_program(&mut command.argv, &command.environment);
                command.environment.iter_mut().for_each(place_directories);
            }
        }
        job
    }

    /// The carried files of a policy.
    fn policy(&self, policy: &PlacementPolicy) -> Option<&CarriedPolicy> {
        self.policies.iter().find(|one| one.asked == *policy)
    }

    /// The module file that a step names by path.
    fn named_by_path(&self, module: &str) -> Option<&CarriedModule> {
        let mut modules = self.modules.iter();
        modules.find(|one| one.source.as_deref() == Some(module))
    }

    /// Replaces a relative program path with the program's path in the guest.
    fn place_program(&self, argv: &mut [String], environment: &[(String, String)]) {
        let Some(name) = argv.first_mut() else { return };
        if name.starts_with('/') || !name.contains('/') {
            return;
        }
        if let Some(program) = self.program(name, environment) {
            name.clone_from(&program.path);
        }
    }

    /// The program of the payload that is started by this name with this environment.
    fn program(&self, name: &str, environment: &[(String, String)]) -> Option<&CarriedProgram> {
        let linked = LinkedProgram::new(name, environment);
        self.programs
            .iter()
            .find(|program| program.linked == linked)
    }

    /// The identity that a run of this job must report: carried files and settings of the
    /// job. `guest`: whether it runs in a virtual machine of assize.
    pub(crate) fn expected(&self, job: &Job, guest: bool) -> Vec<RunIdentityPart> {
        let mut parts = PartValues::new();
        for package in &self.packages {
            let listed = package.digest_list(|path| self.files.get(path).cloned());
            let part = package.identity(&blake3::hash(listed.as_bytes()).to_hex());
            parts.insert((part.kind, part.name), part.value.unwrap_or_default());
        }
        self.modules_of(job, &mut parts);
        self.settings_of(job, &mut parts);
        if let Some(policy) = &job.policy {
            self.policy_of(policy, &mut parts);
        }
        for workload in std::iter::once(&job.workload).chain(&job.background) {
            self.files_of(workload, &mut parts);
            environment_of(workload, guest, &mut parts);
            scheduling_of(workload, &mut parts);
        }
        let parts = parts.into_iter();
        parts
            .map(|((kind, name), value)| RunIdentityPart::new(kind, name, value))
            .collect()
    }

    /// Adds the values that the set-up sets (the last one if it sets one twice), and the
    /// settings that choose idle states and frequencies.
    fn settings_of(&self, job: &Job, parts: &mut PartValues) {
        let idle = job.idle.iter().flat_map(Idle::settings);
        let frequency = job.frequency.iter().flat_map(Frequency::settings);
        for (path, value) in idle.chain(frequency) {
            parts.insert((IdentityKind::Setting, path), value);
        }
        for action in &job.setup {
            match action {
                Action::Sysctl { name, value } => {
                    parts.insert((IdentityKind::Sysctl, name.clone()), value.clone());
                }
                Action::Write { path, value } => {
                    let value = value.trim().chars().take(SETTING_MAX).collect();
                    parts.insert((IdentityKind::Setting, path.clone()), value);
                }
                Action::Module { module, parameters } => {
                    let name = self.named_by_path(module).map(|found| found.name.clone());
                    let name = name.unwrap_or_else(|| stem(module));
                    for (parameter, value) in parameters {
                        let name = format!("{name}.{parameter}");
                        parts.insert((IdentityKind::Parameter, name), value.clone());
                    }
                }
                Action::Command { .. } => {}
            }
        }
    }

    fn policy_of(&self, policy: &PlacementPolicy, parts: &mut PartValues) {
        let mut add = |name: &str, value: String| {
            parts.insert((IdentityKind::Policy, name.into()), value);
        };
        if let Some(ops) = policy.ops() {
            add("ops", ops);
        }
        if let Some(found) = self.policy(policy) {
            add("object", found.digest.clone());
        }
        for (name, value) in &policy.tunables {
            add(name, value.to_string());
        }
    }

    fn modules_of(&self, job: &Job, parts: &mut PartValues) {
        let steps: Vec<&str> = job
            .setup
            .iter()
            .filter_map(|action| match action {
                Action::Module { module, .. } => Some(module.as_str()),
                _ => None,
            })
            .collect();
        let mut open: Vec<&CarriedModule> = steps
            .iter()
            .filter_map(|step| match is_file(step) {
                true => self.named_by_path(step),
                false => self.module(&canonical(step), &steps),
            })
            .collect();
        let mut seen = BTreeSet::new();
        while let Some(module) = open.pop() {
            if !seen.insert(&module.name) {
                continue;
            }
            let mut add =
                |kind, value: &str| parts.insert((kind, module.name.clone()), value.into());
            add(IdentityKind::Module, &module.digest);
            if let Some(id) = &module.build_id {
                add(IdentityKind::ModuleBuildId, id);
            }
            let needs = module.needs.iter();
            open.extend(needs.filter_map(|need| self.module(need, &steps)));
        }
    }

    /// The module that a name means in a run with these steps: a file that a step names by
    /// path, else the module carried under that name.
    fn module(&self, name: &str, steps: &[&str]) -> Option<&CarriedModule> {
        let mut files = steps.iter().filter_map(|step| self.named_by_path(step));
        let mut named = self.modules.iter().filter(|one| one.source.is_none());
        files
            .find(|module| module.name == name)
            .or_else(|| named.find(|module| module.name == name))
    }

    fn files_of(&self, workload: &Workload, parts: &mut PartValues) {
        let mut add = |kind, path: &str| {
            if let Some(digest) = self.files.get(path) {
                parts.insert((kind, path.into()), digest.clone());
            }
        };
        for file in workload.kind.reads() {
            add(IdentityKind::File, file);
        }
        let environment = workload.kind.environment();
        let name = workload.kind.program();
        let Some(program) = name.and_then(|name| self.program(name, environment)) else {
            return;
        };
        add(IdentityKind::Program, &program.path);
        for library in &program.libraries {
            add(IdentityKind::Library, library);
        }
    }
}

/// Describes a module file of this machine, under the name stored in the module.
pub(crate) fn module_here(source: &str) -> Result<CarriedModule, Error> {
    let path = Path::new(source);
    let packed = read(path)?;
    let bytes = plain(path, packed.clone())?;
    let facts = elf::modinfo(path, &bytes)?;
    let fact = |key: &str| {
        let mut of_key = facts.iter().filter(|(name, _)| name == key);
        of_key.next().map(|(_, value)| value.as_str())
    };
    let needs = fact("depends").unwrap_or_default().split(',');
    Ok(CarriedModule {
        name: fact("name").map_or_else(|| stem(source), canonical),
        source: Some(source.into()),
        path: source.into(),
        digest: blake3::hash(&packed).to_hex().to_string(),
        build_id: elf::build_id(&bytes),
        needs: needs
            .filter(|name| !name.is_empty())
            .map(canonical)
            .collect(),
    })
}

fn environment_of(workload: &Workload, guest: bool, parts: &mut PartValues) {
    for (name, value) in workload.kind.environment() {
        let mut pair = (name.clone(), value.clone());
        if guest {
            place_directories(&mut pair);
        }
        let name = format!("{} {name}", workload.name);
        parts.insert((IdentityKind::Environment, name), pair.1);
    }
}

/// Adds the scheduling parameters that are not the default.
fn scheduling_of(workload: &Workload, parts: &mut PartValues) {
    let Some(scheduling) = workload.kind.process_scheduling() else {
        return;
    };
    let mut add = |what: &str, value: String| {
        let name = format!("{} {what}", workload.name);
        parts.insert((IdentityKind::Scheduling, name), value);
    };
    let policy = match scheduling.policy {
        Policy::Other => None,
        Policy::Batch => Some("batch"),
        Policy::Idle => Some("idle"),
        Policy::Fifo => Some("fifo"),
        Policy::Rr => Some("rr"),
    };
    if let Some(policy) = policy {
        add("policy", policy.into());
        add("priority", scheduling.priority.to_string());
    }
    if scheduling.nice != 0 {
        add("nice", scheduling.nice.to_string());
    }
    if !scheduling.cpus.is_empty() {
        add("cpus", list_of(&scheduling.cpus));
    }
}

/// Formats CPUs as the kernel lists them: `0-2,5`.
fn list_of(cpus: &[u32]) -> String {
    let cpus: BTreeSet<u32> = cpus.iter().copied().collect();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let said = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    said.collect::<Vec<_>>().join(",")
}

/// Replaces relative directories and libraries in a loader variable by their paths in the
/// guest.
fn place_directories((name, value): &mut (String, String)) {
    if !LinkedProgram::VARIABLES.contains(&name.as_str()) {
        return;
    }
    let is_path = |path: &str| name != "LD_PRELOAD" || path.contains('/');
    let placed = |path: &str| match path {
        "" => String::new(),
        path if path.starts_with('/') || !is_path(path) => path.into(),
        path => below_experiment(path),
    };
    let paths: Vec<String> = value.split(':').map(placed).collect();
    *value = paths.join(":");
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_job::CommandWorkload;

    fn module(name: &str, source: Option<&str>, needs: &[&str]) -> CarriedModule {
        let bytes = format!("{name} of {source:?}");
        let place = source.map_or(format!("lib/{name}.ko"), |source| {
            format!("beside/{source}")
        });
        CarriedModule {
            source: source.map(String::from),
            needs: needs.iter().map(ToString::to_string).collect(),
            ..CarriedModule::from_bytes(name, &place, bytes.as_bytes())
        }
    }

    fn step(module: &str) -> Action {
        Action::Module {
            module: module.into(),
            parameters: BTreeMap::new(),
        }
    }

    fn job_with(steps: &[&str]) -> Job {
        Job {
            setup: steps.iter().map(|module| step(module)).collect(),
            ..Job::default()
        }
    }

    /// A scheduler loaded by name, and two other builds of it loaded from files.
    fn carried() -> CarriedFiles {
        CarriedFiles {
            modules: vec![
                module("gpu_sched", None, &[]),
                module("simgpu", None, &["gpu_sched"]),
                module("gpu_sched", Some("a/x.ko"), &[]),
                module("gpu_sched", Some("b/x.ko"), &[]),
            ],
            ..CarriedFiles::default()
        }
    }

    fn modules_of(job: &Job) -> Vec<(String, String)> {
        let parts = carried().expected(job, true).into_iter();
        let modules = parts.filter(|part| part.kind == IdentityKind::Module);
        modules
            .map(|part| (part.name, part.value.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn each_level_expects_its_own_module_whoever_needs_it() {
        let digest = |source: Option<&str>| module("gpu_sched", source, &[]).digest;
        for (steps, want) in [
            (&["simgpu"][..], None),
            (&["simgpu", "a/x.ko"], Some("a/x.ko")),
            (&["b/x.ko", "simgpu"], Some("b/x.ko")),
        ] {
            let found = modules_of(&job_with(steps));
            assert_eq!(found.len(), 2, "{steps:?}");
            assert_eq!(found[0], ("gpu_sched".into(), digest(want)), "{steps:?}");
        }
        assert!(modules_of(&job_with(&[])).is_empty(), "nothing is loaded");
    }

    #[test]
    fn cpus_are_listed_as_the_kernel_does() {
        assert_eq!(list_of(&[5, 1, 0, 2, 1]), "0-2,5");
        assert_eq!(list_of(&[3]), "3");
    }

    #[test]
    fn files_of_steps_get_their_own_place() {
        let placed = carried().placed(&job_with(&["simgpu", "b/x.ko"]));
        assert_eq!(placed.setup, [step("simgpu"), step("/beside/b/x.ko")]);
    }

    #[test]
    fn relative_programs_and_libraries_lie_below_the_experiment() {
        let environment = [("LD_LIBRARY_PATH".to_string(), "./new:/opt".to_string())];
        let command = CommandWorkload {
            argv: vec!["./bench".into(), "./data".into()],
            environment: environment.to_vec(),
            ..CommandWorkload::default()
        };
        let carried = CarriedFiles {
            programs: vec![CarriedProgram {
                linked: LinkedProgram::new("./bench", &environment),
                path: "/experiment/bench".into(),
                libraries: BTreeSet::new(),
            }],
            ..CarriedFiles::default()
        };
        let mut job = Job::default();
        job.workload.kind = WorkloadKind::Command(command);
        let WorkloadKind::Command(placed) = carried.placed(&job).workload.kind else {
            unreachable!("it stays a command")
        };
        assert_eq!(placed.argv, ["/experiment/bench", "./data"]);
        assert_eq!(placed.environment[0].1, "/experiment/new:/opt");
    }
}
