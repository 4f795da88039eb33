//! What tests ask of a post.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use assize_audit::{Options, read};
use assize_bundle::Records;

/// The records of a post that is read without options.
pub(crate) fn records(post: &str) -> Records {
    records_as(post, &Options::default())
}

pub(crate) fn records_as(post: &str, options: &Options) -> Records {
    read(post.as_bytes(), "post", options).unwrap().records
}

/// Two reports of one figure each.
pub(crate) fn lists(before: f64, after: f64) -> String {
    let report = |seconds: f64| {
        format!(
            "Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)\n\
             Each sender will pass 100 messages of 100 bytes\nTime: {seconds}\n"
        )
    };
    format!("Before:\n{}\nAfter:\n{}", report(before), report(after))
}

/// The name and the text of each file in a folder of `posts`, and in those below it; or of one
/// file.
pub(crate) fn posts(folder: &str) -> Vec<(PathBuf, String)> {
    let top = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/posts")).join(folder);
    let mut found = Vec::new();
    let mut folders = vec![top];
    while let Some(folder) = folders.pop() {
        if folder.is_file() {
            let text = std::fs::read_to_string(&folder).unwrap();
            found.push((folder, text));
            continue;
        }
        for entry in std::fs::read_dir(&folder).unwrap() {
            folders.push(entry.unwrap().path());
        }
    }
    found.sort();
    found
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

/// The configurations that share a metric of a workload with another one, in order.
pub(crate) fn compared(records: &Records) -> Vec<String> {
    let cells = cells(records);
    let several = cells.values().filter(|names| names.len() > 1);
    let names: BTreeSet<&str> = several.flatten().copied().collect();
    let order = records.configurations.iter().map(|one| one.name.clone());
    order.filter(|name| names.contains(name.as_str())).collect()
}

/// What parts posts of one file from each other, and each from what is read of it.
pub(crate) const MARK: &str = "=== read as ===\n";

/// The title, the post and what is read of it, of all posts in a file.
pub(crate) fn cases(text: &str) -> Vec<[String; 3]> {
    let mut cases: Vec<[String; 3]> = Vec::new();
    let mut part = 1;
    for line in text.split_inclusive('\n') {
        if line == MARK {
            part = 2;
        } else if line.starts_with("=== ") {
            part = 1;
            cases.push([line.to_owned(), String::new(), String::new()]);
        } else if let Some(case) = cases.last_mut() {
            case[part].push_str(line);
        }
    }
    cases
}
