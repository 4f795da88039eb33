//! The QEMU plugin that counts instructions, built once for all machines.
//!
//! Its sources are embedded in this crate. The result is stored below `<root>/plugin` under
//! their hash.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Error;
use crate::elf::ProgramHost;
use crate::fault::{failed, io, mend, write};
use crate::parts_hash::PartsHash;
use crate::process::{ChildProcess, in_words};
use crate::prune::{prune, touch};
use crate::scratch::{into_place, temporary_in};

/// Every file that a build reads: path below `qemu/plugin/` and text.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/plugin.rs"));
/// File name of the plugin.
const PLUGIN: &str = "count.so";
/// Compiler flags; the sources follow.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O2",
    "-Wall",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-o",
    PLUGIN,
];
/// Compilers to try, in order.
const CC: &[&str] = &["cc", "gcc", "gcc-14", "gcc-12"];
/// Limit in bytes for stored plugins; the oldest are removed first.
const BUILT: u64 = 4 << 20;
const WHAT: &str = "build the plugin that counts instructions";

/// Returns the path of the plugin, building it if necessary.
///
/// # Errors
/// No compiler, or a build that failed.
pub(crate) fn ensure(root: &Path) -> Result<PathBuf, Error> {
    let parent = root.join("plugin");
    let place = parent.join(digest());
    let plugin = place.join(PLUGIN);
    if plugin.is_file() {
        touch(&place);
        return Ok(plugin);
    }
    prune(&parent, BUILT);
    let work = temporary_in(&parent)?;
    build(work.path())?;
    into_place(work, &place)?;
    Ok(plugin)
}

/// A hash of the sources and the compiler flags.
fn digest() -> String {
    let mut hash = PartsHash::default();
    let pairs = SOURCES.iter().flat_map(|(path, text)| [*path, *text]);
    pairs
        .chain(FLAGS.iter().copied())
        .for_each(|text| hash.add(text));
    hash.hex(16)
}

fn build(directory: &Path) -> Result<(), Error> {
    let host = ProgramHost::this();
    let Some(cc) = CC.iter().find_map(|name| host.program(name)) else {
        let missing = failed(WHAT, "no cc in PATH");
        return Err(mend(missing, "run `apt install gcc libc6-dev`"));
    };
    let mut command = Command::new(cc);
    command.args(FLAGS).env("LC_ALL", "C");
    for (path, text) in SOURCES {
        let file = directory.join(path);
        write(&file, text)?;
        if path.ends_with(".c") {
            command.arg(path);
        }
    }
    let log = directory.join("log");
    let start = |error| failed(WHAT, format!("start the compiler: {error}"));
    let errors = File::create(&log).map_err(|error| io("write", &log, &error))?;
    let mut process =
        ChildProcess::start(command, directory, errors, None, Duration::MAX).map_err(start)?;
    let status = process.wait().map_err(start)?;
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    let said = fs::read_to_string(&log).unwrap_or_default();
    let line = said.lines().find(|line| line.contains("error"));
    let how = status.map_or_else(|| "it did not end".into(), in_words);
    Err(failed(WHAT, line.map_or(how, str::to_owned)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.
    use super::*;

    #[test]
    fn it_is_built_once() {
        if !CC
            .iter()
            .any(|name| ProgramHost::this().program(name).is_some())
        {
            eprintln!("skipped: no C compiler");
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let plugin = ensure(root.path()).unwrap();
        let first = fs::metadata(&plugin).unwrap().modified().unwrap();
        assert_eq!(ensure(root.path()).unwrap(), plugin);
        assert_eq!(fs::metadata(&plugin).unwrap().modified().unwrap(), first);
        let bytes = fs::read(&plugin).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
        assert!(has(b"qemu_plugin_install") && has(b"qemu_plugin_version"));
    }
}
