//! Names that hold both the workload and the configuration.

use std::collections::{BTreeMap, BTreeSet};

use super::Item;
use crate::admission::amounts::is_amount;
use crate::headings::is_generic;
use crate::roles::words::{names_configuration, names_metric};
use crate::states;

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
    let parted: Vec<Parted> = match STYLES.into_iter().find(fits) {
        Some(style) => items.iter().map(|item| of(style, item)).collect(),
        None => part_by_state(items),
    };
    for (item, parted) in items.iter_mut().zip(parted) {
        let Some((stem, inner)) = parted else {
            continue;
        };
        let workload = item.workload_name.take();
        let named = |name: String| format!("{name} {stem}").trim_end().to_owned();
        item.workload_name = Some(workload.map_or(stem.clone(), named));
        item.configuration_label = Some(inner);
    }
}

/// Names that are equal but for one word of a state, wherever it stands: `fio, with 8
/// clients, results before` and `fio, with 8 clients, results after`.
fn part_by_state(items: &[Item]) -> Vec<Parted> {
    let labels: BTreeSet<&str> = items
        .iter()
        .filter_map(|item| item.configuration_label.as_deref())
        .collect();
    if !(4..=MOST).contains(&labels.len()) {
        return vec![None; items.len()];
    }
    let parted = parts_by_state(&labels);
    let own = |item: &Item| parted.get(item.configuration_label.as_deref()?).cloned();
    items.iter().map(own).collect()
}

/// More names are not looked at.
const MOST: usize = 200;

fn parts_by_state<'l>(labels: &BTreeSet<&'l str>) -> BTreeMap<&'l str, (String, String)> {
    let is_state = |word: &str| {
        let lower = word.to_lowercase();
        states::is_bare(&lower)
            || states::OPPOSITES
                .iter()
                .any(|(low, high)| *low == lower || *high == lower)
    };
    // What is left of a name without one of its words, the words that stand there, and
    // the names.
    let mut frames: BTreeMap<(&str, &str), BTreeMap<String, &'l str>> = BTreeMap::new();
    for label in labels {
        for word in label.split(|c: char| !(c.is_alphanumeric() || c == '/')) {
            let from = word.as_ptr().addr() - label.as_ptr().addr();
            if is_state(word) {
                let frame = (&label[..from], &label[from + word.len()..]);
                let here = frames.entry(frame).or_default();
                here.insert(word.to_lowercase(), label);
            }
        }
    }
    frames.retain(|(before, behind), states| {
        let bare = is_only_of_figures(before) && is_only_of_figures(behind);
        states.len() >= 2 && (bare || [*before, *behind].into_iter().any(says_what_is_done))
    });
    let sets: BTreeSet<Vec<&String>> = frames.values().map(|s| s.keys().collect()).collect();
    let named: Vec<&str> = frames.values().flat_map(|s| s.values().copied()).collect();
    let once = named.iter().collect::<BTreeSet<_>>().len() == named.len();
    if frames.len() < 2 || sets.len() != 1 || !once || named.len() != labels.len() {
        return BTreeMap::new();
    }
    let part = |cut: fn(&str, &str, &str) -> (String, String)| {
        let mut all = BTreeMap::new();
        for ((before, behind), states) in &frames {
            for label in states.values() {
                let word = &label[before.len()..label.len() - behind.len()];
                all.insert(*label, cut(before, word, behind));
            }
        }
        let mut stems: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (stem, inner) in all.values() {
            stems.entry(stem).or_default().insert(inner);
        }
        let mut sets = stems.values();
        let first = sets.next();
        let same = stems.len() == frames.len() && sets.all(|set| Some(set) == first);
        let bare = |stem: &&&str| !has_word(stem);
        (same && stems.keys().filter(bare).count() <= 1).then_some(all)
    };
    part(around).or_else(|| part(alone)).unwrap_or_default()
}

/// What stands between commas or colons with a word of a state is the configuration.
fn around(before: &str, word: &str, behind: &str) -> (String, String) {
    let ends = |c: char| matches!(c, ',' | ':' | ';');
    let from = before.rfind(ends).map_or(0, |at| at + 1);
    let to = behind.find(ends).unwrap_or(behind.len());
    let rest = [&before[..from], &behind[to..]]
        .map(|part| part.trim_matches(|c| ends(c) || c == ' '))
        .into_iter()
        .filter(|part| !part.is_empty());
    let inner = format!("{}{word}{}", &before[from..], &behind[..to]);
    (
        rest.collect::<Vec<_>>().join(", "),
        inner.trim().to_string(),
    )
}

