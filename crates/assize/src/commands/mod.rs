//! `assize compare 'CMD A' 'CMD B'`: compares commands on this machine or on the exact machine,
//! without an experiment file.
//!
//! The commands become the levels of an experiment, which runs like any other. Only set-up, warm-up
//! and clean-up, which happen once, are executed here.

mod carried;
mod export;
mod file;
mod kind;
mod once;
mod printed;
mod scan;
mod traced;
mod words;

use std::path::Path;

use assize_bundle::Records;
use assize_report::printable;

use crate::cli::{CommandTarget, CommandsArguments, CompareArguments, TimeUnit};
use crate::failure::Failure;
use crate::page::{PageInputs, RecordsOrigin};
use crate::run;
use crate::terms::JudgingTerms;
use crate::{compare as results, output, rerun};
use carried::CommandFiles;
use file::CommandsExperiment;
pub(crate) use file::quoted;
pub(crate) use kind::sort_out;

/// The default name of the bundle.
const NAME: &str = "compare";

/// Runs commands in turn and compares them.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<u8, Failure> {
    let asked = &arguments.running;
    let experiment = experiment(arguments)?;
    let text = experiment.text();
    if let Some(path) = &asked.write {
        must_be_new(path)?;
        run::planned(&text, path)?;
        output::deliver(text.as_bytes(), Some(path))?;
        return Ok(0);
    }
    let recording = run::Recording {
        text: &text,
        name: NAME,
        out: asked.out.clone(),
        resume: false,
        kernel: None,
        runs: None,
        jobs: None,
        on: None,
        quiet: asked.quiet,
        question: &arguments.trial.question,
        may_lose: match asked.ignore_failure {
            true => |_| true,
            false => |_| false,
        },
        gives_up: !asked.ignore_failure,
        show_output: asked.show_output,
    };
    let ready = run::ReadyExperiment::planned(&recording)?;
    let show = |directory: &Path, records: &Records, terms: &JudgingTerms| {
        show((directory, records, terms), &experiment, arguments)
    };
    match once::around(asked, &experiment, || ready.carry_out()) {
        Ok(measured) => show(&measured.directory, &measured.records, &measured.terms),
        Err(Failure::FailedRuns {
            directory,
            mut cells,
            first,
        }) => {
            let (records, terms, _) = results::gather(std::slice::from_ref(&directory), None)?;
            show(&directory, &records, &terms)?;
            cells.extend(advice(asked).map(str::to_owned));
            Err(Failure::FailedRuns {
                directory,
                cells,
                first,
            })
        }
        Err(failure) => Err(failure),
    }
}

/// The experiment that runs these commands, on the exact machine with the files they need.
fn experiment(arguments: &CompareArguments) -> Result<CommandsExperiment, Failure> {
    let asked = &arguments.running;
    let experiment = CommandsExperiment::from_arguments(asked).map_err(Failure::Argument)?;
    let experiment = experiment.with_margin(arguments.trial.margin);
    if asked.target == CommandTarget::Host {
        return Ok(experiment);
    }
    let carried = CommandFiles::needed(&experiment, asked)?;
    if !asked.quiet {
        eprint!("{}", carried.listing());
    }
    Ok(experiment.on_exact(carried))
}

/// What to try if every run of a command has failed.
fn advice(asked: &CommandsArguments) -> impl Iterator<Item = &'static str> {
    let status = "to measure commands whatever their exit status, add --ignore-failure";
    let files = "the exact machine has only what is carried; for a missing file, add --with PATH";
    let exact = asked.target == CommandTarget::Exact;
    let given = (!asked.ignore_failure).then_some(status);
    given.into_iter().chain(exact.then_some(files))
}

/// Judges the recorded runs, shows them and exports them.
fn show(
    (directory, records, terms): (&Path, &Records, &JudgingTerms),
    experiment: &CommandsExperiment,
    arguments: &CompareArguments,
) -> Result<u8, Failure> {
    let material = PageInputs {
        records,
        trial: &arguments.trial,
        terms,
        from: RecordsOrigin::Bundle(directory),
    };
    let mut document = output::judge(records, &arguments.trial, terms)?;
    rerun::add_run_commands(directory, &mut document);
    let unit = arguments.running.time_unit.map(TimeUnit::sign);
    document.time_unit = unit.map(str::to_owned);
    export::write(&arguments.running, experiment, records, &document)?;
    for line in printed::differences(directory, records)? {
        eprintln!("{}", printable(&line));
    }
    output::show(&document, &material, &arguments.showing)
}

/// The experiment file of these commands, with default options.
#[cfg(test)]
pub(crate) fn file_of(commands: &[&str]) -> String {
    let asked = crate::cli::CommandsArguments {
        commands: commands.iter().map(|one| (*one).to_owned()).collect(),
        timeout: "60min".into(),
        ..Default::default()
    };
    CommandsExperiment::from_arguments(&asked)
        .unwrap_or_else(|why| panic!("{why}"))
        .text()
}

/// Refuses to overwrite a file.
fn must_be_new(path: &Path) -> Result<(), Failure> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Err(Failure::Argument(format!(
            "{}: it exists already; name a new file",
            path.display()
        ))),
        Err(_) => Ok(()),
    }
}
