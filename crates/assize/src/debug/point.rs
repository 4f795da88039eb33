//! A point of a run: between two instructions of all its CPUs.

use assize_target::gdb_stub::{GdbStub, StubError};

/// The clocks and program counters of all CPUs. A run passes each point once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Point {
    /// The clock of each CPU, in ns since the machine was switched on.
    pub(super) counts: Vec<u64>,
    /// The program counter of each CPU. Taking an interrupt or exception changes only this, not the
    /// clock.
    pub(super) counters: Vec<u64>,
    /// The CPU that is executing, or that executed last.
    pub(super) turn: usize,
}

impl Point {
    /// The current point of a stopped machine.
    pub(super) fn read(stub: &mut GdbStub) -> Result<Point, StubError> {
        let (turn, counts) = clocks(stub)?;
        let counters = (0..counts.len()).map(|cpu| stub.program_counter(cpu));
        let counters = counters.collect::<Result<_, _>>()?;
        Ok(Point {
            counts,
            counters,
            turn,
        })
    }

    /// The clock of a CPU; 0 if there is no such CPU.
    pub(super) fn count(&self, cpu: usize) -> u64 {
        self.counts.get(cpu).copied().unwrap_or_default()
    }

    /// The sum of all clocks, which grows with each instruction of any CPU.
    pub(super) fn sum(&self) -> u128 {
        sum(&self.counts)
    }

    /// The largest of the clocks.
    pub(super) fn furthest(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or_default()
    }

    /// Whether a stopped machine with these clocks is at this point.
    pub(super) fn is_at(&self, counts: &[u64], stub: &mut GdbStub) -> Result<bool, StubError> {
        if self.counts != counts {
            return Ok(false);
        }
        for (cpu, counter) in self.counters.iter().enumerate() {
            if stub.program_counter(cpu)? != *counter {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

pub(super) fn sum(counts: &[u64]) -> u128 {
    counts.iter().map(|count| u128::from(*count)).sum()
}

/// The CPU that is executing, and the clock of each CPU.
pub(super) fn clocks(stub: &mut GdbStub) -> Result<(usize, Vec<u64>), StubError> {
    let text = stub.monitor("info icount")?;
    read_clocks(&text).ok_or_else(|| StubError::Answered {
        packet: "info icount".into(),
        answer: text,
    })
}

fn read_clocks(text: &str) -> Option<(usize, Vec<u64>)> {
    let (mut turn, mut counts) = (None, Vec::new());
    for line in text.lines() {
        let mut words = line.split(' ');
        match words.next() {
            Some("turn") => turn = words.next()?.parse::<i64>().ok(),
            Some("cpu") => counts.push(words.nth(1)?.parse().ok()?),
            _ => {}
        }
    }
    // -1: no CPU has executed yet.
    let turn = usize::try_from(turn?).unwrap_or_default();
    (turn < counts.len()).then_some((turn, counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_as_qemu_shows_them() {
        let text = "now 5169\nturn 1\ncpu 0 5055 idle\ncpu 1 5169\n\n";
        assert_eq!(read_clocks(text), Some((1, vec![5055, 5169])));
        let nobody = "now 7\nturn -1\ncpu 0 7\n";
        assert_eq!(read_clocks(nobody), Some((0, vec![7])));
        for wrong in ["", "now 1\nturn 2\ncpu 0 1\n", "turn 0\ncpu 0 x\n"] {
            assert_eq!(read_clocks(wrong), None, "{wrong}");
        }
    }
}
