//! Figures that are no measurement of what is compared, and figures of two comparisons.
//!
//! Beside each text stands one that differs in what the rule is about, and is compared.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

mod common;

use std::collections::BTreeSet;

use common::{cells, records};

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

fn works(post: &str) -> BTreeSet<String> {
    let runs = records(post).runs.into_iter();
    runs.map(|run| run.workload).collect()
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
fn programs_that_stand_below_each_state_are_no_runs_of_one_benchmark() {
    let post = format!(
        "BEFORE:\n{}{}AFTER:\n{}{}",
        google("tiny-benchmarks32", "BM_now", 83.6),
        google("tiny-benchmarks64", "BM_now", 63.5),
        google("tiny-benchmarks32", "BM_now", 8.57),
        google("tiny-benchmarks64", "BM_now", 7.52)
    );
    let records = records(&post);
    let workloads: BTreeSet<&str> = records.runs.iter().map(|r| r.workload.as_str()).collect();
    assert_eq!(workloads.len(), 2, "{workloads:?}");
    assert!(records.runs.iter().all(|run| run.repetition == 1));
    let found = compared(&post);
    assert_eq!(found.len(), 4);
    let all = found.iter().all(|one| one.ends_with(": AFTER, BEFORE"));
    assert!(all, "{found:?}");
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

fn profile(rows: &[(f64, &str)]) -> String {
    let row = |(share, symbol): &(f64, &str)| {
        format!("    {share:.2}%  dd       [kernel.vmlinux]   [k] {symbol}\n")
    };
    rows.iter().map(row).collect()
}

#[test]
fn a_symbol_that_a_mailer_wrapped_belongs_to_its_row() {
    let wrapped = |text: String| text.replace("[k] __take.isra.0", "[k]\n__take.isra.0");
    let (before, after) = (
        profile(&[(9.5, "clear_page"), (4.25, "__take.isra.0"), (3.5, "iput")]),
        profile(&[(8.5, "clear_page"), (3.25, "__take.isra.0"), (2.5, "iput")]),
    );
    let post = format!("Before the patch:\n\n{before}\nAfter the patch:\n\n{after}");
    assert_eq!(compared(&post).len(), 3);
    assert_eq!(compared(&wrapped(post.clone())), compared(&post));
}

#[test]
fn shares_of_single_samples_are_not_read() {
    let half = |count: [u32; 2]| {
        format!(
            "    29.51%             {}  L2 hit     [k] perf_event_exec    [kernel.vmlinux]\n    \
             27.05%             {}  L1 hit     [k] perf_ctx_unlock    [kernel.vmlinux]\n",
            count[0], count[1]
        )
    };
    let post = |count| {
        let (before, after) = (half(count), half(count).replace("27.05", "22.05"));
        format!("Without this patch:\n\n{before}\nWith this patch:\n\n{after}")
    };
    assert!(compared(&post([1, 1])).is_empty());
    assert!(codes(&post([1, 1])).contains(&"few-samples".to_owned()));
    assert_eq!(compared(&post([812, 406])).len(), 2);
}

#[test]
fn changes_that_follow_from_columns_say_what_is_compared_also_below_headings() {
    let table = |first: [f64; 2], change: &str| {
        format!(
            "                        POOL_0       change       POOL_1\n\
             will-it-scale.faults    {}    -{change}    {}\n\
             will-it-scale.calls     {}    -{change}    {}\n\n",
            first[0],
            first[0] * 0.9,
            first[1],
            first[1] * 0.9
        )
    };
    let post = |change: &str| {
        let (on, off) = (
            table([266_400.5, 448_000.5], change),
            table([265_300.5, 443_600.5], change),
        );
        format!(
            "The throughput gets worse:\n\na) Huge pages enabled\n\n{on}b) Huge pages disabled\n\n{off}"
        )
    };
    let found = compared(&post("10.0%"));
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(
        found.iter().all(|one| one.ends_with("POOL_0, POOL_1")),
        "{found:?}"
    );
    // Changes that do not follow say nothing.
    let other = compared(&post("57.5%"));
    assert!(
        !other.iter().any(|one| one.ends_with("POOL_0, POOL_1")),
        "{other:?}"
    );
}

fn boots(rows: [(&str, u32, u32); 3]) -> String {
    let rule = "+----------------------------------+------------+------------+";
    let row =
        |(name, old, new): (&str, u32, u32)| format!("| {name:<32} | {old:<10} | {new:<10} |\n");
    format!(
        "The commit makes netperf slower compared with its parent, in throughput and latency:\n\n{rule}\n\
         | {:<32} | f7bfece000 | a1a514f208 |\n{rule}\n{}{rule}\n",
        "",
        rows.map(row).concat()
    )
}

#[test]
fn how_many_boots_ended_how_is_no_measurement() {
    let tally = boots([
        ("boot_successes", 16, 3),
        ("boot_failures", 2, 50),
        ("WARNING:latency", 0, 43),
    ]);
    assert!(compared(&tally).is_empty());
    let rates = boots([
        ("read requests/s", 1611, 1302),
        ("write requests/s", 2250, 2051),
        ("latency", 210, 243),
    ]);
    assert_eq!(compared(&rates).len(), 3);
}

#[test]
fn by_how_much_something_improved_is_no_configuration() {
    let table = |unit: &str| {
        format!(
            "Latency of the interrupt, in us, without and with the patch:\n\n\
             \x20          without patch          with patch        improved\n\
             \x201 NIC         1.766 us          1.694 us          4.1{unit}\n\
             \x2010 NICs       2.574 us          1.848 us         28.2{unit}\n"
        )
    };
    let found = compared(&table("%"));
    assert_eq!(found.len(), 2);
    assert!(
        !found.iter().any(|one| one.contains("improved")),
        "{found:?}"
    );
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
fn rows_that_say_before_and_after_are_compared_and_not_the_columns_of_a_setting() {
    let table = |rows: [&str; 2]| {
        format!(
            "The throughput on this machine improves:\n\n\
             \x20       | SMAP on | SMAP off\n{}  | 5.2Mpps | 7.1Mpps\n{}  | 6.4Mpps | 8.2Mpps\n",
            rows[0], rows[1]
        )
    };
    let all = compared(&table(["Before:", "After: "]));
    assert!(
        all.iter().all(|text| text.ends_with("After, Before")),
        "{all:?}"
    );
    assert_eq!(all.len(), 2);
    let all = compared(&table(["read:  ", "write: "]));
    let columns = |text: &String| text.ends_with("SMAP off, SMAP on");
    assert!(all.len() == 2 && all.iter().all(columns), "{all:?}");
}

#[test]
fn columns_that_measure_the_same_of_two_things_are_not_passed_over_for_headings() {
    let table = |columns: [&str; 2], cycles: [u32; 2]| {
        let rows = [64, 1420, 16384].map(|length| {
            let [a, b] = cycles.map(|cycles| cycles * length / 64);
            format!("        {length:>15}    {a:>21}    {b:>17}\n")
        });
        format!(
            "        Length in bytes    {:>21}    {:>17}\n        ===============    {}    {}\n{}",
            columns[0],
            columns[1],
            "=".repeat(21),
            "=".repeat(17),
            rows.concat()
        )
    };
    let post = |columns: [&str; 2]| {
        format!(
            "The performance of both functions was measured:\n\n    Linear buffers\n\n{}\n    Nonlinear buffers\n\n{}",
            table(columns, [43, 18]),
            table(columns, [579, 22])
        )
    };
    assert_eq!(
        compared(&post(["checksum cycles", "crc32c cycles"])),
        [""; 0]
    );
    let of_one = compared(&post(["p99 latency (us)", "avg latency (us)"]));
    let headings = |text: &String| text.ends_with("Linear buffers, Nonlinear buffers");
    assert!(
        !of_one.is_empty() && of_one.iter().all(headings),
        "{of_one:?}"
    );
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
fn tables_below_a_heading_that_comes_again_are_not_averaged() {
    let table = |state: &str, read: u32, copy: u32| {
        format!(
            "{state}:\nMethod       | alloc | time\n---------------------------\n\
             plain read   | 14{read}   | {read}86\nplain copy   | 13{copy}   | {copy}24\n\n"
        )
    };
    let once = [
        table("Without cache clearing", 3, 1),
        table("With cache clearing", 5, 3),
    ]
    .concat();
    let again = [
        table("Without cache clearing", 7, 2),
        table("With cache clearing", 9, 4),
    ]
    .concat();
    let text = "The figures are in ms and show how much slower it is.\n\n";
    assert_eq!(compared(&format!("{text}{once}")).len(), 4);
    let both = format!("{text}{once}On the other machine:\n\n{again}");
    assert!(compared(&both).is_empty(), "{:?}", compared(&both));
}

#[test]
fn changes_are_compared_on_each_file_system_and_not_across() {
    let post = |names: [&str; 4]| {
        let rates = [
            "544 MiB/s",
            "1015 MiB/s (+86%)",
            "536 MiB/s",
            "1047 MiB/s (+95%)",
        ];
        let rows = names.iter().zip(rates);
        let rows = rows.map(|(name, rate)| format!("  {name:24}: {rate}\n"));
        let rows = rows.collect::<String>();
        compared(&format!(
            "We see a gain in the throughput of writes:\n\nOn NVMe:\n{rows}"
        ))
    };
    let each = post([
        "Base XFS",
        "Parallel Writeback XFS",
        "Base EXT4",
        "Parallel Writeback EXT4",
    ]);
    assert_eq!(each.len(), 2, "{each:?}");
    let by_state = |cell: &String| cell.ends_with(": Base, Parallel Writeback");
    assert!(each.iter().all(by_state), "{each:?}");
    // All four are compared where they are no product.
    let four = post(["Base", "Parallel Writeback", "Patched", "Patched and tuned"]);
    assert_eq!(four.len(), 1, "{four:?}");
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
fn modes_of_files_and_cells_of_two_figures_are_not_compared() {
    let fio = |table: &str| compared(&format!("fio gets more IOPS now:\n\n{table}")).len();
    let modes = |head: &str| {
        fio(&format!(
            "diff --git a/drivers/scsi/some_fusion.c\nb/drivers/scsi/some_fusion.c\n{head}index f3b36fd..c0784\n"
        ))
    };
    assert_eq!(modes("old mode 1006.5\nnew mode 1007.5\n"), 1);
    assert_eq!(modes("old mode 100644\nnew mode 100755\n"), 0);
    let states = |columns: &str| {
        fio(&format!(
            "  {columns}\n----------------------------------------\n\
             base    | 1.5x (3919 -> 5874) | 3x (29 -> 87)\n\
             patched | 1.09x ( 29 ->   87) | 9x (11 -> 97)\n"
        ))
    };
    assert_eq!(states("IOPS            | sys cpu%"), 2);
    assert_eq!(states("IOPS (old->new) | sys cpu% (old->new)"), 0);
}

#[test]
fn counters_of_a_network_card_are_not_compared_and_rates_are() {
    let table = |values: [&str; 2]| {
        let [before, after] = values;
        compared(&format!(
            "The driver is faster now:\n\ncase          before        after\n\
             tx_packets    {before}    {after}\nlatency us    12.5          11.5\n"
        ))
    };
    assert_eq!(table(["15.5", "15.9"]).len(), 2);
    assert_eq!(table(["3615824336", "68152727"]).len(), 1);
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

#[test]
fn commands_with_other_arguments_below_a_work_in_a_state_are_no_runs_of_one() {
    let upload = "iperf3 -c host -P 5";
    let run = |command: &str, rate: u32| {
        format!(
            "{command}\n\n[ ID] Interval           Transfer     Bitrate         Retr\n\
             [  5]   0.00-10.00  sec   120 MBytes   {rate} Mbits/sec    0             sender\n\
             [  5]   0.00-10.02  sec   119 MBytes  {rate}.4 Mbits/sec                  receiver\n\n"
        )
    };
    let post = |second: &str| {
        let mut post = String::from("The throughput is compared:\n\n");
        for (driver, rate) in [("1.2-k", 101), ("1.4-n", 143)] {
            for (state, more) in [("w/", 0), ("w/o", 17)] {
                let rate = rate + more;
                post += &format!("{driver} {state} TSO\n\n");
                post += &run(upload, rate);
                post += &run(second, rate + 411);
            }
        }
        post
    };
    let all = works(&post("iperf3 -c host -P 5 -R"));
    let named = ["1.2-k", "1.4-n"].map(|driver| {
        let upload = format!("{driver} {upload}");
        [format!("{upload} -R"), upload]
    });
    assert_eq!(all, named.into_iter().flatten().collect());
    // Of one command nothing needs to be said.
    let once = works(&post(upload));
    assert!(once.iter().all(|work| !work.contains(upload)), "{once:?}");
}

/// A name of what was run is of these figures, or is not given.
#[test]
fn figures_have_no_name_of_something_else() {
    let table = |rate: u32| {
        format!(
            "| test | base | patched | change |\n|------|------|---------|--------|\n\
             | mean | {rate}.5 | {}.5 | +10.0% |\n\n",
            rate + rate / 10
        )
    };
    // A command above a text is an example.
    let post = |text: &str| format!("$ bench --threads=4 run\n\n{text}\n\n{}", table(200));
    assert_eq!(works(&post("")), ["bench".to_owned()].into());
    let told = "This shows that each of its workers waits for the others in turn.";
    assert_eq!(works(&post(told)), ["table".to_owned()].into());
    // A heading above another table says nothing of the one below a text.
    let heading = "Throughput on the small machine:\n\n";
    let far = "It says that the larger machine has less of it.\n\n";
    let both = works(&format!("{heading}{}{far}{}", table(200), table(300)));
    let expected = ["Throughput on the small machine", "table at line 11"];
    assert_eq!(both, expected.map(str::to_owned).into());
    // The end of a script is none.
    let script = |last: &str| {
        format!(
            "  end=$(date +%s%N)\n\n  {last}\n\nTime before the change:  1121.5 milliseconds\n\
             Time after the change:    815.5 milliseconds\n"
        )
    };
    assert!(!works(&script("umount $MNT")).contains("umount $MNT"));
}

/// Figures are not put below a heading that stands above others, which no format reads.
#[test]
fn a_state_above_unread_figures_is_that_of_no_others() {
    let post = |rest: &str| {
        let block = |state: &str, [push, ret]: [f64; 2], rest: &str| {
            format!(
                "  {state}:\n    probe-push :    {push:.3} ± 0.001M/s{rest}\n\
                 \x20   probe-ret  :    {ret:.3} ± 0.001M/s{rest}\n\n"
            )
        };
        let mut post = String::from(
            "The throughput is better (compared to the old way):\n\n  On the laptop (quick)\n\n",
        );
        post += &block("current", [1.441, 0.811], "");
        post += &block("with the fix", [1.907, 0.931], rest);
        post += "  On the server (slow)\n\n";
        post += &block("current", [0.747, 0.542], "");
        post += &block("with the fix", [0.815, 0.573], rest);
        post
    };
    let configurations = |post: &str| -> BTreeSet<String> {
        let all = records(post).summaries.into_iter();
        let slow = all.filter(|one| [0.747, 0.542].contains(&one.mean));
        slow.map(|one| one.configuration).collect()
    };
    for rest in [
        "",
        "  < 31% speed up",
        "  as seen on one of the two machines",
    ] {
        let of = configurations(&post(rest));
        assert!(!of.contains("with the fix"), "{rest}: {of:?}");
    }
    // How much faster it is may stand behind a mean.
    let read = |rest: &str| records(&post(rest)).summaries.len();
    assert_eq!(read("  < 31% speed up"), 8);
    assert_eq!(read("  as seen on one of the two machines"), 4);
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
