//! A verdict as checks that pass or fail, for CI systems: JUnit, KTAP, GitHub workflow commands and
//! summary, GitLab code quality, KCIDB.
//!
//! A check fails if it makes the command exit with status 1: a refuted claim, or a finding of
//! `--fail-on`. Without any option, a check also fails if runs crash, hang, fail or trigger kernel
//! complaints more often than the baseline's runs.

mod annotations;
mod junit;
mod kcidb;
mod ktap;
mod summary;

use assize_verdict::{
    Comparison, Document, Outcome as Claimed, OutcomeComparison, SameConfiguration, Verdict,
    count_of,
};

use crate::contrasts::{
    MetricWords, RowOutcome, came_out, describe_completed, describe_outcome, effect_with_interval,
    row_words,
};
use crate::number::significant;
use crate::series::{EffectReading, PatchEffect, PatchOutcome, SeriesReport};

pub use annotations::{github, gitlab};
pub use junit::junit;
pub use kcidb::kcidb;
pub use ktap::ktap;
pub use summary::markdown;

/// The group of the checks of how runs ended.
const OUTCOMES: &str = "outcomes";
/// Why a check of how runs ended fails without any option.
pub const MORE_OFTEN: &str = "more often than in the baseline, established";

/// The part of the document that a finding is about, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingSubject {
    /// An ending in the document's `outcomes`.
    Outcome(usize),
    /// A row of `comparisons`.
    Comparison(usize),
    /// A claim.
    Claim(usize),
    /// A lint.
    Lint(usize),
}

/// A reason to exit with status 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFinding {
    /// The condition that was met: `worse>2%`, `refuted`, `lint`.
    pub what: String,
    /// Where it was found.
    pub subject: FindingSubject,
    /// The figures behind it.
    pub why: String,
}

impl CheckFinding {
    /// All findings about one subject, joined; `None` if there are none.
    pub fn all(findings: &[CheckFinding], subject: FindingSubject) -> Option<String> {
        let of = findings.iter().filter(|one| one.subject == subject);
        let said: Vec<String> = of.map(|one| format!("{}: {}", one.what, one.why)).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// The state of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckState {
    /// No finding is about it.
    Passed,
    /// The runs do not decide, and no gate requires a decision.
    Undecided,
    /// It makes the command exit with status 1; the condition that was met, with figures.
    Failed(String),
}

/// One check: what was checked, and the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The group: a workload, a patch, `claims` or `lints`.
    pub group: String,
    /// The name of what was checked.
    pub name: String,
    /// Whether it passed.
    pub state: CheckState,
    /// The result in one line.
    pub said: String,
    /// Whether the check is about how runs ended.
    pub ended: bool,
}

/// All checks of one verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checks {
    /// The title of what was judged.
    pub title: String,
    /// The file to which annotations are attached.
    pub file: String,
    /// The checks, in the order of the document.
    pub checks: Vec<Check>,
    /// The command that reproduces the result.
    pub reproduce: String,
}

