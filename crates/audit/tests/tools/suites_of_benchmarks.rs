//! Google Benchmark, criterion.rs and JMH.

use super::*;

fn figures(read: &Read, at: usize) -> &[Figure] {
    read.runs()[at].2
}

#[test]
fn each_row_of_google_benchmark_is_a_run_with_its_counters() {
    let read = read(include_str!("../google_benchmark/runs.txt"));
    let names: Vec<_> = read
        .runs()
        .iter()
        .map(|run| run.1.workload.clone())
        .collect();
    let expected = ["BM_copy/64", "BM_copy/4096", "BM_pair<int, long>"];
    assert_eq!(names, expected.map(|name| Some(name.to_owned())));
    let metrics = |at: usize| -> Vec<(String, String)> {
        let figures = figures(&read, at).iter();
        figures
            .map(|f| (f.metric.clone(), f.unit.clone()))
            .collect()
    };
    let pair = |metric: &str, unit: &str| (metric.to_owned(), unit.to_owned());
    assert_eq!(
        metrics(0),
        [
            pair("time", "ns"),
            pair("CPU time", "ns"),
            pair("bytes_per_second", "B/s")
        ]
    );
    assert_eq!(metrics(2)[2], pair("ratio", ""));
    assert!(read.taken.iter().all(|t| !t.is_empty()));
}

#[test]
fn what_google_benchmark_says_of_the_machine_belongs_to_the_table() {
    let table = include_str!("../google_benchmark/runs.txt");
    let machine = "Running ./copy\nRun on (20 X 3000 MHz CPU s)\nCPU Caches:\n  L1 Data 32 KiB (x10)\n\
                   Load Average: 4.79, 5.63, 2.68\n***WARNING*** CPU scaling is enabled\n";
    let read = read(&format!("{machine}{table}"));
    assert_eq!(read.runs().len(), 3);
    assert!(read.taken.iter().all(|t| t.starts_with("google benchmark")));
    let apart = super::read(&format!("{machine}\nThe table:\n\n{table}"));
    assert_eq!((apart.taken[0], apart.runs().len()), ("", 3));
}

#[test]
fn the_prefix_of_a_counter_is_part_of_its_value() {
    let row = |counters: &str| {
        let text = format!(
            "Benchmark  Time  CPU  Iterations UserCounters...\nBM_a  1 ns  1 ns  5 {counters}\n"
        );
        let read = read(&text);
        let all = figures(&read, 0)[2..].iter().cloned();
        all.map(|f| (f.value, f.unit, f.step)).collect::<Vec<_>>()
    };
    let mega = 1024.0 * 1024.0;
    assert_eq!(
        row("bytes_per_second=926.5M/s"),
        [(926.5 * mega, "B/s".to_owned(), Some(0.1 * mega))]
    );
    assert_eq!(
        row("bytes_per_second=1.5Gi/s"),
        [(
            1.5 * 1024.0 * mega,
            "B/s".to_owned(),
            Some(0.1 * 1024.0 * mega)
        )]
    );
    assert_eq!(
        row("items_per_second=2.5k/s"),
        [(2500.0, "/s".to_owned(), Some(100.0))]
    );
    assert_eq!(
        row("items_per_second=500m/s"),
        [(0.5, "/s".to_owned(), Some(0.001))]
    );
    assert_eq!(row("30MB/s"), [(30.0 * mega, "B/s".to_owned(), Some(mega))]);
    assert_eq!(
        row("null_percent=50 a label"),
        [(50.0, String::new(), Some(1.0))]
    );
}

/// The times that are printed for a name.
fn printed(text: &str, name: &str) -> Vec<f64> {
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    rows.filter_map(|rest| rest.split_whitespace().next()?.parse().ok())
        .collect()
}

#[test]
fn a_letter_that_only_becomes_a_prefix_in_capitals_is_none() {
    // In capitals it is a `T` and a mark above it.
    let text =
        "Benchmark  Time  CPU  Iterations UserCounters...\nBM_a  1 ns  1 ns  5 x=1\u{1e97}/s\n";
    assert_eq!(figures(&read(text), 0).len(), 2);
}

