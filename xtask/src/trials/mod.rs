//! Known-answer trials: for each kind of thing that a level can set, an experiment with an effect
//! of known size, a level without an effect, and one that differs only in name.

mod build;
mod carry;
mod kernels;
mod kinds;
mod place;
mod sshd;
mod target;
mod weigh;

use std::time::Instant;

use carry::{Court, Outcome};
use kinds::{KINDS, Kind, Need, Trial};
use place::Place;
use sshd::Sshd;
use target::{NAMES, Name, Target};

use crate::steps::Done;
use crate::{Error, agent, assize, kmod, tree};

/// Runs of each level. If all runs of a level are identical, as is possible on the exact target,
/// only the permutation test finds an effect, and it needs six.
const RUNS_LIGHT: u32 = 6;
const RUNS: u32 = 8;

/// The trials of [`smoke`].
const SMOKE: [&str; 3] = ["module-name", "program", "sysctl"];

/// The options of the command.
#[derive(Debug, PartialEq)]
struct Options {
    light: bool,
    targets: Vec<Name>,
    /// Names of kinds or of trials; empty for all.
    only: Vec<String>,
}

/// `cargo xtask trials [--light] [--target T] [KIND...]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let options = Options::read(arguments)?;
    agent::run(&[])?;
    match all(&options)? {
        Done::Ok | Done::Counted(_) => Ok(()),
        Done::Skipped(why) if options.only.is_empty() => {
            println!("skipped: {why}");
            Ok(())
        }
        Done::Skipped(why) => Err(format!("skipped: {why}")),
    }
}

/// The step of `check`: a module, a program and a sysctl, where a missing effect would do the most
/// harm.
pub(crate) fn smoke() -> Result<Done, Error> {
    all(&Options {
        light: true,
        targets: vec![Name::Exact],
        only: SMOKE.map(String::from).to_vec(),
    })
}

/// The step of `check-more`: the light form. Deletes the memory images, which take some
/// gigabytes.
pub(crate) fn step() -> Result<Done, Error> {
    let done = all(&Options {
        light: true,
        targets: NAMES.to_vec(),
        only: Vec::new(),
    });
    place::remove_images(&tree::target()?.join("trials"))?;
    done
}

impl Options {
    fn read(arguments: &[String]) -> Result<Options, Error> {
        let mut options = Options {
            light: false,
            targets: Vec::new(),
            only: Vec::new(),
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--light" => options.light = true,
                "--target" => options.targets.push(target_of(words.next())?),
                option if option.starts_with('-') => {
                    return Err(format!("{option}: no such option"));
                }
                name => options.only.push(known(name)?),
            }
        }
        if options.targets.is_empty() {
            options.targets = NAMES.to_vec();
        }
        Ok(options)
    }

    fn wants(&self, kind: Kind, trial: &Trial) -> bool {
        let named = |name: &String| *name == kind.name() || *name == trial.name;
        match self.only.is_empty() {
            true => !(self.light && trial.long),
            false => self.only.iter().any(named),
        }
    }
}

fn target_of(word: Option<&String>) -> Result<Name, Error> {
    let named = |word: &String| NAMES.iter().find(|name| name.word() == word).copied();
    let words: Vec<&str> = NAMES.iter().map(|name| name.word()).collect();
    let error = || format!("--target: is one of {}", words.join(", "));
    word.and_then(named).ok_or_else(error)
}

/// The name of a kind or of a trial.
fn known(name: &str) -> Result<String, Error> {
    let is = |kind: &Kind| {
        let mut trials = kind.trials().into_iter();
        kind.name() == name || trials.any(|trial| trial.name == name)
    };
    if KINDS.iter().any(is) {
        return Ok(name.to_owned());
    }
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name()).collect();
    Err(format!(
        "{name}: no such kind; there are {}",
        names.join(", ")
    ))
}

fn all(options: &Options) -> Result<Done, Error> {
    if let Err(why) = kmod::headers(build::KERNEL) {
        return Ok(Done::Skipped(why));
    }
    let assize = assize::build()?;
    let place = Place::new(&tree::target()?.join("trials"))?;
    let court = Court {
        place: &place,
        assize,
        agent: agent::path()?,
        runs: if options.light { RUNS_LIGHT } else { RUNS },
    };
    build::programs(&place.files)?;
    let mut report = Report::default();
    for name in &options.targets {
        let target = match (name, sshd::missing()) {
            (Name::Ssh, Some(why)) => {
                report.skip(name.word(), &why);
                continue;
            }
            (Name::Ssh, None) => Target::new(*name, Some(Sshd::start(&place.sshd)?)),
            (Name::Exact | Name::Host, _) => Target::new(*name, None),
        };
        on(options, &court, &target, &mut report)?;
    }
    report.end()
}

