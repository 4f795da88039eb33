//! Checks each section of a file by itself.

use std::collections::HashSet;

use assize_job::{INSTRUMENTS, Machine};

use crate::configurations::names;
use crate::experiment::{Experiment, RUNS_DEFAULT, background_names};
use crate::levels::{RawLevel, level_path};
use crate::report::primary::BetterDirection;
use crate::report::{tables, tradeoffs};
use crate::steps::action;
use crate::values::document::join;
use crate::values::error::Error;
use crate::values::read::BACKGROUND;
use crate::values::target;
use crate::workloads::kinds;
use crate::{payload, until};

/// Checks the file section by section; the error is the first mistake.
pub(crate) fn check(experiment: &Experiment) -> Result<(), Error> {
    let (document, file) = (&experiment.document, &experiment.file);
    names_of_things(experiment)?;
    top(experiment)?;
    metrics(experiment)?;
    until::check(document, file.until.as_ref(), &file.primary)?;
    action::check(document, "setup", &file.setup)?;
    action::check(document, "teardown", &file.teardown)?;
    words(experiment, "command_line", &file.command_line)?;
    levels(experiment)?;
    background(experiment)?;
    queue(experiment)?;
    let names = experiment.names();
    tables::check(&names, &file.tables)?;
    tradeoffs::check(&names, experiment.directions(), &file.tradeoffs)?;
    document.check_unique("claims", &file.claims)?;
    payload::check(document, &file.payload)
}

fn names_of_things(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    unique(experiment, "factors", "factor", file.factors.keys())?;
    for (factor, levels) in &file.factors {
        let path = join("factors", factor);
        if levels.is_empty() {
            let error = experiment.error(&path, "has no levels");
            return Err(error.mend(format!("write [{path}.LEVEL]")));
        }
        unique(experiment, &path, "level", levels.keys())?;
    }
    unique(experiment, "workloads", "workload", file.workloads.keys())?;
    unique(experiment, "background", "workload", file.background.keys())?;
    if file.workloads.is_empty() {
        let error = experiment.error("workloads", "is empty: nothing would be measured");
        return Err(error.mend("write [workloads.NAME] with a kind"));
    }
    let measured = file.workloads.keys().map(|name| name.to_lowercase());
    let measured: HashSet<String> = measured.collect();
    let mut background = file.background.keys();
    match background.find(|name| measured.contains(&name.to_lowercase())) {
        Some(name) => {
            let path = join("background", name);
            let error = experiment.error(&path, format!("a workload is called '{name}' too"));
            Err(error.mend("give each its own name"))
        }
        None => Ok(()),
    }
}

fn unique<'a>(
    experiment: &Experiment,
    path: &str,
    noun: &str,
    given: impl Iterator<Item = &'a String>,
) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for name in given {
        let path = join(path, name);
        if let Some(why) = names::why_invalid(name) {
            let error = experiment.error(&path, why);
            return Err(error.mend("use letters, digits, '.', ':', '_' and '-'"));
        }
        if !seen.insert(name.to_lowercase()) {
            let why = format!("{noun} used twice: '{name}' differs from another in case only");
            return Err(experiment.error(&path, why).mend("rename one"));
        }
    }
    Ok(())
}

fn top(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    if let Some(why) = target::why_invalid(&file.target) {
        let error = experiment.error("target", format!("'{}': {why}", file.target));
        return Err(error.nearest(&file.target, target::valid()));
    }
    kernel(experiment, "kernel", Some(&file.kernel))?;
    if !file.timeout_ns.is_multiple_of(1_000_000) {
        return Err(experiment.error("timeout", "must be whole milliseconds"));
    }
    images(experiment)?;
    let mut lasting = experiment.every_workload().filter_map(|parameters| {
        let kind = parameters.get("kind")?.as_str()?;
        kinds::find(kind)?.key("duration")
    });
    if file.duration_ns.is_some() && lasting.next().is_none() {
        let error = experiment.error("duration", "no workload here has a duration");
        return Err(error.mend("remove it"));
    }
    Ok(())
}

/// Rejects `images` where no run would start from an image.
fn images(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    let Some(images) = file.images else {
        return Ok(());
    };
    if file.target != target::EXACT {
        let why = format!("the target {} has no memory images", file.target);
        return Err(experiment.error("images", why).mend("remove it"));
    }
    let runs = match &file.until {
        Some(until) => until.max_runs,
        None => file.runs.unwrap_or(RUNS_DEFAULT),
    };
    if images > runs {
        let why = format!("{images} images are too many for {runs} runs of each cell");
        let error = experiment.error("images", why);
        return Err(error.mend("each block uses one image: ask for more runs, or fewer images"));
    }
    Ok(())
}

fn metrics(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    let names = || INSTRUMENTS.iter().map(|instrument| instrument.name);
    for (at, name) in file.instruments.iter().enumerate() {
        let path = format!("instruments[{at}]");
        if !names().any(|known| known == name) {
            let error = experiment.error(&path, format!("no instrument '{name}'"));
            return Err(error.nearest(name, names()));
        }
        let (document, instruments) = (&experiment.document, &file.instruments[..=at]);
        document.check_unique("instruments", instruments)?;
    }
    for (at, primary) in file.primary.iter().enumerate() {
        let path = format!("primary[{at}].metric");
        let metric = &primary.metric;
        let mut before = file.primary[..at].iter();
        if before.any(|before| before.metric == *metric) {
            let error = experiment.error(&path, format!("'{metric}' is given twice"));
            return Err(error.mend("remove one"));
        }
        if primary.better == BetterDirection::Lower && file.higher_is_better.contains(metric) {
            let why = format!("'{metric}' is in higher_is_better, but better is lower here");
            let error = experiment.error(&format!("primary[{at}].better"), why);
            return Err(error.mend("give the same direction in both places"));
        }
    }
    Ok(())
}

