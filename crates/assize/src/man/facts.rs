//! The facts of manual pages that the command line's descriptors lack.

/// Exit status, files and examples of a verb.
pub(super) struct VerbFacts {
    pub(super) verb: &'static str,
    /// When status 1 is returned; empty if never.
    pub(super) finding: &'static str,
    /// Files that the verb writes, each with a description.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Example commands, each with a description.
    pub(super) examples: &'static [(&'static str, &'static str)],
}

const FOUND: &str = "A claim was refuted, or a condition of --fail-on was met.";
const BUNDLE: (&str, &str) = (
    "EXPERIMENT.bundle",
    "The default directory for records; if it exists, -2, -3, … is added to the name.",
);

pub(super) const VERBS: &[VerbFacts] = &[
    VerbFacts {
        verb: "run",
        finding: FOUND,
        files: &[BUNDLE],
        examples: &[
            (
                "assize run experiments/tour/dep-queue.toml",
                "Run an experiment and judge it.",
            ),
            (
                "assize run --resume dep-queue.bundle",
                "Continue an interrupted experiment.",
            ),
            (
                "assize run --format mail -o mail.txt x.toml",
                "Write the verdict as a mail.",
            ),
        ],
    },
    VerbFacts {
        verb: "try",
        finding: "The condition of --fail-on was met.",
        files: &[("try.bundle", "The default directory for records.")],
        examples: &[
            (
                "assize try",
                "Find out what the last commit of this tree does.",
            ),
            (
                "assize try --each v6.12..HEAD",
                "Test each commit of a range separately.",
            ),
            (
                "assize try --patch mail.txt --base debian:6.12",
                "Try a posted patch without a git tree.",
            ),
        ],
    },
    VerbFacts {
        verb: "bisect",
        finding: "No commit of the range could be named as the cause.",
        files: &[],
        examples: &[(
            "assize bisect v6.12..HEAD --claim 'new > old + 3% on elapsed'",
            "Find the commit that made the workload more than 3 % slower.",
        )],
    },
    VerbFacts {
        verb: "plan",
        finding: "",
        files: &[],
        examples: &[
            (
                "assize plan x.toml",
                "Show what would run, and which effects would be found.",
            ),
            (
                "assize plan -o plan.json x.toml",
                "Write the plan to a file, for assize run-one.",
            ),
        ],
    },
    VerbFacts {
        verb: "run-one",
        finding: "",
        files: &[],
        examples: &[(
            "assize run-one plan.json --index 3 --out part.bundle",
            "Execute one run of a plan.",
        )],
    },
    VerbFacts {
        verb: "merge",
        finding: "",
        files: &[],
        examples: &[(
            "assize merge a.bundle b.bundle --out all.bundle",
            "Merge the parts of an experiment.",
        )],
    },
    VerbFacts {
        verb: "audit",
        finding: FOUND,
        files: &[],
        examples: &[
            (
                "assize audit mail.txt",
                "Say what the numbers of a mail support.",
            ),
            (
                "assize audit mail.txt --claim 'new < old on elapsed'",
                "Test a claim on its figures.",
            ),
            (
                "assize audit old.txt new.txt",
                "Compare two files of results.",
            ),
        ],
    },
    VerbFacts {
        verb: "compare",
        finding: FOUND,
        files: &[(
            "compare.bundle",
            "The default directory for records of commands.",
        )],
        examples: &[
            (
                "assize compare 'make -j1' 'make -j2'",
                "Run two commands in turn and compare them.",
            ),
            (
                "assize compare -w 3 -r 20 -p 'make clean' make 'make CC=clang'",
                "Compare with warm-up runs, and with a command before each run.",
            ),
            (
                "assize compare x.bundle --claim 'new < old on elapsed'",
                "Judge recorded runs again.",
            ),
        ],
    },
    VerbFacts {
        verb: "report",
        finding: FOUND,
        files: &[],
        examples: &[
            ("assize report x.bundle", "Show the answer in 25 lines."),
            (
                "assize report x.bundle --format html -o x.html",
                "Write a page with plots.",
            ),
        ],
    },
    VerbFacts {
        verb: "index",
        finding: "",
        files: &[(
            "index.html",
            "The default name of the page, in the directory.",
        )],
        examples: &[(
            "assize index results",
            "Write a page that lists all bundles below results.",
        )],
    },
    VerbFacts {
        verb: "trend",
        finding: "",
        files: &[],
        examples: &[(
            "assize trend nights",
            "Find the bundle below nights/ at which a metric changed.",
        )],
    },
    VerbFacts {
        verb: "trace",
        finding: "",
        files: &[],
        examples: &[
            (
                "assize trace x.bundle 3 -o run3.pftrace",
                "Write a trace of run 3 for Perfetto.",
            ),
            (
                "assize trace x.bundle 3 --split",
                "Split the latency of the jobs of run 3 by stage.",
            ),
        ],
    },
    VerbFacts {
        verb: "why",
        finding: "",
        files: &[],
        examples: &[(
            "assize why x.bundle old new --tree --format html -o why.html",
            "Write a page with a differential flame graph.",
        )],
    },
    VerbFacts {
        verb: "debug",
        finding: "gdb wrote memory or registers, or the result is not as recorded.",
        files: &[],
        examples: &[
            (
                "assize debug x.bundle 3 --at drm_sched_run_job_work:7",
                "Stop run 3 at the 7th call of a function.",
            ),
            (
                "assize debug x.bundle 3 --at 81.204ms -- -batch -x script.gdb",
                "Execute a gdb script at 81.204 ms.",
            ),
            (
                "assize debug x.bundle 3 --at worst -- -ex 'watch *(int *)&panic_timeout' -ex reverse-continue",
                "Go back to the last instruction that wrote a variable.",
            ),
        ],
    },
    VerbFacts {
        verb: "when",
        finding: "",
        files: &[],
        examples: &[
            (
                "assize when x.bundle 3 --keep",
                "Find when the worst sample of run 3 became certain; the report shows it.",
            ),
            (
                "assize when x.bundle 3 --bad 'elapsed > 2s'",
                "Find when it became certain that run 3 would take more than 2 s.",
            ),
        ],
    },
    VerbFacts {
        verb: "hunt",
        finding: "",
        files: &[(
            "EXPERIMENT.hunt",
            "The default directory, with hunt.json, failures.bundle and journal.jsonl.",
        )],
        examples: &[
            (
                "assize hunt --module ./broken.ko --against ./fixed.ko -- ./reproducer",
                "Find the interleavings under which a program fails, and whether a fix helps.",
            ),
            (
                "assize hunt jobs.toml --until hang --for 10m",
                "Look for ten minutes for schedules under which an experiment hangs.",
            ),
        ],
    },
    VerbFacts {
        verb: "doctor",
        finding: "",
        files: &[],
        examples: &[("assize doctor", "Show what this machine can measure.")],
    },
    VerbFacts {
        verb: "list",
        finding: "",
        files: &[],
        examples: &[("assize list workloads", "List the workloads.")],
    },
    VerbFacts {
        verb: "kernel",
        finding: "kernel config --check found that a needed option is missing.",
        files: &[],
        examples: &[
            (
                "assize kernel fetch --headers debian:6.12",
                "Fetch a kernel and its headers.",
            ),
            (
                "make -C $(assize kernel headers debian:6.12) M=$PWD modules",
                "Build a module for it.",
            ),
        ],
    },
];
