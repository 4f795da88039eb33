//! Events per second, and rates compared with the baseline's.

use assize_bundle::Events;
use assize_judge::{garwood, poisson};

use crate::arrivals;
use crate::baselines::Baselines;
use crate::baselines::repeated;
use crate::caps::{Cap, Caps};
use crate::cells::{Cell, Cells, RunValue};
use crate::compare::{CellComparison, compare_cells, ends};
use crate::document::{Lint, Rate, RateComparison, RateTest, Verdict};
use crate::family::{Hypotheses, Hypothesis, HypothesisId, HypothesisResults};
use crate::lints::lint;
use crate::options::{Against, Options};
use crate::rest;
use crate::row::{capped, hypothesis, verdict_of};
use crate::words::{finite, plain};

/// With at most this many events, the time of the first is reported.
const FEW_EVENTS: u64 = 10;
/// The largest multiple of the exposure that is suggested.
const MOST_TIMES: u32 = 100;
/// With more events than this, the exact test takes too long.
const MOST_EVENTS: u64 = 1_000_000_000_000;
/// The same limit for suggestions, which try many exposures.
const MOST_ADVISED: u64 = 1_000_000;

/// Rates, their comparisons, and lints about the events.
pub(crate) struct Rates {
    pub(crate) rates: Vec<Rate>,
    pub(crate) comparisons: Vec<RateComparison>,
    pub(crate) lints: Vec<Lint>,
}

/// Two rates before the verdict.
pub(crate) struct RatePair {
    /// The rate of b over the rate of a.
    pub(crate) ratio: Option<f64>,
    pub(crate) test: Option<RateTest>,
    /// The p of `test`; for rates of runs, `None` until the family is tested.
    p: Option<f64>,
    /// The comparison of the runs' rates, if several runs of each were counted.
    by_runs: Option<CellComparison>,
    /// The cap on the verdict from lints about those runs.
    cap: Option<Cap>,
    asked: Option<HypothesisId>,
    note: Option<String>,
}

/// The verdict on two rates.
pub(crate) struct DecidedRate {
    pub(crate) p: Option<f64>,
    pub(crate) p_adjusted: Option<f64>,
    pub(crate) verdict: Verdict,
    pub(crate) note: Option<String>,
}

/// A record of events with its place in the order of names.
pub(crate) struct PlacedEvents<'a> {
    pub(crate) workload: usize,
    pub(crate) configuration: usize,
    pub(crate) events: &'a Events,
    pub(crate) exposure_s: Option<f64>,
}

/// All records of events, ordered by workload, event and configuration.
pub(crate) fn counted<'a>(cells: &Cells<'a>, exposure_s: Option<f64>) -> Vec<PlacedEvents<'a>> {
    let names = event_names(cells);
    let known = |s: &f64| *s >= 1e-9 && *s <= 1e18;
    let mut all: Vec<PlacedEvents<'a>> = cells
        .records
        .events
        .iter()
        .filter_map(|events| {
            Some(PlacedEvents {
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

/// Rates compared with the baseline's, before the verdicts.
pub(crate) struct PendingRates<'a> {
    all: Vec<PlacedEvents<'a>>,
    /// Indices of a and b, and their comparison.
    pairs: Vec<(usize, usize, RatePair)>,
}

impl PendingRates<'_> {
    /// The hypothesis about two rates, in either order; `None` if none was registered.
    pub(crate) fn hypothesis(&self, one: usize, other: usize) -> Option<HypothesisId> {
        let same = |&&(a, b, _): &&(usize, usize, RatePair)| {
            (a, b) == (one, other) || (b, a) == (one, other)
        };
        self.pairs.iter().find(same)?.2.asked
    }
}

/// Registers, for every rate, the hypothesis that it differs from its reference: the baseline's
/// rate (the user's choice, or the first configuration with that event on that workload) or that of
/// the previous configuration.
pub(crate) fn ask_all<'a>(
    cells: &Cells<'a>,
    baselines: &Baselines,
    caps: &Caps<'_>,
    options: &Options,
    hypotheses: &mut Hypotheses,
) -> PendingRates<'a> {
    let all = counted(cells, options.exposure_s);
    let mut pairs = Vec::new();
    let mut from = 0;
    for group in all.chunk_by(is_same_event) {
        let baseline = match baselines.chosen {
            Some(chosen) => group.iter().position(|c| c.configuration == chosen),
            None => Some(0),
        };
        // A repeated baseline is not tested; only its rate is shown.
        let asks = |at: &usize| repeated(cells, group[*at].configuration).is_none();
        for (i, b) in group.iter().enumerate() {
            let before = match baselines.against {
                Against::Baseline => baseline,
                Against::Predecessor => (0..i).rev().find(asks),
            };
            let Some(before) = before.filter(|&at| at != i && asks(&i)) else {
                continue;
            };
            let compared = ask(cells, &group[before], b, None, caps, hypotheses);
            pairs.push((from + before, from + i, compared));
        }
        from += group.len();
    }
    PendingRates { all, pairs }
}

