//! A verdict as checks that pass or fail, for machines that test changes: JUnit, KTAP,
//! workflow commands and a summary of GitHub, code quality of GitLab, KCIDB.
//!
//! What fails is what ends the command with status 1: a claim that is refuted, and what
//! `--fail-on` has found; and in any case that runs crash, hang, fail or are complained of
//! by the kernel more often than those of the baseline, which is nothing that anybody has
//! to ask for.

mod annotations;
mod junit;
mod kcidb;
mod ktap;
mod summary;

use assize_verdict::{Comparison, Document, Outcome as Claimed, OutcomeComparison, Verdict};

use crate::contrasts::{
    MetricWords, Outcome, came_out, effect_with_interval, outcome_said, row_words,
};
use crate::number::significant;
use crate::series::{Effect, Outcome as Tried, Reading, Series};

pub use annotations::{github, gitlab};
pub use junit::junit;
pub use kcidb::kcidb;
pub use ktap::ktap;
pub use summary::markdown;

/// What a finding is about: places in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// One of the ways in which runs ended.
    Outcome(usize),
    /// One of the comparisons.
    Comparison(usize),
    /// One of the claims.
    Claim(usize),
    /// One of the lints.
    Lint(usize),
}

/// Something that ends the command with status 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was asked for: `worse>2%`, `refuted`, `lint`.
    pub what: String,
    /// What it was found in.
    pub subject: Subject,
    /// The figures on which it rests.
    pub why: String,
}

impl Finding {
    /// All that was found in one subject, if anything was.
    pub fn all(findings: &[Finding], subject: Subject) -> Option<String> {
        let of = findings.iter().filter(|one| one.subject == subject);
        let said: Vec<String> = of.map(|one| format!("{}: {}", one.what, one.why)).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing that was asked for is found in it.
    Passed,
    /// The runs do not decide, and no gate requires that they do.
    Undecided,
    /// It ends the command with status 1: what was asked for, and the figures.
    Failed(String),
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it belongs to: a workload, a patch, `claims` or `lints`.
    pub group: String,
    /// What was looked at.
    pub name: String,
    /// What became of it.
    pub state: State,
    /// The answer in one line.
    pub said: String,
}

/// All that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checks {
    /// What was judged.
    pub title: String,
    /// The file that annotations are shown at.
    pub file: String,
    /// In the order of the document.
    pub checks: Vec<Check>,
    /// The command that gives the same again.
    pub reproduce: String,
}

impl Checks {
    /// The checks of a document: its primary rows, or, if none is, all that compare;
    /// any other row, and any lint, in which something was found; and its claims.
    pub fn of(document: &Document, metrics: &[MetricWords], findings: &[Finding]) -> Checks {
        let primary = document.comparisons.iter().any(|row| row.primary);
        let failed = |subject: Subject| Finding::all(findings, subject);
        let ended = document.outcomes.iter().enumerate();
        let ended = ended.map(|(at, row)| of_end(row, failed(Subject::Outcome(at))));
        let mut checks: Vec<Check> = ended.collect();
        for (at, row) in document.comparisons.iter().enumerate() {
            let failure = failed(Subject::Comparison(at));
            if row.primary == primary || failure.is_some() {
                checks.push(of_row(document, row, metrics, failure));
            }
        }
        for (at, claim) in document.claims.iter().enumerate() {
            let failure = failed(Subject::Claim(at));
            let undecided = claim.outcome == Claimed::Undecided;
            checks.push(Check {
                group: "claims".into(),
                name: claim.text.clone(),
                state: state(failure, undecided),
                said: format!("{}: {}", claim.outcome.word(), claim.because),
            });
        }
        for (at, lint) in document.lints.iter().enumerate() {
            let Some(failure) = failed(Subject::Lint(at)) else {
                continue;
            };
            checks.push(Check {
                group: "lints".into(),
                name: format!("{} {}", lint.code, lint.location).trim().into(),
                state: State::Failed(failure),
                said: lint.detail.clone(),
            });
        }
        Checks {
            title: document.source.clone(),
            file: document.source.clone(),
            checks,
            reproduce: document
                .rerun
                .clone()
                .unwrap_or_else(|| document.reproduce.clone()),
        }
    }

    /// The checks of a series: each effect of each patch, and of all together.
    pub fn of_series(series: &Series) -> Checks {
        let mut checks = Vec::new();
        let all = series.patches.len();
        for (number, tried) in (1..).zip(&series.patches) {
            let group = format!("{number}/{all} {}", tried.patch.subject);
            checks.extend(of_outcome(&tried.outcome, &group));
        }
        let whole = series.whole.iter();
        checks.extend(whole.flat_map(|one| of_outcome(one, &format!("all {all} together"))));
        Checks {
            title: series.title.clone(),
            file: series.bundle.clone(),
            checks,
            reproduce: series.reproduce.clone(),
        }
    }

