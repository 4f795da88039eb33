//! Decides whether a verdict makes the command exit with status 1.

use std::collections::BTreeMap;

use assize_report::{CheckFinding, FindingSubject};
use assize_verdict::{Better, Comparison, Document, Outcome, Scale, primary_directions};

use crate::cli::{FailOn, Gate, Percent};
use crate::failure::Failure;
use crate::output;
use crate::page::PageInputs;

/// The refuted claims, and the findings of `--fail-on`. With any `--fail-on`, runs that end worse
/// than the baseline's are findings too: a kernel that panics must not pass.
pub(crate) fn findings(
    document: &Document,
    material: &PageInputs<'_>,
) -> Result<Vec<CheckFinding>, Failure> {
    let mut findings = of_claims(document, Outcome::Refuted);
    let asked = &material.trial.question.fail_on;
    let ended = ended_worse(document, asked);
    findings.extend(ended.iter().cloned());
    for what in asked {
        findings.extend(match what {
            FailOn::Lint => of_lints(document, what, |_| true),
            FailOn::Undecided => of_claims(document, Outcome::Undecided),
            FailOn::Code(code) => of_lints(document, what, |one| one == *code),
            FailOn::Gate(gate, percent) => {
                if document.runs.is_empty() && !document.outcomes.is_empty() && ended.is_empty() {
                    return Err(nothing_completed(&what.word()));
                }
                if document.comparisons.is_empty() && !document.same.is_empty() {
                    continue;
                }
                let directions = match directions(*gate, percent, material) {
                    // Worse endings are findings even if no metric matches.
                    Err(_) if !document.outcomes.is_empty() => continue,
                    directions => directions?,
                };
                let found = closed(document, &directions, *gate, percent.share());
                let finding = |(at, row): (usize, &Comparison)| CheckFinding {
                    what: what.word(),
                    subject: FindingSubject::Comparison(at),
                    why: figures(row, *gate),
                };
                found.into_iter().map(finding).collect()
            }
        });
    }
    Ok(findings)
}

fn nothing_completed(word: &str) -> Failure {
    Failure::Argument(format!(
        "--fail-on '{word}': no run completed on either side, so there is nothing to compare"
    ))
}

/// Run outcomes reported by `--fail-on`: those established to be worse, and if a gate asks for
/// proof, all that are worse in these runs. Empty without `--fail-on`.
fn ended_worse(document: &Document, asked: &[FailOn]) -> Vec<CheckFinding> {
    if asked.is_empty() {
        return Vec::new();
    }
    let proof = |on: &FailOn| matches!(on, FailOn::Gate(Gate::Unproven, _));
    let proof = asked.iter().any(proof);
    let rows = document.outcomes.iter().enumerate();
    let worse = rows.filter(|(_, row)| row.is_worse() || proof && row.is_more());
    worse
        .map(|(at, row)| CheckFinding {
            what: row.heading(),
            subject: FindingSubject::Outcome(at),
            why: assize_report::describe_outcome(row),
        })
        .collect()
}

/// The worst run outcome, unless a finding already reports one, with the command to investigate it.
/// Printed last on standard error.
pub(crate) fn last_word(document: &Document, findings: &[CheckFinding]) -> Option<String> {
    let row = document.outcomes.iter().find(|row| row.is_worse())?;
    let told = |one: &CheckFinding| matches!(one.subject, FindingSubject::Outcome(_));
    if findings.iter().any(told) {
        return None;
    }
    let look = document.look.as_ref();
    let look = look.map_or(String::new(), |look| format!("; look into it: {look}"));
    Some(format!(
        "assize: {}{look}",
        assize_report::describe_outcome(row)
    ))
}

/// Reports on standard error which rows failed a gate.
pub(crate) fn report(document: &Document, findings: &[CheckFinding]) {
    for finding in findings {
        let at = match finding.subject {
            FindingSubject::Comparison(at) => at,
            FindingSubject::Outcome(_) => {
                let said = format!("assize: {}", finding.why);
                eprintln!("{}", assize_report::printable(&said));
                continue;
            }
            FindingSubject::Claim(_) | FindingSubject::Lint(_) => continue,
        };
        if let Some(row) = document.comparisons.get(at) {
            let said = format!("assize: {}: {}: {}", finding.what, name(row), finding.why);
            eprintln!("{}", assize_report::printable(&said));
        }
    }
}

