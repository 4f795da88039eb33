//! The instructions that copy, compute, flush and fence.
//!
//! They are in assembly because which instruction stores a frame is what is
//! measured; a compiler would choose others, or none at all.

use std::arch::asm;

/// Copies by REP MOVSB.
///
/// # Safety
/// `from` can be read and `to` written for `length` bytes, and they do not
/// overlap.
pub(super) unsafe fn rep_movsb(to: *mut u8, from: *const u8, length: usize) {
    // SAFETY: the caller vouches for both places; the direction flag is clear,
    // as it is everywhere.
    unsafe {
        asm!("rep movsb", inout("rdi") to => _, inout("rsi") from => _,
            inout("rcx") length => _, options(nostack, preserves_flags));
    }
}

/// The middle of a place that is to be written: `to` moved up to a multiple of
/// `unit`, and as many bytes from there as are whole units. What is left over
/// in front and behind.
fn middle(to: *mut u8, length: usize, unit: usize) -> (usize, usize, usize) {
    let head = to.align_offset(unit).min(length);
    let tail = (length - head) % unit;
    (head, length - head - tail, tail)
}

/// A copy by one instruction that stores `$unit` bytes at a place that is
/// aligned to them; what is left over at both ends goes by single bytes.
macro_rules! copy_by {
    ($(#[$meta:meta])* $name:ident, $unit:literal, $class:ident, $load:literal, $store:literal
        $(, $after:literal)?) => {
        $(#[$meta])*
        pub(super) unsafe fn $name(to: *mut u8, from: *const u8, length: usize) {
            let (head, whole, tail) = middle(to, length, $unit);
            // SAFETY: the three parts make up the `length` bytes that the caller
            // vouches for. The loop counts up to 0 from minus the bytes of the
            // middle, which are a multiple of the unit and not 0, and stores to
            // multiples of the unit.
            unsafe {
                rep_movsb(to, from, head);
                let (to, from) = (to.add(head), from.add(head));
                let (to_end, from_end) = (to.add(whole), from.add(whole));
                if whole > 0 {
                    asm!(
                        "2:",
                        $load,
                        $store,
                        concat!("add {at}, ", $unit),
                        "jnz 2b",
                        $($after,)?
                        at = inout(reg) whole.wrapping_neg() => _,
                        from = in(reg) from_end,
                        to = in(reg) to_end,
                        unit = out($class) _,
                        options(nostack),
                    );
                }
                rep_movsb(to_end, from_end, tail);
            }
        }
    };
}

copy_by! {
    /// Copies by ordinary stores of 8 bytes.
    ///
    /// # Safety
    /// As of [`rep_movsb`].
    mov, 8, reg, "mov {unit}, [{from} + {at}]", "mov [{to} + {at}], {unit}"
}

copy_by! {
    /// Copies by non-temporal stores of 8 bytes.
    ///
    /// # Safety
    /// As of [`rep_movsb`].
    movnti, 8, reg, "mov {unit}, [{from} + {at}]", "movnti [{to} + {at}], {unit}"
}

copy_by! {
    /// Copies by non-temporal stores of 16 bytes.
    ///
    /// # Safety
    /// As of [`rep_movsb`].
    movntdq, 16, xmm_reg, "movdqu {unit}, [{from} + {at}]", "movntdq [{to} + {at}], {unit}"
}

copy_by! {
    /// Copies by non-temporal stores of 32 bytes.
    ///
    /// # Safety
    /// As of [`rep_movsb`], and the CPU has AVX2.
    #[target_feature(enable = "avx2")]
    vmovntdq, 32, ymm_reg, "vmovdqu {unit}, [{from} + {at}]", "vmovntdq [{to} + {at}], {unit}",
    "vzeroupper"
}

/// Counts down in a register.
pub(super) fn compute(turns: usize) {
    if turns > 0 {
        // SAFETY: only the register is written.
        unsafe {
            asm!("2:", "sub {turns}, 1", "jnz 2b", turns = inout(reg) turns => _,
                options(nomem, nostack));
        }
    }
}

/// Flushes the cache lines of `line` bytes, a power of two, in which a place
/// lies, by CLFLUSH.
///
/// # Safety
/// `at` can be read for `length` bytes, and cache lines have `line` bytes.
pub(super) unsafe fn clflush(at: *const u8, length: usize, line: usize) {
    for at in lines(at, length, line) {
        // SAFETY: the line holds a byte that can be read, and flushing changes
        // no content.
        unsafe { asm!("clflush [{at}]", at = in(reg) at, options(nostack, preserves_flags)) };
    }
}

/// The same by CLFLUSHOPT.
///
/// # Safety
/// As of [`clflush`], and the CPU has the instruction.
pub(super) unsafe fn clflushopt(at: *const u8, length: usize, line: usize) {
    for at in lines(at, length, line) {
        // SAFETY: as above.
        unsafe { asm!("clflushopt [{at}]", at = in(reg) at, options(nostack, preserves_flags)) };
    }
}

/// Where the cache lines begin in which a place lies; in the first, where the
/// place does.
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

/// Waits until all stores before are visible.
pub(super) fn sfence() {
    // SAFETY: no operand.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}

/// The same of loads and stores.
pub(super) fn mfence() {
    // SAFETY: no operand.
    unsafe { asm!("mfence", options(nostack, preserves_flags)) };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Copy = unsafe fn(*mut u8, *const u8, usize);

    fn copies() -> Vec<(&'static str, Copy)> {
        let mut all: Vec<(&str, Copy)> = vec![
            ("rep movsb", rep_movsb),
            ("mov", mov),
            ("movnti", movnti),
            ("movntdq", movntdq),
        ];
        if std::arch::is_x86_feature_detected!("avx2") {
            all.push(("vmovntdq", vmovntdq));
        }
        all
    }

    /// Room around each copy, in which nothing may change.
    const ROOM: usize = 64;

    proptest! {
        #[test]
        fn every_store_copies_just_what_a_plain_copy_does(
            bytes in proptest::collection::vec(any::<u8>(), 0..700),
            to in 0..ROOM,
            from in 0..ROOM,
        ) {
            let mut source = vec![0x33; from];
            source.extend(&bytes);
            for (name, copy) in copies() {
                let mut found = vec![0xa5; ROOM + to + bytes.len() + ROOM];
                let mut wanted = found.clone();
                wanted[ROOM + to..ROOM + to + bytes.len()].copy_from_slice(&bytes);
                // SAFETY: both vectors are large enough, and the CPU has the
                // instructions.
                unsafe {
                    copy(found.as_mut_ptr().add(ROOM + to), source.as_ptr().add(from), bytes.len());
                }
                sfence();
                prop_assert_eq!(&found, &wanted, "{}", name);
            }
        }

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
        // multiple of 32, and a line flushed twice is no harm.
        unsafe { clflush(bytes.as_ptr(), bytes.len(), 32) };
        sfence();
        mfence();
        compute(1000);
        compute(0);
        assert!(bytes.iter().copied().eq(0..=255));
    }
}
