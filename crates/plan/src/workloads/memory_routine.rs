//! The parameters of the `memory-routine` workload, which calls one routine on
//! memory, and checks of how they combine.

use assize_job::{CacheState, CpuMode, MemoryRoutine, Routine};

use super::scheduling::SCHEDULING;
use crate::values::keys::{KeySection, Whole, Word, key};

/// Maximum size in bytes of a batch with a cold cache, in which each call uses
/// separate memory.
const COLD_BYTES_MAX: u64 = 1 << 30;

pub(crate) static KEYS: KeySection = KeySection {
    name: "memory-routine",
    keys: &[
        key(
            "routine",
            Word(&[
                "rep-movsb",
                "rep-movsl",
                "rep-movsq",
                "mov",
                "unrolled-64",
                "unrolled-32",
                "movsl-rule",
                "sse2",
                "avx2",
                "movnti",
                "movntdq",
                "vmovntdq",
                "zero-rep-stosb",
                "zero-rep-stosq",
                "zero-unrolled-64",
                "zero-sse2",
                "zero-avx2",
                "zero-movnti",
                "sum-words",
                "sum-adc-32",
                "sum-adc-64",
                "sum-avx2",
                "copy-from-user",
                "copy-from-user-unchecked",
                "copy-from-user-nontemporal",
                "copy-to-user",
                "clear-user",
                "memcpy",
                "memset",
                "csum-partial",
                "csum-partial-copy",
                "rep-movs-alternative",
            ])
            .or("rep-movsb"),
            "The routine to call, which copies, zeroes or checksums.",
        ),
        key(
            "mode",
            Word(&["user", "kernel"]).or("user"),
            "Who calls the routine: the process, on its own memory, or the module copybench, on the kernel's memory.",
        ),
        key("size", Whole(1, 16 << 20).or("4096"), "Bytes per call."),
        key(
            "source_offset",
            Whole(0, 63).or("0"),
            "Byte offset of the source in its cache line.",
        ),
        key(
            "destination_offset",
            Whole(0, 63).or("0"),
            "Byte offset of the destination in its cache line.",
        ),
        key(
            "mask",
            Whole(0, 63).optional(),
            "movsl-rule uses unrolled-32 for 64 bytes and more if source and destination differ in \
             any of these address bits, else rep-movsl. By default 7; with 0 always rep-movsl.",
        ),
        key(
            "cache",
            Word(&["hot", "cold", "beyond"]).or("hot"),
            "The state of the data before a call. hot: as the last call left the data. cold: flushed. beyond: calls walk through more memory than the caches hold.",
        ),
        key(
            "arena",
            Whole(4096, 1 << 30).optional(),
            "With cache = \"beyond\", bytes that calls walk through; by default twice the largest cache.",
        ),
        key(
            "batches",
            Whole(1, 1_000_000).or("100"),
            "Batches of calls; each batch is timed.",
        ),
        key(
            "calls",
            Whole(1, 1_000_000).optional(),
            "Calls per batch; by default enough for 64 KiB.",
        ),
        SCHEDULING,
    ],
};

/// The first contradiction between parameters: key, reason and correction.
pub(crate) fn mistake(kind: &MemoryRoutine) -> Option<(&'static str, &'static str, &'static str)> {
    if !kind.routine.is_in(kind.mode) {
        return Some(match kind.mode {
            CpuMode::User => (
                "routine",
                "the routine is in the kernel, so a process cannot call it",
                "set mode = \"kernel\"",
            ),
            CpuMode::Kernel => (
                "routine",
                "the module copybench does not have this routine",
                "set mode = \"user\", or use another routine",
            ),
        });
    }
    if kind.source_offset > 0 && !kind.routine.reads() {
        let why = "the routine reads no source";
        return Some(("source_offset", why, "remove it"));
    }
    if kind.destination_offset > 0 && !kind.routine.writes() {
        let why = "the routine writes to no destination";
        return Some(("destination_offset", why, "remove it"));
    }
    if kind.mask.is_some() && kind.routine != Routine::MovslRule {
        let why = "the routine compares no bits of addresses";
        return Some(("mask", why, "set routine = \"movsl-rule\", or remove it"));
    }
    if kind.arena.is_some() && kind.cache != CacheState::Beyond {
        let why = "only calls with cache = \"beyond\" walk through an arena";
        return Some(("arena", why, "set cache = \"beyond\", or remove it"));
    }
    if kind.cache == CacheState::Cold && kind.batch_calls() * kind.size > COLD_BYTES_MAX {
        let why = "the buffers of a batch have more than 1 GiB in total";
        return Some(("calls", why, "make calls or size smaller"));
    }
    match kind.mode {
        CpuMode::User => None,
        CpuMode::Kernel => kernel_mistake(kind),
    }
}

