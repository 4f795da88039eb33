//! Errors in the input texts.

/// Why an input cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A line cannot be parsed.
    Line {
        /// The name of the text: `counts`.
        text: &'static str,
        /// The line number, starting at 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// The kernel lacks something that is needed.
    Missing {
        /// What it lacks: `the symbol __switch_to`.
        what: String,
        /// Which kernel to use instead, as the end of `use one …`.
        mend: &'static str,
    },
    /// The call trees do not add up to the counts.
    Trees {
        /// The thread.
        thread: String,
        /// The function.
        function: String,
        /// The counted instructions of the function in the thread.
        counted: u64,
        /// The instructions in the trees.
        here: u64,
    },
    /// A cache model was requested but the plugin wrote none (`None`), or this many
    /// accesses had no known physical address.
    Caches(Option<u64>),
    /// The kernel's BTF type information is damaged.
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
                "the RAM addresses of {unplaced} accesses are not known, so no cache can be \
                 modelled"
            ),
            Error::Types(why) => write!(f, "the kernel's types (BTF): {why}"),
        }
    }
}

impl std::error::Error for Error {}
