//! Marks for an observer outside the virtual machine: instructions without effect for the
//! machine, which take one nanosecond each.
//!
//! The plugin in `qemu/plugin/` recognises them by the displacement of a NOP.

/// Marks the beginning, right after the instruments were started.
pub(crate) fn begin() {
    mark::<0x6173_7a01>();
}

/// Marks the end, right before the instruments are stopped.
pub(crate) fn end() {
    mark::<0x6173_7a02>();
}

/// Reads the clock, for the plugin to compare with its own count, and executes
/// a NOP with this displacement.
#[inline(always)]
fn mark<const WHICH: i32>() {
    // SAFETY: RDTSC has no effect but its result, and a NOP none at all.
    unsafe {
        std::arch::asm!(
            "rdtsc",
            ".byte 0x0f, 0x1f, 0x84, 0x00",
            ".long {which}",
            which = const WHICH,
            out("eax") _,
            out("edx") _,
            options(nostack, nomem, preserves_flags),
        );
    }
}

/// Passes a text and its number to the plugin. Does nothing without a plugin.
pub(crate) fn pass_text(number: u64, text: &[u8]) {
    // SAFETY: a NOP has no effect. The plugin reads only the slice.
    unsafe {
        std::arch::asm!(
            ".byte 0x0f, 0x1f, 0x84, 0x00",
            ".long 0x61737a03",
            in("rdi") number,
            in("rsi") text.as_ptr(),
            in("rdx") text.len(),
            options(nostack, readonly, preserves_flags),
        );
    }
}

/// Passes the kernel's symbol table (number 0) and its type information (number
/// 1) to the plugin. Files that cannot be read are skipped.
pub(crate) fn pass_symbols() {
    for (number, path) in (0..).zip(["/proc/kallsyms", "/sys/kernel/btf/vmlinux"]) {
        if let Ok(text) = std::fs::read(path) {
            pass_text(number, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_changes_nothing() {
        let text = *b"kept";
        begin();
        pass_text(7, &text);
        end();
        assert_eq!(&text, b"kept");
    }
}
