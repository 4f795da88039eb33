//! Random numbers: each chunk of documents has a separate stream.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The random numbers of one chunk of documents.
pub(crate) struct Source(ChaCha8Rng);

impl Source {
    /// The stream of a chunk of a case. It depends on the case's name, not on the other cases.
    pub(crate) fn new(seed: u64, case: &str, chunk: u64) -> Self {
        let mut key = [0; 32];
        for (part, number) in key.chunks_mut(8).zip([seed, folded(case), chunk]) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A seed for a test that makes its own draws.
    pub(crate) fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number between 0 and 1, exclusive.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
    }

    /// A random number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    /// Standard normal (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Student's t with 3 degrees of freedom.
    pub(crate) fn student3(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }

    /// A Pareto-distributed number, at least 1.
    pub(crate) fn pareto(&mut self, index: f64) -> f64 {
        self.uniform().powf(-1.0 / index)
    }

    /// A Poisson-distributed number, generated from exponential gaps.
    pub(crate) fn poisson(&mut self, mean: f64) -> u64 {
        let (mut count, mut at) = (0, self.exponential());
        while at < mean {
            count += 1;
            at += self.exponential();
        }
        count
    }

    /// Shuffles items (Fisher and Yates 1938).
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            let other = self.below(last + 1);
            things.swap(last, other);
        }
    }
}

/// Hashes a name (FNV-1a).
fn folded(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
