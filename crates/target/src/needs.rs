//! Requirements of orders on a real machine, which can be checked but not changed.

use std::collections::{BTreeMap, BTreeSet};

use assize_job::{Action, LinkedProgram, Machine, Order, Policy, PolicyForm, Scheduling, Workload};

use crate::Error;

const CAP_SYS_MODULE: u32 = 16;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_SYS_NICE: u32 = 23;
const CAP_PERFMON: u32 = 38;

/// Properties of a machine and the rights that a run has on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MachineFacts {
    /// Whether runs are executed by root.
    pub(crate) root: bool,
    /// Effective capabilities as a bit mask.
    pub(crate) capabilities: u64,
    /// Highest real-time priority allowed without a capability.
    pub(crate) priority: u64,
    /// Lowest nice value allowed without a capability.
    pub(crate) nice: i64,
    /// `kernel.perf_event_paranoid`, if it exists.
    pub(crate) paranoid: Option<i64>,
    /// Whether this user can use tracefs.
    pub(crate) tracefs: bool,
    /// Whether the CPU has energy counters.
    pub(crate) energy: bool,
}

impl MachineFacts {
    /// Parses `/proc/self/status`, `/proc/self/limits` and
    /// `/proc/sys/kernel/perf_event_paranoid`.
    pub(crate) fn read(status: &str, limits: &str, paranoid: &str) -> MachineFacts {
        let field = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        };
        // Real, effective, saved and file system user.
        let user = field("Uid").and_then(|ids| ids.split_whitespace().nth(1));
        let capabilities = field("CapEff").and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
        let limit = |name: &str| {
            let rest = limits.lines().find_map(|line| line.strip_prefix(name))?;
            match rest.split_whitespace().next()? {
                "unlimited" => Some(u64::MAX),
                number => number.parse().ok(),
            }
        };
        // The limit on the nice value is expressed as 20 minus that value.
        let nice = limit("Max nice priority").unwrap_or(0).min(40);
        MachineFacts {
            root: user == Some("0"),
            capabilities: capabilities.unwrap_or(0),
            priority: limit("Max realtime priority").unwrap_or(0),
            nice: 20_i64.saturating_sub_unsigned(nice).min(0),
            paranoid: paranoid.trim().parse().ok(),
            tracefs: false,
            energy: false,
        }
    }

    fn can(&self, capability: u32) -> bool {
        self.capabilities & (1 << capability) != 0
    }
}

type Aspect = fn(&Machine) -> String;

/// Fails unless all orders want the same machine and no command-line words, which `target`
/// cannot change.
pub(crate) fn same_machine(orders: &[Order], target: &str) -> Result<(), Error> {
    let fixed = |thing: &str, why: String| Error {
        what: format!("run on {target}"),
        why: format!("this target cannot change {thing}: {why}"),
        mend: Some("use `--target exact`".into()),
        wrong_use: true,
    };
    let words: BTreeSet<&str> = orders
        .iter()
        .flat_map(|order| order.machine.command_line.iter().map(String::as_str))
        .collect();
    if !words.is_empty() {
        let words = Vec::from_iter(words).join(" ");
        return Err(fixed(
            "the kernel's command line",
            format!("the experiment adds `{words}`"),
        ));
    }
    let aspects: [(&str, Aspect); 3] = [
        ("the kernel", |machine| machine.kernel.clone()),
        ("the number of CPUs", |machine| machine.cpus.to_string()),
        ("the memory", |machine| {
            format!("{} MiB", machine.memory_mib)
        }),
    ];
    for (thing, aspect) in aspects {
        let wanted: BTreeSet<String> = orders.iter().map(|order| aspect(&order.machine)).collect();
        if wanted.len() > 1 {
            let wanted = Vec::from_iter(wanted).join(" and ");
            return Err(fixed(thing, format!("the experiment has {wanted}")));
        }
    }
    Ok(())
}

/// Facts for the record: the target, and the requested properties of the machine that it
/// ignored.
pub(crate) fn recorded(machine: &Machine, target: &str) -> BTreeMap<String, String> {
    let kernel = match machine.kernel.as_str() {
        "running" => String::new(),
        kernel => format!("kernel {kernel}, "),
    };
    let ignored = format!(
        "{kernel}cpus {}, memory_mib {}",
        machine.cpus, machine.memory_mib
    );
    BTreeMap::from([
        ("target".to_string(), target.to_string()),
        ("machine_ignored".to_string(), ignored),
    ])
}

/// The programs that runs start, with the variables that decide where they are found.
pub(crate) fn programs(orders: &[Order]) -> BTreeSet<LinkedProgram> {
    let mut programs = BTreeSet::new();
    let plainly = |program: &str| LinkedProgram::new(program, &[]);
    for order in orders {
        programs.extend(order.payload.programs.iter().map(|name| plainly(name)));
        programs.extend(workloads(order).filter_map(|workload| {
            let kind = &workload.kind;
            Some(LinkedProgram::new(kind.program()?, kind.environment()))
        }));
        if let Some(policy) = &order.job.policy
            && policy.form == PolicyForm::Program
        {
            programs.extend(policy.argv.first().map(|name| plainly(name)));
        }
        for action in actions(order) {
            match action {
                Action::Command { argv } => {
                    programs.extend(argv.first().map(|name| plainly(name)));
                }
                Action::Module { module, .. } if is_file(module) => {
                    programs.insert(plainly("insmod"));
                }
                Action::Module { .. } => {
                    programs.insert(plainly("modprobe"));
                }
                Action::Sysctl { .. } | Action::Write { .. } => {}
            }
        }
    }
    programs
}

