//! Builds the records that instruments and workloads send.

use std::collections::BTreeMap;

use assize_job::{AgentMessage, RunStage};

/// A metric of the whole run.
pub(crate) fn metric(name: impl Into<String>, value: f64, unit: &str) -> AgentMessage {
    AgentMessage::Metric {
        metric: name.into(),
        value,
        unit: unit.into(),
    }
}

/// A count or a time in nanoseconds as a metric's value, rounded above 2^53 like any
/// JSON number.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn number(value: u64) -> f64 {
    value as f64
}

/// A metric that could not be measured; with `None`, all metrics of the instrument.
pub(crate) fn unavailable(
    instrument: &str,
    metric: Option<&str>,
    reason: impl Into<String>,
) -> AgentMessage {
    AgentMessage::Unavailable {
        instrument: instrument.into(),
        metric: metric.map(Into::into),
        reason: reason.into(),
    }
}

/// A reason to doubt the run's results.
pub(crate) fn doubt(code: &str, detail: impl Into<String>) -> AgentMessage {
    AgentMessage::Doubt {
        code: code.into(),
        detail: detail.into(),
    }
}

/// A failure of this part of the run.
pub(crate) fn failed(
    stage: RunStage,
    what: impl Into<String>,
    why: impl Into<String>,
) -> AgentMessage {
    AgentMessage::Failed {
        stage,
        what: what.into(),
        why: why.into(),
    }
}

/// How often each value occurred.
pub(crate) fn histogram(
    name: impl Into<String>,
    unit: &str,
    values: impl IntoIterator<Item = u64>,
) -> AgentMessage {
    let mut buckets = BTreeMap::new();
    for value in values {
        *buckets.entry(value).or_insert(0) += 1;
    }
    AgentMessage::Histogram {
        metric: name.into(),
        unit: unit.into(),
        buckets: buckets.into_iter().collect(),
        exact: true,
    }
}

/// Events at these times since the start, in nanoseconds.
pub(crate) fn events(name: &str, t_ns: Vec<u64>, exposure_ns: u64) -> AgentMessage {
    AgentMessage::Events {
        event: name.into(),
        count: t_ns.len() as u64,
        exposure_ns,
        t_ns,
        span_ns: None,
        tolerated_ns: None,
    }
}

/// A text to store with the run.
pub(crate) fn raw(name: impl Into<String>, text: impl Into<String>) -> AgentMessage {
    AgentMessage::Raw {
        name: name.into(),
        text: text.into(),
    }
}

/// The value of a metric among records, for tests.
#[cfg(test)]
pub(crate) fn metric_value(records: &[AgentMessage], name: &str) -> Option<f64> {
    records.iter().find_map(|record| match record {
        AgentMessage::Metric { metric, value, .. } if metric == name => Some(*value),
        _ => None,
    })
}
