//! Events on the idle machine, before anything is measured.

use assize_bundle::AT_REST;

use crate::caps::Cap;
use crate::cells::Cells;
use crate::document::{Lint, Verdict};
use crate::words::plain;

/// The suffix of metrics that are rates of events.
const PER_MINUTE: &str = "_per_minute";

/// The cap on events that are too frequent on the idle machine.
pub(crate) const CAP: Cap = Cap {
    verdict: Verdict::Undecided,
    lint: "untrusted-machine",
};

/// Events on the idle machine, summed over all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct IdleEvents {
    count: u64,
    exposure_s: f64,
    /// The tolerated rate: one event in this many seconds.
    tolerated_s: f64,
}

/// The events of this name on the idle machine, if they exceed the tolerated rate. Configurations
/// do not matter without load, so their counts are summed.
pub(crate) fn idle_excess(cells: &Cells<'_>, event: &str) -> Option<IdleEvents> {
    let mut all: Option<IdleEvents> = None;
    for events in &cells.records.events {
        let of = events.event.strip_suffix(AT_REST) == Some(event);
        let (Some(tolerated_s), Some(exposure_s), true) =
            (events.tolerated_s, events.exposure_s, of)
        else {
            continue;
        };
        let rest = all.get_or_insert(IdleEvents {
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

/// Whether a metric is the rate of an event that is too frequent on the idle
/// machine.
pub(crate) fn is_too_often(cells: &Cells<'_>, metric: &str) -> bool {
    let event = metric.strip_suffix(PER_MINUTE);
    event.is_some_and(|event| idle_excess(cells, event).is_some())
}

/// Lints for events that are too frequent on the idle machine.
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
        let rest = idle_excess(cells, name)?;
        Some(Lint {
            code: CAP.lint.into(),
            location: name.to_owned(),
            detail: format!(
                "at rest the machine had {} such events in {} s, more than one in {} s: such \
                 events under load may come from the machine itself, so they get no verdict",
                rest.count,
                plain(rest.exposure_s),
                plain(rest.tolerated_s)
            ),
            ..Lint::default()
        })
    });
    told.collect()
}
