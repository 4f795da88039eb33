//! Runs every workload with the agent as an ordinary process.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use assize_job::{
    Action, AgentMessage, CyclictestWorkload, Hackbench, Hogs, Job, Loop, Mark, Periodic, PingPong,
    Policy, RunStage, Scheduling, WakeupMechanism, Workload, WorkloadKind,
};

/// The agent's answer to this text, whose stream must be whole.
fn answer(text: &str) -> Vec<AgentMessage> {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_assize-agent"))
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    agent
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = agent.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let mut records: Vec<AgentMessage> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    only_what_is_listed(text, &records);
    let before = records.len() as u64 - 1;
    assert_eq!(records.pop(), Some(AgentMessage::End { records: before }));
    assert!(
        matches!(&records[0], AgentMessage::Hello { schema, resumed_ns: None, .. }
        if schema == assize_job::AGENT_SCHEMA)
    );
    assert!(matches!(&records[1], AgentMessage::Environment { facts }
        if facts.contains_key("kernel") && facts.contains_key("cpu_model")));
    records.split_off(2)
}

/// Checks that every metric is listed, with its unit, for this workload or a requested
/// instrument.
fn only_what_is_listed(job: &str, records: &[AgentMessage]) {
    // A job that cannot be read has no metrics.
    let job: Job = serde_json::from_str(job).unwrap_or_default();
    let names = assize_job::measured(&[&job.workload], &job.instruments);
    let is_listed = |metric: &str| names.iter().any(|name| name.matches(metric));
    for record in records {
        match record {
            AgentMessage::Metric { metric, .. } => assert!(is_listed(metric), "{metric}"),
            AgentMessage::Histogram { metric, unit, .. }
            | AgentMessage::Samples { metric, unit, .. } => {
                for mark in Mark::ALL {
                    let name = mark.metric_name(metric, unit);
                    assert!(is_listed(&name), "{name}");
                }
            }
            AgentMessage::Events { event, .. } => assert!(assize_job::is_event(event), "{event}"),
            _ => {}
        }
    }
}

/// The records of a job after hello and environment.
fn run(job: &Job) -> Vec<AgentMessage> {
    answer(&serde_json::to_string(job).unwrap())
}

/// The records of a job that must not fail.
fn completed(job: &Job) -> Vec<AgentMessage> {
    let records = run(job);
    let failed = records
        .iter()
        .find(|record| matches!(record, AgentMessage::Failed { .. }));
    assert_eq!(failed, None, "{records:?}");
    records
}

/// Stage, step and reason of the only failure.
fn failure(job: &Job) -> (RunStage, String, String) {
    let records = run(job);
    let mut failures = records.iter().filter_map(|record| match record {
        AgentMessage::Failed { stage, what, why } => Some((*stage, what.clone(), why.clone())),
        _ => None,
    });
    let first = failures
        .next()
        .unwrap_or_else(|| panic!("did not fail: {records:?}"));
    assert_eq!(failures.next(), None);
    first
}

fn workload(kind: WorkloadKind) -> Workload {
    Workload {
        name: "w".into(),
        kind,
    }
}

fn job(kind: WorkloadKind) -> Job {
    Job {
        seed: 7,
        workload: workload(kind),
        offset_ns_max: 100_000,
        timeout_ms: 60_000,
        ..Job::default()
    }
}

fn shell(script: &str) -> assize_job::CommandWorkload {
    assize_job::CommandWorkload {
        argv: ["sh", "-c", script].map(str::to_string).to_vec(),
        statuses: vec![0],
        ..assize_job::CommandWorkload::default()
    }
}

fn script(text: &str) -> Job {
    job(WorkloadKind::Command(shell(text)))
}

fn metrics(records: &[AgentMessage]) -> BTreeMap<String, (f64, String)> {
    let metric = |record: &AgentMessage| match record {
        AgentMessage::Metric {
            metric,
            value,
            unit,
        } => Some((metric.clone(), (*value, unit.clone()))),
        _ => None,
    };
    records.iter().filter_map(metric).collect()
}

