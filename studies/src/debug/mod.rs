//! Builds self-checking kernels from Debian's sources, and runs all tests of the modules
//! on them.
//!
//! A silent kernel proves nothing unless it would have reported a bug. So bugs are planted first,
//! one for each kind of check, and each must be reported.

mod boots;
mod build;
mod kinds;
mod page;

use std::path::PathBuf;

use assize_target::kernels::Kernels;

use boots::{Planted, Tried};
use build::Built;
use kinds::{KINDS, Kind};
use xtask::command::output;
use xtask::guest::{self, Machine};
use xtask::{Error, agent, assize, files, marks};

/// The series to build: that of the kernel that experiments boot.
const SERIES: &str = "6.12";
const PAGE: &str = "studies/debug-kernel.md";

/// The results on one kernel.
struct Lane {
    kind: &'static Kind,
    built: Built,
    planted: Vec<Planted>,
    tried: Vec<Tried>,
}

impl Lane {
    /// The number of failures.
    fn failures(&self) -> usize {
        let planted = self.planted.iter().filter(|one| one.problem.is_some());
        let tried = self.tried.iter().filter(|one| !one.problems.is_empty());
        planted.count() + tried.count()
    }
}

/// The options of the command.
struct Wanted {
    kinds: Vec<&'static Kind>,
    /// Whether to write the page.
    write: bool,
    /// Whether to repeat cached runs.
    fresh: bool,
}

/// `cargo studies debug-kernel [kasan|kcsan] [--fresh] [--write]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let Wanted {
        kinds,
        write,
        fresh,
    } = read(arguments)?;
    let place = ready()?;
    // Determined first, as the tree may change during the run.
    let commit = commit()?;
    let kernels = Kernels::new(Kernels::default_root().map_err(|error| error.to_string())?);
    let source = kernels
        .fetch_source(SERIES, &mut |line| println!("{line}"))
        .map_err(|error| error.to_string())?;
    let programs = guest::programs(&place)?;
    let mut lanes = Vec::new();
    for kind in kinds {
        println!("\n== {}", kind.name);
        let built = build::kernel(&kernels, &source, kind)?;
        let modules = build::modules(&built, &place.join(kind.name))?;
        let machine = Machine {
            kernel: built.name.clone(),
            place: place.join(kind.name),
            assize: assize::path()?,
            fresh,
        };
        let planted = boots::plant(&machine, kind, &modules, &programs)?;
        let tried = boots::try_all(&machine, kind, &modules, &programs)?;
        lanes.push(Lane {
            kind,
            built,
            planted,
            tried,
        });
    }
    for lane in &lanes {
        let section = page::section(&source.version, &commit, lane);
        println!("\n== {}\n{section}", lane.built.name);
        if write {
            marks::write(PAGE, &mark(lane.kind), &section)?;
        }
    }
    match lanes.iter().map(Lane::failures).sum() {
        0_usize => Ok(()),
        failures => Err(format!("{failures} failed; what was printed is above")),
    }
}

fn mark(kind: &Kind) -> String {
    format!("made: debug-{}", kind.name)
}

fn read(arguments: &[String]) -> Result<Wanted, Error> {
    let mut wanted = Wanted {
        kinds: Vec::new(),
        write: false,
        fresh: false,
    };
    for word in arguments {
        match word.as_str() {
            "--write" => wanted.write = true,
            "--fresh" => wanted.fresh = true,
            _ => wanted.kinds.push(kind(word)?),
        }
    }
    if wanted.kinds.is_empty() {
        wanted.kinds.extend(KINDS);
    }
    Ok(wanted)
}

fn kind(word: &str) -> Result<&'static Kind, Error> {
    KINDS.iter().find(|kind| kind.name == word).ok_or_else(|| {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        format!("{word}: no such kind; there are {}", known.join(" and "))
    })
}

/// Builds assize and its agent; returns an empty directory for the results.
fn ready() -> Result<PathBuf, Error> {
    agent::run(&[])?;
    assize::build()?;
    files::scratch("debug-kernel")
}

/// The commit of the tested modules, with a mark if the tree has changes.
fn commit() -> Result<String, Error> {
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"])?;
    let changed = output("git", &["status", "--porcelain", "--", "kernel"])?;
    let changed = match changed.trim().is_empty() {
        true => "",
        false => " with changes that are not committed",
    };
    Ok(format!("{}{changed}", commit.trim()))
}

#[cfg(test)]
mod tests {
    use super::kinds::{SCALE, STRIDE};
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn without_a_kind_all_are_wanted() {
        let wanted = read(&words(&["--write"])).unwrap();
        assert_eq!(wanted.kinds.len(), KINDS.len());
        assert!(wanted.write && !wanted.fresh);
    }

    #[test]
    fn a_kind_can_be_named_and_another_word_cannot() {
        let wanted = read(&words(&["kcsan", "--fresh"])).unwrap();
        assert_eq!((wanted.kinds[0].name, wanted.kinds.len()), ("kcsan", 1));
        assert!(wanted.fresh && !wanted.write);
        assert!(read(&words(&["ktsan"])).is_err());
        assert!(read(&words(&["--frsh"])).is_err());
    }

    #[test]
    fn the_page_has_a_mark_for_each_kind_and_says_how_little_is_repeated() {
        let page = xtask::tree::read(PAGE).unwrap().unwrap();
        for kind in KINDS {
            assert!(marks::put(&page, &mark(kind), "").is_ok());
        }
        let words: Vec<&str> = page.split_whitespace().collect();
        let said = format!("{SCALE} % of its repetitions and tries one of {STRIDE} designs");
        assert!(words.join(" ").contains(&said), "{said}");
    }
}
