//! Declared idle states and frequencies on the exact machine: measurements agree with what
//! is known of a schedule.

use std::collections::BTreeMap;

use assize_job::{
    Action, AgentMessage, Frequency, FrequencyGovernor, FrequencyStep, Hogs, IDLE_GOVERNOR,
    IdentityKind, Idle, IdleGovernor, IdleState, Job, Loop, Machine, Order, Payload, Periodic,
    Scheduling, Workload, WorkloadKind,
};
use assize_target::exact::Exact;
use assize_target::{RunOutcome, Target};

/// Two states: one for any idle time, one from 2 ms on.
fn idle(governor: IdleGovernor) -> Idle {
    let state = |name: &str, residency_ns, exit_ns, power_uw, transition_nj| IdleState {
        name: name.into(),
        residency_ns,
        exit_ns,
        power_uw,
        transition_nj,
    };
    Idle {
        states: vec![
            state("light", 1000, 1000, 50_000, 0),
            state("deep", 2_000_000, 300_000, 1_000, 98_000),
        ],
        governor,
        delay: true,
        active_uw: 200_000,
        package_uw: 30_000,
        package_idle_uw: 3_000,
    }
}

fn frequency(governor: FrequencyGovernor) -> Frequency {
    let step = |mhz: u64, mw: u64| FrequencyStep {
        frequency_khz: mhz * 1000,
        power_uw: mw * 1000,
    };
    let userspace = governor == FrequencyGovernor::Userspace;
    Frequency {
        steps: vec![step(500, 20), step(1000, 60), step(2000, 200)],
        governor,
        domain: 1,
        set_khz: userspace.then_some(1_000_000),
        rate_ns: 1_000_000,
    }
}

/// A thread on the last CPU that runs `run_ns` of each `period_ns`.
fn periodic(cpus: u32, period_ns: u64, run_ns: u64) -> WorkloadKind {
    WorkloadKind::Periodic(Periodic {
        duration_ns: 300_000_000,
        loops: vec![Loop {
            period_ns,
            run_ns,
            scheduling: Scheduling {
                cpus: vec![cpus - 1],
                ..Scheduling::default()
            },
            ..Loop::default()
        }],
        ..Periodic::default()
    })
}

fn order(cpus: u32, kind: WorkloadKind, idle: Option<Idle>, frequency: Option<Frequency>) -> Order {
    let mut setup: Vec<Action> = Vec::new();
    setup.extend(idle.iter().map(Idle::module));
    setup.extend(frequency.iter().flat_map(Frequency::modules));
    // One image serves all orders of a test.
    let modules = [
        "simidle",
        "simfreq",
        "cpufreq_powersave",
        "cpufreq_userspace",
    ];
    Order {
        machine: Machine {
            cpus,
            ..Machine::default()
        },
        payload: Payload {
            modules: modules.map(String::from).into(),
            ..Payload::default()
        },
        job: Job {
            seed: 5,
            setup,
            workload: Workload {
                name: "w".into(),
                kind,
            },
            idle,
            frequency,
            instruments: vec!["cpu-residency".into()],
            offset_ns_max: 5_000_000,
            timeout_ms: 20_000,
            ..Job::default()
        },
        ..Order::default()
    }
}

fn outcome(exact: &Exact, order: &Order) -> RunOutcome {
    exact.prepare(std::slice::from_ref(order)).unwrap();
    exact.run(order, 0).unwrap().outcome
}

fn records(exact: &Exact, order: &Order) -> Vec<AgentMessage> {
    match outcome(exact, order) {
        RunOutcome::Completed(records) => records,
        RunOutcome::Failed {
            failure, console, ..
        } => panic!("{failure}\n{console}"),
    }
}

/// Metrics by name; fails if one is missing or doubtful.
fn metrics(exact: &Exact, order: &Order) -> BTreeMap<String, f64> {
    metrics_of(records(exact, order))
}

fn metrics_of(records: Vec<AgentMessage>) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for record in records {
        match record {
            AgentMessage::Metric { metric, value, .. } => {
                found.insert(metric, value);
            }
            AgentMessage::Doubt { .. } | AgentMessage::Unavailable { .. } => panic!("{record:?}"),
            _ => {}
        }
    }
    found
}