fn raw(records: &[AgentMessage], wanted: &str) -> Option<String> {
    records.iter().find_map(|record| match record {
        AgentMessage::Raw { name, text } if name == wanted => Some(text.clone()),
        _ => None,
    })
}

/// Number of values in a histogram.
fn count(records: &[AgentMessage], wanted: &str) -> Option<u64> {
    records.iter().find_map(|record| match record {
        AgentMessage::Histogram {
            metric,
            buckets,
            exact: true,
            unit,
        } if metric == wanted && unit == "ns" => {
            assert!(buckets.is_sorted());
            Some(buckets.iter().map(|(_, count)| count).sum())
        }
        _ => None,
    })
}

/// The codes of the doubts, except that mappings were not noted, which depends on how busy
/// this host is.
fn doubts(records: &[AgentMessage]) -> Vec<String> {
    let doubt = |record: &AgentMessage| match record {
        AgentMessage::Doubt { code, .. } if code == "identity-incomplete" => None,
        AgentMessage::Doubt { code, .. } => Some(code.clone()),
        _ => None,
    };
    records.iter().filter_map(doubt).collect()
}

#[test]
fn a_command_gives_elapsed_metrics_and_what_it_printed() {
    let mut command = shell("echo rate: 2.5 /s; echo $A $ASSIZE_SEED $0 >&2");
    command.argv.push("{seed}".into());
    command.environment.push(("A".into(), "b".into()));
    command.metrics.push("rate".into());
    let records = completed(&job(WorkloadKind::Command(command)));
    let metrics = metrics(&records);
    assert_eq!(metrics["rate"], (2.5, "/s".into()));
    assert!(metrics["elapsed"].0 > 0.0);
    assert_eq!(metrics["elapsed"].1, "ns");
    assert_eq!(raw(&records, "w.stdout").as_deref(), Some("rate: 2.5 /s\n"));
    assert_eq!(raw(&records, "w.stderr").as_deref(), Some("b 7 7\n"));
}

#[test]
fn a_metric_that_was_not_printed_is_a_failure() {
    let mut command = shell("echo rat: 1");
    command.metrics.push("rate".into());
    let (stage, what, why) = failure(&job(WorkloadKind::Command(command)));
    assert_eq!(
        (stage, what.as_str()),
        (RunStage::Workload, "w: metric rate")
    );
    assert!(why.contains("`rate: VALUE UNIT`"), "{why}");
}

#[test]
fn output_that_is_no_text_or_too_long_is_kept_in_part() {
    let records = completed(&script(
        "printf '\\377'; head -c 2000000 /dev/zero | tr '\\0' x >&2",
    ));
    assert_eq!(raw(&records, "w.stdout").as_deref(), Some("\u{fffd}"));
    assert_eq!(raw(&records, "w.stderr").unwrap().len(), 1 << 20);
    assert_eq!(doubts(&records), ["output-cut"]);
}

#[test]
fn failures_say_why() {
    for (text, expected) in [
        ("echo a >&2; echo b >&2; exit 3", "exit status 3: a; b"),
        ("exit 1", "exit status 1; it printed nothing"),
        ("kill -TERM $$", "killed by SIGTERM; it printed nothing"),
    ] {
        let (stage, what, why) = failure(&script(text));
        assert_eq!((stage, what.as_str()), (RunStage::Workload, "w"));
        assert_eq!(why, expected);
    }
    let missing = assize_job::CommandWorkload {
        argv: vec!["no-such-program".into()],
        ..assize_job::CommandWorkload::default()
    };
    let (_, _, why) = failure(&job(WorkloadKind::Command(missing)));
    assert!(
        why.starts_with("no-such-program: no such program in "),
        "{why}"
    );
    assert!(why.contains("not in the payload"), "{why}");
}

