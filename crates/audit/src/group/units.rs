//! Converts a metric that is printed in several units (`3.97 us` and `109 ns`) to one unit.
//!
//! Tools choose a readable unit for each figure. Figures that are compared are converted to
//! the finest of these units, so that no digit is lost. A metric in a single unit, or in units
//! of several kinds, is left unchanged.

use std::collections::BTreeMap;

use assize_bundle::Spread;

use super::item::{Item, Stand};
use crate::grammar::block::{Figure, Finding};
use crate::grammar::units::{power_of_seconds, thousands};

/// Splits a unit into its kind, the part from the slash on, and its size in the smallest unit of
/// the same kind: a nanosecond, a byte or a bit.
fn scale(unit: &str) -> Option<(&str, &str, f64)> {
    let (own, per) = unit.split_at(unit.find('/').unwrap_or(unit.len()));
    let per = match per {
        "/sec" | "/second" => "/s",
        per => per,
    };
    if let Some(power) = power_of_seconds(own) {
        return Some(("time", per, 10.0_f64.powi(power + 9)));
    }
    let kinds = [
        ("bytes", "B"),
        ("byte", "B"),
        ("bits", "bit"),
        ("bit", "bit"),
        ("B", "B"),
    ];
    let mut kinds = kinds.iter();
    let (prefix, kind) = kinds.find_map(|(name, kind)| Some((own.strip_suffix(name)?, *kind)))?;
    let (prefix, base) = match prefix.strip_suffix('i') {
        Some(prefix) => (prefix, 1024.0_f64),
        None => (prefix, 1000.0),
    };
    let power = thousands(prefix).filter(|power| *power >= 0)?;
    Some((kind, per, base.powi(power)))
}

/// The finest of several units of one kind; `None` if all are equal or their kinds differ.
fn finest<'u>(units: &[&'u str]) -> Option<(&'u str, f64)> {
    let first = units.first()?;
    if units.iter().all(|unit| unit == first) {
        return None;
    }
    let (kind, per, _) = scale(first)?;
    let mut best: Option<(&str, f64)> = None;
    for unit in units {
        let (other, behind, scale) = scale(unit)?;
        if (other, behind) != (kind, per) {
            return None;
        }
        if best.is_none_or(|(_, least)| scale < least) {
            best = Some((unit, scale));
        }
    }
    best
}

/// The figures of an item.
fn figures(item: &mut Item) -> &mut [Figure] {
    match &mut item.finding {
        Finding::Run { figures, .. } => figures,
        Finding::Summary { figure, .. } => std::slice::from_mut(figure),
        _ => &mut [],
    }
}

/// The figures that share a unit: a metric of a workload, in one message at one depth.
type Series = (Stand, Option<String>, String);

fn series(stand: Stand, workload: &Option<String>, figure: &Figure) -> Series {
    (stand, workload.clone(), figure.metric.clone())
}

/// Gives each metric of each workload in one unit, where that is possible.
pub(super) fn in_one_unit(items: &mut [Item]) {
    let mut met: BTreeMap<Series, Vec<String>> = BTreeMap::new();
    for item in items.iter_mut() {
        let (stand, workload) = (item.stand, item.workload_name.clone());
        for figure in figures(item) {
            let series = series(stand, &workload, figure);
            let units = met.entry(series).or_default();
            if !units.contains(&figure.unit) {
                units.push(figure.unit.clone());
            }
        }
    }
    met.retain(|_, units| units.len() > 1);
    if met.is_empty() {
        return;
    }
    for item in items {
        let (stand, workload) = (item.stand, item.workload_name.clone());
        let mut factor = 1.0;
        for figure in figures(item) {
            let units = met.get(&series(stand, &workload, figure));
            let units: Vec<&str> = units.into_iter().flatten().map(String::as_str).collect();
            if let Some((unit, least)) = finest(&units)
                && let Some((.., own)) = scale(&figure.unit)
            {
                factor = own / least;
                figure.value = times(figure.value, factor);
                figure.step = figure.step.map(|step| times(step, factor));
                figure.unit = unit.to_string();
            }
        }
        if let Finding::Summary { spread, .. } = &mut item.finding
            && let Some(Spread::StandardError(value) | Spread::StandardDeviation(value)) = spread
        {
            *value = times(*value, factor);
        }
    }
}

/// The product, rounded to remove artefacts of binary floating point.
fn times(value: f64, factor: f64) -> f64 {
    let product = value * factor;
    format!("{product:.12e}").parse().unwrap_or(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finest_of_several_units_of_one_kind_is_taken() {
        for (units, finest_of) in [
            (&["s", "ms", "s"][..], Some(("ms", 1e6))),
            (&["us/op", "ns/op"], Some(("ns/op", 1.0))),
            (&["GiB", "MiB"], Some(("MiB", 1_048_576.0))),
            (&["GB/s", "MB/sec"], Some(("MB/sec", 1e6))),
            (&["ms", "ms"], None),
            (&["ms", "MB"], None),
            (&["ms", "ms/op"], None),
            (&["ms", "cycles"], None),
            (&["Mbit/s", "MB/s"], None),
            (&["ms", ""], None),
        ] {
            assert_eq!(finest(units), finest_of, "{units:?}");
        }
        // A product has no digits of its own.
        assert_eq!(times(3.9722, 1e3), 3972.2);
    }
}
