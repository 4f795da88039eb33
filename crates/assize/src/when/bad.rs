//! What is bad about a run, and whether another run is bad in the same way.

use assize_bundle::{Ending, Measurement, RunRecord};
use assize_plan::Plan;
use assize_verdict::convert;
use assize_why::when::Bad;

use crate::debug::moment::{span, worst};
use crate::failure::Failure;

/// A worst sample is bad if it differs from the median by at least this factor.
const TIMES: f64 = 2.0;

/// The criterion that makes a run bad.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BadRun {
    pub(super) bad: Bad,
    /// How the run ended, if it did not complete.
    ending: Option<Ending>,
}

/// Nothing is bad: the criterion, and why the run does not meet it.
type NotBad = Box<(Bad, String)>;

/// What is bad about a recorded run: its ending, the condition of `--bad`, or its worst sample.
pub(super) fn bad(
    plan: &Plan,
    recorded: &RunRecord,
    (metric, asked): (Option<&str>, Option<&str>),
) -> Result<Result<BadRun, NotBad>, Failure> {
    if let Some(asked) = asked {
        let threshold = Threshold::parse(asked).map_err(|why| wrong("--bad", &why))?;
        let found = threshold
            .bad(recorded)
            .map_err(|why| wrong("--bad", &why))?;
        return Ok(of_completed(found));
    }
    if let Some(ending) = recorded.ending {
        return of_ending(recorded, ending).map(Ok);
    }
    let found = sample(plan, recorded, metric);
    Ok(of_completed(found.map_err(|why| wrong("--metric", &why))?))
}

fn wrong(option: &str, why: &str) -> Failure {
    Failure::Argument(format!("when: {option}: {why}"))
}

fn of_completed(found: Result<Bad, NotBad>) -> Result<BadRun, NotBad> {
    found.map(|bad| BadRun { bad, ending: None })
}

fn of_ending(recorded: &RunRecord, ending: Ending) -> Result<BadRun, Failure> {
    let why = match &recorded.exit {
        assize_bundle::RunExit::Failed { why, .. } => why.clone(),
        assize_bundle::RunExit::Completed => String::new(),
    };
    if !ending.is_compared() {
        return Err(Failure::Argument(format!(
            "when: run {} failed for a reason outside of the workload: {why}; run the experiment \
             again",
            recorded.index
        )));
    }
    Ok(BadRun {
        bad: Bad::Ending {
            ending: assize_report::word(ending),
            why,
        },
        ending: Some(ending),
    })
}

/// The worst sample, bad if it differs from the median by a factor of 2 or more. The threshold for
/// draws is the midpoint of sample and median.
fn sample(
    plan: &Plan,
    recorded: &RunRecord,
    metric: Option<&str>,
) -> Result<Result<Bad, NotBad>, String> {
    let (samples, at, _) = worst(plan, recorded, metric)?;
    let [begin_ns, end_ns] = span(samples, at)?;
    let mut sorted = samples.values.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = assize_judge::quantile::type7(&sorted, 0.5).map_err(|error| error.to_string())?;
    let value = samples.values.get(at).copied().unwrap_or_default();
    let bad = Bad::Sample {
        metric: samples.metric.clone(),
        number: at as u64 + 1,
        of: samples.values.len() as u64,
        value,
        median,
        threshold: f64::midpoint(value, median),
        unit: samples.unit.clone(),
        begin_ns,
        end_ns,
    };
    if value < TIMES * median && median < TIMES * value {
        let why = "the worst sample is within a factor of 2 of the median".into();
        return Ok(Err(Box::new((bad, why))));
    }
    Ok(Ok(bad))
}

impl BadRun {
    /// Whether another execution is bad in the same way.
    pub(super) fn is(&self, run: &RunRecord) -> bool {
        match &self.bad {
            Bad::Ending { .. } => run.ending == self.ending,
            Bad::Sample {
                metric,
                number,
                value,
                threshold,
                ..
            } => {
                let series = run.samples.iter().find(|one| one.metric == *metric);
                let at = usize::try_from(number - 1).ok();
                let drawn = series.and_then(|all| all.values.get(at?));
                drawn.is_some_and(|drawn| match value >= threshold {
                    true => drawn >= threshold,
                    false => drawn <= threshold,
                })
            }
            Bad::Metric {
                metric,
                above,
                threshold,
                ..
            } => {
                let drawn = run.run.metrics.get(metric);
                drawn.is_some_and(|drawn| is_beyond(drawn.value, *threshold, *above))
            }
        }
    }

