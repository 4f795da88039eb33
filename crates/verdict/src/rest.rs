//! What a machine does by itself, before anything is measured.

use assize_bundle::AT_REST;

use crate::caps::Cap;
use crate::cells::Cells;
use crate::document::{Lint, Verdict};
use crate::words::plain;

/// How the name of a metric ends that is a rate of events.
const PER_MINUTE: &str = "_per_minute";

/// What events of a machine give that has too many of them at rest.
pub(crate) const CAP: Cap = Cap {
    verdict: Verdict::Undecided,
    lint: "untrusted-machine",
};

/// Events at rest, of all runs together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rest {
    count: u64,
    exposure_s: f64,
    /// One in so many seconds is tolerated.
    tolerated_s: f64,
}

/// How many events of this name there were at rest, if they are more than is tolerated
/// there. At rest all configurations are one machine.
pub(crate) fn unrest(cells: &Cells<'_>, event: &str) -> Option<Rest> {
    let mut all: Option<Rest> = None;
    for events in &cells.records.events {
        let of = events.event.strip_suffix(AT_REST) == Some(event);
        let (Some(tolerated_s), Some(exposure_s), true) =
            (events.tolerated_s, events.exposure_s, of)
        else {
            continue;
        };
        let rest = all.get_or_insert(Rest {
            count: 0,
            exposure_s: 0.0,
            tolerated_s,
        });
        rest.count = rest.count.saturating_add(events.count);
        rest.exposure_s += exposure_s;
        rest.tolerated_s = rest.tolerated_s.max(tolerated_s);
    }
    all.filter(|rest| rest.count as f64 * rest.tolerated_s > rest.exposure_s)
}

/// Whether a metric is the rate of events of which there are too many at rest.
pub(crate) fn is_too_often(cells: &Cells<'_>, metric: &str) -> bool {
    let event = metric.strip_suffix(PER_MINUTE);
    event.is_some_and(|event| unrest(cells, event).is_some())
}

/// Says of which events there are too many at rest.
pub(crate) fn lints(cells: &Cells<'_>) -> Vec<Lint> {
    let mut names: Vec<&str> = Vec::new();
    for events in &cells.records.events {
        if let Some(name) = events.event.strip_suffix(AT_REST)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    let told = names.into_iter().filter_map(|name| {
        let rest = unrest(cells, name)?;
        Some(Lint {
            code: CAP.lint.into(),
            location: name.to_owned(),
            detail: format!(
                "at rest the machine had {} of them in {} s, more than one in {} s: what it has under \
                 load may be its own; no verdict on them",
                rest.count,
                plain(rest.exposure_s),
                plain(rest.tolerated_s)
            ),
        })
    });
    told.collect()
}
