//! Tests claims that a function explains a share of a metric against the counts.

use serde::{Deserialize, Serialize};

use crate::calls::{CallShare, Calls};
use crate::difference::{
    Account, CountedPair, CountedRun, DiffHunk, WhyQuestion, divisor, mean, number,
};

/// Metrics that advance by one per instruction on a machine with one CPU, and whether
/// they still do so on several CPUs.
const METRICS: [(&str, bool); 2] = [("busy_time", false), ("guest_instructions", true)];

/// A claim such as `csum_partial: 20 % on busy_time`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareClaim {
    /// The claim as written.
    pub text: String,
    /// The function.
    pub function: String,
    /// The share of the metric that the function is claimed to explain, in per cent.
    pub percent: f64,
    /// Half a unit in the last digit of `percent`.
    rounding: f64,
    /// The metric.
    pub metric: String,
}

impl ShareClaim {
    /// Parses `FN: N % on METRIC`; without `on METRIC`, the claim is about `metric`.
    ///
    /// # Errors
    /// A message that says what is wrong.
    pub fn parse(text: &str, metric: &str) -> Result<ShareClaim, String> {
        let form = "a claim is 'FN: N % on METRIC'";
        let wrong = |what: &str| format!("'{text}': {what}; {form}");
        let (function, rest) = text.split_once(':').ok_or_else(|| wrong("no colon"))?;
        let (figure, rest) = rest.split_once('%').ok_or_else(|| wrong("no %"))?;
        let (function, figure, rest) = (function.trim(), figure.trim(), rest.trim());
        let named = function
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        if function.is_empty() || !named {
            return Err(wrong("no name of a function before the colon"));
        }
        let digits = figure.trim_start_matches(['+', '-']);
        let percent = digits.parse::<f64>().ok();
        let percent = percent
            .filter(|number| number.is_finite() && *number > 0.0 && !digits.contains(['e', 'E']))
            .ok_or_else(|| wrong("no figure above 0 before the %"))?;
        let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
        let metric = match rest.split_once(char::is_whitespace) {
            _ if rest.is_empty() => metric,
            Some(("on", metric)) => metric.trim(),
            _ => return Err(wrong("no 'on METRIC' after the %")),
        };
        if !METRICS.iter().any(|(name, _)| *name == metric) {
            let valid: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "'{text}': {metric} does not count instructions, so functions have no share of it; \
                 valid: {}",
                valid.join(", ")
            ));
        }
        Ok(ShareClaim {
            text: text.to_owned(),
            function: function.to_owned(),
            percent,
            rounding: 0.5 * 10_f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX)),
            metric: metric.to_owned(),
        })
    }
}

/// The outcome of testing a claim against the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimOutcome {
    /// No change of the function can explain that much.
    Refuted,
    /// A change of the function might explain that much.
    NotRefuted,
    /// The counts are not sufficient to decide.
    Undecided,
}

/// A claim and its outcome.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ExplainedClaim {
    /// The claim as written.
    pub claim: String,
    /// The function.
    pub function: String,
    /// The claimed share, in per cent.
    pub percent: f64,
    /// The metric of the claim.
    pub metric: String,
    /// The outcome.
    pub outcome: ClaimOutcome,
    /// Why it is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The instructions of the function.
    pub has: FunctionShare,
}

/// A function's share of all instructions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
pub struct FunctionShare {
    /// Whether the kernels have a function with this name.
    pub known: bool,
    /// Whether any of it was executed.
    pub reached: bool,
    /// Entries in the first configuration, per job or per run, averaged over seeds.
    pub entered_a: f64,
    /// Entries in the second configuration.
    pub entered_b: f64,
    /// Its inclusive share of all instructions in the first configuration, in per cent,
    /// averaged over seeds.
    pub share_a: f64,
    /// Its inclusive share in the second configuration.
    pub share_b: f64,
    /// An upper bound on what it can explain, in per cent: the larger of its inclusive
    /// instruction counts in the two configurations, divided by the smaller of the total
    /// counts; the maximum over seeds.
    pub at_most: f64,
}