#[test]
fn a_core_that_was_dumped_is_part_of_why() {
    let here = tempfile::tempdir().unwrap();
    let dies = |limit: &str| {
        let text = format!("cd {}; {limit}; kill -SEGV $$", here.path().display());
        failure(&script(&text)).2
    };
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    // A program that core dumps are piped to gets them even with a limit of 0.
    if !pattern.starts_with('|') {
        assert_eq!(dies("ulimit -c 0"), "killed by SIGSEGV; it printed nothing");
    }
    let why = dies("ulimit -c unlimited");
    if why.contains("unlimited") || std::fs::read_dir(here.path()).unwrap().next().is_none() {
        eprintln!("skipped: no core is written here: core_pattern {pattern}: {why}");
    } else {
        assert_eq!(why, "killed by SIGSEGV, core dumped; it printed nothing");
    }
}

#[test]
fn a_command_gives_its_cpu_time_and_that_of_what_it_started() {
    let cpu = |text: &str| {
        let metrics = metrics(&completed(&script(text)));
        let time = |name: &str| metrics[&format!("command_{name}_time")].clone();
        let [all, user, system] = [time("cpu"), time("user"), time("system")];
        assert_eq!(all.1, "ns");
        assert!((all.0 - user.0 - system.0).abs() < 1.0, "{metrics:?}");
        all.0
    };
    let count = "i=0; while [ $i -lt N ]; do i=$((i+1)); done";
    let short = cpu(&count.replace('N', "100000"));
    let long = cpu(&count.replace('N', "300000"));
    let child = cpu(&format!("sh -c '{}'; true", count.replace('N', "300000")));
    // Three times the work, the work of a child, and none: so far apart that a busy host
    // cannot make them equal.
    assert!(long > 1.5 * short, "{long} {short}");
    assert!(child > 0.5 * long, "{child} {long}");
    let waiting = cpu("sleep 0.3");
    assert!(waiting < 0.5 * short, "{waiting} {short}");
}

#[test]
fn the_peak_memory_of_a_command_is_that_of_its_largest_process() {
    let kib = |text: &str| {
        let metrics = metrics(&completed(&script(text)));
        let (kib, unit) = metrics["command_peak_memory"].clone();
        assert_eq!(unit, "KiB");
        kib
    };
    // dd fills one block before it writes it.
    let fill = "dd if=/dev/zero of=/dev/null bs=30M count=1 status=none";
    let (small, large) = (kib("true"), kib(fill));
    assert!(small < 20_000.0, "{small}");
    assert!((29_000.0..40_000.0).contains(&large), "{large}");
    // Of two processes the largest counts, not their sum.
    let twice = kib(&format!("{fill}; {fill}"));
    assert!((twice - large).abs() < 2000.0, "{twice} {large}");
}

#[test]
fn of_a_tail_the_end_is_kept_whether_the_run_fails_or_not() {
    for end in ["", "; exit 3"] {
        let mut command = shell(&format!("head -c 5000 /dev/zero{end}"));
        command.output = assize_job::KeptOutput::Tail;
        let records = run(&job(WorkloadKind::Command(command)));
        let kept = raw(&records, "w.stdout").unwrap();
        assert!(kept.starts_with("[5000 bytes, BLAKE3 "), "{kept}");
        assert_eq!(kept.split_once('\n').unwrap().1.len(), 4096);
        assert!(doubts(&records).is_empty());
    }
}

#[test]
fn a_status_that_is_expected_is_no_failure() {
    let mut command = shell("exit 3");
    command.statuses = vec![3];
    completed(&job(WorkloadKind::Command(command)));
}

