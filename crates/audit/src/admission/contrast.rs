//! Whether two names are those of two configurations of one thing.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::alone::{self, EMPTY};
use super::families::alternatives;
use super::signs::Sign;
use crate::listed::lowercase;
use crate::roles::words::names_metric;
use crate::states::{self, Opposites};

/// The words of a name. `w/o`, `5.10-rc3` and `x_y` are one.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let lower = lowercase(name);
    let marks = |c: char| matches!(c, '/' | '.' | '_' | '-' | '+' | '%' | '\'');
    for word in lower.split(|c: char| !(c.is_alphanumeric() || marks(c))) {
        let word = word.trim_matches(|c: char| matches!(c, '.' | '-' | '_' | '\''));
        // `w/o_cache` and `w/_cache` say the opposite of each other.
        let state = ["w/o", "w/"].into_iter().find_map(|state| {
            let rest = word.strip_prefix(state)?.strip_prefix(['_', '-'])?;
            Some((state, rest)).filter(|_| !rest.is_empty())
        });
        if let Some((state, _)) = state {
            words.push(state.to_string());
        }
        let word = state.map_or(word, |(_, rest)| rest);
        let parted = word.len() > 3 && !is_version(word) && !word.starts_with("w/");
        let part = |c: char| parted && matches!(c, '-' | '_' | '/' | '+');
        let parts = word.split(part).filter(|part| !part.is_empty());
        words.extend(parts.map(str::to_string));
    }
    words
}

