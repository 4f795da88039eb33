//! Figures that are no measurement of what is compared, and figures of two comparisons.
//!
//! Beside each text stands one that differs in what the rule is about, and is compared.

use std::collections::BTreeSet;

use crate::common::{cells, records};

/// `workload: metric: names` of all that has figures of several configurations.
fn compared(post: &str) -> Vec<String> {
    let records = records(post);
    let cells = cells(&records);
    let several = cells.iter().filter(|(_, names)| names.len() > 1);
    let shown = several.map(|((workload, metric), names)| {
        let names: Vec<&str> = names.iter().copied().collect();
        format!("{workload}: {metric}: {}", names.join(", "))
    });
    shown.collect()
}

fn codes(post: &str) -> Vec<String> {
    let doubts = records(post).doubts.into_iter();
    doubts.map(|doubt| doubt.code).collect()
}

fn counted(command: &str, misses: u32, elapsed: &str) -> String {
    format!(
        "\n$ perf stat -e cache-misses {command}\n\n Performance counter stats for '{command}':\n\n\
         \x20       {misses}      cache-misses\n\n       {elapsed} seconds time elapsed\n\n"
    )
}

#[test]
fn how_long_sleep_takes_is_not_compared_and_what_was_counted_meanwhile_is() {
    let post = |command: &str| {
        let (before, after) = (
            counted(command, 71_205, "2.001250313"),
            counted(command, 70_981, "2.000700771"),
        );
        format!("Before this patch:\n{before}After this patch:\n{after}")
    };
    let names = "After this patch, Before this patch";
    assert_eq!(
        compared(&post("sleep 2")),
        [format!("sleep 2: cache-misses: {names}")]
    );
    assert_eq!(
        compared(&post("copy 2")),
        [
            format!("copy 2: cache-misses: {names}"),
            format!("copy 2: elapsed: {names}")
        ]
    );
    // It is read, and said what it is of.
    let records = records(&post("sleep 2"));
    let elapsed = records.statements.iter().filter(|s| s.metric == "elapsed");
    assert_eq!(elapsed.count(), 2);
}

#[test]
fn when_the_last_interval_ended_is_not_compared() {
    let half = |from: u32| {
        let rows = (1..=4).map(|second| {
            format!(
                "     {second}.00{second}123456   {}      faults\n",
                from + second
            )
        });
        format!(
            "$ perf stat -I 1000 -e faults ./walk\n#           time             counts unit events\n{}\n",
            rows.collect::<String>()
        )
    };
    let post = format!("Before:\n\n{}After:\n\n{}", half(5200), half(5100));
    assert_eq!(compared(&post), ["walk: faults: After, Before"]);
}

/// Two states of a table with a column of this name, which has these values.
fn with_column(name: &str, values: [u32; 2]) -> String {
    format!(
        "Throughput of the two kernels:\n\n\
         kernel      {name}    Median      Avg\n\
         vanilla     {}    1528.32    1530.11\n\
         patched     {}    1544.87    1547.25\n",
        values[0], values[1]
    )
}

#[test]
fn how_often_something_was_done_is_not_compared_if_it_is_the_same_everywhere() {
    let of = |name: &str, values| -> bool {
        let found = compared(&with_column(name, values));
        assert!(found.iter().any(|one| one.contains(": Avg: ")), "{found:?}");
        let column = format!(": {name}: ");
        found.iter().any(|one| one.contains(&column))
    };
    assert!(!of("N", [5, 5]));
    assert!(!of("Iterations", [40, 40]));
    assert!(of("Iterations", [40, 41]));
    assert!(of("Faults", [40, 40]));
    assert!(!of("Timeout of all", [30, 30]));
    assert!(of("Runs of all", [30, 30]));
}

fn benchmark(number: u32, command: &str, mean: &str) -> String {
    format!(
        "Benchmark {number}: {command}\n  Time (mean ± σ):     {mean} ms ±  0.9 ms    [User: 6.5 ms, System: 3.4 ms]\n  \
         Range (min … max):    5.8 ms …  72.7 ms    50 runs\n\n"
    )
}

