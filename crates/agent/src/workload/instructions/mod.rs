//! Instructions that copy, zero, sum, compute, flush and fence.
//!
//! They are in assembly because the choice of instructions is what is measured; a
//! compiler would choose others, or none.

mod checksum;
mod copy;
mod flush;
mod zero;

use std::arch::asm;

pub(super) use checksum::{folded, sum_adc32, sum_adc64, sum_avx2, sum_words};
pub(super) use copy::{
    avx2, mov, movntdq, movnti, rep_movsb, rep_movsl, rep_movsq, sse2, unrolled_32, unrolled_64,
    vmovntdq,
};
pub(super) use flush::{cache_line, clflush, clflushopt, has_clflushopt, mfence, sfence};
pub(super) use zero::{avx2_zero, movnti_zero, rep_stosb, rep_stosq, sse2_zero, unrolled_zero};

/// Counts a register down to 0.
pub(super) fn compute(turns: usize) {
    if turns > 0 {
        // SAFETY: only the register is written.
        unsafe {
            asm!("2:", "sub {turns}, 1", "jnz 2b", turns = inout(reg) turns => _,
                options(nomem, nostack));
        }
    }
}

/// Instructions per iteration of [`spend`].
pub(super) const TURN_INSTRUCTIONS: u64 = 64;

/// Executes `turns` iterations, of [`TURN_INSTRUCTIONS`] instructions each, of a loop
/// that computes nothing and accesses no memory.
///
/// All but two of the instructions are no-ops. An emulator that counts instructions
/// counts them like others, but has nothing to do for them. So a workload that only
/// pretends to compute costs the host little.
pub(super) fn spend(turns: u64) {
    if turns > 0 {
        // SAFETY: only the register is written.
        unsafe {
            asm!("2:", ".rept {blank}", "nop", ".endr", "sub {turns}, 1", "jnz 2b",
                blank = const TURN_INSTRUCTIONS - 2, turns = inout(reg) turns => _,
                options(nomem, nostack));
        }
    }
}
