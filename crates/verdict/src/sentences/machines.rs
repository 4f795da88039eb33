//! Sentences about differences between machines.

use std::fmt;

use assize_bundle::Across;

use crate::document::{Agreement, Document, MachineComparison, Pooled, Sentence, Verdict};
use crate::words::{and_list, count_of, p_value, three, with_interval};

/// Maximum number of sentences about contradictions.
const MOST: usize = 2;

/// Sentences on machines that contradict each other; they come before anything
/// else.
pub(super) fn contradictions(document: &Document) -> Vec<Sentence> {
    let opposite: Vec<&Pooled> = pooled_with(document, Agreement::Opposite).collect();
    let mut sentences: Vec<Sentence> = opposite
        .iter()
        .take(MOST)
        .map(|row| contradiction(document, row))
        .collect();
    let more = opposite.len().saturating_sub(MOST);
    if let Some(last) = sentences.last_mut().filter(|_| more > 0) {
        last.text.pop();
        last.text.push_str(&format!(
            "; they also disagree in {}.",
            count_of(more, "more comparison")
        ));
        let rest = opposite.iter().skip(MOST);
        last.rows.extend(rest.map(|row| name(row)));
    }
    sentences
}

fn contradiction(document: &Document, row: &Pooled) -> Sentence {
    let shown = rows(document, row)
        .filter(|on| matches!(on.verdict, Verdict::Established | Verdict::Supported));
    let (up, down): (Vec<_>, Vec<_>) = shown.partition(|on| is_higher(on));
    let named = |side: &[&MachineComparison]| {
        let names: Vec<String> = side.iter().map(|on| figures(on)).collect();
        and_list(&names)
    };
    let several = document.across.plural();
    Sentence {
        text: format!(
            "The {several} disagree on {} on {} with {}: it is higher on {} and lower on {}; no \
             common effect is claimed.",
            row.metric,
            row.workload,
            row.configuration,
            named(&up),
            named(&down)
        ),
        rows: vec![name(row)],
    }
}

/// A sentence about the effect that differs in size between machines; if there
/// are several, the one with the smallest p.
pub(super) fn sizes(document: &Document) -> Option<Sentence> {
    let strong = |row: &&Pooled| matches!(row.verdict, Verdict::Established | Verdict::Supported);
    let (row, p) = pooled_with(document, Agreement::Differ)
        .filter(strong)
        .filter_map(|row| Some((row, row.q_p_welch?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let on: Vec<String> = rows(document, row).map(figures).collect();
    let random = row.ratio_random.or(row.difference_random)?;
    let several = document.across.plural();
    Some(Sentence {
        text: format!(
            "The change of {} on {} with {} differs between the {several} (p {}): {}; over \
             {several} like these {}.",
            row.metric,
            row.workload,
            row.configuration,
            p_value(p),
            and_list(&on),
            with_interval(random, row.ci_random)
        ),
        rows: vec![name(row)],
    })
}

/// On how many machines an effect is shown.
#[derive(Clone, Copy)]
pub(super) struct MachineCounts {
    shown: u32,
    of: u32,
    across: Across,
    /// The smallest and largest ratio, if they differ in size.
    differ: Option<[f64; 2]>,
}

impl MachineCounts {
    /// `0.81 [0.79, 0.83] on all 3 machines`; if the size differs between
    /// machines, the range from smallest to largest.
    pub(super) fn figures(self, ratio: f64, ci: [f64; 2]) -> String {
        match self.differ {
            Some([least, greatest]) => {
                format!("{} to {} {self}", three(least), three(greatest))
            }
            None => format!("{} {self}", with_interval(ratio, Some(ci))),
        }
    }
}

impl fmt::Display for MachineCounts {
    /// `on all 3 machines`, `on 2 of 3 machines`, or `over 3 machines, shown on none alone`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MachineCounts {
            shown, of, across, ..
        } = *self;
        let several = across.plural();
        match shown {
            0 => write!(f, "over {of} {several} together, on none alone"),
            2 if of == 2 => write!(f, "on both {several}"),
            shown if shown == of => write!(f, "on all {of} {several}"),
            shown => write!(f, "on {shown} of {of} {several}"),
        }
    }
}

/// On how many machines a comparison's effect is shown; `None` if it is not over
/// several machines.
pub(super) fn where_shown(document: &Document, wanted: [&str; 5]) -> Option<MachineCounts> {
    let row = document.pooled.iter().find(|row| key(row) == wanted)?;
    let ratios: Option<Vec<f64>> = rows(document, row).map(|on| on.ratio).collect();
    let ends = |all: Vec<f64>| {
        let least = all.iter().copied().reduce(f64::min)?;
        Some([least, all.iter().copied().reduce(f64::max)?])
    };
    Some(MachineCounts {
        differ: ratios
            .filter(|_| row.agreement == Agreement::Differ)
            .and_then(ends),
        shown: row.shown_on,
        of: row.machines,
        across: document.across,
    })
}

fn pooled_with(document: &Document, agreement: Agreement) -> impl Iterator<Item = &Pooled> {
    let rows = document.pooled.iter();
    rows.filter(move |row| row.agreement == agreement)
}

fn key(row: &Pooled) -> [&str; 5] {
    [
        &row.workload,
        &row.metric,
        &row.unit,
        &row.baseline,
        &row.configuration,
    ]
}

fn rows<'d>(
    document: &'d Document,
    row: &'d Pooled,
) -> impl Iterator<Item = &'d MachineComparison> {
    let of_row = move |on: &&MachineComparison| {
        let this: [&str; 5] = [
            &on.workload,
            &on.metric,
            &on.unit,
            &on.baseline,
            &on.configuration,
        ];
        this == key(row)
    };
    document.machines.iter().filter(of_row)
}

fn is_higher(on: &MachineComparison) -> bool {
    on.ratio.is_some_and(|ratio| ratio > 1.0) || on.difference.is_some_and(|value| value > 0.0)
}

/// `name (0.93 [0.91, 0.95])`.
fn figures(on: &MachineComparison) -> String {
    match on.ratio.or(on.difference) {
        Some(effect) => format!("{} ({})", on.machine, with_interval(effect, on.ci)),
        None => on.machine.clone(),
    }
}

fn name(row: &Pooled) -> String {
    format!("{} {} {}", row.workload, row.metric, row.configuration)
}
