//! How late run_job starts under each kind of worker.

use serde_json::Value;

use super::figures::{count, mark, percent, ratio, time};
use super::report::Report;
use super::{Page, Part, table};

pub(super) const PAGE: Page = Page {
    name: "run-job-latency",
    file: "studies/run-job-latency.md",
    parts: &[
        part("main-2", MAIN, &["--cpus", "2"]),
        part("main-1", MAIN, &["--cpus", "1"]),
        part("nice-2", NICE, &["--cpus", "2"]),
        part("nice-1", NICE, &["--cpus", "1"]),
        part("parity", "experiments/run-job-latency-parity.toml", &[]),
        part("frames", "experiments/run-job-latency-frames.toml", &[]),
        part("crowd", "experiments/run-job-latency-crowd.toml", &[]),
        part("rt", "experiments/run-job-latency-grid.toml", RT),
    ],
    tables: &[
        ("two CPUs", |reports| jitter(&reports[MAIN_2], true)),
        ("one CPU", |reports| jitter(&reports[MAIN_1], false)),
        ("nice", nice),
        ("parity", parity),
        ("stages", stages),
        ("frames", frames),
        ("rt", rt),
        ("crowd", crowd),
    ],
};

const MAIN: &str = "experiments/run-job-latency.toml";
const NICE: &str = "experiments/run-job-latency-nice.toml";
/// The part of the grid that the page shows.
const RT: &[&str] = &[
    "--set",
    "kernel=debian:6.12-rt",
    "--set",
    "cpus=cpus-2",
    "--set",
    "hogs=hogs-2",
    "--set",
    "worker=workqueue,kthread,follow,bypass,bypass-follow",
];

// Indices of the parts among the reports.
const MAIN_2: usize = 0;
const MAIN_1: usize = 1;
const NICE_2: usize = 2;
const NICE_1: usize = 3;
const PARITY: usize = 4;
const FRAMES: usize = 5;
const CROWD: usize = 6;
const RT_2: usize = 7;

const fn part(name: &'static str, file: &'static str, more: &'static [&'static str]) -> Part {
    Part {
        name,
        file,
        more,
        asked: &[],
    }
}

/// A longer delay, in ns, means that a thread waits for the end of another's time slice.
const TURN_NS: f64 = 1e6;

/// The experiment's table of jitter; the first column has medians, or only ratios to the
/// workqueue.
fn jitter(report: &Report, medians: bool) -> String {
    const HEADING: [&str; 5] = ["worker", "normal", "nice -1", "nice -19", "FIFO 50"];
    let mut rows = Vec::new();
    for row in report.table("jitter").into_iter().flatten() {
        let name = name_of(row);
        let cells = || row["cells"].as_array().into_iter().flatten();
        if medians {
            let mut shown = vec![format!("`{name}`")];
            shown.extend(cells().map(|cell| match cell["normalised"].is_object() {
                true => percent(&cell["normalised"]),
                false => time(cell["median"].as_f64()),
            }));
            rows.push(shown);
        }
        if row["baseline"].is_null() {
            continue;
        }
        let mut shown = match medians {
            true => vec!["↳ to `workqueue`".to_string()],
            false => vec![format!("`{name}`")],
        };
        shown.extend(cells().map(|cell| marked(&cell["relative"])));
        rows.push(shown);
    }
    let mut heading = HEADING;
    if !medians {
        heading[0] = "to `workqueue`";
    }
    table(&heading, 1, &rows)
}

/// The name of a row's configuration.
fn name_of(row: &Value) -> &str {
    row["configuration"].as_str().unwrap_or_default()
}

fn marked(row: &Value) -> String {
    format!("{}{}", percent(row), mark(row))
}

fn against(report: &Report, metric: &str, workload: &str, configuration: &str) -> String {
    report
        .row(metric, workload, configuration)
        .map_or_else(|| "–".into(), marked)
}

/// The time of the baseline, or the ratio of another configuration to it.
fn time_or_ratio(report: &Report, metric: &str, workload: &str, configuration: &str) -> String {
    match report.is_baseline(configuration) {
        true => time(report.baseline(metric, workload)),
        false => against(report, metric, workload, configuration),
    }
}

/// The jitter at nice -1 with three arrangements of control groups.
fn nice(reports: &[Report]) -> String {
    const WORKLOADS: [&str; 3] = ["stream-nice", "session-nice", "apart-nice"];
    const WORKERS: [&str; 7] = [
        "kthread",
        "kthread-irq",
        "follow",
        "follow-irq",
        "min",
        "min-irq",
        "min-flapping",
    ];
    let row = |worker: &&str| {
        let mut cells = vec![format!("`{worker}`")];
        for report in [&reports[NICE_2], &reports[NICE_1]] {
            cells.extend(WORKLOADS.map(|of| against(report, "jitter", of, worker)));
        }
        cells
    };
    let rows: Vec<_> = WORKERS.iter().map(row).collect();
    let heading = [
        "nice -1, to `workqueue`",
        "2 CPUs, one group",
        "one session",
        "apart",
        "1 CPU, one group",
        "one session",
        "apart",
    ];
    table(&heading, 1, &rows)
}

