//! Sentences about a metric that moves in the opposite direction to others.

use std::collections::BTreeSet;

use super::{ComparisonFacts, verb, verdict_suffix};
use crate::document::Sentence;
use crate::words::and_list;

/// Maximum number of sentences of this kind.
const MOST: usize = 2;
/// Maximum number of metrics moving the other way that are named.
const OTHERS: usize = 4;

/// A metric that gets worse where others get better, or the reverse, with the configurations that
/// show this.
struct OddMetric<'d> {
    rows: Vec<ComparisonFacts<'d>>,
    /// Metrics that move the other way in all of these configurations.
    others: Vec<ComparisonFacts<'d>>,
}

/// Finds metrics that move against at least two others, which all agree. A metric for which more is
/// better counts with reversed direction. A metric that never varies, such as the size of an
/// object, is no trade-off. Unless `concern` is empty, it must contain one of the metrics.
pub(super) fn find(
    seen: &[ComparisonFacts<'_>],
    concern: &BTreeSet<usize>,
    higher: &BTreeSet<usize>,
) -> Vec<Sentence> {
    // If nothing varies, there is no t test.
    let varies = |s: &&ComparisonFacts<'_>| s.row.p_t.is_some();
    let seen: &[ComparisonFacts<'_>] = &seen.iter().filter(varies).copied().collect::<Vec<_>>();
    let mut odd = odd_ones(seen, higher);
    odd.retain(|one| {
        let mut moving = one.rows.iter().chain(&one.others);
        concern.is_empty() || moving.any(|s| concern.contains(&s.metric))
    });
    odd.sort_by_key(|o| std::cmp::Reverse(o.rows.len()));
    odd.truncate(MOST);
    odd.iter().map(sentence).collect()
}

fn odd_ones<'d>(seen: &[ComparisonFacts<'d>], higher: &BTreeSet<usize>) -> Vec<OddMetric<'d>> {
    let sense = |s: &ComparisonFacts<'_>| s.up != higher.contains(&s.metric);
    let mut found: Vec<OddMetric<'d>> = Vec::new();
    for place in places(seen) {
        let moved: Vec<ComparisonFacts<'d>> = seen
            .iter()
            .filter(|s| place == (s.workload, s.row.configuration.as_str()) && s.strong)
            .copied()
            .collect();
        let (up, down): (Vec<_>, Vec<_>) = moved.into_iter().partition(|s| sense(s));
        let (one, others) = match (&up[..], &down[..]) {
            ([one], others) | (others, [one]) if others.len() >= 2 => (*one, others),
            _ => continue,
        };
        let same = |o: &&mut OddMetric<'_>| {
            let first = &o.rows[0];
            (first.workload, first.metric, first.up) == (one.workload, one.metric, one.up)
        };
        match found.iter_mut().find(same) {
            Some(odd) => {
                odd.rows.push(one);
                let shared = |o: &ComparisonFacts<'_>| others.iter().any(|p| moves_alike(o, p));
                odd.others.retain(shared);
            }
            None => found.push(OddMetric {
                rows: vec![one],
                others: others.to_vec(),
            }),
        }
    }
    found.retain(|odd| !odd.others.is_empty());
    found
}

/// Workloads and configurations in order.
fn places<'d>(seen: &[ComparisonFacts<'d>]) -> Vec<(usize, &'d str)> {
    let mut places = Vec::new();
    for s in seen {
        let place = (s.workload, s.row.configuration.as_str());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn moves_alike(a: &ComparisonFacts<'_>, b: &ComparisonFacts<'_>) -> bool {
    (a.metric, a.up) == (b.metric, b.up)
}

fn sentence(odd: &OddMetric<'_>) -> Sentence {
    let first = &odd.rows[0];
    let named = |rows: &[ComparisonFacts<'_>]| {
        let names: Vec<String> = rows.iter().map(ComparisonFacts::configuration).collect();
        and_list(&names)
    };
    let (rising, falling): (Vec<ComparisonFacts<'_>>, Vec<ComparisonFacts<'_>>) =
        odd.others.iter().partition(|s| s.up);
    let moving: Vec<String> = [(rising, true), (falling, false)]
        .iter()
        .filter(|(rows, _)| !rows.is_empty())
        .map(|(rows, up)| {
            let all = rows.iter().map(|s| s.row.metric.clone());
            let mut metrics: Vec<String> = all.take(OTHERS).collect();
            match rows.len() - metrics.len() {
                0 => {}
                1 => metrics.push("one other".into()),
                n => metrics.push(format!("{n} others")),
            }
            format!("{} {}", and_list(&metrics), verb(*up, rows.len() > 1))
        })
        .collect();
    let text = format!(
        "{} {} on {} with {} while {}{}.",
        first.row.metric,
        verb(first.up, false),
        first.row.workload,
        named(&odd.rows),
        and_list(&moving),
        verdict_suffix(odd.rows.iter().chain(&odd.others))
    );
    let backing = odd.rows.iter().chain(&odd.others);
    Sentence {
        text,
        rows: backing.map(ComparisonFacts::name).collect(),
    }
}
