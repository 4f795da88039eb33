//! What the latency formats share: extremes over threads and CPUs, and quantiles of printed
//! histograms. Not a format.

use super::block::Figure;
use crate::line::Line;

/// The printed statistics of one thread or CPU.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Seen {
    /// Number of samples.
    pub(super) count: Option<f64>,
    pub(super) min: Option<f64>,
    pub(super) avg: Option<f64>,
    pub(super) max: Option<f64>,
}

impl Seen {
    /// The number of samples, then the least, the mean and the greatest.
    pub(super) fn new([count, min, avg, max]: [Option<f64>; 4]) -> Seen {
        Seen {
            count,
            min,
            avg,
            max,
        }
    }
}

/// The mean of all means, weighted by their numbers of samples; `None` if there are several and one
/// of them has no number of samples.
fn mean(seen: &[Seen]) -> Option<f64> {
    let means: Vec<&Seen> = seen.iter().filter(|place| place.avg.is_some()).collect();
    if let [one] = means[..] {
        return one.avg;
    }
    let weights: Option<f64> = means.iter().map(|place| place.count).sum();
    let weighted = means.iter().map(|place| Some(place.avg? * place.count?));
    let sum: Option<f64> = weighted.sum();
    Some(sum? / weights?).filter(|mean| mean.is_finite())
}

/// `PREFIX min`, `PREFIX avg` and `PREFIX max` over all places.
pub(super) fn levels(prefix: &str, unit: &str, seen: &[Seen]) -> Vec<Figure> {
    let least = seen.iter().filter_map(|place| place.min).reduce(f64::min);
    let greatest = seen.iter().filter_map(|place| place.max).reduce(f64::max);
    let levels = [("min", least), ("avg", mean(seen)), ("max", greatest)];
    let figure = |(name, value): (&str, Option<f64>)| {
        Some(Figure::new(format!("{prefix} {name}"), value?, unit))
    };
    levels.into_iter().filter_map(figure).collect()
}

/// A quantile is reported only if at least this many samples lie beyond it.
const BEYOND: u64 = 10;
/// The quantiles of latency that are given, in thousandths.
const QUANTILES: [(&str, u64); 3] = [("p50", 500), ("p99", 990), ("p99.9", 999)];

/// The quantiles of a printed histogram, whose buckets are in ascending order and which leaves out
/// `over` samples above the last one. Quantiles among those are not reported.
pub(super) fn quantiles(
    prefix: &str,
    unit: &str,
    buckets: &[(f64, u64)],
    over: u64,
) -> Vec<Figure> {
    let counts = buckets.iter().map(|(_, n)| *n);
    let inside = counts.fold(0, u64::saturating_add);
    let total = inside.saturating_add(over);
    let mut figures = Vec::new();
    for (name, permille) in QUANTILES {
        let rank = (u128::from(total) * u128::from(permille)).div_ceil(1000) as u64;
        if total.saturating_sub(rank) < BEYOND || rank > inside {
            break;
        }
        let mut below = 0_u64;
        let reached = buckets.iter().find(|(_, count)| {
            below = below.saturating_add(*count);
            below >= rank
        });
        let metric = format!("{prefix} {name}");
        figures.extend(reached.map(|(value, _)| Figure::new(metric, *value, unit)));
    }
    figures
}

/// Strips the blanks and terminal sequences (`ESC [ 4 A`, `ESC c`) at the start, with which tools
/// redraw their screen.
pub(super) fn unescaped(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(sequence) = rest.strip_prefix('\u{1b}') {
        let skip = match sequence.as_bytes() {
            [b'[', arguments @ ..] => {
                let mut arguments = arguments.iter().take(24);
                let end = arguments.position(|b| (0x40..=0x7e).contains(b));
                end.map(|end| end + 2)
            }
            [b'c', ..] => Some(1),
            _ => None,
        };
        let Some(after) = skip.and_then(|skip| sequence.get(skip..)) else {
            return rest;
        };
        rest = after.trim_start();
    }
    rest
}

/// How many of the first lines are blank, of at most `limit`.
pub(in crate::grammar) fn blanks(lines: &[Line<'_>], limit: usize) -> usize {
    let is_blank = |line: &&Line<'_>| line.text.trim_start().is_empty();
    lines.iter().take(limit).take_while(is_blank).count()
}
