//! Converts between units of one dimension, so that `s` on one side can be
//! compared with `ms` on the other.

use std::collections::BTreeMap;

/// The dimension of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dimension {
    Time,
    Data,
    Energy,
    Power,
    Frequency,
}

/// A unit: its size in the smallest unit of its dimension, optionally per unit
/// of time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    of: Dimension,
    /// Always an integer.
    size: f64,
    /// The size of the time unit after the slash, also an integer.
    per: Option<f64>,
}

/// Case-sensitive symbols, because an upper-case prefix has another meaning.
const SYMBOLS: [(&str, Dimension, f64); 39] = [
    ("ns", Dimension::Time, 1.0),
    ("us", Dimension::Time, 1e3),
    ("\u{b5}s", Dimension::Time, 1e3),
    ("\u{3bc}s", Dimension::Time, 1e3),
    ("ms", Dimension::Time, 1e6),
    ("s", Dimension::Time, 1e9),
    ("min", Dimension::Time, 60e9),
    ("h", Dimension::Time, 3600e9),
    ("B", Dimension::Data, 1.0),
    ("kB", Dimension::Data, 1e3),
    ("MB", Dimension::Data, 1e6),
    ("GB", Dimension::Data, 1e9),
    ("TB", Dimension::Data, 1e12),
    ("KiB", Dimension::Data, 1024.0),
    ("MiB", Dimension::Data, 1_048_576.0),
    ("GiB", Dimension::Data, 1_073_741_824.0),
    ("TiB", Dimension::Data, 1_099_511_627_776.0),
    ("nJ", Dimension::Energy, 1.0),
    ("uJ", Dimension::Energy, 1e3),
    ("\u{b5}J", Dimension::Energy, 1e3),
    ("\u{3bc}J", Dimension::Energy, 1e3),
    ("mJ", Dimension::Energy, 1e6),
    ("J", Dimension::Energy, 1e9),
    ("kJ", Dimension::Energy, 1e12),
    ("Wh", Dimension::Energy, 3600e9),
    ("kWh", Dimension::Energy, 3600e12),
    ("nW", Dimension::Power, 1.0),
    ("uW", Dimension::Power, 1e3),
    ("\u{b5}W", Dimension::Power, 1e3),
    ("\u{3bc}W", Dimension::Power, 1e3),
    ("mW", Dimension::Power, 1e6),
    ("W", Dimension::Power, 1e9),
    ("kW", Dimension::Power, 1e12),
    ("Hz", Dimension::Frequency, 1.0),
    ("kHz", Dimension::Frequency, 1e3),
    ("KHz", Dimension::Frequency, 1e3),
    ("MHz", Dimension::Frequency, 1e6),
    ("GHz", Dimension::Frequency, 1e9),
    ("THz", Dimension::Frequency, 1e12),
];

/// Words for units, matched without regard to case and with an optional plural s.
const WORDS: [(&str, Dimension, f64); 14] = [
    ("nsec", Dimension::Time, 1.0),
    ("nanosecond", Dimension::Time, 1.0),
    ("usec", Dimension::Time, 1e3),
    ("microsecond", Dimension::Time, 1e3),
    ("msec", Dimension::Time, 1e6),
    ("millisecond", Dimension::Time, 1e6),
    ("sec", Dimension::Time, 1e9),
    ("second", Dimension::Time, 1e9),
    ("min", Dimension::Time, 60e9),
    ("minute", Dimension::Time, 60e9),
    ("hour", Dimension::Time, 3600e9),
    ("byte", Dimension::Data, 1.0),
    ("joule", Dimension::Energy, 1e9),
    ("watt", Dimension::Power, 1e9),
];

/// Parses a unit without a slash.
fn simple(text: &str) -> Option<(Dimension, f64)> {
    let symbol = SYMBOLS.iter().find(|(symbol, ..)| *symbol == text);
    let lower = text.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let word = || {
        let mut words = WORDS.iter();
        words.find(|(word, ..)| *word == singular || *word == lower)
    };
    let &(_, of, size) = symbol.or_else(word)?;
    Some((of, size))
}

/// Parses a unit; `None` if it is unknown or ambiguous: `KB` and `K` may mean 1000 or 1024.
fn unit(text: &str) -> Option<Unit> {
    let Some((above, below)) = text.split_once('/') else {
        let (of, size) = simple(text)?;
        return Some(Unit {
            of,
            size,
            per: None,
        });
    };
    let (of, size) = simple(above)?;
    match simple(below)? {
        (Dimension::Time, per) => Some(Unit {
            of,
            size,
            per: Some(per),
        }),
        _ => None,
    }
}

/// Converts a value to another unit of the same dimension; `None` if the
/// dimensions differ or a unit is unknown. Between equal units the value is
/// unchanged.
///
/// If the factor is an integer or the reciprocal of one, the result is off by at
/// most one rounding.
pub fn convert(value: f64, from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(value);
    }
    let (up, down) = factor(from, to)?;
    Some(if down == 1.0 {
        value * up
    } else {
        value * up / down
    })
}

