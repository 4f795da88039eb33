//! Threads that work for some time in each period.

use std::collections::BTreeMap;

use assize_job::{AgentMessage, Loop, Periodic, Scheduling};

use super::prepared::{Prepared, WorkloadContext, prepare_inside};
use super::rt_app;
use super::series::TimedSeries;
use super::threads::{join, spawn, work};
use crate::process::schedule;
use crate::records::{metric, number};
use crate::sys;

/// Delay before the first period, for all threads to start.
const LEAD_NS: u64 = 10_000_000;

pub(super) fn prepare(
    periodic: &Periodic,
    context: &WorkloadContext<'_>,
) -> Result<Prepared, String> {
    let plan = PeriodicPlan {
        background: context.background,
        samples: context.job.samples,
    };
    if let Some(file) = &periodic.rt_app {
        return if periodic.loops.is_empty() {
            rt_app::prepare(file, periodic.calibration_ns, context)
        } else {
            Err("loops, rt_app: both are given; give one".into())
        };
    }
    if periodic.loops.is_empty() {
        return Err("loops: none is given".into());
    }
    if let Some(bad) = periodic.loops.iter().find(|one| one.period_ns == 0) {
        return Err(format!(
            "loops: {}: period_ns: 0: must be 1 or more",
            bad.name
        ));
    }
    let mut stream = context.stream("phase");
    let mut loops = Vec::new();
    for one in &periodic.loops {
        for _ in 0..one.threads {
            loops.push((one.clone(), stream.below(one.period_ns)));
        }
    }
    let duration_ns = periodic.duration_ns;
    Ok(prepare_inside(Scheduling::default(), move || {
        run(loops, duration_ns, plan)
    }))
}

/// Settings that all threads share.
#[derive(Debug, Clone, Copy)]
struct PeriodicPlan {
    /// Whether they run until the process is killed, and measure nothing.
    background: bool,
    /// Whether individual samples are sent.
    samples: bool,
}

/// The measurements of a thread.
struct PeriodicTimes {
    name: String,
    wakeup: TimedSeries,
    response: TimedSeries,
    overruns: u64,
}

fn run(
    loops: Vec<(Loop, u64)>,
    duration_ns: u64,
    plan: PeriodicPlan,
) -> Result<Vec<AgentMessage>, String> {
    let start = sys::now();
    let begin = start + LEAD_NS;
    let end = if plan.background {
        u64::MAX
    } else {
        begin.saturating_add(duration_ns)
    };
    let mut threads = Vec::new();
    for (one, phase) in loops {
        let name = one.name.clone();
        threads.push(spawn(&name, move || {
            one_thread(one, begin + phase, end, plan)
        })?);
    }
    let mut by_name: BTreeMap<String, PeriodicTimes> = BTreeMap::new();
    for measured in join(threads)? {
        let measured = measured?;
        match by_name.get_mut(&measured.name) {
            Some(sum) => {
                sum.wakeup.append(measured.wakeup);
                sum.response.append(measured.response);
                sum.overruns += measured.overruns;
            }
            None => {
                by_name.insert(measured.name.clone(), measured);
            }
        }
    }
    let mut records = Vec::new();
    for (name, sum) in by_name {
        let wakeup = format!("{name}_wakeup_latency");
        records.extend(sum.wakeup.records(&wakeup, "ns", start, plan.samples));
        let response = format!("{name}_response");
        records.extend(sum.response.records(&response, "ns", start, plan.samples));
        records.push(metric(format!("{name}_overruns"), number(sum.overruns), ""));
    }
    Ok(records)
}

/// Wakes and works at each release from `first` until `end`. Skips releases that pass
/// during earlier work, and counts them as overruns.
fn one_thread(
    one: Loop,
    first: u64,
    end: u64,
    plan: PeriodicPlan,
) -> Result<PeriodicTimes, String> {
    schedule(&one.scheduling)?;
    sys::no_timer_slack();
    let room = if plan.background {
        0
    } else {
        end.saturating_sub(first) / one.period_ns + 1
    };
    let mut measured = PeriodicTimes {
        name: one.name,
        wakeup: TimedSeries::with_room(room),
        response: TimedSeries::with_room(room),
        overruns: 0,
    };
    let mut release = first;
    while release < end {
        sys::sleep_until(release);
        let woke = sys::now();
        work(one.run_ns);
        let done = sys::now();
        if !plan.background {
            measured.wakeup.push(woke, woke - release);
            measured.response.push(done, done - release);
        }
        let passed = overruns(release, done, one.period_ns);
        measured.overruns += passed;
        release = release.saturating_add(one.period_ns.saturating_mul(passed + 1));
    }
    Ok(measured)
}

/// Number of releases that passed before `done`. One that is due exactly then is still
/// met.
fn overruns(release: u64, done: u64, period_ns: u64) -> u64 {
    (done - release).saturating_sub(1) / period_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_that_passed_are_overruns() {
        assert_eq!(overruns(100, 100, 10), 0);
        assert_eq!(overruns(100, 110, 10), 0);
        assert_eq!(overruns(100, 111, 10), 1);
        assert_eq!(overruns(100, 120, 10), 1);
        assert_eq!(overruns(100, 121, 10), 2);
    }
}
