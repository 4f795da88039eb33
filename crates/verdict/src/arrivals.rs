//! Tests of how events arrive: clustered, periodic or independent.

use assize_judge::{beat, poisson};

use crate::cells::Cells;
use crate::document::Lint;
use crate::rates::{PlacedEvents, times_within};
use crate::words::{count_of, plain};

/// Level of the test for clustered events; the next is that for periodic ones.
const CLUSTERED: f64 = 0.01;
const PERIODIC: f64 = 0.01;

/// Lints for events that do not arrive as a Poisson process.
pub(crate) fn not_poisson(cells: &Cells<'_>, all: &[PlacedEvents<'_>]) -> Vec<Lint> {
    let mut lints = Vec::new();
    for counted in all {
        let mut add = |code: &str, detail: String| {
            lints.push(Lint {
                code: code.into(),
                location: format!(
                    "{} {}",
                    counted.events.event, cells.configurations[counted.configuration]
                ),
                detail,
                ..Lint::default()
            });
        };
        if let Some(detail) = periodic(counted) {
            add("periodic-events", detail);
        }
        if let Some(detail) = clustered(counted) {
            add("clustered-events", detail);
        }
    }
    lints
}

fn periodic(counted: &PlacedEvents<'_>) -> Option<String> {
    let gaps = poisson::gaps(&counted.events.times_s)?;
    let span = counted.events.span_s.or(counted.exposure_s);
    let times = span.and_then(|span| Some((times_within(counted, span)?, span)));
    let beat = times.and_then(|(times, span)| {
        beat(poisson::EventTimes {
            times_s: &times,
            exposure_s: span,
        })
    });
    match beat {
        Some(beat) if beat.p <= PERIODIC => Some(format!(
            "events recur every {} s: {} of {} are within a tenth of that; Poisson \
             intervals do not apply to such events",
            plain(beat.period),
            beat.on_beat,
            beat.n
        )),
        _ => (gaps.p_regular <= PERIODIC).then(|| {
            format!(
                "gaps are regular: about every {} s; the Poisson intervals are too wide",
                plain(gaps.mean)
            )
        }),
    }
}

fn clustered(counted: &PlacedEvents<'_>) -> Option<String> {
    let gaps = poisson::gaps(&counted.events.times_s)?;
    (gaps.p_clustered <= CLUSTERED).then(|| {
        format!(
            "events come in clusters ({} with a mean of {} s): the Poisson intervals and tests \
             are overconfident",
            count_of(gaps.n, "gap"),
            plain(gaps.mean)
        )
    })
}
