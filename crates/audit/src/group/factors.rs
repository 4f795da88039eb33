//! Recognises 2×2 (and 2^k) structures from the names of configurations.
//!
//! Three styles are known: flag expressions (`flags = A | B`), names that are
//! joined (`base`, `bypass`, `bypass + irq`) and switches (`x=on y=off`,
//! `with x, without y`). A grid counts only if every combination is there
//! exactly once.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Configuration;

/// Most factors that are looked for.
const MOST: usize = 4;

/// The factors of a set of configurations: their names, and for each
/// configuration of the grid its levels.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Grid {
    pub(crate) factors: Vec<String>,
    /// Index of the configuration and the factors that are on.
    pub(crate) cells: Vec<(usize, BTreeMap<String, bool>)>,
}

/// Looks for a grid among configurations.
pub(crate) fn find(configurations: &[&Configuration]) -> Option<Grid> {
    let styles = [flag_expressions, switches, joined_names];
    styles
        .iter()
        .find_map(|style| grid(configurations, &style(configurations)))
}

/// A configuration's index and the set of its atoms.
type Sets = Vec<(usize, Vec<String>)>;

fn grid(configurations: &[&Configuration], sets: &Sets) -> Option<Grid> {
    let mut atoms: Vec<String> = Vec::new();
    for (_, set) in sets {
        for atom in set {
            if !atoms.contains(atom) {
                atoms.push(atom.clone());
            }
        }
    }
    if atoms.len() < 2 || atoms.len() > MOST {
        return None;
    }
    let distinct: BTreeSet<BTreeSet<&String>> =
        sets.iter().map(|(_, set)| set.iter().collect()).collect();
    let full = 1 << atoms.len();
    if distinct.len() != sets.len() || distinct.len() != full {
        return None;
    }
    let names: Vec<String> = atoms
        .iter()
        .map(|atom| factor_name(atom, configurations, sets))
        .collect();
    let cells = sets
        .iter()
        .map(|(at, set)| {
            (
                *at,
                atoms
                    .iter()
                    .zip(&names)
                    .map(|(a, n)| (n.clone(), set.contains(a)))
                    .collect(),
            )
        })
        .collect();
    Some(Grid {
        factors: names,
        cells,
    })
}

/// A factor is called like the configuration that has it alone, if that name
/// is short; else like the flag.
fn factor_name(atom: &str, configurations: &[&Configuration], sets: &Sets) -> String {
    let alone = sets
        .iter()
        .find(|(_, set)| set.len() == 1 && set[0] == atom);
    let name = alone
        .map(|(at, _)| configurations[*at].name.to_lowercase())
        .unwrap_or_default();
    let name = name
        .trim_start_matches("with ")
        .trim_start_matches('+')
        .trim();
    if !name.is_empty() && name.split_whitespace().count() <= 2 && !name.contains([':', '+', '=']) {
        return name.to_string();
    }
    atom.to_lowercase()
}

