//! Moments known from the record of a run: its samples, jobs and kernel events.

use std::cmp::Reverse;
use std::path::Path;

use assize_bundle::{RunRecord, Samples};
use assize_job::{JITTER, JITTER_OF, Mark};
use assize_plan::Plan;
use assize_report::milliseconds;
use assize_trace::TracedRun;

use crate::failure::Failure;
use crate::trace::traced;

/// The only metric whose samples are stamped with their begin, not their end.
const PLANTED_STALL: &str = "planted_stall";

/// A moment of a recorded run. Numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(super) kind: MomentKind,
    /// Whether the end of the sample is meant instead of its begin.
    pub(super) ends: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MomentKind {
    Worst,
    Sample(String, u64),
    Job(u64),
    Event(String, u64),
    /// The longest wait of threads of this name for a CPU.
    Wait(String),
}

impl Moment {
    /// The time of the moment, in ns of CLOCK_MONOTONIC, and a description.
    pub(crate) fn find(
        &self,
        plan: &Plan,
        recorded: &RunRecord,
        bundle: &Path,
        metric: Option<&str>,
    ) -> Result<(u64, String), Failure> {
        let events = || traced(bundle, recorded.index);
        let found = match &self.kind {
            MomentKind::Worst => worst(plan, recorded, metric)
                .and_then(|(samples, at, why)| self.of_sample(samples, at, &why)),
            MomentKind::Sample(name, number) => series(&recorded.samples, name)
                .and_then(|samples| self.of_sample(samples, nth(*number)?, "")),
            MomentKind::Job(number) => job(events()?, *number),
            MomentKind::Event(name, number) => event(events()?, name, *number),
            MomentKind::Wait(name) => {
                recorded_events(events()?).and_then(|run| self.wait(&run, name))
            }
        };
        found.map_err(|why| Failure::Argument(format!("debug: --at: {why}")))
    }

    fn of_sample(&self, samples: &Samples, at: usize, why: &str) -> Result<(u64, String), String> {
        let what = format!("{} {}{why}", samples.metric, at + 1);
        Ok(self.side(span(samples, at)?, &what))
    }

    /// The longest time from a wakeup of a thread with this name until it got a CPU.
    fn wait(&self, run: &TracedRun, name: &str) -> Result<(u64, String), String> {
        let threads = run.threads.by_tid.values();
        let named = threads.filter(|thread| thread.name == name);
        let ran = named.flat_map(|thread| &thread.ran);
        let waits = ran.filter_map(|stretch| Some([stretch.woken?, stretch.from]));
        let longest = waits.max_by_key(|[woken, from]| (from - woken, Reverse(*woken)));
        let longest = longest.ok_or_else(|| format!("no wakeup of a thread {name} is recorded"))?;
        Ok(self.side(longest, &format!("the longest wait of {name} for a CPU")))
    }

    fn side(&self, [begin, end]: [u64; 2], what: &str) -> (u64, String) {
        let (side, time) = if self.ends {
            ("end", end)
        } else {
            ("start", begin)
        };
        let (length, until) = (end - begin, milliseconds(end));
        let text = format!("the {side} of {what}, which took {length} ns and ended at {until} ms");
        (time, text)
    }
}

/// The begin and the end of a sample, in ns of CLOCK_MONOTONIC.
pub(crate) fn span(samples: &Samples, at: usize) -> Result<[u64; 2], String> {
    let metric = &samples.metric;
    let (Some(&value), Some(&t_ns)) = (samples.values.get(at), samples.t_ns.get(at)) else {
        let all = samples.values.len();
        return Err(format!("{metric} has samples 1 to {all}"));
    };
    let start = samples.start_ns.ok_or_else(|| {
        format!("the samples of {metric} have no times; they were recorded by an older assize")
    })?;
    if samples.unit != "ns" {
        return Err(format!("{metric} is not a length of time"));
    }
    // Stamps are the end of a sample, except for stalls.
    let (known, length) = (start + t_ns, whole(value));
    Ok(match metric.as_str() {
        PLANTED_STALL => [known, known.saturating_add(length)],
        _ => [known.saturating_sub(length), known],
    })
}

/// Converts a length in ns to an integer.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // It saturates.
fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn nth(number: u64) -> Result<usize, String> {
    usize::try_from(number - 1).map_err(|error| error.to_string())
}

/// The samples that a metric is a statistic of.
fn series<'a>(all: &'a [Samples], metric: &str) -> Result<&'a Samples, String> {
    let is_of = |one: &&Samples| {
        one.metric == metric
            || (metric == JITTER && one.metric == JITTER_OF)
            || Mark::ALL
                .iter()
                .any(|mark| mark.metric_name(&one.metric, &one.unit) == metric)
    };
    all.iter().find(is_of).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|one| one.metric.as_str()).collect();
        if known.is_empty() {
            return "no samples are recorded; add samples = true to the experiment and run it again"
                .into();
        }
        let known = known.join(", ");
        format!("no samples of {metric} are recorded, only samples of {known}")
    })
}

