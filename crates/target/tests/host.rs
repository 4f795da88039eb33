//! The target `host` with misbehaving agents and with the real one.

use std::time::Duration;

use crate::support::{HELLO, Scripts, WHOLE, command, raw};
use assize_job::{Action, AgentMessage, Job, Machine, Order, Payload};
use assize_target::{Host, RunFailure, RunOutcome, Target};

fn run(script: &str) -> RunOutcome {
    run_for(script, 0)
}

fn run_for(script: &str, timeout_ms: u64) -> RunOutcome {
    let scripts = Scripts::new();
    let host = Host::with_agent(scripts.agent(script)).with_grace(Duration::from_millis(200));
    let order = Order {
        job: Job {
            timeout_ms,
            ..Job::default()
        },
        ..Order::default()
    };
    let orders = std::slice::from_ref(&order);
    host.prepare(orders).unwrap();
    let done = host.run(&order, 0).unwrap();
    assert!(!done.cached);
    assert_eq!(done.machine["target"], "host");
    done.outcome
}

fn failed(outcome: RunOutcome) -> (RunFailure, usize, String) {
    match outcome {
        RunOutcome::Failed {
            failure,
            records,
            console,
        } => (failure, records.len(), console),
        RunOutcome::Completed(records) => panic!("completed: {records:?}"),
    }
}

#[test]
fn a_whole_answer_is_completed() {
    let outcome = run(&format!("cat > /dev/null; {WHOLE}"));
    let RunOutcome::Completed(records) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(records.len(), 3);
}

#[test]
fn the_agent_is_told_to_run_and_gets_the_job() {
    let script = format!(
        "{HELLO}; job=$(cat | sed 's/\"/./g')
         printf '{{\"record\":\"raw\",\"name\":\"%s\",\"text\":\"%s\"}}\\n' \"$*\" \"$job\"
         echo '{{\"record\":\"end\",\"records\":2}}'"
    );
    let RunOutcome::Completed(records) = run(&script) else {
        panic!("not completed");
    };
    let AgentMessage::Raw { name, text } = &records[1] else {
        panic!("{records:?}");
    };
    assert_eq!(name, "run");
    assert_eq!(
        *text,
        serde_json::to_string(&Job::default())
            .unwrap()
            .replace('"', ".")
    );
}

#[test]
fn a_crash_is_a_failed_run() {
    let (failure, records, console) = failed(run(&format!("{HELLO}; echo oh >&2; kill -SEGV $$")));
    let RunFailure::Ended { how } = failure else {
        panic!("{failure:?}");
    };
    assert!(
        how.contains("SIGSEGV") && how.contains("breaks off"),
        "{how}"
    );
    assert_eq!((records, console.as_str()), (1, "oh"));
}

#[test]
fn a_hang_is_a_failed_run_and_is_ended() {
    let (failure, records, _) = failed(run_for(&format!("{HELLO}; exec sleep 1000"), 100));
    assert_eq!((failure, records), (RunFailure::Timeout { after_s: 0 }, 1));
}

#[test]
fn garbage_and_silence_are_failed_runs() {
    for script in ["head -c 100000 /dev/urandom", "exit 0", "echo '{}'"] {
        let (failure, records, _) = failed(run(script));
        let RunFailure::Ended { how } = failure else {
            panic!("{failure:?}");
        };
        assert!(how.ends_with("the agent did not answer"), "{how}");
        assert_eq!(records, 0);
    }
}

#[test]
fn half_an_answer_is_a_failed_run() {
    let half = format!("({WHOLE}) | head -c -1");
    let (failure, ..) = failed(run(&half));
    assert!(matches!(failure, RunFailure::Ended { .. }), "{failure:?}");
}

#[test]
fn standard_error_is_no_kernel_console() {
    let (failure, ..) = failed(run("echo 'Kernel panic - not syncing' >&2"));
    assert!(matches!(failure, RunFailure::Ended { .. }), "{failure:?}");
}

#[test]
fn an_agent_that_cannot_be_started_is_an_error() {
    let host = Host::with_agent("/nowhere/agent".into());
    let error = host.run(&Order::default(), 0).unwrap_err();
    assert!(error.why.starts_with("/nowhere/agent: "), "{error}");
}

fn refused(order: Order) -> assize_target::Error {
    let host = Host::with_agent("/bin/true".into());
    host.prepare(&[order]).unwrap_err()
}

#[test]
fn another_machine_is_refused() {
    let error = refused(Order {
        machine: Machine {
            command_line: vec!["nosmt".into()],
            ..Machine::default()
        },
        ..Order::default()
    });
    assert!(error.wrong_use);
    assert_eq!(
        error.to_string(),
        "cannot run on host: this target cannot change the kernel's command line: \
         the experiment adds `nosmt`; use `--target exact`"
    );
}

#[test]
fn missing_programs_are_named() {
    let error = refused(Order {
        payload: Payload {
            programs: vec![
                "sh".into(),
                "assize-no-such-program".into(),
                "/bin/sh".into(),
            ],
            ..Payload::default()
        },
        ..Order::default()
    });
    assert_eq!(error.why, "not found in PATH: assize-no-such-program");
}

#[test]
fn files_must_lie_where_they_are_looked_for() {
    let scripts = Scripts::new();
    let here = scripts.path("here");
    let there = scripts.path("there");
    std::fs::write(&here, "one").unwrap();
    let order = Order {
        payload: Payload {
            files: vec![(here.clone(), there.to_str().unwrap().into())],
            ..Payload::default()
        },
        ..Order::default()
    };
    let host = Host::with_agent("/bin/true".into());
    let orders = std::slice::from_ref(&order);
    assert!(
        host.prepare(orders)
            .unwrap_err()
            .mend
            .unwrap()
            .contains("cp -rT")
    );
    std::fs::write(&there, "two").unwrap();
    assert!(
        host.prepare(orders)
            .unwrap_err()
            .why
            .contains("differs from")
    );
    std::fs::write(&there, "one").unwrap();
    host.prepare(orders).unwrap();
    // The existing file is left alone.
    assert_eq!(std::fs::read(&there).unwrap(), b"one");
}

#[test]
fn the_real_agent_completes_a_run() {
    let Some(agent) = crate::support::real_agent() else {
        return;
    };
    let host = Host::with_agent(agent);
    let order = Order {
        job: Job {
            workload: command(&["echo", "seed {seed}"]),
            seed: 7,
            instruments: vec!["proc-stat".into()],
            timeout_ms: 20_000,
            ..Job::default()
        },
        ..Order::default()
    };
    host.prepare(std::slice::from_ref(&order)).unwrap();
    let done = host.run(&order, 0).unwrap();
    let RunOutcome::Completed(records) = done.outcome else {
        panic!("{:?}", done.outcome);
    };
    assert!(
        raw(&records).any(|text| text.contains("seed 7")),
        "{records:?}"
    );
}

#[test]
fn the_real_agent_says_what_failed() {
    let Some(agent) = crate::support::real_agent() else {
        return;
    };
    let order = Order {
        job: Job {
            setup: vec![Action::Command {
                argv: vec!["false".into()],
            }],
            ..Job::default()
        },
        ..Order::default()
    };
    let (failure, ..) = failed(Host::with_agent(agent).run(&order, 0).unwrap().outcome);
    assert!(matches!(failure, RunFailure::Agent { .. }), "{failure:?}");
}
