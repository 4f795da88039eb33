//! Sentences about the metrics that were declared primary.

use std::collections::BTreeSet;

use super::{ComparisonFacts, verb, verdict_suffix};
use crate::document::{Document, Sentence, Verdict};
use crate::words::{and_list, count_of, plain};

/// Maximum number of metrics that get a sentence.
const METRICS: usize = 2;
/// Maximum number of configurations named with figures for each direction.
const CONFIGURATIONS: usize = 3;
/// Maximum number of further configurations named without figures.
const FURTHER: usize = 4;

/// A sentence for each of the first metrics, in the order of `seen`.
pub(super) fn find(
    document: &Document,
    seen: &[ComparisonFacts<'_>],
    primary: &BTreeSet<usize>,
) -> Vec<Sentence> {
    let mut metrics: Vec<usize> = Vec::new();
    for s in seen {
        if primary.contains(&s.metric) && !metrics.contains(&s.metric) {
            metrics.push(s.metric);
        }
    }
    let of = |metric: &usize| {
        let rows: Vec<&ComparisonFacts<'_>> = seen.iter().filter(|s| s.metric == *metric).collect();
        sentence(document, &rows)
    };
    metrics.iter().filter_map(of).take(METRICS).collect()
}

/// The sentence about one metric; `rows` are all rows of that metric.
fn sentence(document: &Document, rows: &[&ComparisonFacts<'_>]) -> Option<Sentence> {
    let metric = &rows.first()?.row.metric;
    let several = rows.iter().any(|s| s.workload != rows[0].workload);
    let moved = |up| {
        let strong: Vec<&ComparisonFacts<'_>> = rows
            .iter()
            .filter(|s| s.strong && s.up == up)
            .copied()
            .collect();
        (!strong.is_empty()).then(|| {
            let sure = sure(&strong);
            format!("{} {}{sure}", verb(up, false), places(&strong, several))
        })
    };
    let parts: Vec<String> = [false, true].into_iter().filter_map(moved).collect();
    let text = if parts.is_empty() {
        let able =
            |s: &&&ComparisonFacts<'_>| s.row.p_attainable.is_some_and(|p| p <= document.alpha);
        rows.iter().find(able)?;
        format!("{metric} {}.", unchanged_sentence(document, rows))
    } else {
        let undecided = rows
            .iter()
            .filter(|s| s.row.verdict == Verdict::Undecided)
            .count();
        let rest = match undecided {
            0 => String::new(),
            1 => format!("; 1 of {} is undecided", count_of(rows.len(), "comparison")),
            n => format!(
                "; {n} of {} are undecided",
                count_of(rows.len(), "comparison")
            ),
        };
        format!("{metric} {}{rest}.", parts.join(", and "))
    };
    let strong = rows.iter().filter(|s| s.strong || parts.is_empty());
    Some(Sentence {
        text,
        rows: strong.map(|s| s.name()).collect(),
    })
}

/// The verdict of rows in words, and the number of runs that could establish their differences.
fn sure(strong: &[&ComparisonFacts<'_>]) -> String {
    let short = strong
        .iter()
        .filter(|s| s.row.verdict != Verdict::Established);
    let needed: Option<Vec<u32>> = short.map(|s| s.row.runs_needed).collect();
    match needed.and_then(|all| all.into_iter().max()) {
        Some(runs) => format!(" (supported, not established: {runs} runs a side could)"),
        None => verdict_suffix(strong.iter().copied()).to_owned(),
    }
}

/// Says that nothing changed, if the runs could have shown a change.
fn unchanged_sentence(document: &Document, rows: &[&ComparisonFacts<'_>]) -> String {
    let equal = rows
        .iter()
        .filter(|s| s.row.verdict == Verdict::Equivalent)
        .count();
    let margin = plain(100.0 * document.margin);
    match (equal, rows.len()) {
        (n, all) if n == all => format!("is the same everywhere within \u{b1}{margin} %"),
        (0, 1) => "is not shown to differ".to_owned(),
        (0, all) => format!(
            "is not shown to differ in any of {}",
            count_of(all, "comparison")
        ),
        (n, all) => format!(
            "is not shown to differ in any of {}, of which {n} are equal within \u{b1}{margin} %",
            count_of(all, "comparison")
        ),
    }
}

/// The configurations, the most frequent first, with their workloads.
fn places(strong: &[&ComparisonFacts<'_>], several: bool) -> String {
    let mut groups: Vec<Vec<&ComparisonFacts<'_>>> = Vec::new();
    for s in strong {
        let name = &s.row.configuration;
        match groups.iter_mut().find(|g| g[0].row.configuration == *name) {
            Some(group) => group.push(s),
            None => groups.push(vec![s]),
        }
    }
    let size = |s: &ComparisonFacts<'_>| s.ratio.ln().abs();
    for group in &mut groups {
        group.sort_by(|a, b| size(b).total_cmp(&size(a)));
    }
    groups.sort_by(|a, b| {
        let more = b.len().cmp(&a.len());
        more.then_with(|| size(b[0]).total_cmp(&size(a[0])))
    });
    let (first, rest) = groups.split_at(groups.len().min(CONFIGURATIONS));
    let named: Vec<String> = first.iter().map(|group| place(group, several)).collect();
    let mut further: Vec<String> = rest
        .iter()
        .take(FURTHER)
        .map(|group| group[0].row.configuration.clone())
        .collect();
    match rest.len() - further.len() {
        0 => {}
        1 => further.push("one other".into()),
        n => further.push(format!("{n} others")),
    }
    let named = and_list(&named);
    match further.is_empty() {
        true => named,
        false => format!("{named}, also with {}", and_list(&further)),
    }
}

/// One configuration with its largest effect and its workloads; `rows` are its
/// rows, the largest effect first.
fn place(rows: &[&ComparisonFacts<'_>], several: bool) -> String {
    let most = rows[0];
    let (name, figures) = (&most.row.configuration, most.figures());
    match rows.len() {
        1 if several => format!("with {name} on {} ({figures})", most.row.workload),
        1 => format!("with {name} ({figures})"),
        n => format!(
            "with {name} on {n} workloads (most on {}: {figures})",
            most.row.workload
        ),
    }
}
