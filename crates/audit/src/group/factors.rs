//! Finds 2×2 (and 2^k) structures in the names of configurations.
//!
//! A name is a set of parts, joined with `+`, `|`, a comma, `and`, `plus` or `with`. A switch that
//! is off (`x=off`, `no x`, `flags = 0`) is not a part, nor is a word for the unchanged state. A
//! grid counts only if every combination of two to four parts occurs exactly once.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Configuration;

use crate::states::is_before;

/// How many factors a grid has.
const FACTORS: std::ops::RangeInclusive<usize> = 2..=4;
const ON: [&str; 6] = ["on", "1", "y", "yes", "enabled", "true"];
const OFF: [&str; 9] = [
    "off", "0", "0x0", "n", "no", "none", "disabled", "false", "neither",
];

/// The factors of a set of configurations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Grid {
    /// The names of the factors.
    pub(super) factors: Vec<String>,
    /// For each configuration of the grid: its index, and which factors are on.
    pub(super) cells: Vec<(usize, BTreeMap<String, bool>)>,
}

/// Looks for a grid among configurations: in the flags that their labels give in parentheses,
/// or in their names.
pub(super) fn find(configurations: &[(usize, &Configuration)]) -> Option<Grid> {
    let flags = |one: &Configuration| {
        let inside = one.label.strip_suffix(')')?.rsplit_once('(')?.1;
        inside.contains('=').then(|| parts(inside))
    };
    let name = |one: &Configuration| Some(parts(&one.name));
    grid(configurations, &flags).or_else(|| grid(configurations, &name))
}

/// The parts of a name that are on.
fn parts(name: &str) -> Vec<String> {
    let lower = format!(" {} ", name.to_lowercase());
    let joined = [" plus ", " and ", " & ", " with "].iter();
    let lower = joined.fold(lower, |text, word| text.replace(word, " + "));
    let mut words: Vec<&str> = lower.split(['+', '|', ',', ';', '/']).collect();
    if words.len() == 1 && lower.matches('=').count() > 1 {
        words = lower.split_whitespace().collect();
    }
    words.into_iter().filter_map(part).collect()
}

fn part(word: &str) -> Option<String> {
    let word = word.trim();
    let mut starts = ["without ", "no ", "both "].iter();
    let off = starts.any(|start| word.starts_with(start));
    if word.is_empty() || off || is_before(word) || OFF.contains(&word) {
        return None;
    }
    let marked = word.split_once(['=', ':']);
    let valued = marked.or_else(|| word.rsplit_once(' '));
    let part = match valued.map(|(name, value)| (name.trim(), value.trim())) {
        Some((_, value)) if OFF.contains(&value) => return None,
        Some((name, value)) if ON.contains(&value) => name,
        // `flags = F_BYPASS`
        Some((_, value)) if word.contains('=') => value,
        _ => word,
    };
    Some(part.to_owned())
}

fn grid(
    configurations: &[(usize, &Configuration)],
    parts_of: &dyn Fn(&Configuration) -> Option<Vec<String>>,
) -> Option<Grid> {
    let set = |(at, one): &(usize, &Configuration)| Some((*at, parts_of(one)?));
    let mut sets: Vec<(usize, Vec<String>)> = configurations.iter().filter_map(set).collect();
    // Another peer has a part that is combined with nothing.
    let combined = sets.iter().filter(|(_, set)| set.len() > 1);
    let combined: BTreeSet<String> = combined.flat_map(|(_, set)| set.iter().cloned()).collect();
    sets.retain(|(_, set)| set.iter().all(|part| combined.contains(part)));
    let common: Vec<String> = combined
        .iter()
        .filter(|part| sets.iter().all(|(_, set)| set.contains(part)))
        .cloned()
        .collect();
    let mut atoms: Vec<String> = Vec::new();
    for (_, set) in &mut sets {
        set.retain(|part| !common.contains(part));
        let new = set.iter().filter(|part| !atoms.contains(part));
        atoms.extend(new.cloned().collect::<Vec<_>>());
    }
    let distinct: BTreeSet<BTreeSet<&String>> =
        sets.iter().map(|(_, set)| set.iter().collect()).collect();
    let full = 1 << atoms.len().min(8);
    if !FACTORS.contains(&atoms.len()) || sets.len() != full || distinct.len() != full {
        return None;
    }
    let name = |atom: &String| factor_name(atom, configurations, &sets);
    let factors: Vec<String> = atoms.iter().map(name).collect();
    let levels = |set: &Vec<String>| {
        let on = atoms.iter().map(|atom| set.contains(atom));
        factors.iter().cloned().zip(on).collect()
    };
    let cells = sets.iter().map(|(at, set)| (*at, levels(set))).collect();
    Some(Grid { factors, cells })
}

/// Names a factor after the configuration that has only this factor on, if that name is short;
/// otherwise after the part.
fn factor_name(
    atom: &str,
    configurations: &[(usize, &Configuration)],
    sets: &[(usize, Vec<String>)],
) -> String {
    let alone = sets
        .iter()
        .find(|(_, set)| matches!(&set[..], [one] if one == atom));
    let mut all = configurations.iter();
    let named = all.find(|(at, _)| alone.is_some_and(|(own, _)| own == at));
    let name = named.map_or_else(String::new, |(_, one)| one.name.to_lowercase());
    let name = name.trim_start_matches("with ").trim_start_matches('+');
    let name = name.trim();
    let short = !name.is_empty() && name.split_whitespace().count() <= 2;
    match short && !name.contains([':', '+', '=']) {
        true => name.to_owned(),
        false => atom.to_owned(),
    }
}