    /// When the bad sample ended, in ns of CLOCK_MONOTONIC; `None` for endings and metrics.
    pub(super) fn end_ns(&self) -> Option<u64> {
        match &self.bad {
            Bad::Sample { end_ns, .. } => Some(*end_ns),
            Bad::Ending { .. } | Bad::Metric { .. } => None,
        }
    }
}

fn is_beyond(value: f64, threshold: f64, above: bool) -> bool {
    if above {
        value > threshold
    } else {
        value < threshold
    }
}

/// The condition `METRIC > VALUE` or `METRIC < VALUE`.
#[derive(Debug, PartialEq)]
pub(crate) struct Threshold<'t> {
    metric: &'t str,
    above: bool,
    value: f64,
    unit: &'t str,
}

impl Threshold<'_> {
    pub(crate) fn parse(text: &str) -> Result<Threshold<'_>, String> {
        let parts = || {
            let at = text.rfind(['>', '<'])?;
            let (metric, rest) = text.split_at_checked(at)?;
            let (above, rest) = (rest.starts_with('>'), rest.get(1..)?.trim());
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
            let (number, unit) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
            let metric = metric.trim();
            (!metric.is_empty()).then_some(Threshold {
                metric,
                above,
                value: number.parse().ok()?,
                unit: unit.trim(),
            })
        };
        parts().ok_or_else(|| {
            format!("'{text}' is not of the form METRIC > VALUE, such as 'round_trip_ns_max > 1ms'")
        })
    }

    /// The metric with its value, if the run meets the condition.
    pub(crate) fn exceeded(&self, recorded: &RunRecord) -> Result<Option<String>, String> {
        let found = self.bad(recorded)?;
        Ok(found.ok().map(|_| {
            let measured = recorded.run.metrics.get(self.metric);
            let measured = measured.map(|one| format!("{} {}", one.value, one.unit));
            format!("{} is {}", self.metric, measured.unwrap_or_default())
        }))
    }

    fn bad(&self, recorded: &RunRecord) -> Result<Result<Bad, NotBad>, String> {
        let metrics = &recorded.run.metrics;
        let Some(Measurement { value, unit, .. }) = metrics.get(self.metric) else {
            let known: Vec<&str> = metrics.keys().map(String::as_str).collect();
            return Err(format!(
                "the run has no metric {}; it has {}",
                self.metric,
                known.join(", ")
            ));
        };
        let threshold = self.threshold_in(unit)?;
        let bad = Bad::Metric {
            metric: self.metric.into(),
            above: self.above,
            value: *value,
            threshold,
            unit: unit.clone(),
        };
        if is_beyond(*value, threshold, self.above) {
            return Ok(Ok(bad));
        }
        let than = if self.above { "not above" } else { "not below" };
        let why = format!("{} is {than} the threshold", self.metric);
        Ok(Err(Box::new((bad, why))))
    }

    /// The value in the unit of the metric.
    fn threshold_in(&self, to: &str) -> Result<f64, String> {
        if self.unit.is_empty() {
            return Ok(self.value);
        }
        convert(self.value, &self.unit.replace('µ', "u"), to).ok_or_else(|| {
            format!(
                "'{}' is not a unit of {}, which is in {to}",
                self.unit, self.metric
            )
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn a_threshold_has_a_metric_a_side_and_a_value_with_a_unit() {
        let parsed = Threshold::parse("round_trip_ns_max > 1.5 ms").unwrap();
        assert_eq!((parsed.metric, parsed.above), ("round_trip_ns_max", true));
        assert_eq!(parsed.threshold_in("ns").unwrap(), 1_500_000.0);
        let parsed = Threshold::parse("frames<60").unwrap();
        assert_eq!(
            (parsed.above, parsed.threshold_in("").unwrap()),
            (false, 60.0)
        );
        let micro = Threshold::parse("x > 2 µs").unwrap();
        assert_eq!(micro.threshold_in("ns").unwrap(), 2000.0);
        for wrong in ["", "x", "> 1", "x > ", "x > y", "x = 1"] {
            assert!(Threshold::parse(wrong).is_err(), "{wrong}");
        }
        assert!(
            Threshold::parse("x > 1kg")
                .unwrap()
                .threshold_in("ns")
                .is_err()
        );
    }
}