/// The influence of scheduler features.
fn parity(reports: &[Report]) -> String {
    let report = &reports[PARITY];
    let workload = "stream-nice";
    let jitter = |name: &str| time_or_ratio(report, "jitter", workload, name);
    let waits = |name: &str| {
        let share = report.share_beyond("done_to_wake", name, TURN_NS);
        share.map_or_else(|| "–".into(), |share| format!("{:.1} %", share * 100.0))
    };
    let rows: Vec<_> = [
        ("as shipped", "default"),
        ("NO_RUN_TO_PARITY", "no-parity"),
        ("NO_WAKEUP_PREEMPTION", "no-preemption"),
    ]
    .iter()
    .map(|(shown, features)| {
        let (worker, irq) = (format!("worker+{features}"), format!("irq+{features}"));
        let cells = [jitter(&worker), jitter(&irq), waits(&worker), waits(&irq)];
        [vec![(*shown).to_string()], cells.to_vec()].concat()
    })
    .collect();
    let heading = [
        "nice -1, one CPU",
        "jitter, worker drops jobs",
        "interrupt drops them",
        "jobs that wait > 1 ms, worker drops jobs",
        "interrupt drops them",
    ];
    table(&heading, 1, &rows)
}

/// The workers of an experiment.
fn workers(report: &Report) -> Vec<&str> {
    let all = report.document["configurations"]
        .as_array()
        .into_iter()
        .flatten();
    let names = all.filter_map(|one| one["name"].as_str());
    names.filter(|name| !name.ends_with("/aa")).collect()
}

/// The stages of a job's latency until run_job, for a SCHED_FIFO submitter.
fn stages(reports: &[Report]) -> String {
    let report = &reports[MAIN_2];
    let of = |metric: &str, name: &str| report.mean(metric, "stream-fifo", name);
    let row = |name: &&str| {
        let longest = "submit_to_run_ns_max";
        let to = report.row(longest, "stream-fifo", name);
        vec![
            format!("`{name}`"),
            time(of("submit_to_run_ns_p50", name)),
            time(of("submit_to_run_ns_p99", name)),
            time(of(longest, name)),
            to.map_or_else(String::new, marked),
        ]
    };
    let rows: Vec<_> = workers(report).iter().map(row).collect();
    let heading = [
        "FIFO 50, 1,000 jobs a run",
        "p50",
        "p99",
        "mean of the runs' longest",
        "to `workqueue`",
    ];
    table(&heading, 1, &rows)
}

/// Frames of a compositor.
fn frames(reports: &[Report]) -> String {
    let report = &reports[FRAMES];
    let of = |metric: &str, name: &str| report.mean(metric, "compositor", name);
    let to = |metric: &str, name: &str| match report.is_baseline(name) {
        true => String::new(),
        false => against(report, metric, "compositor", name),
    };
    let row = |name: &&str| {
        let (p99, longest) = ("frame_latency_ns_p99", "frame_latency_ns_max");
        let missed = report.count("frames_missed", name);
        vec![
            format!("`{name}`"),
            missed.map_or_else(|| "–".into(), |missed| missed.to_string()),
            time(of("frame_latency_ns_p50", name)),
            time(of(p99, name)),
            to(p99, name),
            time(of(longest, name)),
            to(longest, name),
        ]
    };
    let rows: Vec<_> = workers(report).iter().map(row).collect();
    let heading = [
        "8,000 frames",
        "missed",
        "p50",
        "p99",
        "to `workqueue`",
        "longest",
        "to `workqueue`",
    ];
    table(&heading, 1, &rows)
}

/// The same stream of jobs on PREEMPT_RT.
fn rt(reports: &[Report]) -> String {
    const WORKLOADS: [&str; 6] = [
        "stream-normal",
        "stream-nice",
        "stream-nice19",
        "stream-fifo1",
        "stream-fifo",
        "stream-rr",
    ];
    let report = &reports[RT_2];
    let p99 = "submit_to_run_ns_p99";
    let row = |name: &&str| {
        let cell = |metric: &str, workload: &str| time_or_ratio(report, metric, workload, name);
        let worker = name.split('+').next().unwrap_or(name);
        let mut cells = vec![format!("`{worker}`")];
        cells.extend(WORKLOADS.map(|workload| cell("jitter", workload)));
        cells.push(cell(p99, "stream-fifo"));
        cells
    };
    let rows: Vec<_> = workers(report).iter().map(row).collect();
    let heading = [
        "6.12-rt, two CPUs",
        "normal",
        "nice -1",
        "nice -19",
        "FIFO 1",
        "FIFO 50",
        "RR 50",
        "submit→run p99, FIFO 50",
    ];
    table(&heading, 1, &rows)
}

/// From one context to 4,096 contexts on one engine.
fn crowd(reports: &[Report]) -> String {
    let report = &reports[CROWD];
    let names = workers(report);
    let mut rows = Vec::new();
    for contexts in ["1", "16", "256", "4096"] {
        let workload = format!("crowd-{contexts}");
        let switches = "context_switches_per_job";
        let mut add = |label: &str, what: &str, cell: &dyn Fn(&str) -> String| {
            let mut cells = vec![label.to_string(), what.to_string()];
            cells.extend(names.iter().map(|name| cell(name)));
            rows.push(cells);
        };
        let shown = contexts.replace("4096", "4,096");
        add(&shown, "switches / job", &|name| {
            count(report.mean(switches, &workload, name))
        });
        add(
            "",
            "to `workqueue`",
            &|name| match report.is_baseline(name) {
                true => String::new(),
                false => ratio(report.row(switches, &workload, name)),
            },
        );
        if contexts != "1" {
            add("", "most / least served", &|name| {
                count(report.mean("service_ratio", &workload, name))
            });
        }
        add("", "jobs", &|name| {
            count(report.mean("jobs", &workload, name))
        });
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let mut heading = vec!["contexts", ""];
    heading.extend(quoted.iter().map(String::as_str));
    table(&heading, 2, &rows)
}