#[test]
fn repetitions_are_samples_of_one_run() {
    let text = include_str!("../google_benchmark/repetitions.txt");
    let read = read(text);
    assert_eq!((read.runs().len(), read.summaries().len()), (3, 0));
    for (_, labels, figures) in read.runs() {
        let times = printed(text, labels.workload.as_deref().unwrap());
        assert_eq!(times.len(), 3);
        let mean = times.iter().sum::<f64>() / 3.0;
        assert!((figures[0].value - mean).abs() < 1e-12, "{labels:?}");
        assert_eq!(labels.repetition, None);
    }
}

#[test]
fn where_only_aggregates_are_printed_the_mean_is_the_run() {
    let text = include_str!("../google_benchmark/aggregates.txt");
    let read = read(text);
    assert_eq!((read.runs().len(), read.summaries().len()), (3, 0));
    for (_, labels, figures) in read.runs() {
        let name = labels.workload.as_deref().unwrap();
        assert_eq!(
            vec![figures[0].value],
            printed(text, &format!("{name}_mean"))
        );
    }
}

#[test]
fn two_tables_of_google_benchmark_are_two_blocks() {
    let text = include_str!("../google_benchmark/runs.txt");
    let read = read(&format!("{text}{text}"));
    let lines: Vec<usize> = read.runs().iter().map(|run| run.0).collect();
    assert_eq!(lines, [4, 5, 6, 10, 11, 12]);
}

#[test]
fn an_estimate_of_criterion_is_a_run_and_a_change_a_statement() {
    let read = read(include_str!("../criterion/change.txt"));
    let runs = read.runs();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].1.workload.as_deref(), Some("copy 64"));
    assert_eq!(runs[0].2, [Figure::new("time", 974.56, "ns")]);
    assert_eq!(
        runs[1].1.workload.as_deref(),
        Some("checksum/a name that is long/4096")
    );
    assert_eq!(
        runs[1].2,
        [
            Figure::new("time", 1.4622, "µs"),
            Figure::new("throughput", 2.6088, "GiB/s")
        ]
    );
    let changes: Vec<_> = read
        .findings
        .iter()
        .filter_map(|(_, finding)| match finding {
            Finding::Statement { figure, .. } => Some((figure.metric.as_str(), figure.value)),
            _ => None,
        })
        .collect();
    assert_eq!(
        changes,
        [("time", -11.87), ("time", 0.231), ("throughput", -0.2305)]
    );
    assert_eq!(read.doubts().len(), 0);
}

#[test]
fn brackets_without_an_estimate_are_none_of_criterion() {
    for text in [
        "boot time: [1 2 3]\n",
        "copy  time:   [fast 974.56 ns 980.02 ns]\n",
        "a name\n   time: []\n",
        "  time:   [970.11 ns 974.56 ns 980.02 ns]\n",
    ] {
        assert_eq!(read(text).runs().len(), 0, "{text}");
    }
}

#[test]
fn rows_of_jmh_are_runs_of_a_benchmark_with_its_parameters() {
    let read = read(include_str!("../jmh/parameters.txt"));
    let all: Vec<_> = read
        .runs()
        .into_iter()
        .map(|(_, labels, figures)| {
            assert_eq!(figures.len(), 1);
            let figure = &figures[0];
            (
                labels.workload.clone().unwrap(),
                figure.metric.clone(),
                figure.value,
                figure.unit.clone(),
            )
        })
        .collect();
    let row = |workload: &str, metric: &str, value: f64, unit: &str| {
        (
            workload.to_owned(),
            metric.to_owned(),
            value,
            unit.to_owned(),
        )
    };
    assert_eq!(
        all,
        [
            row("Copy.arrays (size=64)", "time", 101.327, "ns/op"),
            row("Copy.arrays (size=512)", "time", 611.95, "ns/op"),
            row("Copy.arrays (size=64)", "gc.alloc.rate", 12.5, "MB/sec"),
            row("Copy.lists (size=64)", "throughput", 9.31, "ops/us"),
        ]
    );
}

