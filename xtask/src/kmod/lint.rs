//! checkpatch and kernel-doc.

use std::path::PathBuf;

use assize_target::kernels::Kernels;

use crate::Error;
use crate::command::{command, run, works};
use crate::steps::Done;
use crate::tree;

/// What checkpatch is to let pass, by what a file's path ends with. All else
/// is an error, `--strict` checks too: they are how kernel code is laid out,
/// and where one is wrong for a kind of file it is named here.
const LET_PASS: &[(&str, &str)] = &[
    // TRACE_EVENT has a form of its own all over the kernel.
    ("trace.h", "OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT"),
    // BIT() is not for headers that user space includes.
    ("uapi/simgpu.h", "BIT_MACRO"),
];

/// Runs checkpatch on every C file of the kernel's side.
pub(crate) fn checkpatch() -> Result<Done, Error> {
    let files = sources()?;
    if files.is_empty() {
        return Ok(Done::Skipped("there are no sources".into()));
    }
    let Some(script) = script() else {
        return Ok(Done::Skipped(
            "checkpatch.pl is not here; cargo xtask kmod --fetch".into(),
        ));
    };
    if !works("perl", &["-v"]) {
        return Ok(Done::Skipped("perl is not installed".into()));
    }
    let script = script.to_string_lossy();
    let mut failed = Vec::new();
    for ending in LET_PASS.iter().map(Some).chain([None]) {
        let group = files.iter().filter(|file| rule(file) == ending);
        let ignored = ending.map(|(_, types)| format!("--ignore={types}"));
        let mut arguments = vec![
            &*script,
            "--no-tree",
            "--strict",
            "--terse",
            "--show-types",
            "--quiet",
            "--summary-file",
            "--no-summary",
            "--max-line-length=100",
        ];
        arguments.extend(ignored.as_deref());
        arguments.push("--file");
        let options = arguments.len();
        arguments.extend(group.map(String::as_str));
        if arguments.len() > options
            && let Err(why) = run(command("perl", &arguments)?)
        {
            failed.push(why);
        }
    }
    match failed.is_empty() {
        true => Ok(Done::Ok),
        false => Err("see above".into()),
    }
}

/// The rule of [`LET_PASS`] for a file.
fn rule(file: &str) -> Option<&'static (&'static str, &'static str)> {
    LET_PASS.iter().find(|(end, _)| file.ends_with(end))
}

/// checkpatch comes with the sources of a kernel and with no smaller package.
fn script() -> Option<PathBuf> {
    let series = Kernels::default_root().join("sources");
    let below = |path: PathBuf| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let mut found: Vec<PathBuf> = below(series)
        .flat_map(below)
        .map(|tree| tree.join("scripts/checkpatch.pl"))
        .filter(|script| script.is_file())
        .collect();
    found.sort();
    found.pop()
}

/// Fetches the sources that checkpatch comes with, unless they are there.
pub(super) fn fetch() -> Result<(), Error> {
    let kernels = Kernels::new(Kernels::default_root());
    let source = kernels.fetch_source("6.12", &mut |line| println!("{line}"));
    let source = source.map_err(|error| error.to_string())?;
    println!("{}", source.tree.display());
    Ok(())
}

/// Has kernel-doc read every comment of its form.
pub(crate) fn kernel_doc() -> Result<Done, Error> {
    let headers = match super::headers(super::WANTED[0]) {
        Ok(headers) => headers,
        Err(why) => return Ok(Done::Skipped(why)),
    };
    let script = headers.join("scripts/kernel-doc");
    if !script.is_file() || !works("perl", &["-v"]) {
        return Ok(Done::Skipped("no kernel-doc or no perl here".into()));
    }
    let script = script.to_string_lossy();
    let files = sources()?;
    let mut arguments = vec![&*script, "-none", "-Werror"];
    arguments.extend(files.iter().map(String::as_str));
    run(command("perl", &arguments)?).map_err(|_| Error::from("see above"))?;
    Ok(Done::Ok)
}

/// The C files of the modules.
fn sources() -> Result<Vec<String>, Error> {
    let mut files = tree::files()?;
    files.retain(|file| {
        let typed = file.ends_with(".c") || file.ends_with(".h");
        file.starts_with("kernel/") && typed
    });
    Ok(files)
}
