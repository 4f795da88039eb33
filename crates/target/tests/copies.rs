//! Memory routines of known length, called by the kernel on the exact machine.

use std::collections::BTreeMap;

use crate::support::records;
use assize_job::{
    Action, AgentMessage, CpuMode, Job, Machine, MemoryRoutine, Order, Payload, Routine, Workload,
    WorkloadKind,
};

/// Instructions in an iteration of `unrolled-64`: eight loads and eight stores of 8 bytes,
/// an addition and a jump.
const TURN: u64 = 8 + 8 + 2;
/// Bytes copied by one iteration.
const TURN_BYTES: u64 = 64;
/// Largest error of the counter's measured rate, in instructions.
const RATE: f64 = 0.1;

/// An order that calls a routine; in the kernel the routine leaves out `leave_out` bytes.
fn order(routine: Routine, mode: CpuMode, size: u64, leave_out: u32) -> Order {
    let module = Action::Module {
        module: MemoryRoutine::MODULE.into(),
        parameters: BTreeMap::from([("leave_out".into(), leave_out.to_string())]),
    };
    Order {
        machine: Machine {
            kernel: "debian:6.12".into(),
            ..Machine::default()
        },
        payload: Payload {
            modules: vec![MemoryRoutine::MODULE.into()],
            ..Payload::default()
        },
        job: Job {
            seed: 1,
            setup: vec![module],
            workload: Workload {
                name: "w".into(),
                kind: WorkloadKind::MemoryRoutine(MemoryRoutine {
                    routine,
                    mode,
                    size,
                    // A fixed number of calls, so that the overhead is the same.
                    calls: Some(16),
                    batches: 9,
                    ..MemoryRoutine::default()
                }),
            },
            timeout_ms: 20_000,
            ..Job::default()
        },
        ..Order::default()
    }
}

fn metric(records: &[AgentMessage], name: &str) -> f64 {
    let value = records.iter().find_map(|record| match record {
        AgentMessage::Metric { metric, value, .. } if metric == name => Some(*value),
        _ => None,
    });
    value.unwrap()
}

#[test]
fn a_routine_takes_its_instructions_in_the_kernel_and_a_broken_one_is_found() {
    let Some(exact) = crate::support::exact("debian:6.12", 1) else {
        return;
    };
    let (short, long) = (1024, 4096);
    let turns = (long - short) / TURN_BYTES;
    for mode in [CpuMode::Kernel, CpuMode::User] {
        let [less, more] = [short, long].map(|size| {
            let found = records(&exact, &order(Routine::Unrolled64, mode, size, 0));
            assert_eq!(metric(&found, "results_wrong"), 0.0, "{mode:?} {size}");
            metric(&found, "call_time")
        });
        let instructions = (turns * TURN) as f64;
        assert!(
            ((more - less) - instructions).abs() < RATE,
            "{mode:?}: {less} {more} {instructions}"
        );
    }
    // The kernel's own routine gives correct results, even where there is no memory, and the same
    // ones in each execution.
    let whole = order(Routine::CopyFromUser, CpuMode::Kernel, short, 0);
    let first = records(&exact, &whole);
    assert_eq!(metric(&first, "results_wrong"), 0.0);
    assert!(records(&exact, &whole) == first);
    // With a byte left out it gives wrong results, both in the measured location and in those tried
    // before, except where there is no byte to copy.
    let broken = order(Routine::CopyFromUser, CpuMode::Kernel, short, 1);
    let wrong = metric(&records(&exact, &broken), "results_wrong");
    assert!((60.0..=65.0).contains(&wrong), "{wrong}");
}