#[test]
fn a_workload_that_takes_too_long_is_killed_with_what_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let pid = directory.path().join("pid");
    let mut job = script(&format!("sleep 1000 & echo $! > {}; wait", pid.display()));
    job.timeout_ms = 500;
    let (_, _, why) = failure(&job);
    assert_eq!(why, "not done after 500 ms; it was killed");
    let pid = std::fs::read_to_string(pid).unwrap();
    let path = format!("/proc/{}/stat", pid.trim());
    // A busy kernel takes a while to end a killed process.
    loop {
        match std::fs::read_to_string(&path) {
            Ok(state) if !state.contains(") Z ") => std::thread::sleep(Duration::from_millis(10)),
            _ => break,
        }
    }
}

#[test]
fn a_signal_ends_the_run_but_not_its_teardown() {
    let directory = tempfile::tempdir().unwrap();
    let (begun, undone) = (
        directory.path().join("begun"),
        directory.path().join("undone"),
    );
    let mut job = script(&format!("touch {}; sleep 1000", begun.display()));
    job.teardown = vec![Action::Command {
        argv: ["touch".into(), undone.to_string_lossy().into_owned()].to_vec(),
    }];
    let mut agent = Command::new(env!("CARGO_BIN_EXE_assize-agent"))
        .arg("run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = serde_json::to_string(&job).unwrap();
    agent
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    while !begun.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let killed = Command::new("kill")
        .arg(agent.id().to_string())
        .status()
        .unwrap();
    assert!(killed.success());
    let output = agent.wait_with_output().unwrap();
    assert!(output.status.success());
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("interrupted by a signal"), "{stdout}");
    assert!(
        stdout
            .lines()
            .last()
            .unwrap()
            .starts_with("{\"record\":\"end\"")
    );
    assert!(undone.exists());
}

#[test]
fn actions_surround_the_run_and_teardown_follows_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let mut job = script(&format!("cat {0} > {1}; exit 1", path("a"), path("b")));
    job.setup = vec![Action::Write {
        path: path("a"),
        value: "x".into(),
    }];
    job.teardown = vec![
        Action::Command {
            argv: vec!["false".into()],
        },
        Action::Command {
            argv: ["touch".into(), path("c")].to_vec(),
        },
    ];
    let records = run(&job);
    let stages: Vec<RunStage> = records
        .iter()
        .filter_map(|record| match record {
            AgentMessage::Failed { stage, .. } => Some(*stage),
            _ => None,
        })
        .collect();
    assert_eq!(stages, [RunStage::Workload, RunStage::Teardown]);
    assert_eq!(std::fs::read_to_string(path("b")).unwrap(), "x");
    assert!(std::fs::exists(path("c")).unwrap());
}

#[test]
fn nothing_runs_after_a_set_up_that_failed() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("mark");
    let mut job = script(&format!("touch {}", mark.display()));
    job.setup = vec![Action::Sysctl {
        name: "kernel.no_such_sysctl".into(),
        value: "1".into(),
    }];
    let (stage, what, why) = failure(&job);
    assert_eq!(
        (stage, what.as_str()),
        (RunStage::Setup, "sysctl kernel.no_such_sysctl")
    );
    assert!(
        why.starts_with("/proc/sys/kernel/no_such_sysctl: "),
        "{why}"
    );
    assert!(!mark.exists());
}

#[test]
fn a_job_that_cannot_be_read_is_answered() {
    for text in ["", "{", "{\"schema\":\"assize.job/1\"}"] {
        let records = answer(text);
        assert!(
            matches!(
                &records[..],
                [AgentMessage::Failed {
                    stage: RunStage::Start,
                    ..
                }]
            ),
            "{records:?}"
        );
    }
    let other = Job {
        schema: "assize.job/999".into(),
        ..Job::default()
    };
    let (_, _, why) = failure(&other);
    assert!(
        why.contains("assize.job/999") && why.contains("assize.job/1;"),
        "{why}"
    );
}

