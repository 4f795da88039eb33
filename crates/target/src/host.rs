//! The host target: this machine.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assize_job::{Job, LinkedProgram, Order, RunIdentityPart};
use rustix::fs::{Access, access};

use crate::carried::CarriedFiles;
use crate::dpkg::Dpkg;
use crate::elf::ProgramHost as Place;
use crate::kernels::Kernels;
use crate::module_files::canonical;
use crate::needs::{self, MachineFacts};
use crate::policies::Policies;
use crate::talk::{ANSWER, ChildEnd, ChildLimits, ChildOutput, talk};
use crate::testbed::{BuiltModules, Testbed};
use crate::{
    Error, OrderResult, PreparationStep, ReportStep, RunFailure, Target, agent, frame_memory,
    packages, stream,
};

const NAME: &str = "host";
/// The directory in which a kernel with sched_ext reports the attached policy.
const SCHED_EXT: &str = "/sys/kernel/sched_ext";
/// How far an agent may exceed the limit that it enforces itself.
const GRACE: Duration = Duration::from_secs(10);

/// This machine: the agent is an ordinary process.
///
/// Kernel, command line, CPUs and memory are the machine's own. Orders that differ from each other
/// in these, or that add words to the command line, are refused. A kernel, CPUs and memory that all
/// orders share are ignored, and [`OrderResult::machine`] records this.
#[derive(Debug, Default)]
pub struct Host {
    agent: OnceLock<PathBuf>,
    /// The testbed's modules, built for this kernel.
    modules: OnceLock<BuiltModules>,
    grace: Option<Duration>,
}

impl Host {
    /// This machine, with the agent that [`agent::find`] finds.
    pub fn new() -> Host {
        Host::default()
    }

    /// This machine, with this agent.
    pub fn with_agent(agent: PathBuf) -> Host {
        Host {
            agent: agent.into(),
            ..Host::default()
        }
    }

    /// Sets how far the agent may exceed the limit that it enforces itself; 10 s by
    /// default.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Host {
        self.grace = Some(grace);
        self
    }

    fn agent(&self) -> Result<&Path, Error> {
        if let Some(agent) = self.agent.get() {
            return Ok(agent);
        }
        let found = agent::find_here()?;
        Ok(self.agent.get_or_init(|| found))
    }

    /// The orders, with the testbed's modules replaced by their files on this machine. The modules
    /// are built on first use.
    fn placed(&self, orders: &[Order]) -> Result<Vec<Order>, Error> {
        let testbed = Testbed::new(&Kernels::default_root().unwrap_or_default());
        let asked = testbed.named_modules(orders);
        let orders = with_policies(orders)?;
        if asked.is_empty() {
            return Ok(orders);
        }
        let files = match self.modules.get() {
            Some(files) => files,
            None => {
                // Fail before building if there is nowhere to store the result.
                Kernels::default_root()?;
                let files = BuiltModules::with_dependencies(
                    testbed
                        .build_here(asked.iter().any(|name| testbed.is_test(&canonical(name))))?,
                )?;
                self.modules.get_or_init(|| files)
            }
        };
        let placed = |order: &Order| Order {
            job: files.placed(&order.job),
            ..order.clone()
        };
        Ok(orders.iter().map(placed).collect())
    }
}

impl Target for Host {
    /// One, because runs on one machine affect each other.
    fn slots(&self) -> usize {
        1
    }

    fn prepare_telling(&self, orders: &[Order], tell: &ReportStep<'_>) -> Result<(), Error> {
        needs::same_machine(orders, NAME)?;
        check_policies(orders)?;
        let (facts, unwritable) = facts(&needs::kernel_files(orders));
        let as_root = "run as root: `sudo assize run …`";
        needs::check(orders, &facts, &unwritable, NAME, as_root)?;
        if self.modules.get().is_none()
            && !Testbed::new(&Kernels::default_root().unwrap_or_default())
                .named_modules(orders)
                .is_empty()
        {
            let kernel = "the kernel that runs here".into();
            tell(PreparationStep::Modules { kernel });
        }
        let orders = &self.placed(orders)?;
        check_programs(orders)?;
        check_packages(orders)?;
        check_files(orders)?;
        self.agent()?;
        Ok(())
    }

