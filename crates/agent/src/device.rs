//! Opens the devices of assize's own modules, and issues ioctls.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::mem::size_of;
use std::os::fd::AsRawFd;

use crate::sys::{self, check};

/// Opens the device of a module.
pub(crate) fn open(path: &str, module: &str) -> Result<File, String> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(|error| {
        let why = sys::error_text(&error);
        match error.kind() {
            ErrorKind::NotFound => {
                format!("{path}: {why}; load the module: [[setup]] module = \"{module}\"")
            }
            _ => format!("{path}: {why}"),
        }
    })
}

/// `_IOWR`: the number of an ioctl that reads and writes a `T`.
pub(crate) const fn iowr<T>(kind: u32, nr: u32) -> u32 {
    const READ_AND_WRITE: u32 = 3;
    READ_AND_WRITE << 30 | (size_of::<T>() as u32) << 16 | kind << 8 | nr
}

/// Issues an ioctl; repeats it if a signal interrupts it.
///
/// # Safety
///
/// The kernel reads and writes a `T` for this number, and may use the addresses and
/// lengths in it.
pub(crate) unsafe fn ioctl<T>(device: &File, number: u32, argument: &mut T) -> io::Result<()> {
    loop {
        // SAFETY: the caller vouches for the argument, which outlives the call.
        let done = check(unsafe {
            libc::ioctl(
                device.as_raw_fd(),
                libc::c_ulong::from(number),
                std::ptr::from_mut(argument),
            )
        });
        match done {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other.map(|_| ()),
        }
    }
}
