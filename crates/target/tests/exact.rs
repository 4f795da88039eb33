//! Boots the exact machine: the same order gives the same bytes, whatever else the host
//! does, and failures are reported.

use std::sync::atomic::{AtomicBool, Ordering};

use assize_job::{
    Action, AgentMessage, CommandWorkload, Hogs, IdentityKind, Job, Loop, Machine, Order, Payload,
    Periodic, PingPong, Workload, WorkloadKind,
};
use assize_target::exact::{Draw, Exact, Options};
use assize_target::kernels::Kernels;
use assize_target::{OrderResult, RunFailure, RunOutcome, Target};

/// The exact machine; `None`, with a message, if it is not available.
fn exact(cpus: u32, options: Options) -> Option<Exact> {
    let root = Kernels::default_root().unwrap();
    let there = Kernels::new(root.clone())
        .resolve(&Machine::default().kernel)
        .and_then(|_| Exact::new(root, options))
        .and_then(|exact| exact.qemu().fits(cpus).map(|()| exact));
    match there {
        Ok(exact) => Some(exact),
        Err(error) => {
            crate::support::skip(&format!("{error}"));
            None
        }
    }
}

const FRESH: Options = Options {
    fresh: true,
    cold: false,
    unpinned: false,
};

fn order(cpus: u32, seed: u64) -> Order {
    let hogs = Hogs {
        threads: cpus + 1,
        ..Hogs::default()
    };
    let periodic = Periodic {
        duration_ns: 200_000_000,
        loops: vec![
            Loop {
                name: "fast".into(),
                period_ns: 1_000_000,
                run_ns: 200_000,
                ..Loop::default()
            },
            Loop {
                name: "slow".into(),
                threads: 2,
                period_ns: 7_000_000,
                run_ns: 1_500_000,
                ..Loop::default()
            },
        ],
        ..Periodic::default()
    };
    let instruments = ["cpu-idle", "guest-instructions", "perf-software", "wakeup"];
    Order {
        machine: Machine {
            cpus,
            ..Machine::default()
        },
        job: Job {
            seed,
            workload: Workload {
                name: "periodic".into(),
                kind: WorkloadKind::Periodic(periodic),
            },
            // Half of the seeds have an idle machine: host time leaks in most easily while
            // all CPUs sleep.
            background: if seed.is_multiple_of(2) {
                Vec::new()
            } else {
                vec![Workload {
                    name: "hogs".into(),
                    kind: WorkloadKind::Hogs(hogs),
                }]
            },
            instruments: instruments.map(String::from).into(),
            samples: true,
            offset_ns_max: 10_000_000,
            timeout_ms: 20_000,
            ..Job::default()
        },
        ..Order::default()
    }
}

fn bytes(exact: &Exact, order: &Order, slot: usize) -> Vec<u8> {
    records(exact.run(order, slot).unwrap())
}

fn records(done: OrderResult) -> Vec<u8> {
    match done.outcome {
        RunOutcome::Completed(records) => serde_json::to_vec(&records).unwrap(),
        RunOutcome::Failed {
            failure, console, ..
        } => panic!("{failure}\n{console}"),
    }
}

