//! Placement policies: on which CPU a task runs when it wakes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A `sched_ext` scheduler that decides on which CPUs tasks run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacementPolicy {
    /// Its name in the experiment: one of [`POLICIES`], the path of an object, or a
    /// program.
    pub name: String,
    /// The form of the policy: one of [`POLICIES`], an object, a program, or none.
    pub form: PolicyForm,
    /// Values to set before it is loaded, by name: all tunables for one of [`POLICIES`],
    /// else the given ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tunables: BTreeMap<String, u64>,
    /// The program that attaches it, with arguments. For an object or one of [`POLICIES`],
    /// it is filled in when the object is copied to the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
}

/// The form of a placement policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyForm {
    /// No policy: the kernel's own scheduler decides.
    Kernel,
    /// One of [`POLICIES`].
    Ours,
    /// A compiled BPF object.
    Object,
    /// A program that attaches the policy, and may take part in its decisions.
    Program,
}

impl PlacementPolicy {
    /// The name for the kernel's own scheduler.
    pub const NONE: &str = "none";

    /// Its name in the kernel once it is attached, if known.
    #[must_use]
    pub fn ops(&self) -> Option<String> {
        (self.form == PolicyForm::Ours).then(|| self.name.replace('-', "_"))
    }

    /// The arguments that set its tunables, for the program that attaches it.
    #[must_use]
    pub fn settings(&self) -> Vec<String> {
        let all = self.tunables.iter();
        all.map(|(name, value)| format!("{name}={value}")).collect()
    }
}

/// A policy that comes with assize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyEntry {
    /// Its name, also the name of its folder.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Its tunables.
    pub tunables: &'static [Tunable],
    /// Whether it exists to fail in tests.
    pub is_test: bool,
}

/// A tunable value of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tunable {
    /// Its name, in experiments and in the source.
    pub name: &'static str,
    /// The unit in which it is written.
    pub unit: TunableUnit,
    /// The default, in units of the source.
    pub default: u64,
    /// A description in one line.
    pub about: &'static str,
}

/// How a tunable is written, and its unit in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TunableUnit {
    /// A percentage up to 100 %; in the source, parts of 1024.
    Share,
    /// A duration; in the source, nanoseconds.
    Duration,
    /// A whole number from 1.
    Count,
}

impl TunableUnit {
    /// The value of 100 % in the source.
    pub const WHOLE: u64 = 1024;
}

const SLICE: Tunable = Tunable {
    name: "slice",
    unit: TunableUnit::Duration,
    default: 4_000_000,
    about: "How long a task runs while others wait.",
};
const FILL: Tunable = Tunable {
    name: "fill",
    unit: TunableUnit::Share,
    default: 819,
    about: "A CPU has room for a task if it has run less than this lately, including the task.",
};
const BURST: Tunable = Tunable {
    name: "burst",
    unit: TunableUnit::Duration,
    default: 1_000_000,
    about: "A run, from wake-up to sleep, of this length or more is long.",
};
const AFTER: Tunable = Tunable {
    name: "after",
    unit: TunableUnit::Duration,
    default: 20_000_000,
    about: "How long after its first decision the policy goes wrong.",
};

/// Every policy that comes with assize.
pub const POLICIES: &[PolicyEntry] = &[
    PolicyEntry {
        name: "spread",
        about: "A task that wakes gets the idle CPU that has run least lately.",
        tunables: &[SLICE],
        is_test: false,
    },
    PolicyEntry {
        name: "rlb",
        about: "A task stays on its CPU unless that is busy or has run more than another.",
        tunables: &[
            Tunable {
                name: "margin",
                unit: TunableUnit::Share,
                default: 256,
                about: "By how much a CPU may have run more than another before a task moves.",
            },
            SLICE,
        ],
        is_test: false,
    },
    PolicyEntry {
        name: "power",
        about: "Fills a domain of CPUs before it wakes the next; spreads tasks in it.",
        tunables: &[
            Tunable {
                name: "domain",
                unit: TunableUnit::Count,
                default: 2,
                about: "Number of CPUs of a domain, counted from CPU 0.",
            },
            Tunable {
                about: "A domain has room for a task if it has run less than this lately, including the task.",
                ..FILL
            },
            SLICE,
        ],
        is_test: false,
    },
    PolicyEntry {
        name: "pack-small",
        about: "A small task goes to the first CPU that has room for it, others to an idle CPU.",
        tunables: &[
            Tunable {
                name: "small",
                unit: TunableUnit::Share,
                default: 205,
                about: "A task that has run less than this is small.",
            },
            FILL,
            SLICE,
        ],
        is_test: false,
    },
    PolicyEntry {
        name: "pack-full",
        about: "Every task goes to the first CPU that has room for it.",
        tunables: &[FILL, SLICE],
        is_test: false,
    },
    PolicyEntry {
        name: "pack-burst",
        about: "Packs tasks with short runs, and wakes CPUs at once for those with long runs.",
        tunables: &[BURST, FILL, SLICE],
        is_test: false,
    },
    PolicyEntry {
        name: "pack-learn",
        about: "Like pack-burst, but predicts how long a task runs from the task that wakes it.",
        tunables: &[BURST, FILL, SLICE],
        is_test: false,
    },
    PolicyEntry {
        name: "refused",
        about: "Inserts a task into a queue that does not exist, so that the kernel ejects the policy.",
        tunables: &[AFTER],
        is_test: true,
    },
    PolicyEntry {
        name: "stall",
        about: "Forgets tasks, so that the kernel's watchdog ejects the policy.",
        tunables: &[AFTER],
        is_test: true,
    },
    PolicyEntry {
        name: "unverified",
        about: "Reads through a pointer that may be NULL, so that the kernel does not load the policy.",
        tunables: &[],
        is_test: true,
    },
];

/// Finds one of [`POLICIES`] by name.
#[must_use]
pub fn policy(name: &str) -> Option<&'static PolicyEntry> {
    POLICIES.iter().find(|policy| policy.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_policies_and_of_their_tunables_are_unique() {
        for (at, policy) in POLICIES.iter().enumerate() {
            assert!(POLICIES[..at].iter().all(|other| other.name != policy.name));
            for (at, tunable) in policy.tunables.iter().enumerate() {
                let before = &policy.tunables[..at];
                assert!(before.iter().all(|other| other.name != tunable.name));
            }
        }
        assert_eq!(policy("none"), None);
        assert_eq!(policy(PlacementPolicy::NONE), None);
    }

    #[test]
    fn the_kernel_writes_a_policy_of_ours_with_underscores() {
        let mut policy = PlacementPolicy {
            name: "pack-full".into(),
            form: PolicyForm::Ours,
            tunables: BTreeMap::from([("fill".into(), 819), ("slice".into(), 4)]),
            argv: Vec::new(),
        };
        assert_eq!(policy.ops().as_deref(), Some("pack_full"));
        assert_eq!(policy.settings(), ["fill=819", "slice=4"]);
        policy.form = PolicyForm::Object;
        assert_eq!(policy.ops(), None);
    }
}
