//! What is compared may stand in the names of benchmarks:
//!
//! ```text
//! Codec.encodeOld   85.5 ns/op        BM_Sum_Scalar/1024    264 ns
//! Codec.encodeNew   51.7 ns/op        BM_Sum_SSE2/1024      101 ns
//! Codec.parseOld    67.9 ns/op        BM_Sum_Scalar/4096   1003 ns
//! Codec.parseNew    40.1 ns/op        BM_Sum_SSE2/4096      412 ns
//! ```
//!
//! Where no heading tells configurations apart, and the same names but for one part come
//! again with each of a few values of that part, these values are the configurations if
//! their words say so, or if a sentence of the message compares them. Else the part may be
//! anything that a benchmark is called after.

use std::collections::{BTreeMap, BTreeSet};

use super::Item;
use super::repeat::Stand;
use crate::admission::Sign;
use crate::admission::wording::Wording;
use crate::grammar::Finding;

/// Formats whose rows are named after a benchmark.
pub(super) const FORMATS: [&str; 4] = ["go-bench", "google-benchmark", "jmh", "criterion"];
/// More names are not looked at.
const MOST: usize = 400;
/// A part has no more words, and no more values are compared.
const WORDS: usize = 7;
const VALUES: usize = 8;

/// Words for what was, and for what became of it.
#[rustfmt::skip]
const STATES: [&[&str]; 2] = [
    &[
        "old", "legacy", "before", "orig", "original", "prev", "previous", "baseline",
    ],
    &[
        "new",
        "after",
        "optimized",
        "optimised",
        "improved",
        "patched",
    ],
];
/// Words for ways to do the same, numbers behind them apart.
#[rustfmt::skip]
const WAYS: &[&str] = &[
    "scalar", "naive", "generic", "portable", "simd", "xsimd", "sse", "ssse", "avx", "neon",
    "sve", "asm", "swar", "vectorized", "vectorised",
];
/// Words for what is done or with what, which benchmarks are called after.
#[rustfmt::skip]
const WORK: &[&str] = &[
    "read", "write", "reader", "writer", "get", "set", "put", "delete", "insert", "lookup",
    "encode", "decode", "encoder", "decoder", "encoding", "decoding", "compress",
    "decompress", "serialize", "deserialize", "marshal", "unmarshal", "upload", "download",
    "send", "recv", "client", "server", "unary", "stream", "streaming", "sequential",
    "random", "rand", "seq", "small", "large", "big", "tiny", "short", "long", "narrow",
    "wide", "int", "uint", "float", "double", "bool", "boolean", "string", "str", "binary",
    "byte", "bytes", "utf", "ascii", "decimal", "list", "struct", "null", "nulls",
    "nullable", "dense", "sparse", "min", "max", "sum", "add", "sub", "mul", "div", "and",
    "or", "xor", "load", "store", "swap", "thread", "threads", "single", "multi", "one",
    "many", "empty", "full", "hit", "miss", "best", "worst", "first", "last", "cold",
    "warm",
];

/// What stands before and behind a part of a name.
type Frame = (String, String);

/// Names that are equal but for one part.
#[derive(Debug, Clone, PartialEq)]
struct Factor {
    frames: Vec<Frame>,
    values: BTreeSet<String>,
    /// Whether the part is all that stands between two slashes.
    segment: bool,
}

/// Parts names into workload and configuration.
pub(super) fn part(items: &mut [Item], wordings: &BTreeMap<u32, Wording>) {
    let mut stands: BTreeMap<Stand, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        if name(item).is_some() {
            stands.entry(item.stand).or_default().push(at);
        }
    }
    for (stand, members) in stands {
        let Some(wording) = wordings.get(&stand.0) else {
            continue;
        };
        // A heading that names configurations says more.
        let labels: BTreeSet<Option<&str>> = members
            .iter()
            .filter(|at| !names_itself(&items[**at]))
            .map(|at| items[*at].configuration_label.as_deref())
            .collect();
        let names: BTreeSet<&str> = members.iter().filter_map(|at| name(&items[*at])).collect();
        if labels.len() > 1 || names.len() < 2 || names.len() > MOST {
            continue;
        }
        let Some(factor) = compared(&names, wording) else {
            continue;
        };
        let parted: Vec<(usize, (String, String))> = members
            .iter()
            .filter_map(|at| Some((*at, factor.part(name(&items[*at])?)?)))
            .collect();
        for (at, (workload, configuration)) in parted {
            let item = &mut items[at];
            item.workload_name = Some(workload);
            item.configuration_label = Some(configuration);
            item.signs.push(Sign::NamesCompared);
        }
    }
}

