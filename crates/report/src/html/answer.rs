//! The answer: the document's sentences, each with the verdict behind it.

use std::collections::{HashMap, HashSet};

use assize_verdict::{Document, Effect, Sentence, Verdict};
use serde::Serialize;

/// A sentence and its certainty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct AnswerSentence {
    text: String,
    /// The verdict of the rows behind it; `effect` for effects of factors, which have no
    /// verdict, and `note` for statements about the data as a whole.
    verdict: &'static str,
}

/// The number of comparisons with a given verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct VerdictTally {
    verdict: &'static str,
    mark: &'static str,
    count: usize,
}

/// A claim and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ClaimLine {
    text: String,
    origin: &'static str,
    outcome: &'static str,
    because: String,
}

pub(super) fn sentences(document: &Document) -> Vec<AnswerSentence> {
    let known = SentenceVerdicts::new(document);
    let said = |sentence: &Sentence| AnswerSentence {
        text: sentence.text.clone(),
        verdict: known.weakest_verdict(sentence),
    };
    document.sentences.iter().map(said).collect()
}

/// The rows that sentences can refer to.
struct SentenceVerdicts {
    verdicts: HashMap<String, Verdict>,
    effects: HashSet<String>,
}

impl SentenceVerdicts {
    fn new(document: &Document) -> Self {
        let rows = document.comparisons.iter().map(|row| {
            let name = format!("{} {} {}", row.workload, row.metric, row.configuration);
            (name, row.verdict)
        });
        let events = document.rate_comparisons.iter().map(|row| {
            let name = format!("{} {} {}", row.workload, row.event, row.configuration);
            (name, row.verdict)
        });
        let effects = document.factorial.iter().flat_map(|fit| {
            let name = |effect: &Effect| format!("{} {} {}", fit.workload, fit.metric, effect.name);
            fit.effects.iter().map(name).collect::<Vec<_>>()
        });
        SentenceVerdicts {
            verdicts: rows.chain(events).collect(),
            effects: effects.collect(),
        }
    }

    /// The weakest verdict among the sentence's rows that show a difference; if other
    /// rows are less certain, the sentence says so.
    fn weakest_verdict(&self, sentence: &Sentence) -> &'static str {
        let found = || {
            sentence
                .rows
                .iter()
                .filter_map(|row| self.verdicts.get(row))
        };
        if found().any(|verdict| *verdict == Verdict::Supported) {
            Verdict::Supported.word()
        } else if let Some(verdict) = found().find(|verdict| **verdict == Verdict::Established) {
            verdict.word()
        } else if let Some(verdict) = found().next() {
            verdict.word()
        } else if sentence.rows.iter().any(|row| self.effects.contains(row)) {
            "effect"
        } else {
            "note"
        }
    }
}

/// The number of comparisons per verdict, most certain first.
pub(super) fn tally(document: &Document) -> Vec<VerdictTally> {
    [
        Verdict::Established,
        Verdict::Supported,
        Verdict::Equivalent,
        Verdict::Undecided,
    ]
    .into_iter()
    .map(|verdict| VerdictTally {
        verdict: verdict.word(),
        mark: crate::contrasts::verdict_mark(verdict),
        count: document
            .comparisons
            .iter()
            .filter(|row| row.verdict == verdict)
            .count(),
    })
    .collect()
}

pub(super) fn claims(document: &Document) -> Vec<ClaimLine> {
    let claimed = |claim: &assize_verdict::Claim| ClaimLine {
        text: claim.text.clone(),
        origin: claim.origin.words(),
        outcome: claim.outcome.word(),
        because: claim.because.clone(),
    };
    document.claims.iter().map(claimed).collect()
}
