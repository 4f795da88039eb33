//! cyclictest of rt-tests.
//!
//! Its histogram has at most a million buckets, that is a millisecond with nanoseconds.
//! So it prints each value (`-v`) instead, and its output is checked against its summary
//! (`--json`). It leaves the machine's settings alone (`--default-system`): power
//! management is part of what is measured.
//!
//! Its main thread prints every 10 ms. Once one thread has done all its wake-ups, it
//! stops printing and soon stops the others. So it gets more wake-ups than wanted, and
//! the excess is dropped.
//!
//! It binds each thread to a CPU whatever its options. Where that is not wanted, its
//! calls to sched_setaffinity are ignored.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;

use assize_job::{AgentMessage, CyclictestWorkload, Policy, RunStage, Scheduling};
use serde_json::Value;

use super::output;
use super::prepared::{Prepared, WorkloadContext};
use crate::process::{Body, ExecProgram, ProcessExit, program, read_from_start};
use crate::records::{doubt, failed, histogram, metric, number};
use crate::sys;

/// Duration of the excess wake-ups: two rounds of the main thread.
const MARGIN_NS: u64 = 20_000_000;

/// Thread number to latencies in nanoseconds, in order of wake-ups.
type ThreadLatencies = BTreeMap<u64, Vec<u64>>;

pub(super) fn prepare(
    cyclictest: &CyclictestWorkload,
    context: &WorkloadContext<'_>,
) -> Result<Prepared, String> {
    let (job, background) = (context.job, context.background);
    let json =
        sys::memory_file(c"cyclictest.json", false).map_err(sys::failure_of("memory file"))?;
    let argv = argv(cyclictest, &json, background)?;
    let exec = ExecProgram {
        unpinned: !cyclictest.pinned,
        ..program(&argv, job.seed)?
    };
    // The measuring threads get their policy from the options; the main thread must not
    // compete with them.
    let scheduling = Scheduling {
        policy: Policy::Other,
        priority: 0,
        ..cyclictest.scheduling.clone()
    };
    let (name, loops, samples) = (context.name.to_string(), cyclictest.loops, job.samples);
    Ok(Prepared {
        body: Body::Exec(exec),
        scheduling,
        statuses: vec![0],
        read: Box::new(move |left, _| read(&name, loops, left, json, samples)),
    })
}

fn argv(
    cyclictest: &CyclictestWorkload,
    json: &File,
    background: bool,
) -> Result<Vec<String>, String> {
    let CyclictestWorkload {
        threads,
        interval_ns,
        loops,
        scheduling,
        ..
    } = cyclictest;
    if interval_ns % 1000 != 0 || *interval_ns == 0 {
        return Err(format!(
            "interval_ns: {interval_ns}: cyclictest counts in microseconds; use a multiple of 1000"
        ));
    }
    if *loops == 0 || *threads == 0 {
        return Err("threads, loops: must be 1 or more".into());
    }
    let policy = match scheduling.policy {
        Policy::Other => "other",
        Policy::Batch => "batch",
        Policy::Idle => "idle",
        Policy::Fifo => "fifo",
        Policy::Rr => "rr",
    };
    let mut argv: Vec<String> = ["cyclictest", "--default-system", "-N", "-d", "0"]
        .map(str::to_string)
        .to_vec();
    argv.push(format!("-t{threads}"));
    argv.push(format!("-i{}", interval_ns / 1000));
    argv.push(format!("--policy={policy}"));
    if scheduling.priority > 0 {
        argv.push(format!("-p{}", scheduling.priority));
    }
    if background {
        argv.push("-q".into());
    } else {
        let margin = MARGIN_NS / interval_ns + 2;
        argv.push(format!("-l{}", loops.saturating_add(margin)));
        argv.push("-v".into());
        argv.push(format!("--json=/proc/self/fd/{}", json.as_raw_fd()));
    }
    Ok(argv)
}

