//! Keys and types that several workloads have.

use crate::values::keys::{KeyType, SectionKey, Whole, duration, key};

/// How many of something.
pub(crate) const COUNT: KeyType = Whole(1, 1_000_000);
/// How many repetitions.
pub(crate) const LOOPS: KeyType = Whole(1, 1_000_000_000);
/// How many contexts.
pub(crate) const CONTEXTS: KeyType = Whole(1, 256);

/// The key of the time that a job costs its submitter.
pub(crate) const RUN_COST: SectionKey = key(
    "run_cost",
    duration(0).or("0ns"),
    "CPU time to hand a job to the engine.",
);

/// The key of the number of jobs, one after another.
pub(crate) const SUBMISSIONS: SectionKey = key(
    "submissions",
    COUNT.or("1000"),
    "Jobs to submit and wait for.",
);

/// The key of the rate of a display.
pub(crate) const RATE: SectionKey = key(
    "rate",
    Whole(1, 1000).or("60"),
    "Vertical blanks per second, at a random phase.",
);

/// The key of how long a workload lasts.
pub(crate) const fn length(default: &'static str) -> SectionKey {
    key("duration", duration(1).or(default), "How long it runs.")
}

/// The key of the length of a job.
pub(crate) const fn job_duration(default: &'static str) -> SectionKey {
    key(
        "job_duration",
        duration(0).or(default),
        "Engine time of a job.",
    )
}

/// The key of the random part of a length.
pub(crate) const fn spread(default: &'static str) -> SectionKey {
    key(
        "spread",
        duration(0).or(default),
        "Upper limit of the random extra engine time.",
    )
}
