//! Call trees in the profile format of pprof.

use std::collections::BTreeMap;

use prost::Message;

use crate::calls::Call;
use crate::difference::CountedPair;

/// A call stack, innermost first, and its instructions in both configurations.
type Stacks = BTreeMap<Vec<u64>, [u64; 2]>;

/// The messages of `profile.proto`, with only the fields that are written.
#[derive(Clone, PartialEq, Message)]
struct PprofProfile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<PprofFunction>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<PprofLine>,
}

#[derive(Clone, PartialEq, Message)]
struct PprofLine {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, PartialEq, Message)]
struct PprofFunction {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
}

/// The string table, without repeats; its first entry is empty, as the format requires.
struct StringTable<'a> {
    numbers: BTreeMap<&'a str, u64>,
    all: Vec<&'a str>,
}

impl<'a> StringTable<'a> {
    fn number(&mut self, name: &'a str) -> u64 {
        let next = self.all.len() as u64;
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.all.push(name);
        }
        number
    }
}

/// Encodes the profile: the instructions of all seeds together, with one sample type per
/// configuration. Each stack starts with its thread. The bytes are not compressed.
#[must_use]
pub fn pprof(a: &str, b: &str, pairs: &[CountedPair]) -> Vec<u8> {
    let mut names = StringTable {
        numbers: [("", 0)].into(),
        all: vec![""],
    };
    let mut stacks = Stacks::new();
    for pair in pairs {
        for (side, place) in [(&pair.a, 0), (&pair.b, 1)] {
            for (thread, call) in side.calls.iter().flat_map(|calls| &calls.threads) {
                let stack = [names.number(thread)];
                write_below(call, &stack, place, &mut names, &mut stacks);
            }
        }
    }
    // Locations have the same numbers as their names; the configurations follow after
    // them.
    let places = 1..names.all.len() as u64;
    let mut string_table: Vec<String> = names.all.iter().map(|&name| name.to_owned()).collect();
    let mut string = |text: String| {
        string_table.push(text);
        signed(string_table.len() as u64 - 1)
    };
    // pprof would merge two sample types with the same name.
    let second = if a == b {
        format!("{b} (2)")
    } else {
        b.to_owned()
    };
    let unit = string("instructions".into());
    let sample_type = [a.to_owned(), second].map(|name| ValueType {
        kind: string(name),
        unit,
    });
    let location = |id| Location {
        id,
        line: vec![PprofLine { function_id: id }],
    };
    let function = |id| PprofFunction {
        id,
        name: signed(id),
        system_name: signed(id),
    };
    let sample = |(location_id, values): (Vec<u64>, [u64; 2])| Sample {
        location_id,
        value: values.map(signed).to_vec(),
    };
    let profile = PprofProfile {
        sample_type: sample_type.to_vec(),
        sample: stacks.into_iter().map(sample).collect(),
        location: places.clone().map(location).collect(),
        function: places.map(function).collect(),
        string_table,
    };
    profile.encode_to_vec()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn write_below<'a>(
    call: &'a Call,
    stack: &[u64],
    place: usize,
    names: &mut StringTable<'a>,
    stacks: &mut Stacks,
) {
    for (name, callee) in &call.callees {
        let stack = [&[names.number(name)], stack].concat();
        if callee.own > 0 {
            let values = stacks.entry(stack.clone()).or_default();
            if let Some(value) = values.get_mut(place) {
                *value += callee.own;
            }
        }
        write_below(callee, &stack, place, names, stacks);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::claims::tests::side;

    /// The sample types of a profile, and its stacks from the thread inwards with their values.
    fn read(bytes: &[u8]) -> (Vec<String>, BTreeMap<String, Vec<i64>>) {
        let profile = PprofProfile::decode(bytes).unwrap();
        let string = |at: i64| profile.string_table[usize::try_from(at).unwrap()].as_str();
        assert_eq!(string(0), "");
        let function = |id: &u64| {
            let location = profile.location.iter().find(|one| one.id == *id).unwrap();
            let id = location.line[0].function_id;
            let function = profile.function.iter().find(|one| one.id == id).unwrap();
            string(function.name)
        };
        let kinds = profile.sample_type.iter();
        let kinds = kinds.map(|kind| format!("{} {}", string(kind.kind), string(kind.unit)));
        let stack = |sample: &Sample| {
            let names: Vec<&str> = sample.location_id.iter().rev().map(function).collect();
            (names.join(";"), sample.value.clone())
        };
        (kinds.collect(), profile.sample.iter().map(stack).collect())
    }

    fn pair(seed: u64) -> CountedPair {
        CountedPair {
            seed,
            a: side(100, 1000),
            b: side(50, 800),
        }
    }

    #[test]
    fn a_reader_finds_every_instruction_of_both_configurations() {
        let (kinds, stacks) = read(&pprof("one", "two", &[pair(1), pair(2)]));
        assert_eq!(kinds, ["one instructions", "two instructions"]);
        let want = [
            ("t;f", [200, 100]),
            ("t;f;g", [300, 300]),
            ("t;h", [1500, 1200]),
        ];
        let want = want.map(|(stack, values)| (stack.to_owned(), values.to_vec()));
        assert_eq!(stacks, want.into());
    }

    #[test]
    fn one_configuration_twice_has_two_kinds_of_values() {
        let (kinds, _) = read(&pprof("one", "one", &[pair(1)]));
        assert_eq!(kinds, ["one instructions", "one (2) instructions"]);
        assert_eq!(read(&pprof("one", "two", &[])).1.len(), 0);
    }
}
