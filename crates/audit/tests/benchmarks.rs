//! Tables and names of benchmarks as they stand in commit messages.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeSet;

use assize_audit::{Options, read};
use assize_bundle::Records;

fn records(post: &str) -> Records {
    read(post.as_bytes(), "post", &Options::default())
        .unwrap()
        .records
}

/// `configuration/workload/metric value unit` of each figure that is judged, in order.
fn judged(post: &str) -> Vec<String> {
    let records = records(post);
    let runs = records.runs.iter().flat_map(|run| {
        let cell = format!("{}/{}", run.configuration, run.workload);
        let figures = run.metrics.iter();
        figures.map(move |(name, figure)| format!("{cell}/{name} {} {}", figure.value, figure.unit))
    });
    let summaries = records.summaries.iter().map(|mean| {
        format!(
            "{}/{}/{} {} {}",
            mean.configuration, mean.workload, mean.metric, mean.mean, mean.unit
        )
    });
    let mut all: Vec<String> = runs.chain(summaries).collect();
    all.sort();
    all.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The names of the configurations that are compared.
fn configurations(post: &str) -> BTreeSet<String> {
    let records = records(post);
    let runs = records.runs.into_iter().map(|run| run.configuration);
    runs.collect()
}

#[test]
fn columns_of_allocations_are_a_metric_of_old_and_new() {
    let post = |unit: &str| {
        format!(
            "The decoder is faster:\n\n\
             benchmark          old {unit}     new {unit}     delta\n\
             BenchmarkPack-8    42             36             -14.29%\n\
             BenchmarkRead-8    17             0              -100.00%\n"
        )
    };
    let figures = judged(&post("allocs"));
    assert_eq!(figures.len(), 4);
    assert_eq!(figures[0], "new/BenchmarkPack-8/allocs 36");
    assert_eq!(figures[3], "old/BenchmarkRead-8/allocs 17");
    // `kernel` is nothing that is measured: the columns are named by it.
    let kernels = configurations(&post("kernel"));
    assert!(kernels.contains("old kernel"), "{kernels:?}");
}

#[test]
fn a_fence_of_code_is_no_header_of_a_table() {
    let rows = "q1 took 32 ms\nq2 took 422 ms\nq3 took 3468 ms\n";
    let read = records(&format!(
        "The queries are faster with this:\n```\n{rows}```\n"
    ));
    let fenced = read.statements.iter().any(|s| s.metric.contains('`'));
    assert!(!fenced, "{:?}", read.statements);
}

#[test]
fn the_first_figure_of_a_row_may_stand_one_blank_behind_its_name() {
    let table = |row: &str| {
        format!(
            "       Title       Before        After   Percentage\n\
             \x20   50th-Lat   78.209875ms   75.159943ms   -3.90%\n\
             {row}\n\
             \x20    Avg-Lat   82.310691ms   79.073282ms   -3.93%\n"
        )
    };
    let figures = judged(&table("    90th-Lat 117.764228ms    107.8697ms   -8.40%"));
    assert_eq!(figures.len(), 6);
    assert!(
        figures.contains(&"Before/table/90th-Lat 117.764228 ms".to_owned()),
        "{figures:?}"
    );
    assert!(figures.contains(&"After/table/90th-Lat 107.8697 ms".to_owned()));
    // A figure that is part of a name stays there.
    let named = judged(&table("     Lat 99%   117.764228ms   107.8697ms   -8.40%"));
    assert!(
        named.contains(&"Before/table/Lat 99% 117.764228 ms".to_owned()),
        "{named:?}"
    );
}

#[test]
fn rows_of_google_benchmark_are_known_without_their_header() {
    let block = |counts: &str| {
        format!(
            "BM_Glob/1000    121 ns    121 ns    {counts}\nBM_Glob/8000    512 ns    511 ns    {counts}\n"
        )
    };
    let post = format!(
        "before:\n{}\nafter:\n{}",
        block("2370"),
        block("2371").replace('2', "3")
    );
    let figures = judged(&post);
    assert_eq!(figures.len(), 8);
    assert_eq!(figures[0], "after/BM_Glob/1000/CPU time 131 ns");
    assert_eq!(figures[7], "before/BM_Glob/8000/time 512 ns");
    for text in [
        // One line alone, times of two units, and no number of iterations.
        "BM_Glob/1000    121 ns    121 ns    2370\n",
        "BM_Glob/1000    121 ns    121 us    2370\nBM_Glob/8000    512 ns    512 us    5481\n",
        "BM_Glob/1000    121 ns    121 ns    fast\nBM_Glob/8000    512 ns    512 ns    slow\n",
    ] {
        let known = records(text)
            .runs
            .iter()
            .any(|run| run.workload == "BM_Glob/1000");
        assert!(!known, "{text}");
    }
}

#[test]
fn the_number_of_runs_may_stand_alone_behind_a_change() {
    let post = |behind: &str| {
        format!(
            "           │   before    │               after               │\n\
             \x20          │   sec/op    │   sec/op     vs base              │\n\
             Start        55.59m ±  3%   26.46m ±  1%  -52.40% {behind}\n"
        )
    };
    let runs = |behind: &str| -> Vec<Option<u32>> {
        records(&post(behind))
            .summaries
            .iter()
            .map(|mean| mean.n)
            .collect()
    };
    assert_eq!(runs("(n=256)"), [Some(256), Some(256)]);
    assert_eq!(runs("(p=0.03)"), [None, None]);
}
