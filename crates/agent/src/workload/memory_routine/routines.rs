//! The routines that can be called.

use assize_job::{CpuMode, MemoryRoutine, Routine};

use super::super::instructions;
use super::kernel::{KernelRoutine, in_kernel};

/// A routine to call, with sizes in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum CallableRoutine {
    /// Copies to the first place from the second.
    Copy(unsafe fn(*mut u8, *const u8, usize)),
    /// Zeroes.
    Zero(unsafe fn(*mut u8, usize)),
    /// Adds bytes to a one's-complement sum.
    Sum(unsafe fn(*const u8, usize, u32) -> u32),
    /// Copies with one of two routines.
    Rule(CopyRule),
    /// A routine in the kernel.
    Kernel(KernelRoutine),
}

/// Chooses between two copies, by size and alignment.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopyRule {
    /// Address bits that must be equal in both places for the plain copy.
    mask: usize,
}

impl CopyRule {
    /// Minimum length for the alternative.
    const SIZE: usize = 64;
    const PLAIN: unsafe fn(*mut u8, *const u8, usize) = instructions::rep_movsl;
    const ALTERNATIVE: unsafe fn(*mut u8, *const u8, usize) = instructions::unrolled_32;

    /// Whether to use the alternative: for a long enough copy between places that are
    /// aligned differently.
    pub(super) fn takes_alternative(self, to: *mut u8, from: *const u8, length: usize) -> bool {
        length >= Self::SIZE && (to.addr() ^ from.addr()) & self.mask != 0
    }

    /// Copies. Returns whether the alternative was used.
    ///
    /// # Safety
    ///
    /// `from` can be read and `to` written for `length` bytes, and they do not overlap.
    pub(super) unsafe fn copy(self, to: *mut u8, from: *const u8, length: usize) -> bool {
        let alternative = self.takes_alternative(to, from, length);
        let copy = if alternative {
            Self::ALTERNATIVE
        } else {
            Self::PLAIN
        };
        // SAFETY: both require what the caller vouches for.
        unsafe { copy(to, from, length) };
        alternative
    }
}

/// The routine that a workload calls, if this CPU has its instructions.
pub(super) fn callable_routine(kind: &MemoryRoutine) -> Result<CallableRoutine, String> {
    if kind.mode == CpuMode::Kernel {
        let found = in_kernel(kind.routine).map(CallableRoutine::Kernel);
        return found.ok_or_else(|| "the kernel's module does not have this routine".into());
    }
    if kind.routine.needs_avx2() && !std::arch::is_x86_feature_detected!("avx2") {
        return Err("this CPU has no AVX2; use another routine".into());
    }
    Ok(match kind.routine {
        Routine::RepMovsb => CallableRoutine::Copy(instructions::rep_movsb),
        Routine::RepMovsl => CallableRoutine::Copy(instructions::rep_movsl),
        Routine::RepMovsq => CallableRoutine::Copy(instructions::rep_movsq),
        Routine::Mov => CallableRoutine::Copy(instructions::mov),
        Routine::Unrolled64 => CallableRoutine::Copy(instructions::unrolled_64),
        Routine::Unrolled32 => CallableRoutine::Copy(instructions::unrolled_32),
        Routine::MovslRule => CallableRoutine::Rule(CopyRule {
            mask: kind.mask.unwrap_or(MemoryRoutine::MASK) as usize,
        }),
        Routine::Sse2 => CallableRoutine::Copy(instructions::sse2),
        Routine::Avx2 => CallableRoutine::Copy(instructions::avx2),
        Routine::Movnti => CallableRoutine::Copy(instructions::movnti),
        Routine::Movntdq => CallableRoutine::Copy(instructions::movntdq),
        Routine::Vmovntdq => CallableRoutine::Copy(instructions::vmovntdq),
        Routine::ZeroRepStosb => CallableRoutine::Zero(instructions::rep_stosb),
        Routine::ZeroRepStosq => CallableRoutine::Zero(instructions::rep_stosq),
        Routine::ZeroUnrolled64 => CallableRoutine::Zero(instructions::unrolled_zero),
        Routine::ZeroSse2 => CallableRoutine::Zero(instructions::sse2_zero),
        Routine::ZeroAvx2 => CallableRoutine::Zero(instructions::avx2_zero),
        Routine::ZeroMovnti => CallableRoutine::Zero(instructions::movnti_zero),
        Routine::SumWords => CallableRoutine::Sum(instructions::sum_words),
        Routine::SumAdc32 => CallableRoutine::Sum(instructions::sum_adc32),
        Routine::SumAdc64 => CallableRoutine::Sum(instructions::sum_adc64),
        Routine::SumAvx2 => CallableRoutine::Sum(instructions::sum_avx2),
        Routine::CopyFromUser
        | Routine::CopyFromUserUnchecked
        | Routine::CopyFromUserNontemporal
        | Routine::CopyToUser
        | Routine::ClearUser
        | Routine::Memcpy
        | Routine::Memset
        | Routine::CsumPartial
        | Routine::CsumPartialCopy
        | Routine::RepMovsAlternative => {
            return Err("a process cannot call a routine of the kernel".into());
        }
    })
}

