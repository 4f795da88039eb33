//! Stalls planted on the exact machine, and a detector that knows nothing about them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use crate::support::records;
use assize_job::gaps::{Cause, Gap, GapsSettings, Seen};
use assize_job::{Action, AgentMessage, Job, Machine, Order, Payload, StallKind, Stalls};

/// The longest iteration of the detector, in nanoseconds, including recording a gap.
const TURN_NS: u64 = 22;
/// The longest iteration of the instrument `gaps`, in nanoseconds.
const WATCH_NS: u64 = 50;
const LENGTHS_NS: [u64; 6] = [1000, 2000, 5000, 10_000, 50_000, 200_000];
/// CPU 1 has no ticks and no other threads, so that only stalls are seen.
const ISOLATED: [&str; 3] = ["isolcpus=nohz,domain,1", "nohz_full=1", "rcu_nocbs=1"];

/// The detector, linked statically for any machine of this architecture.
fn detector(place: &Path) -> Option<PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stalls/detector.c");
    let path = place.join("detector");
    let done = Process::new("gcc")
        .args(["-O2", "-Wall", "-Werror", "-static", "-o"])
        .arg(&path)
        .arg(source)
        .status();
    match done {
        Ok(status) if status.success() => Some(path),
        _ => {
            crate::support::skip("no gcc here that links statically");
            None
        }
    }
}

fn stalls(kind: StallKind) -> Stalls {
    Stalls {
        kind,
        lengths_ns: LENGTHS_NS.into(),
        period_ns: 5_000_000,
        jitter_ns: 4_000_000,
        cpu: 1,
    }
}

fn order(detector: &Path, kernel: &str, seed: u64, stalls: Option<Stalls>) -> Order {
    let there = "/detector";
    Order {
        machine: Machine {
            kernel: kernel.into(),
            cpus: 2,
            command_line: ISOLATED.map(String::from).into(),
            ..Machine::default()
        },
        payload: Payload {
            files: vec![(detector.into(), there.into())],
            modules: vec!["simstall".into()],
            ..Payload::default()
        },
        job: Job {
            seed,
            setup: stalls.iter().map(Stalls::module).collect(),
            workload: crate::support::command(&[there, "1", "400", "500", "100"]),
            stalls,
            instruments: vec!["planted-stalls".into()],
            timeout_ms: 20_000,
            ..Job::default()
        },
        ..Order::default()
    }
}

/// Lines of numbers in what a run printed or recorded.
fn numbers(text: &str) -> Vec<Vec<u64>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.map(|line| line.split(' ').map(|word| word.parse().unwrap()));
    words.map(Iterator::collect).collect()
}

fn named<'r>(records: &'r [AgentMessage], wanted: &str) -> Option<&'r str> {
    records.iter().find_map(|record| match record {
        AgentMessage::Raw { name, text } if name == wanted => Some(text.as_str()),
        _ => None,
    })
}

/// Planted and detected stalls: start and length on the time-stamp counter.
struct Both {
    planted: Vec<(u64, u64)>,
    found: Vec<(u64, u64)>,
}

fn both(records: &[AgentMessage]) -> Both {
    let printed = numbers(named(records, "w.stdout").unwrap());
    let (from, to) = (printed[0][0], printed[0][1]);
    let truth = named(records, "planted-stalls.txt").map_or_else(Vec::new, numbers);
    for line in &truth {
        let (length, planned) = (line[1], line[2]);
        assert!(length.abs_diff(planned) <= 1, "{line:?}");
    }
    let told = records.iter().find_map(|record| match record {
        AgentMessage::Events {
            event, count, t_ns, ..
        } if event == "planted_stalls" => Some((*count, t_ns.clone())),
        _ => None,
    });
    let times: Vec<u64> = truth.iter().map(|line| line[0]).collect();
    assert_eq!(told, Some((truth.len() as u64, times)));
    Both {
        planted: truth
            .iter()
            .map(|line| (line[3], line[1]))
            .filter(|(begin, length)| *begin > from && begin + length < to)
            .collect(),
        found: printed[1..].iter().map(|line| (line[0], line[1])).collect(),
    }
}

