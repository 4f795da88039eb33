//! Marks that a machine can be watched by from outside, and that it does not
//! notice: instructions without any effect but the one nanosecond each takes.
//!
//! The plugin in `qemu/plugin/` knows them by the displacement of a NOP.

/// Right after the instruments were started.
pub(crate) fn begin() {
    mark::<0x6173_7a01>();
}

/// Right before they are stopped.
pub(crate) fn end() {
    mark::<0x6173_7a02>();
}

/// Reads the clock, which the plugin compares with what it has counted, and
/// executes a NOP with this displacement.
#[cfg(target_arch = "x86_64")]
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

/// Gives a text away under a number. Whoever does not watch does not get it.
#[cfg(target_arch = "x86_64")]
pub(crate) fn give(number: u64, text: &[u8]) {
    // SAFETY: a NOP has no effect. Whoever watches reads only the slice.
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

/// No machine but x86 is exact.
#[cfg(not(target_arch = "x86_64"))]
fn mark<const WHICH: i32>() {}

/// Likewise.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn give(_number: u64, _text: &[u8]) {}

/// What the kernel has at which address, and how its structures lie, both as
/// the kernel says: the texts that a plugin needs, under the numbers 0 and 1.
/// Whatever cannot be read is not given.
pub(crate) fn give_symbols() {
    for (number, path) in (0..).zip(["/proc/kallsyms", "/sys/kernel/btf/vmlinux"]) {
        if let Ok(text) = std::fs::read(path) {
            give(number, &text);
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
        give(7, &text);
        end();
        assert_eq!(&text, b"kept");
    }
}
