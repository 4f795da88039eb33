//! Studies and measurements outside of CI: `cargo studies help`.

#![allow(clippy::print_stdout)] // A command's output is its purpose.

mod debug;
mod first_hour;
mod ground_truth;
mod hyperfine;
mod igt;
mod images;
mod pages;
mod races;
mod report_speed;
mod speed;
mod validity;

use xtask::Verb;

const VERBS: &[Verb] = &[
    Verb {
        name: "speed",
        arguments: "[--write]",
        help: "time exact runs, booted and from memory, and virtme-ng; --write puts that into docs/speed.md",
        run: speed::run,
    },
    Verb {
        name: "first-hour",
        arguments: "[--write]",
        help: "what `make demo` and `make test` cost in a fresh clone; --write puts it into docs/speed.md",
        run: first_hour::run,
    },
    Verb {
        name: "report-speed",
        arguments: "[--write]",
        help: "time reports of 100 runs with 100,000 samples; --write puts them into docs/speed.md",
        run: report_speed::run,
    },
    Verb {
        name: "hyperfine",
        arguments: "[--write]",
        help: "time `assize compare` and hyperfine on the same commands; --write puts that into docs/peers.md",
        run: hyperfine::run,
    },
    Verb {
        name: "images",
        arguments: "",
        help: "how much images and seeds bring to the spread of exact runs",
        run: images::run,
    },
    Verb {
        name: "pages",
        arguments: "[--write] [--from DIRECTORY] [PAGE...]",
        help: "carry out the experiments that pages report; --write puts their tables there",
        run: pages::run,
    },
    Verb {
        name: "races",
        arguments: "[--write] [RACE...]",
        help: "how soon each planted race fails in hunts and on stock QEMU; --write puts that into docs/hunt.md",
        run: races::run,
    },
    Verb {
        name: "igt",
        arguments: "--sources DIRECTORY [--fresh] [--write]",
        help: "tests of IGT on simgpu in the exact machine; --write puts the results into studies/igt.md",
        run: igt::run,
    },
    Verb {
        name: "debug-kernel",
        arguments: "[kasan|kcsan] [--fresh] [--write]",
        help: "build kernels that check themselves and run all tests of the modules on them",
        run: debug::run,
    },
    Verb {
        name: "ground-truth",
        arguments: "[PART...] [--seed S] [--write]",
        help: "which planted stalls gaps and the tracers find, what they find where none is, and what a soak that is killed counts (gaps, tracers, quiet, rates, kills); --write puts the tables into studies/ground-truth.md",
        run: ground_truth::run,
    },
    Verb {
        name: "validity",
        arguments: "[--quick] [--seed S] [--write]",
        help: "simulate how often the verdicts are wrong; --write puts the tables into docs/validity.md and studies/validity.md",
        run: validity::run,
    },
];

fn main() -> std::process::ExitCode {
    xtask::run("studies", VERBS)
}
