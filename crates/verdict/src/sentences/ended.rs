//! Runs that ended otherwise than they should more often on one side.

use crate::document::{Document, OutcomeComparison, Sentence, Verdict};

/// More rows than this are left to the table.
const MOST: usize = 2;

/// A sentence for each of the first rows that are established.
pub(super) fn find(document: &Document) -> Vec<Sentence> {
    let rows = document.outcomes.iter();
    // That every run of a configuration failed has a sentence of its own.
    let established = rows.filter(|row| row.verdict == Verdict::Established && row.count < row.n);
    established.take(MOST).map(said).collect()
}

fn said(row: &OutcomeComparison) -> Sentence {
    let than = if row.is_more() { "more" } else { "less" };
    let cause = row.signatures.first();
    let cause = cause.map_or(String::new(), |one| format!(" ({})", one.signature));
    let (heading, new, old) = (row.outcome.heading(), &row.configuration, &row.baseline);
    Sentence {
        text: format!(
            "With {new} there are {than} {heading} than with {old}: in {} of {} runs against \
             {} of {}{cause}.",
            row.count, row.n, row.count_baseline, row.n_baseline
        ),
        rows: vec![format!("{heading} {new}")],
    }
}
