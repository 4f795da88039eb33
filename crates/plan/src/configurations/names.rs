//! The names of configurations.

use indexmap::IndexMap;

use crate::levels::RawLevel;

/// Maximum length of a name, in characters.
pub(crate) const LONGEST: usize = 64;

/// Why a text cannot name a factor, a level or a workload; `None` if it can.
pub(crate) fn why_invalid(name: &str) -> Option<String> {
    let strange = name
        .chars()
        .find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | ':' | '-'));
    match strange {
        Some(c) => Some(format!("'{}' must not be in a name", c.escape_debug())),
        None if name.is_empty() => Some("a name must not be empty".into()),
        None if name.len() > LONGEST => Some(format!("longer than {LONGEST} characters")),
        None => None,
    }
}

/// The part of each level in the name of a configuration: empty for `off`, the factor's name for
/// `on`, else the level's name; `factor=level` where that would be ambiguous.
pub(crate) fn parts(factors: &IndexMap<String, IndexMap<String, RawLevel>>) -> Vec<Vec<String>> {
    let mut seen: IndexMap<String, usize> = IndexMap::from([("base".to_owned(), 1)]);
    for (factor, levels) in factors {
        for level in levels.keys() {
            if let Some(part) = short(factor, level) {
                *seen.entry(part.to_lowercase()).or_default() += 1;
            }
        }
    }
    factors
        .iter()
        .map(|(factor, levels)| {
            let part = |level: &String| match short(factor, level) {
                None => String::new(),
                Some(part) if seen.get(&part.to_lowercase()) == Some(&1) => part.to_owned(),
                Some(_) => format!("{factor}={level}"),
            };
            levels.keys().map(part).collect()
        })
        .collect()
}

fn short<'a>(factor: &'a str, level: &'a str) -> Option<&'a str> {
    match level {
        "off" => None,
        "on" => Some(factor),
        other => Some(other),
    }
}

/// The name of a combination of levels.
pub(crate) fn join(parts: &[Vec<String>], combination: &[usize]) -> String {
    let words: Vec<&str> = parts
        .iter()
        .zip(combination)
        .filter_map(|(parts, level)| parts.get(*level))
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    if words.is_empty() {
        "base".to_owned()
    } else {
        words.join("+")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration_names(factors: &[(&str, &[&str])]) -> Vec<Vec<String>> {
        let level = |name: &&str| ((*name).to_owned(), RawLevel::default());
        let factors = factors
            .iter()
            .map(|(name, levels)| ((*name).to_owned(), levels.iter().map(level).collect()))
            .collect();
        parts(&factors)
    }

    #[test]
    fn on_and_off_speak_of_the_factor() {
        let parts = configuration_names(&[("bypass", &["off", "on"]), ("irq", &["off", "on"])]);
        let name = |combination: &[usize]| join(&parts, combination);
        assert_eq!(name(&[0, 0]), "base");
        assert_eq!(name(&[1, 0]), "bypass");
        assert_eq!(name(&[0, 1]), "irq");
        assert_eq!(name(&[1, 1]), "bypass+irq");
    }

    #[test]
    fn levels_of_the_same_name_say_their_factor() {
        let parts = configuration_names(&[
            ("reader", &["Fifo", "other"]),
            ("writer", &["fifo", "slow"]),
        ]);
        assert_eq!(join(&parts, &[0, 0]), "reader=Fifo+writer=fifo");
        assert_eq!(join(&parts, &[1, 1]), "other+slow");
    }

    #[test]
    fn no_level_passes_for_another_thing() {
        assert_eq!(
            configuration_names(&[("x", &["base", "y"])]),
            [["x=base", "y"]]
        );
        let parts = configuration_names(&[("x", &["off", "on"]), ("y", &["X", "z"])]);
        assert_eq!(parts, [["", "x=on"], ["y=X", "z"]]);
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(why_invalid("debian:6.12-rt_1"), None);
        for name in ["", "a b", "a+b", "a=b", "a,b", "a/b", "ä", &"a".repeat(65)] {
            assert!(why_invalid(name).is_some(), "{name}");
        }
    }
}
