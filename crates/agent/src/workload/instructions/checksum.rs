//! The sum of the Internet checksum (RFC 1071): 16-bit words in the byte order of the
//! machine, added in one's complement. An odd last byte is padded with a zero.
//!
//! The 32-bit sums are not folded; they are equivalent if they are equal after folding.

use std::arch::asm;

/// Folds a sum to 16 bits.
pub(crate) fn folded(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    // At most one carry is left.
    ((once & 0xffff) + (once >> 16)) as u16
}

/// Reduces 64 bits to 32 that fold to the same sum.
fn fold_to_32_bits(sum: u64) -> u32 {
    let (low, carry) = (sum as u32).overflowing_add((sum >> 32) as u32);
    // If two numbers below 2^32 carry, the rest is below 2^32 - 1, so adding 1 does not
    // carry.
    low + u32::from(carry)
}

/// Adds two sums in one's complement.
fn add_ones_complement(sum: u32, more: u32) -> u32 {
    let (sum, carry) = sum.overflowing_add(more);
    sum + u32::from(carry)
}

/// Sums one 16-bit word at a time.
///
/// # Safety
/// `from` can be read for `length` bytes.
pub(crate) unsafe fn sum_words(from: *const u8, length: usize, sum: u32) -> u32 {
    let mut total = u64::from(sum);
    let whole = length - length % 2;
    // SAFETY: the loop counts up to 0 from minus the bytes of whole words, which
    // are not 0, and reads only these; the last byte is one of the `length`.
    unsafe {
        if whole > 0 {
            asm!(
                "2:",
                "movzx {word:e}, word ptr [{from} + {at}]",
                "add {total}, {word}",
                "add {at}, 2",
                "jnz 2b",
                at = inout(reg) whole.wrapping_neg() => _,
                from = in(reg) from.add(whole),
                total = inout(reg) total,
                word = out(reg) _,
                options(nostack, readonly),
            );
        }
        if whole < length {
            total += u64::from(*from.add(whole));
        }
    }
    fold_to_32_bits(total)
}

/// Sums with eight 32-bit additions with carry per iteration, and the remainder word
/// by word.
///
/// # Safety
/// As for [`sum_words`].
pub(crate) unsafe fn sum_adc32(from: *const u8, length: usize, sum: u32) -> u32 {
    let whole = length - length % 32;
    let mut total = sum;
    // SAFETY: the first loop reads the bytes of whole iterations, of which there
    // is at least one, and `sum_words` the bytes after them.
    unsafe {
        if whole > 0 {
            asm!(
                "2:",
                "add {total:e}, [{from}]",
                "adc {total:e}, [{from} + 4]",
                "adc {total:e}, [{from} + 8]",
                "adc {total:e}, [{from} + 12]",
                "adc {total:e}, [{from} + 16]",
                "adc {total:e}, [{from} + 20]",
                "adc {total:e}, [{from} + 24]",
                "adc {total:e}, [{from} + 28]",
                "adc {total:e}, 0",
                "add {from}, 32",
                "dec {turns}",
                "jnz 2b",
                from = inout(reg) from => _,
                turns = inout(reg) whole / 32 => _,
                total = inout(reg) total,
                options(nostack, readonly),
            );
        }
        sum_words(from.add(whole), length - whole, total)
    }
}

/// Sums with one chain of eight 64-bit additions with carry per iteration, and the
/// remainder word by word.
///
/// # Safety
/// As for [`sum_words`].
pub(crate) unsafe fn sum_adc64(from: *const u8, length: usize, sum: u32) -> u32 {
    let whole = length - length % 64;
    let mut total = u64::from(sum);
    // SAFETY: as for `sum_adc32`.
    unsafe {
        if whole > 0 {
            asm!(
                "2:",
                "add {total}, [{from}]",
                "adc {total}, [{from} + 8]",
                "adc {total}, [{from} + 16]",
                "adc {total}, [{from} + 24]",
                "adc {total}, [{from} + 32]",
                "adc {total}, [{from} + 40]",
                "adc {total}, [{from} + 48]",
                "adc {total}, [{from} + 56]",
                "adc {total}, 0",
                "add {from}, 64",
                "dec {turns}",
                "jnz 2b",
                from = inout(reg) from => _,
                turns = inout(reg) whole / 64 => _,
                total = inout(reg) total,
                options(nostack, readonly),
            );
        }
        sum_words(from.add(whole), length - whole, fold_to_32_bits(total))
    }
}

/// Sums with two loads of 16 bytes per iteration, each taken as four 32-bit
/// numbers that are added to four of 64 bits, and the remainder word by word.
///
/// # Safety
/// As for [`sum_words`], and the CPU has AVX2.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn sum_avx2(from: *const u8, length: usize, sum: u32) -> u32 {
    let whole = length - length % 32;
    let mut parts = [0_u64; 4];
    // SAFETY: as for `sum_adc32`; `parts` has room for the 32 bytes that are
    // stored.
    unsafe {
        if whole > 0 {
            asm!(
                "vpxor {total}, {total}, {total}",
                "vpxor {other}, {other}, {other}",
                "2:",
                "vpmovzxdq {some}, [{from}]",
                "vpmovzxdq {more}, [{from} + 16]",
                "vpaddq {total}, {total}, {some}",
                "vpaddq {other}, {other}, {more}",
                "add {from}, 32",
                "dec {turns}",
                "jnz 2b",
                "vpaddq {total}, {total}, {other}",
                "vmovdqu [{parts}], {total}",
                "vzeroupper",
                from = inout(reg) from => _,
                turns = inout(reg) whole / 32 => _,
                parts = in(reg) parts.as_mut_ptr(),
                total = out(ymm_reg) _,
                other = out(ymm_reg) _,
                some = out(ymm_reg) _,
                more = out(ymm_reg) _,
                options(nostack),
            );
        }
        let total = parts.iter().fold(sum, |sum, part| {
            add_ones_complement(sum, fold_to_32_bits(*part))
        });
        sum_words(from.add(whole), length - whole, total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard_has_its_sum() {
        // RFC 1071, section 3: 00 01 f2 03 f4 f5 f6 f7 add up to ddf2 in network
        // byte order.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        // SAFETY: the array is that long.
        let sum = unsafe { sum_words(bytes.as_ptr(), bytes.len(), 0) };
        assert_eq!(folded(sum).swap_bytes(), 0xddf2);
        assert_eq!(folded(u32::MAX), 0xffff);
        assert_eq!(folded(0x0001_ffff), 1);
        assert_eq!(fold_to_32_bits(u64::MAX), u32::MAX);
        assert_eq!(add_ones_complement(u32::MAX, 2), 2);
    }
}
