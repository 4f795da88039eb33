//! Resources that commands used apart from time: CPU time in user space and in the kernel, and
//! memory.

use assize_verdict::Document;

use super::BriefSheet;
use super::spread::{compared, with_unit};
use crate::printable;

/// The metrics shown for each configuration, each with its label.
const PARTS: [(&str, &str); 3] = [
    ("command_user_time", "user"),
    ("command_system_time", "system"),
    ("command_peak_memory", "peak memory"),
];

/// The mean of each metric for each configuration, if the document compares them on one workload
/// and all fit.
pub(super) fn lines(sheet: &BriefSheet<'_>, room: usize) -> Vec<String> {
    let document = sheet.document;
    if document.workloads.len() != 1 {
        return Vec::new();
    }
    let columns = sheet.names.max(8);
    let of = |name: &str| {
        let parts = PARTS.iter();
        let parts = parts.filter_map(|(metric, word)| mean(document, name, metric, word));
        let parts: Vec<String> = parts.collect();
        let name = printable(name).replace('\n', " ");
        (!parts.is_empty()).then(|| format!("  {name:columns$}  {}", parts.join(", ")))
    };
    let names = document.configurations.iter().map(|one| one.name.as_str());
    let mut lines: Vec<String> = names.filter_map(of).collect();
    if lines.is_empty() || lines.len() >= room {
        return Vec::new();
    }
    lines.insert(0, "CPU time and memory of a run, on average:".to_owned());
    lines
}

/// `user 1.2 ms`.
fn mean(document: &Document, name: &str, metric: &str, word: &str) -> Option<String> {
    let mut rows = document.comparisons.iter();
    let row = rows
        .find(|row| row.metric == metric && (row.baseline == name || row.configuration == name))?;
    let (mean, _) = compared(document, row, name)?;
    Some(format!("{word} {}", with_unit(document, mean, &row.unit)))
}
