//! The kernel's tracers as instruments on the exact machine find planted stalls, and
//! nothing else.

use std::collections::BTreeMap;

use crate::support::records;
use assize_job::gaps::{Cause, Gap, Seen};
use assize_job::{
    AgentMessage, Job, Machine, Order, Payload, StallKind, Stalls, TracerKind, TracerMode,
    TracerSettings,
};

/// The kernel that has these tracers.
const KERNEL: &str = "debian:6.12-rt";
const LENGTHS_NS: [u64; 5] = [2000, 5000, 10_000, 50_000, 200_000];
/// CPU 1 has no ticks and no other threads.
const ISOLATED: [&str; 3] = ["isolcpus=nohz,domain,1", "nohz_full=1", "rcu_nocbs=1"];
/// Largest difference between the trace clock and the time-stamp counter, in nanoseconds.
const CLOCKS_NS: u64 = 2000;

fn stalls(cpu: u32) -> Stalls {
    Stalls {
        kind: StallKind::Smi,
        lengths_ns: LENGTHS_NS.into(),
        period_ns: 3_000_000,
        jitter_ns: 2_500_000,
        cpu,
    }
}

fn settings(kind: TracerKind) -> TracerSettings {
    TracerSettings {
        cpus: vec![1],
        threshold_ns: 2000,
        window_ns: 50_000_000,
        width_ns: match kind {
            TracerKind::Hwlat => 40_000_000,
            _ => 50_000_000,
        },
        mode: TracerMode::PerCpu,
        ..TracerSettings::for_kind(kind)
    }
}

fn order(kind: TracerKind, settings: TracerSettings, stalls: Option<Stalls>) -> Order {
    Order {
        machine: Machine {
            kernel: KERNEL.into(),
            cpus: 2,
            command_line: ISOLATED.map(String::from).into(),
            ..Machine::default()
        },
        payload: Payload {
            modules: vec!["simstall".into()],
            programs: vec!["sleep".into()],
            ..Payload::default()
        },
        job: Job {
            seed: 6,
            setup: stalls.iter().map(Stalls::module).collect(),
            workload: crate::support::command(&["sleep", "0.6"]),
            stalls,
            instruments: vec!["planted-stalls".into(), kind.word().into()],
            tracer: Some(settings),
            timeout_ms: 20_000,
            ..Job::default()
        },
        ..Order::default()
    }
}