/// The numbers to multiply and divide a value by.
fn factor(from: &str, to: &str) -> Option<(f64, f64)> {
    let (from, to) = (unit(from)?, unit(to)?);
    if (from.of, from.per.is_some()) != (to.of, to.per.is_some()) {
        return None;
    }
    let up = from.size * to.per.unwrap_or(1.0);
    let down = to.size * from.per.unwrap_or(1.0);
    Some(if up >= down && (up / down).fract() == 0.0 {
        (up / down, 1.0)
    } else if (down / up).fract() == 0.0 {
        (1.0, down / up)
    } else {
        (up, down)
    })
}

/// Chooses the common unit in which the values of a metric are compared.
#[derive(Debug, Default)]
pub(crate) struct CommonUnits {
    /// How often each unit of each metric was recorded.
    met: BTreeMap<String, BTreeMap<String, usize>>,
}

impl CommonUnits {
    /// Counts the unit of one value.
    pub(crate) fn note(&mut self, metric: &str, unit: &str) {
        let units = match self.met.get_mut(metric) {
            Some(units) => units,
            None => self.met.entry(metric.to_owned()).or_default(),
        };
        match units.get_mut(unit) {
            Some(times) => *times += 1,
            None => {
                units.insert(unit.to_owned(), 1);
            }
        }
    }

    /// The common unit for values in `unit`: of the recorded units that it can
    /// be converted to, the most frequent, then the largest, then the first by
    /// name. The result does not depend on the order of the values.
    pub(crate) fn common_unit<'c>(&'c self, metric: &str, unit: &'c str) -> &'c str {
        let Some(units) = self.met.get(metric).filter(|units| units.len() > 1) else {
            return unit;
        };
        let mut best: Option<(usize, f64, &str)> = None;
        for (other, &times) in units {
            let Some(size) = convert(1.0, other, unit) else {
                continue;
            };
            if best.is_none_or(|(most, largest, _)| (times, size) > (most, largest)) {
                best = Some((times, size, other));
            }
        }
        best.map_or(unit, |(.., chosen)| chosen)
    }
}

/// Words in the names of metrics that cannot be plain counts.
const MEASURED: [&str; 9] = [
    "time",
    "latency",
    "delay",
    "duration",
    "power",
    "energy",
    "bandwidth",
    "throughput",
    "jitter",
];

/// Whether a metric's name shows that it is not a plain count.
pub(crate) fn is_measured(name: &str) -> bool {
    let lower = name.to_lowercase();
    words(&lower).any(|word| MEASURED.contains(&word))
}

/// The words of a metric's name.
pub(crate) fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_within_a_dimension() {
        for (value, from, to, expected) in [
            (7.12, "ms", "s", 0.007_12),
            (7.12, "s", "msec", 7120.0),
            (1.5, "usecs", "ns", 1500.0),
            (3.0, "\u{b5}s", "\u{3bc}s", 3.0),
            (2.0, "min", "Seconds", 120.0),
            (1.0, "MiB", "KiB", 1024.0),
            (1.5, "kB", "bytes", 1500.0),
            (250.0, "mJ", "Joules", 0.25),
            (4.2, "W", "mW", 4200.0),
            (2.4, "GHz", "MHz", 2400.0),
            (6.0, "MB/s", "kB/sec", 6000.0),
            (6.0, "MB/min", "kB/s", 100.0),
            (5.0, "apples", "apples", 5.0),
            (5.0, "", "", 5.0),
        ] {
            let found = convert(value, from, to).unwrap();
            let off = (found - expected).abs();
            assert!(off <= f64::EPSILON * expected, "{from} to {to}: {found}");
        }
    }

    #[test]
    fn other_dimensions_and_unknown_units_are_not() {
        for (from, to) in [
            ("s", "J"),
            ("s", ""),
            ("", "ms"),
            ("KB", "kB"),
            ("MS", "ms"),
            ("%", "s"),
            ("MB/s", "MB"),
            ("MB/kB", "MB/s"),
            ("apples", "pears"),
            ("mW", "MW"),
        ] {
            assert_eq!(convert(1.0, from, to), None, "{from} to {to}");
        }
    }

    #[test]
    fn every_known_unit_goes_there_and_back() {
        let texts: Vec<&str> = SYMBOLS.iter().chain(&WORDS).map(|known| known.0).collect();
        for from in &texts {
            for to in &texts {
                let Some(there) = convert(1.25, from, to) else {
                    continue;
                };
                let back = convert(there, to, from).unwrap();
                assert!((back - 1.25).abs() < 1e-12, "{from} to {to}: {back}");
            }
        }
    }

    #[test]
    fn the_common_unit_does_not_depend_on_the_order() {
        let chosen = |met: &[&str]| {
            let mut common = CommonUnits::default();
            for unit in met {
                common.note("t", unit);
            }
            common.common_unit("t", met[0]).to_owned()
        };
        assert_eq!(chosen(&["ms", "s"]), "s");
        assert_eq!(chosen(&["s", "ms"]), "s");
        assert_eq!(chosen(&["s", "ms", "ms"]), "ms");
        assert_eq!(chosen(&["sec", "s"]), "s");
        assert_eq!(chosen(&["s", "sec"]), "s");
        assert_eq!(chosen(&["ms", "J"]), "ms");
        assert_eq!(chosen(&["msec"]), "msec");
    }
}
