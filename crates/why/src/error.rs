//! Errors in the input texts.

/// Why an input cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A line cannot be parsed.
    #[error("{text}, line {line}: {why}")]
    Line {
        /// The name of the text: `counts`.
        text: &'static str,
        /// The line number, starting at 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// The kernel lacks something that is needed.
    #[error("the kernel does not provide {what}; use one {mend}")]
    Missing {
        /// What it lacks: `the symbol __switch_to`.
        what: String,
        /// The kernel to use instead, as the end of `use one …`.
        mend: &'static str,
    },
    /// The entries of too many functions are to be counted.
    #[error("entries of at most {most} functions can be counted at once; ask about fewer")]
    Probes {
        /// How many can be counted.
        most: usize,
    },
    /// The call trees do not add up to the counts.
    #[error(
        "{thread} executed {counted} instructions of {function}, and the call trees hold {here} of \
         them"
    )]
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
    #[error("{}", no_caches(*.0))]
    Caches(Option<u64>),
    /// The kernel's BTF type information is damaged.
    #[error("the kernel's types (BTF): {0}")]
    Types(&'static str),
}

fn no_caches(unplaced: Option<u64>) -> String {
    match unplaced {
        None => "the plugin wrote no counts of caches".into(),
        Some(unplaced) => format!(
            "the RAM addresses of {unplaced} accesses are not known, so no cache can be modelled"
        ),
    }
}
