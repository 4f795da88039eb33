//! Seeded random draws: ChaCha8 with derivations implemented here, so that a
//! seed gives the same figures on every machine and with every version of the
//! `rand` crates.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A stream of random draws that is a pure function of its seed.
pub(crate) struct RandomStream {
    stream: ChaCha8Rng,
}

impl RandomStream {
    /// The stream of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            stream: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// A uniform index in 0..n, without bias (Lemire 2019); n > 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        let mut wide = u128::from(self.stream.next_u64()) * u128::from(n);
        let mut low = wide as u64;
        if low < n {
            let threshold = n.wrapping_neg() % n;
            while low < threshold {
                wide = u128::from(self.stream.next_u64()) * u128::from(n);
                low = wide as u64;
            }
        }
        (wide >> 64) as usize
    }
}

#[cfg(test)]
impl RandomStream {
    /// A uniform number in the open interval (0, 1), on a grid of 2^-53.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.stream.next_u64() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A standard normal number, by Marsaglia's polar method.
    pub(crate) fn normal(&mut self) -> f64 {
        loop {
            let u = 2.0 * self.uniform() - 1.0;
            let v = 2.0 * self.uniform() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_moments_they_should() {
        let mut draws = RandomStream::new(1);
        let n = 200_000;
        let (mut normal, mut square, mut index) = (0.0, 0.0, 0);
        for _ in 0..n {
            let x = draws.normal();
            normal += x;
            square += x * x;
            index += draws.below(7);
        }
        let n = f64::from(n);
        assert!((normal / n).abs() < 0.01);
        assert!((square / n - 1.0).abs() < 0.015);
        assert!((index as f64 / n - 3.0).abs() < 0.02);
    }
}