impl Checks {
    /// Returns the checks of a document: one for each primary row (each row if none is primary),
    /// for each other row or lint with a finding, and for each claim.
    pub fn for_document(
        document: &Document,
        metrics: &[MetricWords],
        findings: &[CheckFinding],
    ) -> Checks {
        let primary = document.comparisons.iter().any(|row| row.primary);
        let failed = |subject: FindingSubject| CheckFinding::all(findings, subject);
        let ended = document.outcomes.iter().enumerate();
        let ended = ended.map(|(at, row)| of_end(row, failed(FindingSubject::Outcome(at))));
        let mut checks: Vec<Check> = ended.chain(document.same.iter().map(of_same)).collect();
        for (at, row) in document.comparisons.iter().enumerate() {
            let failure = failed(FindingSubject::Comparison(at));
            if row.primary == primary || failure.is_some() {
                checks.push(of_row(document, row, metrics, failure));
            }
        }
        for (at, claim) in document.claims.iter().enumerate() {
            let failure = failed(FindingSubject::Claim(at));
            let undecided = claim.outcome == Claimed::Undecided;
            checks.push(Check {
                group: "claims".into(),
                name: claim.text.clone(),
                state: state(failure, undecided),
                said: format!("{}: {}", claim.outcome.word(), claim.because),
                ended: false,
            });
        }
        for (at, lint) in document.lints.iter().enumerate() {
            let Some(failure) = failed(FindingSubject::Lint(at)) else {
                continue;
            };
            checks.push(Check {
                group: "lints".into(),
                name: format!("{} {}", lint.code, lint.location).trim().into(),
                state: CheckState::Failed(failure),
                said: lint.detail.clone(),
                ended: false,
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

    /// Returns the checks of a series: each effect of each patch, and each effect of all
    /// patches together.
    pub fn of_series(series: &SeriesReport) -> Checks {
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
            file: series.bundle.clone().unwrap_or_default(),
            checks,
            reproduce: series.reproduce.clone(),
        }
    }

    /// The numbers of failed and of undecided checks.
    fn counts(&self) -> (usize, usize) {
        let failed = |check: &&Check| matches!(check.state, CheckState::Failed(_));
        let open = |check: &&Check| check.state == CheckState::Undecided;
        (
            self.checks.iter().filter(failed).count(),
            self.checks.iter().filter(open).count(),
        )
    }

    /// The checks of how runs ended that are undecided: some runs crashed, for example, but too few
    /// to decide.
    fn undecided_outcomes(&self) -> impl Iterator<Item = &Check> {
        let is_open = |check: &&Check| check.ended && check.state == CheckState::Undecided;
        self.checks.iter().filter(is_open)
    }

    /// `3 checks: 1 failed, 1 undecided`.
    fn summary(&self) -> String {
        let (failed, open) = self.counts();
        let checks = count_of(self.checks.len(), "check");
        format!("{checks}: {failed} failed, {open} undecided")
    }

    /// The groups with their checks, in the order of each group's first check.
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

/// The checks of a patch, or of all patches together.
fn of_outcome(outcome: &PatchOutcome, group: &str) -> Vec<Check> {
    let alone = |state: CheckState, said: &str| {
        vec![Check {
            group: group.into(),
            name: "modules".into(),
            state,
            said: said.into(),
            ended: false,
        }]
    };
    match outcome {
        PatchOutcome::Effects(effects) => effects.iter().map(|one| of_effect(one, group)).collect(),
        PatchOutcome::SameBytes => alone(
            CheckState::Passed,
            "the modules are the same, byte for byte",
        ),
        PatchOutcome::NotBuilt(why) => {
            alone(CheckState::Undecided, &format!("does not build: {why}"))
        }
        PatchOutcome::NotTried => Vec::new(),
    }
}

/// The check of a configuration that cannot differ from its baseline.
fn of_same(same: &SameConfiguration) -> Check {
    Check {
        group: "files and settings".into(),
        name: format!("{} against {}", same.configuration, same.baseline),
        state: CheckState::Passed,
        said: "no difference: the same files and settings".into(),
        ended: false,
    }
}

fn state(failure: Option<String>, undecided: bool) -> CheckState {
    match (failure, undecided) {
        (Some(failure), _) => CheckState::Failed(failure),
        (None, true) => CheckState::Undecided,
        (None, false) => CheckState::Passed,
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
    let completed = describe_completed(row).map_or(String::new(), |text| format!(", {text}"));
    Check {
        group: row.workload.clone(),
        name: format!(
            "{} with {} against {}",
            row.metric, row.configuration, row.baseline
        ),
        state: state(
            failure,
            matches!(came_out, RowOutcome::Open | RowOutcome::Fixed),
        ),
        said: format!(
            "{word}: {}{completed} ({})",
            effect_with_interval(document, row, came_out),
            match came_out {
                RowOutcome::Equal | RowOutcome::Fixed => "not tested, since no run varies",
                _ => row.verdict.word(),
            }
        ),
        ended: false,
    }
}

/// The check for one way in which runs end. If it happens more often than on the
/// baseline, the check fails even without `--fail-on`.
fn of_end(row: &OutcomeComparison, found: Option<String>) -> Check {
    let said = describe_outcome(row);
    let decided = row.verdict == Verdict::Established;
    Check {
        group: OUTCOMES.into(),
        name: format!(
            "{} with {} against {}",
            row.heading(),
            row.configuration,
            row.baseline
        ),
        state: state(
            found.or_else(|| row.is_worse().then(|| MORE_OFTEN.to_owned())),
            !decided,
        ),
        said,
        ended: true,
    }
}

fn of_effect(effect: &PatchEffect, group: &str) -> Check {
    let word = effect.word();
    if let Some(said) = &effect.said {
        return Check {
            group: group.into(),
            name: effect.metric.clone(),
            state: state(
                effect.fails.clone(),
                effect.reading == EffectReading::Undecided,
            ),
            said: match effect.reading {
                EffectReading::Undecided => format!("cannot tell: {said}"),
                _ => format!("{word}: {said} ({})", effect.verdict.word()),
            },
            ended: true,
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
        state: state(
            effect.fails.clone(),
            effect.reading == EffectReading::Undecided,
        ),
        said: format!("{word}{size}{ends} ({})", effect.verdict.word()),
        ended: false,
    }
}

/// Puts text on one line and replaces characters that are unsafe to display.
fn line(text: &str) -> String {
    let text = crate::printable(text).replace('\n', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
