//! The reasons for the outcome of a claim, as text.

use std::borrow::Borrow;
use std::cmp::Ordering;

use assize_judge::counts::{self, RunShare};

use super::grammar::{ClaimedRelation, ParsedClaim};
use super::{ClaimEvidence, ClaimFinding, EvidenceFigures};
use crate::compare::CellComparison;
use crate::document::{Scale, Verdict};
use crate::enough::runs_to_attain;
use crate::options::Options;
use crate::words::{finite, p_value, plain, with_interval};

/// The figures of one workload, A over B, such as `glxgears: ratio 0.789 [0.77,
/// 0.81], p 0.1, 3 against 3 runs`, and the direction they point in if nothing
/// is decided.
pub(super) fn figures(
    part: &ClaimEvidence,
    found: &ClaimFinding,
    reading: &ParsedClaim,
    decided: bool,
) -> String {
    let mut items = match &part.evidence {
        EvidenceFigures::Values(comparison) => value_figures(comparison),
        EvidenceFigures::Events {
            counts: [a, b],
            exposures,
            compared,
        } => {
            let seconds =
                |s: Option<f64>| s.map_or("an unknown time".into(), |s| format!("{} s", plain(s)));
            let mut items = vec![format!(
                "{a} in {} against {b} in {}",
                seconds(exposures[0]),
                seconds(exposures[1])
            )];
            let ratio = compared.ratio.and_then(finite);
            items.extend(ratio.map(|r| format!("ratio {}", plain(r))));
            items
        }
        EvidenceFigures::Outcomes {
            end,
            shares: [a, b],
            ..
        } => {
            let (heading, a, b) = (end.heading(), (a.count, a.of), (b.count, b.of));
            vec![format!(
                "{heading} {} of {} against {} of {}",
                a.0, a.1, b.0, b.1
            )]
        }
    };
    items.splice(1.min(items.len())..1.min(items.len()), tested(found));
    if let EvidenceFigures::Values(comparison) = &part.evidence
        && !decided
    {
        items.extend(pointing(reading, found, comparison));
    }
    format!("{}: {}", part.workload, items.join(", "))
}

/// The p that was used, and its corrected value.
fn tested(found: &ClaimFinding) -> Option<String> {
    let name = if found.by_t { "p of t" } else { "p" };
    let p = found.p?;
    Some(match found.p_adjusted {
        Some(adjusted) if adjusted != p => {
            format!("{name} {} ({} corrected)", p_value(p), p_value(adjusted))
        }
        _ => format!("{name} {}", p_value(p)),
    })
}

fn value_figures(comparison: &CellComparison) -> Vec<String> {
    let ci = comparison.ci_ends();
    let effect = match (comparison.ratio, comparison.difference) {
        (Some(ratio), _) => format!("ratio {}", with_interval(ratio, ci)),
        (None, Some(difference)) => format!("difference {}", with_interval(difference, ci)),
        (None, None) => "no ratio".into(),
    };
    let mut items = vec![effect];
    if let (Some(a), Some(b)) = (comparison.n_b, comparison.n_a) {
        items.push(format!("{a} against {b} runs"));
    }
    if comparison.scale == Scale::Summary {
        items.extend(comparison.because.iter().cloned());
    }
    items
}

/// `equivalent within ±MARGIN`.
pub(super) fn within(options: &Options) -> String {
    format!(
        "equivalent within \u{b1}{} %",
        plain(100.0 * options.margin)
    )
}

/// The confidence in a claim, in one word: that of its weakest finding.
pub(super) fn confidence_word<F: Borrow<ClaimFinding>>(
    found: impl IntoIterator<Item = F>,
    options: &Options,
) -> String {
    let mut word = "established".to_owned();
    for found in found {
        match found.borrow().verdict {
            Verdict::Equivalent => return within(options),
            Verdict::Supported => word = "supported, not established".into(),
            Verdict::Established | Verdict::Undecided => {}
        }
    }
    word
}

