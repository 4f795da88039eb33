//! What tests ask of a post.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assize_audit::{Options, read};
use assize_bundle::Records;

/// The records of a post that is read without options.
pub(crate) fn records(post: &str) -> Records {
    records_as(post, &Options::default())
}

pub(crate) fn records_as(post: &str, options: &Options) -> Records {
    read(post.as_bytes(), "post", options).unwrap().records
}

/// Options that keep a description of every line.
pub(crate) fn explain() -> Options {
    Options {
        explain: true,
        ..Options::default()
    }
}

/// Whether a file holds what was read of a text. With `ASSIZE_GOLDEN=1` it is written anew.
pub(crate) fn looked_over(path: &Path, read: &str) {
    if std::env::var_os("ASSIZE_GOLDEN").is_some() {
        std::fs::write(path, read).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    assert_eq!(read, expected, "{}", path.display());
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
    while let Some(path) = folders.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => folders.extend(entries.map(|entry| entry.unwrap().path())),
            Err(_) => found.push((path.clone(), std::fs::read_to_string(path).unwrap())),
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

/// The title and the text of all posts in a file.
pub(crate) fn cases(text: &str) -> Vec<[String; 2]> {
    let mut cases: Vec<[String; 2]> = Vec::new();
    let mut is_post = true;
    for line in text.split_inclusive('\n') {
        if line == MARK {
            is_post = false;
        } else if line.starts_with("=== ") {
            is_post = true;
            cases.push([line.to_owned(), String::new()]);
        } else if let Some([_, post]) = cases.last_mut().filter(|_| is_post) {
            post.push_str(line);
        }
    }
    cases
}