    fn lacking(&self, order: &Order) -> Vec<String> {
        frame_memory::DevicePaths::here().lacking(order)
    }

    fn expected(&self, order: &Order) -> Result<Vec<RunIdentityPart>, Error> {
        let placed = self.placed(std::slice::from_ref(order))?;
        let job = &placed.first().unwrap_or(order).job;
        Ok(CarriedFiles::here(job)?.expected(job, false))
    }

    fn run(&self, order: &Order, _slot: usize) -> Result<OrderResult, Error> {
        let started = Instant::now();
        let agent = self.agent()?;
        let mut command = Command::new(agent);
        command.arg("run");
        let limits = limits(&order.job, self.grace.unwrap_or(GRACE));
        let placed = self.placed(std::slice::from_ref(order))?;
        let job = encode(&placed.first().unwrap_or(order).job, NAME)?;
        let talk = talk(command, job, limits).map_err(|error| Error {
            what: "start the agent".into(),
            why: format!("{}: {error}", agent.display()),
            mend: None,
            wrong_use: false,
        })?;
        let ended = failure_of_exit(&talk, limits, "the agent");
        Ok(OrderResult {
            outcome: stream::outcome_of_process(&talk.stdout, &talk.stderr, ended),
            machine: needs::recorded(&order.machine, NAME),
            cached: false,
            elapsed: started.elapsed(),
        })
    }
}

/// The orders, with the commands that attach their placement policies here.
fn with_policies(orders: &[Order]) -> Result<Vec<Order>, Error> {
    let policies = Policies::new(&Kernels::default_root().unwrap_or_default());
    let mut orders = orders.to_vec();
    for order in &mut orders {
        if let Some(policy) = &mut order.job.policy {
            *policy = policies.here(policy)?;
        }
    }
    Ok(orders)
}

/// Fails unless this kernel supports the placement policies of the orders.
fn check_policies(orders: &[Order]) -> Result<(), Error> {
    let mut policies = orders.iter().filter_map(|order| order.job.policy.as_ref());
    match policies.next() {
        Some(policy) if !Path::new(SCHED_EXT).exists() => Err(Error {
            what: format!("use the placement policy {} on {NAME}", policy.name),
            why: format!("the kernel that runs here has no sched_ext: there is no {SCHED_EXT}"),
            mend: Some("use `--target exact`".into()),
            wrong_use: true,
        }),
        _ => Ok(()),
    }
}

/// The time and output limits of a run of this job.
pub(crate) fn limits(job: &Job, grace: Duration) -> ChildLimits {
    let time = Duration::from_millis(job.timeout_ms);
    ChildLimits {
        time: (!time.is_zero()).then(|| time.saturating_add(grace)),
        bytes: ANSWER,
    }
}

/// Serializes the job as JSON for the agent.
pub(crate) fn encode(job: &Job, target: &str) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(job).map_err(|error| Error {
        what: format!("run on {target}"),
        why: format!("the job cannot be written as JSON: {error}"),
        mend: None,
        wrong_use: false,
    })
}

/// The failure to report for the way a run's process ended, in case its answer is
/// incomplete.
pub(crate) fn failure_of_exit(
    talk: &ChildOutput,
    limits: ChildLimits,
    who: &str,
) -> Option<RunFailure> {
    Some(match talk.end {
        ChildEnd::Time => RunFailure::Timeout {
            after_s: limits.time.unwrap_or_default().as_secs(),
        },
        ChildEnd::Bytes => RunFailure::Ended {
            how: format!("{who} printed more than {} bytes", limits.bytes),
        },
        ChildEnd::Exit(status) => RunFailure::Ended {
            how: format!("{who} ended with {status}"),
        },
    })
}

/// Facts about this machine, and which of these files cannot be written.
fn facts(files: &BTreeSet<String>) -> (MachineFacts, BTreeSet<String>) {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut facts = MachineFacts::read(
        &read("/proc/self/status"),
        &read("/proc/self/limits"),
        &read("/proc/sys/kernel/perf_event_paranoid"),
    );
    facts.tracefs = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
        .iter()
        .any(|root| access(format!("{root}/current_tracer"), Access::WRITE_OK).is_ok());
    facts.energy = [
        "/sys/bus/event_source/devices/power",
        "/sys/class/powercap/intel-rapl",
    ]
    .iter()
    .any(|path| Path::new(path).exists());
    let unwritable = files
        .iter()
        // A file that does not exist may appear with a module.
        .filter(|file| Path::new(file).exists() && access(*file, Access::WRITE_OK).is_err())
        .cloned()
        .collect();
    (facts, unwritable)
}