/// Runs the requested trials on one target.
fn on(
    options: &Options,
    court: &Court<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<(), Error> {
    let of_kind = |kind: &Kind| {
        let kind = *kind;
        kind.trials().into_iter().map(move |trial| (kind, trial))
    };
    for (kind, trial) in KINDS.iter().flat_map(of_kind) {
        if !options.wants(kind, &trial) || (target.is_real() && !trial.real) {
            continue;
        }
        if let Some(why) = prepare(trial.need, court.place)? {
            report.skip(trial.name, &why);
            continue;
        }
        let begun = Instant::now();
        let outcome = court.try_one(&trial, target)?;
        report.add(&trial, target, &outcome, begun.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Prepares the requirements of a trial, or returns the reason why it cannot run here.
fn prepare(need: Option<Need>, place: &Place) -> Result<Option<String>, Error> {
    match need {
        None => Ok(None),
        Some(Need::Kernels) => kernels::store(&place.cache),
        Some(Need::Module) => build::modules(&place.files).map(|()| None),
        Some(Need::Scheduler) => build::scheduler(&place.files),
        Some(Need::Policies) => Ok(kernels::lacks_policies(&place.cache)),
    }
}

/// The results so far.
#[derive(Default)]
struct Report {
    right: usize,
    wrong: Vec<String>,
    skipped: Vec<String>,
}

impl Report {
    /// Prints a row and, below it, why the result is wrong.
    fn add(&mut self, trial: &Trial, target: &Target, outcome: &Outcome, seconds: f64) {
        if self.right + self.wrong.len() == 0 {
            row(["trial", "target", "planted", "found", "null", "same"], "");
        }
        let same = outcome.same.as_ref().map_or("-", |found| &found.shown);
        row(
            [
                trial.name,
                target.name(),
                &outcome.truth,
                &outcome.planted.shown,
                &outcome.null.shown,
                same,
            ],
            &format!("{seconds:.0} s"),
        );
        let mut wrong = outcome.wrong().peekable();
        if wrong.peek().is_none() {
            self.right += 1;
            return;
        }
        for why in wrong {
            println!("    WRONG: {why}");
        }
        self.wrong
            .push(format!("{} on {}", trial.name, target.name()));
    }

    fn skip(&mut self, what: &str, why: &str) {
        println!("{what:<17} skipped: {why}");
        self.skipped.push(format!("{what}: {why}"));
    }

    fn end(self) -> Result<Done, Error> {
        println!(
            "\n{} trials right, {} wrong, {} skipped",
            self.right,
            self.wrong.len(),
            self.skipped.len()
        );
        if !self.wrong.is_empty() {
            return Err(format!("wrong: {}", self.wrong.join(", ")));
        }
        if !self.skipped.is_empty() {
            return Ok(Done::Skipped(self.skipped.join("; ")));
        }
        match self.right {
            0 => Err("nothing was tried: that target cannot change that".into()),
            _ => Ok(Done::Ok),
        }
    }
}

fn row(cells: [&str; 6], time: &str) {
    let [trial, target, planted, found, null, same] = cells;
    println!("{trial:<17} {target:<6} {planted:<13} {found:<35} {null:<35} {same:<13} {time}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Options, Error> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Options::read(&words)
    }

    #[test]
    fn kinds_and_trials_are_asked_for_by_name() {
        let options = read(&["--light", "--target", "host", "module-path"]).unwrap();
        assert!(options.light);
        assert_eq!(options.targets, [Name::Host]);
        let of_kind = Kind::ModulePath.trials();
        assert!(
            of_kind
                .iter()
                .all(|trial| options.wants(Kind::ModulePath, trial))
        );
        assert!(!options.wants(Kind::Kernel, &Kind::Kernel.trials()[0]));
        let options = read(&["--light", "scheduler-path"]).unwrap();
        assert_eq!(options.targets, NAMES);
        assert!(options.wants(Kind::ModulePath, &of_kind[1]));
        assert!(!options.wants(Kind::ModulePath, &of_kind[0]));
    }

    #[test]
    fn the_light_form_leaves_out_what_takes_long() {
        let [light, whole] = [&["--light"][..], &[]].map(|words| read(words).unwrap());
        let trials = Kind::ModulePath.trials();
        assert!(light.wants(Kind::ModulePath, &trials[0]));
        assert!(!light.wants(Kind::ModulePath, &trials[1]));
        assert!(whole.wants(Kind::ModulePath, &trials[1]));
    }

    #[test]
    fn unknown_words_are_errors() {
        assert!(read(&["--lite"]).unwrap_err().contains("no such option"));
        assert!(read(&["kernels"]).unwrap_err().contains("no such kind"));
        assert!(read(&["--target"]).unwrap_err().contains("is one of"));
        assert!(read(&["--target", "moon"]).unwrap_err().contains("exact"));
    }
}