#[test]
fn every_planted_interrupt_is_found_with_its_length_and_nothing_else() {
    let Some(exact) = crate::support::exact("debian:6.12", 2) else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let Some(detector) = detector(place.path()) else {
        return;
    };
    let order = |seed, stalls| order(&detector, "debian:6.12", seed, stalls);
    let smis = order(3, Some(stalls(StallKind::Smi)));
    let first = records(&exact, &smis);
    let Both { planted, found } = both(&first);
    assert!(planted.len() >= 60, "{planted:?}");
    for length in LENGTHS_NS {
        assert!(planted.iter().any(|(_, planted)| *planted == length));
    }
    assert_eq!(found.len(), planted.len(), "{planted:?}\n{found:?}");
    for ((begin, length), (found, gap)) in planted.iter().zip(&found) {
        assert!(found <= begin && begin + length <= found + gap);
        assert!(gap - length <= TURN_NS, "{length}: {gap}");
    }
    // Periods are as requested, give or take a timer tick.
    for pair in planted.windows(2) {
        let period = pair[1].0 - pair[0].0;
        assert!((999_000..=9_001_000).contains(&period), "{period}");
    }
    // The same bytes again, and different ones with another seed.
    assert!(records(&exact, &smis) == first);
    let other = both(&records(&exact, &order(4, Some(stalls(StallKind::Smi)))));
    assert!(other.planted != planted && other.found.len() == other.planted.len());
    // The detector does not see such stalls on the other CPU, …
    let beside = Stalls {
        cpu: 0,
        ..stalls(StallKind::Smi)
    };
    let beside = both(&records(&exact, &order(3, Some(beside))));
    assert!(
        beside.planted.len() >= 60 && beside.found.is_empty(),
        "{:?}",
        beside.found
    );
    // … and it sees nothing if none are planted.
    let quiet = both(&records(&exact, &order(3, None)));
    assert!(
        quiet.planted.is_empty() && quiet.found.is_empty(),
        "{:?}",
        quiet.found
    );
    // With interrupts off, the interrupt itself adds to the gap.
    let Both { planted, found } = both(&records(
        &exact,
        &order(3, Some(stalls(StallKind::IrqsOff))),
    ));
    assert!(planted.len() >= 60 && found.len() == planted.len());
    for ((begin, length), (found, gap)) in planted.iter().zip(&found) {
        assert!(found <= begin && begin + length <= found + gap);
        assert!((1..8000).contains(&(gap - length)), "{length}: {gap}");
    }
}

/// The same stalls, watched by the instrument `gaps` while the workload only waits.
fn watched(stalls: Option<Stalls>) -> Order {
    let mut order = order(Path::new("/dev/null"), "debian:6.12", 5, stalls);
    order.payload.files.clear();
    order.payload.programs.push("sleep".into());
    order.payload.modules.push("msr".into());
    order.job.workload = crate::support::command(&["sleep", "0.4"]);
    order.job.setup.push(Action::Module {
        module: "msr".into(),
        parameters: BTreeMap::new(),
    });
    order.job.instruments.push("gaps".into());
    order.job.gaps = Some(GapsSettings {
        cpus: vec![1],
        threshold_ns: 500,
        baseline_ns: 20_000_000,
        ..GapsSettings::default()
    });
    order
}

