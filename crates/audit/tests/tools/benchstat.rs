//! `go test -bench` and `benchstat`.

use super::*;

#[test]
fn each_result_of_go_test_is_a_run() {
    let read = read(include_str!("../benchstat/go-test.txt"));
    let runs = read.runs();
    assert_eq!(runs.len(), 4);
    let (line, labels, figures) = &runs[1];
    assert_eq!(*line, 6);
    assert_eq!(labels.workload.as_deref(), Some("Repeat-2"));
    assert_eq!(labels.repetition, Some(2));
    assert_eq!(figures[0], Figure::new("ns/op", 38.30, "ns"));
    assert_eq!(figures[1], Figure::new("MB/s", 1670.99, "MB/s"));
    assert_eq!(figures[3], Figure::new("allocs/op", 1.0, ""));
    assert!(read.taken.iter().all(|t| !t.is_empty()));
}

#[test]
fn results_that_a_mailer_wrapped_are_joined() {
    let inside = read("BenchmarkA-8   1000   1234 ns/op   12 B/op   3\nallocs/op\n");
    assert_eq!(inside.figure("allocs/op"), of(3.0, ""));
    let between = read("BenchmarkA-8   1000   1234 ns/op\n   12 B/op   3 allocs/op\n");
    assert_eq!(between.figure("B/op"), of(12.0, "B"));
}

#[test]
fn verbose_names_are_explained() {
    let read = read("BenchmarkA\nBenchmarkA-8   10   1.5 ns/op\n");
    assert_eq!(read.taken, ["go bench name", "go bench result"]);
}

#[test]
fn go_results_without_or_with_bad_figures_are_doubts() {
    assert_eq!(read("BenchmarkA-8   1000\n").doubts(), ["truncated-block"]);
    let bad = read("BenchmarkA-8   1000   NaN ns/op   3 B/op\n");
    assert_eq!(
        (bad.doubts(), bad.figure("B/op")),
        (vec!["bad-number"], of(3.0, "B"))
    );
    assert!(
        read("BenchmarkA is what I ran\nBenchmarks are hard\n")
            .findings
            .is_empty()
    );
}

#[test]
fn new_tables_are_read_by_column_with_prefixes_resolved() {
    let read = read(include_str!("../benchstat/new-layout.txt"));
    let summaries = read.summaries();
    assert_eq!(summaries.len(), 21);
    let cell = |c: &str, w: &str, f, n| (c.to_owned(), w.to_owned(), f, None, n);
    assert_eq!(
        summaries[..2],
        [
            cell(
                "old.txt",
                "Push-8",
                Figure::new("sec/op", 1.202e-6, "s"),
                Some(10)
            ),
            cell(
                "new.txt",
                "Push-8",
                Figure::new("sec/op", 1.105e-6, "s"),
                Some(10)
            ),
        ]
    );
    let kib = Figure::new("B/op", 2048.0, "B");
    assert_eq!(
        summaries[9],
        cell("old.txt", "Pop/size=64-8", kib, Some(10))
    );
    assert_eq!(summaries[20].2, Figure::new("allocs/op", 1.0, ""));
}

#[test]
fn a_benchmark_of_one_file_only_stays_in_its_column() {
    for text in [
        include_str!("../benchstat/new-layout.txt"),
        include_str!("../benchstat/old-layout-three-files.txt"),
    ] {
        let extra: Vec<_> = read(text)
            .summaries()
            .into_iter()
            .filter(|s| s.1 == "Extra-8")
            .collect();
        assert_eq!(extra.len(), 3);
        assert!(extra.iter().all(|s| s.0 == "new.txt"));
    }
}

#[test]
fn the_spread_is_doubted_once_per_table() {
    for (text, tables) in [
        (include_str!("../benchstat/new-layout.txt"), 3),
        (include_str!("../benchstat/old-layout.txt"), 3),
        (include_str!("../benchstat/new-layout-too-few.txt"), 3),
    ] {
        let read = read(text);
        assert_eq!(read.doubts(), vec!["spread-unknown"; tables]);
        assert!(read.summaries().iter().all(|s| s.3.is_none()));
    }
}

#[test]
fn the_numbers_of_runs_may_differ() {
    let few = read(include_str!("../benchstat/new-layout-too-few.txt")).summaries();
    assert_eq!((few[0].4, few[1].4), (Some(3), Some(9)));
    let three = read(include_str!("../benchstat/new-layout-three-files.txt")).summaries();
    assert_eq!(
        (three[0].4, three[1].4, three[2].4),
        (Some(10), Some(10), Some(9))
    );
    let old = read(include_str!("../benchstat/old-layout.txt")).summaries();
    assert_eq!((old[0].4, old[1].4), (Some(10), Some(8)));
}

#[test]
fn old_tables_are_read_in_base_units() {
    let read = read(include_str!("../benchstat/old-layout.txt"));
    let summaries = read.summaries();
    assert_eq!(summaries.len(), 18);
    assert_eq!(summaries[0].0, "old");
    assert_eq!(summaries[0].2, Figure::new("time/op", 1.20e-6, "s"));
    assert_eq!(summaries[3].2, Figure::new("time/op", 340e-6, "s"));
    assert_eq!(summaries[8].2, Figure::new("alloc/op", 2050.0, "B"));
    assert_eq!(summaries[12].2, Figure::new("allocs/op", 2.0, ""));
    assert!(read.taken.contains(&"benchstat geomean"));
}

#[test]
fn prose_below_a_table_is_not_a_row() {
    let read = read("name  time/op\nA-8   1.20ms ± 1%\nThat took 3 hours.\n");
    assert_eq!(read.summaries().len(), 1);
    assert_eq!(read.taken, ["benchstat header", "benchstat row", ""]);
}

#[test]
fn cells_that_fit_nowhere_and_bad_numbers_are_doubts() {
    let bad = read(
        "name  old time/op  new time/op  delta\nA-8   1,2,3ms ± 1%  1.10ms ± 2%  -8.33%  (p=0.000 n=5+5)\n",
    );
    assert_eq!(bad.doubts(), ["bad-number", "spread-unknown"]);
    assert_eq!(bad.summaries().len(), 1);
    let many = read("name  time/op\nA-8   1ms  2ms  3ms\n");
    assert!(many.doubts().contains(&"ragged-row"));
    assert_eq!(read("name  time/op\n\n").doubts(), ["truncated-block"]);
}

/// A benchmark may report under any unit; that the next column compares says whose table it is.
#[test]
fn a_unit_without_an_operation_is_read_beside_a_comparison() {
    let table = |unit: &str| {
        format!(
            "        │   before    │          after           │\n        \
                     │ {unit} │ {unit}  vs base │\n\
             StartUp  1083.7m ± 2%   943.9m ± 3%  -12.91% (p=0.000 n=16)\n"
        )
    };
    let first = |text: &str| read(text).summaries().into_iter().next().map(|s| s.2);
    for metric in ["sec", "init-p50-sec"] {
        let figure = first(&table(metric));
        assert_eq!(figure, Some(Figure::new(metric, 1.0837, "s")));
    }
    assert_eq!(
        first(&table("depth")),
        Some(Figure::new("depth", 1.0837, "depth"))
    );
    let bars = "        │ before │ after │\n        │ sec │ sec │\nStartUp  1 2\n";
    assert!(read(bars).summaries().is_empty());
}
