//! Effects and absolute values as short text.

use assize_verdict::{Better, Comparison, Document, MachineComparison, Options, Scale, Verdict};

use super::{contradicted, fixed_values};
use crate::number::{self, signed, significant, with_points};
use crate::readable::Readable;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowOutcome {
    /// Established, in the good direction and larger than the margin.
    Better,
    /// Established, in the bad direction and larger than the margin.
    Worse,
    /// Established and less; the metric has no good direction.
    Less,
    /// Established and more; the metric has no good direction.
    More,
    /// Like `Better`, but only supported.
    LikelyBetter,
    /// Like `Worse`, but only supported.
    LikelyWorse,
    /// Like `Less`, but only supported.
    LikelyLess,
    /// Like `More`, but only supported.
    LikelyMore,
    /// Equivalent, or established with the whole interval inside the margin.
    Same,
    /// Both sides have the same value in all runs.
    Equal,
    /// Each side has one value in all its runs; the two differ.
    Fixed,
    /// None of the above.
    Open,
}

impl RowOutcome {
    /// All outcomes, in the order in which they are counted.
    pub(crate) const ALL: [RowOutcome; 12] = [
        RowOutcome::Better,
        RowOutcome::Worse,
        RowOutcome::Less,
        RowOutcome::More,
        RowOutcome::LikelyBetter,
        RowOutcome::LikelyWorse,
        RowOutcome::LikelyLess,
        RowOutcome::LikelyMore,
        RowOutcome::Same,
        RowOutcome::Fixed,
        RowOutcome::Equal,
        RowOutcome::Open,
    ];

    /// Whether a difference is established rather than supported; `Err` if there is none.
    pub(super) fn is_established(verdict: Verdict) -> Result<bool, RowOutcome> {
        match verdict {
            Verdict::Undecided => Err(RowOutcome::Open),
            Verdict::Equivalent => Err(RowOutcome::Same),
            Verdict::Supported => Ok(false),
            Verdict::Established => Ok(true),
        }
    }

    /// The outcome for a difference larger than the margin.
    pub(super) fn from_difference(less: bool, established: bool, better: Option<Better>) -> Self {
        let good = better.map(|better| (better == Better::Lower) == less);
        match (good, established) {
            (Some(true), true) => RowOutcome::Better,
            (Some(true), false) => RowOutcome::LikelyBetter,
            (Some(false), true) => RowOutcome::Worse,
            (Some(false), false) => RowOutcome::LikelyWorse,
            (None, true) if less => RowOutcome::Less,
            (None, true) => RowOutcome::More,
            (None, false) if less => RowOutcome::LikelyLess,
            (None, false) => RowOutcome::LikelyMore,
        }
    }

    /// The colour class: `good`, `bad`, `differs`, `same` or `open`.
    pub(crate) fn tone(self) -> &'static str {
        match self {
            RowOutcome::Better | RowOutcome::LikelyBetter => "good",
            RowOutcome::Worse | RowOutcome::LikelyWorse => "bad",
            RowOutcome::Less
            | RowOutcome::More
            | RowOutcome::LikelyLess
            | RowOutcome::LikelyMore
            | RowOutcome::Fixed => "differs",
            RowOutcome::Same | RowOutcome::Equal => "same",
            RowOutcome::Open => "open",
        }
    }

    /// The wording shown to the reader.
    pub(crate) fn words(self, margin: f64) -> String {
        match self {
            RowOutcome::Better => "better".to_owned(),
            RowOutcome::Worse => "worse".to_owned(),
            RowOutcome::Less => "less".to_owned(),
            RowOutcome::More => "more".to_owned(),
            RowOutcome::LikelyBetter => "likely better".to_owned(),
            RowOutcome::LikelyWorse => "likely worse".to_owned(),
            RowOutcome::LikelyLess => "likely less".to_owned(),
            RowOutcome::LikelyMore => "likely more".to_owned(),
            RowOutcome::Same => format!("no difference larger than {}", super::margin(margin)),
            RowOutcome::Fixed => "a difference in every run".to_owned(),
            RowOutcome::Equal => "equal in every run".to_owned(),
            RowOutcome::Open => "cannot tell".to_owned(),
        }
    }
}