fn check_programs(orders: &[Order]) -> Result<(), Error> {
    let needed = needs::programs(orders);
    let missing: Vec<&str> = needed
        .iter()
        .filter(|linked| !is_program(linked))
        .map(|linked| linked.program.as_str())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error {
        what: format!("run on {NAME}"),
        why: format!("not found in PATH: {}", missing.join(", ")),
        mend: packages::install(missing.iter().copied())
            .or_else(|| Some("install it, or give its path".into())),
        wrong_use: false,
    })
}

/// Fails unless the packages are installed here.
fn check_packages(orders: &[Order]) -> Result<(), Error> {
    let mut packages = orders.iter().flat_map(|order| &order.payload.packages);
    let Some(first) = packages.next() else {
        return Ok(());
    };
    let host = Place::this();
    let dpkg = Dpkg::read(&host)?;
    match std::iter::once(first)
        .chain(packages)
        .find(|package| dpkg.package(&package.name).is_none())
    {
        None => Ok(()),
        Some(package) => Err(Error {
            what: format!("run on {NAME}"),
            why: format!("the package {} is not installed here", package.name),
            mend: Some(format!("run `apt-get install {}`", package.name)),
            wrong_use: true,
        }),
    }
}

/// Whether the program can be executed here: by path, or through the PATH it is started
/// with, else ours.
#[must_use]
pub fn is_program(linked: &LinkedProgram) -> bool {
    let program = linked.program.as_str();
    let executable = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return executable(Path::new(program));
    }
    let own = linked.environment.iter().find(|(name, _)| name == "PATH");
    let path = own.map_or_else(
        || env::var_os("PATH").unwrap_or_default(),
        |(_, path)| path.into(),
    );
    env::split_paths(&path).any(|directory| executable(&directory.join(program)))
}

/// Fails unless the files of the payload exist at the paths where runs look for them, with
/// the same contents: nothing on this machine is overwritten.
fn check_files(orders: &[Order]) -> Result<(), Error> {
    for (here, there) in orders.iter().flat_map(|order| &order.payload.files) {
        let why = match (fs::canonicalize(here), fs::canonicalize(there)) {
            (Err(error), _) => format!("{}: {error}", here.display()),
            (Ok(from), Ok(to)) if from == to || same_bytes(&from, &to) => continue,
            (Ok(_), Ok(_)) => format!("{there} differs from {}", here.display()),
            (Ok(_), Err(error)) => format!("{there}: {error}"),
        };
        return Err(Error {
            what: format!("run on {NAME}"),
            why,
            mend: Some(format!("run `cp -rT {} {there}`", here.display())),
            wrong_use: true,
        });
    }
    let modules = |order: &Order| {
        let payload = order.payload.clone();
        payload.modules.into_iter().chain(payload.module_files)
    };
    for module in orders.iter().flat_map(modules) {
        if needs::is_file(&module) && !Path::new(&module).is_file() {
            return Err(Error {
                what: format!("run on {NAME}"),
                why: format!("there is no module file {module}"),
                mend: None,
                wrong_use: true,
            });
        }
    }
    Ok(())
}

/// Whether two files are equal, or two directories with all their contents.
fn same_bytes(one: &Path, other: &Path) -> bool {
    if one.is_dir() && other.is_dir() {
        return match (names(one), names(other)) {
            (Some(names), Some(others)) if names == others => names
                .iter()
                .all(|name| same_bytes(&one.join(name), &other.join(name))),
            _ => false,
        };
    }
    match (fs::read(one), fs::read(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn names(directory: &Path) -> Option<BTreeSet<std::ffi::OsString>> {
    fs::read_dir(directory)
        .ok()?
        .map(|entry| Some(entry.ok()?.file_name()))
        .collect()
}