/// The benchmark that an item is of.
fn name(item: &Item) -> Option<&str> {
    let Finding::Run { labels, .. } = &item.finding else {
        return None;
    };
    let own = labels.workload.as_deref();
    own.filter(|_| labels.configuration.is_none() && FORMATS.contains(&item.format))
}

/// Whether an item has no other configuration than its own name.
fn names_itself(item: &Item) -> bool {
    item.configuration_label.as_deref() == name(item)
}

/// The part whose values are compared, if there is one.
fn compared(names: &BTreeSet<&str>, wording: &Wording) -> Option<Factor> {
    let factors = factors(names);
    let says: [fn(&Factor, &Wording) -> bool; 2] = [
        |factor, wording| {
            factor.of_states() || factor.of_ways() || factor.grown() || factor.negated(wording)
        },
        |factor, wording| factor.is_compared(wording),
    ];
    says.iter().find_map(|says| {
        let mut found = factors.iter().filter(|factor| says(factor, wording));
        let first = found.next()?;
        // `Status` and `Status-8` part the same names in the same way.
        let other = found.any(|other| other.partition(names) != first.partition(names));
        (!other).then(|| first.clone())
    })
}

/// All parts in which most names differ, those of whole segments first, then the shortest.
fn factors(names: &BTreeSet<&str>) -> Vec<Factor> {
    let mut frames: BTreeMap<Frame, (BTreeSet<String>, bool)> = BTreeMap::new();
    for name in names {
        let words = words(name);
        for from in 0..words.len() {
            for to in from + 1..=words.len().min(from + WORDS) {
                if is_mark(words[from]) || is_mark(words[to - 1]) {
                    continue;
                }
                let slash = |word: Option<&&str>| word.is_some_and(|word| *word == "/");
                let before = from.checked_sub(1).and_then(|at| words.get(at));
                let behind = words.get(to);
                let cpus = to + 2 == words.len() && words[to] == "-";
                let ends = behind.is_none() || slash(behind) || cpus;
                let frame = (words[..from].concat(), words[to..].concat());
                let entry = frames.entry(frame).or_default();
                entry.0.insert(words[from..to].concat());
                entry.1 |= slash(before) && ends;
            }
        }
    }
    let mut sets: BTreeMap<BTreeSet<String>, (Vec<Frame>, bool)> = BTreeMap::new();
    for (frame, (values, segment)) in frames {
        let few = (2..=VALUES).contains(&values.len());
        // A number may be anything, and `simd:0` beside `simd:1` is a switch.
        let said = |value: &String| {
            value.bytes().any(|b| b.is_ascii_alphabetic())
                && !value.ends_with(":0")
                && !value.ends_with(":1")
                || is_switch(value)
        };
        if few && values.iter().all(said) {
            let entry = sets.entry(values).or_default();
            entry.0.push(frame);
            entry.1 |= segment;
        }
    }
    let mut factors: Vec<Factor> = sets
        .into_iter()
        .map(|(values, (frames, segment))| Factor {
            frames,
            values,
            segment,
        })
        .filter(|factor| 4 * factor.frames.len() * factor.values.len() >= 3 * names.len())
        .collect();
    let length = |factor: &Factor| factor.values.iter().map(String::len).sum::<usize>();
    factors.sort_by_key(|factor| (!factor.segment, length(factor)));
    factors
}

/// The words of a name and what stands between them: `encodeNew/64` is `encode`, `New`,
/// `/` and `64`.
fn words(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let kind = |b: u8| match b {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        128.. => 1,
        _ => 3,
    };
    let mut words = Vec::new();
    let mut from = 0;
    for at in 1..bytes.len() {
        let (before, here) = (kind(bytes[at - 1]), kind(bytes[at]));
        let next = bytes.get(at + 1).map(|b| kind(*b));
        let capital = here == 0 && (before != 0 || next == Some(1));
        let mark = before == 3 || here == 3;
        if (capital || mark) && name.is_char_boundary(at) {
            words.push(&name[from..at]);
            from = at;
        }
    }
    words.push(&name[from..]);
    words
}

fn is_mark(word: &str) -> bool {
    !word
        .bytes()
        .any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
}

/// Whether a value says that a way to do something is used, or that it is not: `simd:1`.
fn is_switch(value: &str) -> bool {
    let parted = value.split_once(':');
    parted.is_some_and(|(way, on)| matches!(on, "0" | "1") && WAYS.contains(&bare(way).as_str()))
}

/// A word in small letters, without a number behind it.
fn bare(word: &str) -> String {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    word.to_lowercase()
}

