//! Units and names of figures that say that performance was measured.

use crate::grammar::Figure;
use crate::grammar::quantity::is_quotient;

/// Whether a figure has a unit in which performance is measured, be it for want of a name
/// in the place of one: `ns/op`.
pub(super) fn has_unit(figure: &Figure) -> bool {
    let named = figure.unit.is_empty() && figure.metric.contains('/');
    is_measure(&figure.unit) || named && is_quotient(&figure.metric)
}

/// Whether a metric has the name of a rate, which is a unit as well: `read IOPS`.
pub(super) fn is_rate(metric: &str) -> bool {
    const RATES: &[&str] = &["iops", "tps", "qps", "rps", "pps", "fps"];
    let last = metric.rsplit(' ').next().unwrap_or_default();
    RATES.iter().any(|rate| rate.eq_ignore_ascii_case(last))
        || metric.ends_with(" per second")
        || metric.ends_with("/sec")
        || metric.ends_with("/s")
}

/// Whether a unit is one in which performance is measured.
fn is_measure(unit: &str) -> bool {
    let unit = unit.trim();
    !unit.is_empty()
        && !matches!(
            unit,
            "%" | "x"
                | "K"
                | "k"
                | "M"
                | "G"
                | "B"
                | "KB"
                | "kB"
                | "MB"
                | "GB"
                | "KiB"
                | "MiB"
                | "GiB"
        )
}
