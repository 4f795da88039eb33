//! Checks each section of a file by itself.

use std::collections::HashSet;

use assize_job::{Action, INSTRUMENTS, Machine};

use crate::build::{EXACT, RUNS};
use crate::experiment::Experiment;
use crate::levels::combine::level_path;
use crate::levels::names;
use crate::plan::BetterDirection;
use crate::raw::{self, BACKGROUND, Parameters, RawLevel};
use crate::report::tables;
use crate::report::tradeoffs;
use crate::values::error::Error;
use crate::values::read::join;

/// The targets other than `ssh:HOST`.
const TARGETS: &[&str] = &["exact", "live", "host"];

/// Checks the file; the error is the first mistake.
pub(crate) fn find(experiment: &Experiment) -> Result<(), Error> {
    names_of_things(experiment)?;
    top(experiment)?;
    metrics(experiment)?;
    until(experiment)?;
    steps(experiment, "setup", &experiment.file.setup)?;
    steps(experiment, "teardown", &experiment.file.teardown)?;
    words(experiment, "command_line", &experiment.file.command_line)?;
    levels(experiment)?;
    background(experiment)?;
    queue(experiment)?;
    tables::find(experiment)?;
    tradeoffs::find(experiment)?;
    tables::check_unique(experiment, "claims", &experiment.file.claims)?;
    for (at, file) in experiment.file.payload.files.iter().enumerate() {
        absolute(experiment, &format!("payload.files[{at}].to"), &file.to)?;
    }
    Ok(())
}

/// Why a text is not a valid target; `None` if it is.
pub(crate) fn wrong_target(target: &str) -> Option<&'static str> {
    match target.strip_prefix("ssh:") {
        Some(host) if host.is_empty() || host.starts_with('-') => Some("ssh: needs a host"),
        Some(host) if host.chars().any(char::is_whitespace) => Some("ssh: needs a host"),
        Some(_) => None,
        None if TARGETS.contains(&target) => None,
        None => Some("no such target"),
    }
}

