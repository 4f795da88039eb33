//! What is hunted: the text of an experiment, with a level for each side.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::against::{Sides, absolute, replaces_modules, setup};
use crate::cli::{HuntArguments, Strategy};
use crate::commands::quoted;
use crate::failure::Failure;
use crate::shell;

/// The schema of [`HuntSubject`].
pub(super) const SCHEMA: &str = "assize.hunt-journal/1";

/// Everything that decides what the runs of a hunt are; the first line of its journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HuntSubject {
    /// Always [`SCHEMA`].
    pub(super) schema: String,
    /// The name of the experiment, for messages.
    pub(super) name: String,
    /// The text of the experiment.
    pub(super) experiment: String,
    pub(super) kernel: Option<String>,
    pub(super) cpus: Option<u32>,
    pub(super) levels: Vec<(String, Vec<String>)>,
    pub(super) until: Vec<String>,
    pub(super) until_log: Vec<String>,
    pub(super) strategies: Vec<String>,
    pub(super) timeout_ms: Option<u64>,
    /// The command, for the answer.
    pub(super) command: String,
}

impl HuntSubject {
    /// From the command line.
    pub(super) fn new(arguments: &HuntArguments, command: String) -> Result<HuntSubject, Failure> {
        let (name, text) = match (&arguments.experiment, &arguments.program[..]) {
            (Some(path), _) => {
                let text = std::fs::read_to_string(path).map_err(|source| Failure::Read {
                    path: path.clone(),
                    source,
                })?;
                (shell::name_of(path), text)
            }
            (None, [program, ..]) => {
                let name = Path::new(program).file_name().unwrap_or_default();
                let name = name.to_string_lossy().into_owned();
                // With another side, each has modules of its own.
                let modules = match replaces_modules(&arguments.against) {
                    true => &[],
                    false => &arguments.module[..],
                };
                (name, of_program(&arguments.program, modules)?)
            }
            (None, []) => {
                let why = "hunt: give an experiment file, or a program: assize hunt -- PROGRAM";
                return Err(Failure::Argument(why.into()));
            }
        };
        let sides = Sides::new(&name, text, arguments)?;
        Ok(HuntSubject::of_sides(name, sides, arguments, command))
    }

    /// From the sides, and the other options.
    pub(super) fn of_sides(
        name: String,
        sides: Sides,
        arguments: &HuntArguments,
        command: String,
    ) -> HuntSubject {
        HuntSubject {
            schema: SCHEMA.into(),
            name,
            experiment: sides.text,
            kernel: sides.kernel,
            cpus: arguments.cpus,
            levels: arguments.levels.clone(),
            until: arguments.until.clone(),
            until_log: arguments.until_log.clone(),
            strategies: arguments.strategy.iter().map(|one| one.name()).collect(),
            timeout_ms: arguments.timeout_ms,
            command,
        }
    }

    /// The strategies that take turns.
    pub(super) fn strategies(&self) -> Vec<Strategy> {
        let all = Strategy::ALL.into_iter();
        all.filter(|one| self.strategies.contains(&one.name()))
            .collect()
    }
}

/// An experiment that runs a program on two CPUs.
fn of_program(words: &[String], modules: &[String]) -> Result<String, Failure> {
    let mut words = words.to_vec();
    if let Some(program) = words.first_mut().filter(|word| word.contains('/')) {
        *program = absolute(program)?;
    }
    let list: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let title = words.join(" ").replace(char::is_control, " ");
    let setup = setup(modules)?;
    Ok(format!(
        "title = {}\ncpus = 2\nruns = 1\nimages = 1\n{setup}\n\n[workloads.program]\nkind = \"command\"\nargv = [{}]\n",
        quoted(&title),
        list.join(", ")
    ))
}
