//! Parameters of the workload that calls one routine on memory again and again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `memory-routine`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryRoutine {
    /// What is called.
    pub routine: Routine,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
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
}

impl Routine {
    /// Every routine.
    pub const ALL: [Routine; 22] = [
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
    ];

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
        )
    }

    /// Whether it writes its destination.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(
            self,
            Routine::SumWords | Routine::SumAdc32 | Routine::SumAdc64 | Routine::SumAvx2
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

/// Where bytes are before they are read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
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
    /// Bytes of a batch where its calls are not given.
    const BATCH_BYTES: u64 = 64 << 10;

    /// Calls of a batch.
    #[must_use]
    pub fn batch_calls(&self) -> u64 {
        let fitting = Self::BATCH_BYTES / self.size.max(1);
        self.calls.unwrap_or(fitting).max(1)
    }
}

impl Default for MemoryRoutine {
    fn default() -> Self {
        MemoryRoutine {
            routine: Routine::RepMovsb,
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