fn read(
    name: &str,
    loops: u64,
    left: &ProcessExit,
    mut json: File,
    samples: bool,
) -> Vec<AgentMessage> {
    let fail = |why: String| failed(RunStage::Workload, name, why);
    let summary = read_from_start(&mut json).unwrap_or_default();
    let summary = String::from_utf8_lossy(&summary);
    let latencies = latencies(&left.stdout_text());
    let mut records = match metrics(&latencies, loops) {
        Ok(records) => records,
        Err(why) => vec![fail(why)],
    };
    match compare(&latencies, &summary, loops) {
        Ok(details) => {
            records.extend(
                details
                    .into_iter()
                    .map(|detail| doubt("values-lost", detail)),
            );
        }
        Err(why) => records.push(fail(why)),
    }
    records.extend(output::text_records("cyclictest.json", &summary));
    // The values have no times, so they cannot be samples. Keep them in the order in
    // which they were printed.
    if samples {
        records.extend(output::text_records(
            &format!("{name}.stdout"),
            &left.stdout_text(),
        ));
    }
    records.extend(output::text_records(
        &format!("{name}.stderr"),
        &left.stderr_text(),
    ));
    records
}

/// Parses lines `THREAD: WAKE-UP: LATENCY`; skips all others.
fn latencies(stdout: &str) -> ThreadLatencies {
    let mut all = ThreadLatencies::new();
    for line in stdout.lines() {
        let mut fields = line.split(':').map(|field| field.trim().parse::<u64>());
        if let (Some(Ok(thread)), Some(Ok(_)), Some(Ok(latency)), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        {
            all.entry(thread).or_default().push(latency);
        }
    }
    all
}

/// Metrics of the first `loops` wake-ups of each thread.
fn metrics(latencies: &ThreadLatencies, loops: u64) -> Result<Vec<AgentMessage>, String> {
    if latencies.is_empty() {
        return Err("cyclictest printed no line `THREAD: WAKE-UP: LATENCY`".into());
    }
    let loops = usize::try_from(loops).unwrap_or(usize::MAX);
    let wanted = |values: &Vec<u64>| values[..loops.min(values.len())].to_vec();
    let all = latencies.values().flat_map(wanted);
    let mut records = vec![histogram("latency", "ns", all)];
    if latencies.len() > 1 {
        records.extend(latencies.iter().map(|(thread, values)| {
            let max = wanted(values).into_iter().max().unwrap_or(0);
            metric(format!("thread{thread}_latency_max"), number(max), "ns")
        }));
    }
    Ok(records)
}

/// Compares the values with cyclictest's own summary. Returns the differences. cyclictest
/// keeps the last 16384 values of a thread; if its main thread does not run in time,
/// older values are lost.
fn compare(latencies: &ThreadLatencies, summary: &str, loops: u64) -> Result<Vec<String>, String> {
    // The average of a thread that never woke is NaN, which JSON lacks.
    let summary = summary.replace(": -nan", ": 0").replace(": nan", ": 0");
    let summary: Value =
        serde_json::from_str(&summary).map_err(|error| format!("cyclictest's JSON: {error}"))?;
    let threads = summary["thread"]
        .as_object()
        .ok_or("cyclictest's JSON: no object `thread`")?;
    let mut doubts = Vec::new();
    for (thread, figures) in threads {
        let number = |key: &str| {
            figures[key]
                .as_f64()
                .ok_or_else(|| format!("cyclictest's JSON: thread {thread}: no number `{key}`"))
        };
        let (cycles, min, max) = (number("cycles")?, number("min")?, number("max")?);
        let sum = number("avg")? * cycles;
        let values = thread
            .parse()
            .ok()
            .and_then(|thread: u64| latencies.get(&thread));
        let values = values.map(Vec::as_slice).unwrap_or_default();
        let count = values.len() as f64;
        if count < loops as f64 {
            let why = if cycles < loops as f64 {
                "another one had ended"
            } else {
                "its main thread did not get to run"
            };
            doubts.push(format!(
                "cyclictest, thread {thread}: {count} of {loops} values are there: {why}"
            ));
            continue;
        }
        // The values that were not printed lie between the extremes. The average has
        // two decimals.
        let rest = sum - values.iter().map(|value| *value as f64).sum::<f64>();
        let (unprinted, slack) = (cycles - count, 0.0051 * cycles);
        let mut extremes = values.iter().map(|value| *value as f64);
        if rest < unprinted * min - slack
            || rest > unprinted * max + slack
            || extremes.any(|value| value < min || value > max)
        {
            doubts.push(format!(
                "cyclictest, thread {thread}: the values that it printed do not agree \
                 with its summary"
            ));
        }
    }
    Ok(doubts)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    // The output of cyclictest 2.40 for `cyclictest --default-system -N -t2 -i1000
    // -d0 -l5 -v --json=FILE`.
    const STDOUT: &str = include_str!("../../tests/data/cyclictest.stdout");
    const JSON: &str = include_str!("../../tests/data/cyclictest.json");

    #[test]
    fn every_value_is_read() {
        let latencies = latencies(STDOUT);
        assert_eq!(latencies[&0], [80152, 80425, 75970, 68171, 73471]);
        assert_eq!(latencies[&1].len(), 5);
        let count = |loops| match &metrics(&latencies, loops).unwrap()[..] {
            [AgentMessage::Histogram { buckets, .. }, _, _] => {
                assert!(buckets.is_sorted());
                buckets.iter().map(|(_, count)| count).sum::<u64>()
            }
            other => unreachable!("{other:?}"),
        };
        assert_eq!(count(5), 10);
        assert_eq!(count(3), 6);
        assert!(metrics(&ThreadLatencies::new(), 5).is_err());
    }

    #[test]
    fn lost_values_are_noticed() {
        let whole = latencies(STDOUT);
        let doubts =
            |latencies: &ThreadLatencies, loops| compare(latencies, JSON, loops).unwrap().len();
        assert_eq!(doubts(&whole, 5), 0);
        // As if the value of one wake-up had replaced that of another.
        let mut other = whole.clone();
        other.get_mut(&0).unwrap()[1] = 80152;
        assert_eq!(doubts(&other, 5), 1);
        // The last value was not printed: a defect after 5 loops, but not after 4.
        let mut other = whole.clone();
        other.get_mut(&0).unwrap().pop();
        assert_eq!(doubts(&other, 5), 1);
        assert_eq!(doubts(&other, 4), 0);
        other.remove(&1);
        assert_eq!(doubts(&other, 4), 1);
        let never =
            "{\"thread\": {\"0\": {\"cycles\": 0, \"min\": 1000000, \"max\": 0, \"avg\": -nan}}}";
        assert_eq!(compare(&ThreadLatencies::new(), never, 5).unwrap().len(), 1);
        assert!(compare(&whole, "", 5).is_err());
        assert!(compare(&whole, "{}", 5).is_err());
        assert!(compare(&whole, "{\"thread\": {\"0\": {}}}", 5).is_err());
    }

    #[test]
    fn options_say_what_is_wanted() {
        let json = File::open("/dev/null").unwrap();
        let mut cyclictest = CyclictestWorkload {
            threads: 2,
            interval_ns: 250_000,
            loops: 9,
            scheduling: Scheduling {
                policy: Policy::Fifo,
                priority: 80,
                ..Scheduling::default()
            },
            pinned: true,
        };
        let line = argv(&cyclictest, &json, false).unwrap().join(" ");
        assert!(
            line.starts_with(
                "cyclictest --default-system -N -d 0 -t2 -i250 --policy=fifo -p80 -l91 -v --json="
            ),
            "{line}"
        );
        let line = argv(&cyclictest, &json, true).unwrap().join(" ");
        assert!(line.ends_with("-p80 -q"), "{line}");
        cyclictest.interval_ns = 1500;
        assert!(argv(&cyclictest, &json, false).is_err());
    }
}
