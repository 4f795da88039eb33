//! Times in an easily readable unit.

use assize_verdict::{Tradeoff, TradeoffPoint, TradeoffValue, convert};

/// The units of time to choose from, smallest first.
const TIMES: [&str; 4] = ["ns", "us", "ms", "s"];

/// Smaller values are hard to read in their unit.
pub(crate) const LEAST: f64 = 0.1;

/// A unit and the factor that converts values to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Readable {
    pub(crate) unit: String,
    factor: f64,
}

impl Readable {
    /// Like [`Readable::for_values`], but times are in the unit that the reader chose, if any.
    pub(crate) fn chosen(
        chosen: Option<&str>,
        unit: &str,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        match chosen.and_then(|to| Some((to, convert(1.0, unit, to)?))) {
            Some((to, factor)) => Readable {
                unit: to.to_owned(),
                factor,
            },
            None => Readable::for_values(unit, values),
        }
    }

    /// For times, the largest unit in which the largest value is at least 1; for other
    /// values, the unit unchanged.
    pub(crate) fn for_values(unit: &str, values: impl Iterator<Item = f64>) -> Self {
        let largest = values.map(f64::abs).fold(0.0, f64::max);
        let in_unit = |to: &&&str| convert(largest, unit, to).is_some_and(|value| value >= 1.0);
        let time = TIMES.iter().rev().find(in_unit);
        let chosen = time.and_then(|to| Some((to, convert(1.0, unit, to)?)));
        match chosen {
            Some((to, factor)) => Readable {
                unit: (*to).to_owned(),
                factor,
            },
            None => Readable {
                unit: unit.to_owned(),
                factor: 1.0,
            },
        }
    }

    /// A common unit for two values if both are readable in it, otherwise a unit for each.
    pub(crate) fn pair(chosen: Option<&str>, unit: &str, pair: [f64; 2]) -> [Self; 2] {
        let both = Readable::chosen(chosen, unit, pair.into_iter());
        let is_small = |value: f64| value != 0.0 && both.value(value).abs() < LEAST;
        match pair.into_iter().any(is_small) {
            true => pair.map(|value| Readable::chosen(chosen, unit, std::iter::once(value))),
            false => [both.clone(), both],
        }
    }

    /// The units in which the two metrics of a trade-off are shown.
    pub(crate) fn for_tradeoff(tradeoff: &Tradeoff) -> [Self; 2] {
        let means = |axis: fn(&TradeoffPoint) -> &TradeoffValue| {
            let points = tradeoff.points.iter();
            points.filter_map(move |point| axis(point).mean)
        };
        [
            Readable::for_values(&tradeoff.x.unit, means(|point| &point.x)),
            Readable::for_values(&tradeoff.y.unit, means(|point| &point.y)),
        ]
    }

    /// Converts a value to this unit.
    pub(crate) fn value(&self, value: f64) -> f64 {
        value * self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_the_largest_unit_of_which_there_is_one() {
        let shown = |unit: &str, values: &[f64]| {
            let readable = Readable::for_values(unit, values.iter().copied());
            (readable.value(values[0]), readable.unit)
        };
        assert_eq!(shown("ns", &[25_700_000.0, 9e5]), (25.7, "ms".into()));
        assert_eq!(shown("s", &[0.002]), (2.0, "ms".into()));
        assert_eq!(shown("ns", &[0.5]), (0.5, "ns".into()));
        assert_eq!(shown("mJ", &[259.0]), (259.0, "mJ".into()));
        assert_eq!(shown("", &[0.0]), (0.0, String::new()));
    }

    #[test]
    fn two_values_far_apart_have_a_unit_each() {
        let units = |unit: &str, pair: [f64; 2]| Readable::pair(None, unit, pair).map(|it| it.unit);
        assert_eq!(units("ns", [5_030.0, 3_850_000.0]), ["us", "ms"]);
        assert_eq!(units("ns", [3_850_000.0, 5_030.0]), ["ms", "us"]);
        assert_eq!(units("ns", [900_000.0, 1_100_000.0]), ["ms", "ms"]);
        assert_eq!(units("ms", [0.00503, 0.0046]), ["us", "us"]);
        assert_eq!(units("ns", [0.0, 3_850_000.0]), ["ms", "ms"]);
        assert_eq!(units("kB", [0.001, 5.0]), ["kB", "kB"]);
    }

    #[test]
    fn the_reader_may_choose_the_unit_of_times() {
        let units =
            |unit: &str, pair: [f64; 2]| Readable::pair(Some("s"), unit, pair).map(|it| it.unit);
        assert_eq!(units("ns", [5_030.0, 3_850_000.0]), ["s", "s"]);
        assert_eq!(units("kB", [1.0, 5.0]), ["kB", "kB"]);
    }
}
