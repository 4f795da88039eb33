//! Builds the records that instruments and workloads send.

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

/// A metric that could not be measured, or with `None` all metrics of the instrument.
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

/// A text to store with the run.
pub(crate) fn raw(name: impl Into<String>, text: impl Into<String>) -> AgentMessage {
    AgentMessage::Raw {
        name: name.into(),
        text: text.into(),
    }
}
