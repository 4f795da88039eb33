//! Figures that are no measurement of what is compared, and figures of two comparisons.
//!
//! Beside each text stands one that differs in what the rule is about, and is compared.

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
