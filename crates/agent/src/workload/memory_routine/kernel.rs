//! Calls routines in the kernel, through the module copybench.

use std::fs::File;
use std::io;

use assize_job::{MemoryRoutine, Routine};

use super::super::memory::Mapping;
use crate::device::{self, iowr};
use crate::sys;

const PATH: &str = "/dev/copybench";
/// The supported version of the interface.
const VERSION: u32 = 1;
/// Offset at which to map the memory to write to.
const MAP_TO: u64 = 0x4000_0000;
/// Maximum size of each memory, in bytes.
const MEMORY_MAX: usize = 2 << 20;
/// Number of the routine that does nothing.
const NOTHING: u32 = 0;

/// `struct copybench_batch` of `kernel/uapi/copybench.h`, which documents it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CopybenchBatch {
    pub(super) version: u32,
    pub(super) routine: u32,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) length: u32,
    pub(super) calls: u32,
    pub(super) places: u32,
    pub(super) apart: u32,
    pub(super) first: u32,
    pub(super) step: u32,
    pub(super) ticks: u64,
    pub(super) left: u64,
    pub(super) sum: u32,
    pub(super) pad: u32,
}

const BATCH: u32 = iowr::<CopybenchBatch>('B' as u32, 0x60);

/// A routine of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KernelRoutine {
    /// Its number in the module.
    pub(super) number: u32,
    /// Whether it reads the process's memory.
    pub(super) from_user: bool,
    /// Whether it writes the process's memory.
    pub(super) to_user: bool,
    /// The result of a call.
    pub(super) makes: CallProduct,
    /// The behaviour at a fault.
    pub(super) fault: FaultAction,
}

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallProduct {
    /// A copy of the source.
    Copy,
    /// Zeroes.
    Zeroes,
    /// A sum.
    Sum,
    /// A copy of the source, and its sum.
    CopyAndSum,
}

/// The behaviour of a routine at a fault on memory of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultAction {
    /// Stops after the last accessible byte, and returns how many are left.
    Exact,
    /// Like `Exact`, and zeroes what it did not copy.
    ExactThenZeroes,
    /// Gives up at a word of 8 bytes that is not wholly accessible.
    Word,
}

impl CallProduct {
    /// Whether it produces a sum.
    pub(super) fn sums(self) -> bool {
        matches!(self, CallProduct::Sum | CallProduct::CopyAndSum)
    }
}

/// The module's version of a routine, if it has one.
pub(super) fn in_kernel(routine: Routine) -> Option<KernelRoutine> {
    let copy = |number| KernelRoutine {
        number,
        from_user: false,
        to_user: false,
        makes: CallProduct::Copy,
        fault: FaultAction::Exact,
    };
    let from_user = |number, fault| KernelRoutine {
        from_user: true,
        fault,
        ..copy(number)
    };
    let to_user = |number, makes| KernelRoutine {
        to_user: true,
        makes,
        ..copy(number)
    };
    let makes = |number, makes| KernelRoutine {
        makes,
        ..copy(number)
    };
    Some(match routine {
        Routine::CopyFromUser => from_user(1, FaultAction::ExactThenZeroes),
        Routine::CopyFromUserUnchecked => from_user(2, FaultAction::Exact),
        Routine::CopyFromUserNontemporal => from_user(3, FaultAction::Word),
        Routine::CopyToUser => to_user(4, CallProduct::Copy),
        Routine::ClearUser => to_user(5, CallProduct::Zeroes),
        Routine::Memcpy => copy(6),
        Routine::Memset => makes(7, CallProduct::Zeroes),
        Routine::CsumPartial => makes(8, CallProduct::Sum),
        Routine::CsumPartialCopy => makes(9, CallProduct::CopyAndSum),
        Routine::RepMovsAlternative => copy(10),
        Routine::RepMovsb => copy(11),
        Routine::RepMovsq => copy(12),
        Routine::Unrolled64 => copy(13),
        Routine::Unrolled32 => copy(14),
        Routine::Movnti => copy(15),
        Routine::Sse2 => copy(16),
        Routine::Movntdq => copy(17),
        _ => return None,
    })
}

/// The open device. Its memory exists as long as its mappings.
#[derive(Debug)]
pub(super) struct CopybenchDevice(File);

