//! How a metric is written in a header or an option: `time [s] <`, `bw KiB/s >`.

use crate::grammar::units::{is_unit, parted};

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
    /// Parses `NAME [UNIT] [<|>]`. The unit is in brackets; a known one may also be in parentheses or
    /// the last word. A text that is only a unit also serves as the name of the metric.
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
        let (name, unit) = match parted(rest) {
            // `shell scripts (1 concurrent)`
            (_, unit) if rest.ends_with(')') && !is_unit(unit) => (rest, ""),
            parts => parts,
        };
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
    fn only_a_known_unit_stands_in_parentheses() {
        let parsed = |text| Metric::parse(text).map(|metric| [metric.name, metric.unit]);
        let remark = parsed("scripts (1 concurrent)").unwrap();
        assert_eq!(remark, ["scripts (1 concurrent)", ""]);
        assert_eq!(parsed("time (ms)").unwrap(), ["time", "ms"]);
        assert_eq!(parsed("load [furlong]").unwrap(), ["load", "furlong"]);
    }
}
