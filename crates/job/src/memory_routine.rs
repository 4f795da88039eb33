//! Parameters of the workload that calls one routine on memory again and again.

use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `memory-routine`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryRoutine {
    /// What is called.
    pub routine: Routine,
    /// Where it is called.
    pub mode: CpuMode,
    /// Bytes of a call.
    pub size: u64,
    /// So many bytes behind the beginning of a cache line the source begins.
    pub source_offset: u32,
    /// The same of the destination.
    pub destination_offset: u32,
    /// Bits of the two addresses that `movsl-rule` compares.
    pub mask: Option<u32>,
    /// Where the bytes are before a call.
    pub cache: CacheState,
    /// Bytes of memory that calls go through where `cache` is `beyond`; without
    /// it, twice those of the largest cache.
    pub arena: Option<u64>,
    /// Batches of calls, each of which is timed.
    pub batches: u64,
    /// Calls of a batch; without it, as many as have 64 KiB together.
    pub calls: Option<u64>,
    /// How the thread is scheduled.
    pub scheduling: Scheduling,
}

/// A routine that copies, zeroes or sums up bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routine {
    /// Copies: `rep movsb`.
    #[default]
    RepMovsb,
    /// `rep movsd` of words of 4 bytes.
    RepMovsl,
    /// `rep movsq` of words of 8 bytes.
    RepMovsq,
    /// Words of 8 bytes, stored where they are aligned.
    Mov,
    /// Eight words of 8 bytes a turn.
    #[serde(rename = "unrolled-64")]
    Unrolled64,
    /// Sixteen words of 4 bytes a turn.
    #[serde(rename = "unrolled-32")]
    Unrolled32,
    /// `unrolled-32` or `rep-movsl`, as size and alignment say.
    MovslRule,
    /// 16 bytes at a time.
    Sse2,
    /// 32 bytes at a time.
    Avx2,
    /// Non-temporal stores of 8 bytes.
    Movnti,
    /// Non-temporal stores of 16 bytes.
    Movntdq,
    /// Non-temporal stores of 32 bytes.
    Vmovntdq,
    /// Zeroing: `rep stosb`.
    ZeroRepStosb,
    /// `rep stosq`.
    ZeroRepStosq,
    /// Eight stores of 8 bytes a turn.
    #[serde(rename = "zero-unrolled-64")]
    ZeroUnrolled64,
    /// 16 bytes at a time.
    ZeroSse2,
    /// 32 bytes at a time.
    ZeroAvx2,
    /// Non-temporal stores of 8 bytes.
    ZeroMovnti,
    /// The sum of the Internet checksum: words of 2 bytes.
    SumWords,
    /// Additions of 4 bytes with carry.
    #[serde(rename = "sum-adc-32")]
    SumAdc32,
    /// Additions of 8 bytes with carry.
    #[serde(rename = "sum-adc-64")]
    SumAdc64,
    /// Eight numbers of 4 bytes at a time.
    SumAvx2,
    /// The kernel's own: `copy_from_user`.
    CopyFromUser,
    /// `__copy_from_user`, which does not look whether the addresses are the
    /// process's.
    CopyFromUserUnchecked,
    /// The copy from user space that passes the caches.
    CopyFromUserNontemporal,
    /// `copy_to_user`.
    CopyToUser,
    /// `clear_user`.
    ClearUser,
    /// `memcpy`.
    Memcpy,
    /// `memset`.
    Memset,
    /// `csum_partial`.
    CsumPartial,
    /// `csum_partial_copy_nocheck`: copies and adds up.
    CsumPartialCopy,
    /// `rep_movs_alternative`, with nothing around it.
    RepMovsAlternative,
}

impl Routine {
    /// Every routine.
    pub const ALL: [Routine; 32] = [
        Routine::RepMovsb,
        Routine::RepMovsl,
        Routine::RepMovsq,
        Routine::Mov,
        Routine::Unrolled64,
        Routine::Unrolled32,
        Routine::MovslRule,
        Routine::Sse2,
        Routine::Avx2,
        Routine::Movnti,
        Routine::Movntdq,
        Routine::Vmovntdq,
        Routine::ZeroRepStosb,
        Routine::ZeroRepStosq,
        Routine::ZeroUnrolled64,
        Routine::ZeroSse2,
        Routine::ZeroAvx2,
        Routine::ZeroMovnti,
        Routine::SumWords,
        Routine::SumAdc32,
        Routine::SumAdc64,
        Routine::SumAvx2,
        Routine::CopyFromUser,
        Routine::CopyFromUserUnchecked,
        Routine::CopyFromUserNontemporal,
        Routine::CopyToUser,
        Routine::ClearUser,
        Routine::Memcpy,
        Routine::Memset,
        Routine::CsumPartial,
        Routine::CsumPartialCopy,
        Routine::RepMovsAlternative,
    ];

