//! The parameters of workloads that submit jobs to simgpu.

use crate::values::keys::KeyDefault::{Is, Open};
use crate::values::keys::KeyType::{Duration, Flag, Free, Share, Table, Text, Whole, Word};
use crate::values::keys::{KeySection, SectionKey, key, named};
use crate::workloads::kinds::{COUNT, SCHEDULING, SCHEDULING_KEYS};

const CONTEXTS: crate::values::keys::KeyType = Whole(1, 256);

const RUN_COST: SectionKey = named(
    "run_cost",
    "run_cost_ns",
    Duration(0),
    Is("\"0ns\""),
    "CPU time it takes to hand a job to the engine.",
);

const fn job_duration(default: &'static str) -> SectionKey {
    named(
        "job_duration",
        "job_duration_ns",
        Duration(0),
        Is(default),
        "Time of a job on the engine.",
    )
}

const fn spread(default: &'static str) -> SectionKey {
    named(
        "spread",
        "spread_ns",
        Duration(0),
        Is(default),
        "More time, drawn from the seed below this.",
    )
}

/// The parameters of `compositor`.
pub(crate) const COMPOSITOR: KeySection = KeySection {
    name: "compositor",
    keys: &[
        named(
            "duration",
            "duration_ns",
            Duration(1),
            Is("\"2s\""),
            "How long; in the background, until the workload ends.",
        ),
        key(
            "rate",
            Whole(1, 1000),
            Is("60"),
            "Vertical blanks a second; their phase is drawn from the seed.",
        ),
        key(
            "clients",
            Whole(1, 64),
            Is("3"),
            "Clients, each a thread with a context of its own.",
        ),
        named(
            "cpu",
            "cpu_ns",
            Duration(0),
            Is("\"200us\""),
            "CPU time a client uses for a frame.",
        ),
        key(
            "jobs",
            Whole(1, 256),
            Is("2"),
            "Jobs of a client's frame, each after the one before.",
        ),
        named(
            "job_duration",
            "job_duration_ns",
            Duration(0),
            Is("\"200us\""),
            "Time of each job on the engine.",
        ),
        spread("\"100us\""),
        named(
            "lead",
            "lead_ns",
            Duration(1),
            Is("\"4ms\""),
            "How long before a vertical blank the compositor begins.",
        ),
        named(
            "composition",
            "composition_ns",
            Duration(0),
            Is("\"1ms\""),
            "Time of the compositor's job on the engine.",
        ),
        key(
            "fences",
            Word(&["done", "wait", "pass"]),
            Is("\"done\""),
            "The compositor takes only frames that are done; or the newest, and waits for their fences itself; or passes these to the kernel.",
        ),
        key(
            "own_engine",
            Flag,
            Is("false"),
            "The compositor has an engine of its own.",
        ),
        RUN_COST,
        key(
            "scheduling",
            Table(&SCHEDULING_KEYS),
            Open,
            "How the clients are scheduled.",
        ),
        key(
            "compositor_scheduling",
            Table(&SCHEDULING_KEYS),
            Open,
            "How the compositor is scheduled.",
        ),
    ],
};