#[test]
fn what_one_call_of_hyperfine_compares_is_compared_with_nothing_of_another() {
    let first = benchmark(1, "make tiny", "9.6") + &benchmark(2, "make CC=clang tiny", "33.0");
    let other = benchmark(1, "echo | gcc -c -", "1.6") + &benchmark(2, "echo | clang -c -", "3.1");
    let again = benchmark(1, "make tiny", "8.1") + &benchmark(2, "make CC=clang tiny", "25.0");
    let post = format!("{first}The compilers do it.\n\n{other}The laptop does it.\n\n{again}");
    let times = |post: &str| {
        let all = compared(post).into_iter();
        let times = all.filter_map(|one| Some(one.split_once(": time: ")?.1.to_owned()));
        times.collect::<Vec<_>>()
    };
    let (compilers, makes) = (
        "echo | clang -c -, echo | gcc -c -",
        "make CC=clang tiny, make tiny",
    );
    let mut found = times(&post);
    found.sort_unstable();
    assert_eq!(found, [compilers, makes, makes]);
    // Of no command there are more runs than hyperfine made.
    assert!(records(&post).summaries.iter().all(|one| one.n == Some(50)));
    // One call for each command: these are compared.
    let calls = benchmark(1, "make tiny", "9.6")
        + "And then\n\n"
        + &benchmark(1, "make CC=clang tiny", "33.0");
    assert_eq!(times(&calls), [makes]);
}

fn google(program: &str, name: &str, time: f64) -> String {
    format!(
        "{program} --filter {name}\n{rule}\nBenchmark           Time             CPU   Iterations\n{rule}\n\
         {name}     {time} ns         {time} ns      8385964\n\n",
        rule = "-".repeat(53)
    )
}

#[test]
fn commands_below_headings_are_no_configurations() {
    let post = format!(
        "BEFORE:\n{}{}AFTER:\n{}{}",
        google("tiny-benchmarks32", "BM_now", 83.6),
        google("tiny-benchmarks64", "BM_now", 63.5),
        google("tiny-benchmarks32", "BM_now", 8.57),
        google("tiny-benchmarks64", "BM_now", 7.52)
    );
    assert_eq!(compared(&post), [] as [String; 0]);
}

#[test]
fn a_counter_and_a_symbol_are_no_headings() {
    let part = |heading: &str, line: &str, seconds: &str| {
        format!("{heading}:\n\n    {line}\n    {seconds} seconds time elapsed\n\n")
    };
    for line in [
        "40,168      dTLB-miss",
        "1.013131404   50939   sched:sched_switch",
    ] {
        let post = part("Without huge pages", line, "0.100342754")
            + &part("With huge pages", &line.replace('4', "2"), "0.095933138");
        let found = compared(&post);
        let names = "With huge pages, Without huge pages";
        let all = found.iter().all(|one| one.ends_with(names));
        assert!(all && !found.is_empty(), "{found:?}");
    }
}

/// What `dd` printed, once after a second if it shows how far it has come.
fn dd(bytes: u64, seconds: f64, shows: bool) -> String {
    let line = |bytes: u64, seconds: f64| {
        let rate = bytes as f64 / seconds / 1e6;
        format!("{bytes} bytes (x GB, y GiB) copied, {seconds} s, {rate:.1} MB/s\n")
    };
    let way = match shows {
        true => line(bytes / 2, 1.0),
        false => String::new(),
    };
    format!(
        "{way}2048+0 records in\n2048+0 records out\n{}",
        line(bytes, seconds)
    )
}

fn copies(before: [(u64, f64); 2], after: [(u64, f64); 2], shows: bool) -> String {
    let half = |runs: [(u64, f64); 2]| runs.map(|(bytes, s)| dd(bytes, s, shows)).concat();
    format!(
        "Before the patch:\n\n{}\nAfter the patch:\n\n{}",
        half(before),
        half(after)
    )
}

#[test]
fn how_far_dd_has_come_is_no_run_of_its_own() {
    let gigabytes = 2_147_483_648;
    for shows in [false, true] {
        let post = copies(
            [(gigabytes, 1.93), (gigabytes, 1.78)],
            [(gigabytes, 1.23), (gigabytes, 1.25)],
            shows,
        );
        let runs = records(&post).runs;
        let seconds: Vec<f64> = runs.iter().map(|run| run.metrics["time"].value).collect();
        assert_eq!(seconds, [1.93, 1.78, 1.23, 1.25], "{shows}");
    }
    // The second one copied more, and the first one had ended.
    let post = copies(
        [(gigabytes, 1.9), (2 * gigabytes, 3.8)],
        [(gigabytes, 1.2), (2 * gigabytes, 2.4)],
        false,
    );
    assert_eq!(records(&post).runs.len(), 4);
}