#[test]
fn the_instrument_gaps_finds_each_and_knows_what_it_was() {
    let Some(exact) = crate::support::exact("debian:6.12", 2) else {
        return;
    };
    let records = records(&exact, &watched(Some(stalls(StallKind::Smi))));
    let seen = Seen::parse(named(&records, "gaps.txt").unwrap()).unwrap();
    let (start, khz) = seen.tsc.unwrap();
    let planted = numbers(named(&records, "planted-stalls.txt").unwrap());
    let (mut found, mut blind) = (0, 0);
    for line in &planted {
        let (length, begin) = (line[1], line[3]);
        let at = (begin - start) * 1_000_000 / khz;
        let gap = seen.gaps.iter().find(|gap| {
            // Two clocks were read one after the other.
            gap.at_ns <= at + 100 && at + length <= gap.at_ns + gap.length_ns + 100
        });
        match gap {
            Some(gap) => {
                let more = gap.length_ns.saturating_sub(length);
                assert!(
                    gap.length_ns + 2 >= length && more <= WATCH_NS,
                    "{gap:?} {line:?}"
                );
                assert_eq!(gap.cause, Cause::Smi, "{gap:?}");
                found += 1;
            }
            // It fell into the time in which counters are read after another gap.
            None => {
                let after = seen.gaps.iter().map(|gap| gap.at_ns + gap.length_ns);
                let last = after.filter(|end| *end <= at).max().unwrap();
                assert!(at - last <= 3 * seen.cpus[0].reading_ns, "{line:?}");
                blind += 1;
            }
        }
    }
    assert!(found >= 60 && blind <= found / 10, "{found} {blind}");
    // Nothing else except the interrupt that stops the planting.
    let (smis, others): (Vec<&Gap>, Vec<&Gap>) =
        seen.gaps.iter().partition(|gap| gap.cause == Cause::Smi);
    assert_eq!(smis.len(), found, "{smis:?}");
    let end = 400_000_000;
    let is_stop = |gap: &&Gap| gap.cause == Cause::Interrupt && gap.at_ns > end;
    assert!(
        others.len() <= 1 && others.iter().all(is_stop),
        "{others:?}"
    );
}

/// The kernel's hwlat tracer, which has interrupts off while it samples, half of each
/// second.
fn traced(stalls: Option<Stalls>) -> Order {
    const SCRIPT: &str = "cd /sys/kernel/tracing && echo x86-tsc > trace_clock && \
        echo 500000 > hwlat_detector/width && echo 1 > tracing_thresh && \
        echo hwlat > current_tracer && sleep 2.7 && echo 0 > tracing_on && cat trace";
    let mut order = order(Path::new("/dev/null"), "debian:6.12-rt", 5, stalls);
    order.machine.cpus = 1;
    order.machine.command_line.clear();
    order.payload.files.clear();
    order.payload.programs = ["sh", "sleep", "cat"].map(String::from).into();
    order.job.workload = crate::support::command(&["sh", "-c", SCRIPT]);
    order
}

/// For each sampling window: its end, the longest latency in microseconds, and the number
/// of latencies.
fn windows(trace: &str) -> Vec<(u64, u64, usize)> {
    let window = |line: &str| {
        let (before, after) = line.split_once(": #")?;
        let (_, at) = before.rsplit_once(' ')?;
        let (_, pair) = after.split_once("inner/outer(us):")?;
        let (inner, outer) = pair.split_whitespace().next()?.split_once('/')?;
        let (_, count) = after.split_once("count:")?;
        let longest = inner.parse::<u64>().ok()?.max(outer.parse().ok()?);
        let count = count.split_whitespace().next()?.parse().ok()?;
        Some((at.parse().ok()?, longest, count))
    };
    trace.lines().filter_map(window).collect()
}

#[test]
fn the_kernels_own_tracer_finds_each_though_interrupts_are_off() {
    const WIDTH: u64 = 500_000_000;
    let Some(exact) = crate::support::exact("debian:6.12-rt", 2) else {
        return;
    };
    let stalls = Stalls {
        cpu: 0,
        // The tracer's threshold is one microsecond.
        lengths_ns: LENGTHS_NS[1..].into(),
        ..stalls(StallKind::Smi)
    };
    let told = records(&exact, &traced(Some(stalls)));
    let planted = numbers(named(&told, "planted-stalls.txt").unwrap());
    let found = windows(named(&told, "w.stdout").unwrap());
    assert!(found.len() >= 2, "{found:?}");
    for (end, longest, count) in found {
        let inside: Vec<u64> = planted
            .iter()
            .filter(|line| line[3] + WIDTH > end && line[3] < end)
            .map(|line| line[1])
            .collect();
        // One may cross the start of the window.
        assert!(
            count.abs_diff(inside.len()) <= 1 && count >= 50,
            "{count} {inside:?}"
        );
        let most = inside.iter().max().unwrap() / 1000;
        assert!(longest.abs_diff(most) <= 1, "{longest} {most}");
    }
    let quiet = records(&exact, &traced(None));
    assert!(windows(named(&quiet, "w.stdout").unwrap()).is_empty());
}
