//! What tests in virtual machines need: kernels, and the QEMU of exact
//! machines, which is built once. And what is only in a kernel's sources.

use assize_target::kernels::Kernels;

use crate::command::{command, run as run_command};
use crate::steps::Done;
use crate::{Error, assize};

/// Kernels that experiments in the tree and tests ask for, each with what is
/// fetched beside the image; first the one that `check` boots. The compiler of those without one is installed by
/// setup.sh.
const KERNELS: &[(&str, &[&str])] = &[
    ("debian:6.12", &["--headers"]),
    ("debian:6.12-rt", &["--headers"]),
    ("debian:6.1", &["--headers"]),
    ("debian:7", &["--compiler"]),
];

/// Of which kernel the sources are wanted.
const SERIES: &str = "6.12";
/// What of them: checkpatch, which no smaller package has, with the lists
/// that it reads; the scheduler, which can be built with changes; and what reads KTAP.
const PARTS: &[&str] = &[
    "drivers/gpu/drm/scheduler",
    "scripts/checkpatch.pl",
    "scripts/const_structs.checkpatch",
    "scripts/spelling.txt",
    "tools/testing/kunit/kunit_parser.py",
    "tools/testing/kunit/kunit_printer.py",
];

/// `cargo xtask lab`: fetches what is missing, into the cache of assize.
pub(crate) fn run(_: &[String]) -> Result<(), Error> {
    fetch_kernels()?;
    fetch_sources()
}

fn fetch_kernels() -> Result<(), Error> {
    fetch(KERNELS)
}

fn fetch(kernels: &[(&str, &[&str])]) -> Result<(), Error> {
    let program = assize::build()?;
    let assize = |arguments: &[&str]| {
        let all = [&["kernel", "fetch"], arguments].concat();
        run_command(command(&program, &all)?)
    };
    assize(&["--qemu"])?;
    kernels
        .iter()
        .try_for_each(|(name, beside)| assize(&[beside, &[*name][..]].concat()))
}

/// The step of `check`: the exact machine with one kernel. Without it the tests that boot
/// skip, and say so.
pub(crate) fn machine() -> Result<Done, Error> {
    Ok(done(fetch(&KERNELS[..1])))
}

/// The step of `check-more`.
pub(crate) fn step() -> Result<Done, Error> {
    Ok(done(fetch_kernels()))
}

fn done(fetched: Result<(), Error>) -> Done {
    match fetched {
        Ok(()) => Done::Ok,
        Err(why) => Done::Skipped(format!("no kernels: {why}")),
    }
}

/// Fetches parts of the newest sources, unless they are here.
pub(crate) fn fetch_sources() -> Result<(), Error> {
    let kernels = Kernels::new(Kernels::default_root().map_err(|error| error.to_string())?);
    let source = kernels.fetch_source_parts(SERIES, PARTS, &mut |line| println!("{line}"));
    let source = source.map_err(|error| error.to_string())?;
    println!("{}", source.tree.display());
    Ok(())
}

/// The step of `check` for them. Without it checkpatch uses the one that was
/// fetched before, or skips.
pub(crate) fn sources() -> Result<Done, Error> {
    match fetch_sources() {
        Ok(()) => Ok(Done::Ok),
        Err(why) => Ok(Done::Skipped(why)),
    }
}
