//! The debug kernels, the reports that each must print, and the tests to run on it.

/// A kind of debug kernel; its configuration is `base.config` and
/// `NAME.config` in `kernel/debug/`.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Whether it can find leaked memory.
    pub(super) leaks: bool,
    /// Whether only reports about our modules count: races are reported wherever they are, and the
    /// kernel has some.
    pub(super) others: bool,
    /// Planted bugs, each with words of the report that it must cause.
    pub(super) planted: &'static [(&'static str, &'static str)],
}

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "kasan",
        leaks: true,
        others: false,
        planted: &[
            (
                "alloc-while-signalling",
                "possible circular locking dependency",
            ),
            ("signal-unsafe-lock", "inconsistent lock state"),
            ("lock-inversion", "possible circular locking dependency"),
            ("raw-lock-nesting", "[ BUG: Invalid wait context ]"),
            (
                "sleep-in-atomic",
                "sleeping function called from invalid context",
            ),
            ("use-after-free", "KASAN: slab-use-after-free in planted"),
            ("out-of-bounds", "KASAN: slab-out-of-bounds in planted"),
            ("leak", LEAK),
            ("list-corruption", "__list_add_valid_or_report"),
            ("free-armed-timer", "ODEBUG: free active"),
            ("array-index", "UBSAN: array-index-out-of-bounds"),
        ],
    },
    Kind {
        name: "kcsan",
        leaks: false,
        others: true,
        planted: &[
            (
                "alloc-while-signalling",
                "possible circular locking dependency",
            ),
            ("signal-unsafe-lock", "inconsistent lock state"),
            ("raw-lock-nesting", "[ BUG: Invalid wait context ]"),
            (
                "sleep-in-atomic",
                "sleeping function called from invalid context",
            ),
            ("data-race", "KCSAN: data-race in planted"),
        ],
    },
];

/// Stands for unreferenced memory, of which there is no message.
pub(super) const LEAK: &str = "leaked memory";

/// A program with arguments, run with all modules loaded.
pub(super) struct Test {
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    pub(super) arguments: &'static [&'static str],
    /// Whether some of its allocations fail on purpose.
    pub(super) failslab: bool,
    /// The kinds of kernels on which it runs; empty for all.
    pub(super) kinds: &'static [&'static str],
}

/// Modules loaded before each test, in this order, and removed after it in reverse order.
pub(super) const MODULES: &[&str] = &["depq", "depq_test", "simgpu"];

/// The suite on slow kernels: repetitions in percent, and the stride through the designs.
pub(super) const SCALE: u32 = 20;
pub(super) const STRIDE: u32 = 7;

pub(super) const TESTS: &[Test] = &[
    Test {
        name: "suite",
        program: "depq_test_run",
        arguments: &[],
        failslab: false,
        kinds: &[],
    },
    Test {
        name: "uapi",
        program: "simgpu_uapi",
        arguments: &[],
        failslab: false,
        kinds: &[],
    },
    Test {
        name: "fuzz",
        program: "simgpu_fuzz",
        arguments: &["1", "20000", "4"],
        failslab: false,
        kinds: &[],
    },
    Test {
        name: "fuzz-failslab",
        program: "simgpu_fuzz",
        arguments: &["2", "20000", "4"],
        failslab: true,
        kinds: &["kasan"],
    },
    Test {
        name: "graphs",
        program: "simgpu_graphs",
        arguments: &["1", "20"],
        failslab: false,
        kinds: &[],
    },
    Test {
        name: "failnth",
        program: "simgpu_failnth",
        arguments: &["7"],
        failslab: false,
        kinds: &["kasan"],
    },
];

impl Test {
    /// Whether the test applies to this kind.
    pub(super) fn is_for(&self, kind: &Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::tree;

    #[test]
    fn every_planted_bug_is_one_of_the_module_and_every_one_of_it_is_planted() {
        let text = tree::read("kernel/debug/planted/main.c").unwrap().unwrap();
        let listed: Vec<&str> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("{ \"")?.split('"').next())
            .filter(|name| *name != "none")
            .collect();
        let planted = || KINDS.iter().flat_map(|kind| kind.planted);
        assert!(!listed.is_empty());
        for (bug, _) in planted() {
            assert!(listed.contains(bug), "{bug} is not in main.c");
        }
        for bug in listed {
            assert!(planted().any(|(known, _)| *known == bug), "{bug}");
        }
    }

    #[test]
    fn every_kind_has_its_configuration() {
        for kind in KINDS {
            let name = format!("kernel/debug/{}.config", kind.name);
            let text = tree::read(&name).unwrap().unwrap();
            let version = format!("CONFIG_LOCALVERSION=\"-{}\"", kind.name);
            assert!(text.contains(&version), "{name}: no {version}");
        }
    }

    #[test]
    fn tests_name_kinds_that_there_are() {
        for test in TESTS {
            for name in test.kinds {
                assert!(KINDS.iter().any(|kind| kind.name == *name), "{name}");
            }
        }
    }
}