#[test]
fn a_cpu_that_sleeps_long_is_in_the_deep_state_and_one_that_does_not_is_not() {
    let Some(exact) = crate::support::exact("debian:6.12", 4) else {
        return;
    };
    let of = |period_ns, run_ns| {
        let kind = periodic(2, period_ns, run_ns);
        let found = metrics(
            &exact,
            &order(2, kind, Some(idle(IdleGovernor::Menu)), None),
        );
        let elapsed = found["state_time:cpu1.deep"] + found["state_time:cpu1.light"];
        let elapsed = elapsed / (1.0 - found["cpu1_non_idle_share"] / 100.0);
        let share = |name: &str| found[name] / elapsed;
        let shares = [
            share("state_time:cpu1.deep"),
            share("state_time:cpu1.light"),
        ];
        (shares, found)
    };
    // Asleep for 8 of each 10 ms, and 10 ms before the first and after the last period.
    let ([deep, light], found) = of(10_000_000, 2_000_000);
    let asleep = deep + light;
    assert!((0.78..0.86).contains(&asleep), "{asleep}");
    // The governor predicts, and may at first take 8 ms for a short time.
    let wrong = found["state_below:light"];
    assert!(wrong <= 1.0, "{found:?}");
    assert!(light < 0.02 + wrong * 8.0 / 300.0, "{light}");
    assert!(found["state_usage:cpu1.deep"] >= 30.0, "{found:?}");
    let busy = found["cpu1_non_idle_share"];
    assert!((17.0..22.0).contains(&busy), "{busy}");
    // Asleep for 60 of each 100 us.
    let ([deep, light], _) = of(100_000, 40_000);
    assert!(deep < 0.1, "{deep}");
    assert!(light > 0.3, "{light}");
}

#[test]
fn a_machine_at_rest_sleeps_at_once_and_leaving_takes_the_exit_latency() {
    let Some(exact) = crate::support::exact("debian:6.12", 4) else {
        return;
    };
    let of = |exit_ns: u64| {
        let mut idle = idle(IdleGovernor::Menu);
        idle.states[0].exit_ns = 0;
        idle.states[1].exit_ns = exit_ns;
        let found = records(
            &exact,
            &order(2, periodic(2, 50_000_000, 1000), Some(idle), None),
        );
        let late = found.iter().find_map(|record| match record {
            AgentMessage::Histogram {
                metric, buckets, ..
            } if metric == "loop_wakeup_latency" => Some(buckets[buckets.len() / 2].0),
            _ => None,
        });
        let share = found.iter().find_map(|record| match record {
            AgentMessage::Metric { metric, value, .. } if metric == "package_idle_share" => {
                Some(*value)
            }
            _ => None,
        });
        (late.unwrap(), share.unwrap())
    };
    let (early, at_rest) = of(0);
    assert!(at_rest > 98.0, "{at_rest}");
    let (late, _) = of(1_500_000);
    let more = late.saturating_sub(early);
    assert!((1_490_000..1_520_000).contains(&more), "{early} {late}");
}

#[test]
fn energy_is_what_times_and_powers_come_to() {
    let Some(exact) = crate::support::exact("debian:6.12", 4) else {
        return;
    };
    let kind = periodic(2, 10_000_000, 2_000_000);
    let states = idle(IdleGovernor::Menu);
    let found = metrics(&exact, &order(2, kind.clone(), Some(states), None));
    let asleep = |cpu: &str| {
        found[&format!("state_time:{cpu}.light")] + found[&format!("state_time:{cpu}.deep")]
    };
    let elapsed = found["modelled_energy"] / found["modelled_power"] * 1e9;
    let busy = 2.0 * elapsed - asleep("cpu0") - asleep("cpu1");
    let shared = found["package_deepest_share"] / 100.0;
    // In nW·s, plus 98 uJ for each exit from the deep state.
    let by_hand = busy * 0.2
        + found["state_time:light"] * 0.05
        + found["state_time:deep"] * 0.001
        + elapsed * (shared * 0.003 + (1.0 - shared) * 0.03);
    let transitions = found["modelled_energy"] - by_hand * 1e-6;
    let left = transitions / 0.098;
    let counted = found["state_usage:deep"];
    assert!((left - counted).abs() <= 4.0, "{left} {counted}");
    // If all states draw the same power, the governor makes no difference.
    for governor in [IdleGovernor::Menu, IdleGovernor::Ladder] {
        let mut flat = idle(governor);
        for state in &mut flat.states {
            (state.power_uw, state.transition_nj) = (200_000, 0);
        }
        flat.package_idle_uw = flat.package_uw;
        let found = metrics(&exact, &order(2, kind.clone(), Some(flat), None));
        let power = found["modelled_power"];
        assert!((power - 430.0).abs() < 1e-6, "{governor:?}: {power}");
    }
}

