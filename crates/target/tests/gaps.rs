//! The instrument `gaps` on the exact machine finds planted gaps, and nothing else.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assize_job::gaps::{Cause, Gap, GapsSettings, Seen};
use assize_job::{
    AgentMessage, Job, Loop, Machine, Order, Periodic, Policy, Scheduling, Workload, WorkloadKind,
};
use assize_target::exact::{Exact, Options};
use assize_target::kernels::Kernels;
use assize_target::{RunOutcome, Target};

const PERIOD_NS: u64 = 3_000_000;
const DURATION_NS: u64 = 120_000_000;

/// The exact machine; `None`, with a counted skip, if it is not available.
fn exact(cpus: u32) -> Option<Exact> {
    let root = Kernels::default_root().unwrap();
    let options = Options {
        fresh: true,
        cold: false,
        unpinned: false,
    };
    let there = Kernels::new(root.clone())
        .resolve(&Machine::default().kernel)
        .and_then(|_| Exact::new(root, options))
        .and_then(|exact| exact.qemu().fits(cpus).map(|()| exact));
    there
        .map_err(|error| crate::support::skip(&error.to_string()))
        .ok()
}

/// A FIFO thread on CPU `on` that runs for `run_ns` in each period, while the last CPU is
/// watched.
fn order(cpus: u32, on: u32, run_ns: u64, threshold_ns: u64) -> Order {
    let thief = Loop {
        name: "thief".into(),
        period_ns: PERIOD_NS,
        run_ns,
        scheduling: Scheduling {
            policy: Policy::Fifo,
            priority: 50,
            cpus: vec![on],
            ..Scheduling::default()
        },
        ..Loop::default()
    };
    let periodic = Periodic {
        duration_ns: DURATION_NS,
        loops: vec![thief],
        ..Periodic::default()
    };
    Order {
        machine: Machine {
            cpus,
            ..Machine::default()
        },
        job: Job {
            seed: 5,
            workload: Workload {
                name: "thief".into(),
                kind: WorkloadKind::Periodic(periodic),
            },
            instruments: vec!["gaps".into()],
            gaps: Some(GapsSettings {
                threshold_ns,
                baseline_ns: 20_000_000,
                ..GapsSettings::default()
            }),
            timeout_ms: 5_000,
            ..Job::default()
        },
        ..Order::default()
    }
}

fn records(exact: &Exact, order: &Order) -> Vec<AgentMessage> {
    match exact.run(order, 0).unwrap().outcome {
        RunOutcome::Completed(records) => records,
        RunOutcome::Failed {
            failure, console, ..
        } => panic!("{failure}\n{console}"),
    }
}

fn seen(records: &[AgentMessage]) -> Seen {
    let text = records.iter().find_map(|record| match record {
        AgentMessage::Raw { name, text } if name == "gaps.txt" => Some(text),
        _ => None,
    });
    Seen::parse(text.unwrap_or_else(|| panic!("{records:?}"))).unwrap()
}

