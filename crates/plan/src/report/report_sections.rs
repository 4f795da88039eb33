//! The keys that configure an experiment's report.

use crate::values::keys::KeyDefault::{Open, Required};
use crate::values::keys::KeyType::{List, OneOrMore, Table, Text, Word};
use crate::values::keys::{KeySection, key};

/// A table of the report.
pub(crate) static TABLE: KeySection = KeySection {
    name: "table",
    keys: &[
        key(
            "metric",
            OneOrMore(&Text),
            Required,
            "One metric; or several, of which each has a table of its own.",
        ),
        key(
            "workloads",
            List(&Text),
            Open,
            "The columns; without it all workloads.",
        ),
        key(
            "normalised_to",
            Text,
            Open,
            "One of the columns: the others are shown relative to it, each configuration to its own. Without it medians are shown.",
        ),
        key(
            "factor",
            Text,
            Open,
            "Compare each configuration with that of the factor's first level and else the same levels; without it with the baseline.",
        ),
    ],
};

/// A trade-off between two metrics.
pub(crate) static TRADEOFF: KeySection = KeySection {
    name: "tradeoff",
    keys: &[
        key(
            "x",
            Table(&TRADEOFF_METRIC),
            Required,
            "The first metric, along the plot.",
        ),
        key(
            "y",
            Table(&TRADEOFF_METRIC),
            Required,
            "The second metric, up the plot.",
        ),
    ],
};

/// One of the two metrics of a trade-off.
pub(crate) static TRADEOFF_METRIC: KeySection = KeySection {
    name: "tradeoff-metric",
    keys: &[
        key("metric", Text, Required, "Its name."),
        key(
            "workload",
            Text,
            Open,
            "The workload on which it is taken. With none for both metrics there is a trade-off for each workload that gives both.",
        ),
        key(
            "better",
            Word(&["lower", "higher"]),
            Open,
            "Which direction is good; must be given unless primary or higher_is_better says so.",
        ),
    ],
};
