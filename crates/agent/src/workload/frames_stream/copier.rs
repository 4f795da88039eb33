//! What is done to a part of a frame, on this CPU.

use std::arch::x86_64::__cpuid_count;

use assize_job::{FlushInstruction, FrameFence, FrameFlush, FrameStore, FramesStream};

use super::kernels;
use super::memory::Area;

/// Bytes that a word of the control stands for.
const WORD: usize = 8;

/// How parts of frames are copied, flushed and fenced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copier {
    store: FrameStore,
    flush: FrameFlush,
    by: FlushInstruction,
    fence: FrameFence,
    /// Bytes of a cache line.
    line: usize,
}

impl Copier {
    /// What the workload asks for, if this CPU has the instructions.
    pub(super) fn new(stream: &FramesStream) -> Result<Copier, String> {
        let lacks = |name: &str, mend: &str| Err(format!("this CPU has no {name}; set {mend}"));
        let line = cache_line();
        if stream.store == FrameStore::Vmovntdq && !std::arch::is_x86_feature_detected!("avx2") {
            return lacks("AVX2, which vmovntdq belongs to", "store = \"movntdq\"");
        }
        if stream.flush != FrameFlush::Nothing {
            if line.is_none() {
                return lacks("CLFLUSH", "flush = \"nothing\"");
            }
            if stream.flush_by == FlushInstruction::Clflushopt && !has_clflushopt() {
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

    /// Copies `from` to `to`, as much as both hold.
    pub(super) fn copy(&self, to: Area<'_>, from: Area<'_>) {
        let length = to.length().min(from.length());
        let (to, from) = (to.start(), from.start());
        // SAFETY: both areas have so many bytes. They are of two mappings, or of
        // two frames one behind the other, so that they do not overlap. `new`
        // has seen that the CPU has the instruction.
        unsafe {
            match self.store {
                FrameStore::RepMovsb => kernels::rep_movsb(to, from, length),
                FrameStore::Mov => kernels::mov(to, from, length),
                FrameStore::Movnti => kernels::movnti(to, from, length),
                FrameStore::Movntdq => kernels::movntdq(to, from, length),
                FrameStore::Vmovntdq => kernels::vmovntdq(to, from, length),
                FrameStore::Compute => kernels::compute(length / WORD),
            }
        }
    }

    /// Flushes and fences, as is asked for.
    pub(super) fn after(&self, from: Area<'_>, to: Area<'_>) {
        self.flush(from, to);
        self.fence();
    }

    /// Flushes the cache lines of one or the other.
    pub(super) fn flush(&self, from: Area<'_>, to: Area<'_>) {
        let area = match self.flush {
            FrameFlush::Nothing => return,
            FrameFlush::Source => from,
            FrameFlush::Destination => to,
        };
        // SAFETY: an area can be read; `new` has asked the CPU for the
        // instruction and the size of its lines.
        unsafe {
            match self.by {
                FlushInstruction::Clflush => {
                    kernels::clflush(area.start(), area.length(), self.line);
                }
                FlushInstruction::Clflushopt => {
                    kernels::clflushopt(area.start(), area.length(), self.line);
                }
            }
        }
    }

    /// Fences, if asked for.
    pub(super) fn fence(&self) {
        match self.fence {
            FrameFence::Nothing => {}
            FrameFence::Sfence => kernels::sfence(),
            FrameFence::Mfence => kernels::mfence(),
        }
    }
}

/// Bytes of a cache line, if the CPU has CLFLUSH: leaf 1.
fn cache_line() -> Option<usize> {
    let leaf = __cpuid_count(1, 0);
    let line = ((leaf.ebx >> 8) & 0xff) as usize * 8;
    (leaf.edx & (1 << 19) != 0 && line.is_power_of_two()).then_some(line)
}

/// Whether the CPU has CLFLUSHOPT: leaf 7.
fn has_clflushopt() -> bool {
    __cpuid_count(0, 0).eax >= 7 && __cpuid_count(7, 0).ebx & (1 << 23) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_tells_the_size_of_its_cache_lines() {
        // Every x86-64 CPU that runs Linux has CLFLUSH, and no line is shorter.
        assert!(cache_line().is_some_and(|line| line >= 32));
    }
}
