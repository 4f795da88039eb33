//! Items that name a configuration each and go on to the next line:
//!
//! ```text
//! 1. Unpatched kernel, libc's stat:
//!    2575328 ops/s
//! 2. Patched kernel, libc's stat:
//!    5434782 ops/s, +111% from 1
//! 3. Patched kernel, stat without a path: 5773672 ops/s, +124% from 1,
//!    +6.2% from 2.
//! ```
//!
//! Each has one figure with the unit of something measured, all the same unit.

use super::super::cells::{label, line_at};
use super::super::echoed::are_configurations;
use super::super::quantity::{Quantity, is_measure, metric_of, quantity};
use super::super::{Block, Figure, Finding, Taken, cells};
use super::{MOST, is_setting};
use crate::Line;

/// No name is longer, and no item has more lines.
const NAME: usize = 120;
const LINES: usize = 4;
/// An item with all its lines is not longer.
const LONGEST: usize = 400;

/// `2. ` or `2) `, and what follows.
pub(super) fn number(text: &str) -> Option<(u32, &str)> {
    let text = text.trim_start().trim_start_matches('(');
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, rest) = text.split_at(digits);
    let rest = rest.strip_prefix(['.', ')', ':'])?;
    let known = (1..=2).contains(&digits) && rest.starts_with([' ', '\t']);
    known
        .then(|| number.parse().ok())
        .flatten()
        .zip(Some(rest.trim()))
}

/// The name of a configuration, and its figure.
fn item(text: &str) -> Option<(&str, Quantity<'_>)> {
    let (name, rest) = text.split_once(": ")?;
    let (figure, tail) = quantity(rest)?;
    // What else has a unit may be what was measured.
    let mut others = tail.match_indices(|c: char| c.is_ascii_digit());
    let more = others.any(|(at, _)| {
        let begins = !tail[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.');
        begins && quantity(&tail[at..]).is_some_and(|(other, _)| is_measure(other.unit))
    });
    let ends = tail.is_empty() || tail.starts_with([',', '.', ' ']);
    let fits = name.len() <= NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !name.contains(['"', '<', '>', ';', '{', '}', '\\'])
        && !is_setting(name);
    (fits && ends && !more && is_measure(figure.unit)).then_some((name, figure))
}

/// Items numbered from one on, the lines of each joined.
fn joined(lines: &[Line<'_>]) -> Option<(Vec<(usize, String)>, usize)> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let mut items: Vec<(usize, String)> = Vec::new();
    let (mut at, mut used) = (0, 0);
    while let Some(text) = here(at).filter(|_| at < MOST) {
        let expected = u32::try_from(items.len() + 1).ok()?;
        let own = at - items.last().map_or(0, |(first, _)| *first);
        match number(text) {
            Some((number, rest)) if number == expected => items.push((at, rest.to_owned())),
            Some(_) => break,
            // The items may be parted by blank lines.
            None if text.trim().is_empty() && here(at + 1).and_then(number).is_some() => {}
            None if text.trim().is_empty() || own >= LINES => break,
            None => {
                let (_, last) = items.last_mut()?;
                last.push(' ');
                last.push_str(text.trim());
                if last.len() > LONGEST {
                    return None;
                }
            }
        }
        at += 1;
        if !text.trim().is_empty() {
            used = at;
        }
    }
    (items.len() >= 2).then_some((items, used))
}

/// Numbered items that name configurations.
pub(super) fn list(lines: &[Line<'_>]) -> Option<Block> {
    let (first, rest) = number(line_at(lines, 0)?)?;
    if first != 1 || !rest.contains(':') {
        return None;
    }
    let (joined, used) = joined(lines)?;
    let items: Vec<(usize, &str, Quantity<'_>)> = joined
        .iter()
        .map(|(at, text)| item(text).map(|(name, figure)| (*at, name, figure)))
        .collect::<Option<_>>()?;
    let names: Vec<&str> = items.iter().map(|(_, name, _)| *name).collect();
    let unit = items.first()?.2.unit;
    let distinct = (1..names.len()).all(|at| !names[..at].contains(&names[at]));
    let alike = items.iter().all(|(.., figure)| figure.unit == unit);
    if !distinct || !alike || !are_configurations(&names) {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["figure of a configuration" as Taken; used],
    };
    for (at, name, value) in items {
        let labels = cells::configuration(Some(&label(name)));
        let mut figure = Figure::new(metric_of(unit), value.value, unit);
        figure.step = Some(value.step);
        let figures = vec![figure];
        block.find(at, Finding::Run { labels, figures });
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing::{self, told};

    const POST: &str = "1. Unpatched kernel, plain lookup:\n   1250000 ops/s\n\
                        2. Patched kernel, plain lookup:\n   2500000 ops/s, +100% from 1\n\
                        3. Patched kernel, lookup by number: 2750000 ops/s, +120% from 1,\n   +10% from 2.\n";

    fn read(text: &str) -> Vec<(String, String, f64)> {
        testing::placed(&Lists, text)
    }

    #[test]
    fn a_numbered_item_has_the_figure_of_its_configuration() {
        assert_eq!(
            read(POST),
            told(&[
                ("Unpatched kernel, plain lookup", "ops/s", 1.25e6),
                ("Patched kernel, plain lookup", "ops/s", 2.5e6),
                ("Patched kernel, lookup by number", "ops/s", 2.75e6),
            ])
        );
    }

    #[test]
    fn steps_settings_and_items_of_several_figures_are_left_alone() {
        for text in [
            POST.replace("Unpatched", "Patched")
                .replace("by number", "lookup")
                .replace("plain", "some"),
            POST.replace("+100% from 1", "then 2600000 ops/s"),
            POST.replace("1250000 ops/s", "1250000 ns"),
            POST.replace("ops/s", "files"),
            POST.replace("lookup", "timeout"),
            "1. Without the patch: it waits\n2. With the patch: 12 ms\n".to_owned(),
        ] {
            assert_eq!(read(&text), [], "{text}");
        }
    }
}
