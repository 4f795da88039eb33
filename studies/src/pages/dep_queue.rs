//! drm_sched compared with a dependency queue.

use super::figures::{count, plain_ratio, ratio, time};
use super::report::Report;
use super::{Page, Part, table};

const FILE: &str = "experiments/dep-queue.toml";

pub(super) const PAGE: Page = Page {
    name: "dep-queue",
    file: "studies/dep-queue.md",
    parts: &[
        Part {
            name: "dep-queue-1",
            file: FILE,
            more: &["--cpus", "1"],
            asked: &[],
        },
        Part {
            name: "dep-queue-2",
            file: FILE,
            more: &["--cpus", "2"],
            asked: &[],
        },
    ],
    tables: &[
        ("two by two", two_by_two),
        ("context switches", |reports| {
            of_workloads(reports, "context_switches_per_job")
        }),
        ("instructions", |reports| {
            of_workloads(reports, "busy_time_per_job")
        }),
        ("latency", latency),
    ],
};

/// The numbers of CPUs of the reports, in order.
const CPUS: [&str; 2] = ["1", "2"];
const WORKLOADS: [&str; 6] = ["frames", "sync", "window", "threads", "storm", "deep"];

/// Context switches of the posted workload under each posted design.
fn two_by_two(reports: &[Report]) -> String {
    let (metric, workload) = ("context_switches_per_job", "frames");
    let mut rows = vec![
        [
            "posted (3 runs, hardware)",
            "0.945",
            "0.791",
            "0.836",
            "0.662",
            "",
        ]
        .map(String::from)
        .to_vec(),
    ];
    for (report, cpus) in reports.iter().zip(CPUS) {
        let of = |name| ratio(report.row(metric, workload, name));
        rows.push(vec![
            format!("{cpus} CPU{}", if cpus == "1" { "" } else { "s" }),
            of("depq+worker"),
            of("depq+bypass+worker"),
            of("depq+irq"),
            of("depq+bypass+irq"),
            plain_ratio(report.floor(metric, workload)),
        ]);
    }
    table(
        &["", "plain", "bypass", "IRQ", "bypass + IRQ", "A/A"],
        1,
        &rows,
    )
}

/// A metric under every design, on every workload except the posted one.
fn of_workloads(reports: &[Report], metric: &str) -> String {
    const DESIGNS: [&str; 6] = [
        "depq+worker",
        "depq+irq",
        "depq+submit",
        "depq+bypass+worker",
        "depq+bypass+irq",
        "depq+bypass+submit",
    ];
    let mut rows = Vec::new();
    for workload in WORKLOADS {
        for (report, cpus) in reports.iter().zip(CPUS) {
            let name = match cpus {
                "1" => format!("`{workload}`"),
                _ => String::new(),
            };
            let mut cells = vec![
                name,
                cpus.into(),
                count(report.baseline(metric, workload)),
                plain_ratio(report.floor(metric, workload)),
            ];
            cells.extend(DESIGNS.map(|design| ratio(report.row(metric, workload, design))));
            rows.push(cells);
        }
    }
    let heading = [
        "workload",
        "CPUs",
        "drm_sched",
        "A/A",
        "worker",
        "irq",
        "submit",
        "bypass, worker",
        "bypass, irq",
        "bypass, submit",
    ];
    table(&heading, 2, &rows)
}

/// Medians of the stages of a job's latency.
fn latency(reports: &[Report]) -> String {
    const ROWS: [(&str, &str, &str); 5] = [
        ("submit to run_job", "submit_to_run_ns_p50", "frames"),
        ("submit to run_job", "submit_to_run_ns_p50", "sync"),
        ("submit to return", "submit_to_return_ns_p50", "frames"),
        ("completion to waiter", "done_to_wake_ns_p50", "sync"),
        ("completion to waiter", "done_to_wake_ns_p50", "frames"),
    ];
    let mut rows = Vec::new();
    for (what, metric, workload) in ROWS {
        for (report, cpus) in reports.iter().zip(CPUS) {
            let name = match cpus {
                "1" => format!("{what}, `{workload}`"),
                _ => String::new(),
            };
            let of = |design| ratio(report.row(metric, workload, design));
            rows.push(vec![
                name,
                cpus.into(),
                time(report.baseline(metric, workload)),
                of("depq+worker"),
                of("depq+irq"),
                of("depq+bypass+irq"),
            ]);
        }
    }
    let heading = [
        "",
        "CPUs",
        "drm_sched",
        "plain",
        "plain, irq",
        "bypass, irq",
    ];
    table(&heading, 2, &rows)
}
