//! The developers' front door: `cargo xtask help`.

#![allow(clippy::print_stdout)] // A command's output is its purpose.

mod agent;
mod assize;
mod check;
mod command;
mod cpu_time;
mod debug;
mod deny;
mod docs;
mod exact_soak;
mod first_hour;
mod fuzz;
mod golden;
mod ground_truth;
mod igt;
mod images;
mod kernel_tests;
mod kmod;
mod lab;
mod marks;
mod oracle;
mod pages;
mod pictures;
mod report_speed;
mod speed;
mod spelling;
mod steps;
mod test;
mod tidy;
mod tree;
mod trials;
mod validity;

use std::process::ExitCode;

/// A failure, as `what: why`.
type Error = String;

/// A subcommand: name, arguments, help, and code.
struct Verb {
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Result<ExitCode, Error>,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "check",
        arguments: "[STEP...]",
        help: "what must pass before a commit, or these steps; lists every failure",
        run: |arguments| done(check::run(arguments)),
    },
    Verb {
        name: "check-more",
        arguments: "",
        help: "what `make test-all` does beside: all that takes longer",
        run: |arguments| done(check::run_more(arguments)),
    },
    Verb {
        name: "test",
        arguments: "[ARGS...]",
        help: "the tests, with ARGS for `cargo test`, and their total",
        run: |arguments| done(test::run(arguments)),
    },
    Verb {
        name: "golden",
        arguments: "[ARGS...]",
        help: "rewrite the golden files and show what changed",
        run: |arguments| done(golden::run(arguments)),
    },
    Verb {
        name: "agent",
        arguments: "",
        help: "build the static agent that runs in guests",
        run: |arguments| done(agent::run(arguments)),
    },
    Verb {
        name: "lab",
        arguments: "",
        help: "fetch the kernels and the QEMU that tests boot, and parts of a kernel's sources",
        run: |arguments| done(lab::run(arguments)),
    },
    Verb {
        name: "kmod",
        arguments: "[--fetch] [KERNEL...]",
        help: "build the kernel modules with W=1; sparse, checkpatch, kernel-doc",
        run: |arguments| done(kmod::run(arguments)),
    },
    Verb {
        name: "kernel-tests",
        arguments: "[--heavy] [--fresh] [KERNEL...]",
        help: "the tests of the kernel modules in the exact machine, 1 and 2 CPUs",
        run: |arguments| done(kernel_tests::run(arguments)),
    },
    Verb {
        name: "igt",
        arguments: "--sources DIRECTORY [--fresh] [--write]",
        help: "tests of IGT on simgpu in the exact machine; --write makes docs/igt.md",
        run: |arguments| done(igt::run(arguments)),
    },
    Verb {
        name: "trials",
        arguments: "[--light] [--target exact|host|ssh:localhost] [KIND...]",
        help: "known-answer trials: whether each level of an experiment is really there",
        run: |arguments| done(trials::run(arguments)),
    },
    Verb {
        name: "docs",
        arguments: "",
        help: "the API documentation, and the links in the Markdown files",
        run: |arguments| done(docs::run(arguments)),
    },
    Verb {
        name: "tidy",
        arguments: "",
        help: "sizes, dead files, SPDX lines, white space and banned words",
        run: |arguments| done(tidy::run(arguments)),
    },
    Verb {
        name: "fuzz",
        arguments: "SECONDS [TARGET...]",
        help: "run the fuzz targets, each for SECONDS",
        run: |arguments| done(fuzz::run(arguments)),
    },
    Verb {
        name: "speed",
        arguments: "[--write]",
        help: "time exact runs, booted and from memory, and virtme-ng; --write makes docs/speed.md",
        run: |arguments| done(speed::run(arguments)),
    },
    Verb {
        name: "first-hour",
        arguments: "[--write]",
        help: "what `make demo` and `make test` cost in a fresh clone; --write puts it into docs/speed.md",
        run: |arguments| done(first_hour::run(arguments)),
    },
    Verb {
        name: "pages",
        arguments: "[--write] [--from DIRECTORY] [PAGE...]",
        help: "carry out the experiments that pages report; --write puts their tables there",
        run: |arguments| done(pages::run(arguments)),
    },
    Verb {
        name: "pictures",
        arguments: "",
        help: "make the pictures of README and docs anew, from real bundles",
        run: |arguments| done(pictures::run(arguments)),
    },
    Verb {
        name: "report-speed",
        arguments: "[--write]",
        help: "time reports of 100 runs with 100,000 samples; --write puts them into docs/speed.md",
        run: |arguments| done(report_speed::run(arguments)),
    },
    Verb {
        name: "debug-kernel",
        arguments: "[kasan|kcsan] [--write]",
        help: "build kernels that check themselves and run all tests of the modules on them",
        run: |arguments| done(debug::run(arguments)),
    },
    Verb {
        name: "images",
        arguments: "",
        help: "how much images and seeds bring to the spread of exact runs",
        run: |arguments| done(images::run(arguments)),
    },
    Verb {
        name: "ground-truth",
        arguments: "[PART...] [--seed S] [--write]",
        help: "which planted stalls gaps and the tracers find, what they find where none is, and what a soak that is killed counts (gaps, tracers, quiet, kills); --write puts the tables into docs/ground-truth.md",
        run: |arguments| done(ground_truth::run(arguments)),
    },
    Verb {
        name: "exact-soak",
        arguments: "[--runs N] [--light] [--seed S] [--write]",
        help: "exact runs from four commands beside all that makes a host slow: do any deviate?",
        run: exact_soak::main,
    },
    Verb {
        name: "validity",
        arguments: "[--quick] [--seed S] [--write] [--figures]",
        help: "simulate how often the verdicts are wrong; --write makes docs/validity.md",
        run: |arguments| Ok(validity::main(arguments)),
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match arguments.split_first() {
        None => ("help", &[][..]),
        Some((name, rest)) => (name.as_str(), rest),
    };
    if matches!(name, "help" | "-h" | "--help") {
        help();
        return ExitCode::SUCCESS;
    }
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprintln!("xtask: {name}: no such subcommand; see `cargo xtask help`");
        return ExitCode::from(2);
    };
    match (verb.run)(rest) {
        Ok(status) => status,
        Err(why) => {
            eprintln!("xtask: {name}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn done(result: Result<(), Error>) -> Result<ExitCode, Error> {
    result.map(|()| ExitCode::SUCCESS)
}

fn help() {
    println!("usage: cargo xtask SUBCOMMAND\n");
    for verb in VERBS {
        println!("  {} {}", verb.name, verb.arguments);
        println!("      {}", verb.help);
    }
}
