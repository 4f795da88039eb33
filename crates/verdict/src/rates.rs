//! Events per second, and rates against the baseline's.

use assize_bundle::Events;
use assize_judge::{garwood, holm, poisson};

use crate::cells::Cells;
use crate::comparisons::where_present;
use crate::document::{Lint, Rate, RateComparison, Verdict};
use crate::noise::repeated;
use crate::options::Options;
use crate::weigh::ends;
use crate::words::{count, finite, plain};

/// At most so many times the exposure is advice.
const MOST_TIMES: u32 = 100;
/// The exact test of more events than this takes too long.
const MOST_EVENTS: u64 = 1_000_000_000_000;
/// Advice tries many exposures, so it stops earlier.
const MOST_ADVISED: u64 = 1_000_000;

/// Rates, their comparisons and what is wrong with the events.
pub(crate) struct Rates {
    pub(crate) rates: Vec<Rate>,
    pub(crate) comparisons: Vec<RateComparison>,
    pub(crate) lints: Vec<Lint>,
}

/// A record of events with its place in the order of names.
pub(crate) struct Counted<'a> {
    pub(crate) workload: usize,
    pub(crate) configuration: usize,
    pub(crate) events: &'a Events,
    pub(crate) exposure_s: Option<f64>,
}

/// All records of events, ordered by workload, event and configuration.
pub(crate) fn counted<'a>(cells: &Cells<'a>, exposure_s: Option<f64>) -> Vec<Counted<'a>> {
    let names = event_names(cells);
    let known = |s: &f64| *s >= 1e-9 && *s <= 1e18;
    let mut all: Vec<Counted<'a>> = cells
        .records
        .events
        .iter()
        .filter_map(|events| {
            Some(Counted {
                workload: cells.workload(&events.workload)?,
                configuration: cells.configuration(&events.configuration)?,
                events,
                exposure_s: events.exposure_s.filter(known).or(exposure_s),
            })
        })
        .collect();
    let event = |name: &String| names.iter().position(|n| n == name);
    all.sort_by_key(|c| (c.workload, event(&c.events.event), c.configuration));
    all
}

/// The names of all events in the order of their first appearance.
pub(crate) fn event_names(cells: &Cells<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for events in &cells.records.events {
        if !names.contains(&events.event) {
            names.push(events.event.clone());
        }
    }
    names
}

/// Computes all rates and compares them with the baseline's, which is `chosen`
/// or the first configuration with that event in that workload.
pub(crate) fn rate_all(cells: &Cells<'_>, chosen: Option<usize>, options: &Options) -> Rates {
    let all = counted(cells, options.exposure_s);
    let mut comparisons = Vec::new();
    let same = |a: &Counted<'_>, b: &Counted<'_>| {
        a.workload == b.workload && a.events.event == b.events.event
    };
    for group in all.chunk_by(same) {
        compare_group(cells, group, chosen, &mut comparisons);
    }
    let p: Vec<Option<f64>> = comparisons.iter().map(|(row, ..)| row.p).collect();
    for ((row, ..), adjusted) in comparisons.iter_mut().zip(where_present(&p, holm)) {
        row.p_adjusted = adjusted;
        if adjusted.is_some_and(|p| p <= options.alpha) {
            row.verdict = Verdict::Established;
        }
    }
    for (row, a, b) in &mut comparisons {
        if row.verdict == Verdict::Undecided && row.note.is_none() {
            row.note = advice(row, a, b, options.alpha);
        }
    }
    let mut lints: Vec<Lint> = exposure_lint(cells, &all).into_iter().collect();
    let groups = all.chunk_by(same);
    lints.extend(groups.filter_map(|group| without_baseline(cells, group, chosen?)));
    lints.extend(clustered(cells, &all));
    Rates {
        rates: all.iter().map(|c| rate(cells, c)).collect(),
        comparisons: comparisons.into_iter().map(|(row, ..)| row).collect(),
        lints,
    }
}

type Pair<'a, 'b> = (RateComparison, &'b Counted<'a>, &'b Counted<'a>);

fn compare_group<'a, 'b>(
    cells: &Cells<'_>,
    group: &'b [Counted<'a>],
    chosen: Option<usize>,
    rows: &mut Vec<Pair<'a, 'b>>,
) {
    let baseline = match chosen {
        Some(chosen) => group.iter().position(|c| c.configuration == chosen),
        None => Some(0),
    };
    let Some(baseline) = baseline else {
        return;
    };
    let a = &group[baseline];
    for (i, b) in group.iter().enumerate() {
        // A repeated baseline asks nothing; its rate stands beside the other.
        if i == baseline || repeated(cells, b.configuration).is_some() {
            continue;
        }
        let tested = compare(a, b);
        let row = RateComparison {
            baseline: cells.configurations[a.configuration].clone(),
            configuration: cells.configurations[b.configuration].clone(),
            workload: cells.workloads[a.workload].clone(),
            event: a.events.event.clone(),
            ratio: tested.and_then(|t| t.ratio).and_then(finite),
            p: tested.and_then(|t| finite(t.p)),
            p_adjusted: None,
            verdict: Verdict::Undecided,
            note: tested.is_none().then(|| untested(a, b)),
        };
        rows.push((row, a, b));
    }
}

