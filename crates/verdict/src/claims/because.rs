//! The grounds of an outcome, in words.

use std::cmp::Ordering;

use super::grammar::Relation;
use super::{Evidence, Part};
use crate::comparisons::{runs_for, runs_to_attain};
use crate::document::Scale;
use crate::options::Options;
use crate::weigh::Weighed;
use crate::words::{p_value, plain, with_interval};

/// The figures of one workload, A over B, such as
/// `glxgears: ratio 0.789 [0.77, 0.81], p 0.1, 3 against 3 runs`, and which way
/// they point where nothing is decided.
pub(super) fn figures(part: &Part, relation: Relation, decided: bool) -> String {
    let mut items = match &part.evidence {
        Evidence::Values(weighed) => value_figures(weighed),
        Evidence::Events {
            counts: [a, b],
            exposures,
            ratio,
            ..
        } => {
            let seconds =
                |s: Option<f64>| s.map_or("an unknown time".into(), |s| format!("{} s", plain(s)));
            let mut items = vec![format!(
                "{a} in {} against {b} in {}",
                seconds(exposures[0]),
                seconds(exposures[1])
            )];
            items.extend(ratio.map(|r| format!("ratio {}", plain(r))));
            items
        }
    };
    items.splice(1.min(items.len())..1.min(items.len()), tested(part));
    if let Evidence::Values(weighed) = &part.evidence
        && !decided
    {
        items.extend(pointing(relation, part, weighed));
    }
    format!("{}: {}", part.workload, items.join(", "))
}

/// The p-values that were reckoned with.
fn tested(part: &Part) -> Vec<String> {
    let permutation = match &part.evidence {
        Evidence::Values(weighed) => weighed.p,
        Evidence::Events { .. } => part.p,
    };
    let mut items: Vec<String> = Vec::new();
    items.extend(permutation.map(|p| format!("p {}", p_value(p))));
    let by_t = part.p.filter(|_| part.by_t);
    items.extend(by_t.map(|p| format!("p of t {}", p_value(p))));
    items
}

fn value_figures(weighed: &Weighed) -> Vec<String> {
    let ci = weighed.ci_ends();
    let effect = match (weighed.ratio, weighed.difference) {
        (Some(ratio), _) => format!("ratio {}", with_interval(ratio, ci)),
        (None, Some(difference)) => format!("difference {}", with_interval(difference, ci)),
        (None, None) => "no ratio".into(),
    };
    let mut items = vec![effect];
    if let (Some(a), Some(b)) = (weighed.n_b, weighed.n_a) {
        items.push(format!("{a} against {b} runs"));
    }
    if weighed.scale == Scale::Summary {
        items.extend(weighed.because.iter().cloned());
    }
    items
}

/// A claim with a margin.
pub(super) fn margin_untried() -> String {
    "claims with a margin are not tried yet".into()
}

/// Equal within the margin.
pub(super) fn within(options: &Options) -> String {
    format!(
        "the 90 % interval lies within \u{b1}{} %: equivalent",
        plain(100.0 * options.margin)
    )
}

/// Established, by a p that may have been corrected.
pub(super) fn established(adjusted: Option<f64>, tried: usize) -> String {
    let Some(p) = adjusted.filter(|_| tried > 1) else {
        return "established".into();
    };
    format!(
        "established: p corrected for {tried} claims is {}",
        p_value(p)
    )
}

/// Found by the t test alone, and what would establish it.
pub(super) fn supported(
    parts: &[Part],
    adjusted: Option<f64>,
    tried: usize,
    options: &Options,
) -> String {
    let corrected = match adjusted.filter(|_| tried > 1) {
        Some(p) => format!(" (p of t corrected for {tried} claims is {})", p_value(p)),
        None => String::new(),
    };
    let limits: Vec<String> = parts
        .iter()
        .filter_map(|part| match &part.evidence {
            Evidence::Values(weighed) => limit(weighed, options.alpha / tried as f64, options),
            Evidence::Events { .. } => None,
        })
        .collect();
    let limit = limits.first().map_or(
        "only means are known; the single runs could establish it",
        String::as_str,
    );
    format!("supported{corrected}, not established: {limit}")
}

/// What would decide a claim that is undecided.
pub(super) fn undecided(
    parts: &[Part],
    relation: Relation,
    tried: usize,
    options: &Options,
) -> String {
    if parts.is_empty() {
        return "no workload has runs of this metric for both configurations".into();
    }
    let level = options.alpha / tried as f64;
    let equal = relation == Relation::Equal;
    let mut grounds: Vec<String> = Vec::new();
    for part in parts {
        let said = match &part.evidence {
            Evidence::Values(weighed) => weighed
                .disagreement(options)
                .or_else(|| weighed.coarseness(options).filter(|_| equal))
                .or_else(|| limit(weighed, level, options)),
            Evidence::Events { .. } if part.p.is_none() => {
                Some("without the exposure nothing can be tested".to_owned())
            }
            Evidence::Events { settled_by, .. } => settled_by.clone(),
        };
        grounds.extend(said.filter(|said| !grounds.contains(said)));
    }
    if grounds.is_empty() {
        grounds.push("not established".into());
    }
    grounds.join("; ")
}

/// Why runs decide nothing, and how many would.
fn limit(weighed: &Weighed, level: f64, options: &Options) -> Option<String> {
    let attainable = weighed.p_attainable?;
    if attainable > level {
        let enough = runs_to_attain(weighed.per_block, level)
            .map_or(String::new(), |n| format!("; {n} runs of each could"));
        return Some(format!(
            "so few runs cannot reach p <= {} (smallest attainable p: {}){enough}",
            plain(options.alpha),
            p_value(attainable)
        ));
    }
    let made = weighed.n_a.min(weighed.n_b)?;
    let n = runs_for(weighed, level).filter(|&n| n > made)?;
    Some(format!("about {n} runs of each would likely settle it"))
}

/// Whether the interval points the claimed way, in words.
fn pointing(relation: Relation, part: &Part, weighed: &Weighed) -> Option<String> {
    let direction = part.direction.filter(|_| weighed.ci.is_some())?;
    if !weighed.excludes_none() {
        let none = if weighed.scale == Scale::Raw {
            "0"
        } else {
            "1"
        };
        return Some(format!("the interval includes {none}"));
    }
    let for_it = match relation {
        Relation::Less => direction == Ordering::Less,
        Relation::Greater => direction == Ordering::Greater,
        Relation::Equal => false,
    };
    Some(if for_it {
        "points the claimed way".into()
    } else {
        "points against the claim".into()
    })
}
