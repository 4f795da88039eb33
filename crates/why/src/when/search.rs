//! Chooses the next draws: first on a grid, then where the end of a run became certain, then where
//! the share of bad ends rose.

use std::collections::BTreeMap;
use std::ops::Range;

use assize_judge::{RunShare, counts};

/// The number of parts into which the grid divides the searched interval.
const GRID: u64 = 8;
/// Intervals of at most this length, in ns, are not divided further.
pub const NARROW: u64 = 1000;
/// The maximum delay of a draw, in ns: CPUs first complete the turn in progress, which lasts at
/// most one and a half quanta of the exact machine.
pub const TURN: u64 = 150;
/// The confidence of the intervals of shares.
pub const LEVEL: f64 = 0.95;
/// If Fisher's p of two neighbouring shares is at most this, the interval between them is divided.
const MAY_RISE: f64 = 0.05;
/// If Fisher's p is at most this, the share rose.
const RISES: f64 = 0.01;
/// After this many draws, rises are no longer searched for.
const MOST: u32 = 500;

/// The instants at which draws were made, and how many ended as bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    begin: u64,
    /// The end of the searched interval, from which on nothing is left to draw.
    end: u64,
    many: u32,
    points: BTreeMap<u64, RunShare>,
}

/// When the end became certain, as far as the draws show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certain {
    /// All draws ended as bad.
    Always,
    /// At least one draw from `open` ended otherwise, and all draws from `certain` on ended as bad.
    Between {
        /// The last instant with a draw that ended otherwise.
        open: u64,
        /// The next instant of a draw, or the end of the search.
        certain: u64,
    },
}

/// An instant, and the numbers of the draws to make from it.
pub type WantedDraws = (u64, Range<u32>);

impl Search {
    /// Starts a search between two instants, in ns, with up to `many` draws, at least 4, per
    /// instant.
    #[must_use]
    pub fn new(begin: u64, end: u64, many: u32) -> Search {
        Search {
            begin,
            end: end.max(begin + 1),
            many: many.max(4),
            points: BTreeMap::new(),
        }
    }

    /// The draws so far.
    #[must_use]
    pub fn points(&self) -> &BTreeMap<u64, RunShare> {
        &self.points
    }

    /// The number of draws so far.
    #[must_use]
    pub fn draws(&self) -> u32 {
        self.points.values().map(|share| share.of).sum()
    }

    /// Adds `of` draws from an instant, of which `bad` ended as bad.
    pub fn note(&mut self, at: u64, bad: u32, of: u32) {
        let none = RunShare { count: 0, of: 0 };
        let share = self.points.entry(at).or_insert(none);
        share.count += bad;
        share.of += of;
    }

    /// The next draws to make; `None` if the search is complete.
    #[must_use]
    pub fn next(&self) -> Option<WantedDraws> {
        if let Some(wanted) = self.lacking(self.begin, self.many) {
            return Some(wanted);
        }
        let begin = self.points.get(&self.begin)?;
        if begin.count == begin.of {
            return None;
        }
        let length = u128::from(self.end - self.begin);
        let on_grid = (1..GRID).map(|step| {
            let ahead = length * u128::from(step) / u128::from(GRID);
            self.begin + u64::try_from(ahead).unwrap_or_default()
        });
        let mut wanted = on_grid.filter_map(|at| self.lacking(at, self.many / 2));
        wanted
            .next()
            .or_else(|| self.nearer_to_certain())
            .or_else(|| self.nearer_to_rise())
    }

    /// When the end became certain.
    #[must_use]
    pub fn certain(&self) -> Certain {
        let mut certain = self.end;
        for (at, share) in self.points.iter().rev() {
            if share.count < share.of {
                return Certain::Between { open: *at, certain };
            }
            certain = *at;
        }
        Certain::Always
    }

    /// Narrow intervals in which the share rose, before the end became certain.
    #[must_use]
    pub fn rises(&self) -> Vec<[u64; 2]> {
        let narrow = |step: &[u64; 2]| step[1] - step[0] <= NARROW;
        let steps = self.steps().into_iter().filter(narrow);
        steps
            .filter(|step| self.rise(*step).is_some_and(|(_, p)| p <= RISES))
            .collect()
    }

    /// The draws that this instant lacks to have `wanted` of them; `None` if it has them.
    fn lacking(&self, at: u64, wanted: u32) -> Option<WantedDraws> {
        let of = self.points.get(&at).map_or(0, |share| share.of);
        (at < self.end && of < wanted).then_some((at, of..wanted))
    }