#[test]
fn a_row_of_jmh_that_ends_with_its_mode_is_none() {
    let text = "Benchmark  Mode  Cnt  Score  Error  Units\nCopy.arrays  avgt\n";
    assert_eq!(read(text).runs().len(), 0);
}

#[test]
fn rows_of_jmh_are_read_without_their_header() {
    let read = read(
        "Copy.arrays  avgt    4  17.809 ± 0.022  us/op\nCopy.lists  avgt    4  18.1 ± 0.1  us/op\n",
    );
    let runs = read.runs();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].1.workload.as_deref(), Some("Copy.arrays"));
    assert_eq!(runs[0].2, [Figure::new("time", 17.809, "us/op")]);
    let named = super::read("Copy.arrays  64  fast  thrpt  10  407.3 ± 2.6  ops/ms\n");
    let runs = named.runs();
    assert_eq!(
        runs[0].1.workload.as_deref(),
        Some("Copy.arrays (64, fast)")
    );
    for text in [
        "we took one sample 3 4.5 and/or\n",
        "a sample of 12.5 MB/s\n",
        " sample 3 4.5 MB/s\n",
        "the sample 3 times MB/s\n",
    ] {
        assert!(!super::read(text).taken.contains(&"JMH result"), "{text}");
    }
}

#[test]
fn what_criterion_overwrites_on_a_terminal_is_no_part_of_a_name() {
    let read = read(
        "Benchmarking copy 1024: Collecting 100 samples in estimated 5.0083 s (2.2M i     copy 1024   time:   [1.18 us 1.19 us 1.20 us]\n",
    );
    assert_eq!(read.runs()[0].1.workload.as_deref(), Some("copy 1024"));
    let own = super::read("Benchmarking: fast   time:   [1.18 us 1.19 us 1.20 us]\n");
    let name = own.runs()[0].1.workload.clone();
    assert_eq!(name.as_deref(), Some("Benchmarking: fast"));
}

#[test]
fn a_blank_line_between_rows_of_google_benchmark_ends_no_table() {
    let rule = "-".repeat(60);
    let row = |name: &str| format!("{name}   1374 ns   1374 ns   510396\n");
    let table = format!(
        "{rule}\nBenchmark   Time   CPU   Iterations\n{rule}\n{}\n{}",
        row("BM_float/1024"),
        row("BM_double/1024")
    );
    assert_eq!(read(&table).runs().len(), 2);
    let prose = format!("{table}\nBM_other 12 is not measured.\n");
    assert_eq!(read(&prose).runs().len(), 2);
}

#[test]
fn rows_without_a_header_are_read_if_their_iterations_last_as_long_as_the_library_lets_them() {
    let rows = "Parse/16       1812 ns       1811 ns       386021\n\
                Parse/1024     2210 ns       2208 ns       317440\n";
    assert_eq!(read(rows).findings.len(), 2);
    // Times of two states, and by how much they differ.
    let ratios = "Parse/16       1812 ns       1211 ns       15\n\
                  Parse/1024     2210 ns       1108 ns       20\n";
    let other = read(ratios);
    assert!(
        other
            .taken
            .iter()
            .all(|t| !t.starts_with("google benchmark"))
    );
}

#[test]
fn items_per_second_are_read_as_older_versions_print_them() {
    let rows = "BM_sum/1    812 ns    811 ns    862010   1.7GB/s   638.304M items/s\n\
                BM_sum/2    790 ns    789 ns    881400   1.8GB/s   655.1k items/s\n";
    let read = read(rows);
    let rates: Vec<f64> = read
        .findings
        .iter()
        .filter_map(|(_, finding)| match finding {
            Finding::Run { figures, .. } => {
                let mut own = figures.iter();
                own.find(|f| f.metric == "items_per_second")
                    .map(|f| f.value)
            }
            _ => None,
        })
        .collect();
    assert_eq!(rates, [638_304_000.0, 655_100.0]);
}
