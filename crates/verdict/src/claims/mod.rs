//! Claims: statements about two configurations and a metric, which are tested
//! directly.

mod because;
mod declared;
mod gather;
mod grammar;
mod margin;

pub use declared::{ClaimNames, NamedClaim};
pub(crate) use grammar::read_kind;

use std::cmp::Ordering;

use assize_bundle::nothing_differs;
use assize_judge::counts::RunShare;

use crate::caps::Caps;
use crate::cells::Cells;
use crate::compare::CellComparison;
use crate::document::{Claim, ClaimOrigin, Outcome, RunEnd, Scale, Verdict};
use crate::enough::{to_settle, to_tell_from};
use crate::error::Error;
use crate::family::{Hypotheses, HypothesisResult, HypothesisResults, OutcomeHypothesisId};
use crate::identities::are_same_everywhere;
use crate::options::Options;
use crate::outcomes::{self, RunEndings};
use crate::rates::{self, PlacedEvents, counted};
use crate::row::ComparisonRow;
use crate::words::count_of;
use declared::{names, requested_claims, unmeasured, untried};
use gather::ClaimEvaluator;
use grammar::{ClaimKind, ClaimedRelation, ParsedClaim};

/// A compared with B on one workload.
pub(super) struct ClaimEvidence {
    pub(super) workload: String,
    pub(super) evidence: EvidenceFigures,
    source: VerdictSource,
}

/// The figures of a [`ClaimEvidence`].
pub(super) enum EvidenceFigures {
    /// Runs or summaries, with B as the baseline.
    Values(Box<CellComparison>),
    /// Events: counts and exposures of A and B, and the comparison of their
    /// rates.
    Events {
        counts: [u64; 2],
        exposures: [Option<f64>; 2],
        compared: Box<rates::RatePair>,
    },
    /// How many runs of A and of B ended in one way.
    Outcomes {
        end: RunEnd,
        shares: [RunShare; 2],
        p: f64,
        p_attainable: f64,
    },
}

/// Where the verdict of a [`ClaimEvidence`] comes from.
enum VerdictSource {
    /// A row of the comparisons.
    Row(usize),
    /// A comparison registered for the claim alone, and the index of the row for the same
    /// configurations, if any.
    Own(Box<ComparisonRow>, Option<usize>),
    /// Rates, by the indices of B and A among the counts.
    Rates(usize, usize),
    /// An exact test of the shares of runs with an ending.
    Outcome(OutcomeHypothesisId),
    /// No test is possible, for this reason.
    None(&'static str),
}

/// The findings on a [`ClaimEvidence`].
pub(super) struct ClaimFinding {
    pub(super) verdict: Verdict,
    /// The side of the bound on which A is; `Equal` if A is exactly at the bound.
    pub(super) direction: Option<Ordering>,
    /// The deciding p, and whether it is that of the t test.
    pub(super) p_adjusted: Option<f64>,
    pub(super) by_t: bool,
    pub(super) p: Option<f64>,
    /// Replicates per side that would probably settle the claim.
    pub(super) needed: Option<u32>,
    /// Notes beyond the figures.
    pub(super) notes: Vec<String>,
}

/// A claim with its evidence, before the family is tested.
pub(crate) struct PendingClaim {
    text: String,
    origin: ClaimOrigin,
    /// The parsed claim, or its outcome without a test.
    reading: Result<ParsedClaim, UntestedClaim>,
    parts: Vec<ClaimEvidence>,
    left_out: Vec<String>,
}

/// The outcome of a claim that is not tested, and why.
struct UntestedClaim {
    outcome: Outcome,
    because: String,
}

impl UntestedClaim {
    fn undecided(because: String) -> Self {
        UntestedClaim {
            outcome: Outcome::Undecided,
            because,
        }
    }

    /// The outcome for two configurations with the same files and settings: no difference.
    fn of_same(kind: ClaimKind) -> Self {
        UntestedClaim {
            outcome: match kind {
                ClaimKind::Difference => Outcome::Refuted,
                ClaimKind::NotMore | ClaimKind::NotLess | ClaimKind::Equal => Outcome::Upheld,
            },
            because: "both configurations have the same files and settings".into(),
        }
    }

