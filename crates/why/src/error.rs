//! What can be wrong with what is read.

/// Why a text cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A line of a text is not understood.
    Line {
        /// Which text: `counts`.
        text: &'static str,
        /// The line's number, from 1.
        line: usize,
        /// Why.
        why: String,
    },
    /// The kernel does not say something that is needed.
    Missing {
        /// What: `the symbol __switch_to`.
        what: String,
        /// What is true of kernels that say it.
        mend: &'static str,
    },
    /// The call trees do not hold what was counted.
    Trees {
        /// The thread.
        thread: String,
        /// The function.
        function: String,
        /// Its instructions in that thread.
        counted: u64,
        /// Those in the trees.
        here: u64,
    },
    /// A model of caches was asked for, and there is none, or so many accesses
    /// could not be placed in it.
    Caches(Option<u64>),
    /// The types of the kernel are damaged.
    Types(&'static str),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Line { text, line, why } => write!(f, "{text}, line {line}: {why}"),
            Error::Missing { what, mend } => {
                write!(f, "the kernel does not provide {what}; use one {mend}")
            }
            Error::Trees {
                thread,
                function,
                counted,
                here,
            } => write!(
                f,
                "{thread} executed {counted} instructions of {function}, and the call trees hold \
                 {here} of them"
            ),
            Error::Caches(None) => write!(f, "the plugin wrote nothing of caches"),
            Error::Caches(Some(unplaced)) => write!(
                f,
                "of {unplaced} accesses it is not known where in RAM they are, so that no cache \
                 can be modelled"
            ),
            Error::Types(why) => write!(f, "the kernel's types (BTF): {why}"),
        }
    }
}

impl std::error::Error for Error {}