fn named<'r>(records: &'r [AgentMessage], wanted: &str) -> &'r str {
    let found = records.iter().find_map(|record| match record {
        AgentMessage::Raw { name, text } if name == wanted => Some(text.as_str()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no {wanted}: {records:?}"))
}

fn seen(records: &[AgentMessage], kind: TracerKind) -> Seen {
    Seen::parse(named(records, &format!("{}.txt", kind.word()))).unwrap()
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

/// Planted stalls on the tracer's time axis: start, in nanoseconds from the tracer's start, and
/// length.
fn planted(records: &[AgentMessage], seen: &Seen) -> Vec<(u64, u64)> {
    let (start, khz) = seen.tsc.unwrap();
    let text = named(records, "planted-stalls.txt").lines();
    let lines = text.filter(|line| !line.starts_with('#')).map(|line| {
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        ((numbers[3] - start) * 1_000_000 / khz, numbers[1])
    });
    lines.collect()
}

#[test]
fn hwlat_counts_each_planted_stall_of_a_window_and_tells_the_longest() {
    let kind = TracerKind::Hwlat;
    let Some(exact) = crate::support::exact(KERNEL, 2) else {
        return;
    };
    let order = |stalls| order(kind, settings(kind), stalls);
    let smis = records(&exact, &order(Some(stalls(1))));
    let seen = seen(&smis, kind);
    let planted = planted(&smis, &seen);
    assert!(seen.windows.len() >= 8, "{}", seen.text());
    let mut all = 0;
    for window in &seen.windows {
        let end = window.at_ns + window.length_ns;
        let of_it = |at: u64| window.at_ns <= at && at < end + CLOCKS_NS;
        let inside: Vec<u64> = planted
            .iter()
            .filter(|(at, _)| of_it(*at))
            .map(|(_, length)| *length)
            .collect();
        let found: Vec<&Gap> = seen.gaps.iter().filter(|gap| of_it(gap.at_ns)).collect();
        let count: u64 = found.iter().map(|gap| gap.count).sum();
        // One may cross the beginning or the end.
        assert!(
            count.abs_diff(inside.len() as u64) <= 1,
            "{inside:?} {found:?}"
        );
        let longest = found.iter().map(|gap| gap.length_ns).max().unwrap_or(0);
        let most = inside.iter().max().copied().unwrap_or(0);
        assert!(longest.abs_diff(most) <= 1000, "{longest} {most}");
        all += count;
    }
    let (count, exposure_ns) = counted(&smis, "hwlat");
    assert!(count == all && count >= 80, "{count} {all}");
    assert_eq!(exposure_ns, seen.windows.len() as u64 * 40_000_000);
    assert_eq!(counted(&smis, "hwlat_nmi").0, 0);
    // The same bytes again, and nothing if nothing is planted, or planted on the other CPU.
    assert!(records(&exact, &order(Some(stalls(1)))) == smis);
    for stalls in [None, Some(stalls(0))] {
        let quiet = records(&exact, &order(stalls));
        let (count, exposure_ns) = counted(&quiet, "hwlat");
        assert!(count == 0 && exposure_ns >= 8 * 40_000_000, "{exposure_ns}");
    }
}

#[test]
fn osnoise_finds_the_planted_stalls_and_takes_them_for_the_hardware() {
    let kind = TracerKind::Osnoise;
    let Some(exact) = crate::support::exact(KERNEL, 2) else {
        return;
    };
    let smis = records(&exact, &order(kind, settings(kind), Some(stalls(1))));
    let seen = seen(&smis, kind);
    let in_sight = |at: u64| {
        let mut windows = seen.windows.iter();
        windows.any(|one| one.at_ns <= at && at < one.at_ns + one.length_ns)
    };
    let planted = planted(&smis, &seen);
    let planted = planted.iter().filter(|(at, _)| in_sight(*at));
    let (mut all, mut found) = (0, 0);
    for (at, length) in planted {
        let of_it = |gap: &&Gap| {
            gap.at_ns <= at + CLOCKS_NS
                && at + length <= gap.at_ns + gap.length_ns + CLOCKS_NS
                && gap.cause == Cause::Unexplained
        };
        all += 1;
        found += u64::from(seen.gaps.iter().any(|gap| of_it(&gap)));
    }
    assert!(all >= 120 && found * 100 >= all * 95, "{found} of {all}");
    let (hardware, exposure_ns) = counted(&smis, "osnoise_hardware");
    assert!(hardware <= all, "{hardware} of {all}");
    assert!(exposure_ns >= 500_000_000, "{exposure_ns}");
    let quiet = records(&exact, &order(kind, settings(kind), None));
    assert_eq!(counted(&quiet, "osnoise_hardware").0, 0);
    assert_eq!(counted(&quiet, "osnoise_unclear").0, 0);
}

#[test]
fn timerlat_is_late_where_a_stall_is_and_nowhere_else() {
    let kind = TracerKind::Timerlat;
    let Some(exact) = crate::support::exact(KERNEL, 2) else {
        return;
    };
    let settings = TracerSettings {
        threshold_ns: 20_000,
        ..settings(kind)
    };
    let quiet = records(&exact, &order(kind, settings.clone(), None));
    assert_eq!(counted(&quiet, "timerlat_late").0, 0);
    let smis = records(&exact, &order(kind, settings, Some(stalls(1))));
    let seen = seen(&smis, kind);
    let planted = planted(&smis, &seen);
    assert!(!seen.gaps.is_empty(), "{}", seen.text());
    for late in &seen.gaps {
        let end = late.at_ns + late.length_ns;
        let mut of_it = planted
            .iter()
            .filter(|(at, length)| *at < end && late.at_ns < at + length);
        assert!(of_it.next().is_some(), "{late:?}");
    }
    let (late, exposure_ns) = counted(&smis, "timerlat_late");
    assert_eq!(late as usize, seen.gaps.len());
    assert!((550_000_000..700_000_000).contains(&exposure_ns));
    assert!(counted(&smis, "timerlat_late_irq").0 > 0);
}

#[test]
fn in_turn_each_cpu_has_its_share_of_the_windows_and_that_is_said() {
    let kind = TracerKind::Hwlat;
    let Some(exact) = crate::support::exact(KERNEL, 2) else {
        return;
    };
    let settings = TracerSettings {
        cpus: vec![0, 1],
        mode: TracerMode::RoundRobin,
        window_ns: 40_000_000,
        width_ns: 20_000_000,
        ..settings(kind)
    };
    let told = records(&exact, &order(kind, settings, None));
    let seen = seen(&told, kind);
    let mut windows: BTreeMap<u32, u64> = BTreeMap::new();
    for window in &seen.windows {
        *windows.entry(window.cpu).or_default() += 1;
    }
    let (one, other) = (windows[&0], windows[&1]);
    assert!(one.abs_diff(other) <= 1 && one >= 4, "{windows:?}");
    for cpu in &seen.cpus {
        assert_eq!(cpu.observed_ns, windows[&cpu.cpu] * 20_000_000);
    }
    let is_doubt = |record: &AgentMessage| matches!(record, AgentMessage::Doubt { code, .. } if code == "watched-in-turn");
    assert!(told.iter().any(is_doubt), "{told:?}");
}

#[test]
fn a_kernel_without_them_is_named_with_one_that_has_them() {
    let Some(exact) = crate::support::exact("debian:6.12", 2) else {
        return;
    };
    for kind in TracerKind::ALL {
        let mut order = order(kind, settings(kind), None);
        order.machine.kernel = "debian:6.12".into();
        let told = records(&exact, &order);
        let why = told.iter().find_map(|record| match record {
            AgentMessage::Unavailable {
                instrument, reason, ..
            } if instrument == kind.word() => Some(reason.as_str()),
            _ => None,
        });
        let why = why.unwrap_or_else(|| panic!("{told:?}"));
        assert!(why.contains("debian:6.12-rt"), "{why}");
    }
}
