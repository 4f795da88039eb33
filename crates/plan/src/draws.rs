//! Seeded draws for the schedule. ChaCha8 with derivations of our own, so
//! that a seed gives the same schedule on every machine and with every
//! version of the `rand` crates.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The draws of one block: a pure function of the experiment's seed and the
/// block's number.
pub(crate) struct Draws {
    stream: ChaCha8Rng,
}

impl Draws {
    /// The key is the seed as eight little-endian bytes and 24 zero bytes;
    /// the stream number is the block.
    pub(crate) fn new(seed: u64, block: u32) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut stream = ChaCha8Rng::from_seed(key);
        stream.set_stream(u64::from(block));
        Draws { stream }
    }

    /// A seed for an agent: the upper 53 bits of a draw, so that every reader
    /// of JSON gets it right.
    pub(crate) fn seed(&mut self) -> u64 {
        self.stream.next_u64() >> 11
    }

    /// Fisher and Yates, from the end.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1);
            items.swap(last, chosen as usize);
        }
    }

    /// A uniform whole number below `n`, which is not 0.
    pub(crate) fn whole(&mut self, n: u32) -> u32 {
        u32::try_from(self.below(n.into())).unwrap_or_default()
    }

    /// A uniform whole number below `n`: draws from the incomplete last
    /// stretch of multiples are passed over.
    fn below(&mut self, n: u64) -> u64 {
        let whole = u64::MAX - u64::MAX % n;
        loop {
            let draw = self.stream.next_u64();
            if draw < whole {
                return draw % n;
            }
        }
    }
}
