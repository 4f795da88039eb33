//! Whether a document ends the command with status 1.

use std::collections::BTreeMap;

use assize_verdict::{Better, Comparison, Document, Outcome, Scale, primary_directions};

use crate::cli::{FailOn, Gate, Percent};
use crate::failure::Failure;
use crate::output;
use crate::page::Material;

/// Whether a claim is refuted or anything is found that `--fail-on` names.
pub(crate) fn fails(document: &Document, material: &Material<'_>) -> Result<bool, Failure> {
    let is = |outcome| document.claims.iter().any(|one| one.outcome == outcome);
    let mut fails = is(Outcome::Refuted);
    for what in &material.trial.question.fail_on {
        fails |= match what {
            FailOn::Lint => !document.lints.is_empty(),
            FailOn::Undecided => is(Outcome::Undecided),
            FailOn::Code(code) => document.lints.iter().any(|lint| lint.code == *code),
            FailOn::Gate(gate, percent) => {
                let directions = directions(*gate, percent, material)?;
                let found = closed(document, &directions, *gate, percent.share());
                for row in &found {
                    let word = gate.word();
                    let said = format!("assize: {word}>{percent}: {}", name(row, *gate));
                    eprintln!("{}", assize_report::printable(&said));
                }
                !found.is_empty()
            }
        };
    }
    Ok(fails)
}

fn directions(
    gate: Gate,
    percent: &Percent,
    material: &Material<'_>,
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

/// The rows of primary metrics at which a gate is closed.
fn closed<'d>(
    document: &'d Document,
    directions: &BTreeMap<String, Better>,
    gate: Gate,
    margin: f64,
) -> Vec<&'d Comparison> {
    let is_closed = |row: &&Comparison| {
        let Some(better) = directions.get(&row.metric) else {
            return false;
        };
        let worse = worsening(row, *better, gate);
        match gate {
            Gate::Worse => worse.is_some_and(|worse| worse.least > worse.of * margin),
            Gate::Unproven => worse.is_none_or(|worse| worse.most >= worse.of * margin),
        }
    };
    document.comparisons.iter().filter(is_closed).collect()
}

/// By how much a row is worse than its baseline, at least and at most: less
/// than 0 where it is better.
struct Worsening {
    least: f64,
    most: f64,
    /// In the same unit, what the margin is a share of.
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

/// The interval that a gate looks at.
///
/// One row that is worse closes the first gate, so its intervals hold for all
/// rows at once: else the more rows there are, the more often it closes where
/// nothing is worse. The second opens only if every row is shown not to be
/// worse, for which the interval of each row will do (intersection-union test;
/// Berger 1982).
fn interval(row: &Comparison, gate: Gate) -> Option<[f64; 2]> {
    match gate {
        Gate::Worse => row.ci_simultaneous.or(row.ci),
        Gate::Unproven => row.ci,
    }
}

/// A row, with the figures on which it fails.
fn name(row: &Comparison, gate: Gate) -> String {
    let figures = match interval(row, gate) {
        Some([low, high]) => {
            let what = match row.scale {
                Scale::Raw => "difference",
                _ => "ratio",
            };
            format!("{what} {low:.4}..{high:.4}")
        }
        None => "no interval".into(),
    };
    format!(
        "{} in {} with {}: {figures}",
        row.metric, row.workload, row.configuration
    )
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
