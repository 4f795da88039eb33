//! Whether commands print the same.

use std::collections::BTreeMap;
use std::path::Path;

use assize_bundle::{Records, read_run};

use crate::failure::Failure;
use crate::shell;

/// The ending of the file with the standard output of a run.
const STDOUT: &str = "-command.stdout";

/// What a command printed in a run, and the file that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Printed {
    file: String,
    text: String,
}

/// A line for each command that prints something else than the first one. A command whose runs
/// differ among themselves, such as one that prints the time, is not compared.
pub(super) fn differences(directory: &Path, records: &Records) -> Result<Vec<String>, Failure> {
    let mut of_command: BTreeMap<&str, Option<Printed>> = BTreeMap::new();
    for run in &records.runs {
        let raw = read_run(directory, run.order)?.raw;
        let stdout = raw.into_iter().find(|(name, _)| name.ends_with(STDOUT));
        let printed = stdout.map_or_else(nothing, |(name, text)| Printed {
            file: shell::quote(directory.join("raw").join(name).as_os_str()),
            text,
        });
        let of_runs = of_command
            .entry(&run.configuration)
            .or_insert_with(|| Some(printed.clone()));
        if of_runs.as_ref().is_some_and(|one| one.text != printed.text) {
            *of_runs = None;
        }
    }
    let names = records.configurations.iter().map(|one| one.name.as_str());
    let mut constant = names.filter_map(|name| Some((name, of_command.get(name)?.as_ref()?)));
    let Some((first, expected)) = constant.next() else {
        return Ok(Vec::new());
    };
    let others = constant.filter(|(_, printed)| printed.text != expected.text);
    let lines = others.map(|(name, printed)| {
        format!(
            "{first} and {name} print different things: diff {} {}",
            expected.file, printed.file
        )
    });
    Ok(lines.collect())
}

/// Of a run that prints nothing there is no file.
fn nothing() -> Printed {
    Printed {
        file: "/dev/null".to_owned(),
        text: String::new(),
    }
}
