//! Metrics whose source is coarser than their unit.

/// In which steps a source gives a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steps {
    /// The metric.
    pub metric: &'static str,
    /// The unit of the step.
    pub unit: &'static str,
    /// The step.
    pub step: f64,
}

/// What hackbench prints of itself ends at milliseconds.
const HACKBENCH: &[Steps] = &[Steps {
    metric: "time",
    unit: "s",
    step: 1e-3,
}];

/// The kernel's interface gives times in hundredths of a second (`USER_HZ`),
/// however often it ticks.
const fn user_hz(metric: &'static str) -> Steps {
    Steps {
        metric,
        unit: "s",
        step: 1e-2,
    }
}

/// Metrics of instruments, whatever the workload.
const INSTRUMENTS: &[Steps] = &[
    user_hz("cpu_user"),
    user_hz("cpu_system"),
    user_hz("cpu_idle"),
    user_hz("cpu_irq"),
    user_hz("cpu_steal"),
];

/// The steps of what a workload of this kind (`hackbench`) says of itself, and of
/// what instruments say of it. What is not here is as fine as its unit.
pub fn steps(kind: &str) -> impl Iterator<Item = &'static Steps> {
    let own = match kind {
        "hackbench" => HACKBENCH,
        _ => &[],
    };
    own.iter().chain(INSTRUMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{INSTRUMENTS as KNOWN, WORKLOADS};

    #[test]
    fn steps_are_of_metrics_that_there_are() {
        for of in INSTRUMENTS {
            let named = format!("{} {}", of.metric, of.unit);
            let mut all = KNOWN.iter().flat_map(|instrument| instrument.metrics);
            assert!(all.any(|metric| **metric == named), "{named}");
        }
    }

    #[test]
    fn only_the_time_of_hackbench_ends_at_milliseconds() {
        let of = |kind: &str| steps(kind).find(|of| of.metric == "time").map(|of| of.step);
        for (kind, _) in WORKLOADS {
            let expected = (*kind == "hackbench").then_some(1e-3);
            assert_eq!(of(kind), expected, "{kind}");
        }
        assert!(WORKLOADS.iter().any(|(kind, _)| *kind == "hackbench"));
    }
}