/// The parameters of `crowd`.
pub(crate) const CROWD: KeySection = KeySection {
    name: "crowd",
    keys: &[
        named(
            "duration",
            "duration_ns",
            Duration(1),
            Is("\"500ms\""),
            "How long; in the background, until the workload ends.",
        ),
        key(
            "contexts",
            Whole(1, 4096),
            Is("256"),
            "Contexts, all on one engine.",
        ),
        key(
            "threads",
            CONTEXTS,
            Is("4"),
            "Threads that serve them, each its share.",
        ),
        key(
            "window",
            Whole(1, 64),
            Is("4"),
            "Jobs of each context in flight.",
        ),
        job_duration("\"2us\""),
        spread("\"0ns\""),
        key(
            "uneven",
            Whole(1, 1000),
            Is("1"),
            "Jobs of every second context are so many times as long.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};

/// The parameters of `deep`.
pub(crate) const DEEP: KeySection = KeySection {
    name: "deep",
    keys: &[
        key(
            "chains",
            COUNT,
            Is("8"),
            "Chains that are submitted before any is waited for.",
        ),
        key(
            "depth",
            COUNT,
            Is("250"),
            "Jobs of a chain, each after the one before.",
        ),
        key(
            "contexts",
            CONTEXTS,
            Is("4"),
            "Contexts, on one engine after the other; a chain goes from one to the next.",
        ),
        job_duration("\"20us\""),
        spread("\"20us\""),
        RUN_COST,
        SCHEDULING,
    ],
};

/// The parameters of `frames`.
pub(crate) const FRAMES: KeySection = KeySection {
    name: "frames",
    keys: &[
        named(
            "duration",
            "duration_ns",
            Duration(1),
            Is("\"5s\""),
            "How long; in the background, until the workload ends.",
        ),
        key(
            "rate",
            Whole(1, 1000),
            Is("60"),
            "Vertical blanks a second; their phase is drawn from the seed.",
        ),
        named(
            "cpu",
            "cpu_ns",
            Duration(0),
            Is("\"100us\""),
            "CPU time the client uses for a frame.",
        ),
        key(
            "jobs",
            Whole(1, 256),
            Is("2"),
            "Jobs of a frame, each after the one before.",
        ),
        named(
            "job_duration",
            "job_duration_ns",
            Duration(0),
            Is("\"2ms\""),
            "Time of each job on the engine.",
        ),
        spread("\"1ms\""),
        named(
            "composition",
            "composition_ns",
            Duration(0),
            Is("\"1ms\""),
            "Time of the compositor's job on the engine.",
        ),
        key(
            "in_fence",
            Flag,
            Is("false"),
            "The compositor passes the client's fence to the kernel, rather than wait for it itself.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};

/// The parameters of `replay`.
pub(crate) const REPLAY: KeySection = KeySection {
    name: "replay",
    keys: &[
        key("file", Text, Open, "A file of steps."),
        key(
            "steps",
            Free,
            Open,
            "Instead of file: the steps themselves.",
        ),
        key(
            "repeat",
            COUNT,
            Is("100"),
            "How often all steps are carried out.",
        ),
        key(
            "clients",
            CONTEXTS,
            Is("1"),
            "How many clients carry them out, each with contexts of its own.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};

/// The parameters of `storm`.
pub(crate) const STORM: KeySection = KeySection {
    name: "storm",
    keys: &[
        key(
            "contexts",
            CONTEXTS,
            Is("7"),
            "Contexts, on one engine after the other.",
        ),
        key("jobs", COUNT, Is("3000"), "Jobs in all."),
        key(
            "dependent",
            Share,
            Is("\"50%\""),
            "The share of jobs that depend on others.",
        ),
        key(
            "dependencies",
            Whole(1, 64),
            Is("3"),
            "Such a job depends on one to so many others.",
        ),
        key(
            "reach",
            Whole(1, 65536),
            Is("32"),
            "These are among so many jobs before it.",
        ),
        job_duration("\"20us\""),
        spread("\"80us\""),
        RUN_COST,
        SCHEDULING,
    ],
};

/// The parameters of `stream`.
pub(crate) const STREAM: KeySection = KeySection {
    name: "stream",
    keys: &[
        key(
            "submissions",
            COUNT,
            Is("1000"),
            "How often a job is submitted and waited for.",
        ),
        job_duration("\"200us\""),
        spread("\"20us\""),
        named(
            "pause",
            "pause_ns",
            Duration(0),
            Is("\"0ns\""),
            "Time between one job and the next, drawn from the seed below this.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};

/// The parameters of `sync`.
pub(crate) const SYNC: KeySection = KeySection {
    name: "sync",
    keys: &[
        key(
            "submissions",
            COUNT,
            Is("1000"),
            "How often a job is submitted and waited for.",
        ),
        job_duration("\"200us\""),
        spread("\"20us\""),
        RUN_COST,
        SCHEDULING,
    ],
};

/// The parameters of `threads`.
pub(crate) const THREADS: KeySection = KeySection {
    name: "threads",
    keys: &[
        key(
            "threads",
            CONTEXTS,
            Is("7"),
            "Threads, each with a context of its own, on one engine after the other.",
        ),
        key("submissions", COUNT, Is("1000"), "Jobs of each thread."),
        key(
            "window",
            Whole(1, 65536),
            Open,
            "Jobs of a thread in flight at most; as many as the queue takes if not given.",
        ),
        job_duration("\"5us\""),
        spread("\"1us\""),
        RUN_COST,
        SCHEDULING,
    ],
};
