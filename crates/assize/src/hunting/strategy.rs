//! How the CPUs of each run take turns: one strategy after the other.

use assize_job::Interleaving;
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
/// Turns are drawn as long as delays, up to so many ns: QEMU's limit is 1 ms.
const LONGEST_TURN_NS: u32 = 500_000;

impl Strategy {
    /// All of them, in the order in which they take turns.
    pub(super) const ALL: [Strategy; 4] = [
        Strategy::Turns,
        Strategy::Locked,
        Strategy::LongTurns,
        Strategy::Delays,
    ];

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

    /// What this strategy makes of a number: how CPUs take turns, and how delays are drawn from an
    /// instant on. Runs
    /// differ by the scale of what is drawn, since nobody knows that of the race.
    pub(super) fn draw(self, number: u32, from_ns: u64) -> (Interleaving, Option<DelayDraw>) {
        let scale = SHORTEST_NS << (mixed(number) % DOUBLINGS);
        let length_ns = [scale / 4, scale * 2];
        let plain = Interleaving::default();
        match self {
            Strategy::Turns => (plain, None),
            Strategy::LongTurns => {
                let turns = Interleaving {
                    quantum_ns: Some(scale.min(LONGEST_TURN_NS)),
                    ..plain
                };
                (turns, None)
            }
            Strategy::Delays => {
                let draw = DelayDraw {
                    every_ns: scale * APART,
                    locked: 0,
                    length_ns,
                    from_ns,
                };
                (plain, Some(draw))
            }
            Strategy::Locked => {
                let draw = DelayDraw {
                    every_ns: 0,
                    locked: (scale * APART / LOCKED_EVERY).max(2),
                    length_ns,
                    from_ns,
                };
                (plain, Some(draw))
            }
        }
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
        let first: Vec<Strategy> = (1..=5).map(|n| Strategy::numbered(n, &[])).collect();
        assert_eq!(first[..4], Strategy::ALL);
        assert_eq!(first[4], first[0]);
        let chosen = [Strategy::Delays];
        assert!((1..9).all(|n| Strategy::numbered(n, &chosen) == Strategy::Delays));
    }

    #[test]
    fn all_scales_are_drawn_and_are_within_what_qemu_takes() {
        let draws = |strategy: Strategy| (1..400).map(move |n| strategy.draw(n, 7));
        let scales: BTreeSet<_> = draws(Strategy::Delays)
            .filter_map(|(_, draw)| Some(draw?.length_ns))
            .collect();
        assert_eq!(scales.len(), DOUBLINGS as usize);
        assert!(
            scales
                .iter()
                .all(|[least, most]| 250 <= *least && *most <= 4_096_000)
        );
        let turns: BTreeSet<_> = draws(Strategy::LongTurns)
            .filter_map(|(turns, _)| turns.quantum_ns)
            .collect();
        assert!(turns.len() > 8 && turns.iter().all(|ns| (1000..=500_000).contains(ns)));
        assert!(draws(Strategy::Locked).all(|(_, draw)| draw.is_some_and(|one| one.locked >= 2)));
        assert!(draws(Strategy::Turns).all(|one| one == (Interleaving::default(), None)));
    }
}
