//! Builds the programs, files and modules in which the levels of the trials differ.

use std::fs;
use std::path::{Path, PathBuf};

use assize_target::kernels::{Kernel, Kernels};

use crate::command::{command, run as run_command};
use crate::kmod::{self, Headers};
use crate::{Error, files, tree};

/// The kernel of the trials.
pub(super) const KERNEL: &str = "debian:6.12";
/// The levels, except `same`.
const BUILT: [Level; 3] = [
    Level {
        name: "plain",
        times: 1,
        note: "one",
    },
    Level {
        name: "planted",
        times: 3,
        note: "one",
    },
    Level {
        name: "null",
        times: 1,
        note: "another",
    },
];
/// The level with the bytes of the plain one under another path.
const SAME: &str = "same";
/// Microseconds for which the plain module keeps the CPU busy.
const WAIT_US: u32 = 50;
/// The path of the scheduler in the kernel sources.
const SCHEDULER: &str = "drivers/gpu/drm/scheduler";

/// The differences between the builds of the levels.
struct Level {
    name: &'static str,
    times: u32,
    /// A text that nothing reads, to change only the bytes.
    note: &'static str,
}

/// Builds programs, libraries and files below `place`, in a directory for each level.
pub(super) fn programs(place: &Path) -> Result<(), Error> {
    let at = |name: &str| place.join(name).display().to_string();
    let probe = "tests/trials/probe.c";
    files::create(&place.join(SAME))?;
    gcc(&["-static", "-o", &at("probe"), probe])?;
    for level in &BUILT {
        files::create(&place.join(level.name))?;
        let times = format!("-DTIMES={}", level.times);
        let note = format!("-DNOTE=\"{}\"", level.note);
        let to = |name: &str| at(&format!("{}/{name}", level.name));
        gcc(&["-static", &times, &note, "-o", &to("built"), probe])?;
        gcc(&[
            "-shared",
            "-fPIC",
            "-Wl,-soname,libtrial.so.1",
            &times,
            &note,
            "-o",
            &to("libtrial.so.1"),
            "tests/trials/library.c",
        ])?;
        let steps = format!("# {}\n1.RCS.{}.0.1\n", level.note, 200 * level.times);
        files::write(&place.join(level.name).join("steps"), &steps)?;
    }
    let plain = format!("-Wl,-rpath,{}", at("plain"));
    let library = at("plain/libtrial.so.1");
    gcc(&["-DLIBRARY", "-o", &at("linked"), probe, &library, &plain])?;
    files::copy(&place.join("probe"), &place.join(SAME).join("probe"))?;
    for name in ["built", "libtrial.so.1", "steps"] {
        same(place, name)?;
    }
    Ok(())
}

/// Builds the module of the trials for each level.
pub(super) fn modules(place: &Path) -> Result<(), Error> {
    let headers = kmod::headers(KERNEL)?;
    for level in &BUILT {
        let mut sources = Vec::new();
        for name in ["Kbuild", "trial_delay.c"] {
            let path = format!("tests/trials/module/{name}");
            let text = tree::read(&path)?.ok_or_else(|| format!("{path}: not a text"))?;
            sources.push((name.to_owned(), text));
        }
        let flags = format!(
            "ccflags-y += -DTRIAL_US={} -DTRIAL_NOTE='\"{}\"'\n",
            level.times * WAIT_US,
            level.note
        );
        sources[0].1 += &flags;
        let built = module(place, &headers, ("trial_delay", level.name), &sources)?;
        files::copy(&built, &place.join(level.name).join("trial_delay.ko"))?;
    }
    same(place, "trial_delay.ko")
}

/// Builds gpu-sched for each level from the kernel's sources, or returns the reason why it cannot.
pub(super) fn scheduler(place: &Path) -> Result<Option<String>, Error> {
    let root = Kernels::default_root().map_err(|error| error.to_string())?;
    let kernels = Kernels::new(root.clone());
    let kernel = kernels.resolve(KERNEL).map_err(|error| error.to_string())?;
    let Some(tree) = sources(&root, &kernel) else {
        return Ok(Some(format!(
            "the sources of {KERNEL} {} are not here; cargo xtask lab",
            kernel.version
        )));
    };
    let headers = kmod::headers(KERNEL)?;
    let original = read_all(&tree.join(SCHEDULER))?;
    for level in &BUILT {
        let mut changed = original.clone();
        for (file, from, to) in edits(level) {
            edit(&mut changed, file, from, &to)?;
        }
        let built = module(place, &headers, ("gpu-sched", level.name), &changed)?;
        files::copy(&built, &place.join(level.name).join("gpu-sched.ko"))?;
    }
    same(place, "gpu-sched.ko")?;
    Ok(None)
}

