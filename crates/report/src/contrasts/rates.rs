//! One configuration against its baseline on one kind of event.

use assize_verdict::{Better, Document, Rate, RateComparison, Verdict};

use super::{RowOutcome, Wordings, percent};
use crate::number::significant;

/// An event, and the configurations compared on it.
pub(crate) struct EventContrasts<'a> {
    pub(crate) event: &'a str,
    pub(crate) contrasts: Vec<RateContrast<'a>>,
}

/// One configuration against its baseline, on one workload.
pub(crate) struct RateContrast<'a> {
    pub(crate) name: &'a str,
    pub(crate) workload: &'a str,
    pub(crate) outcome: RowOutcome,
    pub(crate) row: &'a RateComparison,
    before: Option<&'a Rate>,
    after: Option<&'a Rate>,
}

/// The contrasts of each event, except those in which it occurred on neither side.
pub(crate) fn by_event<'a>(document: &'a Document, words: Wordings<'_>) -> Vec<EventContrasts<'a>> {
    let mut events: Vec<EventContrasts<'_>> = Vec::new();
    for row in &document.rate_comparisons {
        let rate = |name: &str| {
            document.rates.iter().find(|rate| {
                rate.configuration == name
                    && rate.workload == row.workload
                    && rate.event == row.event
            })
        };
        let (before, after) = (rate(&row.baseline), rate(&row.configuration));
        if [before, after].iter().flatten().all(|rate| rate.count == 0) {
            continue;
        }
        let contrast = RateContrast {
            name: &row.configuration,
            workload: &row.workload,
            outcome: outcome(row, (before, after), words.better(&row.event)),
            row,
            before,
            after,
        };
        match events.iter_mut().find(|one| one.event == row.event) {
            Some(one) => one.contrasts.push(contrast),
            None => events.push(EventContrasts {
                event: &row.event,
                contrasts: vec![contrast],
            }),
        }
    }
    events
}

/// Whether the rates of events are decided while all metrics are undecided.
pub(crate) fn events_lead(document: &Document) -> bool {
    let open = |verdict: Verdict| verdict == Verdict::Undecided;
    let rows = super::leading_rows(document);
    rows.iter().all(|row| open(row.verdict))
        && document
            .rate_comparisons
            .iter()
            .any(|row| !open(row.verdict))
}

fn outcome(
    row: &RateComparison,
    (before, after): (Option<&Rate>, Option<&Rate>),
    better: Option<Better>,
) -> RowOutcome {
    let established = match RowOutcome::is_established(row.verdict) {
        Ok(established) => established,
        Err(none) => return none,
    };
    let rates = before
        .and_then(|rate| rate.rate_per_s)
        .zip(after.and_then(|rate| rate.rate_per_s));
    match rates {
        Some((before, after)) => RowOutcome::from_difference(after < before, established, better),
        None => RowOutcome::Open,
    }
}

impl RateContrast<'_> {
    /// `-83.3 % (12 in 60 s -> 2 in 60 s)`.
    pub(crate) fn effect(&self) -> String {
        let counted =
            [self.before, self.after].map(|rate| rate.map_or("?".to_owned(), count_in_time));
        let [before, after] = counted;
        match self.row.ratio {
            Some(ratio) => format!("{} ({before} -> {after})", percent(ratio - 1.0)),
            None => format!("{before} -> {after}"),
        }
    }
}

/// `12 in 60 s`.
fn count_in_time(rate: &Rate) -> String {
    match rate.exposure_s {
        Some(seconds) => format!("{} in {} s", rate.count, significant(seconds, 3)),
        None => rate.count.to_string(),
    }
}