/// Returns the outcome of a row. A difference whose whole interval is within `margin` counts as
/// none.
pub(crate) fn outcome(row: &Comparison, better: Option<Better>, margin: f64) -> RowOutcome {
    let established = match RowOutcome::is_established(row.verdict) {
        Ok(established) => established,
        Err(none) => return none,
    };
    let Some(change) = relative_change(row) else {
        // With a baseline of zero there is no relative change, but the sign gives the direction.
        return match row.difference {
            Some(difference) if difference != 0.0 => {
                RowOutcome::from_difference(difference < 0.0, established, better)
            }
            _ => RowOutcome::Open,
        };
    };
    let within = |ends: [f64; 2]| ends.iter().all(|end| end.abs() < margin);
    if interval_ends(row).is_some_and(within) {
        return RowOutcome::Same;
    }
    RowOutcome::from_difference(change < 0.0, established, better)
}

/// Describes the outcome of one row. For an established but small difference, says both.
pub(crate) fn row_words(
    row: &Comparison,
    came_out: RowOutcome,
    better: Option<Better>,
    margin: f64,
) -> String {
    let established = row.verdict == Verdict::Established;
    let differs = established || row.verdict == Verdict::Supported;
    match relative_change(row).filter(|change| differs && *change != 0.0) {
        Some(change) if came_out == RowOutcome::Same => {
            let way = RowOutcome::from_difference(change < 0.0, established, better);
            let way = way.words(margin);
            let by = percent(change.abs());
            let by = by.trim_start_matches('+');
            format!(
                "{way} by {by}, too small to matter at {}",
                super::margin(margin)
            )
        }
        _ => came_out.words(margin),
    }
}

/// The relative change from the baseline; `None` if the baseline is zero.
pub(crate) fn relative_change(row: &Comparison) -> Option<f64> {
    match row.scale {
        Scale::Raw => {
            let of = row.mean_baseline?.abs();
            (of > 0.0).then_some(row.difference? / of)
        }
        Scale::Log | Scale::Summary => Some(row.ratio? - 1.0),
    }
}

/// How much better a row is, as a log ratio, so that halving and doubling have the same weight;
/// negative if worse. Without a good direction, less counts as better.
pub(crate) fn log_gain(row: &Comparison, better: Option<Better>) -> f64 {
    let change = relative_change(row).unwrap_or(0.0);
    let log = (1.0 + change).max(1e-9).ln();
    match better {
        Some(Better::Higher) => log,
        _ => -log,
    }
}

/// A change in per cent, or as a factor where that reads better: `-46.7 %`, `766 x`.
pub(crate) fn percent(change: f64) -> String {
    if change >= 2.0 {
        return format!("{} x", significant(change + 1.0, 3));
    }
    let per_cent = change * 100.0;
    let digits = if per_cent.abs() < 10.0 { 2 } else { 3 };
    let text = significant(per_cent, digits);
    if change > -1.0 && text == "-100" {
        // Almost everything is gone, but not all.
        let times = 1.0 / (1.0 + change);
        let step = 10f64.powf(times.log10().floor() - 2.0);
        return format!("to 1/{:.0}", (times / step).round() * step);
    }
    let sign = if change > 0.0 { "+" } else { "" };
    format!("{sign}{text} %")
}

/// Formats one end of an interval. A factor above 1000 or below 1/1000 is not shown exactly.
pub(crate) fn format_interval_end(change: f64) -> String {
    const FAR: f64 = 1000.0;
    let times = change + 1.0;
    if times > FAR {
        format!("over {FAR} x")
    } else if 0.0 < times && times < 1.0 / FAR {
        format!("under 1/{FAR}")
    } else {
        percent(change)
    }
}

/// The effect of a row with both means: `-46.8 % (28.2 -> 15.0 us)`. If machines contradict
/// each other, no single figure is valid for all of them, and the text says that they
/// disagree.
pub(crate) fn effect(document: &Document, row: &Comparison) -> String {
    if contradicted(document, row) {
        return format!("{} disagree", document.across.plural());
    }
    match absolute_means(document, row) {
        Some(means) => format!("{} ({})", size(row), means.text()),
        None => size(row),
    }
}