    /// Whether it is the kernel's own.
    #[must_use]
    pub fn is_of_kernel(self) -> bool {
        matches!(
            self,
            Routine::CopyFromUser
                | Routine::CopyFromUserUnchecked
                | Routine::CopyFromUserNontemporal
                | Routine::CopyToUser
                | Routine::ClearUser
                | Routine::Memcpy
                | Routine::Memset
                | Routine::CsumPartial
                | Routine::CsumPartialCopy
                | Routine::RepMovsAlternative
        )
    }

    /// Whether it can be called in a mode of the CPU.
    #[must_use]
    pub fn is_in(self, mode: CpuMode) -> bool {
        match mode {
            CpuMode::User => !self.is_of_kernel(),
            CpuMode::Kernel => {
                let ours = [
                    Routine::RepMovsb,
                    Routine::RepMovsq,
                    Routine::Unrolled64,
                    Routine::Unrolled32,
                    Routine::Movnti,
                    Routine::Sse2,
                    Routine::Movntdq,
                ];
                self.is_of_kernel() || ours.contains(&self)
            }
        }
    }

    /// Whether it reads its source.
    #[must_use]
    pub fn reads(self) -> bool {
        !matches!(
            self,
            Routine::ZeroRepStosb
                | Routine::ZeroRepStosq
                | Routine::ZeroUnrolled64
                | Routine::ZeroSse2
                | Routine::ZeroAvx2
                | Routine::ZeroMovnti
                | Routine::ClearUser
                | Routine::Memset
        )
    }

    /// Whether it writes its destination.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(
            self,
            Routine::SumWords
                | Routine::SumAdc32
                | Routine::SumAdc64
                | Routine::SumAvx2
                | Routine::CsumPartial
        )
    }

    /// Whether it has instructions of AVX2.
    #[must_use]
    pub fn needs_avx2(self) -> bool {
        matches!(
            self,
            Routine::Avx2 | Routine::Vmovntdq | Routine::ZeroAvx2 | Routine::SumAvx2
        )
    }
}

/// In which mode of the CPU a routine is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuMode {
    /// By the process, on its memory.
    #[default]
    User,
    /// By the kernel, on its memory and, where the routine does so, the process's.
    Kernel,
}

/// Where bytes are before they are read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// Where the call before left them: all calls have the same place.
    #[default]
    Hot,
    /// In memory: their cache lines are flushed before each batch, in which each
    /// call has a place of its own.
    Cold,
    /// Wherever they are when calls go through more memory than the largest cache
    /// holds, one place after the other.
    Beyond,
}

impl MemoryRoutine {
    /// Bits that are compared where none are given: below a word of 8 bytes.
    pub const MASK: u32 = 7;
    /// The module without which nothing is called in the kernel.
    pub const MODULE: &str = "copybench";
    /// What places begin at multiples of, and are apart: a cache line.
    pub const LINE: u64 = 64;
    /// The most bytes of a call in the kernel.
    pub const KERNEL_SIZE_MAX: u64 = 1 << 20;
    /// The most bytes of the places of a batch in the kernel.
    pub const KERNEL_PLACES_MAX: u64 = 1 << 20;
    /// The most bytes of a batch in the kernel.
    pub const KERNEL_BATCH_MAX: u64 = 16 << 20;
    /// Bytes of a batch where its calls are not given.
    const BATCH_BYTES: u64 = 64 << 10;

    /// Calls of a batch.
    #[must_use]
    pub fn batch_calls(&self) -> u64 {
        let fitting = Self::BATCH_BYTES / self.size.max(1);
        self.calls.unwrap_or(fitting).max(1)
    }

    /// How far each place begins behind the one before, in bytes.
    #[must_use]
    pub fn apart(&self) -> u64 {
        (self.size + Self::LINE).next_multiple_of(Self::LINE)
    }

    /// The kernel module without which it has nothing to call.
    pub(crate) fn module(&self) -> Option<&'static str> {
        (self.mode == CpuMode::Kernel).then_some(Self::MODULE)
    }
}

impl Default for MemoryRoutine {
    fn default() -> Self {
        MemoryRoutine {
            routine: Routine::RepMovsb,
            mode: CpuMode::User,
            size: 4096,
            source_offset: 0,
            destination_offset: 0,
            mask: None,
            cache: CacheState::Hot,
            arena: None,
            batches: 100,
            calls: None,
            scheduling: Scheduling::default(),
        }
    }
}