fn levels(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    for (factor, levels) in &file.factors {
        for (at, (name, level)) in levels.iter().enumerate() {
            let path = level_path(factor, name);
            if let Some((same, _)) = levels.iter().take(at).find(|(_, other)| *other == level) {
                let error = experiment.error(&path, format!("sets the same as '{same}'"));
                return Err(
                    error.mend("set something else, or use aa = true to run the baseline twice")
                );
            }
            kernel(experiment, &join(&path, "kernel"), level.kernel.as_deref())?;
            action::check(&experiment.document, &join(&path, "setup"), &level.setup)?;
            action::check(
                &experiment.document,
                &join(&path, "teardown"),
                &level.teardown,
            )?;
            let command_line = join(&path, "command_line");
            words(experiment, &command_line, &level.command_line)?;
            runs_and_environment(experiment, &path, level)?;
        }
    }
    Ok(())
}

fn runs_and_environment(
    experiment: &Experiment,
    path: &str,
    level: &RawLevel,
) -> Result<(), Error> {
    let names: Vec<&str> = level.background.iter().map(String::as_str).collect();
    check_background(experiment, path, &names)?;
    let mut all = experiment.every_workload();
    let commands = all.any(|one| one.get("kind").is_some_and(|kind| kind == "command"));
    if !level.environment.is_empty() && !commands {
        let path = join(path, "environment");
        let error = experiment.error(&path, "no workload here is a command");
        return Err(error.mend("remove it"));
    }
    Ok(())
}

/// Checks the background workloads that a level or a workload names.
fn check_background(experiment: &Experiment, path: &str, names: &[&str]) -> Result<(), Error> {
    let there = &experiment.file.background;
    let path = join(path, BACKGROUND);
    for (at, name) in names.iter().enumerate() {
        if !there.contains_key(*name) {
            let why = format!("no background workload '{name}'");
            let error = experiment.error(&format!("{path}[{at}]"), why);
            let known = there.keys().map(String::as_str);
            return Err(match there.is_empty() {
                true => error.mend(format!("write [background.{name}] with a kind")),
                false => error.nearest(name, known),
            });
        }
        experiment.document.check_unique(&path, &names[..=at])?;
    }
    Ok(())
}

/// Rejects queue settings if no workload has a queue.
fn queue(experiment: &Experiment) -> Result<(), Error> {
    let mut kinds = experiment
        .every_workload()
        .filter_map(|parameters| parameters.get("kind")?.as_str());
    if kinds.any(kinds::submits) {
        return Ok(());
    }
    let levels = experiment.every_level();
    let levels = levels.map(|(path, _)| join(&path, "queue"));
    let mut paths = std::iter::once("queue".to_owned()).chain(levels);
    match paths.find(|path| experiment.gives(path)) {
        Some(path) => {
            let error = experiment.error(&path, "no workload here submits to simgpu");
            Err(error.mend("remove it"))
        }
        None => Ok(()),
    }
}

/// Checks the background workloads that workloads name, and rejects those that
/// nothing names.
fn background(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    for (name, workload) in &file.workloads {
        let names: Vec<&str> = background_names(workload).collect();
        check_background(experiment, &join("workloads", name), &names)?;
    }
    let levels = experiment.every_level();
    let of_levels = levels.flat_map(|(_, level)| level.background.iter().map(String::as_str));
    let of_workloads = file.workloads.values().flat_map(background_names);
    let wanted: HashSet<&str> = of_levels.chain(of_workloads).collect();
    let mut there = file.background.keys();
    match there.find(|name| !wanted.contains(name.as_str())) {
        Some(name) => {
            let error = experiment.error(&join(BACKGROUND, name), "nothing runs it");
            let mend = format!("add background = [\"{name}\"] to a level or a workload");
            Err(error.mend(mend))
        }
        None => Ok(()),
    }
}

/// The correction for a wrong kernel name, for messages.
pub(crate) const KERNELS: &str =
    "use 'debian:6.12', 'running' or a name added by assize kernel add";

fn kernel(experiment: &Experiment, path: &str, kernel: Option<&str>) -> Result<(), Error> {
    match kernel {
        Some(name) if name.chars().any(char::is_whitespace) => {
            let error = experiment.error(path, format!("'{name}' is not a kernel"));
            Err(error.mend(KERNELS))
        }
        _ => Ok(()),
    }
}

fn words(experiment: &Experiment, path: &str, words: &[String]) -> Result<(), Error> {
    for (at, word) in words.iter().enumerate() {
        if word.chars().any(char::is_whitespace) && !word.contains('"') {
            let path = format!("{path}[{at}]");
            let error = experiment.error(&path, format!("'{word}' is more than one word"));
            return Err(error.mend("make each word a separate element"));
        }
        if let Err(wrong) = Machine::quantum_of(word) {
            let path = format!("{path}[{at}]");
            return Err(experiment.error(&path, wrong.why).mend(wrong.mend));
        }
    }
    Ok(())
}
