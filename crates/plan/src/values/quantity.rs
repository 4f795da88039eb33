//! Quantities with units: durations, sizes, powers, energies, frequencies and shares.

use std::ops::RangeInclusive;

/// A kind of quantity, written as a number and a unit: `1.5ms`.
#[derive(Debug)]
pub(crate) struct Quantity {
    /// The noun and its article, for messages.
    pub(crate) noun: (&'static str, &'static str),
    /// Examples for messages. The first is used alone if there is no text.
    pub(crate) example: &'static str,
    more_examples: &'static str,
    /// The suffix of fields, for the smallest unit: `_ns`.
    pub(crate) suffix: &'static str,
    /// The units, each with its size in the smallest unit.
    pub(crate) units: &'static [(&'static str, u64)],
    /// The range of valid values in the smallest unit, and the message for others.
    limits: (RangeInclusive<u64>, &'static str),
}

/// Durations in nanoseconds, at most a day.
pub(crate) static DURATION: Quantity = Quantity {
    noun: ("a", "duration"),
    example: "\"20s\"",
    more_examples: ", \"1ms\", \"500us\"",
    suffix: "_ns",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
    ],
    limits: (0..=86_400_000_000_000, "is more than a day"),
};

/// Sizes in MiB, 32 MiB to 1024 GiB.
pub(crate) static SIZE: Quantity = Quantity {
    noun: ("a", "size"),
    example: "\"256M\"",
    more_examples: " or \"1G\"",
    suffix: "_mib",
    units: &[("M", 1), ("G", 1024)],
    limits: (32..=1024 * 1024, "is not between 32M and 1024G"),
};

/// Powers in microwatts, at most 1000 W.
pub(crate) static POWER: Quantity = Quantity {
    noun: ("a", "power"),
    example: "\"80mW\"",
    more_examples: ", \"500uW\", \"1.5W\"",
    suffix: "_uw",
    units: &[("uW", 1), ("mW", 1000), ("W", 1_000_000)],
    limits: (0..=1_000_000_000, "is more than 1000W"),
};

/// Energies in nanojoules, at most 1000 J.
pub(crate) static ENERGY: Quantity = Quantity {
    noun: ("an", "energy"),
    example: "\"12uJ\"",
    more_examples: ", \"500nJ\", \"1mJ\"",
    suffix: "_nj",
    units: &[("nJ", 1), ("uJ", 1000), ("mJ", 1_000_000)],
    limits: (0..=1_000_000_000_000, "is more than 1000000mJ"),
};

/// Frequencies in kilohertz, 1 kHz to 100 GHz.
pub(crate) static FREQUENCY: Quantity = Quantity {
    noun: ("a", "frequency"),
    example: "\"600MHz\"",
    more_examples: ", \"1.8GHz\", \"100000kHz\"",
    suffix: "_khz",
    units: &[("kHz", 1), ("MHz", 1000), ("GHz", 1_000_000)],
    limits: (1..=100_000_000, "is not between 1kHz and 100GHz"),
};

impl Quantity {
    /// Parses a quantity to the smallest unit.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, String> {
        let Quantity { noun, example, .. } = self;
        let value = in_smallest_unit(text, self.units).ok_or_else(|| {
            let more = self.more_examples;
            format!(
                "'{text}' is not a valid {}, such as {example}{more}",
                noun.1
            )
        })?;
        let (limits, outside) = &self.limits;
        match limits.contains(&value) {
            true => Ok(value),
            false => Err(format!("'{text}' {outside}")),
        }
    }

    /// The names of the units, the smallest first.
    pub(crate) fn unit_names(&self) -> Vec<&'static str> {
        self.units.iter().map(|(name, _)| *name).collect()
    }
}

/// Formats nanoseconds as a whole number of the largest possible unit.
pub(crate) fn show_ns(ns: u64) -> String {
    let mut units = DURATION.units.iter().rev();
    match units.find(|(_, factor)| ns > 0 && ns.is_multiple_of(*factor)) {
        Some((unit, factor)) => format!("{}{unit}", ns / factor),
        None => format!("{ns}ns"),
    }
}

/// Parses a percentage to a fraction: `2%` to 0.02.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is not a share such as \"2%\" or \"0.5%\"");
    let number = text.strip_suffix('%').ok_or_else(wrong)?.trim_end();
    if !number.starts_with(|c: char| c.is_ascii_digit())
        || !number.chars().all(|c| c.is_ascii_digit() || c == '.')
    {
        return Err(wrong());
    }
    let percent: f64 = number.parse().map_err(|_| wrong())?;
    if percent > 0.0 && percent <= 100.0 {
        Ok(percent / 100.0)
    } else {
        Err(format!("'{text}' is not above 0% and at most 100%"))
    }
}

/// Parses a number with at most nine decimals and a unit; `None` unless it is a
/// whole number of the smallest unit.
fn in_smallest_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || whole.len() > 15 || decimals.is_empty() || decimals.len() > 9 {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(decimals.len()).ok()?);
    let digits = whole.parse::<u128>().ok()? * scale + decimals.parse::<u128>().ok()?;
    let scaled = digits * u128::from(*factor);
    if scaled % scale != 0 {
        return None;
    }
    u64::try_from(scaled / scale).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_nanoseconds() {
        for (text, ns) in [
            ("1ms", 1_000_000),
            ("20s", 20_000_000_000),
            ("500us", 500_000),
            ("250ns", 250),
            ("1.5 ms", 1_500_000),
            ("0s", 0),
            ("2min", 120_000_000_000),
        ] {
            assert_eq!(DURATION.parse(text), Ok(ns), "{text}");
            assert_eq!(DURATION.parse(&show_ns(ns)), Ok(ns), "{text}");
        }
        for text in [
            "", "1", "ms", "1 h", "0.5ns", "-1s", "1e3s", "1.s", ".5s", "1..5s", "25000min",
        ] {
            assert!(DURATION.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_mebibytes() {
        assert_eq!(SIZE.parse("256M"), Ok(256));
        assert_eq!(SIZE.parse("1.5G"), Ok(1536));
        for text in ["1M", "256", "256K", "256MB", "9999999G", "0.5M"] {
            assert!(SIZE.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn powers_energies_and_frequencies_have_units() {
        assert_eq!(POWER.parse("80mW"), Ok(80_000));
        assert_eq!(POWER.parse("0.5 mW"), Ok(500));
        assert_eq!(POWER.parse("0uW"), Ok(0));
        assert_eq!(ENERGY.parse("1.5uJ"), Ok(1500));
        assert_eq!(FREQUENCY.parse("1.8GHz"), Ok(1_800_000));
        for text in ["80", "mW", "80 J", "1001W", "0.5uW", "80mw"] {
            assert!(POWER.parse(text).is_err(), "{text}");
        }
        for text in ["1J", "0.5nJ", "2000000mJ", ""] {
            assert!(ENERGY.parse(text).is_err(), "{text}");
        }
        for text in ["0kHz", "101GHz", "1Hz", "0.5kHz", "600"] {
            assert!(FREQUENCY.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_are_fractions() {
        assert_eq!(share("2%"), Ok(0.02));
        assert_eq!(share("0.5 %"), Ok(0.005));
        for text in [
            "2", "0%", "101%", "-1%", "nan%", "inf%", "%", "1e1%", "0.02",
        ] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
