//! Parses durations, sizes, shares and other quantities with units.

const DURATIONS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];
const POWERS: &[(&str, u64)] = &[("uW", 1), ("mW", 1000), ("W", 1_000_000)];
const ENERGIES: &[(&str, u64)] = &[("nJ", 1), ("uJ", 1000), ("mJ", 1_000_000)];
const FREQUENCIES: &[(&str, u64)] = &[("kHz", 1), ("MHz", 1000), ("GHz", 1_000_000)];
const SIZES: &[(&str, u64)] = &[("M", 1), ("G", 1024)];

/// The longest duration, in nanoseconds: a day.
pub(crate) const DAY_NS: u64 = 86_400_000_000_000;

/// Parses a duration such as `1ms` to nanoseconds, at most a day.
pub(crate) fn duration_ns(text: &str) -> Result<u64, String> {
    let ns = quantity(text, DURATIONS)
        .ok_or_else(|| format!("'{text}' is no duration such as \"20s\", \"1ms\", \"500us\""))?;
    if ns > DAY_NS {
        return Err(format!("'{text}' is more than a day"));
    }
    Ok(ns)
}

/// Formats nanoseconds as a whole number of the largest possible unit.
pub(crate) fn show_ns(ns: u64) -> String {
    let mut units = DURATIONS.iter().rev();
    match units.find(|(_, factor)| ns > 0 && ns.is_multiple_of(*factor)) {
        Some((unit, factor)) => format!("{}{unit}", ns / factor),
        None => format!("{ns}ns"),
    }
}

/// Parses a size such as `256M` to MiB, 32 MiB to 1024 GiB.
pub(crate) fn size_mib(text: &str) -> Result<u64, String> {
    let mib = quantity(text, SIZES)
        .ok_or_else(|| format!("'{text}' is no size such as \"256M\" or \"1G\""))?;
    if !(32..=1024 * 1024).contains(&mib) {
        return Err(format!("'{text}' is not between 32M and 1024G"));
    }
    Ok(mib)
}

/// Parses a power such as `80mW` to microwatts, at most 1000 W.
pub(crate) fn power_uw(text: &str) -> Result<u64, String> {
    let uw = quantity(text, POWERS)
        .ok_or_else(|| format!("'{text}' is no power such as \"80mW\", \"500uW\", \"1.5W\""))?;
    if uw > 1_000_000_000 {
        return Err(format!("'{text}' is more than 1000W"));
    }
    Ok(uw)
}

/// Parses an energy such as `12uJ` to nanojoules, at most 1000 J.
pub(crate) fn energy_nj(text: &str) -> Result<u64, String> {
    let nj = quantity(text, ENERGIES)
        .ok_or_else(|| format!("'{text}' is no energy such as \"12uJ\", \"500nJ\", \"1mJ\""))?;
    if nj > 1_000_000_000_000 {
        return Err(format!("'{text}' is more than 1000000mJ"));
    }
    Ok(nj)
}

/// Parses a frequency such as `600MHz` to kilohertz, 1 kHz to 100 GHz.
pub(crate) fn frequency_khz(text: &str) -> Result<u64, String> {
    let khz = quantity(text, FREQUENCIES).ok_or_else(|| {
        format!("'{text}' is no frequency such as \"600MHz\", \"1.8GHz\", \"100000kHz\"")
    })?;
    if !(1..=100_000_000).contains(&khz) {
        return Err(format!("'{text}' is not between 1kHz and 100GHz"));
    }
    Ok(khz)
}

/// Parses a percentage such as `2%` to a fraction, here 0.02.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is no share such as \"2%\" or \"0.5%\"");
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
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
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
            assert_eq!(duration_ns(text), Ok(ns), "{text}");
            assert_eq!(duration_ns(&show_ns(ns)), Ok(ns), "{text}");
        }
        for text in [
            "", "1", "ms", "1 h", "0.5ns", "-1s", "1e3s", "1.s", ".5s", "1..5s", "25000min",
        ] {
            assert!(duration_ns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_mebibytes() {
        assert_eq!(size_mib("256M"), Ok(256));
        assert_eq!(size_mib("1.5G"), Ok(1536));
        for text in ["1M", "256", "256K", "256MB", "9999999G", "0.5M"] {
            assert!(size_mib(text).is_err(), "{text}");
        }
    }

    #[test]
    fn powers_energies_and_frequencies_have_units() {
        assert_eq!(power_uw("80mW"), Ok(80_000));
        assert_eq!(power_uw("0.5 mW"), Ok(500));
        assert_eq!(power_uw("0uW"), Ok(0));
        assert_eq!(energy_nj("1.5uJ"), Ok(1500));
        assert_eq!(frequency_khz("1.8GHz"), Ok(1_800_000));
        for text in ["80", "mW", "80 J", "1001W", "0.5uW", "80mw"] {
            assert!(power_uw(text).is_err(), "{text}");
        }
        for text in ["1J", "0.5nJ", "2000000mJ", ""] {
            assert!(energy_nj(text).is_err(), "{text}");
        }
        for text in ["0kHz", "101GHz", "1Hz", "0.5kHz", "600"] {
            assert!(frequency_khz(text).is_err(), "{text}");
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
