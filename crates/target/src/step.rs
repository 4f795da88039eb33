//! What a target does that may take long, while it gets ready.

use std::fmt;

/// One step of getting ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The modules of the testbed are built for this kernel.
    Modules {
        /// Its name.
        kernel: String,
    },
    /// An initramfs is packed for this kernel.
    Initramfs {
        /// Its name.
        kernel: String,
    },
    /// A machine with this kernel boots, of which a memory image is kept.
    Boot {
        /// The name of the kernel.
        kernel: String,
        /// Which of the machines that have to boot, from 1.
        number: usize,
        /// How many have to.
        of: usize,
    },
    /// Another host is asked what it is, and gets what it lacks.
    Host {
        /// How it was named.
        host: String,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Modules { kernel } => {
                write!(f, "building the testbed's modules for {kernel}")
            }
            Step::Initramfs { kernel } => write!(f, "packing the initramfs for {kernel}"),
            Step::Boot { kernel, number, of } => write!(f, "booting {kernel}, {number} of {of}"),
            Step::Host { host } => write!(f, "making {host} ready"),
        }
    }
}

/// Gets to know of steps before they begin, on whatever thread.
pub type Tell<'a> = dyn Fn(Step) + Sync + 'a;
