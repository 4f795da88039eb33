//! Sentences about configurations that could not be tested because all their
//! runs failed.

use crate::cells::Cells;
use crate::document::Sentence;
use crate::failed::{FailedCell, failed_cells};
use crate::words::and_list;

/// Maximum number of configurations that get a full sentence; the rest are only
/// named.
const MOST: usize = 2;

/// A sentence for each configuration that has no run left on a workload, and
/// one for those beyond [`MOST`].
pub(super) fn find(cells: &Cells<'_>) -> Vec<Sentence> {
    let mut failed = failed_cells(cells.records);
    failed.retain(FailedCell::is_whole);
    let mut groups: Vec<(String, Vec<&FailedCell<'_>>)> = Vec::new();
    for cell in &failed {
        let why = cell.why();
        let same = |group: &&mut (String, Vec<&FailedCell<'_>>)| {
            group.0 == why && group.1[0].configuration == cell.configuration
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.1.push(cell),
            None => groups.push((why, vec![cell])),
        }
    }
    let shown = if groups.len() > MOST + 1 {
        MOST
    } else {
        groups.len()
    };
    let mut sentences: Vec<Sentence> = groups[..shown].iter().map(of_group).collect();
    sentences.extend(others(&groups[shown..]));
    sentences
}

fn of_group((why, cells): &(String, Vec<&FailedCell<'_>>)) -> Sentence {
    let configuration = cells[0].configuration;
    let all = |cell: &&FailedCell<'_>| format!("{0} of {0} on {1}", cell.runs(), cell.workload);
    let text = match cells[..] {
        [cell] => format!(
            "Every run of {configuration} on {} failed, {1} of {1}: {2}",
            cell.workload,
            cell.runs(),
            why
        ),
        _ => format!(
            "Every run of {configuration} failed on {} workloads ({}): {why}",
            cells.len(),
            cells.iter().map(all).collect::<Vec<_>>().join(", ")
        ),
    };
    Sentence {
        text: with_full_stop(text),
        rows: rows(cells),
    }
}

fn others(groups: &[(String, Vec<&FailedCell<'_>>)]) -> Option<Sentence> {
    let cells: Vec<&FailedCell<'_>> = groups.iter().flat_map(|group| &group.1).copied().collect();
    let names: Vec<String> = cells
        .iter()
        .map(|cell| format!("{} on {}", cell.configuration, cell.workload))
        .collect();
    (!cells.is_empty()).then(|| Sentence {
        text: format!("So did every run of {}.", and_list(&names)),
        rows: rows(&cells),
    })
}

/// The distinct workloads.
fn rows(cells: &[&FailedCell<'_>]) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for cell in cells {
        if !rows.iter().any(|row| row == cell.workload) {
            rows.push(cell.workload.to_owned());
        }
    }
    rows
}

/// Adds a full stop if there is none.
fn with_full_stop(text: String) -> String {
    if text.ends_with(['.', '!', '?', '…']) {
        text
    } else {
        format!("{text}.")
    }
}
