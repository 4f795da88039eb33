//! The cyclictest of rt-tests.
//!
//! Its histogram ends at a million values, a millisecond if they are
//! nanoseconds. So it is asked for each value (`-v`) instead, and what it
//! printed is held against the summary that it writes (`--json`). It leaves
//! the machine as it is (`--default-system`): power management is part of
//! what is measured.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;

use assize_job::{Cyclictest, Policy, Record, Scheduling, Stage};
use serde_json::Value;

use super::series::histogram;
use super::{Prepared, output, program};
use crate::process::{Body, Left, text_of};
use crate::sys;

/// Thread to its latencies in nanoseconds.
type Latencies = BTreeMap<u64, Vec<u64>>;

pub(super) fn prepare(
    name: &str,
    cyclictest: &Cyclictest,
    seed: u64,
    samples: bool,
    background: bool,
) -> Result<Prepared, String> {
    let json = sys::memory_file(c"cyclictest.json", false)
        .map_err(|error| format!("memory file: {}", sys::words(&error)))?;
    let argv = argv(cyclictest, &json, background)?;
    let exec = program(&argv, seed)?;
    // Its measuring threads take the policy from its options; the main
    // thread shall not compete with them.
    let scheduling = Scheduling {
        policy: Policy::Other,
        priority: 0,
        ..cyclictest.scheduling.clone()
    };
    let name = name.to_string();
    Ok(Prepared {
        body: Body::Exec(exec),
        scheduling,
        statuses: vec![0],
        read: Box::new(move |left, _| read(&name, left, json, samples)),
    })
}

fn argv(cyclictest: &Cyclictest, json: &File, background: bool) -> Result<Vec<String>, String> {
    let Cyclictest {
        threads,
        interval_ns,
        loops,
        scheduling,
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
        argv.push(format!("-l{loops}"));
        argv.push("-v".into());
        argv.push(format!("--json=/proc/self/fd/{}", json.as_raw_fd()));
    }
    Ok(argv)
}

fn read(name: &str, left: &Left, mut json: File, samples: bool) -> Vec<Record> {
    let fail = |why: String| Record::Failed {
        stage: Stage::Workload,
        what: name.into(),
        why,
    };
    let summary = text_of(&mut json).unwrap_or_default();
    let latencies = latencies(&left.stdout);
    let mut records = match metrics(&latencies) {
        Ok(records) => records,
        Err(why) => vec![fail(why)],
    };
    match compare(&latencies, &summary) {
        Ok(doubts) => records.extend(doubts.into_iter().map(|detail| Record::Doubt {
            code: "values-lost".into(),
            detail,
        })),
        Err(why) => records.push(fail(why)),
    }
    records.extend(output::keep("cyclictest.json".into(), &summary));
    // Without times of their own, the values are no samples; in the order in
    // which they were printed they are here.
    if samples {
        records.extend(output::keep(format!("{name}.stdout"), &left.stdout));
    }
    records.extend(output::keep(format!("{name}.stderr"), &left.stderr));
    records
}

