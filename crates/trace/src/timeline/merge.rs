//! Reduces the number of spans and records how.

use std::collections::BTreeMap;

use super::{BusySpan, BusyTime, SpanKind};

/// Maximum number of threads or jobs named in the label of a block.
const NAMED: usize = 3;

/// The merged spans of a lane.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MergedSpans {
    pub(super) spans: Vec<BusySpan>,
    /// The number of stretches that were merged into blocks.
    pub(super) were: usize,
    /// The number of blocks.
    pub(super) blocks: usize,
    /// Stretches at least this long were not merged.
    pub(super) shorter_than: u64,
}

/// Reduces the stretches to at most `limit` spans. Time is divided into equal parts, as
/// short as possible, whose length is a power of two. Stretches shorter than a part that
/// start in the same part, with no longer stretch between them, are merged into a block.
pub(super) fn merge(all: &[BusyTime], limit: usize) -> MergedSpans {
    let mut part = 1u64;
    let mut groups: Vec<&[BusyTime]> = all.chunks(1).collect();
    while groups.len() > limit {
        let Some(longer) = part.checked_mul(2) else {
            // Unreachable unless a run lasts for centuries.
            groups = vec![all];
            break;
        };
        part = longer;
        groups = group_spans(all, part);
    }
    let mut merged = MergedSpans::default();
    for group in groups {
        if let [busy] = group {
            merged.spans.push(span(busy, busy.label.clone(), busy.kind));
        } else if let Some(first) = group.first() {
            merged.were += group.len();
            merged.blocks += 1;
            merged.shorter_than = part;
            let to = group.last().map_or(first.to, |last| last.to);
            let whole = BusyTime {
                to,
                ..first.clone()
            };
            merged.spans.push(span(
                &whole,
                label(group, to - first.from),
                SpanKind::Merged,
            ));
        }
    }
    merged
}

fn group_spans(all: &[BusyTime], part: u64) -> Vec<&[BusyTime]> {
    let short = |busy: &BusyTime| busy.to - busy.from < part;
    all.chunk_by(|a, b| short(a) && short(b) && a.from / part == b.from / part)
        .collect()
}

fn span(busy: &BusyTime, label: String, kind: SpanKind) -> BusySpan {
    BusySpan {
        start_ns: busy.from as f64,
        end_ns: busy.to as f64,
        label,
        kind,
    }
}

/// The label of a block: the number of stretches, their names, and the busy share: `7 x
/// hog, sync and 2 more, busy 83 %`.
fn label(group: &[BusyTime], ns: u64) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for busy in group {
        *sums.entry(&busy.label).or_default() += busy.to - busy.from;
    }
    let busy: u64 = sums.values().sum();
    let mut names: Vec<(&str, u64)> = sums.into_iter().collect();
    names.sort_by_key(|&(name, ns)| (std::cmp::Reverse(ns), name));
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named: Vec<&str> = names.iter().take(NAMED).map(|(name, _)| *name).collect();
    let share = if ns == 0 {
        100.0
    } else {
        100.0 * busy as f64 / ns as f64
    };
    format!(
        "{} x {}{more}, busy {share:.0} %",
        group.len(),
        named.join(", ")
    )
}