#[test]
fn times_of_different_numbers_of_bytes_are_not_compared() {
    let names = "After the patch, Before the patch";
    let (small, large) = (2_147_483_648, 17_179_869_184);
    let one = copies(
        [(small, 1.93), (small, 1.78)],
        [(small, 1.23), (small, 1.25)],
        false,
    );
    assert_eq!(
        compared(&one),
        [format!("dd: rate: {names}"), format!("dd: time: {names}")]
    );
    let two = copies(
        [(small, 1.93), (small, 1.78)],
        [(large, 9.23), (large, 9.25)],
        false,
    );
    assert!(!compared(&two).iter().any(|one| one.contains(": time")));
}

#[test]
fn amounts_of_what_is_done_are_no_configurations() {
    let time = |heading: &str, time: f64| {
        format!(
            "{heading}\n---------\nDispatch:  time:   [{time} ns {} ns {} ns]\n\n",
            time + 0.01,
            time + 0.02
        )
    };
    let post = |names: [&str; 2]| {
        let (first, second) = (time(names[0], 2.06), time(names[1], 21.36));
        format!("The benchmark compares the performance:\n\n{first}{second}")
    };
    assert_eq!(compared(&post(["2 Actions", "20 Actions"])), [""; 0]);
    assert!(!compared(&post(["Dynamic calls", "Static calls"])).is_empty());
}

/// A shell's loop over functions and what `time` says of each, for strings of these lengths.
fn looped(lengths: &[u32]) -> String {
    let mut post = "How fast the functions are:\n\n".to_string();
    for (length, scale) in lengths.iter().zip(1..) {
        post += &format!(
            "\t$ for f in old_copy new_copy; do\n\t\techo; echo $f:;\n\t\t\
             time ./copies {length} 1000000 $f;\n\t  done;\n\n"
        );
        for (name, ms) in [("old_copy", 188 + scale), ("new_copy", 148 + scale)] {
            post += &format!(
                "\t{name}:\n\n\treal\t0m0.{ms}s\n\tuser\t0m0.{}s\n\tsys\t0m0.004s\n\n",
                ms - 4
            );
        }
    }
    post
}

/// Configuration, workload and number of runs of everything that has `real` times.
fn runs_of_real(post: &str) -> Vec<(String, String, usize)> {
    let mut counts: Vec<(String, String, usize)> = Vec::new();
    for run in records(post).runs {
        if run.metrics.contains_key("real") {
            let cell = (run.configuration, run.workload);
            match counts
                .iter_mut()
                .find(|(c, w, _)| (c, w) == (&cell.0, &cell.1))
            {
                Some((.., count)) => *count += 1,
                None => counts.push((cell.0, cell.1, 1)),
            }
        }
    }
    counts
}

#[test]
fn what_a_loop_measures_with_other_arguments_is_no_further_run() {
    let runs = runs_of_real(&looped(&[16, 64]));
    let counts: Vec<usize> = runs.iter().map(|(.., count)| *count).collect();
    assert_eq!(counts, [1; 4], "{runs:?}");
    let twice = runs_of_real(&looped(&[16, 16]));
    let counts: Vec<usize> = twice.iter().map(|(.., count)| *count).collect();
    assert_eq!(counts, [2; 2], "{twice:?}");
}

#[test]
fn figures_printed_once_more_below_a_heading_that_is_not_seen_count_once() {
    let runs = |first: u32| {
        let lines = (0..3).map(|n| {
            format!(
                "  write: IOPS={first}.{n}k, BW={}MiB/s (1MB/s)(7750MiB/30002msec)\n",
                first * 4 + n
            )
        });
        lines.collect::<String>()
    };
    let (off, on) = (runs(66), runs(153));
    let post = format!(
        "With the patch, use_vfs=0:\n{off}\nWith the patch, use_vfs=1:\n{on}\n\
         And so it goes on, which the list below shows once more for those who want it.\n\n{off}\n"
    );
    let mut counts: Vec<(String, usize)> = Vec::new();
    for run in records(&post).runs {
        match counts
            .iter_mut()
            .find(|(name, _)| *name == run.configuration)
        {
            Some((_, count)) => *count += 1,
            None => counts.push((run.configuration, 1)),
        }
    }
    assert_eq!(counts.len(), 2, "{counts:?}");
    assert!(counts.iter().all(|(_, count)| *count == 3), "{counts:?}");
    assert!(codes(&post).contains(&"duplicate-rows".to_string()));
}

