//! Runs a trial with the command that users run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::kinds::{Trial, Truth};
use super::place::Place;
use super::target::Target;
use super::weigh::{self, Found, Row, Runs};
use crate::{Error, files, tree};

/// On a real machine, a trial with a wrong result is repeated with other seeds: noise disappears,
/// errors remain.
const ATTEMPTS: u64 = 4;
/// Runs of each level if both levels are the same.
const RUNS_OF_SAME: u32 = 2;

/// The settings for running trials.
pub(super) struct Court<'a> {
    pub(super) place: &'a Place,
    pub(super) assize: PathBuf,
    pub(super) agent: PathBuf,
    /// Runs of each level.
    pub(super) runs: u32,
}

/// The result of a trial on a target.
pub(super) struct Outcome {
    pub(super) truth: String,
    pub(super) planted: Found,
    pub(super) null: Found,
    /// The result for a level that differs only in name, which must not be compared; `None` without
    /// such a level.
    pub(super) same: Option<Found>,
}

impl Outcome {
    /// The reasons why the result is wrong.
    pub(super) fn wrong(&self) -> impl Iterator<Item = &str> {
        let same = self.same.iter();
        let found = [&self.planted, &self.null].into_iter().chain(same);
        found.filter_map(|found| found.wrong.as_deref())
    }
}

/// The result of one `assize run`.
struct Answer {
    succeeded: bool,
    document: Value,
    said: String,
    bundle: PathBuf,
}

impl Court<'_> {
    /// Runs both experiments of a trial; on a real machine repeatedly, if necessary.
    pub(super) fn try_one(&self, trial: &Trial, target: &Target) -> Result<Outcome, Error> {
        let path = format!("tests/trials/{}.toml", trial.name);
        let text = tree::read(&path)?.ok_or_else(|| format!("{path}: not a text"))?;
        let text = self.filled_in(&text, target);
        let attempts = if target.is_real() { ATTEMPTS } else { 1 };
        let mut seed = 1;
        let mut outcome = loop {
            let outcome = self.judged(trial, target, &without_same(&text), seed)?;
            if outcome.wrong().next().is_none() || seed == attempts {
                break outcome;
            }
            seed += 1;
        };
        if text.contains(SAME) {
            outcome.same = Some(self.same(trial, target, &text)?);
        }
        Ok(outcome)
    }

    fn judged(
        &self,
        trial: &Trial,
        target: &Target,
        text: &str,
        seed: u64,
    ) -> Result<Outcome, Error> {
        let name = format!("{}-{}-{seed}", trial.name, target.name());
        let answer = self.assize(&name, text, target, (self.runs, seed))?;
        let real = target.is_real();
        let metric = trial.metric.unwrap_or(target.metric());
        let row = |level: &str| Row::find(&answer.document, level, metric);
        let found = row("planted");
        let runs = match trial.truth {
            Truth::Fails => runs_of(&answer.bundle, "planted")?,
            Truth::Ratio(..) | Truth::Added(_) => Runs::default(),
        };
        let mut outcome = Outcome {
            truth: weigh::truth(trial, real, found.as_ref()),
            planted: weigh::planted(trial, real, found.as_ref(), runs),
            null: weigh::null(trial, real, row("null").as_ref()),
            same: None,
        };
        // If all runs of a configuration fail, the command exits with 3, but still judges the
        // others.
        let fails = matches!(trial.truth, Truth::Fails);
        if answer.succeeded == fails {
            let line = answer.said.lines().last().unwrap_or("nothing was said");
            outcome.planted.wrong = Some(format!("it was not judged: {line}"));
        }
        Ok(outcome)
    }

    fn same(&self, trial: &Trial, target: &Target, text: &str) -> Result<Found, Error> {
        let name = format!("{}-{}-same", trial.name, target.name());
        let answer = self.assize(&name, text, target, (RUNS_OF_SAME, 1))?;
        Ok(weigh::sameness(&answer.document, &answer.said))
    }

    /// Fills paths and numbers into an experiment. The planted effect does not depend on
    /// the memory image, so a single one saves most of the boots.
    fn filled_in(&self, text: &str, target: &Target) -> String {
        let scratch = match target.is_real() {
            true => self.place.scratch.display().to_string(),
            false => "/tmp".into(),
        };
        let images = match target.is_real() {
            true => "",
            false => "images = 1\n",
        };
        format!("{images}{text}")
            .replace("@PLACE@", &self.place.files.display().to_string())
            .replace("@SCRATCH@", &scratch)
            .replace("@UNITS@", target.units())
            .replace("@LOOP@", target.metric())
    }

    fn assize(
        &self,
        name: &str,
        text: &str,
        target: &Target,
        (runs, seed): (u32, u64),
    ) -> Result<Answer, Error> {
        let file = self.place.files.join(format!("{name}.toml"));
        files::write(&file, text)?;
        let bundle = self.place.bundles.join(name);
        let mut command = Command::new(&self.assize);
        command
            .arg("run")
            .arg(&file)
            .args(["--quiet", "--format", "json", "--target", target.word()])
            .args(["--runs", &runs.to_string(), "--seed", &seed.to_string()])
            .arg("--out")
            .arg(&bundle)
            // The experiment's relative paths start here.
            .current_dir(&self.place.files)
            .env("ASSIZE_AGENT", &self.agent)
            .env("ASSIZE_CACHE", &self.place.cache)
            .stdin(Stdio::null());
        if let Some(path) = target.path() {
            command.env("PATH", path);
        }
        let output = command
            .output()
            .map_err(|why| format!("{}: {why}", self.assize.display()))?;
        Ok(Answer {
            succeeded: output.status.success(),
            document: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
            bundle,
        })
    }
}

const SAME: &str = "[factors.level.same]";

/// The experiment without the level that differs only in name.
fn without_same(text: &str) -> String {
    let mut kept = String::new();
    let mut within = false;
    for line in text.lines() {
        if line.starts_with('[') {
            within = line == SAME;
        }
        if !within {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// The results of a level's runs, from the bundle.
fn runs_of(bundle: &Path, level: &str) -> Result<Runs, Error> {
    let mut runs = Runs::default();
    for run in tree::runs(bundle)? {
        match (run["configuration"] == level, run["exit"] == "completed") {
            (true, true) => runs.whole += 1,
            (true, false) => runs.failed += 1,
            (false, _) => {}
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_that_differs_in_name_only_is_left_out() {
        let text = "a = 1\n\n[factors.level.null]\nb = 2\n\n[factors.level.same]\nb = 1\n\n\
                    [workloads.probe]\nkind = \"command\"\n";
        assert_eq!(
            without_same(text),
            "a = 1\n\n[factors.level.null]\nb = 2\n\n[workloads.probe]\nkind = \"command\"\n"
        );
    }
}