/// Says that the user's baseline has no count of an event.
fn without_baseline(cells: &Cells<'_>, group: &[Counted<'_>], chosen: usize) -> Option<Lint> {
    let first = group.first()?;
    let lacks = group.iter().all(|c| c.configuration != chosen);
    lacks.then(|| Lint {
        code: "missing-cell".into(),
        location: format!(
            "{} on {}",
            first.events.event, cells.workloads[first.workload]
        ),
        detail: format!(
            "the baseline {} has no count: no rates are compared there",
            cells.configurations[chosen]
        ),
    })
}

fn untested(a: &Counted<'_>, b: &Counted<'_>) -> String {
    if a.exposure_s.is_none() || b.exposure_s.is_none() {
        "the exposure is not known: no test".into()
    } else {
        "too many events for the exact test".into()
    }
}

/// The exact conditional test of two records of events.
pub(crate) fn compare(a: &Counted<'_>, b: &Counted<'_>) -> Option<poisson::RateComparison> {
    let (exposure_a, exposure_b) = (a.exposure_s?, b.exposure_s?);
    if a.events.count.max(b.events.count) > MOST_EVENTS {
        return None;
    }
    poisson::compare(a.events.count, exposure_a, b.events.count, exposure_b).ok()
}

/// What would settle a comparison if the rates stayed as they are.
fn advice(row: &RateComparison, a: &Counted<'_>, b: &Counted<'_>, alpha: f64) -> Option<String> {
    let (p, adjusted) = (row.p?, row.p_adjusted?);
    let level = if adjusted > 0.0 {
        alpha * p / adjusted
    } else {
        alpha
    };
    settled_by(a, b, level)
}

/// What exposure would bring p to `level` if the rates stayed as they are.
pub(crate) fn settled_by(a: &Counted<'_>, b: &Counted<'_>, level: f64) -> Option<String> {
    let (exposure_a, exposure_b) = (a.exposure_s?, b.exposure_s?);
    if a.events.count == 0 && b.events.count == 0 {
        return Some("no events on either side: only a longer exposure can tell".into());
    }
    if a.events.count.max(b.events.count) > MOST_ADVISED {
        return None;
    }
    let settles = |tenths: u32| {
        let times = f64::from(tenths) / 10.0;
        let scaled = |count: u64| (count as f64 * times).round() as u64;
        let (count_a, count_b) = (scaled(a.events.count), scaled(b.events.count));
        let test = poisson::compare(count_a, exposure_a * times, count_b, exposure_b * times);
        test.is_ok_and(|t| t.p <= level)
    };
    let tenths = (11..=10 * MOST_TIMES).find(|&tenths| settles(tenths))?;
    let longest = exposure_a.max(exposure_b) * f64::from(tenths) / 10.0;
    Some(format!(
        "at these rates about {} s of each would settle it",
        plain(longest)
    ))
}

fn rate(cells: &Cells<'_>, counted: &Counted<'_>) -> Rate {
    let events = counted.events;
    let exposure = counted.exposure_s;
    let interval = exposure.and_then(|s| garwood(events.count, s, 0.95).ok());
    let note = exposure.is_none().then_some("the exposure is not known");
    let zero = (events.count == 0 && exposure.is_some())
        .then_some("no events: the interval ends at the 95 % upper bound");
    let assumed = (events.exposure_s.is_none() && exposure.is_some())
        .then_some("the exposure was given by the user");
    let notes: Vec<&str> = [note, zero, assumed].into_iter().flatten().collect();
    Rate {
        configuration: cells.configurations[counted.configuration].clone(),
        workload: cells.workloads[counted.workload].clone(),
        event: events.event.clone(),
        count: events.count,
        exposure_s: exposure,
        rate_per_s: exposure.and_then(|s| finite(events.count as f64 / s)),
        ci: interval.and_then(ends),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

fn exposure_lint(cells: &Cells<'_>, all: &[Counted<'_>]) -> Option<Lint> {
    let mut without: Vec<&str> = all
        .iter()
        .filter(|c| c.exposure_s.is_none())
        .map(|c| cells.configurations[c.configuration].as_str())
        .collect();
    without.dedup();
    (!without.is_empty()).then(|| Lint {
        code: "exposure-unknown".into(),
        location: without.join(", "),
        detail: "events were counted for an unknown time: no rate, no test; give the \
                 seconds of exposure"
            .into(),
    })
}

/// Gaps that are not those of a Poisson process.
fn clustered(cells: &Cells<'_>, all: &[Counted<'_>]) -> Vec<Lint> {
    all.iter()
        .filter_map(|c| {
            let gaps = poisson::gaps(&c.events.times_s)?;
            let what = if gaps.p_regular <= 0.01 {
                format!(
                    "gaps are regular: about every {} s; the Poisson intervals are too wide",
                    plain(gaps.mean)
                )
            } else if gaps.p_clustered <= 0.01 {
                format!(
                    "events come in clusters ({} with a mean of {} s): the Poisson \
                     intervals and tests are too sure",
                    count(gaps.n, "gap"),
                    plain(gaps.mean)
                )
            } else {
                return None;
            };
            Some(Lint {
                code: "clustered-events".into(),
                location: format!(
                    "{} {}",
                    c.events.event, cells.configurations[c.configuration]
                ),
                detail: what,
            })
        })
        .collect()
}
