//! Effects and absolute values in words that are short.

use assize_verdict::{Better, Comparison, Scale, Verdict};

use crate::number::{signed, significant};
use crate::readable::Readable;

/// Which way a row has come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Established, in the good direction and by more than the margin.
    Better,
    /// Established, in the bad direction and by more than the margin.
    Worse,
    /// Established and less; nobody said whether that is good.
    Less,
    /// Established and more; nobody said whether that is good.
    More,
    /// As `Better`, but supported only.
    LikelyBetter,
    /// As `Worse`, but supported only.
    LikelyWorse,
    /// As `Less`, but supported only.
    LikelyLess,
    /// As `More`, but supported only.
    LikelyMore,
    /// Equivalent, or established and within the margin with its whole interval.
    Same,
    /// Neither.
    Open,
}

impl Outcome {
    /// All of them, in the order in which they are counted.
    pub(crate) const ALL: [Outcome; 10] = [
        Outcome::Better,
        Outcome::Worse,
        Outcome::Less,
        Outcome::More,
        Outcome::LikelyBetter,
        Outcome::LikelyWorse,
        Outcome::LikelyLess,
        Outcome::LikelyMore,
        Outcome::Same,
        Outcome::Open,
    ];

    /// Of a difference larger than the margin.
    pub(super) fn of(less: bool, established: bool, better: Option<Better>) -> Self {
        let good = better.map(|better| (better == Better::Lower) == less);
        match (good, established) {
            (Some(true), true) => Outcome::Better,
            (Some(true), false) => Outcome::LikelyBetter,
            (Some(false), true) => Outcome::Worse,
            (Some(false), false) => Outcome::LikelyWorse,
            (None, true) if less => Outcome::Less,
            (None, true) => Outcome::More,
            (None, false) if less => Outcome::LikelyLess,
            (None, false) => Outcome::LikelyMore,
        }
    }

    /// What colours stand for: `good`, `bad`, `differs`, `same` or `open`.
    pub(crate) fn tone(self) -> &'static str {
        match self {
            Outcome::Better | Outcome::LikelyBetter => "good",
            Outcome::Worse | Outcome::LikelyWorse => "bad",
            Outcome::Less | Outcome::More | Outcome::LikelyLess | Outcome::LikelyMore => "differs",
            Outcome::Same => "same",
            Outcome::Open => "open",
        }
    }

    /// As a reader sees it.
    pub(crate) fn words(self, margin: f64) -> String {
        match self {
            Outcome::Better => "better".to_owned(),
            Outcome::Worse => "worse".to_owned(),
            Outcome::Less => "less".to_owned(),
            Outcome::More => "more".to_owned(),
            Outcome::LikelyBetter => "likely better".to_owned(),
            Outcome::LikelyWorse => "likely worse".to_owned(),
            Outcome::LikelyLess => "likely less".to_owned(),
            Outcome::LikelyMore => "likely more".to_owned(),
            Outcome::Same => format!("no difference larger than {}", super::margin(margin)),
            Outcome::Open => "cannot tell".to_owned(),
        }
    }
}

/// Which way a row has come out. A difference matters to nobody whose whole interval is
/// within `margin`.
pub(crate) fn outcome(row: &Comparison, better: Option<Better>, margin: f64) -> Outcome {
    let established = match row.verdict {
        Verdict::Undecided => return Outcome::Open,
        Verdict::Equivalent => return Outcome::Same,
        Verdict::Supported => false,
        Verdict::Established => true,
    };
    let Some(change) = change(row) else {
        return Outcome::Open;
    };
    let within = |ends: [f64; 2]| ends.iter().all(|end| end.abs() < margin);
    if established && ends(row).is_some_and(within) {
        return Outcome::Same;
    }
    Outcome::of(change < 0.0, established, better)
}

/// By what share of the baseline a row differs; none where the baseline is zero.
pub(crate) fn change(row: &Comparison) -> Option<f64> {
    match row.scale {
        Scale::Raw => {
            let of = row.mean_baseline?.abs();
            (of > 0.0).then_some(row.difference? / of)
        }
        Scale::Log | Scale::Summary => Some(row.ratio? - 1.0),
    }
}

/// How much better a row is, on a scale on which half is as good as twice is bad;
/// negative if it is worse. Without a direction, less counts as better.
pub(crate) fn gain(row: &Comparison, better: Option<Better>) -> f64 {
    let change = change(row).unwrap_or(0.0);
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
    let sign = if change > 0.0 { "+" } else { "" };
    format!("{sign}{text} %")
}

/// An end of an interval. How far it is beyond a thousand times tells nobody more.
pub(crate) fn end(change: f64) -> String {
    const FAR: f64 = 1000.0;
    if change + 1.0 > FAR {
        format!("over {FAR} x")
    } else {
        percent(change)
    }
}

/// The effect of a row, with its interval and the two means.
pub(crate) fn effect(row: &Comparison, with_interval: bool) -> String {
    let interval = match ends(row).filter(|_| with_interval) {
        Some(ends) => format!(", {}", ends.map(end).join(" to ")),
        None => String::new(),
    };
    format!("{}{}{interval}", size(row), means(row))
}

/// By how much a row differs: a share of the baseline; a difference where that is zero.
pub(crate) fn size(row: &Comparison) -> String {
    match (change(row), row.difference) {
        (Some(change), _) => percent(change),
        (None, Some(difference)) => format!("{} {}", signed(difference), row.unit)
            .trim_end()
            .to_owned(),
        (None, None) => "no figure".to_owned(),
    }
}

/// The ends of the interval as changes.
pub(crate) fn ends(row: &Comparison) -> Option<[f64; 2]> {
    let ci = row.ci?;
    match row.scale {
        Scale::Raw => {
            let of = row.mean_baseline?.abs();
            (of > 0.0).then(|| ci.map(|end| end / of))
        }
        Scale::Log | Scale::Summary => Some(ci.map(|end| end - 1.0)),
    }
}

/// ` (28.2 -> 15.0 us)`.
fn means(row: &Comparison) -> String {
    match absolute(row) {
        Some([before, after, unit]) if unit.is_empty() => format!(" ({before} -> {after})"),
        Some([before, after, unit]) => format!(" ({before} -> {after} {unit})"),
        None => String::new(),
    }
}

/// The two means, and the unit in which they are easy to read.
pub(crate) fn absolute(row: &Comparison) -> Option<[String; 3]> {
    let (before, after) = (row.mean_baseline?, row.mean?);
    let readable = Readable::of(&row.unit, [before, after].into_iter());
    let [before, after] = [before, after].map(|mean| significant(readable.value(mean), 3));
    Some([before, after, readable.unit])
}