fn is_same_event(a: &PlacedEvents<'_>, b: &PlacedEvents<'_>) -> bool {
    a.workload == b.workload && a.events.event == b.events.event
}

/// Decides all rates.
pub(crate) fn settle(
    cells: &Cells<'_>,
    pending: PendingRates<'_>,
    chosen: Option<usize>,
    answers: &HypothesisResults,
    options: &Options,
) -> Rates {
    let PendingRates { all, pairs } = pending;
    let written = pairs.iter().map(|(a, b, compared)| {
        let (a, b) = (&all[*a], &all[*b]);
        let decided = decide(compared, a, b, answers, options);
        RateComparison {
            baseline: cells.configurations[a.configuration].clone(),
            configuration: cells.configurations[b.configuration].clone(),
            workload: cells.workloads[a.workload].clone(),
            event: a.events.event.clone(),
            ratio: compared.ratio.and_then(finite),
            test: compared.test,
            p: decided.p,
            p_adjusted: decided.p_adjusted,
            verdict: decided.verdict,
            note: decided.note,
        }
    });
    let comparisons = written.collect();
    let mut lints: Vec<Lint> = exposure_lint(cells, &all).into_iter().collect();
    let groups = all.chunk_by(is_same_event);
    lints.extend(groups.filter_map(|group| without_baseline(cells, group, chosen?)));
    lints.extend(arrivals::not_poisson(cells, &all));
    lints.extend(rest::lints(cells));
    Rates {
        rates: all.iter().map(|c| rate(cells, c)).collect(),
        comparisons,
        lints,
    }
}

/// Registers the hypothesis that the rates of `b` and `a` differ. If several runs of each were
/// counted, their rates are compared. With one exposure each, the uncertainty is the scatter of the
/// counts in time windows; without event times, p assumes independent events. `known` is a
/// hypothesis about these two that was registered before.
pub(crate) fn ask(
    cells: &Cells<'_>,
    a: &PlacedEvents<'_>,
    b: &PlacedEvents<'_>,
    known: Option<HypothesisId>,
    caps: &Caps<'_>,
    hypotheses: &mut Hypotheses,
) -> RatePair {
    let exact = compare(a, b);
    let mut compared = RatePair {
        ratio: exact.and_then(|t| t.ratio),
        test: exact.map(|_| RateTest::Poisson),
        p: exact.and_then(|t| finite(t.p)),
        by_runs: None,
        cap: None,
        asked: None,
        note: exact.is_none().then(|| why_untested(a, b)),
    };
    let restless = rest::idle_excess(cells, &a.events.event).map(|_| rest::CAP);
    compared.cap = restless;
    if let Some((comparison, cap)) = by_runs(cells, a, b, caps) {
        compared.test = Some(RateTest::Runs);
        let asked = known.unwrap_or_else(|| hypotheses.ask(hypothesis(&comparison, None, false)));
        compared.asked = Some(asked);
        compared.by_runs = Some(comparison);
        compared.cap = restless.or(cap);
    } else if let Some(found) = in_windows(a, b) {
        compared.test = Some(RateTest::Windows);
        compared.p = finite(found.p);
        let hypothesis = || Hypothesis {
            p_t: finite(found.p),
            ..Hypothesis::default()
        };
        compared.asked = Some(known.unwrap_or_else(|| hypotheses.ask(hypothesis())));
    }
    compared
}