/// Keeps all CPUs of the host busy while `work` is done.
fn under_load<T>(work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    let busy = 2 * std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..busy {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

pub(crate) fn same_bytes_however_busy_the_host_is(cpus: u32) {
    let Some(exact) = exact(cpus, FRESH) else {
        return;
    };
    let orders = [1, 2, 3].map(|seed| order(cpus, seed));
    exact.prepare(&orders).unwrap();
    let quiet = orders.each_ref().map(|order| bytes(&exact, order, 0));
    assert!(quiet[0] != quiet[1] && quiet[0] != quiet[2], "seeds differ");
    let busy = under_load(|| {
        std::thread::scope(|scope| {
            let exact = &exact;
            let running = [0, 1, 2].map(|at| {
                let order = &orders[at];
                scope.spawn(move || bytes(exact, order, at % 2))
            });
            running.map(|thread| thread.join().unwrap())
        })
    });
    for (at, (quiet, busy)) in quiet.iter().zip(&busy).enumerate() {
        assert!(quiet == busy, "run {at} on {cpus} CPUs differs under load");
    }
}

#[test]
fn two_cpus_give_the_same_bytes_however_busy_the_host_is() {
    same_bytes_however_busy_the_host_is(2);
}

#[test]
fn a_boot_gives_the_bytes_that_a_memory_image_gives() {
    for cpus in [1, 2] {
        let cold = Options {
            cold: true,
            ..FRESH
        };
        let (Some(warm), Some(cold)) = (exact(cpus, FRESH), exact(cpus, cold)) else {
            return;
        };
        let order = order(cpus, 5);
        assert!(
            bytes(&warm, &order, 0) == bytes(&cold, &order, 0),
            "{cpus} CPUs"
        );
    }
}

#[test]
fn a_run_that_goes_on_from_a_checkpoint_gives_the_same_bytes() {
    for cpus in [1, 2, 4] {
        let Some(exact) = exact(cpus, FRESH) else {
            return;
        };
        let order = order(cpus, 7);
        let want = bytes(&exact, &order, 0);
        let mut draw = fastrand::Rng::with_seed(u64::from(cpus));
        let mut run = exact.debug(&order, 0).unwrap();
        // Each checkpoint is taken in a machine that was started from the last one.
        for _ in 0..3 {
            let mut stub = run.stub().unwrap();
            let text = stub.monitor("info icount").unwrap();
            let now: u64 = text.split_whitespace().nth(1).unwrap().parse().unwrap();
            let stop = now + draw.u64(1..40_000_000);
            stub.monitor(&format!("icount_stop {stop}")).unwrap();
            stub.go().unwrap();
            for _ in 0..draw.u64(..200) {
                stub.step_machine().unwrap();
            }
            let checkpoint = exact.checkpoint(&mut run).unwrap();
            stub.detach().unwrap();
            assert!(
                records(run.finish().unwrap()) == want,
                "{cpus} CPUs, {stop}"
            );
            run = exact.debug_from(&order, 0, &checkpoint).unwrap();
        }
        run.let_go();
        assert!(records(run.finish().unwrap()) == want, "{cpus} CPUs");
    }
}

#[test]
fn a_draw_from_a_kept_instant_gives_the_bytes_of_one_from_the_image() {
    for cpus in [2, 4] {
        let Some(exact) = exact(cpus, FRESH) else {
            return;
        };
        let order = order(cpus, 7);
        let mut run = exact.debug(&order, 0).unwrap();
        let text = run.stub().unwrap().monitor("info icount").unwrap();
        let now: u64 = text.split_whitespace().nth(1).unwrap().parse().unwrap();
        run.let_go();
        let recorded = records(run.finish().unwrap());
        let mut earlier = None;
        for (count, seed) in [(now + 30_000_000, 1), (now + 90_000_017, 2)] {
            let draw = Draw { count, seed };
            let of = |origin| records(exact.draw(&order, draw, origin).unwrap());
            let origin = exact.draw_origin(&order, count, earlier.as_ref()).unwrap();
            let drawn = of(None);
            assert!(drawn != recorded, "{cpus} CPUs, {draw:?} changes nothing");
            assert!(drawn == of(Some(&origin)), "{cpus} CPUs, {draw:?}");
            earlier = Some(origin);
        }
        // The run ends before this instant.
        let draw = Draw {
            count: now + (1 << 40),
            seed: 1,
        };
        let origin = exact.draw_origin(&order, draw.count, None).unwrap();
        let drawn = exact.draw(&order, draw, Some(&origin)).unwrap();
        assert!(records(drawn) == recorded, "{cpus} CPUs");
    }
}

#[test]
fn what_was_run_before_is_not_run_again() {
    let Some(exact) = exact(1, Options::default()) else {
        return;
    };
    let order = quick(WorkloadKind::PingPong(PingPong::default()));
    let first = exact.run(&order, 0).unwrap();
    let second = exact.run(&order, 0).unwrap();
    assert!(second.cached);
    assert_eq!(first.outcome, second.outcome);
}

fn quick(kind: WorkloadKind) -> Order {
    Order {
        job: Job {
            workload: Workload {
                name: "quick".into(),
                kind,
            },
            timeout_ms: 2000,
            ..Job::default()
        },
        ..Order::default()
    }
}

fn failure(order: &Order) -> Option<(RunFailure, String)> {
    let exact = exact(1, FRESH)?;
    match exact.run(order, 0).unwrap().outcome {
        RunOutcome::Completed(records) => panic!("completed: {records:?}"),
        RunOutcome::Failed {
            failure, console, ..
        } => Some((failure, console)),
    }
}

/// The share of one CPU that one thread gets in a second while competing with three others.
fn share(exact: &Exact, groups: [Option<&str>; 2]) -> f64 {
    let [mut one, mut others] = [1, 3].map(|threads| Hogs {
        threads,
        ..Hogs::default()
    });
    [one.scheduling.group, others.scheduling.group] = groups.map(|group| group.map(Into::into));
    let mut order = quick(WorkloadKind::Hogs(one));
    order.job.timeout_ms = 5000;
    order.job.background = vec![Workload {
        name: "others".into(),
        kind: WorkloadKind::Hogs(others),
    }];
    let RunOutcome::Completed(records) = exact.run(&order, 0).unwrap().outcome else {
        panic!("it failed");
    };
    let cpu_time = records.iter().find_map(|record| match record {
        AgentMessage::Metric { metric, value, .. } if metric == "cpu_time" => Some(*value),
        _ => None,
    });
    cpu_time.unwrap() / 1e9
}

#[test]
fn a_control_group_weighs_as_much_as_one_thread() {
    let Some(exact) = exact(1, FRESH) else {
        return;
    };
    let cases = [
        ([None, None], 0.25),
        ([None, Some("b")], 0.5),
        ([Some("a"), Some("b")], 0.5),
        ([Some("a"), Some("a")], 0.25),
    ];
    for (groups, expected) in cases {
        let share = share(&exact, groups);
        // A second has few time slices of some milliseconds.
        let near = (share - expected).abs() < 0.05;
        assert!(near, "{groups:?}: {share}, not {expected}");
    }
}

pub(crate) fn a_panic_is_a_failed_run_with_its_console() {
    let mut order = quick(WorkloadKind::PingPong(PingPong::default()));
    order.job.setup = vec![Action::Write {
        path: "/proc/sysrq-trigger".into(),
        value: "c".into(),
    }];
    let Some((failure, console)) = failure(&order) else {
        return;
    };
    assert!(matches!(failure, RunFailure::Panic { .. }), "{failure:?}");
    assert!(console.contains("sysrq"), "{console}");
}

#[test]
fn a_workload_that_does_not_end_is_a_failed_run() {
    let hogs = Hogs {
        duration_ns: 60_000_000_000,
        ..Hogs::default()
    };
    let mut order = quick(WorkloadKind::Hogs(hogs));
    order.job.timeout_ms = 50;
    let Some((failure, _)) = failure(&order) else {
        return;
    };
    assert!(matches!(failure, RunFailure::Agent { .. }), "{failure:?}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let command = CommandWorkload {
        argv: vec!["no-such-program".into()],
        ..CommandWorkload::default()
    };
    let Some((failure, _)) = failure(&quick(WorkloadKind::Command(command))) else {
        return;
    };
    assert!(failure.to_string().contains("no-such-program"), "{failure}");
}

#[test]
fn the_clock_is_checked_in_every_run() {
    let Some(exact) = exact(1, FRESH) else {
        return;
    };
    let order = quick(WorkloadKind::PingPong(PingPong::default()));
    let RunOutcome::Completed(records) = exact.run(&order, 0).unwrap().outcome else {
        panic!("failed");
    };
    let AgentMessage::Hello { resumed_ns, .. } = &records[0] else {
        panic!("{:?}", records[0]);
    };
    assert_eq!(*resumed_ns, Some(assize_job::RESUMED_NS));
}

/// A run with a payload that does or does not load a module first. The workload checks that
/// the module is loaded.
fn with_module(first: bool, setup: bool) -> Order {
    let step = Action::Module {
        module: "crc8".into(),
        parameters: std::collections::BTreeMap::new(),
    };
    let command = CommandWorkload {
        argv: ["grep", "-q", "^crc8 ", "/proc/modules"]
            .map(String::from)
            .into(),
        statuses: vec![0],
        ..CommandWorkload::default()
    };
    let mut order = quick(WorkloadKind::Command(command));
    order.payload = Payload {
        programs: vec!["grep".into()],
        modules: vec!["crc8".into()],
        first: first.then(|| step.clone()).into_iter().collect(),
        ..Payload::default()
    };
    order.job.setup = setup.then_some(step).into_iter().collect();
    order
}

#[test]
fn a_module_that_is_loaded_first_is_in_the_image_and_in_the_identity() {
    let Some(exact) = exact(1, FRESH) else {
        return;
    };
    let identity = |order: &Order| match exact.run(order, 0).unwrap().outcome {
        RunOutcome::Completed(records) => records.into_iter().find_map(|record| match record {
            AgentMessage::Identity { parts } => Some(parts),
            _ => None,
        }),
        RunOutcome::Failed { .. } => None,
    };
    // It is loaded without any set-up, and only if the payload says so.
    assert!(identity(&with_module(true, false)).is_some());
    assert!(identity(&with_module(false, false)).is_none());
    // A run that loads it reports it in the same way, whoever loaded it.
    let modules = |first| {
        let parts = identity(&with_module(first, true)).unwrap();
        let is_module = |kind| [IdentityKind::Module, IdentityKind::ModuleBuildId].contains(&kind);
        parts
            .into_iter()
            .filter(|part| is_module(part.kind))
            .collect::<Vec<_>>()
    };
    assert_eq!(modules(true).len(), 2);
    assert_eq!(modules(true), modules(false));
}
