//! Seeded random draws for the schedule. They use ChaCha8 with derivations
//! implemented here, so that a seed gives the same schedule on every machine and
//! with every version of the `rand` crates.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The random draws of one block: a pure function of the experiment's seed and
/// the block's number.
pub(crate) struct BlockDraws {
    stream: ChaCha8Rng,
}

impl BlockDraws {
    /// The key is the seed as eight little-endian bytes and 24 zero bytes;
    /// the stream number is the block.
    pub(crate) fn new(seed: u64, block: u32) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut stream = ChaCha8Rng::from_seed(key);
        stream.set_stream(u64::from(block));
        BlockDraws { stream }
    }

    /// A seed for an agent: the upper 53 bits of a draw, which every JSON reader
    /// represents exactly.
    pub(crate) fn seed(&mut self) -> u64 {
        self.stream.next_u64() >> 11
    }

    /// Fisher-Yates shuffle, from the end.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1);
            items.swap(last, chosen as usize);
        }
    }

    /// A uniform integer below `n`, which must not be 0.
    pub(crate) fn whole(&mut self, n: u32) -> u32 {
        u32::try_from(self.below(n.into())).unwrap_or_default()
    }

    /// A uniform integer below `n`, by rejection: draws from the incomplete last
    /// multiple of `n` are discarded.
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