/// The unpacked sources of exactly this kernel; `None` if there are none.
fn sources(root: &Path, kernel: &Kernel) -> Option<PathBuf> {
    let version = kernel.version.replace([':', '/'], "_");
    let series = KERNEL.strip_prefix("debian:")?;
    let tree = root.join("sources").join(series).join(version);
    tree.join(SCHEDULER)
        .join("Makefile")
        .is_file()
        .then_some(tree)
}

/// The changes to the scheduler's sources: file, text, and replacement.
fn edits(level: &Level) -> Vec<(&'static str, &'static str, String)> {
    let run = "\tfence = sched->ops->run_job(sched_job);";
    let description = "MODULE_DESCRIPTION(\"DRM GPU scheduler\")";
    let include = "#include <linux/wait.h>";
    // The path where the tracing headers look for this file in an out-of-tree build.
    let mut edits = vec![
        (
            "gpu_scheduler_trace.h",
            "../../drivers/gpu/drm/scheduler",
            ".".to_owned(),
        ),
        (
            "Makefile",
            "gpu-sched-y :=",
            "ccflags-y += -I$(src)\ngpu-sched-y :=".to_owned(),
        ),
    ];
    match level.name {
        "planted" => edits.extend([
            (
                "sched_main.c",
                include,
                format!("{include}\n#include <linux/delay.h>"),
            ),
            ("sched_main.c", run, format!("\tudelay(100);\n{run}")),
        ]),
        "null" => edits.push((
            "sched_fence.c",
            description,
            "MODULE_DESCRIPTION(\"DRM GPU scheduler, for a trial\")".to_owned(),
        )),
        _ => {}
    }
    edits
}

type Sources = Vec<(String, String)>;

/// Replaces a text that must occur exactly once.
fn edit(sources: &mut Sources, file: &str, from: &str, to: &str) -> Result<(), Error> {
    let of_file = sources.iter_mut().find(|(name, _)| name == file);
    let (_, text) = of_file.ok_or_else(|| format!("{SCHEDULER}/{file}: is not there"))?;
    match text.matches(from).count() {
        1 => {
            *text = text.replace(from, to);
            Ok(())
        }
        count => Err(format!("{SCHEDULER}/{file}: has `{from}` {count} times")),
    }
}

/// Builds a module from these sources, unless it is there, and returns its path.
fn module(
    place: &Path,
    headers: &Headers,
    (name, level): (&str, &str),
    sources: &Sources,
) -> Result<PathBuf, Error> {
    let directory = place.join("modules").join(name).join(level);
    let built = directory.join(format!("{name}.ko"));
    let stamp = directory.join("built-of");
    let of = format!("{}\n{sources:?}", headers.directory.display());
    if built.is_file() && fs::read_to_string(&stamp).is_ok_and(|before| before == of) {
        return Ok(built);
    }
    files::remove(&directory)?;
    files::create(&directory)?;
    for (file, text) in sources {
        files::write(&directory.join(file), text)?;
    }
    run_command(headers.make(&directory)?)?;
    files::write(&stamp, &of)?;
    Ok(built)
}

/// The files of a directory, all of them text.
fn read_all(directory: &Path) -> Result<Sources, Error> {
    let mut sources = Vec::new();
    for path in files::entries(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() {
            sources.push((name.into_owned(), files::read(&path)?));
        }
    }
    Ok(sources)
}

fn gcc(arguments: &[&str]) -> Result<(), Error> {
    let always = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"];
    let all: Vec<&str> = always.iter().chain(arguments).copied().collect();
    run_command(command("gcc", &all)?)
}

/// Copies the plain level's file to another path.
fn same(place: &Path, name: &str) -> Result<(), Error> {
    files::copy(
        &place.join("plain").join(name),
        &place.join(SAME).join(name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_must_find_its_text_once() {
        let mut sources = vec![("a.c".to_owned(), "one two\n".to_owned())];
        edit(&mut sources, "a.c", "two", "three").unwrap();
        assert_eq!(sources[0].1, "one three\n");
        let why = edit(&mut sources, "a.c", "two", "four").unwrap_err();
        assert!(why.ends_with("has `two` 0 times"), "{why}");
        assert!(edit(&mut sources, "b.c", "one", "two").is_err());
    }

    #[test]
    fn the_planted_scheduler_alone_waits() {
        let waits = |level: &Level| {
            let edits = edits(level);
            edits.iter().any(|(_, _, to)| to.contains("udelay"))
        };
        let who: Vec<&str> = BUILT
            .iter()
            .filter(|level| waits(level))
            .map(|level| level.name)
            .collect();
        assert_eq!(who, ["planted"]);
    }
}
