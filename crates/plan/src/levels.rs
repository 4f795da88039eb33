//! The settings of a level.

use assize_job::{Action, PlacementPolicy};
use indexmap::IndexMap;
use serde::Deserialize;

use crate::settings::{frequency, idle, policy, queue, stalls};
use crate::values::document::join;
use crate::values::keys::{
    Changes, KeySection, KeyType, List, Map, Part, SIZE, Text, Value, Whole, key,
};
use crate::values::layers::Parameters;

/// The number of CPUs of a machine.
pub(crate) const CPUS: KeyType = Whole(1, 255);

/// The keys of a level.
pub(crate) static KEYS: KeySection = KeySection {
    name: "level",
    keys: &[
        key("kernel", Text.optional(), "The kernel."),
        key("cpus", CPUS.optional(), "Number of CPUs."),
        key("memory", SIZE.optional(), "Memory."),
        key(
            "command_line",
            List(&Text).optional(),
            "Words added to the kernel command line.",
        ),
        key(
            "setup",
            List(&KeyType::Action).optional(),
            "Steps before each run, after those of the experiment.",
        ),
        key(
            "teardown",
            List(&KeyType::Action).optional(),
            "Steps after each run, before those of the experiment.",
        ),
        key(
            "background",
            List(&Text).optional(),
            "Background workloads to run.",
        ),
        key(
            "workload",
            Changes.optional(),
            "Parameters to change, by workload.",
        ),
        key(
            "queue",
            Part(&queue::KEYS).optional(),
            "Queue settings to change.",
        ),
        policy::KEY,
        key(
            "idle",
            Part(&idle::KEYS).optional(),
            "Idle-state settings to change.",
        ),
        key(
            "frequency",
            Part(&frequency::KEYS).optional(),
            "Frequency settings to change.",
        ),
        stalls::KEY_OF_LEVEL,
        key(
            "environment",
            Map(&Value).optional(),
            "Environment variables for every workload that is a command.",
        ),
    ],
};

/// The values of a level.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RawLevel {
    pub(crate) kernel: Option<String>,
    pub(crate) cpus: Option<u32>,
    pub(crate) memory_mib: Option<u32>,
    pub(crate) command_line: Vec<String>,
    pub(crate) setup: Vec<Action>,
    pub(crate) teardown: Vec<Action>,
    pub(crate) background: Vec<String>,
    pub(crate) workload: IndexMap<String, Parameters>,
    pub(crate) queue: Parameters,
    pub(crate) idle: Parameters,
    pub(crate) frequency: Parameters,
    pub(crate) stalls: Parameters,
    pub(crate) policy: Option<PlacementPolicy>,
    pub(crate) environment: IndexMap<String, String>,
}

/// The levels of one configuration: factor, level and settings.
pub(crate) type Levels<'a> = Vec<(&'a str, &'a str, &'a RawLevel)>;

pub(crate) fn level_path(factor: &str, level: &str) -> String {
    join(&join("factors", factor), level)
}
