//! The parameters of each kind of workload, as written in the file.

use assize_job::WorkloadKind;
use serde_json::json;

use crate::values::keys::KeyDefault::{Is, Open, Required};
use crate::values::keys::KeyType::{Duration, Flag, Free, List, Pairs, Table, Text, Whole, Word};
use crate::values::keys::{KeySection, SectionKey, key, named};
use crate::workloads::drawing;
use crate::workloads::frames_stream;
use crate::workloads::memory_routine;
use crate::workloads::phone;
use crate::workloads::submitting;

const POLICIES: &[&str] = &["other", "batch", "idle", "fifo", "rr"];
pub(crate) const COUNT: crate::values::keys::KeyType = Whole(1, 1_000_000);
const LOOPS: crate::values::keys::KeyType = Whole(1, 1_000_000_000);

pub(crate) const SCHEDULING: SectionKey = key(
    "scheduling",
    Table(&SCHEDULING_KEYS),
    Open,
    "How its threads are scheduled.",
);

/// How threads are scheduled.
pub(crate) static SCHEDULING_KEYS: KeySection = KeySection {
    name: "scheduling",
    keys: &[
        key(
            "policy",
            Word(POLICIES),
            Is("\"other\""),
            "The scheduling policy.",
        ),
        key(
            "priority",
            Whole(0, 99),
            Is("0"),
            "1 to 99 for fifo and rr, else 0.",
        ),
        key(
            "nice",
            Whole(-20, 19),
            Is("0"),
            "Niceness, for other and batch.",
        ),
        key(
            "cpus",
            List(&Whole(0, 4095)),
            Is("[]"),
            "CPUs the threads may run on; empty for all.",
        ),
        key(
            "group",
            Text,
            Open,
            "The control group the whole workload is in, with others that name the same: on each CPU they weigh together as one thread of nice 0.",
        ),
    ],
};

/// One thread, or several identical threads, of `periodic`.
pub(crate) static LOOP: KeySection = KeySection {
    name: "loop",
    keys: &[
        key("name", Text, Is("\"loop\""), "Its name in metrics."),
        key("threads", COUNT, Is("1"), "How many threads are like this."),
        named(
            "period",
            "period_ns",
            Duration(1),
            Is("\"10ms\""),
            "Length of a period.",
        ),
        named(
            "run",
            "run_ns",
            Duration(1),
            Is("\"1ms\""),
            "CPU time to use in each period.",
        ),
        SCHEDULING,
    ],
};

/// Kind to its parameters.
pub(crate) static KINDS: &[(&str, KeySection)] = &[
    ("audio", phone::AUDIO),
    ("browser", phone::BROWSER),
    (
        "command",
        KeySection {
            name: "command",
            keys: &[
                key(
                    "argv",
                    List(&Free),
                    Required,
                    "Program and arguments; no shell. {seed} becomes the seed of the run.",
                ),
                key(
                    "environment",
                    Pairs,
                    Is("{}"),
                    "Variables added to its environment.",
                ),
                key(
                    "statuses",
                    List(&Whole(0, 255)),
                    Is("[0]"),
                    "Exit statuses that are no failure.",
                ),
                key(
                    "metrics",
                    List(&Text),
                    Is("[]"),
                    "Names of metrics it prints, each on a line 'NAME: VALUE UNIT'.",
                ),
                SCHEDULING,
            ],
        },
    ),
    ("compositor", submitting::COMPOSITOR),
    ("cpu-score", phone::CPU_SCORE),
    ("crowd", submitting::CROWD),
    (
        "cyclictest",
        KeySection {
            name: "cyclictest",
            keys: &[
                key("threads", COUNT, Is("1"), "Number of measuring threads."),
                named(
                    "interval",
                    "interval_ns",
                    Duration(1000),
                    Is("\"1ms\""),
                    "Time between two wake-ups of a thread.",
                ),
                key("loops", LOOPS, Is("1000"), "Wake-ups of each thread."),
                key(
                    "pinned",
                    Flag,
                    Is("true"),
                    "Whether each measuring thread is bound to a CPU of its own.",
                ),
                SCHEDULING,
            ],
        },
    ),
    ("deep", submitting::DEEP),
    ("drawing", drawing::DRAWING),
    ("frames", submitting::FRAMES),
    ("frames-stream", frames_stream::FRAMES_STREAM),
    (
        "hackbench",
        KeySection {
            name: "hackbench",
            keys: &[
                key("groups", COUNT, Is("2"), "Groups of senders and receivers."),
                key(
                    "fds",
                    COUNT,
                    Is("4"),
                    "Senders, and receivers, in each group.",
                ),
                key(
                    "loops",
                    LOOPS,
                    Is("100"),
                    "Messages each sender sends to each receiver.",
                ),
                key("datasize", COUNT, Is("100"), "Size of a message in bytes."),
                key(
                    "threads",
                    Flag,
                    Is("false"),
                    "Threads rather than processes.",
                ),
                key(
                    "via",
                    Word(&["pipe", "socket"]),
                    Is("\"pipe\""),
                    "What carries the messages.",
                ),
                SCHEDULING,
            ],
        },
    ),
    (
        "hogs",
        KeySection {
            name: "hogs",
            keys: &[
                key("threads", COUNT, Is("1"), "How many threads."),
                key("per_cpu", Flag, Is("false"), "So many for each CPU."),
                named(
                    "duration",
                    "duration_ns",
                    Duration(1),
                    Is("\"1s\""),
                    "How long they run; in the background, until the workload ends.",
                ),
                SCHEDULING,
            ],
        },
    ),
    ("memory-routine", memory_routine::MEMORY_ROUTINE),
    (
        "periodic",
        KeySection {
            name: "periodic",
            keys: &[
                named(
                    "duration",
                    "duration_ns",
                    Duration(1),
                    Is("\"1s\""),
                    "How long they run; in the background, until the workload ends.",
                ),
                key(
                    "loops",
                    List(&Table(&LOOP)),
                    Is("[]"),
                    "The threads: each works for a while in each of its periods.",
                ),
                key(
                    "rt_app",
                    Text,
                    Open,
                    "Instead of loops: a file for rt-app, which then runs it.",
                ),
                named(
                    "calibration",
                    "calibration_ns",
                    Duration(1),
                    Open,
                    "How long a turn of rt-app's loop takes, where its file gives no number.",
                ),
            ],
        },
    ),
    (
        "ping-pong",
        KeySection {
            name: "ping-pong",
            keys: &[
                key("loops", LOOPS, Is("1000"), "Round trips."),
                key(
                    "via",
                    Word(&["pipe", "futex"]),
                    Is("\"pipe\""),
                    "What carries the wake-ups.",
                ),
                SCHEDULING,
            ],
        },
    ),
    ("replay", submitting::REPLAY),
    ("storm", submitting::STORM),
    ("stream", submitting::STREAM),
    ("sync", submitting::SYNC),
    ("threads", submitting::THREADS),
];

/// The parameters of a kind.
pub(crate) fn kind(name: &str) -> Option<&'static KeySection> {
    let (_, section) = KINDS.iter().find(|(kind, _)| *kind == name)?;
    Some(section)
}

/// Whether workloads of this kind submit jobs to simgpu.
pub(crate) fn submits(name: &str) -> bool {
    let kind = serde_json::from_value::<WorkloadKind>(json!({ "kind": name }));
    kind.is_ok_and(|kind| kind.submits())
}
