//! What tests ask of a post.

#![allow(clippy::unwrap_used)] // A test may fail.
#![allow(dead_code)] // Not every test asks everything.

use std::collections::{BTreeMap, BTreeSet};

use assize_audit::{Judged, Options, read};
use assize_bundle::Records;

/// A post is read without options but for one: what only the bar for all of a message would
/// leave unjudged is judged, so that each rule is tested and not this bar.
pub(crate) fn options() -> Options {
    Options {
        judged: Judged::Admitted,
        ..Options::default()
    }
}

/// The records of a post that is read with [`options`].
pub(crate) fn records(post: &str) -> Records {
    let audit = read(post.as_bytes(), "post", &options());
    audit.unwrap().records
}

/// The configurations that have a figure, by workload and metric.
pub(crate) fn cells(records: &Records) -> BTreeMap<(&str, &str), BTreeSet<&str>> {
    let mut cells: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for run in &records.runs {
        for metric in run.metrics.keys() {
            let cell = cells.entry((&run.workload, metric)).or_default();
            cell.insert(&run.configuration);
        }
    }
    for summary in &records.summaries {
        let cell = cells.entry((&summary.workload, &summary.metric));
        cell.or_default().insert(&summary.configuration);
    }
    cells
}
