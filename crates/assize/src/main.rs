//! `assize`: whether a kernel change helps or hurts.
//!
//! This crate parses arguments, calls the other crates and prints. It contains no statistics and no
//! formats.

mod archive;
mod audit;
mod bisecting;
mod cli;
mod commands;
mod compare;
mod debug;
mod declared;
mod doctor;
mod exposure;
mod failure;
mod files;
mod gate;
mod hunting;
mod identity;
mod joining;
mod kernel;
mod levels;
mod library;
mod list;
mod mailbox;
mod man;
mod metric_words;
mod output;
mod page;
mod parallel_map;
mod plan;
mod reach;
mod record;
mod repeat;
mod rerun;
mod resolutions;
mod run;
mod shell;
mod terms;
mod trace;
mod trend;
mod trying;
mod when;
mod why;

use std::process::ExitCode;

use assize_target::kernels::Kernels;
use assize_target::qemu::Qemu;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use cli::{Cli, CliVerb, group_verbs};
use failure::Failure;

fn main() -> ExitCode {
    let given = group_verbs(Cli::command()).try_get_matches();
    let cli = match given.and_then(|given| Cli::from_arg_matches(&given)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; they go to stdout.
            let arguments: Vec<_> = std::env::args_os().collect();
            let code = match error.use_stderr() {
                false => 0,
                true if bisecting::is_test(&arguments) => bisecting::wrong_use_of_test(),
                true => 2,
            };
            let printed = match error.kind() {
                ErrorKind::DisplayVersion => output::print(versions(&error).as_bytes()),
                _ => error.print().map_err(output::failed_to_print),
            };
            return match printed {
                Ok(()) | Err(Failure::ClosedPipe) => ExitCode::from(code),
                Err(failure) => {
                    eprintln!("assize: {failure}");
                    ExitCode::from(code.max(failure.code()))
                }
            };
        }
    };
    match carry_out(cli.verb) {
        Ok(code) => ExitCode::from(code),
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("assize: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn carry_out(verb: CliVerb) -> Result<u8, Failure> {
    match verb {
        CliVerb::Run(arguments) => run::run(&arguments),
        CliVerb::Try(arguments) if arguments.hunt => hunting::hunt_change(&arguments),
        CliVerb::Try(arguments) => trying::try_change(&arguments),
        CliVerb::Bisect(arguments) => bisecting::bisect(&arguments),
        CliVerb::Plan(arguments) => plan::plan(&arguments),
        CliVerb::RunOne(arguments) => run::run_one(&arguments),
        CliVerb::Merge(arguments) => run::merge(&arguments),
        CliVerb::Doctor(arguments) => doctor::doctor(&arguments),
        CliVerb::List(arguments) => list::list(&arguments),
        CliVerb::Kernel(verb) => kernel::kernel(&verb),
        CliVerb::Audit(arguments) => audit::audit(&arguments),
        CliVerb::Compare(arguments) => commands::sort_out(*arguments).and_then(|arguments| {
            match arguments.running.commands.is_empty() {
                true => compare::compare(&arguments),
                false => commands::compare(&arguments),
            }
        }),
        CliVerb::Report(arguments) => compare::report(&arguments),
        CliVerb::Index(arguments) => library::index(&arguments),
        CliVerb::Trend(arguments) => trend::trend(&arguments),
        CliVerb::Trace(arguments) => trace::trace(&arguments),
        CliVerb::Why(arguments) => why::why(&arguments),
        CliVerb::Debug(arguments) => debug::debug(&arguments),
        CliVerb::When(arguments) => when::when(&arguments),
        CliVerb::Hunt(arguments) => hunting::hunt(&arguments),
        CliVerb::Completions { shell } => completions(shell),
        CliVerb::Man(arguments) => man::man(&arguments),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "assize", &mut text);
    output::print(&text).map(|()| 0)
}

/// The answer to `--version`: clap's line, then the QEMU of exact machines.
fn versions(own: &clap::Error) -> String {
    match Kernels::default_root().and_then(|root| Qemu::find(&root)) {
        Ok(qemu) => format!("{own}QEMU {} in {}\n", qemu.version, qemu.binary.display()),
        Err(error) => format!("{own}no QEMU: {}\n", error.why),
    }
}
