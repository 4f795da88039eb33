//! The keys of an experiment file, except those of workloads.

use crate::payload_sections::PAYLOAD;
use crate::report::report_sections::{TABLE, TRADEOFF};
use crate::settings::gaps_sections::GAPS;
use crate::settings::policy;
use crate::settings::power_sections::{FREQUENCY, IDLE};
use crate::settings::queue::QUEUE;
use crate::settings::stalls;
use crate::settings::tracer_sections::TRACER;
use crate::values::keys::KeyDefault::{Is, Open, Required};
use crate::values::keys::KeyType::{
    Action, Changes, Duration, Flag, Free, Instrument, List, Map, OneOrMore, Part, Share, Size,
    Table, Target, Text, Value, Whole, Word, Workload,
};
use crate::values::keys::{KeySection, key, named};

/// Maximum number of runs of one cell.
pub(crate) const RUNS_MAX: u32 = 10_000;
/// The largest seed in a file: TOML's largest integer.
const SEED_MAX: i64 = i64::MAX;

const RUNS: crate::values::keys::KeyType = Whole(1, RUNS_MAX as i64);
const CPUS: crate::values::keys::KeyType = Whole(1, 255);

/// The top of the file.
pub(crate) static EXPERIMENT: KeySection = KeySection {
    name: "experiment",
    keys: &[
        key("title", Text, Required, "What the experiment is called."),
        key("question", Free, Is("\"\""), "The question it asks."),
        key(
            "target",
            Target,
            Is("\"exact\""),
            "Where runs happen: exact, live, host or ssh:HOST.",
        ),
        key(
            "kernel",
            Text,
            Is("\"debian:6.12\""),
            "Which kernel: debian:6.12, running, or a name given to assize kernel add.",
        ),
        key("cpus", CPUS, Is("1"), "Number of CPUs."),
        named("memory", "memory_mib", Size, Is("\"256M\""), "Memory."),
        key(
            "display",
            Word(&["bochs"]),
            Open,
            "A graphics card on PCI: bochs is QEMU's bochs-display, with 16 MiB of memory in BAR 0. Targets exact and live only.",
        ),
        key(
            "command_line",
            List(&Text),
            Is("[]"),
            "Words added to the command line of the kernel.",
        ),
        key(
            "runs",
            RUNS,
            Open,
            "Runs of each cell, which is the number of blocks; 8 unless until is given.",
        ),
        key(
            "images",
            RUNS,
            Open,
            "Memory images over which the blocks are dealt out; without it one for each block, up to 32. With 1 nothing is drawn for it. Exact target only.",
        ),
        key(
            "seed",
            Whole(0, SEED_MAX),
            Is("1"),
            "Seed of the schedule and of every run.",
        ),
        key(
            "aa",
            Flag,
            Is("false"),
            "Run the baseline twice, to show the noise floor.",
        ),
        key(
            "retries",
            Whole(0, 100),
            Is("0"),
            "How often a failed run is tried again.",
        ),
        named(
            "timeout",
            "timeout_ns",
            Duration(1_000_000),
            Is("\"60s\""),
            "A workload that takes longer, on the clock of the target, is killed and the run has failed; whole milliseconds.",
        ),
        key(
            "samples",
            Flag,
            Is("false"),
            "Keep single samples beside histograms.",
        ),
        named(
            "offset",
            "offset_ns",
            Duration(0),
            Is("\"10ms\""),
            "The start offset of the workload is drawn below this.",
        ),
        named(
            "duration",
            "duration_ns",
            Duration(1),
            Open,
            "The duration of every workload that has one and does not say.",
        ),
        key(
            "margin",
            Share,
            Is("\"1%\""),
            "Ratios within 1 ± this are equivalent.",
        ),
        key(
            "until",
            Table(&UNTIL),
            Open,
            "When to stop early; instead of runs.",
        ),
        key(
            "queue",
            Part(&QUEUE),
            Open,
            "How the queues of all workloads that submit to simgpu are.",
        ),
        policy::KEY,
        key(
            "idle",
            Part(&IDLE),
            Open,
            "Idle states that CPUs have, and who chooses among them.",
        ),
        key(
            "frequency",
            Part(&FREQUENCY),
            Open,
            "Frequencies that CPUs have, and who chooses among them.",
        ),
        stalls::KEY,
        key(
            "instruments",
            List(&Instrument),
            Is("[]"),
            "What measures, beside the workloads.",
        ),
        key(
            "gaps",
            Table(&GAPS),
            Open,
            "How the instrument gaps watches CPUs.",
        ),
        key(
            "tracer",
            Table(&TRACER),
            Open,
            "How the instrument hwlat, osnoise or timerlat looks.",
        ),
        key(
            "primary",
            List(&Table(&PRIMARY)),
            Is("[]"),
            "Metrics declared primary, most important first.",
        ),
        key(
            "higher_is_better",
            List(&Text),
            Is("[]"),
            "Other metrics of which more is better.",
        ),
        key(
            "claims",
            List(&Text),
            Is("[]"),
            "Claims to try, declared before the runs: A < B on METRIC [in WORKLOAD].",
        ),
        key(
            "setup",
            List(&Action),
            Is("[]"),
            "Done in order before each run.",
        ),
        key(
            "teardown",
            List(&Action),
            Is("[]"),
            "Done in order after each run.",
        ),
        key(
            "factors",
            Map(&Map(&Table(&LEVEL))),
            Is("{}"),
            "Factor to its levels, the baseline first; level to what it sets.",
        ),
        key(
            "workloads",
            Map(&Workload),
            Required,
            "What is measured, each on each configuration.",
        ),
        key(
            "background",
            Map(&Workload),
            Is("{}"),
            "What levels and workloads may have beside what is measured.",
        ),
        key(
            "include",
            List(&Map(&OneOrMore(&Text))),
            Open,
            "Keep only configurations that match one of these.",
        ),
        key(
            "exclude",
            List(&Map(&OneOrMore(&Text))),
            Is("[]"),
            "Drop configurations that match one of these.",
        ),
        key(
            "factorial",
            Map(&OneOrMore(&Text)),
            Open,
            "The grid whose effects are fitted: factor to the levels off and on, or to one that is held.",
        ),
        key(
            "tables",
            List(&Table(&TABLE)),
            Is("[]"),
            "Tables that the report shows.",
        ),
        key(
            "tradeoffs",
            List(&Table(&TRADEOFF)),
            Is("[]"),
            "Pairs of metrics: what the one costs in the other, and which configurations no other dominates.",
        ),
        key(
            "payload",
            Table(&PAYLOAD),
            Open,
            "What the target needs beside what can be derived.",
        ),
    ],
};

