//! The parts of the document that a mail shortens to a line: secondary metrics, declared tables,
//! and events whose rates are undecided.

use assize_verdict::{Comparison, Document, Verdict, count_of};

use crate::brief::Brief;
use crate::contrasts::{RowOutcome, distinct_metrics, fixed_outcome};
use crate::wrap::push_wrapped;

/// The state of a secondary metric.
#[derive(Clone, Copy, PartialEq)]
enum SecondaryState {
    Different,
    Equivalent,
    Equal,
    Undecided,
}

const WORDS: [(SecondaryState, &str); 4] = [
    (SecondaryState::Different, "different"),
    (
        SecondaryState::Equivalent,
        "no difference larger than the margin",
    ),
    (SecondaryState::Equal, "equal in every run"),
    (SecondaryState::Undecided, "undecided"),
];

/// The document without secondary metrics, and a paragraph that names them; `None` and an empty
/// text if all tables are requested or no metric is primary.
pub(super) fn without(document: &Document, asked: &Brief<'_>) -> (Option<Document>, String) {
    let secondary: Vec<&Comparison> = document
        .comparisons
        .iter()
        .filter(|row| !row.primary)
        .collect();
    let primary = document.comparisons.len() - secondary.len();
    if asked.all || primary == 0 || secondary.is_empty() {
        return (None, String::new());
    }
    let mut text = String::from("Secondary metrics (tables: --format mail --all)\n");
    for (state, word) in WORDS {
        let metrics = metrics_in(document, &secondary, state);
        if metrics.is_empty() {
            continue;
        }
        let line = match state {
            // Undecided metrics are only counted.
            SecondaryState::Undecided => format!("{word}: {}", count_of(metrics.len(), "metric")),
            _ => format!("{word}{}", grouped(&metrics)),
        };
        push_wrapped(&mut text, "  ", "    ", &line);
    }
    let mut shown = document.clone();
    let undecided = drop_undecided_rates(&mut shown);
    for (word, names) in [
        ("undecided events", undecided),
        ("declared tables", declared(&mut shown)),
    ] {
        if !names.is_empty() {
            push_wrapped(
                &mut text,
                "  ",
                "    ",
                &format!("{word}: {}", names.join(", ")),
            );
        }
    }
    text.push('\n');
    let is_primary = |metric: &str| {
        let mut rows = document.comparisons.iter();
        rows.any(|row| row.primary && row.metric == metric)
    };
    shown.comparisons.retain(|row| row.primary);
    shown.factorial.retain(|fit| is_primary(&fit.metric));
    shown.noise_floor.retain(|row| is_primary(&row.metric));
    (Some(shown), text)
}

/// Removes events without a decided rate, and returns their names.
fn drop_undecided_rates(document: &mut Document) -> Vec<String> {
    let mut decided: Vec<(String, String)> = Vec::new();
    for row in &document.rate_comparisons {
        if row.verdict != Verdict::Undecided {
            decided.push((row.workload.clone(), row.event.clone()));
        }
    }
    let is_decided = |workload: &str, event: &str| {
        let mut known = decided.iter();
        known.any(|(on, name)| (on.as_str(), name.as_str()) == (workload, event))
    };
    let mut names: Vec<String> = Vec::new();
    document.rate_comparisons.retain(|row| {
        let kept = is_decided(&row.workload, &row.event);
        let name = match row.workload == row.event {
            true => row.event.clone(),
            false => format!("{} on {}", row.event, row.workload),
        };
        if !kept && !names.contains(&name) {
            names.push(name);
        }
        kept
    });
    document
        .rates
        .retain(|rate| is_decided(&rate.workload, &rate.event));
    names
}

/// Removes the declared tables, and returns their number as text; empty if there are none.
fn declared(document: &mut Document) -> Vec<String> {
    let count = std::mem::take(&mut document.tables).len();
    (count > 0).then(|| count.to_string()).into_iter().collect()
}

/// A metric, and the number of its rows with a certain state.
struct CountedMetric<'r> {
    name: &'r str,
    count: usize,
    all: usize,
}

