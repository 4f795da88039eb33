//! How a metric is written in a header or an option: `time [s] <`, `bw KiB/s >`.

use crate::grammar::units::parted;

/// The better direction of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Better {
    /// `<`: lower is better.
    Lower,
    /// `>`: higher is better.
    Higher,
}

/// A metric with its unit and better direction, as far as given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its unit; empty if none is given.
    pub unit: String,
    /// The better direction, if given.
    pub better: Option<Better>,
}

impl Metric {
    /// Parses `NAME [UNIT] [<|>]`. The unit is in brackets or parentheses, or it is the last word
    /// if that is a known unit. A text that is only a unit also serves as the name of the metric.
    ///
    /// # Errors
    /// A sentence that describes the expected form.
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