fn of_claims(document: &Document, outcome: Outcome) -> Vec<CheckFinding> {
    let claims = document.claims.iter().enumerate();
    let is = claims.filter(|(_, claim)| claim.outcome == outcome);
    is.map(|(at, _)| CheckFinding {
        what: "claim".into(),
        subject: FindingSubject::Claim(at),
        why: outcome.word().into(),
    })
    .collect()
}

fn of_lints(document: &Document, what: &FailOn, is: impl Fn(&str) -> bool) -> Vec<CheckFinding> {
    let lints = document.lints.iter().enumerate();
    let found = lints.filter(|(_, lint)| is(&lint.code));
    found
        .map(|(at, _)| CheckFinding {
            what: what.word(),
            subject: FindingSubject::Lint(at),
            why: "found".into(),
        })
        .collect()
}

fn directions(
    gate: Gate,
    percent: &Percent,
    material: &PageInputs<'_>,
) -> Result<BTreeMap<String, Better>, Failure> {
    let options = output::options(material.trial, material.terms)?;
    let directions = primary_directions(material.records, &options)?;
    if !directions.is_empty() {
        return Ok(directions);
    }
    Err(Failure::Argument(format!(
        "--fail-on '{}>{percent}': no primary metric has a direction; write primary = \
         [{{ metric = \"M\", better = \"lower\" }}] into the experiment, or give --primary M \
         with --lower-is-better M or --higher-is-better M",
        gate.word()
    )))
}

/// The rows of primary metrics that fail a gate, by index.
fn closed<'d>(
    document: &'d Document,
    directions: &BTreeMap<String, Better>,
    gate: Gate,
    margin: f64,
) -> Vec<(usize, &'d Comparison)> {
    let is_closed = |(_, row): &(usize, &Comparison)| {
        let Some(better) = directions.get(&row.metric) else {
            return false;
        };
        let worse = worsening(row, *better, gate);
        match gate {
            Gate::Worse => worse.is_some_and(|worse| worse.least > worse.of * margin),
            Gate::Unproven => worse.is_none_or(|worse| worse.most >= worse.of * margin),
        }
    };
    let rows = document.comparisons.iter().enumerate();
    rows.filter(is_closed).collect()
}

/// How much worse a row is than its baseline: lower and upper bound; negative if better.
struct Worsening {
    least: f64,
    most: f64,
    /// The value of which the margin is a percentage, in the same unit.
    of: f64,
}

fn worsening(row: &Comparison, better: Better, gate: Gate) -> Option<Worsening> {
    let [low, high] = interval(row, gate)?;
    let (from, of) = match row.scale {
        Scale::Raw => (0.0, row.mean_baseline?.abs()),
        _ => (1.0, 1.0),
    };
    Some(match better {
        Better::Lower => Worsening {
            least: low - from,
            most: high - from,
            of,
        },
        Better::Higher => Worsening {
            least: from - high,
            most: from - low,
            of,
        },
    })
}

/// The interval that a gate uses.
///
/// One worse row is enough to fail the first gate, so it uses simultaneous intervals: otherwise
/// more rows would mean more false alarms. The second gate passes only if every row is shown not to
/// be worse, so unadjusted intervals are enough (intersection-union test; Berger 1982).
fn interval(row: &Comparison, gate: Gate) -> Option<[f64; 2]> {
    match gate {
        Gate::Worse => row.ci_simultaneous.or(row.ci),
        Gate::Unproven => row.ci,
    }
}

/// The name of a row in messages.
fn name(row: &Comparison) -> String {
    format!(
        "{} in {} with {}",
        row.metric, row.workload, row.configuration
    )
}

/// The figures that make a row fail.
fn figures(row: &Comparison, gate: Gate) -> String {
    match interval(row, gate) {
        Some([low, high]) => {
            let what = match row.scale {
                Scale::Raw => "difference",
                _ => "ratio",
            };
            format!("{what} {low:.4}..{high:.4}")
        }
        None => "no interval".into(),
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
