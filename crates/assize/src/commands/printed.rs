//! Compares the output of the commands.

use std::collections::BTreeMap;
use std::path::Path;

use assize_bundle::{Records, read_run};

use crate::failure::Failure;
use crate::shell;

/// The suffix of files with the standard output of a run.
const STDOUT: &str = "-command.stdout";

/// The output of a command, and the file that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Printed {
    file: String,
    text: String,
}

/// A line for each command whose output differs from that of the first. A command whose output
/// differs between its runs, such as `date`, is not compared.
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

/// The output of a run without a file, which printed nothing.
fn nothing() -> Printed {
    Printed {
        file: "/dev/null".to_owned(),
        text: String::new(),
    }
}