/// The valid targets, for messages.
pub(crate) fn targets() -> impl Iterator<Item = &'static str> + Clone {
    TARGETS.iter().copied().chain(["ssh:HOST"])
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
    let measured: HashSet<_> = file
        .workloads
        .keys()
        .map(|name| name.to_lowercase())
        .collect();
    match file
        .background
        .keys()
        .find(|name| measured.contains(&name.to_lowercase()))
    {
        Some(name) => {
            let path = join("background", name);
            let error = experiment.error(&path, format!("a workload is called '{name}' too"));
            Err(error.mend("give each a name of its own"))
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
    if let Some(why) = wrong_target(&file.target) {
        let error = experiment.error("target", format!("'{}': {why}", file.target));
        return Err(error.nearest(&file.target, targets()));
    }
    kernel(experiment, "kernel", Some(&file.kernel))?;
    if !file.timeout_ns.is_multiple_of(1_000_000) {
        return Err(experiment.error("timeout", "must be whole milliseconds"));
    }
    images(experiment)?;
    let lasting = file.workloads.iter().chain(&file.background);
    let mut lasting = lasting.filter_map(|(_, parameters)| {
        let kind = parameters.get("kind")?.as_str()?;
        crate::workloads::kinds::kind(kind)?.key("duration")
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
    if file.target != EXACT {
        let why = format!("machines of {} do not start from images", file.target);
        return Err(experiment.error("images", why).mend("remove it"));
    }
    let runs = match &file.until {
        Some(until) => until.max_runs,
        None => file.runs.unwrap_or(RUNS),
    };
    if images > runs {
        let why = format!("{images} images are more than {runs} runs of each cell");
        let error = experiment.error("images", why);
        return Err(error.mend("a block uses one image: ask for more runs, or fewer images"));
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
        if file.instruments[..at].contains(name) {
            let error = experiment.error(&path, format!("'{name}' is given twice"));
            return Err(error.mend("remove one"));
        }
    }
    for (at, primary) in file.primary.iter().enumerate() {
        let path = format!("primary[{at}].metric");
        let metric = &primary.metric;
        if file.primary[..at]
            .iter()
            .any(|before| before.metric == *metric)
        {
            let error = experiment.error(&path, format!("'{metric}' is given twice"));
            return Err(error.mend("remove one"));
        }
        if primary.better == BetterDirection::Lower && file.higher_is_better.contains(metric) {
            let why = format!("'{metric}' is in higher_is_better, but better is lower here");
            let error = experiment.error(&format!("primary[{at}].better"), why);
            return Err(error.mend("say one thing in both places"));
        }
    }
    Ok(())
}

fn until(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    let Some(until) = &file.until else {
        return Ok(());
    };
    if file.runs.is_some() {
        let error = experiment.error("runs", "until already has max_runs");
        return Err(error.mend("remove runs or until"));
    }
    if file.primary.is_empty() {
        let error = experiment.error("until", "watches the primary metrics, but there are none");
        return Err(error.mend("declare primary = [{ metric = \"NAME\", better = \"lower\" }]"));
    }
    let is_primary = |metric: &String| file.primary.iter().any(|one| one.metric == *metric);
    if let Some(metric) = until.metric.as_ref().filter(|metric| !is_primary(metric)) {
        let error = experiment.error("until.metric", format!("'{metric}' is not primary"));
        return Err(error.mend("name one of primary, or add it there"));
    }
    if until.first_look > until.max_runs {
        let why = format!(
            "{} is more than max_runs = {}",
            until.first_look, until.max_runs
        );
        let error = experiment.error("until.first_look", why);
        return Err(error.mend("look earlier, or allow more runs"));
    }
    Ok(())
}

fn levels(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    for (factor, levels) in &file.factors {
        for (at, (name, level)) in levels.iter().enumerate() {
            let path = level_path(factor, name);
            if let Some((same, _)) = levels.iter().take(at).find(|(_, other)| *other == level) {
                let error = experiment.error(&path, format!("sets just what '{same}' sets"));
                return Err(error
                    .mend("set something else, or use aa = true to compare a thing with itself"));
            }
            kernel(experiment, &join(&path, "kernel"), level.kernel.as_deref())?;
            steps(experiment, &join(&path, "setup"), &level.setup)?;
            steps(experiment, &join(&path, "teardown"), &level.teardown)?;
            words(
                experiment,
                &join(&path, "command_line"),
                &level.command_line,
            )?;
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
    let file = &experiment.file;
    let names: Vec<&str> = level.background.iter().map(String::as_str).collect();
    check_background(experiment, path, &names)?;
    let mut all = file.workloads.values().chain(file.background.values());
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
    for (at, name) in names.iter().enumerate() {
        let path = format!("{}[{at}]", join(path, BACKGROUND));
        if !there.contains_key(*name) {
            let error = experiment.error(&path, format!("no background workload '{name}'"));
            let known = there.keys().map(String::as_str);
            return Err(match there.is_empty() {
                true => error.mend(format!("write [background.{name}] with a kind")),
                false => error.nearest(name, known),
            });
        }
        if names[..at].contains(name) {
            let error = experiment.error(&path, format!("'{name}' is given twice"));
            return Err(error.mend("remove one"));
        }
    }
    Ok(())
}

/// Rejects queue settings if no workload has a queue.
fn queue(experiment: &Experiment) -> Result<(), Error> {
    let file = &experiment.file;
    let mut all = file.workloads.values().chain(file.background.values());
    let submits = |parameters: &Parameters| {
        let kind = parameters.get("kind").and_then(|kind| kind.as_str());
        kind.is_some_and(crate::workloads::kinds::submits)
    };
    if all.any(submits) {
        return Ok(());
    }
    let levels = file.factors.iter().flat_map(|(factor, levels)| {
        let path = |level: &String| join(&level_path(factor, level), "queue");
        levels.keys().map(path).collect::<Vec<_>>()
    });
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
        let names: Vec<&str> = raw::background_names(workload).collect();
        check_background(experiment, &join("workloads", name), &names)?;
    }
    let levels = file.factors.values().flat_map(|levels| levels.values());
    let of_levels = levels.flat_map(|level| level.background.iter().map(String::as_str));
    let of_workloads = file.workloads.values().flat_map(raw::background_names);
    let wanted: HashSet<&str> = of_levels.chain(of_workloads).collect();
    match file
        .background
        .keys()
        .find(|name| !wanted.contains(name.as_str()))
    {
        Some(name) => {
            let error = experiment.error(&join(BACKGROUND, name), "nothing runs it");
            let mend = format!("add background = [\"{name}\"] to a level or a workload");
            Err(error.mend(mend))
        }
        None => Ok(()),
    }
}

/// How to name a kernel, for messages.
pub(crate) const KERNELS: &str = "give debian:6.12, running, or a name given to assize kernel add";

fn kernel(experiment: &Experiment, path: &str, kernel: Option<&str>) -> Result<(), Error> {
    match kernel {
        Some(name) if name.chars().any(char::is_whitespace) => {
            let error = experiment.error(path, format!("'{name}' is no kernel"));
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
            return Err(error.mend("give each word an element of its own"));
        }
        if let Err(wrong) = Machine::quantum_of(word) {
            let path = format!("{path}[{at}]");
            return Err(experiment.error(&path, wrong.why).mend(wrong.mend));
        }
    }
    Ok(())
}

fn absolute(experiment: &Experiment, path: &str, name: &str) -> Result<(), Error> {
    if name.starts_with('/') {
        return Ok(());
    }
    let error = experiment.error(path, format!("'{name}' is no absolute path"));
    Err(error.mend(format!("write \"/{name}\"")))
}

fn steps(experiment: &Experiment, path: &str, steps: &[Action]) -> Result<(), Error> {
    for (at, step) in steps.iter().enumerate() {
        let path = format!("{path}[{at}]");
        match step {
            Action::Write { path: name, .. } => {
                absolute(experiment, &join(&path, "write"), name)?;
            }
            Action::Command { argv } if argv.first().is_none_or(|name| name.trim().is_empty()) => {
                let error = experiment.error(&join(&path, "command"), "names no program");
                return Err(error.mend("give the program first, then its arguments"));
            }
            Action::Sysctl { name, .. } if name.contains('/') || !name.contains('.') => {
                let why = format!("'{name}' is no sysctl");
                let error = experiment.error(&join(&path, "sysctl"), why);
                return Err(error.mend("write it with dots: kernel.sched_autogroup_enabled"));
            }
            Action::Module { module, .. } if module.chars().any(char::is_whitespace) => {
                let why = format!("'{module}' is no module");
                let error = experiment.error(&join(&path, "module"), why);
                return Err(error.mend("write parameters = { NAME = \"VALUE\" } beside it"));
            }
            _ => {}
        }
    }
    Ok(())
}
