//! Applies the random choices of a memory image.

use std::hint::black_box;
use std::io;

use assize_job::MemoryImage;

use crate::process;

/// Environment variable set for every program that the agent starts; its length shifts
/// their stacks.
const PADDING: &str = "ASSIZE_PADDING";
/// Minimum number of stack bytes per step of [`call_on_deeper_stack`].
const STEP: u32 = 64;

/// Starts and reaps the number of processes drawn for the image, and pads the environment
/// of all later ones.
pub(super) fn age_processes(image: &MemoryImage) -> io::Result<()> {
    if image.padding > 0 {
        let padding = "x".repeat(usize::try_from(image.padding).unwrap_or_default());
        // SAFETY: this process has one thread.
        unsafe { std::env::set_var(PADDING, padding) };
    }
    process::start_and_reap(image.processes)
}

/// Calls `then` on a stack that is about `padding` bytes deeper. Processes forked in it
/// inherit that stack.
#[inline(never)]
pub(super) fn call_on_deeper_stack(padding: u32, then: &mut dyn FnMut()) {
    let space = [0_u8; STEP as usize];
    black_box(&space);
    match padding.checked_sub(STEP) {
        Some(rest) => call_on_deeper_stack(rest, then),
        None => then(),
    }
    black_box(&space);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_padding_is_a_deeper_stack_and_the_same_padding_the_same() {
        let at = |padding| {
            let mut place = 0;
            call_on_deeper_stack(padding, &mut || {
                let here = 0_u8;
                place = std::ptr::from_ref(black_box(&here)).addr();
            });
            place
        };
        assert_eq!(at(640), at(640));
        assert!(at(0) >= at(640) + 640, "{} {}", at(0), at(640));
    }
}
