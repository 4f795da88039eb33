//! All lint codes.

/// The code and meaning of each lint, sorted by code, including doubts raised by other crates.
/// Options that make the command exit with status 1 at a lint accept these codes. A test compares
/// the list with the sources.
pub const LINTS: [(&str, &str); 70] = [
    (
        "aliased-counters",
        "two metrics have the same values in every run: they count the same events",
    ),
    (
        "background-ended",
        "a background workload ended before the measured one",
    ),
    (
        "bad-number",
        "the text has something else where a number is expected",
    ),
    (
        "binary-attachment",
        "an attachment is binary and was not read",
    ),
    ("binary-input", "the input is binary"),
    (
        "boot-unknown",
        "bundles judged as replicates may come from one boot",
    ),
    ("clock-went-back", "a time-stamp counter went backwards"),
    (
        "clustered-events",
        "events cluster, so they are not Poisson",
    ),
    (
        "confounded",
        "a difference between configurations may be due to machines or kernels",
    ),
    (
        "constant-metric",
        "a metric measures nothing: it never varies, or equals CPUs × elapsed time",
    ),
    (
        "dependent-runs",
        "consecutive runs resemble each other, like samples of one run",
    ),
    (
        "drift",
        "a metric rises or falls with the order of the runs",
    ),
    ("duplicate-rows", "runs or summaries occur twice"),
    ("energy-incomplete", "an energy counter wrapped or stopped"),
    (
        "exposure-inferred",
        "the exposure of events was inferred from a command line",
    ),
    ("exposure-unknown", "the exposure of events is not known"),
    ("failed-run", "runs failed"),
    (
        "identity-incomplete",
        "not every program or library of a run was recorded",
    ),
    (
        "identity-varies",
        "runs of one configuration differ in kernel, modules, programs or settings",
    ),
    ("incomplete", "scheduled runs are missing"),
    ("inexact", "two executions of an exact run differed"),
    (
        "kept-apart",
        "runs of one workload occur in several parts of a post, and are not pooled",
    ),
    (
        "locale-ambiguous",
        "a number would have another value in a locale with a decimal comma",
    ),
    ("long-line", "a line is too long to be read"),
    ("lost-events", "kernel events were lost"),
    ("lost-threads", "some threads could not be measured"),
    (
        "machine-set-up",
        "part of the virtual machine could not be set up",
    ),
    (
        "metric-repeated",
        "a program printed a metric several times",
    ),
    ("missing-baseline", "a workload has no baseline run"),
    (
        "missing-cell",
        "a configuration, workload or metric lacks values that others have",
    ),
    (
        "missing-events",
        "fewer events are listed than were counted",
    ),
    ("multiplexed", "a counter did not count all the time"),
    (
        "multiplexed-counter",
        "a posted counter did not count all the time",
    ),
    ("n-too-small", "too few runs to establish anything"),
    ("no-logs", "a program left no logs"),
    (
        "normalised-values",
        "figures are relative to values that were not given",
    ),
    (
        "not-additive",
        "a figure such as power in watts cannot be summed over the intervals of perf stat",
    ),
    (
        "not-counted-interval",
        "a counter gave no number in some intervals",
    ),
    (
        "not-judged",
        "nothing says that the figures compare configurations",
    ),
    ("outlier-run", "a run is far from the others"),
    (
        "output-cut",
        "a program printed more than is recorded, so its output was cut",
    ),
    (
        "periodic-events",
        "events are periodic, so they are not Poisson",
    ),
    (
        "planted-stalls-ended",
        "a run's list of planted stalls was full, so no more were planted",
    ),
    ("ragged-row", "a table row has too many or too few columns"),
    (
        "rt-app-uncalibrated",
        "no calibration was given, so rt-app calibrated its loop in each run",
    ),
    (
        "same-run",
        "a configuration changes nothing on a workload, so nothing is compared",
    ),
    ("setting-changed", "a setting changed during the workload"),
    (
        "setting-not-read-back",
        "the value read back does not show whether a setting is in effect",
    ),
    (
        "shared-image",
        "several runs of a configuration start from one memory image",
    ),
    ("software-emulation", "the live machine had no KVM"),
    (
        "spread-kind",
        "the post does not say what +- means; the most cautious reading is taken",
    ),
    ("spread-unknown", "the spread of runs was not given"),
    ("starved", "some contexts completed no job"),
    ("summary-mismatch", "a summary contradicts its runs"),
    ("truncated-block", "a block of figures is cut off"),
    ("truncated-message", "a message is cut off"),
    (
        "unavailable",
        "the target cannot provide what was requested",
    ),
    ("undecodable-text", "bytes could not be decoded"),
    (
        "unequal-spread",
        "two configurations with few runs differ greatly in spread",
    ),
    (
        "unexpected-difference",
        "configurations differ in something that no level sets",
    ),
    (
        "unit-unknown",
        "a unit is missing, or units of one metric cannot be converted",
    ),
    (
        "unrandomised-order",
        "configurations were not run in random order",
    ),
    ("unreached-code", "the code under test was not reached"),
    (
        "unreadable-distribution",
        "no quantiles can be computed from a distribution",
    ),
    ("unsupported-counter", "a counter gave no number"),
    (
        "untraced-idle",
        "idle time is known for only part of the run",
    ),
    ("untraced-switches", "some context switches were not traced"),
    (
        "untrusted-machine",
        "the machine at rest has more unexplained gaps than allowed",
    ),
    ("values-lost", "a program dropped values"),
    (
        "watched-in-turn",
        "CPUs were watched in turn, each for part of the time",
    ),
];