/// What a level sets.
pub(crate) static LEVEL: KeySection = KeySection {
    name: "level",
    keys: &[
        key("kernel", Text, Open, "The kernel."),
        key("cpus", CPUS, Open, "Number of CPUs."),
        named("memory", "memory_mib", Size, Open, "Memory."),
        key(
            "command_line",
            List(&Text),
            Open,
            "Words added to the command line of the kernel.",
        ),
        key(
            "setup",
            List(&Action),
            Open,
            "Done before each run, after the set-up of the experiment.",
        ),
        key(
            "teardown",
            List(&Action),
            Open,
            "Done after each run, before the tear-down of the experiment.",
        ),
        key(
            "background",
            List(&Text),
            Open,
            "Names of background workloads to run.",
        ),
        key(
            "workload",
            Changes,
            Open,
            "Name of a workload to the parameters that differ.",
        ),
        key(
            "queue",
            Part(&QUEUE),
            Open,
            "Settings of the queues that differ.",
        ),
        policy::KEY,
        key(
            "idle",
            Part(&IDLE),
            Open,
            "What differs of the idle states.",
        ),
        key(
            "frequency",
            Part(&FREQUENCY),
            Open,
            "What differs of the frequencies.",
        ),
        stalls::KEY_OF_LEVEL,
        key(
            "environment",
            Map(&Value),
            Open,
            "Variables added to the environment of every workload that is a command.",
        ),
    ],
};

/// When to stop early.
pub(crate) static UNTIL: KeySection = KeySection {
    name: "until",
    keys: &[
        key(
            "within",
            Share,
            Required,
            "Stop when all primary metrics have verdicts and intervals within × / ÷ (1 + this).",
        ),
        key("metric", Text, Open, "Watch this primary metric alone."),
        key(
            "first_look",
            Whole(2, RUNS_MAX as i64),
            Is("5"),
            "The first look comes after this many blocks.",
        ),
        key("every", RUNS, Is("5"), "And then after every so many."),
        key(
            "max_runs",
            Whole(2, RUNS_MAX as i64),
            Is("30"),
            "The most runs of each cell.",
        ),
    ],
};

/// A primary metric.
pub(crate) static PRIMARY: KeySection = KeySection {
    name: "primary",
    keys: &[
        key("metric", Text, Required, "Its name."),
        key(
            "better",
            Word(&["lower", "higher"]),
            Required,
            "Which direction is good.",
        ),
    ],
};

/// The four forms of a set-up or tear-down step.
pub(crate) static ACTIONS: &[KeySection] = &[
    KeySection {
        name: "module",
        keys: &[
            key(
                "module",
                Text,
                Required,
                "Load this kernel module: its name, or the path of a .ko file here.",
            ),
            key("parameters", Map(&Value), Is("{}"), "Parameter to value."),
        ],
    },
    KeySection {
        name: "sysctl",
        keys: &[
            named(
                "sysctl",
                "name",
                Text,
                Required,
                "Set this sysctl, written with dots.",
            ),
            key("value", Value, Required, "As it is written."),
        ],
    },
    KeySection {
        name: "write",
        keys: &[
            named(
                "write",
                "path",
                Text,
                Required,
                "Write this file, named by an absolute path.",
            ),
            key(
                "value",
                Value,
                Required,
                "What is written; no newline is added.",
            ),
        ],
    },
    KeySection {
        name: "command",
        keys: &[named(
            "command",
            "argv",
            List(&Free),
            Required,
            "Run this program with these arguments, without a shell, and wait for it; any status but 0 fails the run.",
        )],
    },
];
