//! What the latency formats share: cells that may be bad, extremes over
//! threads and CPUs, and quantiles of printed histograms. Not a format.

use super::number::english;
use super::{Block, Figure, Finding, Labels, Taken};

/// What a cell of a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Cell {
    /// Nothing was printed, or the tool says that there is nothing.
    #[default]
    Absent,
    /// Something was printed that is no latency; a doubt was noted.
    Bad,
    /// A finite number that is not negative.
    Is(f64),
}

impl Cell {
    /// The number, if there is one.
    pub(super) fn value(self) -> Option<f64> {
        match self {
            Cell::Is(value) => Some(value),
            Cell::Absent | Cell::Bad => None,
        }
    }

    /// The number as a count; 0 if there is none.
    pub(super) fn count(self) -> u64 {
        // The cast saturates, which is what a count of 10^30 deserves.
        self.value().map_or(0, |value| value as u64)
    }
}

/// Reads `token` as a number that is not negative, and notes a
/// `bad-number` doubt at line `at` if it is none.
pub(super) fn cell(block: &mut Block, at: usize, what: &str, token: &str) -> Cell {
    match english(token) {
        Some(value) if value >= 0.0 => Cell::Is(value),
        _ => {
            bad_number(block, at, what, token);
            Cell::Bad
        }
    }
}

/// Notes that `token` stands where `what` should.
pub(super) fn bad_number(block: &mut Block, at: usize, what: &str, token: &str) {
    let sentence = format!("{what} reads `{}`, which is no usable number", clip(token));
    block.find(at, Finding::Doubt("bad-number", sentence));
}

/// Notes that the block that begins at line `at` lacks what it announced.
pub(super) fn truncated(block: &mut Block, at: usize, sentence: &str) {
    block.find(at, Finding::Doubt("truncated-block", sentence.to_owned()));
}

/// The first forty characters, for sentences about lines of any length.
pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(40) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// The text without the blanks and terminal sequences (`ESC [ 4 A`, `ESC c`)
/// before it, with which tools redraw their screen.
pub(super) fn unescaped(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(sequence) = rest.strip_prefix('\u{1b}') {
        let skip = match sequence.as_bytes() {
            [b'[', arguments @ ..] => {
                let is_end = |b: &u8| (0x40..=0x7e).contains(b);
                match arguments.iter().take(24).position(is_end) {
                    Some(end) => end + 2,
                    None => return rest,
                }
            }
            [b'c', ..] => 1,
            _ => return rest,
        };
        rest = sequence.get(skip..).unwrap_or("").trim_start();
    }
    rest
}

/// Whether `text` is one or more ASCII digits.
pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Splits off the digits that `text` begins with.
pub(super) fn leading_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at(end)
}

/// Says that `lines` lines were taken for `what`.
pub(super) fn take(block: &mut Block, lines: usize, what: Taken) {
    block.taken.extend(std::iter::repeat_n(what, lines));
}

/// How many of the first `limit` lines are blank.
pub(super) fn blanks(lines: &[crate::Line<'_>], limit: usize) -> usize {
    let is_blank = |line: &&crate::Line<'_>| line.text.trim_start().is_empty();
    lines.iter().take(limit).take_while(is_blank).count()
}

/// A run that the block says nothing about.
pub(super) fn run(figures: Vec<Figure>) -> Finding {
    Finding::Run {
        labels: Labels::default(),
        figures,
    }
}

/// What one thread or one CPU saw.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Seen {
    /// Number of samples.
    pub(super) count: Cell,
    /// Least of them.
    pub(super) min: Cell,
    /// Their mean.
    pub(super) avg: Cell,
    /// Greatest of them.
    pub(super) max: Cell,
}

/// The extreme over several places that `better` picks; none if one of the
/// cells is bad, for then it may be the extreme.
fn extreme(cells: impl Iterator<Item = Cell>, better: fn(f64, f64) -> f64) -> Option<f64> {
    let mut found: Option<f64> = None;
    for cell in cells {
        match cell {
            Cell::Bad => return None,
            Cell::Absent => {}
            Cell::Is(value) => found = Some(found.map_or(value, |old| better(old, value))),
        }
    }
    found
}

/// The least of the cells; none if one is bad.
pub(super) fn least(cells: impl Iterator<Item = Cell>) -> Option<f64> {
    extreme(cells, f64::min)
}

/// The greatest of the cells; none if one is bad.
pub(super) fn greatest(cells: impl Iterator<Item = Cell>) -> Option<f64> {
    extreme(cells, f64::max)
}

/// The mean of the means, each weighted by its number of samples; none if a
/// mean is bad or, where there are several, a weight is not known.
pub(super) fn mean<'a>(seen: impl Iterator<Item = &'a Seen>) -> Option<f64> {
    let mut sum = 0.0;
    let mut weight = 0.0;
    let mut weighted = true;
    let mut first = None;
    let mut places = 0usize;
    for place in seen {
        let value = match place.avg {
            Cell::Bad => return None,
            Cell::Absent => continue,
            Cell::Is(value) => value,
        };
        places += 1;
        first.get_or_insert(value);
        match place.count {
            Cell::Is(count) => {
                sum += value * count;
                weight += count;
            }
            Cell::Absent | Cell::Bad => weighted = false,
        }
    }
    match places {
        0 | 1 => first,
        _ if weighted && weight > 0.0 => Some(sum / weight).filter(|mean| mean.is_finite()),
        _ => None,
    }
}

