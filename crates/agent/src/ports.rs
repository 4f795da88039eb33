//! Port I/O, for process 1 of a virtual machine.

use std::arch::asm;
use std::io;

use crate::sys;

/// QEMU's debug console.
const DEBUG_CONSOLE: u16 = 0xE9;
/// QEMU's isa-debug-exit.
const EXIT: u16 = 0xF4;
const AN_HOUR_NS: u64 = 3600 * 1_000_000_000;
/// QEMU's pvpanic, which stops the machine.
const STOP: u16 = 0x505;
/// Selects an item of fw_cfg.
pub(crate) const FW_CFG_SELECT: u16 = 0x510;
/// Reads the selected item.
pub(crate) const FW_CFG_DATA: u16 = 0x511;

/// Permission to use I/O ports, without which accesses fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports(());

impl Ports {
    /// Requests the permission.
    pub(crate) fn open() -> io::Result<Ports> {
        // SAFETY: no memory is passed.
        sys::check(unsafe { libc::iopl(3) })?;
        Ok(Ports(()))
    }

    /// Gives up the permission; called in a child.
    pub(crate) fn close() {
        // SAFETY: no memory is passed. Nothing in the child uses ports.
        unsafe { libc::iopl(0) };
    }

    /// Writes bytes to the debug console.
    pub(crate) fn write_console(self, bytes: &[u8]) {
        // SAFETY: the kernel has permitted ports; only the slice is read.
        unsafe {
            asm!("rep outsb", in("dx") DEBUG_CONSOLE, inout("rsi") bytes.as_ptr() => _,
                inout("rcx") bytes.len() => _, options(nostack, readonly));
        }
    }

    /// Reads bytes from a port, one at a time.
    pub(crate) fn read(self, port: u16, bytes: &mut [u8]) {
        // SAFETY: the kernel has permitted ports; only the slice is written.
        unsafe {
            asm!("rep insb", in("dx") port, inout("rdi") bytes.as_mut_ptr() => _,
                inout("rcx") bytes.len() => _, options(nostack));
        }
    }

    /// Writes 16 bits to a port.
    pub(crate) fn write_16(self, port: u16, value: u16) {
        // SAFETY: the kernel has permitted ports; no memory is touched.
        unsafe { asm!("out dx, ax", in("dx") port, in("ax") value, options(nostack, nomem)) };
    }

    /// Ends the machine. Does not return: QEMU takes a moment to stop, and the kernel
    /// would panic if process 1 ended meanwhile.
    pub(crate) fn exit(self, code: u32) -> ! {
        // SAFETY: the kernel has permitted ports; no memory is touched.
        unsafe { asm!("out dx, eax", in("dx") EXIT, in("eax") code, options(nostack, nomem)) };
        loop {
            sys::sleep_until(sys::now() + AN_HOUR_NS);
        }
    }

    /// Stops the machine so that its memory image can be taken. Returns the nanoseconds
    /// by which its clock advanced meanwhile: the time of a few instructions, unless time
    /// leaked in. Both readings are in one asm block, so that the instructions between
    /// them are always the same.
    pub(crate) fn stop_for_image(self) -> u64 {
        let (low_before, high_before, low, high): (u32, u32, u32, u32);
        // SAFETY: the kernel has permitted ports; no memory is touched.
        unsafe {
            asm!(
                "rdtsc",
                "mov {low_before:e}, eax",
                "mov {high_before:e}, edx",
                "mov edx, {stop}",
                "mov eax, 1",
                "out dx, al",
                "rdtsc",
                low_before = out(reg) low_before,
                high_before = out(reg) high_before,
                stop = const STOP,
                out("eax") low,
                out("edx") high,
                options(nostack),
            );
        }
        let join = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        join(high, low).wrapping_sub(join(high_before, low_before))
    }
}