#[test]
fn governors_are_in_effect_and_differ() {
    let Some(exact) = crate::support::exact("debian:6.12", 4) else {
        return;
    };
    let usage = [IdleGovernor::Menu, IdleGovernor::Ladder].map(|governor| {
        let order = order(
            2,
            periodic(2, 3_000_000, 1_000_000),
            Some(idle(governor)),
            None,
        );
        let records = records(&exact, &order);
        let is_governor = |part: &&assize_job::RunIdentityPart| {
            part.kind == IdentityKind::Setting && part.name == IDLE_GOVERNOR
        };
        let expected = exact.expected(&order).unwrap();
        let expected = expected.iter().find(is_governor).unwrap();
        let parts = records.iter().find_map(|record| match record {
            AgentMessage::Identity { parts } => Some(parts),
            _ => None,
        });
        assert_eq!(parts.unwrap().iter().find(is_governor), Some(expected));
        assert_eq!(expected.value.as_deref(), Some(governor.word()));
        metrics_of(records)["state_usage:deep"]
    });
    assert!(usage[0] != usage[1], "{usage:?}");
}

#[test]
fn a_governor_that_is_not_to_be_had_is_refused_before_a_run() {
    let Some(exact) = crate::support::exact("debian:6.12", 4) else {
        return;
    };
    for (governor, why) in [
        (
            IdleGovernor::Teo,
            "use one that it has (menu, ladder, haltpoll)",
        ),
        (IdleGovernor::Haltpoll, "only guests of KVM"),
    ] {
        let order = order(2, periodic(2, 10_000_000, 1000), Some(idle(governor)), None);
        let prepared = exact.prepare(std::slice::from_ref(&order));
        let said = prepared.unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
    // The kernel's configuration has haltpoll, but the kernel offers it under KVM only.
    let haltpoll = Some(idle(IdleGovernor::Haltpoll));
    let order_of_it = order(2, periodic(2, 10_000_000, 1000), haltpoll, None);
    let done = exact.run(&order_of_it, 0).unwrap();
    let RunOutcome::Failed { failure, .. } = done.outcome else {
        panic!("haltpoll is there");
    };
    let said = failure.to_string();
    assert!(said.contains("this kernel has ladder, menu, not"), "{said}");
    // The module refuses states that contradict each other.
    let mut wrong = idle(IdleGovernor::Menu);
    wrong.states[1].residency_ns = 1;
    let order = order(2, periodic(2, 10_000_000, 1000), Some(wrong), None);
    let RunOutcome::Failed {
        failure, console, ..
    } = outcome(&exact, &order)
    else {
        panic!("it is loaded");
    };
    let said = format!("{failure}\n{console}");
    assert!(said.contains("simidle"), "{said}");
}

#[test]
fn frequencies_are_those_that_the_governor_chooses() {
    let Some(exact) = crate::support::exact("debian:6.12", 4) else {
        return;
    };
    let hog = WorkloadKind::Hogs(Hogs {
        threads: 1,
        duration_ns: 1_000_000_000,
        ..Hogs::default()
    });
    let of_kind = |kind: &WorkloadKind, governor| {
        let idle = Some(idle(IdleGovernor::Menu));
        let frequency = Some(frequency(governor));
        metrics(&exact, &order(2, kind.clone(), idle, frequency))
    };
    let of = |governor| of_kind(&hog, governor);
    for (governor, mhz) in [
        (FrequencyGovernor::Performance, 2000.0),
        (FrequencyGovernor::Powersave, 500.0),
        (FrequencyGovernor::Userspace, 1000.0),
    ] {
        let found = of(governor);
        assert_eq!(found["mean_frequency"], mhz, "{governor:?}");
        assert_eq!(found["frequency_changes"], 0.0, "{governor:?}");
    }
    let found = of(FrequencyGovernor::Schedutil);
    let busy = found["frequency_time:2000MHz"];
    // A CPU is busy all the time, and at full speed after some ten milliseconds.
    assert!(busy > 900_000_000.0, "{found:?}");
    assert!(found["mean_frequency"] > 1900.0, "{found:?}");
    let light = periodic(2, 10_000_000, 1_000_000);
    let little = of_kind(&light, FrequencyGovernor::Schedutil);
    assert!(little["mean_frequency"] < 1000.0, "{little:?}");
    // The clock is unaffected: the run takes the declared time.
    let elapsed = found["modelled_energy"] / found["modelled_power"];
    assert!((0.99..1.05).contains(&elapsed), "{elapsed}");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let Some(exact) = crate::support::exact("debian:6.12", 4) else {
        return;
    };
    for cpus in [1, 2, 4] {
        let order = order(
            cpus,
            periodic(cpus, 3_000_000, 1_000_000),
            Some(idle(IdleGovernor::Menu)),
            Some(frequency(FrequencyGovernor::Schedutil)),
        );
        let twice = [0, 1].map(|_| serde_json::to_vec(&records(&exact, &order)).unwrap());
        assert!(twice[0] == twice[1], "{cpus} CPUs");
    }
}
