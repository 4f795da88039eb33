//! Copies.

use std::arch::asm;

/// Copies by REP MOVSB.
///
/// # Safety
/// `from` can be read and `to` written for `length` bytes, and they do not
/// overlap.
pub(in crate::workload) unsafe fn rep_movsb(to: *mut u8, from: *const u8, length: usize) {
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
        pub(in crate::workload) unsafe fn $name(to: *mut u8, from: *const u8, length: usize) {
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
                super::super::flush::sfence();
                prop_assert_eq!(&found, &wanted, "{}", name);
            }
        }
    }
}