#[test]
fn hogs_are_busy_for_as_long_as_they_are_asked_to_be() {
    let hogs = Hogs {
        per_cpu: false,
        threads: 2,
        duration_ns: 20_000_000,
        scheduling: Scheduling {
            policy: Policy::Batch,
            nice: 5,
            cpus: vec![0],
            ..Scheduling::default()
        },
    };
    let metrics = metrics(&completed(&job(WorkloadKind::Hogs(hogs))));
    assert!(metrics["turns"].0 > 0.0);
    assert!(metrics["cpu_time"].0 > 0.0);
}

#[test]
fn scheduling_that_is_not_to_be_had_is_a_failure() {
    let mut command = shell("true");
    command.scheduling.cpus = vec![1000];
    let (_, _, why) = failure(&job(WorkloadKind::Command(command)));
    assert!(why.starts_with("scheduling: cpus [1000]: "), "{why}");
}

#[test]
fn ping_pong_measures_every_round_trip() {
    for via in [WakeupMechanism::Pipe, WakeupMechanism::Futex] {
        let ping_pong = PingPong {
            loops: 50,
            via,
            ..PingPong::default()
        };
        let mut job = job(WorkloadKind::PingPong(ping_pong));
        job.samples = true;
        let records = completed(&job);
        assert_eq!(count(&records, "round_trip"), Some(50));
        let samples = records.iter().find_map(|record| match record {
            AgentMessage::Samples { t_ns, values, .. } => Some((t_ns.len(), values.len())),
            _ => None,
        });
        assert_eq!(samples, Some((50, 50)));
    }
}

#[test]
fn periodic_measures_every_period_it_meets() {
    let one = |name: &str, threads, period_ns, run_ns| Loop {
        name: name.into(),
        threads,
        period_ns,
        run_ns,
        ..Loop::default()
    };
    let records = completed(&job(WorkloadKind::Periodic(Periodic {
        duration_ns: 50_000_000,
        loops: vec![
            one("a", 2, 10_000_000, 100_000),
            one("b", 1, 5_000_000, 12_000_000),
        ],
        ..Periodic::default()
    })));
    let metrics = metrics(&records);
    let met = count(&records, "a_wakeup_latency").unwrap();
    assert_eq!(count(&records, "a_response"), Some(met));
    assert!((2..=10).contains(&met), "{met}");
    // Its work takes more than two periods.
    assert!(metrics["b_overruns"].0 >= 2.0, "{metrics:?}");
}

#[test]
fn rt_app_leaves_its_logs() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("one.json");
    let text = r#"{"tasks": {"thread0": {"loop": 3, "run": 1000, "sleep": 1000}},
        "global": {"duration": 1, "calibration": 100, "default_policy": "SCHED_OTHER",
        "log_basename": "log"}}"#;
    std::fs::write(&file, text).unwrap();
    let records = completed(&job(WorkloadKind::Periodic(Periodic {
        rt_app: Some(file.to_string_lossy().into_owned()),
        ..Periodic::default()
    })));
    let logs = records.iter().filter(|record| {
        matches!(record, AgentMessage::Raw { name, text } if name.ends_with(".log") && !text.is_empty())
    });
    assert!(logs.count() >= 1, "{records:?}");
}

#[test]
fn rt_app_that_calibrates_itself_on_several_cpus_is_doubted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("one.json");
    let text = r#"{"tasks": {"thread0": {"loop": 1, "run": 1000}},
        "global": {"duration": 1, "calibration": "CPU0"}}"#;
    std::fs::write(&file, text).unwrap();
    let doubted = |calibration_ns| {
        let records = completed(&job(WorkloadKind::Periodic(Periodic {
            rt_app: Some(file.to_string_lossy().into_owned()),
            calibration_ns,
            ..Periodic::default()
        })));
        // How much rt-app prints depends on how fast it runs.
        let codes = doubts(&records);
        codes.iter().any(|code| code == "rt-app-uncalibrated")
    };
    assert!(!doubted(Some(100)));
    let several = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
    assert_eq!(doubted(None), several);
}

