//! Tables and names of benchmarks as they stand in commit messages.

use crate::common::records;
use assize_bundle::Records;

/// `configuration/workload/metric value unit` of each figure that is judged, in order.
fn judged(post: &str) -> Vec<String> {
    figures(&records(post))
}

/// The figures of records, one a line.
fn figures(records: &Records) -> Vec<String> {
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
        // One line alone, times of two units, no times, and no number of iterations.
        "BM_Glob/1000    121 ns    121 ns    2370\n",
        "BM_Glob/1000    121 ns    121 us    2370\nBM_Glob/8000    512 ns    512 us    5481\n",
        "BM_Glob/1000    12 %    12 %    2370\nBM_Glob/8000    13 %    13 %    5481\n",
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

#[test]
fn lines_of_go_that_somebody_shortened_are_read() {
    let post = "HEAD:\nBenchmarkUpload-16    1552  ns/op   46.6GiB total allocations\n\n\
                with this change:\n\
                BenchmarkUpload-16    753.2 ns/op (-51%)   1.41GiB  total allocations (-97%)\n";
    assert_eq!(
        judged(post),
        [
            "HEAD/Upload-16/ns/op 1552 ns",
            "HEAD/Upload-16/total allocations 46.6 GiB",
            "with this change/Upload-16/ns/op 753.2 ns",
            "with this change/Upload-16/total allocations 1.41 GiB",
        ]
    );
    for line in [
        "BenchmarkUpload-16  1552  of them",
        "BenchmarkUpload-16  12 MB/s",
    ] {
        assert!(
            records(&format!("HEAD:\n{line}\n")).runs.is_empty(),
            "{line}"
        );
    }
}
