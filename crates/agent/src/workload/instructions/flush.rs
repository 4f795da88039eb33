//! Flushes of cache lines, and fences.

use std::arch::asm;
use std::arch::x86_64::__cpuid_count;

/// Flushes the cache lines of a range with CLFLUSH. `line`: size of a cache line, a power
/// of two.
///
/// # Safety
///
/// `at` can be read for `length` bytes, and cache lines have `line` bytes.
pub(crate) unsafe fn clflush(at: *const u8, length: usize, line: usize) {
    for at in lines(at, length, line) {
        // SAFETY: the line contains a readable byte, and flushing changes no
        // content.
        unsafe { asm!("clflush [{at}]", at = in(reg) at, options(nostack, preserves_flags)) };
    }
}

/// Flushes the cache lines of a range with CLFLUSHOPT.
///
/// # Safety
/// As for [`clflush`], and the CPU has the instruction.
pub(crate) unsafe fn clflushopt(at: *const u8, length: usize, line: usize) {
    for at in lines(at, length, line) {
        // SAFETY: as above.
        unsafe { asm!("clflushopt [{at}]", at = in(reg) at, options(nostack, preserves_flags)) };
    }
}

/// An address in each cache line of a range: its beginning or, for the first, the
/// beginning of the range.
fn lines(at: *const u8, length: usize, line: usize) -> impl Iterator<Item = *const u8> {
    let into = at.addr() % line;
    let count = match length {
        0 => 0,
        _ => (into + length).div_ceil(line),
    };
    (0..count).map(move |number| match number {
        0 => at,
        _ => at.wrapping_add(number * line - into),
    })
}

/// Orders all earlier stores before all later ones (SFENCE).
pub(crate) fn sfence() {
    // SAFETY: no operand.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}

/// Orders all earlier loads and stores before all later ones (MFENCE).
pub(crate) fn mfence() {
    // SAFETY: no operand.
    unsafe { asm!("mfence", options(nostack, preserves_flags)) };
}

/// Size of a cache line in bytes, if the CPU has CLFLUSH (CPUID leaf 1).
pub(crate) fn cache_line() -> Option<usize> {
    let leaf = __cpuid_count(1, 0);
    let line = ((leaf.ebx >> 8) & 0xff) as usize * 8;
    (leaf.edx & (1 << 19) != 0 && line.is_power_of_two()).then_some(line)
}

/// Whether the CPU has CLFLUSHOPT (CPUID leaf 7).
pub(crate) fn has_clflushopt() -> bool {
    __cpuid_count(0, 0).eax >= 7 && __cpuid_count(7, 0).ebx & (1 << 23) != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::compute;
    use super::*;

    proptest! {
        #[test]
        fn every_cache_line_of_a_place_is_flushed_once(
            at in 1_usize..10_000,
            length in 0_usize..1000,
            shift in 5_u32..8,
        ) {
            let line = 1 << shift;
            let found: Vec<usize> = lines(std::ptr::without_provenance(at), length, line)
                .map(|at| at.addr())
                .collect();
            let touched: std::collections::BTreeSet<usize> =
                (at..at + length).map(|byte| byte / line).collect();
            let flushed: Vec<usize> = found.iter().map(|at| at / line).collect();
            prop_assert_eq!(flushed, Vec::from_iter(touched));
            prop_assert!(found.iter().all(|byte| (at..at + length).contains(byte)));
        }
    }

    #[test]
    fn flushing_and_fences_change_nothing() {
        let bytes: Vec<u8> = (0..=255).collect();
        // SAFETY: the vector is that long; every line size of a CPU is a
        // multiple of 32, and flushing a line twice does no harm.
        unsafe { clflush(bytes.as_ptr(), bytes.len(), 32) };
        sfence();
        mfence();
        compute(1000);
        compute(0);
        assert!(bytes.iter().copied().eq(0..=255));
    }

    #[test]
    fn the_cpu_tells_the_size_of_its_cache_lines() {
        // Every x86-64 CPU that runs Linux has CLFLUSH, and no line is shorter.
        assert!(cache_line().is_some_and(|line| line >= 32));
    }
}
