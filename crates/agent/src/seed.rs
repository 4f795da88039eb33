//! Random numbers derived from the seed.
//!
//! The generator is splitmix64 (Steele, Lea and Flood, 2014): a counter that advances by
//! the golden ratio, and a mixing function. Each use has its own stream, named by a
//! label, so that one more draw in one place changes nothing elsewhere.

use std::fs::OpenOptions;

use crate::sys;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Stream(u64);

impl Stream {
    /// The stream named `label` of `seed`.
    pub(crate) fn new(seed: u64, label: &str) -> Stream {
        // FNV-1a, 64 bits.
        let hash = label
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        let mut mixed = Stream(seed);
        Stream(mixed.next() ^ hash)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Fills `bytes` with random bytes, eight per number drawn.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            let next = self.next().to_le_bytes();
            part.copy_from_slice(&next[..part.len()]);
        }
    }

    /// A number below `limit`, uniform to within 2^-64. Returns 0 if `limit` is 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(limit);
        u64::try_from(product >> 64).unwrap_or(0)
    }
}

/// Reseeds the kernel's random number generator from the stream.
pub(crate) fn reseed_kernel(mut stream: Stream) -> Result<(), String> {
    let mut bytes = [0; 64];
    stream.fill(&mut bytes);
    let path = "/dev/urandom";
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|file| sys::reseed_random(&file, &bytes))
        .map_err(sys::failure_of(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64() {
        // The reference implementation's first outputs for the state
        // 1234567.
        let mut stream = Stream(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| stream.next()).collect();
        assert_eq!(
            first,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423
            ]
        );
    }

    #[test]
    fn labels_and_seeds_give_streams_of_their_own() {
        let first = |seed, label| Stream::new(seed, label).next();
        assert_ne!(first(1, "offset"), first(1, "phase"));
        assert_ne!(first(1, "offset"), first(2, "offset"));
        assert_eq!(first(7, "offset"), first(7, "offset"));
    }

    proptest::proptest! {
        #[test]
        fn below_is_below(seed: u64, limit in 1u64..) {
            assert!(Stream::new(seed, "x").below(limit) < limit);
            assert_eq!(Stream::new(seed, "x").below(0), 0);
        }
    }
}
