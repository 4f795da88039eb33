//! Prerequisites of tests in virtual machines: kernels, and the QEMU of exact machines, which is
//! built once; also files from a kernel's sources.

use assize_target::kernels::Kernels;

use crate::command::{command, run as run_command};
use crate::steps::Done;
use crate::{Error, assize};

/// Kernels used by experiments and tests, each with the options for fetching more than the image;
/// the first is the one that `check` boots. Kernels without a compiler here use the one from
/// setup.sh.
const KERNELS: &[(&str, &[&str])] = &[
    ("debian:6.12", &["--headers"]),
    ("debian:6.12-rt", &["--headers"]),
    ("debian:6.1", &["--headers"]),
    ("debian:7", &["--compiler"]),
];

/// The series whose sources are needed.
const SERIES: &str = "6.12";
/// The needed parts: checkpatch with its lists, which no smaller package has; the scheduler, for
/// builds with changes; the KTAP parser.
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

/// The step of `check`: the exact machine and one kernel. If it fails, tests that boot are skipped
/// and say so.
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

/// Fetches parts of the newest sources, unless they are in the cache.
pub(crate) fn fetch_sources() -> Result<(), Error> {
    let kernels = Kernels::new(Kernels::default_root().map_err(|error| error.to_string())?);
    let source = kernels.fetch_source_parts(SERIES, PARTS, &mut |line| println!("{line}"));
    let source = source.map_err(|error| error.to_string())?;
    println!("{}", source.tree.display());
    Ok(())
}

/// The step of `check` for the sources. If it fails, checkpatch is taken from an earlier fetch, or
/// skipped.
pub(crate) fn sources() -> Result<Done, Error> {
    match fetch_sources() {
        Ok(()) => Ok(Done::Ok),
        Err(why) => Ok(Done::Skipped(why)),
    }
}
