//! All lint codes.

/// The code and meaning of each lint, sorted by code. It includes the codes of
/// doubts raised by other crates, which become lints.
///
/// Options that make a lint end the command with status 1 take these codes. A
/// test compares this list with the sources.
pub const LINTS: [(&str, &str); 70] = [
    (
        "aliased-counters",
        "two metrics have the same values in every run: they are one counter",
    ),
    (
        "background-ended",
        "what was to load the machine ended before the workload did",
    ),
    (
        "bad-number",
        "a number was expected and something else stood there",
    ),
    (
        "binary-attachment",
        "an attachment is no text and was not read",
    ),
    ("binary-input", "the input is no text"),
    (
        "boot-unknown",
        "bundles that are judged as replicates may be of one boot of a machine",
    ),
    (
        "clock-went-back",
        "a time-stamp counter showed less than before",
    ),
    (
        "clustered-events",
        "events come in clusters, so they are not Poisson",
    ),
    (
        "confounded",
        "a difference between configurations may be one between machines or kernels",
    ),
    (
        "constant-metric",
        "a metric measures nothing: it never varies, or is the CPUs times the elapsed time",
    ),
    (
        "dependent-runs",
        "consecutive runs resemble each other, as samples of one run do",
    ),
    (
        "drift",
        "a metric increases or decreases with the order of the runs",
    ),
    ("duplicate-rows", "runs or summaries are there twice"),
    (
        "energy-incomplete",
        "a counter of energy wrapped or stopped",
    ),
    (
        "exposure-inferred",
        "for how long events were counted was taken from a command",
    ),
    (
        "exposure-unknown",
        "for how long events were counted is not known",
    ),
    ("failed-run", "runs failed"),
    (
        "identity-incomplete",
        "not every program or library of a run was noted",
    ),
    (
        "identity-varies",
        "runs of one configuration were not made of the same",
    ),
    ("incomplete", "runs of the schedule are missing"),
    (
        "inexact",
        "two executions of a run that should be exact differed",
    ),
    (
        "kept-apart",
        "runs of one workload in several places are not pooled",
    ),
    (
        "locale-ambiguous",
        "a number means one thing with a decimal comma and another without",
    ),
    ("long-line", "a line is too long to be looked at"),
    ("lost-events", "kernel events were lost"),
    ("lost-threads", "some threads could not be measured"),
    (
        "machine-set-up",
        "a part of the virtual machine could not be set up",
    ),
    (
        "metric-repeated",
        "a program printed a metric several times",
    ),
    ("missing-baseline", "a workload has no run of the baseline"),
    (
        "missing-cell",
        "a configuration, a workload or a metric lacks values that others have",
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
    ("n-too-small", "so few runs cannot establish anything"),
    ("no-logs", "a program left no logs"),
    (
        "normalised-values",
        "figures are relative to others that were not given",
    ),
    ("not-additive", "a metric of intervals cannot be added up"),
    (
        "not-counted-interval",
        "a counter gave no number in some intervals",
    ),
    (
        "not-judged",
        "figures were read, and nothing says that they compare configurations",
    ),
    ("outlier-run", "a run lies far from the others"),
    ("output-cut", "a program printed more than is kept"),
    (
        "periodic-events",
        "events keep a beat, so they are not Poisson",
    ),
    (
        "planted-stalls-ended",
        "no more stalls are planted in a run than fit its list",
    ),
    (
        "ragged-row",
        "a row of a table has too many or too few columns",
    ),
    (
        "rt-app-uncalibrated",
        "rt-app measured in each run how long its loop takes",
    ),
    (
        "same-run",
        "a configuration changes nothing on a workload, where nothing is compared",
    ),
    (
        "setting-changed",
        "a setting was another after the workload than before it",
    ),
    (
        "setting-not-read-back",
        "what was read back does not show whether a setting is in effect",
    ),
    (
        "shared-image",
        "several runs of a configuration start from one memory image",
    ),
    ("software-emulation", "the live machine had no KVM"),
    (
        "spread-kind",
        "what a +- is was not said: it is taken for what leaves most doubt",
    ),
    ("spread-unknown", "how much runs vary was not given"),
    ("starved", "some contexts got nothing done"),
    (
        "summary-mismatch",
        "a summary contradicts the runs beside it",
    ),
    ("truncated-block", "figures break off"),
    ("truncated-message", "a message breaks off"),
    ("unavailable", "the target cannot give what was asked for"),
    ("undecodable-text", "bytes could not be decoded"),
    (
        "unequal-spread",
        "two configurations of few runs vary very differently",
    ),
    (
        "unexpected-difference",
        "configurations differ in what no level says",
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
        "a distribution gives no quantiles",
    ),
    ("unsupported-counter", "a counter gave no number"),
    (
        "untraced-idle",
        "how long CPUs were idle is not known for all the time",
    ),
    (
        "untraced-switches",
        "some switches between threads were not seen",
    ),
    (
        "untrusted-machine",
        "at rest the machine has more of the events than is tolerated",
    ),
    ("values-lost", "a program dropped values"),
    (
        "watched-in-turn",
        "CPUs were watched one after the other, each for a part of the time",
    ),
];