    fn claim(&self, claim: &PendingClaim) -> Claim {
        Claim {
            text: claim.text.clone(),
            origin: claim.origin,
            outcome: self.outcome,
            because: self.because.clone(),
        }
    }
}

/// All claims, before the family is tested.
pub(crate) struct Claims<'a> {
    pending: Vec<PendingClaim>,
    events: Vec<PlacedEvents<'a>>,
}

/// The hypotheses that other parts of the document have registered on the same records.
#[derive(Clone, Copy)]
pub(crate) struct OtherHypotheses<'c, 'a> {
    pub(crate) rows: &'c [ComparisonRow],
    pub(crate) ended: &'c [outcomes::PendingOutcome],
    pub(crate) ends: &'c RunEndings<'a>,
    pub(crate) caps: &'c Caps<'c>,
    pub(crate) rates: &'c rates::PendingRates<'a>,
}

/// Registers the hypotheses of the claims. If a row of the comparisons already tests the same
/// hypothesis, the claim uses that row, so a claim is never more certain than its row.
pub(crate) fn ask_all<'a>(
    cells: &Cells<'a>,
    grounds: OtherHypotheses<'_, 'a>,
    options: &Options,
    hypotheses: &mut Hypotheses,
) -> Result<Claims<'a>, Error> {
    let records = cells.records;
    let measured =
        !(records.runs.is_empty() && records.summaries.is_empty() && records.events.is_empty());
    let events = counted(cells, options.exposure_s);
    let mut evaluator = ClaimEvaluator {
        cells,
        grounds,
        events: &events,
        options,
        hypotheses,
    };
    let mut pending = Vec::new();
    for heard in requested_claims(records, options) {
        let names = names(cells, heard.text);
        let reading = match measured || names.has_outcomes() && !records.failures.is_empty() {
            true => match grammar::read(heard.text, &names) {
                Ok(reading) if are_same_everywhere(cells, reading.a, reading.b) => {
                    Err(UntestedClaim::of_same(reading.kind))
                }
                Ok(reading) => Ok(reading),
                Err(error) => Err(UntestedClaim::undecided(untried(heard, error)?)),
            },
            false if nothing_differs(&records.configurations, &records.same) => {
                Err(UntestedClaim::of_same(grammar::read_kind(heard.text)?))
            }
            false => Err(UntestedClaim::undecided(unmeasured(heard)?)),
        };
        pending.push(match reading {
            Ok(reading) => evaluator.gather_evidence(heard, reading, &names),
            Err(untested) => PendingClaim {
                text: heard.text.to_owned(),
                origin: heard.origin,
                reading: Err(untested),
                parts: Vec::new(),
                left_out: Vec::new(),
            },
        });
    }
    Ok(Claims { pending, events })
}

/// Decides all claims. A claim about several workloads is upheld if it is upheld
/// on each, and refuted if it is refuted on any.
pub(crate) fn settle(
    cells: &Cells<'_>,
    claims: Claims<'_>,
    rows: &[ComparisonRow],
    answers: &HypothesisResults,
    options: &Options,
) -> Vec<Claim> {
    let pairs = pairs(cells);
    let events = claims.events;
    let decided = claims.pending.into_iter().map(|mut claim| {
        for part in &mut claim.parts {
            if let VerdictSource::Own(row, _) = &mut part.source {
                row.settle(answers, options);
            }
        }
        let reading = match &claim.reading {
            Ok(reading) => *reading,
            Err(untested) => return untested.claim(&claim),
        };
        let post_hoc = claim.origin == ClaimOrigin::PostHoc;
        let among = post_hoc.then_some(pairs);
        let found: Vec<ClaimFinding> = claim
            .parts
            .iter()
            .map(|part| find(&reading, part, rows, &events, among, answers, options))
            .collect();
        decide(&claim, &reading, &found, options)
    });
    decided.collect()
}

/// The number of comparisons that could have been claimed after the data were
/// seen: all pairs of configurations on every metric of every workload.
pub(crate) fn pairs(cells: &Cells<'_>) -> usize {
    let of = |(workload, metric)| {
        let n = cells.row(workload, metric).count();
        n * n.saturating_sub(1) / 2
    };
    cells.rows().into_iter().map(of).sum::<usize>().max(1)
}

