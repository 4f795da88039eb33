//! The keys of idle states and frequencies.

use crate::settings::power_tables::NAMES;
use crate::values::keys::KeyDefault::{Is, Open, Required};
use crate::values::keys::KeyType::{
    Duration, Energy, Flag, Frequency, Power, Table, Text, Whole, Word, WordOrList,
};
use crate::values::keys::{KeySection, key, named};

/// Idle states of CPUs.
pub(crate) static IDLE: KeySection = KeySection {
    name: "idle",
    keys: &[
        key(
            "states",
            WordOrList(NAMES, &Table(&IDLE_STATE)),
            Is("\"phone\""),
            "The states of all CPUs, the shallowest first: a table that there is, or one of your own.",
        ),
        key(
            "governor",
            Word(&["menu", "ladder", "haltpoll", "teo"]),
            Is("\"menu\""),
            "Who chooses among them.",
        ),
        key(
            "delay",
            Flag,
            Is("true"),
            "A CPU that leaves a state is busy for its exit latency.",
        ),
        named(
            "active",
            "active_uw",
            Power,
            Open,
            "Modelled power of a CPU that is not idle; not with frequency. Must be given for states of your own.",
        ),
        named(
            "package",
            "package_uw",
            Power,
            Open,
            "Modelled power of what all CPUs share; 0 for states of your own.",
        ),
        named(
            "package_idle",
            "package_idle_uw",
            Power,
            Open,
            "The same while all CPUs are in the deepest state at once; 0 for states of your own.",
        ),
    ],
};

/// One idle state.
pub(crate) static IDLE_STATE: KeySection = KeySection {
    name: "idle-state",
    keys: &[
        key("name", Text, Required, "Its name."),
        named(
            "residency",
            "residency_ns",
            Duration(0),
            Required,
            "The target residency: from idle times of this length on it pays.",
        ),
        named(
            "exit",
            "exit_ns",
            Duration(0),
            Required,
            "The exit latency.",
        ),
        named(
            "power",
            "power_uw",
            Power,
            Required,
            "Modelled power of a CPU in it.",
        ),
        named(
            "transition",
            "transition_nj",
            Energy,
            Open,
            "Modelled energy of entering and leaving it once; without it that with which it pays from its residency on.",
        ),
    ],
};

/// Frequencies of CPUs.
pub(crate) static FREQUENCY: KeySection = KeySection {
    name: "frequency",
    keys: &[
        key(
            "steps",
            WordOrList(NAMES, &Table(&FREQUENCY_STEP)),
            Is("\"phone\""),
            "The frequencies, ascending: a table that there is, or one of your own. No CPU becomes faster or slower by them.",
        ),
        key(
            "governor",
            Word(&[
                "schedutil",
                "performance",
                "powersave",
                "ondemand",
                "conservative",
                "userspace",
            ]),
            Is("\"schedutil\""),
            "Who chooses among them.",
        ),
        key(
            "domain",
            Whole(0, 255),
            Is("1"),
            "CPUs that have one frequency together; 0 for all.",
        ),
        named(
            "set",
            "set_khz",
            Frequency,
            Open,
            "The frequency that userspace sets.",
        ),
        named(
            "rate",
            "rate_ns",
            Duration(1000),
            Is("\"1ms\""),
            "Least time between two changes by schedutil; at most 10s.",
        ),
    ],
};

/// One frequency.
pub(crate) static FREQUENCY_STEP: KeySection = KeySection {
    name: "frequency-step",
    keys: &[
        named(
            "frequency",
            "frequency_khz",
            Frequency,
            Required,
            "The frequency.",
        ),
        named(
            "power",
            "power_uw",
            Power,
            Required,
            "Modelled power of a CPU that is not idle.",
        ),
    ],
};