/// `… flags = 0`, `… flags = A | B`: the same name left of the equals sign.
fn flag_expressions(configurations: &[&Configuration]) -> Sets {
    let mut by_name: BTreeMap<String, Sets> = BTreeMap::new();
    for (at, configuration) in configurations.iter().enumerate() {
        if let Some((name, set)) = flag_expression(&configuration.label) {
            by_name.entry(name).or_default().push((at, set));
        }
    }
    by_name
        .into_values()
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

fn flag_expression(label: &str) -> Option<(String, Vec<String>)> {
    let at = label.find('=')?;
    let name = label[..at]
        .trim_end()
        .rsplit(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')))
        .next()?;
    let value = label[at + 1..]
        .trim_start_matches('=')
        .split([')', ']', ',', ';'])
        .next()?
        .trim();
    if name.is_empty() || value.is_empty() {
        return None;
    }
    if matches!(value, "0" | "0x0" | "none" | "NONE") {
        return Some((name.to_string(), Vec::new()));
    }
    let flags: Vec<String> = value
        .split(['|', '+'])
        .map(|flag| flag.trim().to_string())
        .collect();
    let identifiers = flags.iter().all(|flag| {
        flag.len() >= 2
            && flag
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            && flag.bytes().any(|b| b.is_ascii_alphabetic())
            && !matches!(flag.as_str(), "on" | "off" | "yes" | "no")
    });
    identifiers.then(|| (name.to_string(), flags))
}

/// `base`, `bypass`, `irq`, `bypass + irq`, `irq plus bypass`.
fn joined_names(configurations: &[&Configuration]) -> Sets {
    let parts: Vec<Vec<String>> = configurations
        .iter()
        .map(|c| split_joined(&c.name))
        .collect();
    // What all names but one share as their first part is the base they build on.
    let stem = parts.iter().find(|p| p.len() == 1).filter(|base| {
        parts
            .iter()
            .filter(|p| p.len() > 1 && p[0] == base[0])
            .count()
            + 1
            == parts.len()
            && parts.len() >= 4
    });
    let stem = stem.map(|base| base[0].clone());
    let sets: Sets = parts
        .into_iter()
        .enumerate()
        .map(|(at, mut set)| {
            if stem.as_ref().is_some_and(|stem| set.first() == Some(stem)) {
                set.remove(0);
            } else if set.len() == 1 && is_base(&set[0]) {
                set.clear();
            }
            (at, set)
        })
        .collect();
    // Names outside the grid (another peer) are left out if what remains is one.
    let singles: BTreeSet<String> = sets
        .iter()
        .filter(|(_, s)| s.len() > 1)
        .flat_map(|(_, s)| s.iter().cloned())
        .collect();
    sets.into_iter()
        .filter(|(_, set)| set.iter().all(|atom| singles.contains(atom)))
        .collect()
}

fn split_joined(name: &str) -> Vec<String> {
    let lower = format!(" {} ", name.to_lowercase());
    let joined = [" plus ", " and ", " & ", " with "]
        .iter()
        .fold(lower, |text, word| text.replace(word, " + "));
    joined
        .split(['+', ','])
        .map(|part| part.trim().to_string())
        .filter(|part| !part.is_empty())
        .collect()
}

fn is_base(name: &str) -> bool {
    #[rustfmt::skip]
    const NOTHING: &[&str] = &[
        "none", "plain", "no opt", "no opts", "no options", "no flags", "neither", "off",
        "both off",
    ];
    NOTHING.contains(&name) || super::names::is_base(name)
}

/// `x=on y=off`, `x on, no y`, `with x, without y`.
fn switches(configurations: &[&Configuration]) -> Sets {
    let mut sets: Sets = Vec::new();
    for (at, configuration) in configurations.iter().enumerate() {
        let Some(parts) = switch_parts(&configuration.name) else {
            continue;
        };
        sets.push((
            at,
            parts
                .into_iter()
                .filter(|(_, on)| *on)
                .map(|(name, _)| name)
                .collect(),
        ));
    }
    sets
}

fn switch_parts(name: &str) -> Option<Vec<(String, bool)>> {
    let lower = name.to_lowercase();
    let parts: Vec<&str> = lower
        .split(['+', ',', ';', '/'])
        .flat_map(|part| part.split(" and "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let words: Vec<&str> = if parts.len() == 1 {
        lower.split_whitespace().collect()
    } else {
        parts
    };
    let read: Option<Vec<(String, bool)>> = words.iter().map(|part| switch(part)).collect();
    read.filter(|parts| parts.len() >= 2)
}

fn switch(part: &str) -> Option<(String, bool)> {
    const ON: &[&str] = &["on", "1", "y", "yes", "enabled", "true"];
    const OFF: &[&str] = &["off", "0", "n", "no", "disabled", "false"];
    let valued = part
        .split_once(['=', ':'])
        .or_else(|| part.rsplit_once(' '));
    if let Some((name, value)) = valued {
        let (name, value) = (name.trim().to_string(), value.trim());
        if ON.contains(&value) {
            return Some((name, true));
        }
        if OFF.contains(&value) {
            return Some((name, false));
        }
    }
    if let Some(name) = part
        .strip_prefix("without ")
        .or_else(|| part.strip_prefix("no "))
    {
        return Some((name.trim().to_string(), false));
    }
    part.strip_prefix("with ")
        .map(|name| (name.trim().to_string(), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_in(labels: &[&str]) -> Option<Grid> {
        let all: Vec<Configuration> = labels
            .iter()
            .map(|label| Configuration {
                name: super::super::names::short(label),
                label: label.to_string(),
                ..Configuration::default()
            })
            .collect();
        find(&all.iter().collect::<Vec<_>>())
    }

    #[test]
    fn flag_expressions_make_a_grid_beside_which_other_configurations_stand() {
        let grid = find_in(&[
            "DRM sched",
            "No opt (flags = 0)",
            "Bypass (flags = F_BYPASS)",
            "IRQ (flags = F_IRQ)",
            "IRQ plus bypass (flags = F_BYPASS | F_IRQ)",
        ])
        .unwrap();
        assert_eq!(grid.factors, ["bypass", "irq"]);
        assert_eq!(grid.cells.len(), 4);
        assert_eq!(
            grid.cells[2],
            (
                3,
                BTreeMap::from([("bypass".into(), false), ("irq".into(), true)])
            )
        );
    }

    #[test]
    fn joined_names_and_switches_make_a_grid() {
        assert_eq!(
            find_in(&["peer", "base", "a", "b", "a + b"])
                .unwrap()
                .factors,
            ["a", "b"]
        );
        assert_eq!(
            find_in(&["v6.6", "v6.6 + x", "v6.6 + y", "v6.6 + x + y"])
                .unwrap()
                .factors
                .len(),
            2
        );
        assert_eq!(
            find_in(&["x=off y=off", "x=on y=off", "x=off y=on", "x=on y=on"])
                .unwrap()
                .factors,
            ["x", "y"]
        );
    }

    #[test]
    fn a_grid_with_a_hole_is_none() {
        assert_eq!(find_in(&["base", "a", "a + b"]), None);
        assert_eq!(find_in(&["V6.6", "V6.6 + x", "V6.6 + no y"]), None);
    }
}
