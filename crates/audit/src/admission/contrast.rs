//! Whether two names are those of two configurations of one thing.

use std::collections::BTreeSet;

use super::alone::{EMPTY, may_be_name};
use super::families::alternatives;
use super::signs::Sign;
use crate::roles::words::names_metric;

/// Words of which a configuration has one and the other its opposite.
const OPPOSITES: &[(&str, &str)] = &[
    ("before", "after"),
    ("bef", "after"),
    ("bef", "aft"),
    ("old", "new"),
    ("without", "with"),
    ("w/o", "w/"),
    ("w/o", "with"),
    ("wo", "w"),
    ("wo", "with"),
    ("off", "on"),
    ("disabled", "enabled"),
    ("disable", "enable"),
    ("unpatched", "patched"),
    ("false", "true"),
    ("n", "y"),
    ("no", "yes"),
    ("bad", "good"),
    ("pre", "post"),
    ("slow", "fast"),
    ("buggy", "fixed"),
    ("broken", "fixed"),
    ("unfixed", "fixed"),
    ("current", "proposed"),
    ("current", "new"),
    ("original", "new"),
    ("orig", "new"),
    ("base", "new"),
    ("stock", "new"),
    ("vanilla", "patched"),
    ("stock", "patched"),
    ("original", "patched"),
    ("base", "patched"),
    ("mainline", "patched"),
    ("parent", "commit"),
];

/// Words for what a change is compared with.
const BASELINES: &[&str] = &[
    "base",
    "baseline",
    "default",
    "vanilla",
    "mainline",
    "upstream",
    "unstable",
    "stock",
    "orig",
    "original",
    "unpatched",
    "reference",
    "control",
    "master",
    "unmodified",
    "before",
    "previous",
    "unfixed",
    "w/o",
    "without",
];

/// Words for what was changed.
const CHANGES: &[&str] = &[
    "patched",
    "patch",
    "patches",
    "patchset",
    "series",
    "fix",
    "fixed",
    "fixes",
    "modified",
    "optimized",
    "optimised",
    "improved",
    "after",
    "rfc",
    "revert",
    "reverted",
    "commit",
    "proposed",
];

