use assize_job::{CommandWorkload, CyclictestWorkload, Job, PlacementPolicy, WorkloadKind};

use super::*;

const STATUS: &str = "Name:\tcat\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n";
const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units
Max nice priority         25                   30
Max realtime priority     50                   unlimited
";

fn user() -> MachineFacts {
    MachineFacts::read(STATUS, LIMITS, "2\n")
}

fn order(job: Job) -> Order {
    Order {
        job,
        ..Order::default()
    }
}

fn machine(machine: Machine) -> Order {
    Order {
        machine,
        ..Order::default()
    }
}

fn scheduled(policy: Policy, priority: u8, nice: i8) -> Order {
    order(Job {
        workload: Workload {
            name: "w".into(),
            kind: WorkloadKind::Cyclictest(CyclictestWorkload {
                scheduling: Scheduling {
                    policy,
                    priority,
                    nice,
                    cpus: Vec::new(),
                    group: None,
                },
                ..CyclictestWorkload::default()
            }),
        },
        ..Job::default()
    })
}

fn lacking(order: &Order, facts: &MachineFacts) -> Option<String> {
    let orders = std::slice::from_ref(order);
    let error = check(orders, facts, &BTreeSet::new(), "host", "run `sudo assize`").err()?;
    assert!(error.wrong_use);
    Some(error.why.replace("no permission for ", ""))
}

#[test]
fn rights_are_read_as_the_kernel_prints_them() {
    let facts = user();
    assert_eq!((facts.root, facts.priority, facts.nice), (false, 50, -5));
    assert_eq!(facts.paranoid, Some(2));
    let root = STATUS
        .replace("1000", "0")
        .replace("0000000000000000", "000001ffffffffff");
    let limits = LIMITS.replace("50 ", "unlimited ").replace("25 ", "0 ");
    let facts = MachineFacts::read(&root, &limits, "");
    assert_eq!(
        (facts.root, facts.priority, facts.nice),
        (true, u64::MAX, 0)
    );
    assert!(facts.can(CAP_SYS_MODULE) && facts.can(CAP_SYS_NICE));
    assert_eq!(facts.paranoid, None);
    assert_eq!(MachineFacts::read("", "", ""), MachineFacts::default());
}

#[test]
fn scheduling_needs_rights_beyond_the_limits_only() {
    let cases = [
        (Policy::Other, 0, 0, None),
        (Policy::Other, 0, -5, None),
        (Policy::Batch, 0, 19, None),
        (Policy::Other, 0, -6, Some("scheduling with nice -6")),
        (Policy::Fifo, 50, 0, None),
        (Policy::Fifo, 51, 0, Some("scheduling with policy fifo")),
        (Policy::Rr, 99, 0, Some("scheduling with policy rr")),
    ];
    for (policy, priority, nice, expected) in cases {
        let order = scheduled(policy, priority, nice);
        assert_eq!(lacking(&order, &user()).as_deref(), expected);
        let mut able = user();
        able.capabilities = 1 << CAP_SYS_NICE;
        assert_eq!(lacking(&order, &able), None);
    }
}

#[test]
fn instruments_need_rights_that_would_help() {
    let cases = [
        ("proc-stat", None),
        ("guest-instructions", None),
        ("perf-software", Some("the instrument perf-software")),
        ("wakeup", Some("the instrument wakeup")),
        // No energy counters: root would not help.
        ("energy", None),
    ];
    for (name, expected) in cases {
        let order = order(Job {
            instruments: vec![name.into()],
            ..Job::default()
        });
        assert_eq!(lacking(&order, &user()).as_deref(), expected);
        let root = MachineFacts {
            root: true,
            ..user()
        };
        assert_eq!(lacking(&order, &root), None);
        let open = MachineFacts {
            paranoid: Some(0),
            tracefs: true,
            ..user()
        };
        assert_eq!(lacking(&order, &open), None);
    }
}

#[test]
fn the_mend_fits_what_is_lacking() {
    let order = |instruments: &[&str]| {
        order(Job {
            instruments: instruments.iter().map(ToString::to_string).collect(),
            ..Job::default()
        })
    };
    let mend = |order: Order, facts: &MachineFacts, unwritable: &[&str]| {
        let unwritable = unwritable.iter().map(ToString::to_string).collect();
        let error = check(&[order], facts, &unwritable, "host", "run `sudo assize`");
        error.unwrap_err().mend.unwrap()
    };
    assert_eq!(
        mend(order(&["perf-software"]), &user(), &[]),
        "run `sudo sysctl kernel.perf_event_paranoid=0`, or run `sudo assize`"
    );
    assert_eq!(
        mend(order(&["perf-software", "wakeup"]), &user(), &[]),
        "run `sudo assize`"
    );
    let file = "/proc/sys/kernel/sched_rt_runtime_us";
    assert_eq!(mend(order(&[]), &user(), &[file]), "run `sudo assize`");
    let root = MachineFacts {
        root: true,
        ..user()
    };
    let mend = mend(order(&[]), &root, &[file]);
    assert!(mend.contains("container"), "{mend}");
}