/// Reads `THREAD: WAKE-UP: LATENCY` lines; all others are something else.
fn latencies(stdout: &str) -> Latencies {
    let mut all = Latencies::new();
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

fn metrics(latencies: &Latencies) -> Result<Vec<Record>, String> {
    if latencies.is_empty() {
        return Err("cyclictest printed no line `THREAD: WAKE-UP: LATENCY`".into());
    }
    let all: Vec<u64> = latencies.values().flatten().copied().collect();
    let mut records = vec![histogram("latency", "ns", &all)];
    if latencies.len() > 1 {
        records.extend(latencies.iter().map(|(thread, values)| Record::Metric {
            metric: format!("thread{thread}_latency_max"),
            value: values.iter().copied().max().unwrap_or(0) as f64,
            unit: "ns".into(),
        }));
    }
    Ok(records)
}

/// In what the values differ from cyclictest's own summary. It keeps the
/// last 16384 values of a thread until it has printed them; a main thread
/// that does not get to run loses older ones.
fn compare(latencies: &Latencies, summary: &str) -> Result<Vec<String>, String> {
    let summary: Value =
        serde_json::from_str(summary).map_err(|error| format!("cyclictest's JSON: {error}"))?;
    let threads = summary["thread"]
        .as_object()
        .ok_or("cyclictest's JSON: no object `thread`")?;
    let mut doubts = Vec::new();
    for (thread, of) in threads {
        let values = thread
            .parse()
            .ok()
            .and_then(|thread: u64| latencies.get(&thread));
        let values = values.map(Vec::as_slice).unwrap_or_default();
        let sum: u64 = values.iter().sum();
        let here = [
            ("cycles", values.len() as f64),
            ("min", values.iter().copied().min().unwrap_or(0) as f64),
            ("max", values.iter().copied().max().unwrap_or(0) as f64),
            ("avg", sum as f64 / values.len().max(1) as f64),
        ];
        for (key, printed) in here {
            let there = of[key]
                .as_f64()
                .ok_or_else(|| format!("cyclictest's JSON: thread {thread}: no number `{key}`"))?;
            // The average has two decimals.
            if (there - printed).abs() > 0.0051 {
                doubts.push(format!(
                    "cyclictest, thread {thread}: {key} is {there} in its summary, \
                     {printed} in the values that it printed"
                ));
            }
        }
    }
    Ok(doubts)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    // What cyclictest 2.40 printed for
    // `cyclictest --default-system -N -t2 -i1000 -d0 -l5 -v --json=FILE`.
    const STDOUT: &str = include_str!("../../tests/data/cyclictest.stdout");
    const JSON: &str = include_str!("../../tests/data/cyclictest.json");

    #[test]
    fn every_value_is_read() {
        let latencies = latencies(STDOUT);
        assert_eq!(latencies[&0], [80152, 80425, 75970, 68171, 73471]);
        assert_eq!(latencies[&1].len(), 5);
        let records = metrics(&latencies).unwrap();
        let Record::Histogram { buckets, .. } = &records[0] else {
            unreachable!("{records:?}")
        };
        assert_eq!(buckets.len(), 10);
        assert!(buckets.is_sorted());
        assert_eq!(records.len(), 3);
        assert!(metrics(&Latencies::new()).is_err());
    }

    #[test]
    fn lost_values_are_noticed() {
        let mut latencies = latencies(STDOUT);
        assert_eq!(compare(&latencies, JSON), Ok(Vec::new()));
        // As when the value of one wake-up stands in for that of another.
        latencies.get_mut(&0).unwrap()[1] = 80152;
        let doubts = compare(&latencies, JSON).unwrap();
        assert_eq!(doubts.len(), 2, "max and avg: {doubts:?}");
        latencies.remove(&1);
        assert_eq!(compare(&latencies, JSON).unwrap().len(), 6);
        assert!(compare(&latencies, "").is_err());
        assert!(compare(&latencies, "{}").is_err());
    }

    #[test]
    fn options_say_what_is_wanted() {
        let json = File::open("/dev/null").unwrap();
        let mut cyclictest = Cyclictest {
            threads: 2,
            interval_ns: 250_000,
            loops: 9,
            scheduling: Scheduling {
                policy: Policy::Fifo,
                priority: 80,
                ..Scheduling::default()
            },
        };
        let line = argv(&cyclictest, &json, false).unwrap().join(" ");
        assert!(
            line.starts_with(
                "cyclictest --default-system -N -d 0 -t2 -i250 --policy=fifo -p80 -l9 -v --json="
            ),
            "{line}"
        );
        let line = argv(&cyclictest, &json, true).unwrap().join(" ");
        assert!(line.ends_with("-p80 -q"), "{line}");
        cyclictest.interval_ns = 1500;
        assert!(argv(&cyclictest, &json, false).is_err());
    }
}
