//! The command that reruns the experiment of a bundle.

use std::path::Path;

use assize_bundle::Error;
use assize_plan::Overrides;
use assize_verdict::{Document, OutcomeRun};
use serde::Deserialize;

use crate::failure::Failure;
use crate::shell;

/// The relevant keys of a plan. Older plans do not record the options of the command
/// line.
#[derive(Deserialize)]
struct PlanOverrides {
    overrides: Option<Overrides>,
}

/// The command, if the bundle holds runs of an experiment and records the options with
/// which they were planned.
pub(crate) fn command(bundle: &Path) -> Result<Option<String>, Failure> {
    let head = match assize_bundle::read_plan(bundle) {
        Ok(head) => head,
        Err(Error::NoSchedule(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let asked = PlanOverrides::deserialize(&head.plan).map_err(|error| {
        let file = bundle.join("bundle.json");
        Failure::Argument(format!("{}: the plan is damaged: {error}", file.display()))
    })?;
    Ok(asked.overrides.map(|overrides| {
        let words = ["run".to_owned()].into_iter();
        let command = shell::command_line(words.chain(options_of(&overrides)));
        format!("{command} {}", shell::word_of(&head.source))
    }))
}

/// Adds to the document of a bundle the commands that repeat single runs: the first run of the
/// worst outcome, and the run of each lint about a run.
pub(crate) fn add_run_commands(bundle: &Path, document: &mut Document) {
    let words = [
        "run".into(),
        "--resume".into(),
        bundle.as_os_str().to_owned(),
    ];
    let resume = shell::command_line(words.into_iter());
    for lint in &mut document.lints {
        if lint.code == "incomplete" {
            lint.detail = lint.detail.replace("assize run --resume", &resume);
        }
    }
    add_commands(Some(bundle), document);
}

/// Adds the commands alone. Without `only`, the runs name their bundles.
pub(crate) fn add_commands(only: Option<&Path>, document: &mut Document) {
    let command = |named: Option<&str>, index| {
        let named = named.map(Path::new).filter(|path| path.is_dir());
        named.or(only).map(|bundle| run_command(bundle, index))
    };
    let worst = ended_worst(document);
    document.look = worst.and_then(|run| command(run.bundle.as_deref(), run.index));
    for lint in &mut document.lints {
        lint.command = lint
            .run
            .and_then(|index| command(lint.bundle.as_deref(), index));
    }
}

/// The first run of the worst outcome.
fn ended_worst(document: &Document) -> Option<&OutcomeRun> {
    let worst = document.outcomes.iter().find(|row| row.is_worse());
    let row = worst.or(document.outcomes.first())?;
    let runs = row.signatures.iter().flat_map(|one| &one.runs);
    let ours = |run: &&OutcomeRun| run.configuration == row.configuration;
    runs.clone().find(ours).or(runs.clone().next())
}

/// The command that repeats a run of a bundle and records it in a new one.
fn run_command(bundle: &Path, index: u32) -> String {
    // Runs of different bundles in one directory get different outputs.
    let mut out = bundle.file_stem().unwrap_or_default().to_owned();
    out.push(format!("-run-{index}.bundle"));
    let words = [
        "run-one".into(),
        bundle.as_os_str().to_owned(),
        "--index".into(),
        index.to_string().into(),
        "--fresh".into(),
        "--out".into(),
        out,
    ];
    shell::command_line(words.into_iter())
}

/// The command-line options for these overrides.
fn options_of(overrides: &Overrides) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |option: &str, value: Option<String>| {
        words.extend(value.map(|value| [option.to_owned(), value]));
    };
    add("--target", overrides.target.clone());
    add("--kernel", overrides.kernel.clone());
    add("--cpus", overrides.cpus.map(|n| n.to_string()));
    add("--runs", overrides.runs.map(|n| n.to_string()));
    add("--seed", overrides.seed.map(|n| n.to_string()));
    add("--revision", overrides.revision.clone());
    for (factor, levels) in &overrides.levels {
        add("--set", Some(format!("{factor}={}", levels.join(","))));
    }
    words.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_override_comes_back_as_an_option() {
        let levels = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let overrides = Overrides {
            runs: Some(3),
            seed: Some(7),
            target: Some("ssh:box".into()),
            levels: [("queue".to_owned(), levels(&["a", "b"]))].into(),
            cpus: Some(2),
            kernel: Some("debian:7".into()),
            revision: Some("v7.1".into()),
        };
        assert_eq!(
            options_of(&overrides).join(" "),
            "--target ssh:box --kernel debian:7 --cpus 2 --runs 3 --seed 7 --revision v7.1 --set queue=a,b"
        );
        assert!(options_of(&Overrides::default()).is_empty());
    }
}
