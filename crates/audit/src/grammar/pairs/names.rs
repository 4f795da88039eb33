//! What the two sides of a pair are called.

use super::amount;
use crate::states;

/// What the figure before a mark is, and the figure behind it.
type Names = Option<(String, String)>;

/// The metric of a pair and the names of its sides, from what stands before the first
/// figure, before a colon behind the mark, in parentheses behind the second figure and
/// before that figure; `None` if they do not fit.
pub(super) fn parted<'t>(
    head: &'t str,
    name: Option<&str>,
    bracketed: Option<&str>,
    stated: Option<&str>,
) -> Option<(&'t str, Names)> {
    Some(match (name, bracketed) {
        // `old: 5 → new: 6`, and `iops: old: 5 → new: 6`.
        (Some(name), _) => {
            let (metric, older) = head.rsplit_once(':').unwrap_or(("", head));
            (
                metric.trim(),
                Some((older.trim().to_owned(), name.to_owned())),
            )
        }
        (None, Some(name)) => (head, Some((format!("without {name}"), name.to_owned()))),
        (None, None) => match stated.zip(head.rsplit_once([' ', ':'])) {
            // `map time: before 104 s -> after 90 s`.
            Some((new, (metric, old))) if states::is_bare_base(old) => {
                let metric = metric.trim_end_matches([' ', ':']);
                (metric, Some((old.to_owned(), new.to_owned())))
            }
            Some(_) => return None,
            None => (head, None),
        },
    })
}

/// What was measured, and the names of both figures if they stand behind it:
/// `IOPS(off/on)`.
pub(super) fn names_listed(head: &str) -> (&str, Names) {
    let parted = head.strip_suffix(')').and_then(|head| {
        let (metric, inner) = head.rsplit_once('(')?;
        let (older, newer) = inner.split_once(['/', '|'])?;
        let fits = |name: &str| fit_name(name) && !name.contains(['/', '|']);
        let named = !metric.trim().is_empty() && fits(older) && fits(newer) && older != newer;
        let names = (older.trim().to_owned(), newer.trim().to_owned());
        named.then(|| (metric.trim(), Some(names)))
    });
    parted.unwrap_or((head, None))
}

/// A word for a state before a figure, and what follows it.
pub(super) fn state_before(text: &str) -> (Option<&str>, &str) {
    let parted = text.trim_start().split_once(' ');
    match parted.filter(|(word, rest)| states::is_bare(word) && amount(rest).is_some()) {
        Some((word, rest)) => (Some(word), rest),
        None => (None, text),
    }
}

pub(super) fn fit_name(name: &str) -> bool {
    !name.is_empty()
        && name.split_whitespace().count() <= 4
        && name.bytes().any(|b| b.is_ascii_alphabetic())
}

/// `(batched)` glued to a figure.
pub(super) fn note(tail: &str) -> (Option<&str>, &str) {
    let inner = tail.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match inner {
        Some((name, rest)) if fit_name(name) && !name.contains('%') => (Some(name), rest),
        _ => (None, tail),
    }
}
