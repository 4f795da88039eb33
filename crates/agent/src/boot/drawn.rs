//! Making the machine that was drawn for its memory image.

use std::hint::black_box;
use std::io;

use assize_job::Image;

use crate::process;

/// The variable of every program here that moves its stack.
const PADDING: &str = "ASSIZE_PADDING";
/// Bytes of stack that one step of [`deeper`] takes at least.
const STEP: u32 = 64;

/// Has as many processes come and go as were drawn, and pads the environment of
/// those to come.
pub(super) fn age(image: &Image) -> io::Result<()> {
    if image.padding > 0 {
        let padding = "x".repeat(usize::try_from(image.padding).unwrap_or_default());
        // SAFETY: this process has one thread.
        unsafe { std::env::set_var(PADDING, padding) };
    }
    process::come_and_go(image.processes)
}

/// Does something on a stack that is about this many bytes deeper, and with it
/// everything that is forked meanwhile.
#[inline(never)]
pub(super) fn deeper(padding: u32, then: &mut dyn FnMut()) {
    let space = [0_u8; STEP as usize];
    black_box(&space);
    match padding.checked_sub(STEP) {
        Some(rest) => deeper(rest, then),
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
            deeper(padding, &mut || {
                let here = 0_u8;
                place = std::ptr::from_ref(black_box(&here)).addr();
            });
            place
        };
        assert_eq!(at(640), at(640));
        assert!(at(0) >= at(640) + 640, "{} {}", at(0), at(640));
    }
}
