//! Sentences for documents without special findings.

use super::{ComparisonFacts, verb, verdict_suffix};
use crate::document::{Document, Sentence, Verdict};
use crate::words::plain;

/// Maximum number of effects that are named.
const MOST: usize = 3;

/// The largest effects, or that there are none.
pub(super) fn find(document: &Document, seen: &[ComparisonFacts<'_>]) -> Vec<Sentence> {
    let mut moved: Vec<&ComparisonFacts<'_>> = seen.iter().filter(|s| s.strong).collect();
    if moved.is_empty() {
        return nothing(document).into_iter().collect();
    }
    let size = |s: &ComparisonFacts<'_>| s.ratio.ln().abs();
    moved.sort_by(|a, b| {
        let surer = |s: &ComparisonFacts<'_>| s.row.verdict == Verdict::Established;
        surer(b).cmp(&surer(a)).then(size(b).total_cmp(&size(a)))
    });
    moved.truncate(MOST);
    let sentence = |s: &ComparisonFacts<'_>| Sentence {
        text: format!(
            "{} {} on {} with {}{}.",
            s.row.metric,
            verb(s.up, false),
            s.row.workload,
            s.configuration(),
            verdict_suffix([s])
        ),
        rows: vec![s.name()],
    };
    moved.into_iter().map(sentence).collect()
}

/// Says that no comparison shows a difference, if the runs could have shown one.
fn nothing(document: &Document) -> Option<Sentence> {
    let able = |p: Option<f64>| p.is_some_and(|p| p <= document.alpha);
    let rows = &document.comparisons;
    let tested = rows.iter().filter(|c| able(c.p_attainable)).count();
    let differs = |v: Verdict| matches!(v, Verdict::Established | Verdict::Supported);
    if tested == 0 || rows.iter().any(|c| differs(c.verdict)) {
        return None;
    }
    let equal = rows.iter().filter(|c| c.verdict == Verdict::Equivalent);
    let equal = match equal.count() {
        0 => "nor is any pair shown to be equal".to_owned(),
        n if n == rows.len() => format!(
            "all are equal within \u{b1}{} %",
            plain(100.0 * document.margin)
        ),
        n => format!(
            "{n} are equal within \u{b1}{} %",
            plain(100.0 * document.margin)
        ),
    };
    let which = match rows.len() {
        1 => "The only comparison shows no difference".to_owned(),
        n => format!("None of the {n} comparisons shows a difference"),
    };
    Some(Sentence {
        text: format!("{which}; {equal}."),
        rows: rows
            .iter()
            .map(|c| format!("{} {} {}", c.workload, c.metric, c.configuration))
            .collect(),
    })
}
