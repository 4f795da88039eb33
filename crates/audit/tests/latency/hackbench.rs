//! hackbench and perf bench.

use assize_audit::grammar::hackbench::Hackbench;

use super::{blocks, doubts, runs, survives, survives_long_lines};

const PROCESSES: &str = include_str!("../hackbench/processes.txt");
const MESSAGING: &str = include_str!("../hackbench/messaging.txt");
const PIPE: &str = include_str!("../hackbench/pipe.txt");

#[test]
fn a_time_is_a_run() {
    let runs = runs(&Hackbench, PROCESSES);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].get("time"), "0.047 s");
    assert_eq!(runs[0].labels.workload, None);
    assert_eq!(blocks(&Hackbench, PROCESSES)[0].taken.len(), 3);
}

#[test]
fn the_same_again_is_a_repetition() {
    let runs = runs(&Hackbench, &PROCESSES.repeat(3));
    assert_eq!(runs.len(), 3);
    assert!(runs.iter().all(|run| run.labels.workload.is_none()));
}

#[test]
fn runs_that_differ_name_their_workload() {
    let text = format!("{PROCESSES}{}", PROCESSES.replace("2 groups", "4 groups"));
    let runs = runs(&Hackbench, &text);
    let names: Vec<_> = runs
        .iter()
        .map(|run| run.labels.workload.clone().unwrap())
        .collect();
    assert!(names[0].starts_with("hackbench, process mode with 2 groups"));
    assert!(names[0].ends_with("50 messages of 100 bytes"));
    assert!(names[1].contains("4 groups"));
}

#[test]
fn the_old_announcement_is_known() {
    let runs = runs(
        &Hackbench,
        "Running with 10*40 (== 400) tasks.\nTime: 3.25\n",
    );
    assert_eq!(runs[0].get("time"), "3.25 s");
}

#[test]
fn several_times_after_one_announcement_are_several_runs() {
    let text = format!("{PROCESSES}Time: 0.050\n\nTime: 0.051\n");
    assert_eq!(runs(&Hackbench, &text).len(), 3);
}

#[test]
fn bare_times_count_only_in_company() {
    assert!(blocks(&Hackbench, "Time: 12.345\ntext\nTime: 12.5\n").is_empty());
    assert_eq!(
        runs(&Hackbench, "Time: 12.345\nTime: 12.5\ntext\n").len(),
        2
    );
    assert!(blocks(&Hackbench, "Time: 12:30 today\nTime: 13:30 today\n").is_empty());
}

#[test]
fn an_announcement_without_time_is_truncated() {
    let text = PROCESSES.replace("Time", "Date");
    assert_eq!(doubts(&Hackbench, &text), ["truncated-block"]);
    let text = format!("{text}\n");
    assert_eq!(blocks(&Hackbench, &text)[0].taken.len(), 2);
    let broken = PROCESSES.lines().next().unwrap();
    assert_eq!(
        doubts(&Hackbench, &format!("{broken}\n{PROCESSES}")),
        ["truncated-block"]
    );
}

#[test]
fn bad_times_are_doubted() {
    for bad in ["nan", "inf", "1,2,3", "-0.047"] {
        let text = PROCESSES.replace("0.047", bad);
        assert_eq!(doubts(&Hackbench, &text), ["bad-number"], "{bad}");
        assert!(runs(&Hackbench, &text).is_empty());
        let text = PIPE.replace("47.022350", bad);
        assert_eq!(doubts(&Hackbench, &text), ["bad-number"], "{bad}");
        assert_eq!(runs(&Hackbench, &text)[0].get("ops/sec"), "21266 ops/sec");
    }
}

#[test]
fn a_benchmark_of_perf_names_its_workload() {
    let runs_read = runs(&Hackbench, PIPE);
    assert_eq!(runs_read.len(), 1);
    let run = &runs_read[0];
    assert_eq!(run.labels.workload.as_deref(), Some("sched/pipe"));
    assert_eq!(run.get("total time"), "0.94 s");
    assert_eq!(run.get("usecs/op"), "47.02235 usecs/op");
    assert_eq!(run.get("ops/sec"), "21266 ops/sec");
    let run = &runs(&Hackbench, MESSAGING)[0];
    assert_eq!(run.labels.workload.as_deref(), Some("sched/messaging"));
    assert_eq!(run.get("total time"), "0.065 s");
}

#[test]
fn all_benchmarks_of_a_suite_are_read() {
    let text = "# Running sched/messaging benchmark...\n# 20 sender and receiver processes per group\n\
                # 10 groups == 400 processes run\n\n     Total time: 0.545 [sec]\n\n\
                # Running sched/pipe benchmark...\n# Executed 1000000 pipe operations between two processes\n\n\
                \x20    Total time: 20.451 [sec]\n\n      20.451308 usecs/op\n          48,896 ops/sec\n";
    let runs = runs(&Hackbench, text);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].get("ops/sec"), "48896 ops/sec");
}

#[test]
fn the_figures_of_perf_may_come_alone() {
    let text = " Total time: 5.123 [sec]\n Total time: 5.1 [sec]\n";
    assert_eq!(runs(&Hackbench, text).len(), 2);
}

#[test]
fn a_scheduler_benchmark_without_figures_is_truncated() {
    let head = "# Running 'sched/pipe' benchmark:\n# Executed 20000 pipe operations between two processes\n\ntext\n";
    assert_eq!(doubts(&Hackbench, head), ["truncated-block"]);
    assert!(
        blocks(
            &Hackbench,
            "# Running 'mem/memcpy' benchmark:\n# Copying 1MB bytes ...\n"
        )
        .is_empty()
    );
}

#[test]
fn other_text_is_left_alone() {
    let text =
        "Running with scissors\nEach sender\n# Running the test\nTotal time: long\nTime: flies\n";
    assert!(blocks(&Hackbench, text).is_empty());
}

#[test]
fn any_text_is_survived() {
    let twice = PROCESSES.repeat(2);
    survives(&Hackbench, &[PROCESSES, &twice, MESSAGING, PIPE]);
    survives_long_lines(&Hackbench, &twice);
    survives_long_lines(&Hackbench, PIPE);
}
