//! Sentences about runs that failed or complained more often on one side.

use crate::document::{Document, OutcomeComparison, Sentence, Verdict};

/// Maximum number of rows that get a sentence; the table has all of them.
const MOST: usize = 2;

/// A sentence for each of the first rows that are established.
pub(super) fn find(document: &Document) -> Vec<Sentence> {
    let rows = document.outcomes.iter();
    // Configurations whose runs all failed have a separate sentence.
    let established = rows.filter(|row| row.verdict == Verdict::Established && row.count < row.n);
    established.take(MOST).map(sentence).collect()
}

fn sentence(row: &OutcomeComparison) -> Sentence {
    let (than, often) = match row.is_more() {
        true => ("more", "more frequent"),
        false => ("fewer", "less frequent"),
    };
    let cause = row.signatures.first();
    let cause = cause.map_or(String::new(), |one| format!(" ({})", one.signature));
    let (heading, new, old) = (row.heading(), &row.configuration, &row.baseline);
    let (a, b) = ((row.count_baseline, row.n_baseline), (row.count, row.n));
    let counts = format!("in {} of {} runs against {} of {}", b.0, b.1, a.0, a.1);
    Sentence {
        text: match row.tail {
            Some(_) => format!("With {new} {heading} is {often} than with {old}: {counts}."),
            None => {
                format!("With {new} there are {than} {heading} than with {old}: {counts}{cause}.")
            }
        },
        rows: vec![format!("{heading} {new}")],
    }
}