/// The findings on one piece of evidence. `among`: the number of pairs from which a post-hoc claim
/// could be chosen.
fn find(
    reading: &ParsedClaim,
    part: &ClaimEvidence,
    rows: &[ComparisonRow],
    events: &[PlacedEvents<'_>],
    among: Option<usize>,
    answers: &HypothesisResults,
    options: &Options,
) -> ClaimFinding {
    let bound = reading.bound;
    match (&part.source, &part.evidence) {
        (VerdictSource::Row(at), EvidenceFigures::Values(comparison)) => {
            by_row(&rows[*at], comparison, options)
        }
        (VerdictSource::Own(row, beside), EvidenceFigures::Values(comparison)) => {
            let differs = matches!(row.verdict, Verdict::Established | Verdict::Supported);
            let mut found = by_row(row, comparison, options);
            if bound != 1.0 && row.verdict == Verdict::Undecided {
                let told = || to_tell_from(comparison, bound, row.answer.alone);
                found.needed = row.cap.is_none().then(told).flatten();
            }
            if comparison.scale != Scale::Raw {
                found.direction = comparison.ratio.and_then(|ratio| ratio.partial_cmp(&bound));
            }
            if let Some(pairs) = among
                && differs
                && !survives(comparison, bound, pairs, options)
            {
                found.verdict = Verdict::Undecided;
                found.notes.push(format!(
                    "the claim was chosen after the runs, so it is tested together with all \
                     {pairs} that could have been chosen"
                ));
            }
            let beside = beside.and_then(|at| rows.get(at));
            if found.verdict == Verdict::Undecided
                && reading.kind == ClaimKind::Difference
                && beside.is_some_and(|row| excludes(row, bound, options))
            {
                found.verdict = Verdict::Equivalent;
            }
            found
        }
        (VerdictSource::Rates(b, a), EvidenceFigures::Events { compared, .. }) => by_rates(
            &rates::decide(compared, &events[*b], &events[*a], answers, options),
            compared.ratio,
        ),
        (&VerdictSource::Outcome(asked), EvidenceFigures::Outcomes { shares, p, .. }) => {
            let p_adjusted = answers.outcome_p(asked);
            by_shares(reading, *shares, (*p, p_adjusted), among, options)
        }
        (VerdictSource::None(why), _) => ClaimFinding {
            notes: vec![(*why).to_owned()],
            ..found_nothing()
        },
        _ => found_nothing(),
    }
}

fn by_rates(decided: &rates::DecidedRate, ratio: Option<f64>) -> ClaimFinding {
    ClaimFinding {
        verdict: decided.verdict,
        // An infinite ratio (no events of B) still has a direction.
        direction: ratio.and_then(|r| r.partial_cmp(&1.0)),
        p_adjusted: decided.p_adjusted,
        by_t: false,
        p: decided.p,
        needed: None,
        notes: decided.note.iter().cloned().collect(),
    }
}

/// The findings of an exact test on two shares of runs. A post-hoc claim must hold after correction
/// for all claims that could have been made.
fn by_shares(
    reading: &ParsedClaim,
    shares: [RunShare; 2],
    (p, p_adjusted): (f64, Option<f64>),
    among: Option<usize>,
    options: &Options,
) -> ClaimFinding {
    let [a, b] = shares.map(|share| f64::from(share.count) / f64::from(share.of));
    let times = among.filter(|_| reading.excess() != 0.0).unwrap_or(1) as f64;
    let is_established = p_adjusted.is_some_and(|p| p * times <= options.alpha);
    ClaimFinding {
        verdict: match is_established {
            true => Verdict::Established,
            false => Verdict::Undecided,
        },
        direction: (a - b).partial_cmp(&reading.excess()),
        p_adjusted,
        p: Some(p),
        ..found_nothing()
    }
}

/// Whether a row shows that two configurations differ by less than the claimed bound: they are
/// equivalent within a smaller margin.
fn excludes(row: &ComparisonRow, bound: f64, options: &Options) -> bool {
    let margin = -(1.0 - options.margin).ln();
    row.verdict == Verdict::Equivalent && bound.ln().abs() > margin
}

fn by_row(row: &ComparisonRow, comparison: &CellComparison, options: &Options) -> ClaimFinding {
    let mut found = claim_finding(row.verdict, comparison.direction(), row.answer, comparison);
    if row.verdict == Verdict::Undecided {
        found.needed = to_settle(row, options);
        let said = because::disagreement(comparison, &row.comparison);
        found.notes.extend(said);
    }
    found
}

fn claim_finding(
    verdict: Verdict,
    direction: Option<Ordering>,
    answer: HypothesisResult,
    comparison: &CellComparison,
) -> ClaimFinding {
    let by_t = answer.p_adjusted.is_none();
    ClaimFinding {
        verdict,
        direction,
        p_adjusted: answer.p_adjusted.or(answer.p_t_adjusted),
        by_t,
        p: if by_t { comparison.p_t } else { answer.p },
        needed: None,
        notes: Vec::new(),
    }
}

fn found_nothing() -> ClaimFinding {
    ClaimFinding {
        verdict: Verdict::Undecided,
        direction: None,
        p_adjusted: None,
        by_t: false,
        p: None,
        needed: None,
        notes: Vec::new(),
    }
}

/// Whether the interval excludes the bound at the level of one of `pairs` tests.
pub(crate) fn survives(
    comparison: &CellComparison,
    bound: f64,
    pairs: usize,
    options: &Options,
) -> bool {
    let level = 1.0 - options.alpha / pairs as f64;
    let Some(estimate) = comparison.estimate else {
        return false;
    };
    let (interval, bound) = match comparison.scale {
        Scale::Raw => (estimate.difference_interval(level), 0.0),
        Scale::Log | Scale::Summary => (estimate.ratio_interval(level), bound),
    };
    interval.is_ok_and(|interval| !interval.contains(bound))
}

fn decide(
    claim: &PendingClaim,
    reading: &ParsedClaim,
    found: &[ClaimFinding],
    options: &Options,
) -> Claim {
    let relation = reading.relation;
    let differs = |f: &ClaimFinding| matches!(f.verdict, Verdict::Established | Verdict::Supported);
    let claimed = match relation {
        ClaimedRelation::Less => Some(Ordering::Less),
        ClaimedRelation::Greater => Some(Ordering::Greater),
        ClaimedRelation::Equal => None,
    };
    let for_it = |f: &ClaimFinding| match claimed {
        Some(_) => differs(f) && f.direction == claimed,
        None => f.verdict == Verdict::Equivalent,
    };
    let against = |f: &ClaimFinding| match claimed {
        Some(way) => differs(f) && f.direction == Some(way.reverse()),
        None => differs(f),
    };
    let difference = reading.kind == ClaimKind::Difference;
    let equal = |f: &ClaimFinding| difference && f.verdict == Verdict::Equivalent;
    let (outcome, why) = if !found.is_empty() && found.iter().all(for_it) {
        (Outcome::Upheld, because::confidence_word(found, options))
    } else if found.iter().any(against) {
        let those: Vec<&ClaimFinding> = found.iter().filter(|f| against(f)).collect();
        (Outcome::Refuted, because::confidence_word(those, options))
    } else if found.iter().any(equal) {
        (Outcome::Refuted, because::within(options))
    } else {
        let why = because::undecided(&claim.parts, found, reading, options);
        (Outcome::Undecided, why)
    };
    let decided = outcome != Outcome::Undecided;
    let parts = claim.parts.iter().zip(found);
    let mut grounds: Vec<String> = parts
        .map(|(part, found)| because::figures(part, found, reading, decided))
        .collect();
    grounds.push(why);
    if !claim.parts.is_empty() && !claim.left_out.is_empty() {
        grounds.push(format!(
            "{} left out: without values for both configurations",
            count_of(claim.left_out.len(), "workload")
        ));
    }
    Claim {
        text: claim.text.clone(),
        origin: claim.origin,
        outcome,
        because: grounds.join("; "),
    }
}
