//! The steps of a target's preparation that may take long.

use std::fmt;

/// One step of the preparation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreparationStep {
    /// Building the testbed's modules for a kernel.
    Modules {
        /// The name of the kernel.
        kernel: String,
    },
    /// Packing an initramfs for a kernel.
    Initramfs {
        /// The name of the kernel.
        kernel: String,
    },
    /// Booting a machine with this kernel for a memory image.
    Boot {
        /// The name of the kernel.
        kernel: String,
        /// The number of this boot, from 1.
        number: usize,
        /// The number of boots in all.
        of: usize,
    },
    /// Querying another host and copying what it lacks.
    Host {
        /// The host as the user named it.
        host: String,
    },
}

impl fmt::Display for PreparationStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreparationStep::Modules { kernel } => {
                write!(f, "building the testbed's modules for {kernel}")
            }
            PreparationStep::Initramfs { kernel } => {
                write!(f, "packing the initramfs for {kernel}")
            }
            PreparationStep::Boot { kernel, number, of } => {
                write!(f, "booting {kernel}, {number} of {of}")
            }
            PreparationStep::Host { host } => write!(f, "making {host} ready"),
        }
    }
}

/// Callback that is called, on any thread, before a step begins.
pub type ReportStep<'a> = dyn Fn(PreparationStep) + Sync + 'a;
