//! The steps of set-up and tear-down.

use assize_job::Action;

use crate::values::document::{TomlDocument, join};
use crate::values::error::Error;
use crate::values::keys::{Free, KeySection, List, Map, Text, Value, key, named};

/// The four forms of a set-up or tear-down step.
pub(crate) static FORMS: &[KeySection] = &[
    KeySection {
        name: "module",
        keys: &[
            key(
                "module",
                Text.required(),
                "Module to load: its name, or the path of a .ko file here.",
            ),
            key(
                "parameters",
                Map(&Value).or("{}"),
                "Parameters of the module.",
            ),
        ],
    },
    KeySection {
        name: "sysctl",
        keys: &[
            named(
                "name",
                key(
                    "sysctl",
                    Text.required(),
                    "Sysctl to set, written with dots.",
                ),
            ),
            key("value", Value.required(), "Value to set."),
        ],
    },
    KeySection {
        name: "write",
        keys: &[
            named(
                "path",
                key("write", Text.required(), "File to write, by absolute path."),
            ),
            key(
                "value",
                Value.required(),
                "What to write; no newline is added.",
            ),
        ],
    },
    KeySection {
        name: "command",
        keys: &[named(
            "argv",
            key(
                "command",
                List(&Free).required(),
                "Program and arguments, run without a shell; any status but 0 fails the run.",
            ),
        )],
    },
];

/// Checks steps; the error is the first mistake.
pub(crate) fn check(document: &TomlDocument, path: &str, steps: &[Action]) -> Result<(), Error> {
    for (at, step) in steps.iter().enumerate() {
        let path = format!("{path}[{at}]");
        match step {
            Action::Write { path: name, .. } => {
                check_absolute(document, &join(&path, "write"), name)?;
            }
            Action::Command { argv } if argv.first().is_none_or(|name| name.trim().is_empty()) => {
                let error = document.error(&join(&path, "command"), "names no program");
                return Err(error.mend("give the program first, then its arguments"));
            }
            Action::Sysctl { name, .. } if name.contains('/') || !name.contains('.') => {
                let why = format!("'{name}' is not a sysctl");
                let error = document.error(&join(&path, "sysctl"), why);
                return Err(error.mend("write it with dots: kernel.sched_autogroup_enabled"));
            }
            Action::Module { module, .. } if module.chars().any(char::is_whitespace) => {
                let why = format!("'{module}' is not a module");
                let error = document.error(&join(&path, "module"), why);
                return Err(error.mend("write parameters = { NAME = \"VALUE\" } beside it"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Rejects a path on the target that is not absolute.
pub(crate) fn check_absolute(document: &TomlDocument, path: &str, name: &str) -> Result<(), Error> {
    if name.starts_with('/') {
        return Ok(());
    }
    let error = document.error(path, format!("'{name}' is not an absolute path"));
    Err(error.mend(format!("write \"/{name}\"")))
}
