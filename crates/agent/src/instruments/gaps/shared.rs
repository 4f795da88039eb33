//! State shared by the agent and the processes that watch.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::sys;

/// Two words shared with the processes that the agent starts later: how many watch, and
/// whether to stop.
#[derive(Debug)]
pub(super) struct SharedWords {
    words: *const [AtomicU32; 2],
}

impl SharedWords {
    /// Allocates the words; both are 0.
    pub(super) fn new() -> Result<SharedWords, String> {
        let length = size_of::<[AtomicU32; 2]>();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let at = sys::map_memory(length, protection, flags, -1, 0);
        let what = "memory to share with the threads that watch";
        Ok(SharedWords {
            words: at.map_err(sys::failure_of(what))?.cast(),
        })
    }

    fn words(&self) -> &[AtomicU32; 2] {
        // SAFETY: the mapping is large enough, starts at a page, holds zeroes, which
        // are valid, and is never unmapped.
        unsafe { &*self.words }
    }

    /// Counts one more watching process.
    pub(super) fn begin(&self) {
        self.words()[0].fetch_add(1, Ordering::Relaxed);
    }

    /// How many processes watch.
    pub(super) fn begun(&self) -> u32 {
        self.words()[0].load(Ordering::Relaxed)
    }

    /// Asks all processes to stop watching.
    pub(super) fn end(&self) {
        self.words()[1].store(1, Ordering::Relaxed);
    }

    /// Whether [`SharedWords::end`] was called.
    #[inline]
    pub(super) fn ended(&self) -> bool {
        self.words()[1].load(Ordering::Relaxed) != 0
    }
}
