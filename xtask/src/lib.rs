//! The developers' commands, `cargo xtask help`, and code shared with `studies`.

#![allow(clippy::print_stdout)] // A command's output is its purpose.

pub mod agent;
pub mod assize;
mod check;
pub mod command;
pub mod cpu_time;
mod deny;
mod docs;
pub mod draw;
mod exact_soak;
pub mod files;
mod fuzz;
mod golden;
pub mod guest;
mod kernel_tests;
pub mod kmod;
mod lab;
pub mod machines;
pub mod marks;
mod oracle;
mod pictures;
mod spelling;
mod steps;
mod test;
mod tidy;
pub mod tree;
mod trials;

use std::process::ExitCode;

/// A failure, as `what: why`.
pub type Error = String;

/// A subcommand.
pub struct Verb {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, as help shows them.
    pub arguments: &'static str,
    /// A one-line description.
    pub help: &'static str,
    /// The function to call with its arguments.
    pub run: fn(&[String]) -> Result<(), Error>,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "check",
        arguments: "[STEP...]",
        help: "what must pass before a commit, or these steps; lists every failure",
        run: check::run,
    },
    Verb {
        name: "check-more",
        arguments: "",
        help: "what `make test-all` does beside: all that takes longer",
        run: check::run_more,
    },
    Verb {
        name: "test",
        arguments: "[ARGS...]",
        help: "the tests, with ARGS for `cargo test`, and their total",
        run: test::run,
    },
    Verb {
        name: "golden",
        arguments: "[ARGS...]",
        help: "rewrite the golden files and show what changed",
        run: golden::run,
    },
    Verb {
        name: "agent",
        arguments: "",
        help: "build the static agent that runs in guests",
        run: agent::run,
    },
    Verb {
        name: "lab",
        arguments: "",
        help: "fetch the kernels and the QEMU that tests boot, and parts of a kernel's sources",
        run: lab::run,
    },
    Verb {
        name: "kmod",
        arguments: "[--fetch] [KERNEL...]",
        help: "build the kernel modules with W=1; sparse, checkpatch, kernel-doc",
        run: kmod::run,
    },
    Verb {
        name: "kernel-tests",
        arguments: "[--heavy] [--fresh] [KERNEL...]",
        help: "the tests of the kernel modules in the exact machine, 1 and 2 CPUs",
        run: kernel_tests::run,
    },
    Verb {
        name: "trials",
        arguments: "[--light] [--target exact|host|ssh:localhost] [KIND...]",
        help: "known-answer trials: whether each level of an experiment is really there",
        run: trials::run,
    },
    Verb {
        name: "docs",
        arguments: "",
        help: "the API documentation, and the links in the Markdown files",
        run: docs::run,
    },
    Verb {
        name: "tidy",
        arguments: "",
        help: "sizes, dead files, SPDX lines, white space and banned words",
        run: tidy::run,
    },
    Verb {
        name: "fuzz",
        arguments: "SECONDS [TARGET...]",
        help: "run the fuzz targets, each for SECONDS",
        run: fuzz::run,
    },
    Verb {
        name: "pictures",
        arguments: "",
        help: "make the pictures of README and docs anew, from real bundles",
        run: pictures::run,
    },
    Verb {
        name: "exact-soak",
        arguments: "[--runs N] [--light] [--seed S] [--write]",
        help: "exact runs from four commands beside all that makes a host slow: do any deviate?",
        run: exact_soak::run,
    },
];

/// `cargo xtask`.
pub fn main() -> ExitCode {
    run("xtask", VERBS)
}

/// Runs the subcommand named on the command line of this program.
pub fn run(program: &str, verbs: &[Verb]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match arguments.split_first() {
        None => ("help", &[][..]),
        Some((name, rest)) => (name.as_str(), rest),
    };
    if matches!(name, "help" | "-h" | "--help") {
        help(program, verbs);
        return ExitCode::SUCCESS;
    }
    let Some(verb) = verbs.iter().find(|verb| verb.name == name) else {
        eprintln!("{program}: {name}: no such subcommand; see `cargo {program} help`");
        return ExitCode::from(2);
    };
    match (verb.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{program}: {name}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn help(program: &str, verbs: &[Verb]) {
    println!("usage: cargo {program} SUBCOMMAND\n");
    for verb in verbs {
        println!("  {} {}", verb.name, verb.arguments);
        println!("      {}", verb.help);
    }
}
