//! Runs in which something took far longer than in others.
//!
//! A stall in one run of twenty hardly changes a mean, yet users notice it. So runs are classified
//! as slow or normal by a threshold on each primary time and each largest sample, and the shares of
//! slow runs are compared like those of crashes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assize_judge::quantile::type7;

use crate::baselines::Baselines;
use crate::cells::{Cell, CellKey, Cells};
use crate::document::{RunEnd, Tail};
use crate::error::Error;
use crate::family::Hypotheses;
use crate::outcomes::{PendingOutcome, RunEnding, ask};
use crate::units::convert;

/// The suffix of metrics that are the largest sample of a run.
const LARGEST: &str = "_max";
/// With fewer runs per side, no threshold is computed.
const FEWEST: usize = 8;
/// Above this share of slow or outlying runs, slowness is not rare.
pub(crate) const RARE: f64 = 0.2;
/// A value is far out if it is this many interquartile ranges above the upper quartile of the
/// logarithms (Tukey 1977), and slow if it is also this many times the median.
const RANGES: f64 = 3.0;
const TIMES: f64 = 2.0;
/// Units in which a threshold is printed, the largest first.
const UNITS: [&str; 4] = ["s", "ms", "us", "ns"];

/// The option that asks for a threshold.
pub(crate) const OPTION: &str = "slow";
const EXPECTED: &str = "METRIC > NUMBER UNIT with a unit of time, such as 'latency_ns_max > 1 ms'";

/// A threshold given by the user: metric, number and unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowThreshold<'t> {
    pub(crate) metric: &'t str,
    above: f64,
    unit: &'t str,
}

/// Reads `METRIC > NUMBER UNIT`.
pub(crate) fn read(text: &str) -> Result<SlowThreshold<'_>, Error> {
    let parts = || {
        let (metric, rest) = text.rsplit_once('>')?;
        let rest = rest.trim();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, unit) = (rest[..end].parse().ok()?, rest[end..].trim());
        let is_time = convert(1.0, unit, "ns").is_some();
        let asked = SlowThreshold {
            metric: metric.trim(),
            above: number,
            unit,
        };
        (is_time && number > 0.0 && !asked.metric.is_empty()).then_some(asked)
    };
    parts().ok_or_else(|| Error::Option {
        option: OPTION,
        value: text.to_owned(),
        expected: EXPECTED,
    })
}

/// Registers, for every primary time and every largest sample, the hypothesis that one side has
/// more runs above the threshold. `higher`: metrics for which more is better. `thresholds`: those
/// given by the user, which replace computed ones.
pub(crate) fn ask_all(
    cells: &Cells<'_>,
    baselines: &Baselines,
    primary: &BTreeSet<usize>,
    higher: &BTreeSet<usize>,
    thresholds: &BTreeMap<usize, SlowThreshold<'_>>,
    hypotheses: &mut Hypotheses,
) -> Vec<PendingOutcome> {
    let mut rows = Vec::new();
    for (workload, metric) in cells.rows() {
        let named = &cells.metrics[metric];
        let asked = thresholds.get(&metric);
        let looked_at = primary.contains(&metric) || named.name.ends_with(LARGEST);
        let looked_at = asked.is_some() || looked_at && !higher.contains(&metric);
        if !looked_at || convert(1.0, &named.unit, "ns").is_none() {
            continue;
        }
        let there: Vec<(usize, &Cell<'_>)> = cells.row(workload, metric).collect();
        let given = asked.map(|asked| (asked.above, asked.unit));
        let computed = || {
            let values = there.iter().flat_map(|(_, cell)| cell.values());
            threshold(values.collect(), &named.unit)
        };
        let Some((shown, unit)) = given.or_else(computed) else {
            continue;
        };
        let Some(above) = convert(shown, unit, &named.unit) else {
            continue;
        };
        let tail = Tail {
            workload: cells.workloads[workload].clone(),
            metric: named.name.clone(),
            above: shown,
            unit: unit.to_owned(),
        };
        let runs = |configuration: usize| {
            let key = CellKey {
                workload,
                metric,
                configuration,
            };
            let runs = slow_endings(cells, key, above);
            let enough = asked.is_some() || runs.len() >= FEWEST;
            enough.then_some(runs)
        };
        let names = there.iter().map(|(at, _)| *at).collect();
        for (b, a) in baselines.pairs(cells, names, baselines.baseline_on(workload)) {
            let (Some(of_a), Some(of_b)) = (runs(a), runs(b)) else {
                continue;
            };
            let any = of_a.iter().chain(&of_b).any(|run| run.end.is_some());
            if asked.is_some() || any {
                let [of_a, of_b] = [&of_a, &of_b].map(|of| of.iter().collect::<Vec<_>>());
                let way = (RunEnd::Slow, Some(tail.clone()));
                rows.push(ask(cells, way, (a, &of_a), (b, &of_b), hypotheses));
            }
        }
    }
    rows
}

/// The reason given for slow runs.
const ABOVE: &str = "above the threshold";

/// The runs of a cell, each classified as slow or normal.
fn slow_endings<'a>(cells: &Cells<'a>, key: CellKey, above: f64) -> Vec<RunEnding<'a>> {
    let runs = cells.get(key).into_iter().flat_map(|cell| &cell.runs);
    let ended = runs.map(|one| RunEnding {
        end: (one.value > above).then_some(RunEnd::Slow),
        why: Cow::Borrowed(ABOVE),
        signature: ABOVE.to_owned(),
        ..RunEnding::completed(
            &cells.records.runs[one.run],
            key.workload,
            key.configuration,
        )
    });
    ended.collect()
}

/// The threshold with its unit, rounded as printed: far above most of the values, which are in
/// `unit`; `None` if exceeding it is not rare. It is computed from the runs of both sides together,
/// so exchanging labels does not change it and the tests of shares stay exact.
fn threshold(mut values: Vec<f64>, unit: &str) -> Option<(f64, &'static str)> {
    if values.len() < 2 * FEWEST || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let at = |share: f64| type7(&values, share).ok();
    let (low, middle, high) = (at(0.25)?, at(0.5)?, at(0.75)?);
    let fence = high * (high / low).powf(RANGES);
    let least = fence.max(TIMES * middle);
    let unit_of = |to: &&&str| convert(least, unit, to).is_some_and(|value| value >= 1.0);
    let said = UNITS.iter().find(unit_of).copied().unwrap_or("ns");
    let shown = convert(least, unit, said)?;
    let step = 10_f64.powf(shown.log10().floor() - 1.0);
    let shown = step * (shown / step).ceil();
    let above = convert(shown, said, unit)?;
    let slow = values.iter().filter(|value| **value > above).count();
    (slow > 0 && slow as f64 <= RARE * values.len() as f64).then_some((shown, said))
}

#[cfg(test)]
#[path = "slow_tests.rs"]
mod tests;