/// Like [`effect`], with an interval and its name.
pub(crate) fn effect_with_interval(
    document: &Document,
    row: &Comparison,
    came_out: RowOutcome,
) -> String {
    let effect = effect(document, row);
    match interval(document, row, came_out) {
        Some(interval) => format!("{effect}, {}", interval.text()),
        // The words for an undecided row say this already.
        None if row.verdict != Verdict::Undecided && fixed_values(document, row).is_some() => {
            format!("{effect} in every run")
        }
        None => effect,
    }
}

/// The size of the change and its interval, without the means.
pub(crate) fn size_with_interval(
    document: &Document,
    row: &Comparison,
    came_out: RowOutcome,
) -> Option<String> {
    let interval = interval(document, row, came_out)?;
    Some(format!("{}, {}", size(row), interval.text()))
}

pub(crate) struct ChangeInterval {
    /// The kind of interval: `adjusted` if simultaneous over all tests, `98.2 % interval` if at
    /// another level than 95 %, else empty.
    name: String,
    pub(crate) ends: [f64; 2],
    /// The interval in the metric's unit, if relative changes would go below -100 %.
    in_unit: Option<String>,
}

impl ChangeInterval {
    /// `-46.9 % to -46.7 %`, or `-2.0 % to +6.0 % (adjusted)`.
    pub(crate) fn text(&self) -> String {
        let range = self.in_unit.clone().unwrap_or_else(|| range(self.ends));
        match self.name.as_str() {
            "" => range,
            name => format!("{range} ({name})"),
        }
    }
}

/// Returns the interval to print next to a verdict. If the outcome is "cannot tell", it is
/// corrected for multiple tests like the verdict, since the uncorrected interval may exclude "no
/// difference". `None` if machines contradict each other or no run varies.
pub(crate) fn interval(
    document: &Document,
    row: &Comparison,
    came_out: RowOutcome,
) -> Option<ChangeInterval> {
    if contradicted(document, row) || fixed_values(document, row).is_some() {
        return None;
    }
    let corrected = row.ci_simultaneous.filter(|_| came_out == RowOutcome::Open);
    let (name, ci) = match corrected {
        Some(ci) => ("adjusted".to_owned(), ci),
        None if document.level == Options::default().level => (String::new(), row.ci?),
        None => {
            let level = significant(100.0 * document.level, 3);
            (format!("{level} % interval"), row.ci?)
        }
    };
    let ends = as_changes(row, ci)?;
    let in_unit = beyond_all(row).then(|| {
        let [low, high] = ci.map(signed);
        with_points(&format!("{low} to {high}"), &row.unit)
    });
    Some(ChangeInterval {
        name,
        ends,
        in_unit,
    })
}

/// Whether the difference, or an end of its interval, is a drop by more than the baseline. Relative
/// changes are meaningless then, so differences are shown.
pub(crate) fn beyond_all(row: &Comparison) -> bool {
    let intervals = [row.ci, row.ci_simultaneous].into_iter().flatten();
    let ends = intervals.filter_map(|ci| as_changes(row, ci)).flatten();
    row.scale == Scale::Raw && ends.chain(relative_change(row)).any(|change| change < -1.0)
}

/// `-46.9 % to -46.7 %`.
pub(crate) fn range(ends: [f64; 2]) -> String {
    ends.map(format_interval_end).join(" to ")
}

/// The size of the change: relative to the baseline, or as a difference if the baseline
/// is zero.
pub(crate) fn size(row: &Comparison) -> String {
    match (
        relative_change(row).filter(|_| !beyond_all(row)),
        row.difference,
    ) {
        (Some(change), _) => percent(change),
        (None, Some(difference)) => number::difference(difference, &row.unit),
        (None, None) => "no figure".to_owned(),
    }
}

/// The ends of the row's own interval, as relative changes.
pub(crate) fn interval_ends(row: &Comparison) -> Option<[f64; 2]> {
    as_changes(row, row.ci?)
}

fn as_changes(row: &Comparison, ci: [f64; 2]) -> Option<[f64; 2]> {
    match row.scale {
        Scale::Raw => {
            let of = row.mean_baseline?.abs();
            (of > 0.0).then(|| ci.map(|end| end / of))
        }
        Scale::Log | Scale::Summary => Some(ci.map(|end| end - 1.0)),
    }
}

