//! Tables and names of benchmarks as they stand in commit messages.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

mod common;

use std::collections::BTreeSet;

use assize_audit::{Judged, Options, read};
use assize_bundle::Records;
use common::records;

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

/// Lines of `go test -bench` with these names below a sentence, each with another figure.
fn bench(text: &str, names: &[&str]) -> String {
    let lines = names.iter().zip(3..);
    let lines = lines.map(|(name, n)| format!("Benchmark{name}-8   1000   {n}4.{n} ns/op\n"));
    format!("{text}\n\n{}", lines.collect::<String>())
}

#[test]
fn states_in_the_names_of_benchmarks_are_configurations() {
    let names = ["EncodeOld/n", "EncodeNew/n", "ParseOld/n", "ParseNew/n"];
    let figures = judged(&bench("The codec is faster.", &names));
    assert_eq!(
        figures,
        [
            "New/Encode/n-8/ns/op 44.4 ns",
            "New/Parse/n-8/ns/op 64.6 ns",
            "Old/Encode/n-8/ns/op 34.3 ns",
            "Old/Parse/n-8/ns/op 54.5 ns",
        ]
    );
    // Headings that name configurations say more.
    let post = format!(
        "{}\n{}",
        bench("before:", &names),
        bench("after:", &names).replace('4', "9")
    );
    assert_eq!(
        configurations(&post),
        ["after", "before"].map(String::from).into()
    );
}

#[test]
fn ways_to_use_a_cpu_in_the_names_of_benchmarks_are_configurations() {
    let names = [
        "Sum_Float_Scalar/64",
        "Sum_Float_SSE2/64",
        "Sum_Double_Scalar/64",
        "Sum_Double_SSE2/64",
    ];
    let post = bench("Sums of arrays are faster.", &names);
    assert_eq!(
        configurations(&post),
        ["SSE2", "Scalar"].map(String::from).into()
    );
    assert!(judged(&post).contains(&"SSE2/Sum_Double/64-8/ns/op 64.6 ns".to_owned()));
}

#[test]
fn a_negated_part_of_a_name_is_a_configuration_if_the_text_speaks_of_it() {
    let names = [
        "Insert/High/perDay",
        "Insert/High/noPerDay",
        "Insert/Low/perDay",
        "Insert/Low/noPerDay",
    ];
    let post = bench("Rows go in faster without a per day index.", &names);
    assert_eq!(
        configurations(&post),
        ["noPerDay", "perDay"].map(String::from).into()
    );
    assert!(judged(&bench("Rows go in faster.", &names)).is_empty());
}

#[test]
fn parts_of_names_that_a_sentence_compares_are_configurations() {
    let names = [
        "Match/Glob/1k",
        "Match/Regex/1k",
        "Match/Glob/8k",
        "Match/Regex/8k",
    ];
    for text in [
        "Glob is now faster than regex.",
        "A matcher was added. Results of glob vs. regex:",
        "1. Glob is the implementation of this change\n2. Regex is the old implementation",
    ] {
        let post = bench(text, &names);
        assert_eq!(
            configurations(&post),
            ["Glob", "Regex"].map(String::from).into(),
            "{text}"
        );
    }
    for text in [
        "This adds benchmarks.",
        "Glob is faster now.",
        "Glob is used here. Regex is faster than it was.",
    ] {
        assert!(judged(&bench(text, &names)).is_empty(), "{text}");
    }
    // What is done is no configuration, whatever is said of it.
    let work = [
        "Disk/read/1k",
        "Disk/write/1k",
        "Disk/read/8k",
        "Disk/write/8k",
    ];
    assert!(judged(&bench("A read is faster than a write.", &work)).is_empty());
    // Nor are values of which most names have only some.
    let some = ["Match/Glob/1k", "Match/Regex/8k", "Find/Glob", "Sort/Regex"];
    assert!(judged(&bench("Glob is now faster than regex.", &some)).is_empty());
}

#[test]
fn a_column_that_follows_from_the_two_before_it_is_none_of_figures() {
    let table = |last: [&str; 3]| {
        format!(
            "The cache takes less memory:\n\n\
             | Query | before  | after | what  |\n| --- | --- | --- | --- |\n\
             | q1    | 1640 ms | 97 ms | {}    |\n\
             | q2    | 1559 ms | 16 ms | {}    |\n\
             | q3    | 1859 ms | 65 ms | {}    |\n",
            last[0], last[1], last[2]
        )
    };
    let two = ["after", "before"].map(String::from).into();
    assert_eq!(configurations(&table(["94.09%", "98.97%", "96.50%"])), two);
    assert_eq!(configurations(&table(["16.91x", "97.44x", "28.60x"])), two);
    let others = records(&table(["12.5 ms", "14.1 ms", "13.3 ms"]));
    let kept = others.runs.iter().any(|run| run.configuration == "what");
    assert!(
        kept || others
            .statements
            .iter()
            .any(|s| s.configuration.as_deref() == Some("what"))
    );
}

#[test]
fn two_figures_of_a_cell_are_of_two_configurations() {
    let table = "The server got faster:\n\n| Conn | Mode | Avg (grpc / cmux) |\n| --- | --- | --- |\n\
                 | 1 | stream | 165.6 s / 197.1 s |\n| 1 | plain | 112.9 s / 191.7 s |\n\
                 | 2 | stream | 4.522 s / 4.687 s |\n| 2 | plain | 6.333 s / 6.536 s |\n";
    let options = Options {
        judged: Judged::All,
        ..Options::default()
    };
    let read = read(table.as_bytes(), "post", &options).unwrap();
    let figures = figures(&read.records);
    assert_eq!(figures.len(), 8);
    assert_eq!(figures[0], "cmux/Conn 1, plain/Avg 191.7 s");
    assert_eq!(figures[7], "grpc/Conn 2, stream/Avg 4.522 s");
}

