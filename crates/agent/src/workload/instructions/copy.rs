//! Routines that copy.

use std::arch::asm;

/// Copies with REP MOVSB.
///
/// # Safety
/// `from` can be read and `to` written for `length` bytes, and they do not overlap.
pub(crate) unsafe fn rep_movsb(to: *mut u8, from: *const u8, length: usize) {
    // SAFETY: the caller vouches for both ranges; the direction flag is clear, as
    // the ABI demands.
    unsafe {
        asm!("rep movsb", inout("rdi") to => _, inout("rsi") from => _,
            inout("rcx") length => _, options(nostack, preserves_flags));
    }
}

/// Splits a range of addresses into the bytes before the first multiple of `unit`, the
/// bytes of whole units, and the bytes after them.
fn split_at_units(to: *mut u8, length: usize, unit: usize) -> (usize, usize, usize) {
    let head = to.align_offset(unit).min(length);
    let tail = (length - head) % unit;
    (head, length - head - tail, tail)
}

/// A copy with an instruction that stores `$unit` bytes at aligned addresses; copies the
/// remainders at both ends bytewise.
macro_rules! copy_by {
    ($(#[$meta:meta])* $name:ident, $unit:literal, $class:ident, $load:literal, $store:literal
        $(, $after:literal)?) => {
        $(#[$meta])*
        pub(crate) unsafe fn $name(to: *mut u8, from: *const u8, length: usize) {
            let (head, whole, tail) = split_at_units(to, length, $unit);
            // SAFETY: the three ranges make up the `length` bytes that the caller
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
    /// Copies with ordinary stores of 8 bytes.
    ///
    /// # Safety
    /// As for [`rep_movsb`].
    mov, 8, reg, "mov {unit}, [{from} + {at}]", "mov [{to} + {at}], {unit}"
}

copy_by! {
    /// Copies with non-temporal stores of 8 bytes.
    ///
    /// # Safety
    /// As for [`rep_movsb`].
    movnti, 8, reg, "mov {unit}, [{from} + {at}]", "movnti [{to} + {at}], {unit}"
}

copy_by! {
    /// Copies with non-temporal stores of 16 bytes.
    ///
    /// # Safety
    /// As for [`rep_movsb`].
    movntdq, 16, xmm_reg, "movdqu {unit}, [{from} + {at}]", "movntdq [{to} + {at}], {unit}"
}

copy_by! {
    /// Copies with non-temporal stores of 32 bytes.
    ///
    /// # Safety
    /// As for [`rep_movsb`], and the CPU has AVX2.
    #[target_feature(enable = "avx2")]
    vmovntdq, 32, ymm_reg, "vmovdqu {unit}, [{from} + {at}]", "vmovntdq [{to} + {at}], {unit}",
    "vzeroupper"
}

/// Copies with REP MOVSD, in words of 4 bytes, and the remainder bytewise.
///
/// # Safety
/// As for [`rep_movsb`].
pub(crate) unsafe fn rep_movsl(to: *mut u8, from: *const u8, length: usize) {
    // SAFETY: as for `rep_movsb`; 4 bytes for each word, and the remainder, are
    // `length` bytes.
    unsafe {
        asm!("rep movsd", "mov rcx, {rest}", "rep movsb",
            rest = in(reg) length % 4,
            inout("rdi") to => _, inout("rsi") from => _, inout("rcx") length / 4 => _,
            options(nostack, preserves_flags));
    }
}

/// Copies with REP MOVSQ, in words of 8 bytes, and the remainder bytewise.
///
/// # Safety
/// As for [`rep_movsb`].
pub(crate) unsafe fn rep_movsq(to: *mut u8, from: *const u8, length: usize) {
    // SAFETY: as for `rep_movsl`, with 8 bytes for each word.
    unsafe {
        asm!("rep movsq", "mov rcx, {rest}", "rep movsb",
            rest = in(reg) length % 8,
            inout("rdi") to => _, inout("rsi") from => _, inout("rcx") length / 8 => _,
            options(nostack, preserves_flags));
    }
}

/// A copy of `$turn` bytes per iteration, whatever the alignment; [`rep_movsb`] copies
/// the remainder.
macro_rules! copy_turns {
    ($(#[$meta:meta])* $name:ident, $turn:literal, $class:ident, [$($line:literal),+]
        $(, $after:literal)?) => {
        $(#[$meta])*
        pub(crate) unsafe fn $name(to: *mut u8, from: *const u8, length: usize) {
            let whole = length - length % $turn;
            // SAFETY: both ranges make up the `length` bytes that the caller
            // vouches for; the loop counts up to 0 from minus the bytes of whole
            // iterations, which are not 0.
            unsafe {
                let (to_end, from_end) = (to.add(whole), from.add(whole));
                if whole > 0 {
                    asm!(
                        "2:",
                        $($line,)+
                        concat!("add {at}, ", $turn),
                        "jnz 2b",
                        $($after,)?
                        "/* {a}{b}{c}{d} */",
                        at = inout(reg) whole.wrapping_neg() => _,
                        from = in(reg) from_end,
                        to = in(reg) to_end,
                        a = out($class) _,
                        b = out($class) _,
                        c = out($class) _,
                        d = out($class) _,
                        options(nostack),
                    );
                }
                rep_movsb(to_end, from_end, length - whole);
            }
        }
    };
}

copy_turns! {
    /// Copies with eight loads and stores of 8 bytes per iteration, four at a time.
    ///
    /// # Safety
    /// As for [`rep_movsb`].
    unrolled_64, 64, reg, [
        "mov {a}, [{from} + {at}]",
        "mov {b}, [{from} + {at} + 8]",
        "mov {c}, [{from} + {at} + 16]",
        "mov {d}, [{from} + {at} + 24]",
        "mov [{to} + {at}], {a}",
        "mov [{to} + {at} + 8], {b}",
        "mov [{to} + {at} + 16], {c}",
        "mov [{to} + {at} + 24], {d}",
        "mov {a}, [{from} + {at} + 32]",
        "mov {b}, [{from} + {at} + 40]",
        "mov {c}, [{from} + {at} + 48]",
        "mov {d}, [{from} + {at} + 56]",
        "mov [{to} + {at} + 32], {a}",
        "mov [{to} + {at} + 40], {b}",
        "mov [{to} + {at} + 48], {c}",
        "mov [{to} + {at} + 56], {d}"
    ]
}

copy_turns! {
    /// Copies with sixteen loads and stores of 4 bytes per iteration, two at a
    /// time.
    ///
    /// # Safety
    /// As for [`rep_movsb`].
    unrolled_32, 64, reg, [
        "mov {a:e}, [{from} + {at}]",
        "mov {b:e}, [{from} + {at} + 4]",
        "mov [{to} + {at}], {a:e}",
        "mov [{to} + {at} + 4], {b:e}",
        "mov {a:e}, [{from} + {at} + 8]",
        "mov {b:e}, [{from} + {at} + 12]",
        "mov [{to} + {at} + 8], {a:e}",
        "mov [{to} + {at} + 12], {b:e}",
        "mov {a:e}, [{from} + {at} + 16]",
        "mov {b:e}, [{from} + {at} + 20]",
        "mov [{to} + {at} + 16], {a:e}",
        "mov [{to} + {at} + 20], {b:e}",
        "mov {a:e}, [{from} + {at} + 24]",
        "mov {b:e}, [{from} + {at} + 28]",
        "mov [{to} + {at} + 24], {a:e}",
        "mov [{to} + {at} + 28], {b:e}",
        "mov {a:e}, [{from} + {at} + 32]",
        "mov {b:e}, [{from} + {at} + 36]",
        "mov [{to} + {at} + 32], {a:e}",
        "mov [{to} + {at} + 36], {b:e}",
        "mov {a:e}, [{from} + {at} + 40]",
        "mov {b:e}, [{from} + {at} + 44]",
        "mov [{to} + {at} + 40], {a:e}",
        "mov [{to} + {at} + 44], {b:e}",
        "mov {a:e}, [{from} + {at} + 48]",
        "mov {b:e}, [{from} + {at} + 52]",
        "mov [{to} + {at} + 48], {a:e}",
        "mov [{to} + {at} + 52], {b:e}",
        "mov {a:e}, [{from} + {at} + 56]",
        "mov {b:e}, [{from} + {at} + 60]",
        "mov [{to} + {at} + 56], {a:e}",
        "mov [{to} + {at} + 60], {b:e}"
    ]
}

copy_turns! {
    /// Copies with four loads and stores of 16 bytes per iteration (SSE2).
    ///
    /// # Safety
    /// As for [`rep_movsb`].
    sse2, 64, xmm_reg, [
        "movdqu {a}, [{from} + {at}]",
        "movdqu {b}, [{from} + {at} + 16]",
        "movdqu {c}, [{from} + {at} + 32]",
        "movdqu {d}, [{from} + {at} + 48]",
        "movdqu [{to} + {at}], {a}",
        "movdqu [{to} + {at} + 16], {b}",
        "movdqu [{to} + {at} + 32], {c}",
        "movdqu [{to} + {at} + 48], {d}"
    ]
}

copy_turns! {
    /// Copies with four loads and stores of 32 bytes per iteration.
    ///
    /// # Safety
    /// As for [`rep_movsb`], and the CPU has AVX2.
    #[target_feature(enable = "avx2")]
    avx2, 128, ymm_reg, [
        "vmovdqu {a}, [{from} + {at}]",
        "vmovdqu {b}, [{from} + {at} + 32]",
        "vmovdqu {c}, [{from} + {at} + 64]",
        "vmovdqu {d}, [{from} + {at} + 96]",
        "vmovdqu [{to} + {at}], {a}",
        "vmovdqu [{to} + {at} + 32], {b}",
        "vmovdqu [{to} + {at} + 64], {c}",
        "vmovdqu [{to} + {at} + 96], {d}"
    ], "vzeroupper"
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

    /// Bytes around each copy, which must not change.
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
                super::super::flush::sfence();
                prop_assert_eq!(&found, &wanted, "{}", name);
            }
        }
    }
}
