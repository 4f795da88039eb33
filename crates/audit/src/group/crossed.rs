//! Names that each put two things together, every one of one kind with every one of the
//! other:
//!
//! ```text
//! Base XFS             lat_new  lat_old  tput_new  tput_old
//! Base EXT4
//! Parallel Writeback XFS
//! Parallel Writeback EXT4
//! ```
//!
//! The kind that differs more as configurations do is that of the configurations, and the
//! other says what was measured: nobody compares a change on one file system with what was
//! before on another.

use std::collections::{BTreeMap, BTreeSet};

use super::repeat::Stand;
use super::{Item, benchmark_names};
use crate::admission::contrast::Name;
use crate::roles::differing;
use crate::states;

/// So many points make names those of configurations.
const CONTRAST: i32 = 3;
/// A name of what was before has as many as two of opposite meaning.
const BASED: i32 = 4;
/// What stands between the two parts of a name.
const PARTED_BY: [char; 6] = [' ', '_', '-', '+', '/', ','];
/// No name of two parts is shorter.
const SHORTEST: usize = 3;
/// More names are no product that somebody thought of.
const MOST: usize = 24;

/// Makes the second part of such names one of the workload, of all names of a message or else
/// of those of a block.
pub(super) fn part_names(items: &mut [Item]) {
    let mut all: BTreeMap<Stand, BTreeSet<String>> = BTreeMap::new();
    let mut blocks: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    // Names of benchmarks are parted by rules of their own.
    let fits = |item: &Item| !benchmark_names::FORMATS.contains(&item.format);
    for item in items.iter().filter(|item| fits(item)) {
        let label = item.configuration_label.as_deref().map(plain);
        all.entry(item.stand).or_default().extend(label.clone());
        blocks.entry(item.block).or_default().extend(label);
    }
    let all: BTreeMap<Stand, BTreeMap<String, Parts>> = products(all);
    let blocks: BTreeMap<usize, BTreeMap<String, Parts>> = products(blocks);
    for item in items.iter_mut().filter(|item| fits(item)) {
        let parts = all.get(&item.stand).or_else(|| blocks.get(&item.block));
        let label = item.configuration_label.as_deref().map(plain);
        let Some(parts) = parts
            .zip(label)
            .and_then(|(parts, label)| parts.get(&label))
        else {
            continue;
        };
        item.configuration_label = Some(parts.state.clone());
        item.workload_name = Some(match &item.workload_name {
            Some(work) => format!("{work} [{}]", parts.other),
            None => parts.other.clone(),
        });
    }
}

fn products<K: Ord>(names: BTreeMap<K, BTreeSet<String>>) -> BTreeMap<K, BTreeMap<String, Parts>> {
    let parted = names.into_iter();
    parted
        .filter_map(|(of, names)| Some((of, product(&names)?)))
        .collect()
}

/// A name with one blank where there are several.
fn plain(name: &str) -> String {
    Vec::from_iter(name.split_whitespace()).join(" ")
}

/// What a name puts together.
#[derive(Debug, Clone, PartialEq)]
struct Parts {
    state: String,
    other: String,
}

/// The parts of each name, if all of them are one product. What is as short as `r`, and
/// `r #2`, is a column of ratios beside it.
fn product(names: &BTreeSet<String>) -> Option<BTreeMap<String, Parts>> {
    let stem = |name: &str| name.split(" #").next().map_or(0, str::len);
    let long = names.iter().filter(|name| stem(name) >= SHORTEST);
    let names: BTreeSet<String> = long.cloned().collect();
    if !(4..=MOST).contains(&names.len()) {
        return None;
    }
    let found = splits(names.first()?).filter_map(|at| parted_like(at, &names));
    // `Without this patch` is a state, and not only `Without`.
    found.max_by_key(|parts| parts.values().map(|parts| parts.state.len()).sum::<usize>())
}

