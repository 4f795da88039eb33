//! How a metric is written in a header or an option: `time [s] <`, `bw KiB/s >`.

use crate::grammar::quantity::{is_measure, metric_of};

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Better {
    /// `<`: less of it.
    Lower,
    /// `>`: more of it.
    Higher,
}

/// A metric with its unit and its better direction, as far as they are said.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its unit; empty if none is said.
    pub unit: String,
    /// Which way it is better, if that is said.
    pub better: Option<Better>,
}

impl Metric {
    /// Reads `NAME [UNIT] [<|>]`. The unit stands in brackets or parentheses, or is a
    /// last word that is known as one; a text that is nothing but a unit names the
    /// metric too.
    ///
    /// # Errors
    /// A sentence that says what is expected.
    pub fn parse(text: &str) -> Result<Metric, String> {
        let wrong = || format!("'{text}' is no metric: write NAME [UNIT] <, as in 'time [s] <'");
        let mut rest = text.trim();
        let mut better = None;
        for (mark, way) in [('<', Better::Lower), ('>', Better::Higher)] {
            if let Some(before) = rest.strip_suffix(mark) {
                (rest, better) = (before.trim_end(), Some(way));
                break;
            }
        }
        let (name, unit) = parted(rest);
        let known = name.chars().any(char::is_alphanumeric);
        if !known || name.contains(['<', '>', '|']) {
            return Err(wrong());
        }
        Ok(Metric {
            name: name.to_owned(),
            unit: unit.to_owned(),
            better,
        })
    }
}

/// A name and the unit behind it; empty where there is none.
pub(crate) fn parted(text: &str) -> (&str, &str) {
    for (open, close) in [('[', ']'), ('(', ')')] {
        let inner = text.strip_suffix(close).and_then(|t| t.rsplit_once(open));
        if let Some((name, unit)) = inner
            && !name.trim().is_empty()
            && !unit.trim().is_empty()
        {
            return (name.trim(), unit.trim());
        }
    }
    match text.rsplit_once(char::is_whitespace) {
        Some((name, unit)) if is_unit(unit) => (name.trim_end(), unit),
        None if is_unit(text) => (metric_of(text), text),
        _ => (text, ""),
    }
}

/// Whether a word is a unit of something measured.
pub(crate) fn is_unit(word: &str) -> bool {
    const SIZES: [&str; 8] = ["%", "B", "kB", "KiB", "MB", "MiB", "GB", "GiB"];
    is_measure(word) || SIZES.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_a_name_and_perhaps_a_unit_and_a_direction() {
        let of = |text| {
            let read = Metric::parse(text).unwrap();
            (read.name, read.unit, read.better)
        };
        let is = |name: &str, unit: &str, better| (name.to_owned(), unit.to_owned(), better);
        assert_eq!(of("time s <"), is("time", "s", Some(Better::Lower)));
        assert_eq!(of("p99 latency (us)"), is("p99 latency", "us", None));
        assert_eq!(of("score >"), is("score", "", Some(Better::Higher)));
        assert_eq!(of("Mbit/s >"), is("Mbit/s", "Mbit/s", Some(Better::Higher)));
        assert_eq!(of("context switches"), is("context switches", "", None));
        assert!(Metric::parse("<").is_err() && Metric::parse("a < b").is_err());
    }
}