    /// How many have failed, how many are undecided.
    fn counts(&self) -> (usize, usize) {
        let failed = |check: &&Check| matches!(check.state, State::Failed(_));
        let open = |check: &&Check| check.state == State::Undecided;
        (
            self.checks.iter().filter(failed).count(),
            self.checks.iter().filter(open).count(),
        )
    }

    /// `3 checks: 1 failed, 1 undecided`.
    fn summary(&self) -> String {
        let (failed, open) = self.counts();
        let s = if self.checks.len() == 1 { "" } else { "s" };
        format!(
            "{} check{s}: {failed} failed, {open} undecided",
            self.checks.len()
        )
    }

    /// The groups, each once, in the order of their first check, with their checks.
    fn groups(&self) -> Vec<(&str, Vec<&Check>)> {
        let mut groups: Vec<(&str, Vec<&Check>)> = Vec::new();
        for check in &self.checks {
            match groups.iter_mut().find(|(name, _)| *name == check.group) {
                Some((_, checks)) => checks.push(check),
                None => groups.push((&check.group, vec![check])),
            }
        }
        groups
    }
}

/// The checks of a patch, or of all together.
fn of_outcome(outcome: &Tried, group: &str) -> Vec<Check> {
    let alone = |state: State, said: &str| {
        vec![Check {
            group: group.into(),
            name: "modules".into(),
            state,
            said: said.into(),
        }]
    };
    match outcome {
        Tried::Effects(effects) => effects.iter().map(|one| of_effect(one, group)).collect(),
        Tried::SameBytes => alone(State::Passed, "the modules are the same, byte for byte"),
        Tried::NotBuilt(why) => alone(State::Undecided, &format!("does not build: {why}")),
        Tried::NotTried => Vec::new(),
    }
}

fn state(failure: Option<String>, undecided: bool) -> State {
    match (failure, undecided) {
        (Some(failure), _) => State::Failed(failure),
        (None, true) => State::Undecided,
        (None, false) => State::Passed,
    }
}

fn of_row(
    document: &Document,
    row: &Comparison,
    metrics: &[MetricWords],
    failure: Option<String>,
) -> Check {
    let words = metrics.iter().find(|one| one.metric == row.metric);
    let better = words.and_then(|one| one.better);
    let came_out = came_out(document, row, better);
    let word = row_words(row, came_out, better, document.margin);
    Check {
        group: row.workload.clone(),
        name: format!(
            "{} with {} against {}",
            row.metric, row.configuration, row.baseline
        ),
        state: state(failure, matches!(came_out, Outcome::Open | Outcome::Fixed)),
        said: format!(
            "{word}: {} ({})",
            effect_with_interval(document, row, came_out),
            match came_out {
                Outcome::Equal | Outcome::Fixed => "not tested, since no run varies",
                _ => row.verdict.word(),
            }
        ),
    }
}

/// How often runs ended in one way. That more of them do is a failure whoever asks.
fn of_end(row: &OutcomeComparison, found: Option<String>) -> Check {
    let said = outcome_said(row);
    let decided = row.verdict == Verdict::Established;
    Check {
        group: "outcomes".into(),
        name: format!(
            "{} with {} against {}",
            row.heading(),
            row.configuration,
            row.baseline
        ),
        state: state(
            found.or_else(|| row.is_worse().then(|| said.clone())),
            !decided,
        ),
        said,
    }
}

fn of_effect(effect: &Effect, group: &str) -> Check {
    let word = effect.reading.words();
    if let Some(said) = &effect.said {
        return Check {
            group: group.into(),
            name: effect.metric.clone(),
            state: state(effect.fails.clone(), effect.reading == Reading::Undecided),
            said: format!("{word}: {said} ({})", effect.verdict.word()),
        };
    }
    let (at, interval) = match effect.ratio {
        Some(ratio) => ("ratio", Some(ratio)),
        None => ("difference", effect.difference),
    };
    let number = |value: f64| significant(value, 4);
    let size = interval.map_or(String::new(), |value| format!(": {at} {}", number(value)));
    let ends = effect.interval.map_or(String::new(), |[low, high]| {
        format!(", {}..{}", number(low), number(high))
    });
    Check {
        group: group.into(),
        name: format!("{} in {}", effect.metric, effect.workload),
        state: state(effect.fails.clone(), effect.reading == Reading::Undecided),
        said: format!("{word}{size}{ends} ({})", effect.verdict.word()),
    }
}

/// Text without what none of the formats can hold, on one line.
fn line(text: &str) -> String {
    let text = crate::printable(text).replace('\n', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