    fn nearer_to_certain(&self) -> Option<WantedDraws> {
        let Certain::Between { open, certain } = self.certain() else {
            return None;
        };
        if certain - open > NARROW {
            let first = self.lacking(certain, self.many / 2);
            // A single draw that ends otherwise shows that the end is still open there.
            return first.or_else(|| self.lacking(u64::midpoint(open, certain), self.many / 4));
        }
        let first = self.lacking(certain, self.many);
        first.or_else(|| self.lacking(open, self.many))
    }

    fn nearer_to_rise(&self) -> Option<WantedDraws> {
        if self.draws() >= MOST {
            return None;
        }
        let all = self.steps().into_iter();
        let rising = all.filter_map(|step| {
            let (height, p) = self.rise(step)?;
            let [from, to] = step;
            let next = if to - from > NARROW {
                self.lacking(u64::midpoint(from, to), self.many / 2)
            } else {
                let both = self.lacking(from, self.many);
                both.or_else(|| self.lacking(to, self.many))
            };
            (p <= MAY_RISE).then_some((height, next?))
        });
        let highest = rising.max_by(|one, other| one.0.total_cmp(&other.0));
        highest.map(|(_, next)| next)
    }

    /// Pairs of neighbouring instants, up to the last at which the end was open.
    fn steps(&self) -> Vec<[u64; 2]> {
        let Certain::Between { open, .. } = self.certain() else {
            return Vec::new();
        };
        let all: Vec<u64> = self.points.range(..=open).map(|(at, _)| *at).collect();
        let steps = all.windows(2).filter_map(|two| two.try_into().ok());
        steps.collect()
    }

    /// The rise of the share between two instants, and Fisher's p; `None` if it does not rise.
    fn rise(&self, step: [u64; 2]) -> Option<(f64, f64)> {
        let [before, after] = step.map(|at| self.points.get(&at).copied());
        let (before, after) = (before?, after?);
        let part = |share: RunShare| f64::from(share.count) / f64::from(share.of.max(1));
        let height = part(after) - part(before);
        let p = counts::fisher(before, after).ok()?;
        (height > 0.0).then_some((height, p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Completes a search in which draws from an instant end as bad with probability `chance`.
    fn drawn(seed: u64, chance: impl Fn(u64) -> f64) -> Search {
        let mut search = Search::new(1_000_000, 301_000_000, 20);
        while let Some((at, numbers)) = search.next() {
            let bad = numbers.clone().filter(|number| {
                let mut mixed = seed ^ at.rotate_left(20) ^ (u64::from(*number) << 50);
                for _ in 0..3 {
                    mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
                }
                ((mixed >> 11) as f64 / (1_u64 << 53) as f64) < chance(at)
            });
            let bad = u32::try_from(bad.count()).unwrap_or_default();
            search.note(at, bad, u32::try_from(numbers.len()).unwrap_or_default());
        }
        search
    }

    #[test]
    fn the_instant_of_a_step_to_certainty_lies_in_a_narrow_interval() {
        for (seed, before) in [(1, 0.5), (2, 0.1), (3, 0.0), (4, 0.4), (5, 0.7)] {
            let planted = 81_204_000 + seed * 17_345_321;
            let search = drawn(seed, |at| if at < planted { before } else { 1.0 });
            let Certain::Between { open, certain } = search.certain() else {
                panic!("{before}: {search:?}");
            };
            assert!(
                open < planted && planted <= certain,
                "{before}: {open} {certain}"
            );
            assert!(certain - open <= NARROW);
            assert!(search.draws() <= MOST, "{}", search.draws());
        }
    }

    #[test]
    fn a_rise_before_certainty_is_found_too() {
        let (rise, certain) = (90_000_500, 200_000_500);
        let search = drawn(7, |at| match at {
            at if at < rise => 0.0,
            at if at < certain => 0.8,
            _ => 1.0,
        });
        let rises = search.rises();
        assert!(
            matches!(rises[..], [[from, to]] if from < rise && rise <= to),
            "{rises:?} {search:?}"
        );
    }

    #[test]
    fn what_is_bad_from_the_start_on_needs_no_further_search() {
        let search = drawn(1, |_| 1.0);
        assert_eq!(search.certain(), Certain::Always);
        assert_eq!(search.draws(), 20);
        // If all draws end otherwise, the end is certain only at the end of the interval.
        let search = drawn(1, |_| 0.0);
        assert!(matches!(
            search.certain(),
            Certain::Between {
                certain: 301_000_000,
                ..
            }
        ));
    }
}