#[test]
fn groups_of_the_same_metrics_are_configurations_unless_they_are_workloads() {
    let table = |names: [&str; 2]| {
        format!(
            "Compared with it, this is faster:\n\n| clients | {} | {} |\n| --- | --- | --- |\n\
             | 1 | 3324 MB/s, 35 us | 7045 MB/s, 16 us |\n| 2 | 6289 MB/s, 38 us | 13311 MB/s, 17 us |\n",
            names[0], names[1]
        )
    };
    let stated = |names: [&str; 2]| -> BTreeSet<String> {
        let all = records(&table(names)).statements.into_iter();
        all.filter_map(|s| s.configuration).collect()
    };
    let two = ["socket", "shared memory"];
    assert_eq!(stated(two), two.map(String::from).into());
    let work = stated(["random read", "random write"]);
    assert!(!work.contains("random read"), "{work:?}");
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

#[test]
fn tables_of_other_languages_are_compared_below_headings() {
    let figures = judged(include_str!("bench_mark/chunks.txt"));
    assert_eq!(figures.len(), 20);
    assert!(
        figures.contains(&"After this PR/many_chunks[at]/median 0.1131 s".to_owned()),
        "{figures:?}"
    );
    assert!(figures.contains(&"Before this PR/many_chunks[at]/median 4.36 s".to_owned()));
    let ruby = "                 user     system      total        real\n\
                old 1000     0.085867   0.000194   0.086061 (  0.086369)\n\
                new 1000     0.042163   0.001033   0.043196 (  0.043268)\n";
    let figures = judged(&format!("This is faster:\n\n{ruby}"));
    assert_eq!(figures.len(), 8, "{figures:?}");
    assert!(
        figures
            .iter()
            .any(|line| line.starts_with("new") && line.ends_with("real 0.043268 s"))
    );
}

#[test]
fn sizes_of_functions_before_and_after_are_compared() {
    let table = "This saves some code:\n\n\
                 add/remove: 0/1 grow/shrink: 0/2 up/down: 0/-79 (-79)\n\
                 Function                       old     new   delta\n\
                 timer_exit                     335     313     -22\n\
                 timer_enter                    327     278     -49\n\
                 timer_state                      8       -      -8\n\
                 Total: Before=2187, After=2108, chg -3.61%\n";
    let figures = judged(table);
    assert_eq!(figures.len(), 5, "{figures:?}");
    assert_eq!(figures[0], "new/This saves some code/timer_enter 278 B");
    assert!(figures[4].ends_with("timer_state 8 B"));
    // Numbers below other names of columns may be of anything.
    assert!(
        judged(&table.replace("delta", "state"))
            .iter()
            .all(|line| !line.ends_with(" B"))
    );
}

#[test]
fn a_word_for_a_state_in_one_of_two_names_parts_them() {
    let post = |other: &str| {
        format!(
            "The conversion is faster.\n\n\
             Benchmark                  (count)  Mode  Cnt     Score    Error  Units\n\
             Bench.{other}       10  avgt   10   858.234 ±  3.992  ns/op\n\
             Bench.{other}       20  avgt   10  1407.557 ± 45.178  ns/op\n\
             Bench.convertHeaders            10  avgt   10   748.486 ±  4.060  ns/op\n\
             Bench.convertHeaders            20  avgt   10  1238.528 ± 51.914  ns/op\n"
        )
    };
    assert_eq!(configurations(&post("convertAllHeadersOld")).len(), 2);
    for other in ["convertAllHeaders", "convertOldBodies", "parseHeadersOld"] {
        assert!(configurations(&post(other)).is_empty(), "{other}");
    }
}

#[test]
fn a_switch_of_a_way_to_use_a_cpu_is_a_configuration() {
    let post = |key: &str| {
        let row = |name: &str, time: u32| format!("{name}   {time} ns   {time} ns   41273\n");
        [
            "The kernels are faster.\n\n".to_owned(),
            row(&format!("BM_Merge/{key}:0"), 12582),
            row(&format!("BM_Merge/{key}:1"), 383),
            row(&format!("BM_Count/{key}:0/n:8"), 92929),
            row(&format!("BM_Count/{key}:1/n:8"), 6446),
        ]
        .concat()
    };
    let known = configurations(&post("simd"));
    assert_eq!(known.len(), 2, "{known:?}");
    assert!(known.contains("simd:0") && known.contains("simd:1"));
    assert!(configurations(&post("level")).is_empty());
}

#[test]
fn stars_behind_a_row_say_that_it_is_significant_and_end_it() {
    let post = |star: &str| {
        format!(
            "small files results\n     metric       baseline    current    stdev     diff\n\
             ====================================================\n\
             commit_ms            68.58      58.44     3.35   -14.79%{star}\n\
             elapsed              49.30      33.00     1.64   -33.06%{star}\n\
             write_bw          42935768   64318451  1609415    49.80%{star}\n"
        )
    };
    let plain = judged(&post(""));
    assert!(
        plain.contains(&"current/small files results/elapsed 33".to_owned()),
        "{plain:?}"
    );
    assert_eq!(judged(&post(" *")), plain);
    assert_eq!(judged(&post(" ***")), plain);
    assert!(judged(&post(" * 2")).len() < plain.len());
}
