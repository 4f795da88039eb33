//! How the CPUs of each run take turns: one strategy after the other.

use assize_target::exact::DelayDraw;
use clap::ValueEnum;

use crate::cli::Strategy;

/// The shortest and the longest delays are some 250 ns and 4 ms; each doubling is as likely.
const SHORTEST_NS: u32 = 1000;
const DOUBLINGS: u32 = 12;
/// Between two delays of a CPU are so many of them on average. Fewer would leave no time in which
/// CPUs meet, more would seldom hit a place of a few instructions.
const APART: u32 = 2;
/// Instructions of a kernel for each locked one, roughly.
const LOCKED_EVERY: u32 = 128;

impl Strategy {
    /// All of them, in the order in which they take turns.
    pub(super) const ALL: [Strategy; 3] = [Strategy::Turns, Strategy::Locked, Strategy::Delays];

    /// The strategy of a schedule, by its number from 1.
    pub(super) fn numbered(number: u32, chosen: &[Strategy]) -> Strategy {
        let all = if chosen.is_empty() {
            &Strategy::ALL[..]
        } else {
            chosen
        };
        let at = (number.saturating_sub(1)) as usize % all.len();
        all.get(at).copied().unwrap_or(Strategy::Turns)
    }

    /// The name on the command line.
    pub(super) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// How this strategy draws delays from an instant on, for a number. Runs differ by the scale
    /// of what is drawn, since nobody knows that of the race.
    pub(super) fn draw(self, number: u32, from_ns: u64) -> Option<DelayDraw> {
        let scale = SHORTEST_NS << (mixed(number) % DOUBLINGS);
        let length_ns = [scale / 4, scale * 2];
        let (every_ns, locked) = match self {
            Strategy::Turns => return None,
            Strategy::Delays => (scale * APART, 0),
            Strategy::Locked => (0, (scale * APART / LOCKED_EVERY).max(2)),
        };
        Some(DelayDraw {
            every_ns,
            locked,
            length_ns,
            from_ns,
        })
    }
}

/// The finalizer of SplitMix64, so that neighbouring numbers give unlike draws.
fn mixed(number: u32) -> u32 {
    let mut z = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn strategies_take_turns_and_a_chosen_one_is_alone() {
        let first: Vec<Strategy> = (1..=4).map(|n| Strategy::numbered(n, &[])).collect();
        assert_eq!(first[..3], Strategy::ALL);
        assert_eq!(first[3], first[0]);
        let chosen = [Strategy::Delays];
        assert!((1..9).all(|n| Strategy::numbered(n, &chosen) == Strategy::Delays));
    }

    /// Numbers from 0 to 1.
    struct Draws(u32);

    impl Draws {
        fn one(&mut self) -> f64 {
            self.0 += 1;
            f64::from(mixed(self.0)) / f64::from(u32::MAX)
        }

        /// A delay after an instant, as QEMU draws it: when it begins and ends.
        fn delay(&mut self, draw: DelayDraw, from: f64) -> [f64; 2] {
            let [least, most] = draw.length_ns.map(f64::from);
            let at = from + self.one() * 2.0 * f64::from(draw.every_ns);
            let doublings = (most / least).log2() + 1.0;
            let least = least * (self.one() * doublings).floor().exp2();
            [at, at + (least * (1.0 + self.one())).min(most)]
        }

        /// The first delay that ends after an instant.
        fn delay_at(&mut self, draw: DelayDraw, instant: f64) -> [f64; 2] {
            let mut delay = self.delay(draw, 0.0);
            while delay[1] <= instant {
                delay = self.delay(draw, delay[1]);
            }
            delay
        }

        /// Whether a CPU is delayed for `still` within a window, and another CPU is not delayed
        /// in that time.
        fn hits(&mut self, draw: DelayDraw, later: f64, window: f64, still: f64) -> bool {
            let mut instant = f64::from(draw.every_ns) * later * self.one();
            let mut delay = self.delay_at(draw, instant);
            if delay[0] <= instant {
                instant = delay[1];
                delay = self.delay(draw, instant);
            }
            let other = self.delay_at(draw, delay[0]);
            delay[0] < instant + window
                && delay[1] - delay[0] >= still
                && other[0] >= delay[0] + still
        }
    }

    /// The promise of docs/hunt.md.
    #[test]
    fn a_delay_of_a_length_hits_a_window_as_often_as_promised() {
        let mut draws = Draws(0);
        let lengths = [250.0, 3_000.0, 50_000.0, 1_000_000.0];
        for (still, later) in lengths
            .into_iter()
            .flat_map(|still| [(still, 0.0), (still, 20.0)])
        {
            let tries = 60_000;
            let hits = (1..=tries)
                .filter_map(|number| Strategy::Delays.draw(number, 0))
                .filter(|draw| draws.hits(*draw, later, still / 2.0, still))
                .count();
            let promised = 0.5 / 200.0;
            let share = hits as f64 / f64::from(tries);
            assert!(
                share > promised && share < 10.0 * promised,
                "{still} {later}: {share}"
            );
        }
    }

    #[test]
    fn all_scales_are_drawn_and_are_within_what_qemu_takes() {
        let draws = |strategy: Strategy| (1..400).map(move |n| strategy.draw(n, 7));
        let scales: BTreeSet<_> = draws(Strategy::Delays)
            .filter_map(|draw| Some(draw?.length_ns))
            .collect();
        assert_eq!(scales.len(), DOUBLINGS as usize);
        assert!(
            scales
                .iter()
                .all(|[least, most]| 250 <= *least && *most <= 4_096_000)
        );
        assert!(draws(Strategy::Locked).all(|draw| draw.is_some_and(|one| one.locked >= 2)));
        assert!(draws(Strategy::Turns).all(|draw| draw.is_none()));
    }
}