/// What would settle an undecided claim.
pub(super) fn undecided(
    parts: &[ClaimEvidence],
    found: &[ClaimFinding],
    reading: &ParsedClaim,
    options: &Options,
) -> String {
    if parts.is_empty() {
        return "no workload has runs of this metric for both configurations".into();
    }
    let equal = reading.relation == ClaimedRelation::Equal;
    let mut grounds: Vec<String> = Vec::new();
    for (part, found) in parts.iter().zip(found) {
        let mut said = found.notes.clone();
        match &part.evidence {
            EvidenceFigures::Values(comparison) if said.is_empty() => said.extend(
                comparison
                    .disagreement()
                    .or_else(|| comparison.coarseness(options).filter(|_| equal))
                    .or_else(|| limit(comparison, found, reading, options)),
            ),
            EvidenceFigures::Events { .. } if found.p.is_none() => {
                said = vec!["without the exposure nothing can be tested".to_owned()];
            }
            EvidenceFigures::Outcomes {
                shares,
                p_attainable,
                ..
            } => said.extend(few_runs(*shares, *p_attainable, reading, options)),
            _ => {}
        }
        for said in said {
            if !grounds.contains(&said) {
                grounds.push(said);
            }
        }
    }
    if grounds.is_empty() {
        let small = |one: &ClaimFinding| one.p_adjusted.is_some_and(|p| p <= options.alpha);
        let why = match found.iter().all(small) {
            true => {
                "the p is small, but the t test does not confirm it, or a lint reports a defect"
            }
            false => "not established",
        };
        grounds.push(why.into());
    }
    grounds.join("; ")
}

/// Why a comparison of shares of runs is undecided, and how many runs would decide it.
fn few_runs(
    [a, b]: [RunShare; 2],
    p_attainable: f64,
    reading: &ParsedClaim,
    options: &Options,
) -> Option<String> {
    let excess = reading.excess();
    if reading.relation == ClaimedRelation::Equal {
        return Some("two shares are never shown to be equal; claim `A <= B + 5%`".into());
    }
    if excess != 0.0 && a.count + b.count == 0 {
        let enough = counts::runs_to_exclude(excess.abs(), options.alpha)?;
        let (points, runs) = (plain(100.0 * excess.abs()), a.of.min(b.of));
        return (enough > runs).then(|| {
            format!(
                "about {enough} runs a side rule out a difference of {points} points, if none ends \
                 this way"
            )
        });
    }
    (p_attainable > options.alpha).then(|| {
        let p = p_value(p_attainable);
        format!("so few such runs cannot be distinguished from chance (smallest attainable p: {p})")
    })
}

/// Why there are too few runs, or memory images, to decide, and how many would
/// suffice.
fn limit(
    comparison: &CellComparison,
    found: &ClaimFinding,
    reading: &ParsedClaim,
    options: &Options,
) -> Option<String> {
    let attainable = comparison.p_attainable?;
    if attainable > options.alpha {
        let one_machine = comparison.across.is_none();
        let enough = runs_to_attain(comparison.per_block, options.alpha).filter(|_| one_machine);
        let enough = enough.map_or(String::new(), |n| {
            format!("; {} could", comparison.so_many(n))
        });
        return Some(format!(
            "so few {}s cannot reach p <= {} (smallest attainable p: {}){enough}",
            comparison.replicate(),
            plain(options.alpha),
            p_value(attainable)
        ));
    }
    let made = comparison.replicates()?;
    let enough = comparison.so_many(found.needed.filter(|&n| n > made)?);
    Some(match reading.bound == 1.0 {
        true => format!(
            "about {enough} would likely settle it at a margin of {} %",
            plain(100.0 * options.margin)
        ),
        false => format!("about {enough} would likely settle it if they do not differ"),
    })
}

/// The side of the bound on which the interval lies, in words.
fn pointing(
    reading: &ParsedClaim,
    found: &ClaimFinding,
    comparison: &CellComparison,
) -> Option<String> {
    let direction = found.direction?;
    let ci = comparison.ci?;
    let raw = comparison.scale == Scale::Raw;
    let bound = if raw { 0.0 } else { reading.bound };
    if ci.contains(bound) {
        return Some(format!("the interval includes {}", plain(bound)));
    }
    let for_it = match reading.relation {
        ClaimedRelation::Less => direction == Ordering::Less,
        ClaimedRelation::Greater => direction == Ordering::Greater,
        ClaimedRelation::Equal => false,
    };
    Some(if for_it {
        "points the claimed way".into()
    } else {
        "points against the claim".into()
    })
}

/// How machines contradict each other on the claim's two configurations. The verdicts are from the
/// row for these configurations, which may have them in reverse order.
pub(super) fn disagreement(comparison: &CellComparison, row: &CellComparison) -> Option<String> {
    let mut across = comparison.across.clone()?;
    for (on, decided) in across
        .machines
        .iter_mut()
        .zip(&row.across.as_ref()?.machines)
    {
        on.verdict = decided.verdict;
    }
    across.disagreement()
}
