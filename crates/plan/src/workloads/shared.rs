//! Keys and types that several workloads share.

use crate::values::keys::{KeyType, SectionKey, Whole, duration, key};

/// A count.
pub(crate) const COUNT: KeyType = Whole(1, 1_000_000);
/// A number of repetitions.
pub(crate) const LOOPS: KeyType = Whole(1, 1_000_000_000);
/// A number of contexts.
pub(crate) const CONTEXTS: KeyType = Whole(1, 256);

/// The key for the CPU time that a job costs its submitter.
pub(crate) const RUN_COST: SectionKey = key(
    "run_cost",
    duration(0).or("0ns"),
    "CPU time to hand a job to the engine.",
);

/// The key for the number of jobs.
pub(crate) const SUBMISSIONS: SectionKey = key(
    "submissions",
    COUNT.or("1000"),
    "Jobs to submit and wait for.",
);

/// The key for the refresh rate of a display.
pub(crate) const RATE: SectionKey = key(
    "rate",
    Whole(1, 1000).or("60"),
    "Vertical blanks per second, at a random phase.",
);

/// The key for the duration of a workload.
pub(crate) const fn length(default: &'static str) -> SectionKey {
    key(
        "duration",
        duration(1).or(default),
        "How long the workload runs.",
    )
}

/// The key for the duration of a job on the engine.
pub(crate) const fn job_duration(default: &'static str) -> SectionKey {
    key(
        "job_duration",
        duration(0).or(default),
        "Engine time of a job.",
    )
}

/// The key for the random part of a duration.
pub(crate) const fn spread(default: &'static str) -> SectionKey {
    key(
        "spread",
        duration(0).or(default),
        "Upper limit of the random extra engine time.",
    )
}
