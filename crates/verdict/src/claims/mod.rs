//! Claims: sentences about two configurations and a metric, tried directly.

mod because;
mod declared;
mod grammar;
mod margin;

pub use declared::{ClaimNames, NamedClaim};
pub(crate) use grammar::check_form;

use std::cmp::Ordering;

use assize_judge::{benjamini_hochberg, equivalence, holm};

use crate::cells::{Cells, Key};
use crate::comparisons::where_present;
use crate::document::{Agreement, Claim, ClaimOrigin, Outcome};
use crate::error::Error;
use crate::options::Options;
use crate::rates::{Counted, compare, counted, event_names};
use crate::weigh::{Weighed, weigh};
use crate::words::{count, finite};
use declared::{Asked, asked, untried};
use grammar::{Names, Reading, Relation};

/// Where the records hold only statements.
const ONLY_STATEMENTS: &str =
    "no claim can be judged: there are only normalised or single figures without a number of runs";

/// A against B in one workload.
pub(super) struct Part {
    pub(super) workload: String,
    /// How A stands to B; `Equal` if there is no difference at all.
    pub(super) direction: Option<Ordering>,
    /// Of the permutation test; of the t test if `by_t`.
    pub(super) p: Option<f64>,
    /// Whether the runs are too few for the permutation test to reach alpha
    /// whatever they show, so that the t test alone must do: what it finds is
    /// supported, not established.
    pub(super) by_t: bool,
    /// Whether A and B are equal within the margin.
    pub(super) equivalent: bool,
    pub(super) evidence: Evidence,
}

/// What the figures of a [`Part`] come from.
pub(super) enum Evidence {
    /// Runs or summaries.
    Values(Box<Weighed>),
    /// Events: counts and exposures of A and B, the ratio, what would settle it.
    Events {
        counts: [u64; 2],
        exposures: [Option<f64>; 2],
        ratio: Option<f64>,
        settled_by: Option<String>,
    },
}

/// A claim with its evidence, before correction.
struct Trial<'t> {
    asked: Asked<'t>,
    relation: Relation,
    /// Why it is not tried at all.
    untried: Option<String>,
    parts: Vec<Part>,
    left_out: Vec<String>,
    /// What p speaks for, and p.
    candidate: Option<(Outcome, f64)>,
}

/// Tries all claims. Their p-values are corrected by Holm's method for the
/// number of claims. Where the runs are too few for the permutation test to
/// reach alpha, the t test decides, and the grounds say so.
///
/// A claim about several workloads is upheld if it is upheld in each (so its p
/// is the largest), and refuted if it is refuted in any (Simes's p, in which a
/// workload that does not speak against the claim counts as 1).
pub(crate) fn try_claims(cells: &Cells<'_>, options: &Options) -> Result<Vec<Claim>, Error> {
    let records = cells.records;
    if records.runs.is_empty() && records.summaries.is_empty() && records.events.is_empty() {
        return asked(records, options).map(unjudged).collect();
    }
    let names = names(cells);
    let events = counted(cells, options.exposure_s);
    let trials = asked(records, options)
        .map(|asked| match grammar::read(asked.text, &names) {
            Ok(reading) => Ok(trial(asked, reading, &names, cells, &events, options)),
            Err(error) => untried(asked, error),
        })
        .collect::<Result<Vec<Trial<'_>>, Error>>()?;
    let p: Vec<Option<f64>> = trials.iter().map(|t| t.candidate.map(|c| c.1)).collect();
    let adjusted = where_present(&p, holm);
    let tried = p.iter().flatten().count().max(1);
    Ok(trials
        .into_iter()
        .zip(adjusted)
        .map(|(trial, adjusted)| decide(trial, adjusted, tried, options))
        .collect())
}

fn unjudged(asked: Asked<'_>) -> Result<Claim, Error> {
    if asked.origin == ClaimOrigin::PostHoc {
        grammar::check_form(asked.text)?;
    }
    Ok(Claim {
        text: asked.text.to_owned(),
        origin: asked.origin,
        outcome: Outcome::Undecided,
        because: ONLY_STATEMENTS.into(),
    })
}

fn names(cells: &Cells<'_>) -> Names {
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
    Names {
        configurations: cells.configurations.clone(),
        workloads: cells.workloads.clone(),
        metrics,
    }
}

fn trial<'t>(
    asked: Asked<'t>,
    reading: Reading,
    names: &Names,
    cells: &Cells<'_>,
    events: &[Counted<'_>],
    options: &Options,
) -> Trial<'t> {
    let metric = &names.metrics[reading.metric];
    let (mut parts, mut left_out) = (Vec::new(), Vec::new());
    for workload in 0..names.workloads.len() {
        if reading.workload.is_some_and(|wanted| wanted != workload) {
            continue;
        }
        let mut found = by_values(cells, reading, metric, workload, options);
        if found.is_empty() {
            found.extend(by_events(cells, reading, metric, workload, events, options));
        }
        if found.is_empty() {
            left_out.push(names.workloads[workload].clone());
        }
        parts.append(&mut found);
    }
    let untried = (reading.bound != 1.0).then(because::margin_untried);
    let candidate = candidate(reading.relation, &parts).filter(|_| untried.is_none());
    Trial {
        asked,
        relation: reading.relation,
        untried,
        parts,
        left_out,
        candidate,
    }
}