/// Decides two rates. A single exposure counts as a single run, so nothing is established; if it is
/// unknown whether events cluster, nothing is supported either.
pub(crate) fn decide(
    compared: &RatePair,
    a: &PlacedEvents<'_>,
    b: &PlacedEvents<'_>,
    answers: &HypothesisResults,
    options: &Options,
) -> DecidedRate {
    let answer = compared
        .asked
        .map(|asked| answers.result(asked))
        .unwrap_or_default();
    let passes = |p: Option<f64>| p.is_some_and(|p| p <= options.alpha);
    let mut note = compared.note.clone();
    let (p, p_adjusted, verdict) = match (compared.test, &compared.by_runs) {
        (Some(RateTest::Runs), Some(comparison)) => {
            let uncapped = verdict_of(comparison, &answer, options);
            let verdict = capped(uncapped, compared.cap, &answer, options);
            if let Some(cap) = compared.cap.filter(|_| verdict != uncapped) {
                note = Some(cap.sentence());
            }
            let p_adjusted = answer.p_adjusted.or(answer.p_t_adjusted);
            (answer.p.or(comparison.p_t), p_adjusted, verdict)
        }
        (Some(RateTest::Windows), _) if compared.cap == Some(rest::CAP) => {
            note = Some(format!("undecided because of the lint {}", rest::CAP.lint));
            (compared.p, answer.p_t_adjusted, Verdict::Undecided)
        }
        (Some(RateTest::Windows), _) => {
            note = Some("one exposure of each configuration, so at most supported".into());
            let supported = passes(answer.p_t_adjusted);
            let word = [Verdict::Undecided, Verdict::Supported][usize::from(supported)];
            (compared.p, answer.p_t_adjusted, word)
        }
        (Some(_), _) => {
            let mut notes = vec![
                "one exposure of each configuration, and events may come in clusters: p assumes \
                 that they are independent"
                    .to_owned(),
            ];
            if !passes(compared.p) {
                notes.extend(settled_by(a, b, options.alpha));
            }
            note = Some(notes.join("; "));
            (compared.p, None, Verdict::Undecided)
        }
        (None, _) => (None, None, Verdict::Undecided),
    };
    DecidedRate {
        p,
        p_adjusted,
        verdict,
        note,
    }
}

/// Compares the rates of the runs if each side has at least two with known exposure; also returns
/// the cap on the result.
fn by_runs(
    cells: &Cells<'_>,
    a: &PlacedEvents<'_>,
    b: &PlacedEvents<'_>,
    caps: &Caps<'_>,
) -> Option<(CellComparison, Option<Cap>)> {
    let (of_a, of_b) = (rates_of_runs(cells, a)?, rates_of_runs(cells, b)?);
    let several = of_a.runs.len() > 1 && of_b.runs.len() > 1;
    let cap = || caps.of_runs(cells, a.workload, (&of_a, &of_b));
    several.then(|| (compare_cells(cells, &of_a, &of_b), cap()))
}

fn rates_of_runs(cells: &Cells<'_>, counted: &PlacedEvents<'_>) -> Option<Cell<'static>> {
    let place = (counted.workload, counted.configuration);
    let mut runs = Vec::new();
    // One event is the step of a count, so this is the step of a rate.
    let mut step = 0.0_f64;
    for count in &counted.events.by_run {
        let all = cells.records.runs.iter().zip(&cells.run_places);
        let (run, (record, _)) = all
            .enumerate()
            .find(|(_, (run, at))| **at == place && run.order == count.order)?;
        let exposure = count.exposure_s.filter(|&s| s > 0.0)?;
        let machine = record.machine.as_ref();
        step = step.max(1.0 / exposure);
        runs.push(RunValue {
            run,
            value: count.count as f64 / exposure,
            block: record.block,
            image: cells.image_of(record),
            machine: machine.and_then(|name| cells.machines.iter().position(|m| m == name)),
        });
    }
    (!runs.is_empty()).then(|| Cell {
        runs,
        step: Some(step),
        ..Cell::default()
    })
}

/// Compares two exposures by the scatter of their counts in windows of time.
fn in_windows(a: &PlacedEvents<'_>, b: &PlacedEvents<'_>) -> Option<poisson::ClusteredComparison> {
    let (of_a, of_b) = (times(a)?, times(b)?);
    let observed = |times_s, exposure_s| poisson::EventTimes {
        times_s,
        exposure_s,
    };
    poisson::compare_clustered(
        observed(&of_a, a.exposure_s?),
        observed(&of_b, b.exposure_s?),
    )
    .ok()
}

/// The times of all events in seconds of exposure since its start; the exposure is assumed to be
/// spread evenly over the span in which events could happen.
fn times(counted: &PlacedEvents<'_>) -> Option<Vec<f64>> {
    let exposure = counted.exposure_s?;
    let span = counted.events.span_s.filter(|&span| span > 0.0);
    let mut times = times_within(counted, span.unwrap_or(exposure))?;
    if let Some(span) = span {
        for time in &mut times {
            *time = (*time / span * exposure).min(exposure);
        }
    }
    Some(times)
}