/// Count and exposure of an event.
fn counted(records: &[AgentMessage], wanted: &str) -> (u64, u64) {
    let found = records.iter().find_map(|record| match record {
        AgentMessage::Events {
            event,
            count,
            exposure_ns,
            ..
        } if event == wanted => Some((*count, *exposure_ns)),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no {wanted}: {records:?}"))
}

fn unexplained(seen: &Seen) -> Vec<Gap> {
    let gaps = seen.gaps.iter().copied();
    gaps.filter(|gap| matches!(gap.cause, Cause::Unexplained | Cause::Unclear))
        .collect()
}

fn each_stall_is_found(cpus: u32) {
    const RUN_NS: u64 = 50_000;
    let Some(exact) = exact(cpus) else {
        return;
    };
    let watched = cpus - 1;
    let order = order(cpus, watched, RUN_NS, 10_000);
    exact.prepare(std::slice::from_ref(&order)).unwrap();
    let records = records(&exact, &order);
    let seen = seen(&records);
    assert_eq!(seen.cpus.len(), 1);
    let stalls = seen
        .gaps
        .iter()
        .filter(|gap| gap.cause == Cause::Switch && (RUN_NS..2 * RUN_NS).contains(&gap.length_ns));
    let stalls: Vec<&Gap> = stalls.collect();
    // How often the thread was woken, by its own count.
    let planted = records.iter().find_map(|record| match record {
        AgentMessage::Histogram {
            metric, buckets, ..
        } if metric == "thief_wakeup_latency" => Some(buckets.iter().map(|(_, n)| n).sum::<u64>()),
        _ => None,
    });
    let planted = planted.unwrap();
    assert!(planted >= DURATION_NS / PERIOD_NS - 1);
    // Threads that start shortly before may make the first stall fall into the blind time, while
    // the counters are read.
    let last = stalls.last().unwrap_or_else(|| panic!("{}", seen.text()));
    for back in 0..planted - 1 {
        let at_ns = last.at_ns - back * PERIOD_NS;
        let found = stalls
            .iter()
            .filter(|gap| gap.at_ns.abs_diff(at_ns) < 10_000);
        assert_eq!(found.count(), 1, "{at_ns}: {}", seen.text());
    }
    assert!(
        stalls
            .iter()
            .all(|gap| gap.cpu == watched && gap.switches > 0)
    );
    assert_eq!(unexplained(&seen), [], "{}", seen.text());
    let (count, exposure_ns) = counted(&records, "gaps_switch");
    assert!(count >= planted);
    assert_eq!(exposure_ns, seen.cpus[0].observed_ns);
    let of = seen.cpus[0];
    let gone = of.observed_ns + of.blind_ns;
    assert!(
        (DURATION_NS..DURATION_NS * 12 / 10).contains(&gone),
        "{of:?}"
    );
    assert!(of.outside_ns == 0 && of.blind_ns < gone / 10, "{of:?}");
}

#[test]
fn on_one_cpu_each_planted_stall_is_found() {
    each_stall_is_found(1);
}

#[test]
fn on_two_cpus_each_planted_stall_is_found() {
    each_stall_is_found(2);
}

/// Stops this process's machines repeatedly until `work` is done. Returns how often.
fn stopped_meanwhile<T>(work: impl FnOnce() -> T) -> (T, u32) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stopping = scope.spawn(|| {
            let mut stops = 0;
            while !done.load(Ordering::Relaxed) {
                for machine in machines() {
                    let signal = |signal| rustix::process::kill_process(machine, signal).is_ok();
                    stops += u32::from(signal(rustix::process::Signal::STOP));
                    std::thread::sleep(Duration::from_millis(20));
                    signal(rustix::process::Signal::CONT);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            stops
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        (result, stopping.join().unwrap())
    })
}

/// The QEMU processes that this process has started.
fn machines() -> Vec<rustix::process::Pid> {
    let own = std::process::id().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_machine = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let (name, rest) = stat.rsplit_once(')').unwrap_or_default();
        name.contains("(qemu") && rest.split_whitespace().nth(1) == Some(&own)
    };
    pids.filter(is_machine)
        .filter_map(rustix::process::Pid::from_raw)
        .collect()
}

#[test]
fn a_quiet_machine_has_no_gap_that_nothing_explains_also_if_it_is_stopped() {
    let Some(exact) = exact(2) else {
        return;
    };
    // The other CPU is busy for a while in each period; the watched one has ticks.
    let order = order(2, 0, 50_000, 1_000);
    exact.prepare(std::slice::from_ref(&order)).unwrap();
    let quiet = records(&exact, &order);
    let seen = seen(&quiet);
    assert_eq!(unexplained(&seen), [], "{}", seen.text());
    let ticks = counted(&quiet, "gaps_interrupt").0 + counted(&quiet, "gaps_switch").0;
    assert!(
        ticks > 5,
        "ticks take longer than a microsecond: {}",
        seen.text()
    );
    let (at_rest, exposure_ns) = counted(&quiet, "gaps_unexplained_at_rest");
    assert_eq!(at_rest, 0);
    assert!(
        (15_000_000..21_000_000).contains(&exposure_ns),
        "{exposure_ns}"
    );
    // The clock of a stopped machine does not advance.
    let (stopped, stops) = stopped_meanwhile(|| records(&exact, &order));
    assert!(stops > 0, "it was never stopped");
    assert_eq!(stopped, quiet);
}

#[test]
fn what_cannot_be_watched_is_named_with_what_to_do() {
    let Some(exact) = exact(1) else {
        return;
    };
    let mut order = order(1, 0, 50_000, 10_000);
    exact.prepare(std::slice::from_ref(&order)).unwrap();
    let fifo = GapsSettings {
        policy: Policy::Fifo,
        priority: 10,
        ..GapsSettings::default()
    };
    let short = GapsSettings {
        threshold_ns: 10,
        ..GapsSettings::default()
    };
    let elsewhere = GapsSettings {
        cpus: vec![3],
        ..GapsSettings::default()
    };
    for (gaps, expected) in [
        (fifo.clone(), "set gaps.width below gaps.window"),
        (
            GapsSettings {
                width_ns: 990_000_000,
                ..fifo
            },
            "kernel.sched_rt_runtime_us = -1",
        ),
        (short, "set gaps.threshold above that"),
        (elsewhere, "name some of 0 in gaps.cpus"),
    ] {
        order.job.gaps = Some(gaps);
        let records = records(&exact, &order);
        let why = records.iter().find_map(|record| match record {
            AgentMessage::Unavailable {
                instrument, reason, ..
            } if instrument == "gaps" => Some(reason.as_str()),
            _ => None,
        });
        let why = why.unwrap_or_else(|| panic!("{records:?}"));
        assert!(why.contains(expected), "{why}");
    }
}