#[test]
fn jobs_that_went_on_for_other_times_are_compared_by_their_rates() {
    let job = |state: &str, rate: u32, seconds: u32| {
        format!(
            "{state}:\n   READ: bw={rate}MiB/s (1MB/s), {rate}MiB/s-{rate}MiB/s (1MB/s-1MB/s), \
             io={}GiB (1GB), run={seconds}002-{seconds}002msec\n\n",
            rate * seconds / 1024
        )
    };
    let post = |seconds: [u32; 2]| {
        let states = [
            job("Without this patch", 3539, seconds[0]),
            job("With this patch", 4420, seconds[1]),
        ];
        compared(&states.concat()).len()
    };
    assert_eq!((post([60, 60]), post([30, 60])), (3, 1));
}

#[test]
fn numbers_of_virtual_cpus_are_no_configurations() {
    let table = |name: &str| {
        let rows = [(1, 965), (2, 1006), (4, 1128), (8, 2005)]
            .map(|(n, ms)| format!("| {n:7} | {ms:22} |\n"));
        let text = "The test result shows an improvement for the different numbers.\n\n";
        compared(&format!(
            "{text}| {name:7} | dirty memory time (ms) |\n|---------|------------------------|\n{}",
            rows.concat()
        ))
    };
    assert!(table("#vCPU").is_empty(), "{:?}", table("#vCPU"));
}

#[test]
fn a_part_of_a_line_behind_a_parenthesis_is_no_configuration() {
    let line = |state: &str, user: u32| {
        format!("   {state} {user},94s user 1895,54s system 1085% cpu 29:59,22 total\n")
    };
    let post = format!(
        "Time of builds:\n\n1.\n{}{}\n2.\n{}{}\n",
        line("(with patch)", 17635),
        line("(w/o patch)", 17275),
        line("(with patch)", 17369),
        line("(w/o patch)", 16880),
    );
    let names: BTreeSet<String> = records(&post)
        .runs
        .into_iter()
        .map(|run| run.configuration)
        .collect();
    assert!(!names.iter().any(|name| name.contains("17")), "{names:?}");
}

/// The time of a single call is not compared with the mean of a few.
#[test]
fn some_calls_of_a_function_are_not_compared_with_one() {
    let trace = |times: &[f64]| {
        let mut trace = String::from("  0)               |  extend() {\n");
        for time in times {
            trace += &format!("  0) # {time} us |    transmit();\n");
        }
        trace + "  0) # 9415.25 us |  }\n"
    };
    let post = |first: &[f64], second: &[f64]| {
        let post = format!(
            "Without encryption:\n\n{}\nWith encryption:\n\n{}",
            trace(first),
            trace(second)
        );
        let all = compared(&post);
        all.iter().filter(|one| one.contains("transmit")).count()
    };
    assert_eq!(post(&[6360.5], &[24356.5]), 1);
    assert_eq!(post(&[6360.5], &[84746.5, 3195.5, 24356.5]), 0);
    assert_eq!(post(&[6360.5; 3], &[84746.5, 3195.5, 24356.5]), 1);
    assert_eq!(post(&[6360.5; 11], &[24356.5; 12]), 1);
}

/// The heading above one call of hyperfine says nothing of another that a text stands above.
#[test]
fn a_heading_names_the_first_call_of_hyperfine_below_it() {
    let calls = |time: &str| benchmark(1, "make tiny", "9.6") + &benchmark(2, "make all", time);
    let post = format!(
        "At v5.13-rc1 it is not much, as two runs say:\n\n{}However, later it is almost 150%.\n\n{}",
        calls("33.0"),
        calls("66.0")
    );
    let names: BTreeSet<String> = records(&post)
        .summaries
        .into_iter()
        .map(|one| one.workload)
        .collect();
    let about = |name: &&String| name.contains("v5.13-rc1");
    assert_eq!(names.iter().filter(about).count(), 1, "{names:?}");
    assert_eq!(names.len(), 2);
}
