//! Claims that were declared before the runs, and those stated afterwards.

use assize_bundle::Records;

use super::grammar::{self, ClaimKind, KnownNames};
use crate::cells::Cells;
use crate::document::{ClaimOrigin, RunEnd};
use crate::error::Error;
use crate::names::folded;
use crate::options::Options;
use crate::rates::event_names;

/// The reason given if the records contain only statements.
const ONLY_STATEMENTS: &str = "no claim can be judged: all figures are normalised, without replication, or of unknown \
     context";

/// A claim, and whether the experiment declared it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestedClaim<'t> {
    pub(super) text: &'t str,
    pub(super) origin: ClaimOrigin,
}

/// The claims of the records, then those of the options. A declared claim stays declared if the
/// options repeat it.
pub(super) fn requested_claims<'t>(
    records: &'t Records,
    options: &'t Options,
) -> impl Iterator<Item = RequestedClaim<'t>> {
    let declared = records.claims.iter();
    let is_declared = |text: &String| {
        let mut all = records.claims.iter();
        all.any(|one| folded(one) == folded(text))
    };
    let later = options.claims.iter().filter(move |text| !is_declared(text));
    let with = |origin| move |text: &'t String| RequestedClaim { text, origin };
    declared
        .map(with(ClaimOrigin::Declared))
        .chain(later.map(with(ClaimOrigin::PostHoc)))
}

/// Why a declared claim that cannot be parsed is not tested: the names in it may have been left out
/// of the runs. For a post-hoc claim, returns the error.
pub(super) fn untried(asked: RequestedClaim<'_>, error: Error) -> Result<String, Error> {
    if asked.origin == ClaimOrigin::PostHoc {
        return Err(error);
    }
    let why = match error {
        Error::ClaimName { name, .. } => name.to_string(),
        Error::Claim { fault, .. } => fault,
        other => other.to_string(),
    };
    Ok(format!("the claim cannot be tested on these runs: {why}"))
}

/// The reason why a claim is not tested if nothing was measured.
pub(super) fn unmeasured(heard: RequestedClaim<'_>) -> Result<String, Error> {
    if heard.origin == ClaimOrigin::PostHoc {
        grammar::read_kind(heard.text)?;
    }
    Ok(ONLY_STATEMENTS.into())
}

/// The names that a claim about these records may use.
pub(super) fn names(cells: &Cells<'_>, claim: &str) -> KnownNames {
    let mut metrics: Vec<String> = Vec::new();
    let recorded = cells.metrics.iter().map(|m| m.name.clone());
    let stated = cells.records.statements.iter().map(|s| s.metric.clone());
    let unsupported = cells.records.unsupported.iter().map(|u| u.metric.clone());
    for name in recorded
        .chain(event_names(cells))
        .chain(stated)
        .chain(unsupported)
    {
        if !metrics.contains(&name) {
            metrics.push(name);
        }
    }
    KnownNames::new(
        cells.configurations.clone(),
        cells.workloads.clone(),
        metrics,
        claim,
    )
}

/// The names that a claim may use, for checks before there are any records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClaimNames {
    /// Configurations.
    pub configurations: Vec<String>,
    /// Workloads.
    pub workloads: Vec<String>,
    /// Metrics and events.
    pub metrics: Vec<String>,
}

/// The names in a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedClaim {
    /// The metric, the event or the way in which runs end.
    pub metric: String,
    /// The workload, if it names one.
    pub workload: Option<String>,
    /// The way in which runs end, if the claim is about that.
    pub outcome: Option<RunEnd>,
    /// Whether the claim has a margin.
    pub has_margin: bool,
    /// Whether the claim is that its configurations differ, which is impossible if both are the
    /// same.
    pub differs: bool,
}

impl ClaimNames {
    /// Parses a claim as [`crate::try_records`] does.
    pub fn read(&self, text: &str) -> Result<NamedClaim, Error> {
        let names = KnownNames::new(
            self.configurations.clone(),
            self.workloads.clone(),
            self.metrics.clone(),
            text,
        );
        let reading = grammar::read(text, &names)?;
        Ok(NamedClaim {
            metric: names.metrics[reading.metric].clone(),
            workload: reading.workload.map(|at| names.workloads[at].clone()),
            outcome: names.outcome(reading.metric),
            has_margin: reading.excess() != 0.0,
            differs: reading.kind == ClaimKind::Difference,
        })
    }
}
