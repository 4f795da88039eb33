//! What tests ask of a post.

use std::collections::{BTreeMap, BTreeSet};

use assize_audit::{Options, read};
use assize_bundle::Records;

/// The records of a post that is read without options.
pub(crate) fn records(post: &str) -> Records {
    let audit = read(post.as_bytes(), "post", &Options::default());
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
