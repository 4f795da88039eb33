//! Random numbers for the load, from a seed.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A stream of random numbers.
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// The stream with the number `part`.
    pub fn new(seed: u64, part: u64) -> Draws {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        stream.set_stream(part);
        Draws(stream)
    }

    /// A whole number below `n`; 0 if that is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let draw = self.0.next_u64();
        usize::try_from(draw % (n as u64).max(1)).unwrap_or_default()
    }

    /// A random time between these limits.
    pub fn time(&mut self, least_ms: usize, most_ms: usize) -> Duration {
        let us = 1000 * least_ms + self.below(1000 * (most_ms - least_ms));
        Duration::from_micros(us as u64)
    }

    /// Shuffles the items (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last + 1);
            items.swap(last, chosen);
        }
    }
}
