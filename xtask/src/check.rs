//! Everything that must pass before a commit.

use crate::Error;
use crate::command::{cargo, command, run as run_command, works};
use crate::steps::{Done, Step, take_all};
use crate::{
    agent, corpus, deny, docs, exact_soak, kernel_tests, kmod, lab, oracle, spelling, test, tidy,
    trials, validity,
};

const STEPS: &[Step] = &[
    Step {
        name: "format",
        run: format,
    },
    Step {
        name: "tidy",
        run: tidy::step,
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "docs",
        run: docs::step,
    },
    Step {
        name: "deny",
        run: deny::rules,
    },
    Step {
        name: "advisories",
        run: deny::advisories,
    },
    Step {
        name: "oracle",
        run: oracle::step,
    },
    Step {
        name: "validity",
        run: validity::step,
    },
    Step {
        name: "corpus",
        run: corpus::step,
    },
    Step {
        name: "spelling",
        run: spelling::step,
    },
    Step {
        name: "agent",
        run: agent::step,
    },
    Step {
        name: "lab",
        run: lab::step,
    },
    Step {
        name: "sources",
        run: lab::sources,
    },
    Step {
        name: "modules",
        run: kmod::step,
    },
    Step {
        name: "sparse",
        run: kmod::sparse,
    },
    Step {
        name: "checkpatch",
        run: kmod::checkpatch,
    },
    Step {
        name: "kernel-doc",
        run: kmod::kernel_doc,
    },
    Step {
        name: "kernel-tests",
        run: kernel_tests::step,
    },
    Step {
        name: "exact-soak",
        run: exact_soak::step,
    },
    Step {
        name: "trials",
        run: trials::step,
    },
    Step {
        name: "tests",
        run: test::step,
    },
];

/// `cargo xtask check`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    if let Some(extra) = arguments.first() {
        return Err(format!("{extra}: takes no arguments"));
    }
    take_all(STEPS)
}

fn format() -> Result<Done, Error> {
    if !works(cargo(), &["fmt", "--version"]) {
        return Ok(Done::Skipped("cargo fmt is not installed".into()));
    }
    run_command(command(cargo(), &["fmt", "--all", "--check"])?)?;
    Ok(Done::Ok)
}

fn clippy() -> Result<Done, Error> {
    if !works(cargo(), &["clippy", "--version"]) {
        return Ok(Done::Skipped("cargo clippy is not installed".into()));
    }
    run_command(command(
        cargo(),
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    )?)?;
    Ok(Done::Ok)
}
