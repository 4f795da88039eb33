//! Everything that must pass before a commit.

use crate::Error;
use crate::command::{cargo, command, run as run_command, works};
use crate::steps::{Beside, Done, Step, close, take_all, take_each};
use crate::{
    agent, assize, deny, docs, exact_soak, kernel_tests, kmod, lab, oracle, spelling, test,
    tidy, trials, validity,
};

/// What is checked at once, and the programs that the next steps use.
const FIRST: &[Step] = &[
    Step {
        name: "format",
        run: format,
    },
    Step {
        name: "tidy",
        run: tidy::step,
    },
    Step {
        name: "agent",
        run: agent::step,
    },
    Step {
        name: "program",
        run: assize::step,
    },
];

/// A step that goes on beside [`MACHINES`], which leave a CPU free.
const COMPILE: &[Step] = &[Step {
    name: "compile",
    run: test::compile,
}];

/// What machines are booted with.
const MACHINES: &[Step] = &[
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
];

/// Steps that go on beside [`OTHERS`], which are mostly the tests: the two lists are meant
/// to take about the same time. The trials come first: they need some gigabytes for memory
/// images, which are removed before the tests have made many of theirs.
const BESIDE: &[Step] = &[
    Step {
        name: "trials",
        run: trials::step,
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
        name: "pages",
        run: test::pages,
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
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "docs",
        run: docs::step,
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
];

const OTHERS: &[Step] = &[
    Step {
        name: "deny",
        run: deny::rules,
    },
    Step {
        name: "advisories",
        run: deny::advisories,
    },
    Step {
        name: "spelling",
        run: spelling::step,
    },
    Step {
        name: "tests",
        run: test::step,
    },
];

fn all() -> impl Iterator<Item = &'static Step> {
    let lists = [FIRST, COMPILE, MACHINES, OTHERS, BESIDE];
    lists.into_iter().flatten()
}

/// `cargo xtask check [STEP...]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let named = |name: &String| {
        let found = all().find(|step| step.name == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = all().map(|step| step.name).collect();
            format!("{name}: no such step; there are {}", names.join(", "))
        })
    };
    let wanted: Vec<Step> = arguments.iter().map(named).collect::<Result<_, _>>()?;
    if !wanted.is_empty() {
        return take_all(&wanted);
    }
    everything()
}

fn everything() -> Result<(), Error> {
    let target = agent::target()?;
    let mut taken = take_each(FIRST);
    let compiling = Beside::start(COMPILE, target.join("check-compile.log"));
    taken.extend(take_each(MACHINES));
    let compiled = compiling.and_then(Beside::end);
    let beside = Beside::start(BESIDE, target.join("check-beside.log"));
    taken.extend(take_each(OTHERS));
    let ended = beside.and_then(Beside::end);
    close(&taken).and(compiled).and(ended)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_does_not_exist_is_an_error() {
        let why = run(&["tidy".into(), "test".into()]).unwrap_err();
        assert!(why.starts_with("test: no such step; there are format, tidy,"));
        assert!(why.ends_with("sparse, checkpatch, kernel-doc"), "{why}");
    }

    #[test]
    fn every_step_has_a_name_of_its_own() {
        let mut names: Vec<&str> = all().map(|step| step.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