#[test]
fn cyclictest_gives_every_latency() {
    let cyclictest = CyclictestWorkload {
        threads: 2,
        loops: 20,
        ..CyclictestWorkload::default()
    };
    let records = completed(&job(WorkloadKind::Cyclictest(cyclictest)));
    // On a busy host cyclictest may stop a thread before it has done all its wake-ups,
    // which a doubt reports.
    if doubts(&records).is_empty() {
        assert_eq!(count(&records, "latency"), Some(40));
        let metrics = metrics(&records);
        assert!(metrics["thread0_latency_max"].0 > 0.0);
        assert!(metrics["thread1_latency_max"].0 > 0.0);
    } else {
        assert!(doubts(&records).iter().all(|code| code == "values-lost"));
        assert!(count(&records, "latency").is_some_and(|count| (1..40).contains(&count)));
    }
    assert!(
        raw(&records, "cyclictest.json")
            .unwrap()
            .contains("\"cycles\": ")
    );
}

#[test]
fn hackbench_gives_its_time() {
    let hackbench = Hackbench {
        groups: 1,
        fds: 2,
        loops: 10,
        ..Hackbench::default()
    };
    for (threads, via) in [
        (false, WakeupMechanism::Pipe),
        (true, WakeupMechanism::Socket),
    ] {
        let metrics = metrics(&completed(&job(WorkloadKind::Hackbench(Hackbench {
            threads,
            via,
            ..hackbench.clone()
        }))));
        let (reported, elapsed) = (&metrics["reported_time"], &metrics["elapsed"]);
        assert_eq!((reported.1.as_str(), elapsed.1.as_str()), ("s", "ns"));
        // Its own figure is rounded to milliseconds.
        assert!(reported.0 * 1e9 < elapsed.0 + 5e5, "{metrics:?}");
    }
}

#[test]
fn every_kind_runs_in_the_background() {
    let mut job = script("sleep 0.05");
    job.background = [
        WorkloadKind::Command(shell("sleep 1000")),
        WorkloadKind::Cyclictest(CyclictestWorkload::default()),
        WorkloadKind::Hackbench(Hackbench::default()),
        WorkloadKind::Hogs(Hogs::default()),
        WorkloadKind::Periodic(Periodic {
            loops: vec![Loop::default()],
            ..Periodic::default()
        }),
        WorkloadKind::PingPong(PingPong::default()),
    ]
    .map(workload)
    .to_vec();
    let records = completed(&job);
    assert!(doubts(&records).is_empty(), "{records:?}");
}

#[test]
fn background_that_ends_or_fails_is_noticed() {
    let mut job = script("sleep 0.2");
    job.background = vec![workload(WorkloadKind::Command(shell("true")))];
    assert_eq!(doubts(&completed(&job)), ["background-ended"]);
    job.background = vec![workload(WorkloadKind::Command(shell("exit 4")))];
    assert_eq!(failure(&job).0, RunStage::Background);
    job.background = vec![workload(WorkloadKind::Command(
        assize_job::CommandWorkload::default(),
    ))];
    let (stage, _, why) = failure(&job);
    assert_eq!(
        (stage, why.as_str()),
        (RunStage::Background, "argv: no program is named")
    );
}

#[test]
fn instruments_that_are_not_there_are_named() {
    let mut job = script("true");
    job.instruments = vec!["no-such-instrument".into()];
    let records = completed(&job);
    assert!(records.iter().any(|record| matches!(record,
        AgentMessage::Unavailable { instrument, .. } if instrument == "no-such-instrument")));
}

#[test]
fn version_and_wrong_use() {
    let agent = |argument: &str| {
        Command::new(env!("CARGO_BIN_EXE_assize-agent"))
            .arg(argument)
            .output()
            .unwrap()
    };
    let version = agent("--version");
    let expected = format!("assize-agent {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8_lossy(&version.stdout), expected);
    assert_eq!(agent("--nonsense").status.code(), Some(2));
}