/// The means before and after a change, each in a readable unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadableMeans {
    /// The machine these means are from, if the means over all machines do not reproduce
    /// the change.
    pub(crate) machine: Option<String>,
    /// Each mean, as number and unit.
    before: [String; 2],
    after: [String; 2],
}

impl ReadableMeans {
    /// `28.2 -> 15.0 us`, `5.03 us -> 3.85 ms`, or `on alpha: 28.2 -> 15.0 us`.
    pub(crate) fn text(&self) -> String {
        self.written(" -> ", " ", "us")
    }

    /// Like [`ReadableMeans::text`], typeset for the page: `28.2 → 15.0 µs`, without line
    /// breaks.
    pub(crate) fn typeset(&self) -> String {
        self.written("\u{a0}→\u{a0}", "\u{a0}", "µs")
    }

    fn written(&self, arrow: &str, blank: &str, microseconds: &str) -> String {
        let machine = self.machine.as_ref();
        let on = machine.map_or(String::new(), |name| format!("on {name}: "));
        let ([before, from], [after, to]) = (&self.before, &self.after);
        let side = |value: &str, unit: &str| {
            let unit = if unit == "us" { microseconds } else { unit };
            format!("{value}{blank}{unit}").trim_end().to_owned()
        };
        let from = if from == to { "" } else { from };
        format!("{on}{}{arrow}{}", side(before, from), side(after, to))
    }
}

/// The means to print next to the change of a row. A change pooled over machines is a weighted mean
/// of changes, with which the means over all runs need not agree. If they do not, returns the means
/// of the machine with the largest weight, and its name.
pub(crate) fn absolute_means(document: &Document, row: &Comparison) -> Option<ReadableMeans> {
    if let Some(on) = stands_for(document, row) {
        let machine = Some(on.machine.clone());
        let pair = [on.mean_baseline?, on.mean?];
        return Some(means(document, machine, &on.unit, pair));
    }
    let pair = [row.mean_baseline?, row.mean?];
    means_agree(row, pair).then(|| means(document, None, &row.unit, pair))
}

/// The machine whose means are shown for a row, if the means over all machines imply another
/// change; else `None`.
pub(crate) fn stands_for<'a>(
    document: &'a Document,
    row: &Comparison,
) -> Option<&'a MachineComparison> {
    let pair = row.mean_baseline.zip(row.mean);
    if pair.is_some_and(|(before, after)| means_agree(row, [before, after])) {
        return None;
    }
    let of_row = |on: &&MachineComparison| {
        (&on.workload, &on.metric, &on.unit) == (&row.workload, &row.metric, &row.unit)
            && (&on.baseline, &on.configuration) == (&row.baseline, &row.configuration)
    };
    let weight = |on: &&MachineComparison| on.weight.unwrap_or(0.0);
    let on = document.machines.iter().filter(of_row);
    // Reversed, so that the first of several machines with equal weight is taken.
    on.rev().max_by(|a, b| weight(a).total_cmp(&weight(b)))
}

/// Whether two means imply the change of a row as it is printed.
fn means_agree(row: &Comparison, [before, after]: [f64; 2]) -> bool {
    const ROUNDING: f64 = 1e-9;
    let (Some(of_row), true) = (relative_change(row), before != 0.0) else {
        // A difference, or a row without figures, has no relative change to agree with.
        return relative_change(row).is_none();
    };
    let of_means = (after - before) / before.abs();
    (of_means - of_row).abs() <= ROUNDING * (1.0 + of_row.abs())
        || percent(of_means) == percent(of_row)
}

fn means(
    document: &Document,
    machine: Option<String>,
    unit: &str,
    pair: [f64; 2],
) -> ReadableMeans {
    let written = |readable: &Readable, mean: f64| {
        let value = significant(readable.value(mean), 3);
        [value, readable.unit.clone()]
    };
    let [first, second] = Readable::pair(document.time_unit.as_deref(), unit, pair);
    ReadableMeans {
        machine,
        before: written(&first, pair[0]),
        after: written(&second, pair[1]),
    }
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