/// The parts of each name if all are parted as the first is: what stands before, between and
/// behind.
fn parted_like(
    (left, between, right): (&str, &str, &str),
    names: &BTreeSet<String>,
) -> Option<BTreeMap<String, Parts>> {
    let behind = |name: &String| {
        let rest = name.strip_prefix(left)?.strip_prefix(between)?;
        Some(rest.to_owned())
    };
    let before = |name: &String| {
        let rest = name.strip_suffix(right)?.strip_suffix(between)?;
        Some(rest.to_owned())
    };
    let rights: BTreeSet<String> = names.iter().filter_map(behind).collect();
    let lefts: BTreeSet<String> = names.iter().filter_map(before).collect();
    if lefts.len() < 2 || rights.len() < 2 || lefts.len() * rights.len() != names.len() {
        return None;
    }
    let (of_lefts, of_rights) = (contrast(&lefts), contrast(&rights));
    if of_lefts == of_rights || of_lefts.max(of_rights) < CONTRAST {
        return None;
    }
    let mut parts = BTreeMap::new();
    for left in &lefts {
        for right in &rights {
            let name = format!("{left}{between}{right}");
            let (state, other) = match of_lefts > of_rights {
                true => (left.clone(), right.clone()),
                false => (right.clone(), left.clone()),
            };
            names
                .contains(&name)
                .then(|| parts.insert(name, Parts { state, other }))?;
        }
    }
    Some(parts)
}

/// How much parts differ as configurations do: most if one is what was before, and more if
/// each says what it is the opposite of, as `with` and `without` do.
fn contrast(parts: &BTreeSet<String>) -> i32 {
    let all = without_common_words(parts);
    let based = all.iter().any(|part| Name::of(part).is_base());
    let opposed = |part: &&str| {
        part.split(' ')
            .any(|word| states::opposed(&word.to_lowercase()))
    };
    let points = differing(&all).max(if based { BASED } else { 0 });
    points + i32::from(points >= BASED && all.iter().all(opposed))
}

/// What is left of names of the words with which all of them begin.
fn without_common_words(names: &BTreeSet<String>) -> Vec<&str> {
    let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
    while let Some((word, _)) = all.first().and_then(|name| name.split_once(' '))
        && let Some(rest) = all
            .iter()
            .map(|name| name.strip_prefix(word)?.strip_prefix(' '))
            .collect::<Option<Vec<&str>>>()
    {
        all = rest;
    }
    all
}

/// All ways to part a name: what stands before, between and behind.
fn splits(name: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    name.char_indices().filter_map(|(at, c)| {
        let (left, rest) = name.split_at_checked(at)?;
        let begins = PARTED_BY.contains(&c) && !left.ends_with(PARTED_BY);
        let right = rest.trim_start_matches(PARTED_BY);
        let between = rest.get(..rest.len() - right.len())?;
        (begins && !left.is_empty() && !right.is_empty()).then_some((left, between, right))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(names: &[&str]) -> Option<BTreeMap<String, Parts>> {
        product(&names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn states_of_each_of_several_things_are_the_configurations() {
        for (names, state, other) in [
            (
                [
                    "Base XFS",
                    "Base EXT4",
                    "Parallel Writeback XFS",
                    "Parallel Writeback EXT4",
                ],
                "Base",
                "XFS",
            ),
            (["lat_new", "lat_old", "tput_new", "tput_old"], "old", "lat"),
            (
                [
                    "vanilla, 4 threads",
                    "vanilla, 8 threads",
                    "patched, 4 threads",
                    "patched, 8 threads",
                ],
                "vanilla",
                "4 threads",
            ),
            (
                [
                    "v5.16 without the patch",
                    "v5.16 with the patch",
                    "v5.16 modified without the patch",
                    "v5.16 modified with the patch",
                ],
                "without the patch",
                "v5.16 modified",
            ),
            (
                [
                    "Without this patch, init=0",
                    "Without this patch, init=1",
                    "With this patch, init=0",
                    "With this patch, init=1",
                ],
                "With this patch",
                "init=1",
            ),
        ] {
            let parts = parted(&names).unwrap();
            assert_eq!(parts.len(), 4, "{names:?}");
            let found = parts
                .values()
                .any(|p| (&*p.state, &*p.other) == (state, other));
            assert!(found, "{parts:?}");
        }
    }

    #[test]
    fn what_is_no_product_of_states_and_things_is_left() {
        for names in [
            // One is missing.
            vec!["base XFS", "base EXT4", "patched XFS", "patched btrfs"],
            // Nothing says which of the two are configurations, or both are.
            vec!["red box", "red ball", "blue box", "blue ball"],
            vec!["base old", "base new", "patched old", "patched new"],
            vec!["base XFS", "patched XFS"],
        ] {
            assert_eq!(parted(&names), None, "{names:?}");
        }
    }
}
