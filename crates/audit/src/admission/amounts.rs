//! Amounts of work in names: they tell workloads apart, not configurations.

use super::contrast::words;
use crate::roles::words::names_configuration;

/// Whether names are the same but for an amount in parentheses at their end, `pool (50k
/// rows)` and `pool (100k rows)`, or are amounts of one thing: `2 actions` and `20 actions`.
pub(crate) fn differ_in_amounts(names: &[&str]) -> bool {
    let counted = |name: &str| {
        let words = words(name);
        let (number, of) = words.split_first()?;
        let one = words.len() <= 3 && !of.is_empty() && !names_configuration(name);
        let stems = of.iter().map(|word| word.trim_end_matches('s').to_owned());
        (one && is_number(number)).then(|| (stems.collect(), vec![number.clone()]))
    };
    let bracketed = |name: &str| {
        let (stem, inner) = name.trim().strip_suffix(')')?.rsplit_once(" (")?;
        is_amount(inner).then(|| (words(stem), words(inner)))
    };
    let parts = |name: &str| counted(name).or_else(|| bracketed(name));
    let all: Option<Vec<_>> = names.iter().take(24).map(|name| parts(name)).collect();
    all.is_some_and(|all| {
        let differ = |pair: &[(Vec<String>, Vec<String>)]| match pair {
            [(stem, amount), (other, more)] => stem == other && amount != more,
            _ => false,
        };
        all.len() >= 2 && all.windows(2).all(differ)
    })
}

/// Whether a text is an amount of something: `50k rows`, `4 KiB`, `128 threads`.
pub(crate) fn is_amount(text: &str) -> bool {
    let words = words(text);
    let counted = words.len() >= 2 || words.iter().any(|word| !is_number(word));
    counted
        && words.len() <= 3
        && words.first().is_some_and(|word| measures(word))
        && !names_configuration(text)
}

/// `50k`, `128`, `4kib`, and no version.
fn measures(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < word.len() && unit.len() <= 3 && unit.bytes().all(|b| b.is_ascii_alphabetic())
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_other_amounts_in_parentheses_are_workloads() {
        for names in [
            &["pool (50k rows)", "pool (100k rows)"][..],
            &["pool (4k)", "pool (64k)", "pool (1M)"],
            &["1 action", "20 actions"],
        ] {
            assert!(differ_in_amounts(names), "{names:?}");
        }
        for names in [
            &["pool (50k rows)"][..],
            &["pool (50k rows)", "pool (50k rows)"],
            &["old (50k rows)", "new (100k rows)"],
            &["pool (old)", "pool (new)"],
            &["pool (6.1)", "pool (6.12)"],
            &["pool (1)", "pool (2)"],
            &["2 actions", "20 threads"],
            &["2 patched", "3 patched"],
            &["pool (2 patched)", "pool (3 patched)"],
        ] {
            assert!(!differ_in_amounts(names), "{names:?}");
        }
    }
}
