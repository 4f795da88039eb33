//! Sentences about counts of events.

use crate::document::{Document, Rate, RateComparison, RateTest, Sentence, Verdict};
use crate::words::{and_list, p_value, plain};

/// Maximum number of sentences of this kind.
const MOST: usize = 2;

/// Sentences about the compared rates, smallest p first, or about the fact that
/// they cannot be tested.
pub(super) fn find(document: &Document) -> Vec<Sentence> {
    let mut tested: Vec<(&RateComparison, f64)> = document
        .rate_comparisons
        .iter()
        .filter_map(|c| Some((c, c.p?)))
        .collect();
    tested.sort_by(|a, b| a.1.total_cmp(&b.1));
    if tested.is_empty() {
        return untested_sentence(document).into_iter().collect();
    }
    tested
        .iter()
        .take(MOST)
        .filter_map(|(comparison, p)| sentence(document, comparison, *p))
        .collect()
}

fn sentence(document: &Document, comparison: &RateComparison, p: f64) -> Option<Sentence> {
    let of = |configuration: &str| {
        document.rates.iter().find(|r| {
            r.configuration == configuration
                && r.workload == comparison.workload
                && r.event == comparison.event
        })
    };
    let (a, b) = (of(&comparison.baseline)?, of(&comparison.configuration)?);
    let corrected = match comparison.p_adjusted {
        Some(adjusted) if adjusted != p => format!(", {} corrected", p_value(adjusted)),
        _ => String::new(),
    };
    let word = match comparison.verdict {
        Verdict::Established => "established",
        Verdict::Supported => "supported, not established",
        Verdict::Equivalent | Verdict::Undecided => "not established",
    };
    let test = match comparison.test {
        Some(RateTest::Runs) => "p over the runs",
        Some(RateTest::Windows) => "p over windows of time",
        Some(RateTest::Poisson) | None => "p assuming independent events",
    };
    Some(Sentence {
        text: format!(
            "{}: {}, {}: {test} {}{corrected}, {word}.",
            title(comparison),
            counted(b),
            counted(a),
            p_value(p)
        ),
        rows: vec![name(b), name(a)],
    })
}

/// `hwlat events on stress`; just `hwlat events` if the tracer is the workload.
fn title(comparison: &RateComparison) -> String {
    if comparison.event == comparison.workload {
        return format!("{} events", comparison.event);
    }
    format!("{} events on {}", comparison.event, comparison.workload)
}

/// `6 in 300 s with V6.6`.
fn counted(rate: &Rate) -> String {
    let exposure = rate
        .exposure_s
        .map_or(String::new(), |s| format!(" in {} s", plain(s)));
    format!("{}{exposure} with {}", rate.count, rate.configuration)
}

fn untested_sentence(document: &Document) -> Option<Sentence> {
    let first = document.rate_comparisons.first()?;
    let same = document
        .rates
        .iter()
        .filter(|r| r.event == first.event && r.workload == first.workload);
    let rates: Vec<&Rate> = same.collect();
    let counts: Vec<String> = rates.iter().map(|r| counted(r)).collect();
    Some(Sentence {
        text: format!(
            "{}: {}; the time of exposure is not given, so no rate can be tested.",
            title(first),
            and_list(&counts)
        ),
        rows: rates.iter().map(|r| name(r)).collect(),
    })
}

fn name(rate: &Rate) -> String {
    format!("{} {} {}", rate.workload, rate.event, rate.configuration)
}
