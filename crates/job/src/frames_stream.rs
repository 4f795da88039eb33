//! Parameters of the workload that copies frames.

use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `frames-stream`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FramesStream {
    /// Pixels of a line.
    pub width: u32,
    /// Lines of a frame.
    pub height: u32,
    /// Bytes of a pixel.
    pub pixel_bytes: u32,
    /// Frames to copy, where no duration is given.
    pub frames: u64,
    /// Frames are begun for so long, in nanoseconds.
    pub duration_ns: Option<u64>,
    /// A frame begins each so many nanoseconds; without it, after the one
    /// before.
    pub period_ns: Option<u64>,
    /// The memory that frames are copied from.
    pub source: FrameMemory,
    /// The memory that they are copied to.
    pub destination: FrameMemory,
    /// The device whose memory that is: the address of a PCI device
    /// (`0000:00:02.0`), or the path of a framebuffer or of a card. Without
    /// it, the first that there is.
    pub device: Option<String>,
    /// Which base address register of a PCI device says where its memory is.
    pub bar: u32,
    /// How bytes are copied.
    pub store: FrameStore,
    /// Which cache lines are flushed, after each line or frame.
    pub flush: FrameFlush,
    /// The instruction that flushes them.
    pub flush_by: FlushInstruction,
    /// The fence after each line or frame, behind what is flushed.
    pub fence: FrameFence,
    /// Whether flush and fence come after each line or after each frame.
    pub each: FrameEach,
    /// Parts of a frame, of whole lines, that are copied without a pause.
    pub bands: u32,
    /// Pause between two bands of a frame, in nanoseconds.
    pub pause_ns: u64,
    /// How the thread that copies is scheduled.
    pub scheduling: Scheduling,
}

/// Where a frame lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameMemory {
    /// Private memory of the process.
    #[default]
    Anonymous,
    /// The same in huge pages, of those that are set aside.
    HugePages,
    /// A file in memory without a name.
    Memfd,
    /// A PCI device's memory by `resourceN`, which is mapped uncached.
    Uncached,
    /// The same by `resourceN_wc`, which is mapped write-combined.
    WriteCombined,
    /// A framebuffer, `/dev/fbN` (destination only).
    Framebuffer,
    /// A dumb buffer of a card, `/dev/dri/cardN` (destination only).
    DumbBuffer,
}

impl FrameMemory {
    /// Whether it is found by a PCI device.
    #[must_use]
    pub fn is_pci(self) -> bool {
        matches!(self, FrameMemory::Uncached | FrameMemory::WriteCombined)
    }

    /// Whether it belongs to a device.
    #[must_use]
    pub fn is_of_device(self) -> bool {
        self.is_pci() || matches!(self, FrameMemory::Framebuffer | FrameMemory::DumbBuffer)
    }
}

/// How bytes get from one place to another.
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
    /// Nothing is copied: as many turns of a loop as a frame has words of 8
    /// bytes, in registers alone. The control.
    Compute,
}

/// Of which memory cache lines are flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameFlush {
    /// Of none.
    #[default]
    Nothing,
    /// Of what was copied from.
    Source,
    /// Of what was copied to.
    Destination,
}

/// What flushes a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlushInstruction {
    /// CLFLUSH, each of which waits for the one before.
    #[default]
    Clflush,
    /// CLFLUSHOPT, which are not ordered among themselves.
    Clflushopt,
}

/// What orders stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameFence {
    /// Nothing does.
    #[default]
    Nothing,
    /// SFENCE: stores.
    Sfence,
    /// MFENCE: loads and stores.
    Mfence,
}

/// How often flush and fence come.
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
    /// Where no card is named, the first of `/dev/dri/card0` and as many is taken.
    pub const CARDS: u32 = 16;

    /// Bytes of a line.
    #[must_use]
    pub fn line_bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.pixel_bytes)
    }

    /// Bytes of a frame.
    #[must_use]
    pub fn frame_bytes(&self) -> u64 {
        self.line_bytes() * u64::from(self.height)
    }

    /// Whether it copies at all, and does not only compute.
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
