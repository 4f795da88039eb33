//! The gate: which of the figures that were read are compared.
//!
//! `docs/audit.md` has the four rules by which figures of one workload are compared.
//!
//! Nothing is scored. Figures below other names (of machines, boots, passes, amounts, workloads)
//! and figures of several messages are not compared, unless the user says so.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Place;

use super::item::{Item, NamedBy, UNNAMED};
use super::names;
use crate::grammar::block::Finding;
use crate::grammar::list::LIST;
use crate::grammar::runs::RUNS;
use crate::options::Options;
use crate::states::{Side, are_before_and_after, side};

/// The decision on one workload and its reason.
pub(crate) struct Ruling {
    pub(crate) workload: String,
    pub(crate) place: Place,
    pub(crate) judged: bool,
    /// The rule that admits it, or the missing declaration.
    pub(crate) why: &'static str,
}

/// A figure's item with the name of its configuration.
pub(super) type Member<'a> = (&'a Item, &'a str);

/// Decides on one workload; `None` if there is nothing to compare.
pub(super) fn rule(workload: &str, members: &[Member<'_>], options: &Options) -> Option<Ruling> {
    let (first, _) = members.first()?;
    let mut met = BTreeSet::new();
    let all = members.iter().map(|(_, name)| *name);
    let names: Vec<&str> = all.filter(|name| met.insert(*name)).collect();
    if names.len() < 2 {
        return None;
    }
    let ruled = if is_asked_for(members, &names, options) {
        Ok("the user says what is compared")
    } else {
        declared(members, &names)
    };
    let (Ok(why) | Err(why)) = ruled;
    Some(Ruling {
        workload: workload.to_string(),
        place: first.place,
        judged: ruled.is_ok(),
        why,
    })
}

/// Whether the user names a configuration or says what the columns of tables are.
fn is_asked_for(members: &[Member<'_>], names: &[&str], options: &Options) -> bool {
    let given = |name: &&str| {
        let mut given = options.configurations.iter();
        given.any(|(_, given)| given.to_lowercase() == name.to_lowercase())
    };
    let by_table = |(item, _): &Member<'_>| matches!(item.named_by, NamedBy::Table(_));
    names.iter().any(given) || options.columns_are.is_some() && members.iter().any(by_table)
}

/// Returns the rule by which the text declares a comparison, or why it does not.
fn declared(members: &[Member<'_>], names: &[&str]) -> Result<&'static str, &'static str> {
    let items = || members.iter().map(|(item, _)| *item);
    if items().all(|item| item.named_by.is_comparing_tool(item.format)) {
        return Ok("the tool compares by itself");
    }
    let stands: BTreeSet<_> = items().map(|item| item.stand).collect();
    if stands.len() > 1 {
        return Err("the figures are of several messages or quotations");
    }
    if items().any(|item| item.older) {
        return Err("the text has other figures with the same names");
    }
    let tables: BTreeSet<NamedBy> = items().map(|item| item.named_by).collect();
    let states = are_before_and_after(names) && is_once(members, LIST);
    let listed = |item: &Item| item.format == LIST && item.named_by == NamedBy::Block;
    if states && items().all(listed) {
        return match are_settings(members) {
            true => Err("the figures are equal whole numbers, as settings are"),
            false => Ok("each list is below the name of a state before or after a change"),
        };
    }
    if let [NamedBy::Table(because)] = tables.iter().collect::<Vec<_>>()[..] {
        let below = items().all(|item| item.labels().configuration.is_none());
        return match because {
            Some(because) => Ok(because),
            None if states && below => {
                Ok("each table is below the name of a state before or after a change")
            }
            None => Err("nothing declares what is compared"),
        };
    }
    if let Some(why) = no_configurations(names) {
        return Err(why);
    }
    let state = |name: &str| side(name.rsplit_once(", ").map_or(name, |(_, state)| state));
    let before = names
        .iter()
        .filter(|name| state(name) == Some(Side::Before));
    if before.count() > 1 {
        return Err("several names are for the state before a change");
    }
    let formats: BTreeSet<&str> = items().map(|item| item.format).collect();
    let headed = |item: &Item| item.named_by == NamedBy::Heading;
    if items().any(|item| item.format == RUNS && heads_columns(item)) {
        return Err("a heading names columns, none of which holds runs");
    }
    if formats.len() == 1 && items().all(headed) && share_a_metric(members, names) {
        return match !formats.contains(RUNS) || is_once(members, RUNS) {
            true => Ok("each report of the tool is below the heading of a configuration"),
            false => Err("several rows below one heading have the same name"),
        };
    }
    Err("nothing declares what is compared")
}

/// Whether the heading of an item names columns: `Before:  A7  A8  A53`.
fn heads_columns(item: &Item) -> bool {
    let text = item.inner.as_deref().unwrap_or_default();
    let parts = text.split("  ").filter(|part| !part.trim().is_empty());
    let state = text
        .split_once(':')
        .filter(|(name, _)| side(name).is_some());
    let words = state.map_or(0, |(_, rest)| rest.split_whitespace().count());
    parts.count() > 2 || text.contains('\t') || words > 1
}

/// Whether each configuration has each metric once, or all its runs in one block of a format: two rows
/// that one name stands before measure different things.
fn is_once(members: &[Member<'_>], format: &str) -> bool {
    let mut met: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    members.iter().all(|(item, name)| {
        let mut metrics = item.metrics().into_iter();
        metrics.all(|metric| match met.insert((name, metric), item.block) {
            Some(block) => block == item.block && item.format == format,
            None => true,
        })
    })
}

/// Whether each metric has one whole number in all states.
fn are_settings(members: &[Member<'_>]) -> bool {
    let figures = members.iter().flat_map(|(item, _)| match &item.finding {
        Finding::Run { figures, .. } => &figures[..],
        Finding::Summary { figure, .. } => std::slice::from_ref(figure),
        _ => &[],
    });
    let mut met: BTreeMap<&str, f64> = BTreeMap::new();
    let mut figures = figures.map(|one| (one.value, met.insert(&one.metric, one.value)));
    figures.all(|(value, known)| value.fract() == 0.0 && known.is_none_or(|known| known == value))
}

/// Returns the reason if some names are not names of configurations.
fn no_configurations(names: &[&str]) -> Option<&'static str> {
    if names
        .iter()
        .any(|name| *name == UNNAMED || is_no_name(name))
    {
        return Some("no name of a configuration is above the figures");
    }
    let is_option = |word: &str| word.starts_with("--") && word.len() > 2 || word == ">";
    if names
        .iter()
        .any(|name| name.split(' ').any(is_option) || name.starts_with(['/', '.', '$', '%']))
    {
        return Some("the names are those of commands");
    }
    if names.iter().any(|name| names_circumstance(name)) {
        return Some("the names are of machines, boots or passes");
    }
    let workloads = names.iter().all(|name| names::is_workload(name));
    (workloads || differ_in_amounts(names))
        .then_some("the names are of several workloads or devices")
}

/// The words of a name in small letters.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let words =
        lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '=')));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a text is a figure or part of a sentence.
fn is_no_name(name: &str) -> bool {
    const TOLD: [&str; 28] = [
        "and", "or", "but", "so", "then", "when", "if", "while", "since", "because", "we", "you",
        "it", "i", "there", "they", "let", "use", "run", "execute", "here", "however", "also",
        "these", "those", "which", "thanks", "hi",
    ];
    let list = words(name);
    let told = list
        .first()
        .is_some_and(|word| TOLD.contains(&word.as_str()))
        && list.len() > 1;
    let who = list
        .iter()
        .any(|word| matches!(word.as_str(), "we" | "you" | "i"));
    let version = |word: &String| word.matches('.').count() >= 1 && word.len() <= 12;
    let figure = list
        .iter()
        .all(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !version(word));
    // `25.11` may be a release of a November.
    let month = |word: &str| {
        let (year, month) = word.split_once('.').unwrap_or_default();
        ("15".."40").contains(&year) && ("01".."13").contains(&month) && word.len() == 5
    };
    let one = list.len() == 1
        && !month(&list[0])
        && list[0]
            .parse::<f64>()
            .is_ok_and(|value| !(2.0..10.0).contains(&value));
    let says = |word: &String| matches!(word.as_str(), "is" | "are" | "was" | "were");
    let long = list.len() > 14 || name.len() > 110 || list.len() > 6 && list.iter().any(says);
    // `throughput of 6 writers = 2210.52 MB/s` was measured.
    let measured = name.contains('=') && list.iter().any(|word| word.ends_with("/s"));
    told || who || figure || one || long || measured
}

/// Whether a name only gives a place or time of measurement: `second boot`, `host a`.
fn names_circumstance(name: &str) -> bool {
    const CIRCUMSTANCES: [&str; 11] = [
        "machine", "host", "laptop", "board", "boot", "reboot", "pass", "rerun", "again",
        "attempt", "run",
    ];
    let list = words(name);
    let word = |word: &String| CIRCUMSTANCES.contains(&word.as_str());
    list.len() <= 3 && list.iter().any(word)
}

/// Whether names differ only in amounts: `8 threads` and `16 threads`.
fn differ_in_amounts(names: &[&str]) -> bool {
    let amount = |word: &str| {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
        unit.len() < word.len() && unit.len() <= 3 && unit.bytes().all(|b| b.is_ascii_alphabetic())
    };
    let stem = |name: &str| -> Vec<String> {
        // `use_vfs=0` and `use_vfs=1` are a switch.
        let part = |word: String| match word.rsplit_once(['=', '-', '_']) {
            Some((_, "0" | "1")) => word,
            Some((head, tail)) if amount(tail) => head.to_owned(),
            _ if amount(&word) => String::new(),
            _ => word.trim_end_matches('s').to_owned(),
        };
        words(name).into_iter().map(part).collect()
    };
    let stems: BTreeSet<Vec<String>> = names.iter().map(|name| stem(name)).collect();
    stems.len() < names.len()
}

/// Whether one metric was measured under each name.
fn share_a_metric(members: &[Member<'_>], names: &[&str]) -> bool {
    under(members)
        .values()
        .any(|these| these.len() == names.len())
}

/// The names under which each metric was measured.
pub(super) fn under<'m>(members: &'m [Member<'_>]) -> BTreeMap<&'m str, BTreeSet<&'m str>> {
    let mut under: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (item, name) in members {
        for metric in item.metrics() {
            under.entry(metric).or_default().insert(name);
        }
    }
    under
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_versions_name_configurations_and_amounts_do_not() {
        let named = "before|after, 5.10|6.1-rc3, v5.10|v6.1, 25.11|26.05, No opt|Bypass|IRQ plus bypass, \
                     V6.6|V6.6 + no Write Combine for VRAM, base|with 2 patches";
        let others = "12.5|13.5, unnamed|after, and then we measured|after, bench --fast|bench, \
                      first boot|second boot, hackbench|schbench, 8 threads|16 threads";
        for (all, expected) in [(named, true), (others, false)] {
            for names in all.split(", ") {
                let names: Vec<&str> = names.split('|').collect();
                assert_eq!(no_configurations(&names).is_none(), expected, "{names:?}");
            }
        }
    }
}
