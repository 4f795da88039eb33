//! Reads the guest's CLOCK_MONOTONIC from memory, as NMI-safe callers in the kernel do.
//!
//! A CPU's time-stamp counter is its clock, in ns. The kernel scales the count since the last tick
//! by a factor that it adjusts slightly at ticks.

use assize_target::gdb_stub::{GdbStub, StubError};
use assize_why::kernel_elf::KernelSymbol;
use assize_why::types::offsets;

/// The location of the timekeeper in guest memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GuestClock {
    /// The address of `tk_fast_mono`.
    pub(crate) at: u64,
    /// The offset of its two copies; the lowest bit of its first word selects one.
    pub(crate) copies: u64,
    /// The offsets in a copy of `cycle_last`, `mult`, `shift`, `xtime_nsec`, `base` and the last
    /// field, `base_real`.
    pub(crate) fields: [u64; 6],
}

/// The contents of the timekeeper at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timekeeper {
    last: u64,
    factor: u64,
    shift: u32,
    fraction: u64,
    base: u64,
}

impl GuestClock {
    /// Finds the timekeeper with the kernel's symbols and BTF.
    pub(crate) fn find(symbols: &[KernelSymbol], types: &[u8]) -> Result<GuestClock, String> {
        let mut all = symbols.iter();
        let found = all.find(|one| one.name == "tk_fast_mono");
        let found = found.ok_or("its symbols do not have tk_fast_mono (CONFIG_KALLSYMS_ALL)")?;
        let wrong = |error: assize_why::Error| error.to_string();
        let [copies] = offsets(types, "tk_fast", ["base"]).map_err(wrong)?;
        let fields = [
            "cycle_last",
            "mult",
            "shift",
            "xtime_nsec",
            "base",
            "base_real",
        ];
        Ok(GuestClock {
            at: found.address,
            copies,
            fields: offsets(types, "tk_read_base", fields).map_err(wrong)?,
        })
    }

    /// The size of one copy in bytes.
    pub(crate) fn copy_size(&self) -> u64 {
        self.fields.last().copied().unwrap_or_default() + 8
    }

    /// Reads the timekeeper of a stopped machine.
    pub(crate) fn read(&self, stub: &mut GdbStub) -> Result<Timekeeper, StubError> {
        let mut word = |address: u64, bytes: usize| -> Result<u64, StubError> {
            let mut whole = [0; 8];
            let read = stub.read(address, bytes)?;
            for (to, from) in whole.iter_mut().zip(read) {
                *to = from;
            }
            Ok(u64::from_le_bytes(whole))
        };
        let copy = self.at + self.copies + (word(self.at, 4)? & 1) * self.copy_size();
        let [last, factor, shift, fraction, base, _] = self.fields;
        Ok(Timekeeper {
            last: word(copy + last, 8)?,
            factor: word(copy + factor, 4)?,
            shift: u32::try_from(word(copy + shift, 4)?)
                .unwrap_or(u32::MAX)
                .min(63),
            fraction: word(copy + fraction, 8)?,
            base: word(copy + base, 8)?,
        })
    }
}

impl Timekeeper {
    /// The CLOCK_MONOTONIC time, in ns, at a count.
    pub(crate) fn time(&self, count: u64) -> u64 {
        let passed = i128::from(count) - i128::from(self.last);
        let all = passed * i128::from(self.factor) + i128::from(self.fraction);
        let time = i128::from(self.base) + (all >> self.shift);
        u64::try_from(time).unwrap_or_default()
    }

    /// The first count at which CLOCK_MONOTONIC has reached a time.
    pub(crate) fn count(&self, time: u64) -> u64 {
        let all = (i128::from(time) - i128::from(self.base)) << self.shift;
        let factor = i128::from(self.factor.max(1));
        let passed = (all - i128::from(self.fraction) + factor - 1).div_euclid(factor);
        u64::try_from(i128::from(self.last) + passed).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_the_first_of_its_time() {
        for (factor, shift) in [
            (1 << 23, 23),
            (8_389_000, 23),
            (4_194_304, 22),
            (3 << 20, 20),
        ] {
            let keeper = Timekeeper {
                last: 4_000_000,
                factor,
                shift,
                fraction: 12_345,
                base: 3_900_000,
            };
            for time in (3_900_001..9_000_000).step_by(777_777) {
                let count = keeper.count(time);
                assert!(keeper.time(count) >= time, "{factor} {time}");
                assert!(keeper.time(count - 1) < time, "{factor} {time}");
            }
        }
    }
}
