//! Names that hold both the workload and the configuration.

use std::collections::{BTreeMap, BTreeSet};

use super::Item;
use crate::admission::amounts::is_amount;
use crate::roles::words::names_configuration;

/// A name's workload and its configuration.
type Parted = Option<(String, String)>;

/// How names are put together.
const STYLES: [fn(&str) -> Parted; 5] = [bracketed, listed, first_word, last_word, joined];

/// Names such as `small (old)`, `small (new)`, `large (old)`, `large (new)`, or
/// `old small`, `new small` and so on: what the workload is and what the
/// configuration is are parted. Only where every workload has the same two
/// configurations or more.
pub(super) fn part_names(items: &mut [Item]) {
    let of = |style: fn(&str) -> Parted, item: &Item| {
        let label = item.configuration_label.as_deref();
        label.and_then(style)
    };
    let fits = |style: &fn(&str) -> Parted| {
        let mut stems: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (stem, inner) in items.iter().filter_map(|item| of(*style, item)) {
            stems.entry(stem).or_default().insert(inner);
        }
        let mut sets = stems.values();
        let first = sets.next().filter(|set| set.len() >= 2 && stems.len() >= 2);
        first.is_some_and(|first| sets.all(|set| set == first))
    };
    let Some(style) = STYLES.into_iter().find(fits) else {
        return;
    };
    for item in items.iter_mut() {
        let Some((stem, inner)) = of(style, item) else {
            continue;
        };
        let workload = item.workload_name.take();
        item.workload_name = Some(workload.map_or(stem.clone(), |name| format!("{name} {stem}")));
        item.configuration_label = Some(inner);
    }
}

fn has_word(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// What stands in front of a parenthesis at the end, and in it; `pool (50k rows)` is the
/// configuration `pool` with so much work.
fn bracketed(label: &str) -> Parted {
    let head = label.trim().strip_suffix(')')?;
    let (stem, inner) = head.rsplit_once(" (")?;
    let (stem, inner) = (stem.trim(), inner.trim());
    let parted = has_word(stem) && has_word(inner) && !inner.contains(['(', ')']);
    let (workload, configuration) = match is_amount(inner) {
        true => (inner, stem),
        false => (stem, inner),
    };
    parted.then(|| (workload.to_string(), configuration.to_string()))
}

/// `8 jobs, before the change` or `before the change, 8 jobs`.
fn listed(label: &str) -> Parted {
    let (first, rest) = label.trim().trim_end_matches(':').split_once(", ")?;
    let configures = |part: &str| names_configuration(part) && !part.contains('=');
    let (stem, inner) = match (configures(first), configures(rest)) {
        (false, true) => (first, rest),
        (true, false) => (rest, first),
        _ => return None,
    };
    has_word(stem).then(|| (stem.trim().to_string(), inner.trim().to_string()))
}

/// `original aligned`: only the first word is one of configurations.
fn first_word(label: &str) -> Parted {
    let (first, rest) = label.trim().trim_end_matches(':').split_once(' ')?;
    worded(rest, first)
}

/// `aligned original`: only the last word is.
fn last_word(label: &str) -> Parted {
    let (rest, last) = label.trim().trim_end_matches(':').rsplit_once(' ')?;
    worded(rest, last)
}

/// `bfq_test1`: behind the mark stands the name of a test.
fn joined(label: &str) -> Parted {
    let (name, test) = label.trim().rsplit_once('_')?;
    let stem = test.trim_end_matches(|c: char| c.is_ascii_digit());
    let tested = super::names::workload_score(stem) > 0 && has_word(name);
    (tested && !name.contains(char::is_whitespace)).then(|| (test.to_string(), name.to_string()))
}

fn worded(workload: &str, configuration: &str) -> Parted {
    let plain = has_word(workload)
        && workload.split_whitespace().count() <= 3
        && !names_configuration(workload);
    (plain && names_configuration(configuration))
        .then(|| (workload.trim().to_string(), configuration.to_string()))
}