/// `5.10`, `v6.1-rc3`, `4.19.91-ck2`.
pub(super) fn is_version(word: &str) -> bool {
    if !word.contains('.') {
        return false;
    }
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

/// A name with what is asked of it beside each other one, found once: a message may
/// have hundreds of names, each of which is put beside each.
#[derive(Clone)]
pub(crate) struct Name {
    text: String,
    /// In small letters, without blanks around it.
    lower: String,
    words: Vec<String>,
    /// The words as one, without those that only say that it is a way of working.
    kind: String,
    opposites: Opposites,
    negations: usize,
    /// The words without negations.
    plain: Vec<String>,
    versions: BTreeSet<String>,
    says_more: bool,
    setting: Option<(String, String)>,
    /// Whether the setting is one of the system, and not of a workload.
    switch: bool,
    is_parameter: bool,
    baseline: bool,
    change: bool,
    series: bool,
    metric: bool,
    work: bool,
}

impl Name {
    /// Whether the name is that of a test and says nothing of a state.
    pub(crate) fn is_work(&self) -> bool {
        self.work
    }

    /// Finds its words and what they say.
    pub(crate) fn of(text: &str) -> Self {
        Name::with(text, words(text))
    }

    /// As [`Name::of`], if nothing of the name rules out that it is a configuration's.
    pub(crate) fn of_configuration(text: &str) -> Option<Self> {
        let words = words(text);
        alone::may_be_name(text, &words).then(|| Name::with(text, words))
    }

    /// Of a text and its words.
    fn with(text: &str, words: Vec<String>) -> Self {
        let has = |is: fn(&str) -> bool| words.iter().any(|word| is(word));
        let setting = setting(text);
        let switch = setting
            .as_ref()
            .is_some_and(|(key, _)| !PARAMETERS.contains(&key.as_str()) && !names_metric(key));
        Name {
            text: text.to_owned(),
            lower: text.trim().to_lowercase(),
            kind: kind(text, &words),
            opposites: Opposites::of(&words),
            negations: negations(&words),
            plain: plain(&words),
            versions: versions(&words),
            says_more: says_more(&words),
            setting,
            switch,
            is_parameter: is_parameter(text),
            baseline: states::has_base(&words),
            change: has(states::is_change) || states::names_this_change(&words),
            series: words.iter().any(|word| is_series(word)),
            metric: names_metric(text),
            work: crate::group::names::workload_score(text) > 0,
            words,
        }
    }

    /// Whether it is of what a change is compared with: `without the patch`, `old`.
    pub(crate) fn is_base(&self) -> bool {
        let bare = self.words.len() == 1 && states::is_bare_base(&self.words[0]);
        self.baseline || bare
    }

    /// Whether it is of what was changed, and of nothing else: `patched`, `new`.
    pub(crate) fn is_change(&self) -> bool {
        let bare = self.words.len() == 1 && states::is_bare(&self.words[0]);
        (self.change || bare) && !self.is_base()
    }

    /// Whether the two differ in one word, which is `old` or the like of this one: `blit(), old`
    /// beside `blit(), new`.
    pub(crate) fn is_older_than(&self, other: &Name) -> bool {
        let pairs = || self.words.iter().zip(&other.words);
        let mut apart = pairs().filter(|(own, others)| own != others);
        let one = apart.next().filter(|_| apart.next().is_none());
        self.words.len() == other.words.len()
            && one.is_some_and(|(own, other)| {
                let base = states::is_bare_base;
                base(own) && states::is_bare(other) && !base(other)
            })
    }

    /// Whether both say how much there is of different things: `last_used_page = 0` and
    /// `last_unused_page = 0`.
    fn counts_other(&self, other: &Name) -> bool {
        let number = |value: &str| value.bytes().all(|b| b.is_ascii_digit());
        let one = |name: &Name| name.text.split_whitespace().count() <= 3;
        match (&self.setting, &other.setting) {
            (Some((key, value)), Some((other_key, other_value))) => {
                key != other_key && number(value) && number(other_value) && one(self) && one(other)
            }
            _ => false,
        }
    }

    /// The strongest sign that this and another one stand for two configurations of one
    /// thing, if there is any.
    pub(crate) fn beside(&self, other: &Name) -> Option<Sign> {
        let (a, b) = (self, other);
        if a.is_parameter || b.is_parameter {
            return None;
        }
        if a.words == b.words {
            return mark_only(&a.text, &b.text);
        }
        if a.counts_other(b) {
            return None;
        }
        let negated = a.negations != b.negations && !a.plain.is_empty() && a.plain == b.plain;
        if a.opposites.meet(b.opposites) || negated || changed(&a.lower, &b.lower) {
            return Some(Sign::OppositeNames);
        }
        // A series is a change to what stands beside it.
        let beside_baseline = a.baseline != b.baseline;
        let change = |name: &Name| name.change || beside_baseline && name.series;
        let changes = (change(a), change(b));
        if a.baseline && changes.1 || b.baseline && changes.0 {
            return Some(Sign::OppositeNames);
        }
        // Numbers alone may be anything; one of the two must say more.
        let versions = !a.versions.is_empty() && !b.versions.is_empty();
        if versions && a.versions != b.versions && (a.says_more || b.says_more) {
            return Some(Sign::Versions);
        }
        if let (Some((key, value)), Some((other_key, other_value))) = (&a.setting, &b.setting)
            && key == other_key
        {
            let workload = |value: &str| crate::group::names::workload_score(value) > 0;
            let switched =
                value != other_value && a.switch && !(workload(value) && workload(other_value));
            return switched.then_some(Sign::Switched);
        }
        if alternatives(&a.kind, &b.kind) {
            return Some(Sign::Switched);
        }
        let metric = |name: &Name, changes: bool| !(name.baseline || changes) && name.metric;
        if metric(a, changes.0) || metric(b, changes.1) {
            return None;
        }
        let own = |these: &[String], those: &[String]| {
            these.iter().filter(|word| !those.contains(word)).count()
        };
        let short = || {
            a.words.len() <= 12
                && b.words.len() <= 12
                && own(&a.words, &b.words) <= 6
                && own(&b.words, &a.words) <= 6
        };
        if (beside_baseline || changes.0 != changes.1) && short() {
            return Some(Sign::BaselineName);
        }
        (grown(&a.words, &b.words) && short()).then_some(Sign::ParallelNames)
    }
}

/// The words of a name as one, without what is set in it and that it is a mode: `iopoll` of
/// `iopoll mode (hipri=1)`.
fn kind(text: &str, all: &[String]) -> String {
    let (bare, mut words) = match text.split_once(" (") {
        Some((bare, note)) if note.contains('=') && !bare.trim().is_empty() => {
            (bare, Cow::Owned(words(bare)))
        }
        _ => (text, Cow::Borrowed(all)),
    };
    if words.len() < 2 || !words.iter().any(|word| word == "mode") {
        return words.join("-");
    }
    // `iopoll=1 mode` is that of `iopoll`.
    let number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
    words
        .to_mut()
        .retain(|word| word != "mode" && !(bare.contains('=') && number(word)));
    words.join("-")
}

/// `v6.1` and `v6.1-patched`: one name is the other, changed. Both in small letters.
fn changed(a: &str, b: &str) -> bool {
    let only = |long: &str, short: &str| {
        let more = long.strip_prefix(short).filter(|_| !short.is_empty());
        let more = more.map(|more| more.trim_start_matches(['-', '_', '+', ' ', ',']));
        more.is_some_and(|more| {
            let parts = || more.split(['-', '_', ' ']).filter(|word| !word.is_empty());
            parts().any(states::is_change)
                && parts().all(|word| states::is_change(word) || EMPTY.contains(&word))
        })
    };
    only(a, b) || only(b, a)
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

/// `no polling` and `polling`, `unrepaired kernel` and `repaired kernel`: a word without
/// its negation.
fn stem(word: &str) -> Option<&str> {
    ["un", "non", "no"]
        .iter()
        .find_map(|p| word.strip_prefix(p))
        .filter(|rest| rest.len() >= 4)
}

fn is_negation(word: &str) -> bool {
    matches!(word, "no" | "non" | "not" | "without" | "w/o" | "sans")
}

/// How many words of a name negate.
fn negations(words: &[String]) -> usize {
    let negates = |word: &&String| is_negation(word) || stem(word).is_some();
    words.iter().filter(negates).count()
}

/// The words of a name without negations.
fn plain(words: &[String]) -> Vec<String> {
    words
        .iter()
        .filter(|w| !is_negation(w) && !matches!(w.as_str(), "with" | "w/" | "the"))
        .map(|w| stem(w).unwrap_or(w).to_owned())
        .collect()
}

/// The versions that a name has.
fn versions(words: &[String]) -> BTreeSet<String> {
    // `stddev 2.2` has a figure, `5.10 patched` and `linux 5.10` a version.
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
}

/// Whether a name is more than figures.
fn says_more(words: &[String]) -> bool {
    words
        .iter()
        // `2.6.32` is no figure.
        .any(|w| w.bytes().any(|b| b.is_ascii_alphabetic()) || w.matches('.').count() >= 2)
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

/// Whether names differ in nothing but the model of a device or a machine: `read on the
/// AB100 SSD` and `read on the CD200 SSD`.
pub(crate) fn of_several_devices(names: &[&str]) -> bool {
    const DEVICES: [&str; 8] = [
        "ssd", "hdd", "disk", "drive", "cpu", "machine", "server", "laptop",
    ];
    let model = |name: &&str| {
        let mut words = words(name);
        let at = words
            .iter()
            .position(|word| DEVICES.contains(&word.as_str()))?;
        let model = at.checked_sub(1).map(|at| words.remove(at))?;
        let numbered = |of: fn(&u8) -> bool| model.bytes().any(|b| of(&b));
        (numbered(u8::is_ascii_digit) && numbered(u8::is_ascii_alphabetic))
            .then_some((model, words))
    };
    let parted: Option<Vec<(String, Vec<String>)>> = names.iter().map(model).collect();
    parted.is_some_and(|parted| {
        let models: BTreeSet<&String> = parted.iter().map(|(model, _)| model).collect();
        let rests: BTreeSet<&Vec<String>> = parted.iter().map(|(_, rest)| rest).collect();
        models.len() >= 2 && models.len() == names.len() && rests.len() == 1
    })
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
        let members: Vec<Name> = members.iter().map(|name| Name::of(name)).collect();
        any_pair(&members, |a, b| a.beside(b).is_some())
    };
    let several = workloads
        .iter()
        .filter(|(numbers, members)| !numbers.is_empty() && contrasted(members));
    several.count() >= 2
}

/// Whether two of the names are of opposite meaning.
pub(crate) fn has_opposites(names: &[&str]) -> bool {
    let good = names.iter().filter_map(|name| Name::of_configuration(name));
    let good: Vec<Name> = good.take(24).collect();
    any_pair(&good, |a, b| a.beside(b) == Some(Sign::OppositeNames))
}

/// Whether something holds of any two names.
fn any_pair(names: &[Name], is: impl Fn(&Name, &Name) -> bool) -> bool {
    let mut each = names.iter().enumerate();
    each.any(|(at, a)| names[at + 1..].iter().any(|b| is(a, b)))
}

#[cfg(test)]
mod tests {
    use super::super::alone::is_figure;
    use super::*;

    fn between(a: &str, b: &str) -> Option<Sign> {
        Name::of(a).beside(&Name::of(b))
    }

    #[test]
    fn a_control_is_a_baseline_and_a_thing_called_control_is_none() {
        for name in ["control", "control kernel", "Control run"] {
            assert!(Name::of(name).is_base(), "{name}");
        }
        assert!(!Name::of("Control descriptor is not initialized").is_base());
    }

    #[test]
    fn two_of_a_family_may_have_levels() {
        assert_eq!(between("lz4", "lz4hc-9"), Some(Sign::Switched));
        assert_ne!(between("zstd-1", "zstd-3"), Some(Sign::Switched));
    }

    #[test]
    fn opposite_names_are_two_configurations() {
        for (a, b) in [
            ("before", "after"),
            ("w/o patches", "w/ patches"),
            ("4_helpers w/o_renice", "4_helpers with_renice"),
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
    fn models_of_devices_are_no_configurations() {
        assert!(of_several_devices(&[
            "raw speed, AB100 SSD",
            "raw speed, CD9C SSD"
        ]));
        for names in [
            ["raw speed, AB100 SSD", "slow speed, CD9C SSD"],
            ["raw speed, one SSD", "raw speed, no SSD"],
            ["raw speed, AB100", "raw speed, CD9C"],
        ] {
            assert!(!of_several_devices(&names), "{names:?}");
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
        assert_eq!(between("IRQ mode", "Polling"), Some(Sign::Switched));
        let set = between("irq mode (pri=0)", "iopoll (pri=1)");
        assert_eq!(set, Some(Sign::Switched));
        assert_eq!(between("irq mode", "poll=1 mode"), Some(Sign::Switched));
        assert_eq!(between("irq count", "polling"), None);
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