/// The 16-bit sum of the Internet checksum, computed word by word as in RFC 1071.
pub(super) fn plain_sum(bytes: &[u8], sum: u32) -> u16 {
    let words = bytes.chunks(2).map(|word| match word {
        [low, high] => u64::from(u16::from_le_bytes([*low, *high])),
        [low] => u64::from(*low),
        _ => 0,
    });
    let mut total = words.sum::<u64>() + u64::from(sum);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use proptest::prelude::*;

    use super::super::super::instructions::{folded, sfence};
    use super::super::super::memory::Mapping;
    use super::*;

    const PAGE: usize = 4096;
    /// Bytes around each place, which must not change.
    const ROOM: usize = 64;

    /// Every routine that this CPU has, with each mask of the rule.
    fn all() -> Vec<(String, CallableRoutine)> {
        let named = |routine: Routine, mask: Option<u32>| {
            let kind = MemoryRoutine {
                routine,
                mask,
                ..MemoryRoutine::default()
            };
            let name = format!("{routine:?} {mask:?}");
            callable_routine(&kind).ok().map(|called| (name, called))
        };
        let plain = Routine::ALL.into_iter().filter_map(|one| named(one, None));
        let rule = named(Routine::MovslRule, Some(0));
        plain.chain(rule).collect()
    }

    /// Calls a routine and checks that it does what a plain one does.
    ///
    /// # Safety
    /// As for the routine.
    unsafe fn must_be_right(
        name: &str,
        called: CallableRoutine,
        to: *mut u8,
        from: *const u8,
        length: usize,
    ) {
        // SAFETY: the caller vouches for both places, to which nothing else refers
        // here.
        unsafe {
            let wanted = std::slice::from_raw_parts(from, length).to_vec();
            match called {
                CallableRoutine::Copy(copy) => copy(to, from, length),
                CallableRoutine::Rule(rule) => {
                    rule.copy(to, from, length);
                }
                CallableRoutine::Zero(zero) => zero(to, length),
                CallableRoutine::Sum(sum) => {
                    for begin in [0, 1, 0xffff, u32::MAX] {
                        let found = folded(sum(from, length, begin));
                        assert_eq!(found, plain_sum(&wanted, begin), "{name} of {length}");
                    }
                    return;
                }
                CallableRoutine::Kernel(_) => unreachable!("no process calls it"),
            }
            sfence();
            let found = std::slice::from_raw_parts(to, length);
            match called {
                CallableRoutine::Zero(_) => assert!(found.iter().all(|byte| *byte == 0), "{name}"),
                _ => assert!(found == wanted, "{name} of {length}"),
            }
        }
    }

    proptest! {
        #[test]
        fn every_routine_does_what_a_plain_one_does_and_touches_nothing_else(
            bytes in proptest::collection::vec(any::<u8>(), 0..700),
            at in 0..ROOM,
            from in 0..ROOM,
        ) {
            let mut source = vec![0x33; from];
            source.extend(&bytes);
            for (name, called) in all() {
                let mut place = vec![0xa5; ROOM + at + bytes.len() + ROOM];
                let to = place.as_mut_ptr().wrapping_add(ROOM + at);
                // SAFETY: both vectors have this many bytes there.
                unsafe { must_be_right(&name, called, to, source.as_ptr().add(from), bytes.len()) };
                let behind = &place[ROOM + at + bytes.len()..];
                let around = place[..ROOM + at].iter().chain(behind);
                prop_assert!(around.copied().all(|byte| byte == 0xa5), "{}", name);
            }
        }

        #[test]
        fn a_copy_to_a_place_below_its_source_may_overlap_it(
            bytes in proptest::collection::vec(any::<u8>(), 0..500),
            down in 1..300_usize,
            at in 0..ROOM,
        ) {
            for (name, called) in all() {
                let mut place = vec![0; at + down];
                place.extend(&bytes);
                let to = place.as_mut_ptr().wrapping_add(at);
                // SAFETY: the vector has this many bytes after both. The routines
                // go upwards and load before they store, so that bytes are loaded
                // before they are overwritten.
                unsafe {
                    match called {
                        CallableRoutine::Copy(copy) => copy(to, to.add(down), bytes.len()),
                        CallableRoutine::Rule(rule) => {
                            rule.copy(to, to.add(down), bytes.len());
                        }
                        _ => continue,
                    }
                }
                sfence();
                prop_assert!(place[at..at + bytes.len()] == bytes[..], "{} by {}", name, down);
            }
        }
    }

    /// Two pages of which only one is accessible: the first or the second.
    fn guarded(first: bool) -> (Mapping, *mut u8) {
        let mapping = Mapping::anonymous(2 * PAGE).unwrap();
        let area = mapping.area(0, 2 * PAGE).unwrap();
        let pattern: Vec<u8> = (0..2 * PAGE).map(|at| (at % 251) as u8 | 1).collect();
        area.fill(&pattern);
        let start = area.start();
        let (open, shut) = match first {
            true => (start, start.wrapping_add(PAGE)),
            false => (start.wrapping_add(PAGE), start),
        };
        // SAFETY: the page is one of the mapping, which nothing refers to.
        let done = unsafe { libc::mprotect(shut.cast(), PAGE, libc::PROT_NONE) };
        assert_eq!(done, 0);
        (mapping, open)
    }

    #[test]
    fn no_routine_touches_the_pages_beside_its_places() {
        let [(_a, from), (_b, to)] = [guarded(true), guarded(true)];
        let [(_c, from_low), (_d, to_low)] = [guarded(false), guarded(false)];
        for (name, called) in all() {
            for length in (0..200).chain([255, 256, 257, 4095, 4096]) {
                let back = PAGE - length;
                // SAFETY: each is an accessible page, and the place is at the end
                // or at the beginning of it.
                unsafe {
                    must_be_right(&name, called, to.add(back), from.add(back), length);
                    must_be_right(&name, called, to_low, from_low, length);
                }
            }
        }
    }

    #[test]
    fn the_rule_takes_the_alternative_of_long_copies_that_are_not_aligned_alike() {
        let at = |address: usize| std::ptr::without_provenance_mut::<u8>(address);
        let rule = CopyRule { mask: 7 };
        let takes =
            |rule: CopyRule, to, from, length| rule.takes_alternative(at(to), at(from), length);
        assert!(takes(rule, 4096, 8193, 64));
        assert!(!takes(rule, 4096, 8193, 63));
        assert!(!takes(rule, 4097, 8193, 1 << 20));
        assert!(!takes(rule, 4096, 8200, 64));
        // With a mask of 0 the alternative is never chosen.
        for offset in 0..64 {
            assert!(!takes(CopyRule { mask: 0 }, 4096, 8192 + offset, 1 << 20));
        }
    }

    #[test]
    fn the_plain_sum_is_the_one_of_the_standard() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(plain_sum(&bytes, 0).swap_bytes(), 0xddf2);
        assert_eq!(plain_sum(&[0xff; 3], 0xffff), 0x00ff);
        assert_eq!(plain_sum(&[], 0), 0);
    }
}
