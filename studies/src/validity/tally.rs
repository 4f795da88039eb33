//! Counts in a document.

use assize_verdict::{Comparison, Document, Options, Outcome, Sentence, Verdict, try_records};
use std::collections::BTreeMap;

use super::peers::{self, PEERS};
use super::trial::{Trial, row};

/// A quantity to count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measure {
    /// Documents in which a row without a difference is `established`.
    FalseEstablished,
    /// Documents in which a row without a difference is `established` or `supported`.
    FalseFound,
    /// Documents with a sentence that gives a direction.
    Directional,
    /// Documents with a sentence that gives a direction although the row's verdict does not.
    Contradicting,
    /// Rows without a difference that are `established`.
    RowEstablished,
    /// Rows with a true difference that are `established` or `supported` in its
    /// direction.
    Found,
    /// Rows with a true difference that are `established` in its direction.
    Established,
    /// Rows that differ by more than the margin but are `equivalent`.
    FalseEquivalent,
    /// Rows that differ by less than the margin and are `equivalent`.
    Equivalent,
    /// Intervals that contain the true ratio.
    Covered,
    /// Claims chosen after seeing the figures that were upheld as established.
    ClaimEstablished,
    /// Claims chosen after seeing the figures that were upheld at all.
    ClaimUpheld,
    /// Documents with the lint `drift`.
    DriftLint,
    /// Comparisons of rates, `established`.
    RateEstablished,
    /// Comparisons of rates, `established` or `supported`.
    RateFound,
    /// Documents that establish that one side crashes more often.
    EndEstablished,
    /// True main effects of factors that are `established` or `supported`.
    FactorFound,
    /// Absent main effects of factors that are `established` or `supported`.
    FactorFalse,
    /// Documents in which a method finds a difference where there is none.
    PeerFalse(usize),
    /// Rows with a true difference that a method finds.
    PeerFound(usize),
}

impl Measure {
    /// The heading of the column.
    pub(crate) fn says(self) -> &'static str {
        match self {
            Self::FalseEstablished => "falsely `established`, any row",
            Self::FalseFound => "falsely `established` or `supported`, any row",
            Self::Directional => "a sentence gives a direction",
            Self::Contradicting => "a sentence gives a direction, its row's verdict none",
            Self::RowEstablished => "rows falsely `established`",
            Self::Found => "true differences found",
            Self::Established => "true differences `established`",
            Self::FalseEquivalent => "falsely `equivalent`",
            Self::Equivalent => "`equivalent`",
            Self::Covered => "the interval holds the truth",
            Self::ClaimEstablished => "upheld, established",
            Self::ClaimUpheld => "upheld at all",
            Self::DriftLint => "lint `drift`",
            Self::RateEstablished => "falsely `established`",
            Self::RateFound => "falsely `established` or `supported`",
            Self::EndEstablished => "crashes `established`",
            Self::FactorFound => "the effect that is there is found",
            Self::FactorFalse => "the effect that is not is found",
            Self::PeerFalse(_) => "false alarm in any row",
            Self::PeerFound(_) => "true differences found",
        }
    }
}

/// The count and the total of each measure.
#[derive(Clone, Default)]
pub(crate) struct Tally(BTreeMap<Measure, (u64, u64)>);

impl Tally {
    /// The number of documents judged.
    pub(crate) fn documents(&self) -> u64 {
        self.get(Measure::Directional).1
    }

    /// The count and the total.
    pub(crate) fn get(&self, measure: Measure) -> (u64, u64) {
        self.0.get(&measure).copied().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (&measure, &(count, of)) in &other.0 {
            self.count(measure, count, of);
        }
    }

    fn count(&mut self, measure: Measure, count: u64, of: u64) {
        let sum = self.0.entry(measure).or_default();
        sum.0 += count;
        sum.1 += of;
    }

    fn one(&mut self, measure: Measure, found: bool) {
        self.count(measure, u64::from(found), 1);
    }
}

/// Judges one trial and counts. A trial that is refused counts nothing.
pub(crate) fn judge(trial: &Trial, with_peers: bool) -> Tally {
    let mut tally = Tally::default();
    let Ok(document) = try_records(&trial.records, &trial.options) else {
        return tally;
    };
    rows(&mut tally, &document, trial);
    sentences(&mut tally, &document);
    tally.one(
        Measure::DriftLint,
        document.lints.iter().any(|lint| lint.code == "drift"),
    );
    for rate in &document.rate_comparisons {
        let sure = rate.verdict == Verdict::Established;
        tally.one(Measure::RateEstablished, sure);
        tally.one(Measure::RateFound, is_difference(rate.verdict));
    }
    let mut ends = document.outcomes.iter();
    let ended = ends.any(|row| row.verdict == Verdict::Established);
    tally.one(Measure::EndEstablished, ended);
    factors(&mut tally, &document, trial);
    claims(&mut tally, &document);
    if trial.claims_best
        && let Some(options) = claiming_the_best(&document, trial)
        && let Ok(again) = try_records(&trial.records, &options)
    {
        claims(&mut tally, &again);
    }
    if with_peers {
        methods(&mut tally, trial);
    }
    tally
}