/// The word alone is the configuration, with the key whose value it is.
fn alone(before: &str, word: &str, behind: &str) -> (String, String) {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let key = before.strip_suffix('=').map_or("", |head| {
        let from = head.trim_end_matches(part).len();
        &before[from..]
    });
    let before = &before[..before.len() - key.len()];
    let rest =
        [before, behind].map(|text| text.trim_matches(|c| matches!(c, ' ' | '/' | ';' | ',')));
    (rest.join(" ").trim().to_string(), format!("{key}{word}"))
}

/// Whether a part of a name has words that do not only say that something was changed:
/// `16 jobs`, and not `applying the patch`.
fn says_what_is_done(part: &str) -> bool {
    const OF_CHANGES: &[&str] = &["applied", "applying", "cl", "kernel", "with", "without"];
    let words = part.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).any(|word| {
        let lower = word.to_lowercase();
        let of_change = states::is_change(&lower)
            || OF_CHANGES.contains(&lower.as_str())
            || lower == "change"
            || lower == "changes";
        !of_change && !is_generic(&lower)
    })
}

/// Whether a part of a name says nothing, or only which figures stand below: `time before`
/// and `before` are headings of two experiments.
fn is_only_of_figures(part: &str) -> bool {
    let words = part.split(|c: char| !c.is_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty());
    words.all(|word| names_metric(&word.to_lowercase()))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(labels: &[&str]) -> Vec<Option<(String, String)>> {
        let parted = parts_by_state(&labels.iter().copied().collect());
        let own = |label: &&str| parted.get(label).cloned();
        labels.iter().map(own).collect()
    }

    fn named(parts: &[(&str, &str)]) -> Vec<Option<(String, String)>> {
        let own = |(stem, inner): &(&str, &str)| Some((stem.to_string(), inner.to_string()));
        parts.iter().map(own).collect()
    }

    #[test]
    fn names_that_differ_in_one_word_of_a_state_are_parted_there() {
        assert_eq!(
            parts(&[
                "fio with 8 clients, results before",
                "fio with 8 clients, results after",
                "fio with 16 clients, results before",
                "fio with 16 clients, results after",
            ]),
            named(&[
                ("fio with 8 clients", "results before"),
                ("fio with 8 clients", "results after"),
                ("fio with 16 clients", "results before"),
                ("fio with 16 clients", "results after"),
            ])
        );
        assert_eq!(
            parts(&[
                "Get/pool=false;n=8",
                "Get/pool=true;n=8",
                "Put/pool=false;n=8",
                "Put/pool=true;n=8"
            ]),
            named(&[
                ("Get n=8", "pool=false"),
                ("Get n=8", "pool=true"),
                ("Put n=8", "pool=false"),
                ("Put n=8", "pool=true"),
            ])
        );
        assert_eq!(
            parts(&[
                "Deleting without the index of names",
                "Deleting with the index of names",
                "Creating without the index of names",
                "Creating with the index of names",
            ]),
            named(&[
                ("Deleting the index of names", "without"),
                ("Deleting the index of names", "with"),
                ("Creating the index of names", "without"),
                ("Creating the index of names", "with"),
            ])
        );
    }

    #[test]
    fn states_that_come_again_are_of_another_experiment() {
        assert_eq!(
            parts(&["time before", "time after", "before", "after"]),
            named(&[
                ("time", "before"),
                ("time", "after"),
                ("", "before"),
                ("", "after"),
            ])
        );
        let other = parts(&["the patch before", "the patch after", "before", "after"]);
        assert!(other.iter().all(Option::is_none));
    }

    #[test]
    fn names_without_a_pair_for_each_are_left_alone() {
        for labels in [
            &[
                "8 clients, before",
                "8 clients, after",
                "16 clients, before",
                "32 clients, after",
            ][..],
            &[
                "8 clients, before",
                "8 clients, after",
                "16 clients, old",
                "16 clients, new",
            ],
            &["8 clients, before", "8 clients, after"],
            &[
                "read, 8 clients",
                "read, 16 clients",
                "write, 8 clients",
                "write, 16 clients",
            ],
        ] {
            assert!(parts(labels).iter().all(Option::is_none), "{labels:?}");
        }
    }
}