/// Adds `PREFIX min`, `PREFIX avg` and `PREFIX max` over all places.
pub(super) fn push_levels(figures: &mut Vec<Figure>, prefix: &str, unit: &str, seen: &[Seen]) {
    let levels = [
        ("min", least(seen.iter().map(|place| place.min))),
        ("avg", mean(seen.iter())),
        ("max", greatest(seen.iter().map(|place| place.max))),
    ];
    for (name, value) in levels {
        if let Some(value) = value {
            figures.push(Figure::new(format!("{prefix} {name}"), value, unit));
        }
    }
}

/// A printed histogram: buckets in ascending order with their counts, and
/// how many samples lie above the last one.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Histogram {
    /// Value and count of each bucket, ascending.
    pub(super) buckets: Vec<(f64, u64)>,
    /// Samples above the last bucket.
    pub(super) over: u64,
}

/// How many samples must lie beyond a quantile before it is given.
const BEYOND: u64 = 10;

/// The quantiles of latency that are given.
const QUANTILES: [(&str, u64); 3] = [("p50", 500), ("p99", 990), ("p99.9", 999)];

impl Histogram {
    /// Adds `PREFIX p50`, `p99` and `p99.9`, each if ten samples lie beyond
    /// it. A quantile among the samples that overflowed is not known: the
    /// first such name is returned.
    pub(super) fn push_quantiles(
        &self,
        figures: &mut Vec<Figure>,
        prefix: &str,
        unit: &str,
    ) -> Option<&'static str> {
        let inside = self
            .buckets
            .iter()
            .fold(0u64, |sum, (_, n)| sum.saturating_add(*n));
        let total = inside.saturating_add(self.over);
        let mut below = 0u64;
        let mut buckets = self.buckets.iter();
        let mut value = 0.0;
        for (name, permille) in QUANTILES {
            let rank = (u128::from(total) * u128::from(permille)).div_ceil(1000) as u64;
            if total.saturating_sub(rank) < BEYOND {
                return None;
            }
            if rank > inside {
                return Some(name);
            }
            while below < rank {
                let Some((bucket, count)) = buckets.next() else {
                    return Some(name);
                };
                value = *bucket;
                below = below.saturating_add(*count);
            }
            figures.push(Figure::new(format!("{prefix} {name}"), value, unit));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_cell_takes_the_extreme_with_it_but_an_absent_one_does_not() {
        let good = [Cell::Is(2.0), Cell::Absent, Cell::Is(5.0)];
        assert_eq!(greatest(good.into_iter()), Some(5.0));
        assert_eq!(least(good.into_iter()), Some(2.0));
        let bad = [Cell::Is(2.0), Cell::Bad];
        assert_eq!(greatest(bad.into_iter()), None);
    }

    #[test]
    fn means_of_several_places_need_weights() {
        let place = |avg, count| Seen {
            avg: Cell::Is(avg),
            count,
            ..Seen::default()
        };
        let weighted = [place(10.0, Cell::Is(1.0)), place(20.0, Cell::Is(3.0))];
        assert_eq!(mean(weighted.iter()), Some(17.5));
        let unweighted = [place(10.0, Cell::Absent), place(20.0, Cell::Is(3.0))];
        assert_eq!(mean(unweighted.iter()), None);
        assert_eq!(mean(unweighted[..1].iter()), Some(10.0));
    }

    #[test]
    fn quantiles_are_given_while_ten_samples_lie_beyond() {
        let mut figures = Vec::new();
        let histogram = Histogram {
            buckets: vec![(3.0, 900), (7.0, 100)],
            over: 0,
        };
        assert_eq!(
            histogram.push_quantiles(&mut figures, "latency", "us"),
            None
        );
        let names: Vec<_> = figures
            .iter()
            .map(|f| (f.metric.as_str(), f.value))
            .collect();
        assert_eq!(names, [("latency p50", 3.0), ("latency p99", 7.0)]);
    }

    #[test]
    fn quantiles_among_the_overflows_are_not_known() {
        let mut figures = Vec::new();
        let histogram = Histogram {
            buckets: vec![(3.0, 900)],
            over: 100,
        };
        assert_eq!(
            histogram.push_quantiles(&mut figures, "latency", "us"),
            Some("p99")
        );
        assert_eq!(figures.len(), 1);
    }

    #[test]
    fn screen_sequences_are_passed_over() {
        assert_eq!(unescaped("\u{1b}[4Apolicy: x"), "policy: x");
        assert_eq!(unescaped("\u{1b}c  \u{1b}[2;37;40m  Timer"), "Timer");
        assert_eq!(unescaped("\u{1b}[\u{1b}"), "\u{1b}[\u{1b}");
        assert_eq!(unescaped("\u{1b}"), "\u{1b}");
    }
}
