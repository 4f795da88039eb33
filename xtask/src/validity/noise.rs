//! The noises: how runs of one configuration differ.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The standard deviation between runs, relative to the mean.
const SPREAD: f64 = 0.02;
/// The standard deviation between blocks, on logarithms.
const BLOCK_SPREAD: f64 = 0.2;

/// One kind of noise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    Normal,
    LogNormal,
    HeavyTailed,
    Pareto,
    Blocked,
    UnequalSpread,
}

/// One simulated comparison. In a blocked design, entry i of both sides is
/// block i.
pub(crate) struct Trial {
    pub(crate) a: Vec<f64>,
    pub(crate) b: Vec<f64>,
    pub(crate) blocked: bool,
}

impl Noise {
    pub(crate) const ALL: [Self; 6] = [
        Self::Normal,
        Self::LogNormal,
        Self::HeavyTailed,
        Self::Pareto,
        Self::Blocked,
        Self::UnequalSpread,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LogNormal => "log-normal tail",
            Self::HeavyTailed => "heavy-tailed",
            Self::Pareto => "Pareto tail",
            Self::Blocked => "blocked",
            Self::UnequalSpread => "unequal spread",
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Normal => "1 + 0.02 z, z standard normal",
            Self::LogNormal => "a floor and a skewed tail: 1 + 0.0093 exp(z)",
            Self::HeavyTailed => "exp(0.02 t / √3), t Student's with 3 degrees of freedom",
            Self::Pareto => "a floor and a long tail: 1 + 0.0134 q, q Pareto with index 2.5",
            Self::Blocked => {
                "normal, times exp(0.2 z) of its block; one run of each configuration \
                 per block, judged within blocks"
            }
            Self::UnequalSpread => {
                "exp(0.02 z) against exp(0.06 z): equal geometric means, but not \
                 exchangeable, so outside what a permutation test promises"
            }
        }
    }

    pub(crate) fn is_blocked(self) -> bool {
        self == Self::Blocked
    }

    /// Whether the runs are exchangeable if there is no effect. Only then is 5 %
    /// a promise.
    pub(crate) fn is_exchangeable(self) -> bool {
        self != Self::UnequalSpread
    }

    /// `runs` values a side, those of b multiplied by 1 + `effect`.
    pub(crate) fn trial(self, runs: usize, effect: f64, source: &mut Source) -> Trial {
        let (mut a, mut b) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
        for _ in 0..runs {
            let block = if self.is_blocked() {
                (BLOCK_SPREAD * source.normal()).exp()
            } else {
                1.0
            };
            a.push(block * self.value(false, source));
            b.push(block * self.value(true, source) * (1.0 + effect));
        }
        Trial {
            a,
            b,
            blocked: self.is_blocked(),
        }
    }

    /// The noise of one run, about 1.
    fn value(self, is_b: bool, source: &mut Source) -> f64 {
        let e = std::f64::consts::E;
        match self {
            Self::Normal | Self::Blocked => 1.0 + SPREAD * source.normal(),
            Self::LogNormal => 1.0 + SPREAD / ((e - 1.0) * e).sqrt() * source.normal().exp(),
            Self::HeavyTailed => (SPREAD / 3.0_f64.sqrt() * source.student3()).exp(),
            Self::Pareto => 1.0 + SPREAD / (2.5 / (2.25 * 0.5_f64)).sqrt() * source.pareto(2.5),
            Self::UnequalSpread => {
                let factor = if is_b { 3.0 } else { 1.0 };
                (factor * SPREAD * source.normal()).exp()
            }
        }
    }
}

/// A stream of random numbers that belongs to one chunk of trials.
pub(crate) struct Source(ChaCha8Rng);

impl Source {
    pub(crate) fn new(seed: u64, cell: u64, chunk: u64) -> Self {
        let mut key = [0; 32];
        for (part, number) in key.chunks_mut(8).zip([seed, cell, chunk]) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A seed for a test that draws by itself.
    pub(crate) fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
    }

    /// Box and Muller 1958.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Student's t with 3 degrees of freedom.
    fn student3(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }

    /// A Pareto number >= 1.
    fn pareto(&mut self, index: f64) -> f64 {
        self.uniform().powf(-1.0 / index)
    }
}
