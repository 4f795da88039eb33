//! Merges the call trees of two configurations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calls::Call;
use crate::difference::{CountedPair, divisor, mean, number};

/// A function at one place in the call tree, with figures for both configurations.
/// Figures are per job or per run, averaged over seeds.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
pub struct Branch {
    /// The thread or the function.
    pub name: String,
    /// Inclusive instructions in the first configuration.
    pub a: f64,
    /// Inclusive instructions in the second configuration.
    pub b: f64,
    /// `a - b`.
    pub difference: f64,
    /// Self instructions in the first configuration.
    pub own_a: f64,
    /// Self instructions in the second configuration.
    pub own_b: f64,
    /// The number of entries in the first configuration.
    pub entered_a: f64,
    /// The number of entries in the second configuration.
    pub entered_b: f64,
    /// Its callees, largest difference first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callees: Vec<Branch>,
}

/// One place in the trees of all runs: its node for each seed and configuration.
#[derive(Default)]
struct JoinedCall<'a> {
    a: Vec<Option<&'a Call>>,
    b: Vec<Option<&'a Call>>,
}

/// Merges the trees of all threads; empty if call trees were not recorded.
pub(crate) fn branches(pairs: &[CountedPair], by_job: bool) -> Vec<Branch> {
    let calls: Option<Vec<[&BTreeMap<String, Call>; 2]>> = pairs
        .iter()
        .map(|pair| {
            let [a, b] = [&pair.a, &pair.b].map(|side| side.calls.as_ref());
            Some([&a?.threads, &b?.threads])
        })
        .collect();
    let Some(calls) = calls else {
        return Vec::new();
    };
    let weights: Vec<[f64; 2]> = pairs
        .iter()
        .map(|pair| [&pair.a, &pair.b].map(|side| divisor(side, by_job)))
        .collect();
    let maps: Vec<[Option<&BTreeMap<String, Call>>; 2]> =
        calls.iter().map(|both| both.map(Some)).collect();
    join_branches(&maps, &weights)
}

fn join_branches(
    maps: &[[Option<&BTreeMap<String, Call>>; 2]],
    weights: &[[f64; 2]],
) -> Vec<Branch> {
    let mut places: BTreeMap<&str, JoinedCall<'_>> = BTreeMap::new();
    let none = || JoinedCall {
        a: vec![None; maps.len()],
        b: vec![None; maps.len()],
    };
    for (at, [a, b]) in maps.iter().enumerate() {
        for (name, call) in a.iter().flat_map(|map| map.iter()) {
            if let Some(place) = places.entry(name).or_insert_with(none).a.get_mut(at) {
                *place = Some(call);
            }
        }
        for (name, call) in b.iter().flat_map(|map| map.iter()) {
            if let Some(place) = places.entry(name).or_insert_with(none).b.get_mut(at) {
                *place = Some(call);
            }
        }
    }
    let mut all: Vec<Branch> = places
        .into_iter()
        .map(|(name, joint)| branch(name, &joint, weights))
        .collect();
    all.sort_by(|one, other| {
        let size = |branch: &Branch| branch.difference.abs();
        size(other)
            .total_cmp(&size(one))
            .then_with(|| other.a.total_cmp(&one.a))
            .then_with(|| one.name.cmp(&other.name))
    });
    all
}

fn branch(name: &str, joint: &JoinedCall<'_>, weights: &[[f64; 2]]) -> Branch {
    let means = |of: fn(&Call) -> u64| {
        let one = |calls: &[Option<&Call>], side: usize| {
            let values: Vec<f64> = calls
                .iter()
                .zip(weights)
                .map(|(call, weights)| {
                    let weight = weights.get(side).copied().unwrap_or(1.0);
                    number(call.map_or(0, of)) / weight
                })
                .collect();
            mean(&values)
        };
        [one(&joint.a, 0), one(&joint.b, 1)]
    };
    let [a, b] = means(Call::inclusive);
    let [own_a, own_b] = means(|call| call.own);
    let [entered_a, entered_b] = means(|call| call.entered);
    let below: Vec<_> = joint
        .a
        .iter()
        .zip(&joint.b)
        .map(|(a, b)| [a, b].map(|call| call.map(|call| &call.callees)))
        .collect();
    Branch {
        name: name.to_owned(),
        a,
        b,
        difference: a - b,
        own_a,
        own_b,
        entered_a,
        entered_b,
        callees: join_branches(&below, weights),
    }
}