/// Whether a module is given by the path of its file.
pub(crate) fn is_file(module: &str) -> bool {
    module.contains('/') || module.contains(".ko")
}

fn workloads(order: &Order) -> impl Iterator<Item = &Workload> {
    std::iter::once(&order.job.workload).chain(&order.job.background)
}

fn actions(order: &Order) -> impl Iterator<Item = &Action> {
    order.job.setup.iter().chain(&order.job.teardown)
}

/// The kernel's files that set-up and tear-down write.
pub(crate) fn kernel_files(orders: &[Order]) -> BTreeSet<String> {
    orders
        .iter()
        .flat_map(actions)
        .filter_map(|action| match action {
            Action::Sysctl { name, .. } => Some(format!("/proc/sys/{}", name.replace('.', "/"))),
            Action::Write { path, .. } => ["/proc/", "/sys/"]
                .iter()
                .any(|root| path.starts_with(root))
                .then(|| path.clone()),
            Action::Module { .. } | Action::Command { .. } => None,
        })
        .collect()
}

/// Fails unless runs have the rights they need; the error names each missing right and what needs
/// it. `unwritable` lists the files from [`kernel_files`] that cannot be written; `as_root` is the
/// command that runs with root's rights.
pub(crate) fn check(
    orders: &[Order],
    facts: &MachineFacts,
    unwritable: &BTreeSet<String>,
    target: &str,
    as_root: &str,
) -> Result<(), Error> {
    let mut lacking: BTreeSet<String> = unwritable
        .iter()
        .map(|path| format!("writing {path}"))
        .collect();
    let modules = orders
        .iter()
        .flat_map(actions)
        .any(|action| matches!(action, Action::Module { .. }));
    if modules && !facts.can(CAP_SYS_MODULE) {
        lacking.insert("loading kernel modules".into());
    }
    let policies = orders.iter().any(|order| order.job.policy.is_some());
    if policies && !(facts.can(CAP_SYS_ADMIN) && facts.can(CAP_SYS_NICE)) {
        lacking.insert("attaching a placement policy".into());
    }
    if !facts.can(CAP_SYS_NICE) {
        let workloads = orders.iter().flat_map(workloads);
        lacking.extend(
            workloads
                .flat_map(|workload| workload.kind.schedulings())
                .filter_map(|(_, scheduling)| {
                    let what = privilege(scheduling, facts)?;
                    Some(format!("scheduling with {what}"))
                }),
        );
    }
    let counters = counting(orders, facts);
    let only_counters = lacking.is_empty();
    lacking.extend(
        counters
            .perf
            .union(&counters.other)
            .map(|name| format!("the instrument {name}")),
    );
    if lacking.is_empty() {
        return Ok(());
    }
    let lacking = Vec::from_iter(lacking).join(", ");
    let mend = match (facts.root, only_counters && counters.other.is_empty()) {
        (true, _) => "root lacks permissions here, as in a container: run it outside".into(),
        (false, true) => {
            format!("run `sudo sysctl kernel.perf_event_paranoid=0`, or {as_root}")
        }
        (false, false) => as_root.to_string(),
    };
    Err(Error {
        what: format!("run on {target}"),
        why: format!("no permission for {lacking}"),
        mend: Some(mend),
        wrong_use: true,
    })
}

/// The requested policy or nice value that this user may not set, if any.
fn privilege(scheduling: &Scheduling, facts: &MachineFacts) -> Option<String> {
    let real_time = |name: &str| {
        let allowed = u64::from(scheduling.priority) <= facts.priority;
        (!allowed).then(|| format!("policy {name}"))
    };
    match scheduling.policy {
        Policy::Fifo => real_time("fifo"),
        Policy::Rr => real_time("rr"),
        Policy::Other | Policy::Batch | Policy::Idle => {
            let allowed = i64::from(scheduling.nice) >= facts.nice;
            (!allowed).then(|| format!("nice {}", scheduling.nice))
        }
    }
}

#[derive(Default)]
struct Counters<'a> {
    /// Instruments that a lower `perf_event_paranoid` would allow.
    perf: BTreeSet<&'a str>,
    /// Instruments that only root may read.
    other: BTreeSet<&'a str>,
}

/// The instruments that root could read and this user cannot. Instruments that nobody can
/// read here are reported by the agent.
fn counting<'a>(orders: &'a [Order], facts: &MachineFacts) -> Counters<'a> {
    let mut counters = Counters::default();
    if facts.root {
        return counters;
    }
    let perf = facts.paranoid.is_none_or(|paranoid| paranoid <= 0)
        || facts.can(CAP_PERFMON)
        || facts.can(CAP_SYS_ADMIN);
    for name in orders.iter().flat_map(|order| &order.job.instruments) {
        match name.as_str() {
            "perf-hardware" | "perf-software" | "perf-workload" if !perf => {
                counters.perf.insert(name)
            }
            "energy" if facts.energy && !perf => counters.perf.insert(name),
            "cpu-idle" | "wakeup" if !facts.tracefs => counters.other.insert(name),
            _ => false,
        };
    }
    counters
}

#[cfg(test)]
mod tests;