/// The metrics with a certain state.
fn metrics_in<'r>(
    document: &Document,
    rows: &[&'r Comparison],
    state: SecondaryState,
) -> Vec<CountedMetric<'r>> {
    let metrics = distinct_metrics(rows);
    let counted = metrics.into_iter().filter_map(|metric| {
        let of_metric: Vec<SecondaryState> = rows
            .iter()
            .filter(|row| row.metric == metric)
            .map(|row| state_of(document, row))
            .collect();
        let (all, first) = (of_metric.len(), leading(&of_metric));
        let count = of_metric.iter().filter(|one| **one == state).count();
        (first == state).then_some(CountedMetric {
            name: metric,
            count,
            all,
        })
    });
    counted.collect()
}

/// First the metrics with a state in all rows, then those with it in some, sorted by that number:
/// `: jobs; in some of 4 rows: busy_time (3)`.
fn grouped(metrics: &[CountedMetric<'_>]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = vec![(": ".to_owned(), Vec::new())];
    for CountedMetric { name, count, all } in metrics {
        if count == all {
            groups[0].1.push((*name).to_owned());
            continue;
        }
        let title = format!(" in some of {all} rows: ");
        let name = format!("{name} ({count})");
        match groups.iter_mut().find(|(one, _)| *one == title) {
            Some((_, names)) => names.push(name),
            None => groups.push((title, vec![name])),
        }
    }
    let groups = groups.into_iter().filter(|(_, names)| !names.is_empty());
    let parts = groups.map(|(title, names)| format!("{title}{}", abbreviated(&names).join(", ")));
    parts.collect::<Vec<_>>().join(";")
}

/// Names without the prefix, up to the last `_`, that they share with the previous name:
/// `ioctl_ns_p50 (2), _p99 (3)`.
fn abbreviated(names: &[String]) -> Vec<String> {
    let stem = |name: &str| {
        let word = name.split(' ').next().unwrap_or_default();
        word.rfind('_').map_or(0, |at| at)
    };
    let mut before = "";
    let short = names.iter().map(|name| {
        let end = stem(name);
        let same = end > 0 && before.get(..stem(before)) == name.get(..end);
        before = name;
        name[if same { end } else { 0 }..].to_owned()
    });
    short.collect()
}

/// The state of a metric as a whole: the first in [`WORDS`] that any of its rows has.
fn leading(states: &[SecondaryState]) -> SecondaryState {
    let words = WORDS.iter().map(|(state, _)| *state);
    let there = words.filter(|state| states.contains(state));
    // "No difference" only counts if no row is undecided.
    let mut there = there.filter(|state| {
        *state == SecondaryState::Different
            || *state == SecondaryState::Undecided
            || !states.contains(&SecondaryState::Undecided)
    });
    there.next().unwrap_or(SecondaryState::Undecided)
}

fn state_of(document: &Document, row: &Comparison) -> SecondaryState {
    match (fixed_outcome(document, row), row.verdict) {
        (Some(RowOutcome::Equal), _) => SecondaryState::Equal,
        (Some(_), _) | (_, Verdict::Established | Verdict::Supported) => SecondaryState::Different,
        (_, Verdict::Equivalent) => SecondaryState::Equivalent,
        (_, Verdict::Undecided) => SecondaryState::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::SecondaryState::{Different, Equal, Equivalent, Undecided};
    use super::*;

    #[test]
    fn a_metric_is_named_once_by_what_matters_most() {
        assert!(leading(&[Equal, Different, Undecided]) == Different);
        assert!(leading(&[Equivalent, Undecided]) == Undecided);
        assert!(leading(&[Equivalent, Equal]) == Equivalent);
        assert!(leading(&[Equal, Equal]) == Equal);
    }

    #[test]
    fn rows_are_counted_once_for_all_metrics_with_as_many() {
        let metric = |name, count, all| CountedMetric { name, count, all };
        let metrics = [
            metric("a", 1, 4),
            metric("b", 2, 2),
            metric("c", 3, 4),
            metric("d", 4, 8),
        ];
        assert_eq!(
            grouped(&metrics),
            ": b; in some of 4 rows: a (1), c (3); in some of 8 rows: d (4)"
        );
    }

    #[test]
    fn a_name_leaves_out_what_it_shares_with_the_one_before() {
        let names = ["a_ns_p50 (2)", "a_ns_p99", "a_us_p99", "jobs", "a_b"].map(String::from);
        let short = abbreviated(&names);
        assert_eq!(short, ["a_ns_p50 (2)", "_p99", "a_us_p99", "jobs", "a_b"]);
    }
}
