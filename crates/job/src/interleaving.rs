//! How the CPUs of a run take turns.

use serde::{Deserialize, Serialize};

/// The inputs, besides the seed, that determine how the CPUs of an exact run take turns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interleaving {
    /// The average length of a turn; `None` for the quantum of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum_ns: Option<u32>,
    /// The delays of the CPUs; those of one CPU are in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Delay>,
}

/// A time in which a CPU executes nothing, as in a system management interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// The CPU.
    pub cpu: u32,
    /// When the CPU stops, in ns since the machine was switched on.
    pub at_ns: u64,
    /// How long it stops, in ns.
    pub length_ns: u64,
}

impl Interleaving {
    /// Whether the seed alone determines how the CPUs take turns.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Interleaving::default()
    }
}

impl Delay {
    /// Parses `CPU AT_NS LENGTH_NS`, optionally followed by the hexadecimal address of the next
    /// instruction of the CPU; `None` if the line is malformed.
    #[must_use]
    pub fn parse(line: &str) -> Option<(Delay, Option<u64>)> {
        let mut words = line.split(' ');
        let delay = Delay {
            cpu: words.next()?.parse().ok()?,
            at_ns: words.next()?.parse().ok()?,
            length_ns: words.next()?.parse().ok()?,
        };
        let next = words.next().map(|word| u64::from_str_radix(word, 16));
        let next = next.transpose().ok()?;
        words.next().is_none().then_some((delay, next))
    }
}

impl std::fmt::Display for Delay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.cpu, self.at_ns, self.length_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_read_as_it_is_written() {
        let delay = Delay {
            cpu: 1,
            at_ns: 6_000_000_000,
            length_ns: 1500,
        };
        assert_eq!(delay.to_string(), "1 6000000000 1500");
        assert_eq!(Delay::parse(&delay.to_string()), Some((delay, None)));
        let next = Delay::parse("1 6000000000 1500 ffffffff81000010");
        assert_eq!(next, Some((delay, Some(0xffff_ffff_8100_0010))));
        for wrong in ["", "1", "1 2", "1 2 x", "1 2 3 g", "1 2 3 4 5", "-1 2 3"] {
            assert_eq!(Delay::parse(wrong), None, "{wrong}");
        }
    }
}
