//! Parameters of `memory-routine`, which calls one memory routine repeatedly.

use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `memory-routine`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryRoutine {
    /// The routine to call.
    pub routine: Routine,
    /// The CPU mode in which to call it.
    pub mode: CpuMode,
    /// Bytes per call.
    pub size: u64,
    /// Offset of the source from the start of a cache line, in bytes.
    pub source_offset: u32,
    /// Offset of the destination from the start of a cache line, in bytes.
    pub destination_offset: u32,
    /// Address bits that `movsl-rule` compares between source and destination.
    pub mask: Option<u32>,
    /// State of the caches before a call.
    pub cache: CacheState,
    /// Bytes of memory that calls step through if `cache` is `beyond`; `None`: twice
    /// the size of the largest cache.
    pub arena: Option<u64>,
    /// Batches of calls; each batch is timed.
    pub batches: u64,
    /// Calls per batch; without it, as many as process 64 KiB.
    pub calls: Option<u64>,
    /// Scheduling of the thread.
    pub scheduling: Scheduling,
}

/// A routine that copies, zeroes or sums bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routine {
    /// Copies by `rep movsb`.
    #[default]
    RepMovsb,
    /// Copies by `rep movsd`, in words of 4 bytes.
    RepMovsl,
    /// Copies by `rep movsq`, in words of 8 bytes.
    RepMovsq,
    /// Copies 8-byte words, with aligned stores.
    Mov,
    /// Copies eight 8-byte words per iteration.
    #[serde(rename = "unrolled-64")]
    Unrolled64,
    /// Copies sixteen 4-byte words per iteration.
    #[serde(rename = "unrolled-32")]
    Unrolled32,
    /// Copies like `unrolled-32` or `rep-movsl`, depending on size and alignment.
    MovslRule,
    /// Copies 16 bytes at a time.
    Sse2,
    /// Copies 32 bytes at a time.
    Avx2,
    /// Copies by non-temporal stores of 8 bytes.
    Movnti,
    /// Copies by non-temporal stores of 16 bytes.
    Movntdq,
    /// Copies by non-temporal stores of 32 bytes.
    Vmovntdq,
    /// Zeroes by `rep stosb`.
    ZeroRepStosb,
    /// Zeroes by `rep stosq`.
    ZeroRepStosq,
    /// Zeroes by eight 8-byte stores per iteration.
    #[serde(rename = "zero-unrolled-64")]
    ZeroUnrolled64,
    /// Zeroes 16 bytes at a time.
    ZeroSse2,
    /// Zeroes 32 bytes at a time.
    ZeroAvx2,
    /// Zeroes by non-temporal stores of 8 bytes.
    ZeroMovnti,
    /// Sums for the Internet checksum, by 2-byte words.
    SumWords,
    /// Sums by 4-byte additions with carry.
    #[serde(rename = "sum-adc-32")]
    SumAdc32,
    /// Sums by 8-byte additions with carry.
    #[serde(rename = "sum-adc-64")]
    SumAdc64,
    /// Sums eight 4-byte numbers at a time.
    SumAvx2,
    /// The kernel's `copy_from_user`.
    CopyFromUser,
    /// `__copy_from_user`, which does not check that the addresses belong to the process.
    CopyFromUserUnchecked,
    /// The kernel's non-temporal copy from user space, which bypasses the caches.
    CopyFromUserNontemporal,
    /// The kernel's `copy_to_user`.
    CopyToUser,
    /// The kernel's `clear_user`.
    ClearUser,
    /// The kernel's `memcpy`.
    Memcpy,
    /// The kernel's `memset`.
    Memset,
    /// The kernel's `csum_partial`.
    CsumPartial,
    /// The kernel's `csum_partial_copy_nocheck`: copies and sums.
    CsumPartialCopy,
    /// The kernel's `rep_movs_alternative`, called directly.
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

    /// Whether it is a routine of the kernel.
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

    /// Whether it can be called in this CPU mode.
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

    /// Whether it uses AVX2 instructions.
    #[must_use]
    pub fn needs_avx2(self) -> bool {
        matches!(
            self,
            Routine::Avx2 | Routine::Vmovntdq | Routine::ZeroAvx2 | Routine::SumAvx2
        )
    }
}

/// The CPU mode in which a routine is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuMode {
    /// Called by the process, on its own memory.
    #[default]
    User,
    /// Called by the kernel, on its own memory and, for routines that do so, the process's.
    Kernel,
}

/// State of the caches before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// Where the previous call left them: all calls use the same buffer.
    #[default]
    Hot,
    /// In memory: cache lines are flushed before each batch, in which each call has a
    /// separate buffer.
    Cold,
    /// Unspecified: calls step through more memory than the largest cache holds, one buffer
    /// after another.
    Beyond,
}

impl MemoryRoutine {
    /// Default address bits to compare: those below an 8-byte word.
    pub const MASK: u32 = 7;
    /// The module that calls routines in the kernel.
    pub const MODULE: &str = "copybench";
    /// Alignment and minimum spacing of buffers: a cache line.
    pub const LINE: u64 = 64;
    /// Largest size of a call in the kernel, in bytes.
    pub const KERNEL_SIZE_MAX: u64 = 1 << 20;
    /// Largest total size of a batch's buffers in the kernel, in bytes.
    pub const KERNEL_PLACES_MAX: u64 = 1 << 20;
    /// Largest size of a batch in the kernel, in bytes.
    pub const KERNEL_BATCH_MAX: u64 = 16 << 20;
    /// Default size of a batch, in bytes.
    const BATCH_BYTES: u64 = 64 << 10;

    /// Calls per batch.
    #[must_use]
    pub fn batch_calls(&self) -> u64 {
        let fitting = Self::BATCH_BYTES / self.size.max(1);
        self.calls.unwrap_or(fitting).max(1)
    }

    /// Distance between the starts of two consecutive buffers, in bytes.
    #[must_use]
    pub fn stride(&self) -> u64 {
        (self.size + Self::LINE).next_multiple_of(Self::LINE)
    }

    /// The kernel module that it needs.
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