impl CopybenchDevice {
    /// Opens the device.
    pub(super) fn open() -> Result<CopybenchDevice, String> {
        device::open(PATH, MemoryRoutine::MODULE).map(CopybenchDevice)
    }

    /// Maps the kernel's memory to read from or, if `written`, to write to. Each can be
    /// mapped once.
    pub(super) fn memory(&self, written: bool, length: usize) -> Result<Mapping, String> {
        if length > MEMORY_MAX {
            return Err(format!(
                "{PATH}: {length} bytes, and it has {MEMORY_MAX} at most"
            ));
        }
        let offset = if written { MAP_TO } else { 0 };
        Mapping::file(&self.0, length, offset).map_err(|error| {
            format!(
                "{PATH}: {length} bytes of memory: {}",
                sys::error_text(&error)
            )
        })
    }

    /// Makes the kernel carry out a batch of calls.
    ///
    /// # Safety
    ///
    /// Its addresses are of memory of the process that the routine may read or write, or
    /// that is not accessible at all.
    pub(super) unsafe fn call(&self, batch: &mut CopybenchBatch) -> Result<(), String> {
        batch.version = VERSION;
        // SAFETY: the struct is that of the number, and the caller vouches for the
        // addresses.
        let done = unsafe { device::ioctl(&self.0, BATCH, batch) };
        done.map_err(|error| failed(&error))
    }
}

/// The message of a failed call.
fn failed(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPROTONOSUPPORT) => format!(
            "{PATH}: its interface is not version {VERSION}; use the module that came with assize"
        ),
        Some(libc::EOPNOTSUPP) => {
            format!("{PATH}: this kernel does not have the routine; use another one")
        }
        _ => format!("{PATH}: {}", sys::error_text(error)),
    }
}

/// Replaces the calls of a batch by calls that do nothing.
pub(super) fn empty_batch(batch: CopybenchBatch) -> CopybenchBatch {
    CopybenchBatch {
        routine: NOTHING,
        ..batch
    }
}

#[cfg(test)]
mod tests {
    use assize_job::CpuMode;

    use super::*;
    use crate::layout::{ExpectedLayout, check_header, structs};

    #[test]
    fn structs_and_numbers_are_those_of_the_header() {
        let mut expected = ExpectedLayout::default();
        structs! { expected; self;
            CopybenchBatch "copybench_batch" {
                version, routine, from, to, length, calls, places, apart, first, step, ticks,
                left, sum, pad,
            }
        }
        for (c, value) in [
            ("COPYBENCH_VERSION", u64::from(VERSION)),
            ("COPYBENCH_MAP_TO", MAP_TO),
            ("COPYBENCH_MEMORY_MAX", MEMORY_MAX as u64),
            ("COPYBENCH_WORK_MAX", MemoryRoutine::KERNEL_BATCH_MAX),
            ("COPYBENCH_NOTHING", u64::from(NOTHING)),
            ("COPYBENCH_IOC_BATCH", u64::from(BATCH)),
        ] {
            expected.value(c, value);
        }
        let mut numbers = vec![NOTHING];
        for routine in Routine::ALL {
            let Some(one) = in_kernel(routine) else {
                continue;
            };
            let word = serde_json::to_value(routine).unwrap();
            let name = word.as_str().unwrap().to_uppercase().replace('-', "_");
            expected.value(&format!("COPYBENCH_{name}"), u64::from(one.number));
            numbers.push(one.number);
        }
        expected.value("COPYBENCH_ROUTINES", numbers.len() as u64);
        check_header("copybench.h", &expected);
    }

    #[test]
    fn the_module_has_what_may_be_asked_for_in_the_kernel() {
        for routine in Routine::ALL {
            let found = in_kernel(routine);
            assert_eq!(
                found.is_some(),
                routine.is_in(CpuMode::Kernel),
                "{routine:?}"
            );
            let Some(found) = found else { continue };
            assert_eq!(
                found.makes != CallProduct::Zeroes,
                routine.reads(),
                "{routine:?}"
            );
            assert_eq!(
                found.makes != CallProduct::Sum,
                routine.writes(),
                "{routine:?}"
            );
        }
    }
}
