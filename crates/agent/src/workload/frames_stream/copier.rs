//! Copies, flushes and fences parts of a frame with the configured instructions.

use assize_job::{FlushInstruction, FrameFence, FrameFlush, FrameStore, FramesStream};

use super::super::instructions;
use super::super::memory::Area;

/// Bytes per iteration of the control, which computes instead of copying.
const WORD: usize = 8;

/// How parts of frames are copied, flushed and fenced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copier {
    store: FrameStore,
    flush: FrameFlush,
    by: FlushInstruction,
    fence: FrameFence,
    /// Size of a cache line in bytes.
    line: usize,
}

impl Copier {
    /// The copier that the workload asks for, if this CPU has the instructions.
    pub(super) fn new(stream: &FramesStream) -> Result<Copier, String> {
        let lacks = |name: &str, mend: &str| Err(format!("this CPU has no {name}; set {mend}"));
        let line = instructions::cache_line();
        if stream.store == FrameStore::Vmovntdq && !std::arch::is_x86_feature_detected!("avx2") {
            return lacks("AVX2, which vmovntdq belongs to", "store = \"movntdq\"");
        }
        if stream.flush != FrameFlush::Nothing {
            if line.is_none() {
                return lacks("CLFLUSH", "flush = \"nothing\"");
            }
            if stream.flush_by == FlushInstruction::Clflushopt && !instructions::has_clflushopt() {
                return lacks("CLFLUSHOPT", "flush_by = \"clflush\"");
            }
        }
        Ok(Copier {
            store: stream.store,
            flush: stream.flush,
            by: stream.flush_by,
            fence: stream.fence,
            line: line.unwrap_or(64),
        })
    }

    /// Copies as much of `from` as fits `to`.
    pub(super) fn copy(&self, to: Area<'_>, from: Area<'_>) {
        let length = to.length().min(from.length());
        let (to, from) = (to.start(), from.start());
        // SAFETY: both areas have this many bytes. They belong to two mappings,
        // or to two frames one after the other, so they do not overlap. `new`
        // has checked that the CPU has the instruction.
        unsafe {
            match self.store {
                FrameStore::RepMovsb => instructions::rep_movsb(to, from, length),
                FrameStore::Mov => instructions::mov(to, from, length),
                FrameStore::Movnti => instructions::movnti(to, from, length),
                FrameStore::Movntdq => instructions::movntdq(to, from, length),
                FrameStore::Vmovntdq => instructions::vmovntdq(to, from, length),
                FrameStore::Compute => instructions::compute(length / WORD),
            }
        }
    }

    /// Flushes and fences, as configured.
    pub(super) fn after(&self, from: Area<'_>, to: Area<'_>) {
        self.flush(from, to);
        self.fence();
    }

    /// Flushes the cache lines of the source or of the destination, as
    /// configured.
    pub(super) fn flush(&self, from: Area<'_>, to: Area<'_>) {
        let area = match self.flush {
            FrameFlush::Nothing => return,
            FrameFlush::Source => from,
            FrameFlush::Destination => to,
        };
        // SAFETY: an area can be read; `new` has checked that the CPU has the
        // instruction, and the size of its lines.
        unsafe {
            match self.by {
                FlushInstruction::Clflush => {
                    instructions::clflush(area.start(), area.length(), self.line);
                }
                FlushInstruction::Clflushopt => {
                    instructions::clflushopt(area.start(), area.length(), self.line);
                }
            }
        }
    }

    /// Fences, if configured.
    pub(super) fn fence(&self) {
        match self.fence {
            FrameFence::Nothing => {}
            FrameFence::Sfence => instructions::sfence(),
            FrameFence::Mfence => instructions::mfence(),
        }
    }
}