/// The words of a name. `w/o`, `5.10-rc3` and `x_y` are one.
pub(super) fn words(name: &str) -> Vec<String> {
    name.to_lowercase()
        .split(|c: char| {
            !(c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '%' | '\''))
        })
        .flat_map(|word| {
            let word = word.trim_matches(|c: char| matches!(c, '.' | '-' | '_' | '\''));
            let parted = word.len() > 3 && !is_version(word) && !word.starts_with("w/");
            let parts: Vec<&str> = if parted {
                word.split(['-', '_', '/', '+']).collect()
            } else {
                vec![word]
            };
            parts.into_iter().map(str::to_string).collect::<Vec<_>>()
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// `5.10`, `v6.1-rc3`, `4.19.91-ck2`.
pub(super) fn is_version(word: &str) -> bool {
    let bare = word.trim_start_matches(['v', 'V']);
    let number = bare.split(['-', '+', '_']).next().unwrap_or(bare);
    let parts: Vec<&str> = number.split('.').collect();
    (2..=4).contains(&parts.len())
        && parts
            .iter()
            .all(|p| (1..=3).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
        && parts[0]
            .parse::<u32>()
            .is_ok_and(|major| (2..=9).contains(&major))
}

/// `v2`, `V13`.
fn is_series(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or("");
    (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// An abbreviated commit.
pub(super) fn is_commit(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// The strongest sign that two names stand for two configurations of one
/// thing, if there is any.
pub(crate) fn between(a: &str, b: &str) -> Option<Sign> {
    let (a_words, b_words) = (words(a), words(b));
    if is_parameter(a) || is_parameter(b) {
        return None;
    }
    if a_words == b_words {
        return mark_only(a, b);
    }
    if opposite(&a_words, &b_words) || negated(&a_words, &b_words) || changed(a, b) {
        return Some(Sign::OppositeNames);
    }
    let one = |list: &[&str]| {
        let has = |words: &[String]| words.iter().any(|word| list.contains(&word.as_str()));
        (has(&a_words), has(&b_words))
    };
    let (baseline, mut change) = (one(BASELINES), one(CHANGES));
    // A series is a change to what stands beside it.
    let series = |words: &[String]| words.iter().any(|word| is_series(word));
    if baseline.0 != baseline.1 {
        change = (change.0 || series(&a_words), change.1 || series(&b_words));
    }
    if (baseline.0 && change.1) || (baseline.1 && change.0) {
        return Some(Sign::OppositeNames);
    }
    if versions(&a_words, &b_words) {
        return Some(Sign::Versions);
    }
    if let (Some((key, _)), Some((other, _))) = (setting(a), setting(b))
        && key == other
    {
        return switched(a, b).then_some(Sign::Switched);
    }
    if alternatives(&a_words, &b_words) {
        return Some(Sign::Switched);
    }
    let own = |these: &[String], those: &[String]| {
        these.iter().filter(|word| !those.contains(word)).count()
    };
    let short = own(&a_words, &b_words) <= 6 && own(&b_words, &a_words) <= 6;
    let short = short && a_words.len() <= 12 && b_words.len() <= 12;
    let metric = |name: &str, listed: bool| !listed && names_metric(name);
    if metric(a, baseline.0 || change.0) || metric(b, baseline.1 || change.1) {
        return None;
    }
    if short && (baseline.0 != baseline.1 || change.0 != change.1) {
        return Some(Sign::BaselineName);
    }
    (short && grown(&a_words, &b_words)).then_some(Sign::ParallelNames)
}

/// `v6.1` and `v6.1-patched`: one name is the other, changed.
fn changed(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim().to_lowercase(), b.trim().to_lowercase());
    let only = |long: &str, short: &str| {
        let more = long.strip_prefix(short).filter(|_| !short.is_empty());
        let more = more.map(|more| more.trim_start_matches(['-', '_', '+', ' ', ',']));
        more.is_some_and(|more| {
            let parts = || more.split(['-', '_', ' ']).filter(|word| !word.is_empty());
            let change = |word: &str| CHANGES.contains(&word);
            parts().any(change) && parts().all(|word| change(word) || EMPTY.contains(&word))
        })
    };
    only(&a, &b) || only(&b, &a)
}

/// `x` and `x+`, which is how some write "with it".
fn mark_only(a: &str, b: &str) -> Option<Sign> {
    let plus = |long: &str, short: &str| {
        long.trim()
            .strip_suffix('+')
            .is_some_and(|stem| stem.trim() == short.trim())
    };
    (plus(a, b) || plus(b, a)).then_some(Sign::ParallelNames)
}

fn opposite(a: &[String], b: &[String]) -> bool {
    let only = |these: &[String], those: &[String], word: &str| {
        these.iter().any(|w| w == word) && !those.iter().any(|w| w == word)
    };
    // A single letter or `no` is an answer only where it stands last.
    let last = |words: &[String], word: &str| words.last().is_some_and(|w| w == word);
    OPPOSITES.iter().any(|(low, high)| {
        let brief = high.len() < 3 && !high.contains('/') || *low == "no";
        let meets = |a: &[String], b: &[String]| {
            only(a, b, low) && only(b, a, high) && (!brief || last(a, low) && last(b, high))
        };
        meets(a, b) || meets(b, a)
    })
}

/// `no polling` and `polling`, `unrepaired kernel` and `repaired kernel`.
fn negated(a: &[String], b: &[String]) -> bool {
    let stem = |word: &str| {
        ["un", "non", "no"]
            .iter()
            .find_map(|p| word.strip_prefix(p))
            .filter(|rest| rest.len() >= 4)
            .map(str::to_string)
    };
    let negation = |word: &str| matches!(word, "no" | "non" | "not" | "without" | "w/o" | "sans");
    let plain = |words: &[String]| -> Vec<String> {
        words
            .iter()
            .filter(|w| !negation(w) && !matches!(w.as_str(), "with" | "w/" | "the"))
            .map(|w| stem(w).unwrap_or_else(|| w.clone()))
            .collect()
    };
    let count = |words: &[String]| {
        words
            .iter()
            .filter(|w| negation(w) || stem(w).is_some())
            .count()
    };
    count(a) != count(b) && !plain(a).is_empty() && plain(a) == plain(b)
}

/// Both name a version, and not the same.
fn versions(a: &[String], b: &[String]) -> bool {
    // `stddev 2.2` has a figure, `5.10 patched` and `linux 5.10` a version.
    let of = |words: &[String]| -> BTreeSet<String> {
        let kernel = words
            .iter()
            .any(|w| matches!(w.as_str(), "linux" | "kernel" | "vanilla"));
        let bare = |word: &str| {
            word.matches('.').count() == 1 && word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        };
        let version = |(at, word): &(usize, &String)| {
            is_version(word) && (*at == 0 || kernel || !bare(word))
                || is_series(word)
                || is_commit(word)
        };
        words
            .iter()
            .enumerate()
            .filter(version)
            .map(|(_, word)| word.clone())
            .collect()
    };
    let (x, y) = (of(a), of(b));
    // Numbers alone may be anything; one of the two must say more.
    let says_more = |words: &[String]| {
        words
            .iter()
            // `2.6.32` is no figure.
            .any(|w| w.bytes().any(|b| b.is_ascii_alphabetic()) || w.matches('.').count() >= 2)
    };
    !x.is_empty() && !y.is_empty() && x != y && (says_more(a) || says_more(b))
}

/// Names of parameters of workloads.
const PARAMETERS: &[&str] = &[
    "bs",
    "size",
    "iodepth",
    "qd",
    "depth",
    "numjobs",
    "jobs",
    "threads",
    "thr",
    "rw",
    "block",
    "len",
    "length",
    "cpu",
    "cpus",
    "nr",
    "n",
    "groups",
    "iter",
    "pid",
    "id",
    "time",
    "quantile",
    "percentile",
];

/// `thr=64`: a parameter of a workload with its value.
fn is_parameter(name: &str) -> bool {
    name.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim().to_lowercase();
        PARAMETERS.contains(&key.as_str())
    })
}

/// `x=on`: a name and its value, in small letters.
fn setting(name: &str) -> Option<(String, String)> {
    let (left, right) = name.split_once('=')?;
    let key = left.split_whitespace().next_back()?.to_lowercase();
    (!right.contains(['=', ';', '>']) && !right.trim().is_empty())
        .then(|| (key, right.trim().to_lowercase()))
}

/// `x=on` and `x=off`: the same name, another value, and no parameter of a
/// workload.
fn switched(a: &str, b: &str) -> bool {
    let (Some((key, value)), Some((other_key, other_value))) = (setting(a), setting(b)) else {
        return false;
    };
    let workload = |value: &str| crate::group::names::workload_score(value) > 0;
    key == other_key
        && value != other_value
        && !PARAMETERS.contains(&key.as_str())
        && !names_metric(&key)
        && !(workload(&value) && workload(&other_value))
}

/// One is the other with a word more or a word exchanged.
fn grown(a: &[String], b: &[String]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty()
        || !short
            .iter()
            .any(|w| w.bytes().any(|b| b.is_ascii_alphabetic()))
    {
        return false;
    }
    let numeric = |word: &str| word.bytes().next().is_some_and(|b| b.is_ascii_digit());
    let from_start = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    let from_end = short
        .iter()
        .rev()
        .zip(long.iter().rev())
        .take_while(|(x, y)| x == y)
        .count()
        .min(short.len() - from_start);
    let common = from_start + from_end;
    let differs: Vec<&String> = long[from_start..long.len() - from_end].iter().collect();
    if differs.is_empty() || differs.iter().all(|w| numeric(w)) {
        return false;
    }
    if long.len() > short.len() {
        return common == short.len() && long.len() - short.len() <= 3;
    }
    common >= 1 && common + 1 == short.len()
}

/// The numbers in a name that may be parameters: `8` of `8 jobs, before`, and none of
/// `v6.8-rc2`.
fn parameters(name: &str) -> BTreeSet<String> {
    let number = |word: &String| {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
        unit.len() < word.len() && unit.len() <= 2 && unit.bytes().all(|b| b.is_ascii_alphabetic())
    };
    words(name).into_iter().filter(number).collect()
}

/// Whether names are of several workloads, each measured with several configurations:
/// `8 jobs, before`, `8 jobs, after`, `16 jobs, before`, `16 jobs, after`.
pub(crate) fn of_several_workloads(names: &[&str]) -> bool {
    let mut workloads: Vec<(BTreeSet<String>, Vec<&str>)> = Vec::new();
    for name in names.iter().take(24) {
        let own = parameters(name);
        match workloads.iter_mut().find(|(other, _)| *other == own) {
            Some((_, members)) => members.push(name),
            None => workloads.push((own, vec![name])),
        }
    }
    let contrasted = |members: &[&str]| {
        let pairs = members
            .iter()
            .enumerate()
            .flat_map(|(at, a)| members[at + 1..].iter().map(move |b| (*a, *b)));
        pairs.into_iter().any(|(a, b)| between(a, b).is_some())
    };
    let several = workloads
        .iter()
        .filter(|(numbers, members)| !numbers.is_empty() && contrasted(members));
    several.count() >= 2
}

/// Whether two of the names are of opposite meaning.
pub(crate) fn has_opposites(names: &[&str]) -> bool {
    let good: Vec<&&str> = names
        .iter()
        .filter(|name| may_be_name(name))
        .take(24)
        .collect();
    let pairs = good
        .iter()
        .enumerate()
        .flat_map(|(at, a)| good[at + 1..].iter().map(move |b| (a, b)));
    pairs
        .into_iter()
        .any(|(a, b)| between(a, b) == Some(Sign::OppositeNames))
}

#[cfg(test)]
mod tests {
    use super::super::alone::is_figure;
    use super::*;

    #[test]
    fn opposite_names_are_two_configurations() {
        for (a, b) in [
            ("before", "after"),
            ("w/o patches", "w/ patches"),
            ("Without this patch", "With this patch"),
            ("unpatched", "patched"),
            ("no polling in idle", "polling in idle"),
            ("on unrepaired kernel, usage", "on repaired kernel, usage"),
            ("baseline", "patched (v3)"),
            ("iopoll-disabled", "iopoll-enabled"),
            ("vanilla", "5.10 with series"),
            ("before this patch", "after this patch"),
        ] {
            assert_eq!(between(a, b), Some(Sign::OppositeNames), "{a} | {b}");
        }
    }

    #[test]
    fn names_of_several_workloads_are_told_by_their_numbers() {
        for names in [
            &[
                "8 jobs, before",
                "8 jobs, after",
                "16 jobs, before",
                "16 jobs, after",
            ][..],
            &["T1_3", "T1_3 after defrag", "T1_4", "T1_4 after defrag"],
        ] {
            assert!(of_several_workloads(names), "{names:?}");
        }
        for names in [
            &["before", "after"][..],
            &["before 4.19", "after 4.19", "before 5.10", "after 5.10"],
            &["base", "with 2 patches", "with 4 patches"],
            &["8 threads", "16 threads"],
            &["v1", "v1 fast", "v2", "v2 fast"],
        ] {
            assert!(!of_several_workloads(names), "{names:?}");
        }
    }

    #[test]
    fn versions_and_switches_are_two_configurations() {
        assert_eq!(between("v5.8", "v5.12-rc6"), Some(Sign::Versions));
        assert_eq!(between("3.9", "rlb-v4"), Some(Sign::Versions));
        assert_eq!(between("v5.18", "v5.18-patched"), Some(Sign::OppositeNames));
        assert_eq!(
            between(
                "mainline @ 626b2dda7651",
                "mainline @ 626b2dda7651 with series"
            ),
            Some(Sign::OppositeNames)
        );
        assert!(!is_figure("584b0180f0") && is_figure("0x584b0180") && is_figure("58401800"));
        assert_eq!(between("v5.18", "v5.18-rc2"), Some(Sign::Versions));
        assert_eq!(between("rlb-v4", "pas-v7"), Some(Sign::Versions));
        assert_eq!(
            between("cache=none", "cache=writeback"),
            Some(Sign::Switched)
        );
        assert_eq!(between("bs=4k", "bs=8k"), None);
        assert_eq!(between("bfq", "mq-deadline"), Some(Sign::Switched));
        assert_eq!(between("libaio", "io_uring"), Some(Sign::Switched));
        assert_eq!(between("bfq", "schedutil"), None);
        assert_eq!(between("ext4", "xfs"), Some(Sign::Switched));
        assert_eq!(between("2.6.32", "2.6.33"), Some(Sign::Versions));
        assert_eq!(between("2.32", "2.33"), None);
        assert_eq!(
            between("mm-unstable-2-1-2025 zstd", "v6 zstd"),
            Some(Sign::OppositeNames)
        );
        assert_eq!(
            between("v6 zstd", "v6 fast zstd"),
            Some(Sign::ParallelNames)
        );
        assert_eq!(between("ASYNC", "ASYNC_HYBRID"), Some(Sign::ParallelNames));
    }

    #[test]
    fn names_of_different_things_are_not() {
        for (a, b) in [
            ("Inode count", "Block count"),
            ("priority", "refcnt"),
            ("MemTotal", "MemFree"),
            ("passed", "failed"),
            ("read: IOPS=0.00", "write: IOPS=31961.19"),
            ("stddev 2.2", "split 8.0"),
            ("BASELINE", "INDEX"),
            ("rwtest=randread", "rwtest=read"),
            ("4k", "8k"),
            ("1", "16"),
            ("seq-read", "rand-read"),
            ("test 3", "test 4"),
            ("real 0m", "user 0m"),
            ("2.5", "3.5"),
        ] {
            let found = between(a, b);
            assert!(
                found.is_none() || found == Some(Sign::ParallelNames),
                "{a} | {b}: {found:?}"
            );
        }
        assert_eq!(between("Inode count", "Free blocks"), None);
        assert_eq!(between("test 3", "test 4"), None);
        assert_eq!(between("rwtest=randread", "rwtest=read"), None);
    }
}
