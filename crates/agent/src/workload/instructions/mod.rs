//! The instructions that copy, compute, flush and fence.
//!
//! They are in assembly because which instruction stores is what is
//! measured; a compiler would choose others, or none at all.

mod copy;
mod flush;

use std::arch::asm;

pub(super) use copy::{mov, movntdq, movnti, rep_movsb, vmovntdq};
pub(super) use flush::{cache_line, clflush, clflushopt, has_clflushopt, mfence, sfence};

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