impl Factor {
    /// A name's workload and configuration.
    fn part(&self, name: &str) -> Option<(String, String)> {
        self.frames.iter().find_map(|(before, behind)| {
            let value = name
                .strip_prefix(before.as_str())?
                .strip_suffix(behind.as_str())?;
            self.values.contains(value).then_some(())?;
            let joins = |c: char| matches!(c, '_' | '-' | '/' | '.' | ' ');
            let before = match behind.starts_with(joins) || behind.is_empty() {
                true => before.trim_end_matches(joins),
                false => before,
            };
            let behind = match before.is_empty() {
                true => behind.trim_start_matches(joins),
                false => behind,
            };
            Some((format!("{before}{behind}"), value.to_owned()))
        })
    }

    /// Which of the names are of one configuration.
    fn partition<'n>(&self, names: &BTreeSet<&'n str>) -> BTreeSet<Vec<&'n str>> {
        let mut parts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for name in names {
            if let Some((_, value)) = self.part(name) {
                parts.entry(value).or_default().push(name);
            }
        }
        parts.into_values().collect()
    }

    /// `Old` and `New`, of several benchmarks or of several sizes of one.
    fn of_states(&self) -> bool {
        let has = |value: &String, states: &[&str]| states.contains(&value.to_lowercase().as_str());
        let [old, new] = STATES;
        let mut values = self.values.iter();
        self.values.len() == 2
            && values
                .clone()
                .all(|value| has(value, old) != has(value, new))
            && values.any(|value| has(value, old))
            && self.values.iter().any(|value| has(value, new))
    }

    /// `Scalar`, `SSE2`, `AVX2`; `simd:0`, `simd:1`.
    fn of_ways(&self) -> bool {
        let mut values = self.values.iter();
        values.all(|value| WAYS.contains(&bare(value).as_str()) || is_switch(value))
    }

    /// `convertHeaders` and `convertClientHeadersOld`: all words of the one, and a word for
    /// a state that it has not.
    fn grown(&self) -> bool {
        let mut values: Vec<Vec<String>> = self
            .values
            .iter()
            .map(|value| {
                let words = words(value).into_iter().filter(|word| !is_mark(word));
                words.map(str::to_lowercase).collect()
            })
            .collect();
        values.sort_by_key(Vec::len);
        let [plain, other] = &values[..] else {
            return false;
        };
        let state = |word: &String| STATES.iter().any(|states| states.contains(&word.as_str()));
        self.frames.len() >= 2
            && plain
                .iter()
                .all(|word| other.contains(word) && !state(word))
            && other.iter().filter(|word| state(word)).count() == 1
            && other.len() <= plain.len() + 2
    }

    /// `cache` and `noCache`, of which the text speaks.
    fn negated(&self, wording: &Wording) -> bool {
        let mut values: Vec<&String> = self.values.iter().collect();
        values.sort_by_key(|value| value.len());
        let [plain, other] = values[..] else {
            return false;
        };
        let other = other.to_lowercase();
        let negates = ["no", "without", "non", "not"].iter().any(|no| {
            let rest = other.strip_prefix(no).unwrap_or_default();
            rest.trim_start_matches(['_', '-']) == plain.to_lowercase()
        });
        negates && !is_work(plain) && wording.names_part("", plain)
    }

    /// Whether a sentence compares two of the values, or each is said to be an
    /// implementation.
    fn is_compared(&self, wording: &Wording) -> bool {
        let several = self.frames.len() >= 2 || self.segment;
        if !several || self.values.iter().any(|value| is_work(value)) {
            return false;
        }
        let (before, _) = &self.frames[0];
        let first = before.rsplit(['/', '.', ' ']).next().unwrap_or_default();
        let values: Vec<&str> = self.values.iter().map(String::as_str).collect();
        wording.compares_parts(first, &values)
    }
}

/// Whether a part is called after what is done, or with what.
pub(crate) fn is_work(value: &str) -> bool {
    let words = words(value).into_iter().filter(|word| !is_mark(word));
    words
        .clone()
        .all(|word| WORK.contains(&bare(word).as_str()) || bare(word).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_words_between_marks_and_capitals() {
        for (name, parts) in [
            ("encodeNew/64", &["encode", "New", "/", "64"][..]),
            ("BM_Sum_SSE2", &["BM", "_", "Sum", "_", "SSE2"]),
            ("VFS1TmpfsStat", &["VFS1", "Tmpfs", "Stat"]),
            ("GRPCServe-4", &["GRPC", "Serve", "-", "4"]),
        ] {
            assert_eq!(words(name), parts, "{name}");
        }
    }
}
