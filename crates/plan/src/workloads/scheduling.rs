//! The scheduling of a workload's threads.

use assize_job::{Policy, Scheduling};

use crate::values::document::{TomlDocument, join};
use crate::values::error::Error;
use crate::values::keys::{KeySection, List, SectionKey, Table, Text, Whole, Word, key};

/// The key of a workload that sets its scheduling.
pub(crate) const SCHEDULING: SectionKey = key(
    "scheduling",
    Table(&KEYS).optional(),
    "How the threads are scheduled.",
);

/// The scheduling policies.
pub(crate) const POLICIES: &[&str] = &["other", "batch", "idle", "fifo", "rr"];

/// The key for the priority, whose meaning depends on the policy.
pub(crate) const PRIORITY: SectionKey = key(
    "priority",
    Whole(0, 99).or("0"),
    "1 to 99 for fifo and rr, else 0.",
);

/// The keys of the scheduling table.
pub(crate) static KEYS: KeySection = KeySection {
    name: "scheduling",
    keys: &[
        key("policy", Word(POLICIES).or("other"), "Scheduling policy."),
        PRIORITY,
        key(
            "nice",
            Whole(-20, 19).or("0"),
            "Nice value, for the policies other and batch.",
        ),
        key(
            "cpus",
            List(&Whole(0, 4095)).or("[]"),
            "CPUs the threads may run on; empty for all.",
        ),
        key(
            "group",
            Text.optional(),
            "Control group of the whole workload, shared with other workloads that name it; on each CPU the group has the weight of one thread at nice 0.",
        ),
    ],
};

/// Checks the scheduling of threads on a machine with this many CPUs.
pub(crate) fn check(
    document: &TomlDocument,
    path: &str,
    scheduling: &Scheduling,
    cpus: u32,
) -> Result<(), Error> {
    let real_time = matches!(scheduling.policy, Policy::Fifo | Policy::Rr);
    let Scheduling { priority, nice, .. } = scheduling;
    if real_time && *priority == 0 {
        let why = "fifo and rr need a priority of 1 to 99";
        return Err(document.error(&join(path, "priority"), why));
    }
    if !real_time && *priority != 0 {
        let why = format!("priority {priority} is for the policies fifo and rr");
        let error = document.error(&join(path, "priority"), why);
        return Err(error.mend("set policy = \"fifo\" or priority = 0"));
    }
    if real_time && *nice != 0 {
        let why = format!("nice {nice} has no effect with fifo and rr");
        return Err(document.error(&join(path, "nice"), why).mend("remove it"));
    }
    if let Some(cpu) = scheduling.cpus.iter().find(|cpu| **cpu >= cpus) {
        let why = format!(
            "there is no CPU {cpu}: the last one is {}",
            cpus.saturating_sub(1)
        );
        let error = document.error(&join(path, "cpus"), why);
        return Err(error.mend(format!("set cpus = {} at the top", cpu.saturating_add(1))));
    }
    Ok(())
}

/// Checks a scheduling group. `whole`: these settings apply to every thread of
/// the workload.
pub(crate) fn check_group(
    document: &TomlDocument,
    path: &str,
    scheduling: &Scheduling,
    whole: bool,
) -> Result<(), Error> {
    let Some(group) = &scheduling.group else {
        return Ok(());
    };
    let error = |why| document.error(&join(path, "group"), why);
    if !whole {
        let why = "a control group is for all threads of a workload, not for some";
        return Err(error(why.to_string()).mend("remove it"));
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if group.is_empty() || group.len() > 32 || !group.bytes().all(fits) {
        let why = format!("'{group}' is not a name for a group");
        return Err(error(why).mend("use 1 to 32 letters, digits and '-'"));
    }
    Ok(())
}