/// The times of all events within a span in which they could happen. If their clock started before
/// the exposure, the span is assumed to lie around the events.
pub(crate) fn times_within(counted: &PlacedEvents<'_>, exposure: f64) -> Option<Vec<f64>> {
    let times = &counted.events.times_s;
    let (first, last) = (*times.first()?, *times.last()?);
    if times.len() as u64 != counted.events.count || last - first > exposure {
        return None;
    }
    if first >= 0.0 && last <= exposure {
        return Some(times.clone());
    }
    let begin = first - 0.5 * (exposure - (last - first));
    let inside = times.iter().map(|t| (t - begin).clamp(0.0, exposure));
    Some(inside.collect())
}

/// A lint if the user's baseline has no count of an event.
fn without_baseline(cells: &Cells<'_>, group: &[PlacedEvents<'_>], chosen: usize) -> Option<Lint> {
    let first = group.first()?;
    let lacks = group.iter().all(|c| c.configuration != chosen);
    lacks.then(|| {
        let place = format!(
            "{} on {}",
            first.events.event, cells.workloads[first.workload]
        );
        let detail = format!(
            "the baseline {} has no count: no rates are compared there",
            cells.configurations[chosen]
        );
        lint("missing-cell", place, detail)
    })
}

fn why_untested(a: &PlacedEvents<'_>, b: &PlacedEvents<'_>) -> String {
    if a.exposure_s.is_none() || b.exposure_s.is_none() {
        "the exposure is not known: no test".into()
    } else {
        "too many events for the exact test".into()
    }
}

/// The exact conditional test of two records of events.
fn compare(a: &PlacedEvents<'_>, b: &PlacedEvents<'_>) -> Option<poisson::PoissonComparison> {
    let (exposure_a, exposure_b) = (a.exposure_s?, b.exposure_s?);
    if a.events.count.max(b.events.count) > MOST_EVENTS {
        return None;
    }
    poisson::compare(a.events.count, exposure_a, b.events.count, exposure_b).ok()
}

/// The exposure that brings p to `level` if the rates stay as they are.
pub(crate) fn settled_by(a: &PlacedEvents<'_>, b: &PlacedEvents<'_>, level: f64) -> Option<String> {
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
        "at these rates about {} s of exposure a side would settle it",
        plain(longest)
    ))
}

fn rate(cells: &Cells<'_>, counted: &PlacedEvents<'_>) -> Rate {
    let events = counted.events;
    let exposure = counted.exposure_s;
    let interval = exposure.and_then(|s| garwood(events.count, s, 0.95).ok());
    let note = exposure.is_none().then_some("the exposure is not known");
    let bound = interval.filter(|_| events.count == 0);
    let zero = bound.map(|of| {
        format!(
            "no events: the 95 % upper bound of the rate is 1 in {} s",
            plain(1.0 / of.high)
        )
    });
    let assumed = (events.exposure_s.is_none() && exposure.is_some())
        .then_some("the exposure was given by the user");
    let first = times(counted).filter(|_| events.count <= FEW_EVENTS);
    let first = first.and_then(|times| times.first().copied());
    let first = first.filter(|_| began(counted));
    let first = first.map(|s| format!("the first event came after {} s of exposure", plain(s)));
    let notes: Vec<&str> = [note, zero.as_deref(), assumed, first.as_deref()]
        .into_iter()
        .flatten()
        .collect();
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

/// Whether the event times are consistent with a clock that started with the exposure.
fn began(counted: &PlacedEvents<'_>) -> bool {
    let events = counted.events;
    let span = events.span_s.or(counted.exposure_s);
    events.exposure_s.is_some()
        && span.is_some_and(|span| events.times_s.iter().all(|t| (0.0..=span).contains(t)))
}

fn exposure_lint(cells: &Cells<'_>, all: &[PlacedEvents<'_>]) -> Option<Lint> {
    let mut without: Vec<&str> = all
        .iter()
        .filter(|c| c.exposure_s.is_none())
        .map(|c| cells.configurations[c.configuration].as_str())
        .collect();
    without.dedup();
    let detail = "events were counted for an unknown time: no rate, no test; give the seconds of \
                  exposure";
    (!without.is_empty()).then(|| lint("exposure-unknown", without.join(", "), detail))
}