/// A against B by runs or summaries, in each unit that both have.
fn by_values(
    cells: &Cells<'_>,
    reading: Reading,
    metric: &str,
    workload: usize,
    options: &Options,
) -> Vec<Part> {
    let same = (0..cells.metrics.len()).filter(|&m| cells.metrics[m].name == metric);
    same.filter_map(|metric| {
        let cell = |configuration| {
            cells.get(Key {
                workload,
                metric,
                configuration,
            })
        };
        let weighed = weigh(cells, cell(reading.b)?, cell(reading.a)?, options.seed);
        let agreement = weighed.agreement(options);
        let common = weighed.has_common_direction(options);
        let alike = agreement.is_none_or(|found| found == Agreement::Agree);
        let margin = equivalence::bounds(options.margin).ok();
        let within = |ci: assize_judge::Interval| margin.is_some_and(|m| ci.within(&m));
        let by_t = weighed.p_attainable.is_none_or(|p| p > options.alpha);
        Some(Part {
            workload: cells.workloads[workload].clone(),
            direction: weighed.direction().filter(|_| common),
            p: if by_t { weighed.p_t } else { weighed.p }.filter(|_| common),
            by_t,
            equivalent: alike && weighed.ci_of_equivalence(options).is_some_and(within),
            evidence: Evidence::Values(Box::new(weighed)),
        })
    })
    .collect()
}

/// A against B by counts of events.
fn by_events(
    cells: &Cells<'_>,
    reading: Reading,
    event: &str,
    workload: usize,
    events: &[Counted<'_>],
    options: &Options,
) -> Option<Part> {
    let of = |configuration| {
        events.iter().find(|c| {
            c.workload == workload && c.configuration == configuration && c.events.event == event
        })
    };
    let (a, b) = (of(reading.a)?, of(reading.b)?);
    let tested = compare(b, a);
    // An infinite ratio (no events of B) still has a direction.
    let ratio = tested.and_then(|t| t.ratio);
    Some(Part {
        workload: cells.workloads[workload].clone(),
        direction: ratio.and_then(|r| r.partial_cmp(&1.0)),
        p: tested.and_then(|t| finite(t.p)),
        by_t: false,
        equivalent: false,
        evidence: Evidence::Events {
            counts: [a.events.count, b.events.count],
            exposures: [a.exposure_s, b.exposure_s],
            ratio: ratio.and_then(finite),
            settled_by: crate::rates::settled_by(a, b, options.alpha),
        },
    })
}

/// What the figures may come to, and the p that must be small for it.
fn candidate(relation: Relation, parts: &[Part]) -> Option<(Outcome, f64)> {
    let claimed = match relation {
        Relation::Less => Ordering::Less,
        Relation::Greater => Ordering::Greater,
        Relation::Equal => return refuted_by(parts, |_| true),
    };
    if !parts.is_empty() && parts.iter().all(|p| p.direction == Some(claimed)) {
        let all: Option<Vec<f64>> = parts.iter().map(|part| part.p).collect();
        let largest = all?.into_iter().fold(0.0, f64::max);
        return Some((Outcome::Upheld, largest));
    }
    refuted_by(parts, |part| part.direction == Some(claimed.reverse()))
}

/// The p of the parts that speak against a claim, all together (Simes 1986): the
/// smallest of their p-values as Benjamini and Hochberg adjust them.
fn refuted_by(parts: &[Part], against: impl Fn(&Part) -> bool) -> Option<(Outcome, f64)> {
    let p: Vec<Option<f64>> = parts
        .iter()
        .map(|part| part.p.filter(|_| against(part)))
        .collect();
    p.iter().flatten().next()?;
    let counted: Vec<f64> = p.iter().map(|p| p.unwrap_or(1.0)).collect();
    let smallest = benjamini_hochberg(&counted).into_iter().fold(1.0, f64::min);
    Some((Outcome::Refuted, smallest))
}

fn decide(trial: Trial<'_>, adjusted: Option<f64>, tried: usize, options: &Options) -> Claim {
    let found = trial
        .candidate
        .map(|c| c.0)
        .filter(|_| adjusted.is_some_and(|p| p <= options.alpha));
    let all_equal = !trial.parts.is_empty() && trial.parts.iter().all(|p| p.equivalent);
    let any_equal = trial.parts.iter().any(|p| p.equivalent);
    // What only the t test finds does not outweigh that the two are equal.
    let by_t = trial.parts.iter().any(|p| p.by_t);
    let (outcome, why) = match (trial.relation, found) {
        _ if trial.untried.is_some() => (Outcome::Undecided, trial.untried.unwrap_or_default()),
        (Relation::Equal, _) if all_equal => (Outcome::Upheld, because::within(options)),
        (_, Some(outcome)) if !by_t => (outcome, because::established(adjusted, tried)),
        (Relation::Less | Relation::Greater, _) if any_equal => {
            (Outcome::Refuted, because::within(options))
        }
        (_, Some(outcome)) => (
            outcome,
            because::supported(&trial.parts, adjusted, tried, options),
        ),
        _ => (
            Outcome::Undecided,
            because::undecided(&trial.parts, trial.relation, tried, options),
        ),
    };
    let decided = outcome != Outcome::Undecided;
    let mut grounds: Vec<String> = trial
        .parts
        .iter()
        .map(|part| because::figures(part, trial.relation, decided))
        .collect();
    grounds.push(why);
    if !trial.parts.is_empty() && !trial.left_out.is_empty() {
        grounds.push(format!(
            "{} left out: not recorded there for both",
            count(trial.left_out.len(), "workload")
        ));
    }
    Claim {
        text: trial.asked.text.to_owned(),
        origin: trial.asked.origin,
        outcome,
        because: grounds.join("; "),
    }
}
