//! Threads that compute as much as they can in a given time.
//!
//! A unit of work consists of typical parts of small CPU benchmarks: a product of
//! matrices, a sort and a checksum, in memory that fits every cache. The result of each
//! unit is checked.

use std::hint::black_box;

use assize_job::{AgentMessage, CpuScore};

use super::prepared::{Prepared, WorkloadContext, prepare_staged};
use super::threads::{count, join, spawn};
use crate::process::Staged;
use crate::records::metric;
use crate::sys;

/// Delay before the computation, for all threads to start.
const LEAD_NS: u64 = 5_000_000;
const NS_PER_S: f64 = 1e9;

/// Rows and columns of a matrix.
const SIDE: usize = 20;
const CELLS: usize = SIDE * SIDE;
/// The input of every unit, and its result.
const SEED: u32 = 0x2545_f491;
const CHECKSUM: u32 = 0x2a73_136e;

pub(super) fn prepare(score: &CpuScore, context: &WorkloadContext<'_>) -> Prepared {
    let computing = ScoreComputation {
        threads: count(score.threads, score.per_cpu, sys::cpus()),
        duration_ns: (!context.background).then_some(score.duration_ns),
        done: Vec::new(),
    };
    prepare_staged(score.scheduling.clone(), computing)
}

/// The computation and its results.
struct ScoreComputation {
    threads: u64,
    /// `None`: until the process is killed.
    duration_ns: Option<u64>,
    /// The number of units that each thread has completed.
    done: Vec<u64>,
}

impl Staged for ScoreComputation {
    fn set_up(&mut self) -> Result<(), String> {
        match unit(SEED) {
            CHECKSUM => Ok(()),
            other => Err(format!(
                "a unit of work has the checksum {other:#010x} here, not {CHECKSUM:#010x}"
            )),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let begin = sys::now() + LEAD_NS;
        let duration = self.duration_ns.unwrap_or(u64::MAX);
        let end = begin.saturating_add(duration);
        let threads: Result<Vec<_>, _> = (0..self.threads)
            .map(|_| spawn("score", move || compute(begin, end)))
            .collect();
        self.done = join(threads?)?.into_iter().collect::<Result<_, _>>()?;
        Ok(())
    }

    fn records(&mut self) -> Result<Vec<AgentMessage>, String> {
        let seconds = self.duration_ns.unwrap_or(u64::MAX) as f64 / NS_PER_S;
        let metric = |name: &str, units: u64| metric(name, units as f64 / seconds, "/s");
        let done = || self.done.iter().copied();
        Ok(vec![
            metric("score", done().sum()),
            metric("score_least", done().min().unwrap_or(0)),
            metric("score_most", done().max().unwrap_or(0)),
        ])
    }
}

/// Computes from `begin` until `end`. Returns the number of completed units.
fn compute(begin: u64, end: u64) -> Result<u64, String> {
    sys::no_timer_slack();
    sys::sleep_until(begin);
    let mut units = 0;
    loop {
        let checksum = unit(black_box(SEED));
        if checksum != CHECKSUM {
            return Err(format!(
                "unit {units} has the checksum {checksum:#010x}, not {CHECKSUM:#010x}"
            ));
        }
        // A unit that ends later does not count.
        if sys::now() > end {
            return Ok(units);
        }
        units += 1;
    }
}

/// Computes one unit of work. Returns its checksum.
fn unit(seed: u32) -> u32 {
    let mut state = seed;
    let mut matrix = || {
        let mut cells = [0_u32; CELLS];
        cells.fill_with(|| draw(&mut state));
        cells
    };
    let mut product = multiply(&matrix(), &matrix());
    sort(&mut product);
    checksum(&product)
}

/// The next number of xorshift (Marsaglia 2003).
fn draw(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state
}

fn multiply(a: &[u32; CELLS], b: &[u32; CELLS]) -> [u32; CELLS] {
    let mut product = [0; CELLS];
    for (at, cell) in product.iter_mut().enumerate() {
        let (row, column) = (at / SIDE, at % SIDE);
        let row = a[row * SIDE..].iter().take(SIDE);
        let column = b[column..].iter().step_by(SIDE);
        *cell = row
            .zip(column)
            .fold(0, |sum, (a, b)| u32::wrapping_add(sum, a.wrapping_mul(*b)));
    }
    product
}

/// Heap sort: its cost depends on the values alone, not on a library.
fn sort(values: &mut [u32]) {
    let length = values.len();
    for root in (0..length / 2).rev() {
        sink(values, root, length);
    }
    for end in (1..length).rev() {
        values.swap(0, end);
        sink(values, 0, end);
    }
}

fn sink(values: &mut [u32], mut root: usize, end: usize) {
    loop {
        let left = 2 * root + 1;
        let right = left + 1;
        if left >= end {
            return;
        }
        let child = match right < end && values[right] > values[left] {
            true => right,
            false => left,
        };
        if values[root] >= values[child] {
            return;
        }
        values.swap(root, child);
        root = child;
    }
}

/// CRC-32 (ISO 3309) of the words, bit by bit.
fn checksum(words: &[u32]) -> u32 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    !bytes.fold(u32::MAX, |mut sum, byte| {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            let low = sum & 1;
            sum = (sum >> 1) ^ (0xedb8_8320 & low.wrapping_neg());
        }
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_has_the_known_checksum_and_another_has_not() {
        assert_eq!(unit(SEED), CHECKSUM, "{:#010x}", unit(SEED));
        assert_ne!(unit(SEED + 1), CHECKSUM);
    }

    #[test]
    fn the_parts_of_a_unit_are_right() {
        // A check value of eight characters, since words are whole. The usual check value of CRC-32
        // is that of "123456789".
        assert_eq!(
            checksum(&[0x3433_3231, 0x3837_3635]),
            0x9ae0_daaf,
            "crc32 of 12345678"
        );
        let mut values: Vec<u32> = (0..100)
            .map(|at: u32| at.wrapping_mul(0x9e37_79b9))
            .collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        sort(&mut values);
        assert_eq!(values, sorted);
        let mut one = [0; CELLS];
        (0..SIDE).for_each(|at| one[at * SIDE + at] = 1);
        let mut other = [0; CELLS];
        (0_u32..).zip(&mut other).for_each(|(at, cell)| *cell = at);
        assert_eq!(multiply(&one, &other), other);
    }

    #[test]
    fn units_are_counted_until_the_end() {
        let computing = |duration_ns| ScoreComputation {
            threads: 2,
            duration_ns: Some(duration_ns),
            done: Vec::new(),
        };
        let mut some = computing(20_000_000);
        some.set_up().unwrap_or_else(|why| panic!("{why}"));
        some.run().unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(some.done.len(), 2);
        some.done = vec![30, 10];
        let records = some.records().unwrap_or_default();
        let values: Vec<f64> = records
            .iter()
            .filter_map(|record| match record {
                AgentMessage::Metric { value, .. } => Some(*value),
                _ => None,
            })
            .collect();
        assert_eq!(values, [2000.0, 500.0, 1500.0]);
    }
}
