//! What IPython and Python's own module print of a timed statement.

use assize_audit::{Options, read};
use assize_bundle::Records;
use std::collections::BTreeMap;

fn records(post: &str) -> Records {
    read(post.as_bytes(), "post", &Options::default())
        .unwrap()
        .records
}

/// `workload metric (unit)` to what each configuration has.
fn cells(post: &str) -> BTreeMap<String, Vec<(String, f64)>> {
    let mut cells: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
    for run in &records(post).runs {
        for (metric, figure) in &run.metrics {
            let cell = format!("{} {metric} ({})", run.workload, figure.unit);
            let own = cells.entry(cell).or_default();
            own.push((run.configuration.clone(), figure.value));
        }
    }
    cells
}

fn pair(main: f64, branch: f64) -> Vec<(String, f64)> {
    vec![("on main".into(), main), ("on this branch".into(), branch)]
}

#[test]
fn a_statement_behind_time_is_a_workload_and_its_times_are_one_run() {
    let timed = |statement: &str, cpu: &str, wall: &str| {
        format!(
            ">>> %time {statement}\nCPU times: user {cpu}, sys: 1.25 ms, total: 4.5 ms\n\
             Wall time: {wall}\n<table at 0x7d21>\n"
        )
    };
    let post = format!(
        "It is faster:\n\n* on main:\n\n{}{}\n* on this branch:\n\n{}{}",
        timed("open_table(cached=False)", "3.25 ms", "2.5 s"),
        timed("open_table()", "3.35 ms", "12 s"),
        timed("open_table(cached=False)", "2.25 ms", "203 µs"),
        timed("open_table()", "2.35 ms", "14 s"),
    );
    let cells = cells(&post);
    assert_eq!(
        cells["open_table(cached=False) wall time (µs)"],
        pair(2_500_000.0, 203.0)
    );
    assert_eq!(cells["open_table() wall time (s)"], pair(12.0, 14.0));
    assert_eq!(cells["open_table() user (ms)"], pair(3.35, 2.35));
    assert_eq!(cells.len(), 8, "{cells:?}");
}

#[test]
fn what_timeit_prints_is_one_run() {
    let post = "Timings on main:\n\n\
        In [3]: %timeit -n 5 take(values)\n\
        1.28 ms ± 4.03 µs per loop (mean ± std. dev. of 7 runs, 1,000 loops each)\n\n\
        Timings on this branch:\n\n\
        In [3]: %timeit -n 5 take(values)\n\
        504 µs ± 2.27 µs per loop (mean ± std. dev. of 7 runs, 1,000 loops each)\n";
    let read = records(post);
    assert!(read.summaries.is_empty(), "{read:?}");
    let values: Vec<f64> = read
        .runs
        .iter()
        .map(|run| run.metrics["time per loop"].value)
        .collect();
    assert_eq!(values, [1280.0, 504.0]);
    assert_eq!(read.workloads, ["take(values)"]);
    let best = "on main:\n\n$ python -m timeit work\n20000 loops, best of 5: 12.5 usec per loop\n\n\
        on this branch:\n\n$ python -m timeit work\n50000 loops, best of 5: 7.25 usec per loop\n";
    assert_eq!(records(best).runs.len(), 2);
}

/// A prompt without a figure, a share of time and a quoted line are none of that.
#[test]
fn other_lines_with_per_cent_and_loops_are_left_alone() {
    let post = "The share changes:\n\nbefore:\n\n>> %time of the loop is 12\n\n\
        after:\n\n>> %time of the loop is 7\n\n12 ms per loop were lost\n";
    let read = records(post);
    assert!(
        read.runs.is_empty() && read.workloads.is_empty(),
        "{read:?}"
    );
}

#[test]
fn what_shells_print_on_one_line_is_one_run() {
    let post = include_str!("benchmarks/time-lines.txt");
    assert_eq!(cells(post)["time real (s)"], pair(46.118, 21.581));
}
