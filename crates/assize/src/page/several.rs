//! The page of several bundles: their common facts and their evidence.

use std::path::PathBuf;

use assize_bundle::{EvidenceLimits, Head, ThinnedEvidence, evidence};
use assize_report::html::About;
use assize_verdict::Document;

use super::{LIMITS, facts, head};
use crate::failure::Failure;

/// Fills in the facts that all bundles have in common, if all are bundles of runs. Facts that
/// differ are listed per bundle.
pub(super) fn describe(
    about: &mut About,
    document: &Document,
    inputs: &[PathBuf],
    blocks: bool,
) -> Result<(), Failure> {
    let mut heads: Vec<(String, Head)> = Vec::new();
    for path in inputs {
        let found = if path.is_dir() { head(path)? } else { None };
        let Some(head) = found else { return Ok(()) };
        heads.push((path.display().to_string(), head));
    }
    let Some((_, first)) = heads.first() else {
        return Ok(());
    };
    let all = |same: fn(&Head, &Head) -> bool| heads.iter().all(|(_, head)| same(first, head));
    if all(|a, b| a.title == b.title) {
        about.title = match blocks {
            true => format!(
                "{}: {} {}",
                first.title,
                heads.len(),
                document.across.plural()
            ),
            false => first.title.clone(),
        };
    }
    if all(|a, b| a.question == b.question) {
        about.question.clone_from(&first.question);
    }
    if all(|a, b| a.target == b.target) {
        about.target = Some(first.target.clone());
    }
    if all(|a, b| a.experiment == b.experiment) {
        about.experiment = Some(first.experiment.clone()).filter(|text| !text.is_empty());
    }
    let said: Vec<_> = heads.iter().map(|(_, head)| facts(head)).collect();
    for ((name, _), of_one) in heads.iter().zip(&said) {
        for fact in of_one {
            if !said.iter().all(|facts| facts.contains(fact)) {
                about
                    .facts
                    .push((format!("{name}: {}", fact.0), fact.1.clone()));
            } else if !about.facts.contains(fact) {
                about.facts.push(fact.clone());
            }
        }
    }
    Ok(())
}

/// The measurements of all blocks; each bundle gets an equal share of the bytes. They are in the
/// order of the bundles, like the runs in the records.
pub(super) fn evidence_of(blocks: &[PathBuf]) -> Result<ThinnedEvidence, Failure> {
    let limits = EvidenceLimits {
        bytes: LIMITS.bytes / blocks.len().max(1),
        ..LIMITS
    };
    let mut all = ThinnedEvidence::default();
    let mut next = 0;
    for path in blocks {
        let mut of_one = evidence(path, &limits)?;
        for curve in &mut of_one.curves {
            curve.run += next;
        }
        for series in &mut of_one.series {
            series.run += next;
        }
        let name = path.display();
        let thinned = of_one.thinned.iter();
        all.thinned
            .extend(thinned.map(|said| format!("{name}: {said}")));
        all.curves.append(&mut of_one.curves);
        all.series.append(&mut of_one.series);
        let records = assize_bundle::read(path)?;
        let runs = records.runs.iter().map(|run| run.order);
        let failures = records.failures.iter().map(|run| run.order);
        next += runs.chain(failures).max().map_or(0, |last| last + 1);
    }
    Ok(all)
}