impl FunctionShare {
    /// The figures of the function with this index (see [`WhyQuestion::functions`]).
    pub(crate) fn from_pairs(at: usize, pairs: &[CountedPair], by_job: bool) -> FunctionShare {
        let mut has = FunctionShare::default();
        let (mut entered, mut shares) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for pair in pairs {
            let mut inclusive = [0.0; 2];
            let mut all = [0.0; 2];
            for (side, place) in [(&pair.a, 0), (&pair.b, 1)] {
                let share = side.share(at);
                let weight = divisor(side, by_job);
                let whole = number(side.profile.instructions.max(1));
                has.known |= side
                    .functions
                    .get(at)
                    .is_some_and(|names| !names.is_empty());
                has.reached |= share.own > 0 || share.entered > 0;
                let (Some(entered), Some(shares), Some(inclusive), Some(all)) = (
                    entered.get_mut(place),
                    shares.get_mut(place),
                    inclusive.get_mut(place),
                    all.get_mut(place),
                ) else {
                    continue;
                };
                entered.push(number(share.entered) / weight);
                shares.push(100.0 * number(share.inclusive) / whole);
                *inclusive = number(share.inclusive) / weight;
                *all = whole / weight;
            }
            let [of_a, of_b] = inclusive;
            let [all_a, all_b] = all;
            has.at_most = has.at_most.max(100.0 * of_a.max(of_b) / all_a.min(all_b));
        }
        [has.entered_a, has.entered_b] = entered.map(|values| mean(&values));
        [has.share_a, has.share_b] = shares.map(|values| mean(&values));
        has
    }
}

impl CountedRun {
    /// The figures of all functions with this index together.
    fn share(&self, at: usize) -> CallShare {
        let names = self.functions.get(at);
        let share = |calls: &Calls| Some(calls.share(names?));
        self.calls.as_ref().and_then(share).unwrap_or_default()
    }
}

/// A hunk of a diff, and how much the functions it touches can explain.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct HunkShare {
    /// The file.
    pub path: String,
    /// Its line ranges.
    pub range: String,
    /// Whether it also changes lines that the diff does not assign to a function.
    pub outside: bool,
    /// The functions that it touches.
    pub functions: Vec<TouchedFunction>,
}

/// A function that a hunk touches.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct TouchedFunction {
    /// Its name.
    pub name: String,
    /// The instructions of the function.
    pub has: FunctionShare,
}

/// How much the hunks can explain. Their functions follow those of the claims in the
/// index.
pub(crate) fn hunk_shares(
    asked: &WhyQuestion,
    pairs: &[CountedPair],
    by_job: bool,
) -> Vec<HunkShare> {
    let mut at = asked.claims.len()..;
    let mut one = |hunk: &DiffHunk| HunkShare {
        path: hunk.path.clone(),
        range: hunk.range.clone(),
        outside: hunk.outside,
        functions: std::iter::zip(&hunk.functions, &mut at)
            .map(|(name, at)| TouchedFunction {
                name: name.clone(),
                has: FunctionShare::from_pairs(at, pairs, by_job),
            })
            .collect(),
    };
    asked.hunks.iter().map(&mut one).collect()
}

/// Tests a claim against the figures of its function.
pub(crate) fn explained_claim(
    claim: &ShareClaim,
    has: FunctionShare,
    account: &Account,
) -> ExplainedClaim {
    let on_several = METRICS
        .iter()
        .any(|(name, several)| *name == claim.metric && *several);
    let why = if !has.known {
        Some(
            "the kernel has no function of this name: it does not exist, or the compiler has \
             inlined it into its callers"
                .to_owned(),
        )
    } else if !account.whole {
        Some("not every instruction is accounted for".to_owned())
    } else if account.cpus > 1 && !on_several {
        Some(format!(
            "on {} CPUs {} also advances by declared costs, which belong to no function",
            account.cpus, claim.metric
        ))
    } else {
        None
    };
    let outcome = if why.is_some() {
        ClaimOutcome::Undecided
    } else if has.at_most < claim.percent - claim.rounding {
        ClaimOutcome::Refuted
    } else {
        ClaimOutcome::NotRefuted
    };
    ExplainedClaim {
        claim: claim.text.clone(),
        function: claim.function.clone(),
        percent: claim.percent,
        metric: claim.metric.clone(),
        outcome,
        why,
        has,
    }
}

#[cfg(test)]
#[path = "claims_tests.rs"]
pub(crate) mod tests;