#[test]
fn set_up_needs_rights() {
    let job = Job {
        setup: vec![
            Action::Module {
                module: "depq".into(),
                parameters: BTreeMap::new(),
            },
            Action::Sysctl {
                name: "kernel.sched_autogroup_enabled".into(),
                value: "0".into(),
            },
        ],
        teardown: vec![
            Action::Write {
                path: "/sys/kernel/x".into(),
                value: "1".into(),
            },
            Action::Write {
                path: "/tmp/x".into(),
                value: "1".into(),
            },
        ],
        ..Job::default()
    };
    let order = order(job);
    let files = kernel_files(std::slice::from_ref(&order));
    let expected = ["/proc/sys/kernel/sched_autogroup_enabled", "/sys/kernel/x"];
    assert_eq!(Vec::from_iter(files), expected);
    assert_eq!(
        lacking(&order, &user()).as_deref(),
        Some("loading kernel modules")
    );
}

#[test]
fn programs_come_from_payload_workloads_and_actions() {
    let order = Order {
        payload: assize_job::Payload {
            programs: vec!["perf".into()],
            ..assize_job::Payload::default()
        },
        job: Job {
            setup: vec![
                Action::Command {
                    argv: vec!["chrt".into(), "-m".into()],
                },
                Action::Module {
                    module: "./depq.ko".into(),
                    parameters: BTreeMap::new(),
                },
            ],
            background: vec![Workload {
                name: "b".into(),
                kind: WorkloadKind::Command(CommandWorkload {
                    argv: vec!["/opt/load".into()],
                    ..CommandWorkload::default()
                }),
            }],
            ..scheduled(Policy::Other, 0, 0).job
        },
        ..Order::default()
    };
    let programs = Vec::from_iter(programs(std::slice::from_ref(&order)));
    let programs: Vec<&str> = programs.iter().map(|one| one.program.as_str()).collect();
    assert_eq!(
        programs,
        ["/opt/load", "chrt", "cyclictest", "insmod", "perf"]
    );
}

#[test]
fn a_real_machine_cannot_be_changed() {
    let given = Machine::default();
    let same = |machines: [Machine; 2]| same_machine(&machines.map(machine), "host");
    assert_eq!(same([given.clone(), given.clone()]), Ok(()));
    assert_eq!(same_machine(&[], "host"), Ok(()));
    let other = |change: fn(&mut Machine)| {
        let mut machine = given.clone();
        change(&mut machine);
        machine
    };
    let cases = [
        (
            other(|machine| machine.kernel = "running".into()),
            "the kernel: the experiment has debian:6.12 and running",
        ),
        (
            other(|machine| machine.cpus = 2),
            "the number of CPUs: the experiment has 1 and 2",
        ),
        (
            other(|machine| machine.memory_mib = 512),
            "the memory: the experiment has 256 MiB and 512 MiB",
        ),
        (
            other(|machine| machine.command_line = vec!["nosmt".into()]),
            "the kernel's command line: the experiment adds `nosmt`",
        ),
    ];
    for (machine, expected) in cases {
        let error = same([given.clone(), machine]).unwrap_err();
        assert_eq!(error.why, format!("this target cannot change {expected}"));
        assert_eq!(error.mend.as_deref(), Some("use `--target exact`"));
        assert!(error.wrong_use);
    }
}

#[test]
fn what_was_asked_for_and_ignored_is_recorded() {
    let facts = recorded(&Machine::default(), "host");
    assert_eq!(
        facts["machine_ignored"],
        "kernel debian:6.12, cpus 1, memory_mib 256"
    );
    let running = Machine {
        kernel: "running".into(),
        ..Machine::default()
    };
    assert_eq!(
        recorded(&running, "host")["machine_ignored"],
        "cpus 1, memory_mib 256"
    );
}

#[test]
fn a_placement_policy_needs_rights_and_its_program() {
    let policy = |form| {
        order(Job {
            policy: Some(PlacementPolicy {
                name: "x".into(),
                form,
                tunables: BTreeMap::new(),
                argv: vec!["scx_x".into(), "-v".into()],
            }),
            ..Job::default()
        })
    };
    let program = policy(PolicyForm::Program);
    let said = lacking(&program, &user());
    assert_eq!(said.as_deref(), Some("attaching a placement policy"));
    let root = MachineFacts {
        root: true,
        capabilities: u64::MAX,
        ..user()
    };
    assert_eq!(lacking(&program, &root), None);
    assert_eq!(lacking(&order(Job::default()), &user()), None);
    let needed = |order: Order| {
        let all = programs(&[order]).into_iter();
        all.map(|linked| linked.program).collect::<Vec<_>>()
    };
    assert!(needed(program).contains(&"scx_x".to_string()));
    // The program that attaches an object comes with assize.
    assert!(!needed(policy(PolicyForm::Object)).contains(&"scx_x".to_string()));
}