/// The name of a comparison's row, in the form of [`Sentence::rows`].
fn name(comparison: &Comparison) -> String {
    row(
        &comparison.workload,
        &comparison.metric,
        &comparison.configuration,
    )
}

fn is_difference(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Established | Verdict::Supported)
}

fn rows(tally: &mut Tally, document: &Document, trial: &Trial) {
    let (mut established, mut found) = (false, false);
    for comparison in &document.comparisons {
        let truth = trial.ratio(&name(comparison));
        let difference = is_difference(comparison.verdict);
        let sure = comparison.verdict == Verdict::Established;
        if truth == 1.0 {
            tally.one(Measure::RowEstablished, sure);
            established |= sure;
            found |= difference;
        } else {
            let right = comparison.ratio.is_some_and(|r| (r > 1.0) == (truth > 1.0));
            tally.one(Measure::Found, difference && right);
            tally.one(Measure::Established, sure && right);
        }
        let within = truth < 1.0 + document.margin && truth > 1.0 / (1.0 + document.margin);
        let equivalent = comparison.verdict == Verdict::Equivalent;
        let measure = if within {
            Measure::Equivalent
        } else {
            Measure::FalseEquivalent
        };
        tally.one(measure, equivalent);
        if let (Some(_), Some([low, high])) = (comparison.ratio, comparison.ci) {
            tally.one(Measure::Covered, low <= truth && truth <= high);
        }
    }
    for fit in &document.factorial {
        for effect in &fit.effects {
            if trial.ratio(&row(&fit.workload, &fit.metric, &effect.name)) == 1.0 {
                established |= effect.verdict == Verdict::Established;
                found |= is_difference(effect.verdict);
            }
        }
    }
    tally.one(Measure::FalseEstablished, established);
    tally.one(Measure::FalseFound, found);
}

/// Counts the main effects of factors.
fn factors(tally: &mut Tally, document: &Document, trial: &Trial) {
    for fit in &document.factorial {
        for effect in fit.effects.iter().filter(|e| !e.name.contains(':')) {
            let truth = trial.ratio(&row(&fit.workload, &fit.metric, &effect.name));
            let measure = if truth == 1.0 {
                Measure::FactorFalse
            } else {
                Measure::FactorFound
            };
            tally.one(measure, is_difference(effect.verdict));
        }
    }
}

/// Whether a sentence says that something is higher or lower.
fn is_directional(sentence: &Sentence) -> bool {
    ["higher", "lower"]
        .iter()
        .any(|word| sentence.text.contains(word))
}

fn sentences(tally: &mut Tally, document: &Document) {
    let directional: Vec<&Sentence> = document
        .sentences
        .iter()
        .filter(|sentence| is_directional(sentence))
        .collect();
    tally.one(Measure::Directional, !directional.is_empty());
    let verdicts: BTreeMap<String, &Comparison> =
        document.comparisons.iter().map(|c| (name(c), c)).collect();
    let contradicts = |sentence: &Sentence| {
        sentence.rows.iter().any(|row| {
            verdicts.get(row).is_some_and(|comparison| {
                // For such a workload the sentence gives no direction.
                let unmoved = format!("but not on {} ", comparison.workload);
                !is_difference(comparison.verdict) && !sentence.text.contains(&unmoved)
            })
        })
    };
    let contradicting = directional.iter().any(|sentence| contradicts(sentence));
    tally.one(Measure::Contradicting, contradicting);
}

/// Options with a claim on the most striking row, as if made after seeing the figures.
fn claiming_the_best(document: &Document, trial: &Trial) -> Option<Options> {
    let p = |c: &Comparison| (c.p.unwrap_or(1.0), c.p_t.unwrap_or(1.0));
    let best = document.comparisons.iter().min_by(|a, b| {
        let (a, b) = (p(a), p(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    })?;
    let sign = if best.ratio? < 1.0 { '<' } else { '>' };
    let mut options = trial.options.clone();
    options.claims = vec![format!(
        "{} {sign} {} on {} in {}",
        best.configuration, best.baseline, best.metric, best.workload
    )];
    Some(options)
}

fn claims(tally: &mut Tally, document: &Document) {
    for claim in &document.claims {
        let upheld = claim.outcome == Outcome::Upheld;
        let weakly = claim.because.contains("supported, not established");
        tally.one(Measure::ClaimUpheld, upheld);
        tally.one(Measure::ClaimEstablished, upheld && !weakly);
    }
}

fn methods(tally: &mut Tally, trial: &Trial) {
    let (names, found) = peers::found(trial);
    for (peer, found) in found.iter().enumerate().take(PEERS.len()) {
        let mut wrong = false;
        for (name, &found) in names.iter().zip(found) {
            if trial.ratio(name) == 1.0 {
                wrong |= found;
            } else {
                tally.one(Measure::PeerFound(peer), found);
            }
        }
        tally.one(Measure::PeerFalse(peer), wrong);
    }
}
