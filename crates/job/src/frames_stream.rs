//! Parameters of `frames-stream`, which copies frames.

use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `frames-stream`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FramesStream {
    /// Pixels per line.
    pub width: u32,
    /// Lines per frame.
    pub height: u32,
    /// Bytes per pixel.
    pub pixel_bytes: u32,
    /// Number of frames to copy, if no duration is given.
    pub frames: u64,
    /// For how long new frames are started, in nanoseconds; `None` to copy `frames`.
    pub duration_ns: Option<u64>,
    /// Time between the starts of two frames, in nanoseconds; without it, a frame starts
    /// when the last one is finished.
    pub period_ns: Option<u64>,
    /// The memory to copy frames from.
    pub source: FrameMemory,
    /// The memory to copy frames to.
    pub destination: FrameMemory,
    /// The device that has the memory: the address of a PCI device (`0000:00:02.0`), or the
    /// path of a framebuffer or card. Without it, the first one found.
    pub device: Option<String>,
    /// The number of the PCI base address register (BAR) of the memory.
    pub bar: u32,
    /// The instructions that copy.
    pub store: FrameStore,
    /// The memory whose cache lines are flushed after each line or frame.
    pub flush: FrameFlush,
    /// The instruction that flushes cache lines.
    pub flush_by: FlushInstruction,
    /// The fence after each line or frame, following the flush.
    pub fence: FrameFence,
    /// Whether to flush and fence after each line or after each frame.
    pub each: FrameEach,
    /// Bands of whole lines into which a frame is divided; each is copied without a pause.
    pub bands: u32,
    /// Pause between two bands of a frame, in nanoseconds.
    pub pause_ns: u64,
    /// Scheduling of the copying thread.
    pub scheduling: Scheduling,
}

/// The memory of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameMemory {
    /// Private memory of the process.
    #[default]
    Anonymous,
    /// Private memory in huge pages, from the reserved pool.
    HugePages,
    /// An anonymous file in memory (memfd).
    Memfd,
    /// A PCI device's memory through `resourceN`, mapped uncached.
    Uncached,
    /// A PCI device's memory through `resourceN_wc`, mapped write-combining.
    WriteCombined,
    /// A framebuffer, `/dev/fbN` (destination only).
    Framebuffer,
    /// A dumb buffer of a card, `/dev/dri/cardN` (destination only).
    DumbBuffer,
}

impl FrameMemory {
    /// Whether it is the memory of a PCI device.
    #[must_use]
    pub fn is_pci(self) -> bool {
        matches!(self, FrameMemory::Uncached | FrameMemory::WriteCombined)
    }

    /// Whether it is the memory of a device.
    #[must_use]
    pub fn is_of_device(self) -> bool {
        self.is_pci() || matches!(self, FrameMemory::Framebuffer | FrameMemory::DumbBuffer)
    }
}

/// The instructions that copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameStore {
    /// `rep movsb`.
    RepMovsb,
    /// Ordinary stores of 8 bytes.
    #[default]
    Mov,
    /// Non-temporal stores of 8 bytes.
    Movnti,
    /// Non-temporal stores of 16 bytes (SSE2).
    Movntdq,
    /// Non-temporal stores of 32 bytes (AVX2).
    Vmovntdq,
    /// Control: copies nothing, but runs a loop in registers with as many iterations as a
    /// frame has 8-byte words.
    Compute,
}

/// The memory whose cache lines are flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameFlush {
    /// No memory.
    #[default]
    Nothing,
    /// The source.
    Source,
    /// The destination.
    Destination,
}

/// The instruction that flushes a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlushInstruction {
    /// CLFLUSH; ordered among themselves.
    #[default]
    Clflush,
    /// CLFLUSHOPT; not ordered among themselves.
    Clflushopt,
}

/// The fence instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameFence {
    /// No fence.
    #[default]
    Nothing,
    /// SFENCE, which orders stores.
    Sfence,
    /// MFENCE, which orders loads and stores.
    Mfence,
}

/// When to flush and fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameEach {
    /// After each line.
    Line,
    /// After each frame.
    #[default]
    Frame,
}

impl FramesStream {
    /// Number of cards, from `/dev/dri/card0` on, that are searched if none is named.
    pub const CARDS: u32 = 16;

    /// Bytes per line.
    #[must_use]
    pub fn line_bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.pixel_bytes)
    }

    /// Bytes per frame.
    #[must_use]
    pub fn frame_bytes(&self) -> u64 {
        self.line_bytes() * u64::from(self.height)
    }

    /// Whether frames are copied: false for [`FrameStore::Compute`].
    #[must_use]
    pub fn copies(&self) -> bool {
        self.store != FrameStore::Compute
    }
}

impl Default for FramesStream {
    fn default() -> Self {
        FramesStream {
            width: 1920,
            height: 1080,
            pixel_bytes: 4,
            frames: 100,
            duration_ns: None,
            period_ns: None,
            source: FrameMemory::Anonymous,
            destination: FrameMemory::Anonymous,
            device: None,
            bar: 0,
            store: FrameStore::Mov,
            flush: FrameFlush::Nothing,
            flush_by: FlushInstruction::Clflush,
            fence: FrameFence::Nothing,
            each: FrameEach::Frame,
            bands: 1,
            pause_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}