/// Like [`mistake`], for routines called in the kernel.
fn kernel_mistake(kind: &MemoryRoutine) -> Option<(&'static str, &'static str, &'static str)> {
    if kind.cache == CacheState::Beyond {
        let why = "calls in the kernel walk through at most 1 MiB, which caches hold";
        return Some(("cache", why, "set cache = \"cold\""));
    }
    if kind.size > MemoryRoutine::KERNEL_SIZE_MAX {
        let why = "a call in the kernel processes at most 1 MiB";
        return Some(("size", why, "make it 1048576 or less"));
    }
    let calls = kind.batch_calls();
    let cold = kind.cache == CacheState::Cold && calls > 1;
    if cold && calls * kind.stride() > MemoryRoutine::KERNEL_PLACES_MAX {
        let why = "the buffers of a batch in the kernel have more than 1 MiB in total";
        return Some(("calls", why, "make calls or size smaller"));
    }
    if calls * kind.size > MemoryRoutine::KERNEL_BATCH_MAX {
        let why = "a batch in the kernel processes more than 16 MiB";
        return Some(("calls", why, "make calls or size smaller"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why_invalid(kind: MemoryRoutine) -> Option<&'static str> {
        mistake(&kind).map(|(key, ..)| key)
    }

    #[test]
    fn what_goes_together_is_no_mistake_and_what_has_no_use_is_one() {
        let of = |routine| MemoryRoutine {
            routine,
            ..MemoryRoutine::default()
        };
        let (copy, rule) = (of(Routine::Unrolled32), of(Routine::MovslRule));
        let (zero, sum) = (of(Routine::ZeroSse2), of(Routine::SumAdc64));
        for right in [
            MemoryRoutine {
                source_offset: 1,
                destination_offset: 2,
                ..copy.clone()
            },
            MemoryRoutine {
                mask: Some(0),
                ..rule
            },
            MemoryRoutine {
                destination_offset: 3,
                ..zero.clone()
            },
            MemoryRoutine {
                source_offset: 3,
                ..sum.clone()
            },
            MemoryRoutine {
                cache: CacheState::Beyond,
                arena: Some(8192),
                ..copy.clone()
            },
            MemoryRoutine {
                cache: CacheState::Cold,
                ..copy.clone()
            },
        ] {
            assert_eq!(why_invalid(right.clone()), None, "{right:?}");
        }
        for (kind, key) in [
            (
                MemoryRoutine {
                    source_offset: 1,
                    ..zero
                },
                "source_offset",
            ),
            (
                MemoryRoutine {
                    destination_offset: 1,
                    ..sum
                },
                "destination_offset",
            ),
            (
                MemoryRoutine {
                    mask: Some(7),
                    ..copy.clone()
                },
                "mask",
            ),
            (
                MemoryRoutine {
                    arena: Some(8192),
                    ..copy.clone()
                },
                "arena",
            ),
            (
                MemoryRoutine {
                    cache: CacheState::Cold,
                    size: 16 << 20,
                    calls: Some(65),
                    ..copy
                },
                "calls",
            ),
        ] {
            assert_eq!(why_invalid(kind.clone()), Some(key), "{kind:?}");
        }
    }
    #[test]
    fn what_the_kernel_calls_is_what_its_module_has_and_no_more_than_that_holds() {
        let of = |routine| MemoryRoutine {
            routine,
            mode: CpuMode::Kernel,
            ..MemoryRoutine::default()
        };
        let copy = of(Routine::CopyFromUser);
        let user = MemoryRoutine {
            mode: CpuMode::User,
            ..copy.clone()
        };
        assert_eq!(why_invalid(user), Some("routine"));
        assert_eq!(why_invalid(of(Routine::Avx2)), Some("routine"));
        assert_eq!(why_invalid(of(Routine::MovslRule)), Some("routine"));
        let clear = MemoryRoutine {
            source_offset: 1,
            ..of(Routine::ClearUser)
        };
        assert_eq!(why_invalid(clear), Some("source_offset"));
        let sized = |size, calls, cache| MemoryRoutine {
            size,
            calls,
            cache,
            ..copy.clone()
        };
        let (hot, cold) = (CacheState::Hot, CacheState::Cold);
        for (kind, key) in [
            (sized(1 << 20, None, hot), None),
            (sized((1 << 20) + 1, None, hot), Some("size")),
            (sized(1 << 20, Some(16), hot), None),
            (sized(1 << 20, Some(17), hot), Some("calls")),
            // Each call's memory takes 4160 bytes.
            (sized(4096, Some(252), cold), None),
            (sized(4096, Some(253), cold), Some("calls")),
            (sized(1, None, cold), Some("calls")),
            (sized(16, None, cold), None),
            (sized(16, None, CacheState::Beyond), Some("cache")),
        ] {
            assert_eq!(why_invalid(kind.clone()), key, "{kind:?}");
        }
    }
}