/// The worst sample of `metric`, or else of the first primary metric that has samples.
pub(crate) fn worst<'a>(
    plan: &Plan,
    recorded: &'a RunRecord,
    metric: Option<&str>,
) -> Result<(&'a Samples, usize, String), String> {
    let primary = plan.primary.iter().map(|one| one.metric.as_str());
    let mut wanted = metric
        .into_iter()
        .chain(primary.filter(|_| metric.is_none()));
    let all = &recorded.samples;
    let found = wanted.find_map(|name| Some((name, series(all, name).ok()?)));
    let Some((name, samples)) = found else {
        let name = metric.or_else(|| Some(plan.primary.first()?.metric.as_str()));
        let none = "no metric is primary; name one with --metric";
        return Err(match name {
            Some(name) => series(all, name).err().unwrap_or_default(),
            None if all.is_empty() => series(all, "").err().unwrap_or_default(),
            None => none.into(),
        });
    };
    let more_is_better = plan.higher_is_better.iter().any(|one| one == name);
    let sign = if more_is_better { -1.0 } else { 1.0 };
    let values = samples.values.iter().map(|value| sign * value);
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let at = values.clone().position(|value| value >= most);
    let at = at.ok_or_else(|| format!("{} has no samples", samples.metric))?;
    Ok((
        samples,
        at,
        format!(", the worst of {}", samples.values.len()),
    ))
}

fn recorded_events(run: Option<TracedRun>) -> Result<TracedRun, String> {
    run.ok_or_else(|| {
        "no kernel events are recorded; add \"kernel-events\" to the key instruments of the \
         experiment and run it again"
            .into()
    })
}

fn job(run: Option<TracedRun>, number: u64) -> Result<(u64, String), String> {
    let run = recorded_events(run)?;
    let job = run.jobs.get(nth(number)?);
    let all = run.jobs.len();
    let job = job.ok_or_else(|| format!("the run has jobs 1 to {all}"))?;
    let text = format!("the submission of job {number} of {all}");
    Ok((job.submit, text))
}

fn event(run: Option<TracedRun>, name: &str, number: u64) -> Result<(u64, String), String> {
    let events = recorded_events(run)?.events;
    let is = |kind: &str| kind == name || kind.split_once('/').is_some_and(|(_, it)| it == name);
    let rows = events.rows.iter().filter(|row| {
        let kind = events.kinds.get(usize::from(row.kind));
        kind.is_some_and(|kind| is(&kind.name))
    });
    let all = rows.clone().count();
    let mut at = rows.skip(nth(number)?);
    match at.next() {
        Some(row) => Ok((row.at_ns, format!("{name} event {number} of {all}"))),
        None if all > 0 => Err(format!("the run has {name} events 1 to {all}")),
        None => {
            let known: Vec<&str> = events.kinds.iter().map(|kind| kind.name.as_str()).collect();
            Err(format!(
                "no {name} event is recorded, only {}",
                known.join(", ")
            ))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use crate::debug::at::At;

    fn samples(metric: &str, values: &[f64]) -> Samples {
        Samples {
            metric: metric.into(),
            unit: "ns".into(),
            start_ns: Some(1_000_000),
            t_ns: (1..=values.len() as u64).map(|at| at * 1000).collect(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn the_longest_wait_for_a_cpu_begins_at_its_wakeup() {
        let text = "assize.kernel-events/1\nstart 1000\nstop 9000\nlost 0\n\
            kind 0 sched/sched_switch prev_pid prev_prio prev_state next_pid next_prio\n\
            kind 1 sched/sched_waking pid prio target_cpu\nname 7 sleeper\nname 8 hog\n\
            0 0 0 8 8 120 0 8 120\n1 0 10 8 7 120 0\n0 0 20 8 8 120 0 7 120\n\
            0 0 30 7 7 120 1 8 120\n1 0 100 8 7 120 0\n0 0 700 8 8 120 0 7 120\n\
            0 0 10 7 7 120 1 8 120\n1 0 10 8 7 120 0\n0 0 40 8 8 120 0 7 120\nend 9\n";
        let run = TracedRun::new(assize_job::events::KernelEventLog::parse(text).unwrap());
        let wait = |ends, name: &str| {
            let kind = MomentKind::Wait(name.into());
            Moment { kind, ends }.wait(&run, name)
        };
        assert_eq!(wait(false, "sleeper").unwrap().0, 1160);
        assert_eq!(wait(true, "sleeper").unwrap().0, 1860);
        assert!(
            wait(false, "hog")
                .unwrap_err()
                .contains("no wakeup of a thread hog")
        );
    }

    #[test]
    fn a_sample_ends_at_its_time_and_a_stall_begins_there() {
        let all = [
            samples("round_trip", &[300.0, 500.0, 400.0]),
            samples(PLANTED_STALL, &[50.0]),
        ];
        let moment = |text: &str| match At::parse(text) {
            Ok(At::Moment(moment)) => moment,
            other => panic!("{text}: {other:?}"),
        };
        let trip = |text: &str, at| moment(text).of_sample(&all[0], at, "").unwrap().0;
        assert_eq!(trip("worst", 1), 1_001_500);
        assert_eq!(trip("worst:end", 1), 1_002_000);
        let stall = |text: &str| moment(text).of_sample(&all[1], 0, "").unwrap().0;
        assert_eq!(stall("worst"), 1_001_000);
        assert_eq!(stall("worst:end"), 1_001_050);
        assert!(moment("worst").of_sample(&all[1], 1, "").is_err());
        for metric in [
            JITTER,
            "round_trip",
            "round_trip_ns_max",
            "round_trip_ns_p99.9",
        ] {
            assert_eq!(
                series(&all, metric).unwrap().metric,
                "round_trip",
                "{metric}"
            );
        }
        assert!(
            series(&all, "round")
                .unwrap_err()
                .contains("round_trip, planted")
        );
    }
}
