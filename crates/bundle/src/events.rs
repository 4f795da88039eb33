//! Counts of events.

use serde::{Deserialize, Serialize};

use crate::Place;

/// The suffix of events counted on the idle machine.
pub const AT_REST: &str = "_at_rest";

/// A count of events and the time during which they could have happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The event that was counted.
    pub event: String,
    /// The number of events.
    pub count: u64,
    /// Seconds of exposure, if known.
    pub exposure_s: Option<f64>,
    /// The times of the events, in seconds on one clock, ascending; may be
    /// empty.
    pub times_s: Vec<f64>,
    /// Seconds on the clock of `times_s` during which they could happen, if that
    /// differs from the exposure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_s: Option<f64>,
    /// For events counted on the idle machine, whose names end with [`AT_REST`]: up to one event in
    /// this many seconds is tolerated. With more, the events of the same name without the suffix
    /// give no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerated_s: Option<f64>,
    /// The counts of each run, in order: `count` is their sum. Empty if it is
    /// unknown which runs the count comes from, as in a posted text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_run: Vec<RunCount>,
    /// The position where it was read.
    #[serde(default)]
    pub place: Place,
}

/// One run's share of [`Events`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunCount {
    /// The run: [`crate::Run::order`] of the same configuration and workload.
    pub order: u32,
    /// The number of events.
    pub count: u64,
    /// Seconds of exposure, if known.
    pub exposure_s: Option<f64>,
}

/// Adds events to those of earlier runs of the same cell: counts and exposures
/// are summed, and times continue where the previous run's time ended. The
/// counts of each run are kept separately.
pub(crate) fn add_events(all: &mut Vec<Events>, events: &Events) {
    let known = all.iter_mut().find(|known| {
        known.event == events.event
            && known.configuration == events.configuration
            && known.workload == events.workload
    });
    let Some(known) = known else {
        all.push(events.clone());
        return;
    };
    known.count = known.count.saturating_add(events.count);
    for &one in &events.by_run {
        add_count(&mut known.by_run, one);
    }
    match (known.exposure_s, events.exposure_s) {
        (Some(before), Some(more)) => {
            let spans = [known.span_s, events.span_s];
            let ended = known.span_s.unwrap_or(before);
            known.exposure_s = Some(before + more);
            if spans.iter().any(Option::is_some) {
                known.span_s = Some(ended + events.span_s.unwrap_or(more));
            }
            let later = events.times_s.iter().map(|time| ended + time);
            known.times_s.extend(later);
        }
        // Without an exposure, there is no continuous clock.
        _ => {
            known.exposure_s = None;
            known.span_s = None;
            known.times_s.clear();
        }
    }
}

/// Adds a run's count; several records of one event in a run are summed.
fn add_count(all: &mut Vec<RunCount>, one: RunCount) {
    let last = all.last_mut();
    let Some(known) = last.filter(|known| known.order == one.order) else {
        all.push(one);
        return;
    };
    known.count = known.count.saturating_add(one.count);
    let both = known.exposure_s.zip(one.exposure_s);
    known.exposure_s = both.map(|(before, more)| before + more);
}
