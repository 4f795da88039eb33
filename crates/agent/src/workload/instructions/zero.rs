//! Routines that zero memory.

use std::arch::asm;

/// Zeroes with REP STOSB.
///
/// # Safety
/// `to` can be written for `length` bytes.
pub(crate) unsafe fn rep_stosb(to: *mut u8, length: usize) {
    // SAFETY: the caller vouches for the range; the direction flag is clear, as
    // the ABI demands.
    unsafe {
        asm!("rep stosb", inout("rdi") to => _, inout("rcx") length => _,
            in("al") 0_u8, options(nostack, preserves_flags));
    }
}

/// Zeroes with REP STOSQ, and the remainder bytewise.
///
/// # Safety
/// As for [`rep_stosb`].
pub(crate) unsafe fn rep_stosq(to: *mut u8, length: usize) {
    // SAFETY: as above; 8 bytes for each word, and the remainder, are `length`
    // bytes.
    unsafe {
        asm!("rep stosq", "mov rcx, {rest}", "rep stosb",
            rest = in(reg) length % 8,
            inout("rdi") to => _, inout("rcx") length / 8 => _,
            in("rax") 0_u64, options(nostack, preserves_flags));
    }
}

/// Zeroes `$turn` bytes per iteration, whatever the alignment, and the remainder
/// bytewise.
macro_rules! zero_by {
    ($(#[$meta:meta])* $name:ident, $turn:literal, $class:ident, $clear:literal,
        [$($store:literal),+] $(, $after:literal)?) => {
        $(#[$meta])*
        pub(crate) unsafe fn $name(to: *mut u8, length: usize) {
            let whole = length - length % $turn;
            // SAFETY: both ranges make up the `length` bytes that the caller
            // vouches for; the loop counts up to 0 from minus the bytes of whole
            // iterations, which are not 0.
            unsafe {
                let end = to.add(whole);
                if whole > 0 {
                    asm!(
                        $clear,
                        "2:",
                        $($store,)+
                        concat!("add {at}, ", $turn),
                        "jnz 2b",
                        $($after,)?
                        at = inout(reg) whole.wrapping_neg() => _,
                        to = in(reg) end,
                        zero = out($class) _,
                        options(nostack),
                    );
                }
                rep_stosb(end, length - whole);
            }
        }
    };
}

zero_by! {
    /// Zeroes with eight stores of 8 bytes per iteration.
    ///
    /// # Safety
    /// As for [`rep_stosb`].
    unrolled_zero, 64, reg, "xor {zero:e}, {zero:e}", [
        "mov [{to} + {at}], {zero}", "mov [{to} + {at} + 8], {zero}",
        "mov [{to} + {at} + 16], {zero}", "mov [{to} + {at} + 24], {zero}",
        "mov [{to} + {at} + 32], {zero}", "mov [{to} + {at} + 40], {zero}",
        "mov [{to} + {at} + 48], {zero}", "mov [{to} + {at} + 56], {zero}"
    ]
}

zero_by! {
    /// Zeroes with four stores of 16 bytes per iteration (SSE2).
    ///
    /// # Safety
    /// As for [`rep_stosb`].
    sse2_zero, 64, xmm_reg, "pxor {zero}, {zero}", [
        "movdqu [{to} + {at}], {zero}", "movdqu [{to} + {at} + 16], {zero}",
        "movdqu [{to} + {at} + 32], {zero}", "movdqu [{to} + {at} + 48], {zero}"
    ]
}

zero_by! {
    /// Zeroes with four stores of 32 bytes per iteration.
    ///
    /// # Safety
    /// As for [`rep_stosb`], and the CPU has AVX2.
    #[target_feature(enable = "avx2")]
    avx2_zero, 128, ymm_reg, "vpxor {zero}, {zero}, {zero}", [
        "vmovdqu [{to} + {at}], {zero}", "vmovdqu [{to} + {at} + 32], {zero}",
        "vmovdqu [{to} + {at} + 64], {zero}", "vmovdqu [{to} + {at} + 96], {zero}"
    ], "vzeroupper"
}

zero_by! {
    /// Zeroes with eight non-temporal stores of 8 bytes per iteration.
    ///
    /// # Safety
    /// As for [`rep_stosb`].
    movnti_zero, 64, reg, "xor {zero:e}, {zero:e}", [
        "movnti [{to} + {at}], {zero}", "movnti [{to} + {at} + 8], {zero}",
        "movnti [{to} + {at} + 16], {zero}", "movnti [{to} + {at} + 24], {zero}",
        "movnti [{to} + {at} + 32], {zero}", "movnti [{to} + {at} + 40], {zero}",
        "movnti [{to} + {at} + 48], {zero}", "movnti [{to} + {at} + 56], {zero}"
    ]
}
