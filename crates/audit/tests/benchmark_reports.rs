//! Reports of benchmarks as they stand in mails: dbench, stress-ng and others.

use std::collections::BTreeMap;

use crate::common::records;
use assize_bundle::Records;

/// The values of a metric by configuration and workload, run by run.
fn values(records: &Records, metric: &str) -> BTreeMap<(String, String), Vec<f64>> {
    let mut all: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for run in &records.runs {
        let cell = (run.configuration.clone(), run.workload.clone());
        let found = run.metrics.get(metric).map(|measured| measured.value);
        all.entry(cell).or_default().extend(found);
    }
    all
}

fn told(all: &[(&str, &str, &[f64])]) -> BTreeMap<(String, String), Vec<f64>> {
    let owned = |(configuration, workload, values): &(&str, &str, &[f64])| {
        let cell = ((*configuration).to_owned(), (*workload).to_owned());
        (cell, values.to_vec())
    };
    all.iter().map(owned).collect()
}

fn dbench(command: &str, flush: [f64; 2], rate: [f64; 2]) -> String {
    let report = |flush: f64, rate: f64| {
        format!(
            " Operation      Count    AvgLat    MaxLat\n\
             \u{20}----------------------------------------\n\
             \u{20}Rename          2512     0.081    97.301\n\
             \u{20}Flush           4177     {flush:.3}   141.902\n\n\
             Throughput {rate} MB/sec  24 clients  24 procs  max_latency=141.915 ms\n"
        )
    };
    format!(
        "Renames no longer wait for the journal.\n\n{command}\n\nBefore:\n\n{}\nAfter:\n\n{}\n",
        report(flush[0], rate[0]),
        report(flush[1], rate[1])
    )
}

#[test]
fn a_report_of_dbench_is_one_run_with_its_latencies() {
    let records = records(&dbench("", [3.4, 2.9], [811.4, 846.2]));
    let workload = "dbench 24 clients";
    assert_eq!(records.runs.len(), 2);
    assert_eq!(
        values(&records, "throughput"),
        told(&[
            ("Before", workload, &[811.4]),
            ("After", workload, &[846.2])
        ])
    );
    assert_eq!(
        values(&records, "Flush latency avg"),
        told(&[("Before", workload, &[3.4]), ("After", workload, &[2.9])])
    );
    let counts = records.statements.iter();
    let counts: Vec<&str> = counts.map(|one| one.metric.as_str()).collect();
    assert_eq!(counts, ["Rename count", "Flush count"].repeat(2));
}

#[test]
fn what_tbench_prints_is_of_tbench() {
    let records = records(&dbench("$ tbench 24", [3.4, 2.9], [811.4, 846.2]));
    assert_eq!(records.workloads, ["tbench 24 clients"]);
}

#[test]
fn the_command_of_a_report_is_not_that_of_the_next_one() {
    let time = |s: u8| format!("real 0m{s}.120s\nuser 0m1.50{s}s\nsys 0m0.250s\n");
    let (both, old, new) = (dbench("", [3.4, 2.9], [811.4, 846.2]), time(4), time(3));
    let post = format!("{both}And a build:\n\nBefore:\n\n{old}\nAfter:\n\n{new}");
    assert_eq!(records(&post).workloads, ["dbench 24 clients", "time"]);
}

#[test]
fn a_table_without_averages_is_none_of_dbench() {
    let post = "Before:\n\n Operation   Count   Errors   Retries\n ------------\n Rename   2512   0   97\n";
    assert!(records(post).runs.is_empty());
}

fn profile(headings: [&str; 2]) -> String {
    format!(
        "Most of the time is spent in the lookup.\n\n{}\n\n\
         \u{20} 31.25%  [kernel]       [k] find_entry\n\
         \u{20} 12.50%  [kernel]       [k] _raw_spin_lock\n\
         \u{20}  4.75%  libc.so.6      [.] read\n\n{}\n\n\
         \u{20}  7.75%  [kernel]       [k] find_entry\n\
         \u{20} 14.25%  [kernel]       [k] _raw_spin_lock\n\
         \u{20}  9.50%  libc.so.6      [.] read\n\nThat is all.\n",
        headings[0], headings[1]
    )
}

#[test]
fn a_profile_alone_or_below_other_headings_is_not_judged() {
    for headings in [
        ["perf top of the cleaner:", "perf top of kswapd:"],
        ["First node:", "Second node:"],
        ["", ""],
    ] {
        let records = records(&profile(headings));
        let compared = records.runs.iter().map(|run| &run.configuration);
        let compared: std::collections::BTreeSet<_> = compared.collect();
        assert!(compared.len() < 2, "{headings:?}: {compared:?}");
    }
}

#[test]
fn lines_of_time_under_one_state_are_several_runs() {
    let post = "Before:\n0.10u 0.25s 0:01.30 26.9%\t0+0k 0+0io 0pf+0w\n\
                0.11u 0.26s 0:01.40 26.4%\t0+0k 0+0io 0pf+0w\n\
                After:\n0.10u 0.20s 0:01.10 27.2%\t0+0k 0+0io 0pf+0w\n\
                0.12u 0.21s 0:01.20 27.5%\t0+0k 0+0io 0pf+0w\n";
    let real: Vec<Vec<f64>> = values(&records(post), "real").into_values().collect();
    assert_eq!(real, [[1.1, 1.2], [1.3, 1.4]]);
    // Alone they compare nothing.
    let alone = records("It took:\n\n0.10u 0.25s 0:01.30 26.9%\n");
    assert!(alone.configurations.len() < 2);
}

#[test]
fn two_rows_of_iostat_that_only_the_text_tells_apart_are_not_judged() {
    let post = "iostat shows another behaviour:\n\n\
                \u{20}Device         r/s      rkB/s r_await aqu-sz  %util\n\
                \u{20}nvme0n1   10333.00  659120.00    0.08   1.63 100.00\n\
                \u{20}nvme0n1    2582.00 1139152.00    0.55   2.81 100.00\n\n\
                The upper one is the old kernel.\n";
    let records = records(post);
    assert!(records.runs.is_empty());
    assert_eq!(records.statements.len(), 10);
}

#[test]
fn what_a_group_of_fio_did_is_read_over_a_wrapped_line() {
    let post = "Before:\n\
                WRITE: bw=24.5MiB/s (25.7MB/s), 24.5MiB/s-24.5MiB/s (25.7MB/s-25.7MB/s),\n\
                io=7610MiB (7980MB), run=310612-310612msec\n\n\
                After:\n\
                WRITE: bw=25.5MiB/s (26.7MB/s), 25.5MiB/s-25.5MiB/s (26.7MB/s-26.7MB/s),\n\
                io=7610MiB (7980MB), run=298431-298431msec\n";
    assert_eq!(
        values(&records(post), "write run"),
        told(&[
            ("Before", "fio", &[310_612.0]),
            ("After", "fio", &[298_431.0])
        ])
    );
}

/// A log of the kernel's tests of ciphers.
fn cipher(driver: &str, direction: &str, cycles: [u32; 2]) -> String {
    format!(
        "testing speed of cbc(foo) ({driver}) {direction}\n\
         test 0 (128 bit key, 16 byte blocks): 1 operation in {} cycles\n\
         test 1 (256 bit key, 64 byte blocks): 1 operation in {} cycles (64 bytes)\n\n",
        cycles[0], cycles[1]
    )
}

#[test]
fn the_title_of_a_log_of_ciphers_is_the_workload_and_the_heading_above_the_state() {
    let post = format!(
        "BEFORE\n\n{}{}\nAFTER\n\n{}{}",
        cipher("cbc-foo-a", "encryption", [601, 702]),
        cipher("cbc-foo-a", "decryption", [603, 704]),
        cipher("cbc-foo-b", "encryption", [501, 602]),
        cipher("cbc-foo-b", "decryption", [503, 604]),
    );
    assert_eq!(
        values(&records(&post), "1 (256 bit key, 64 byte blocks)"),
        told(&[
            ("AFTER", "cbc(foo) decryption", &[604.0]),
            ("AFTER", "cbc(foo) encryption", &[602.0]),
            ("BEFORE", "cbc(foo) decryption", &[704.0]),
            ("BEFORE", "cbc(foo) encryption", &[702.0]),
        ])
    );
    // Two drivers below one heading are not measured twice.
    let post = format!(
        "BEFORE\n\n{}{}\nAFTER\n\n{}{}",
        cipher("cbc-foo-a", "encryption", [601, 702]),
        cipher("cbc-foo-b", "encryption", [603, 704]),
        cipher("cbc-foo-a", "encryption", [501, 602]),
        cipher("cbc-foo-b", "encryption", [503, 604]),
    );
    let read = values(&records(&post), "1 (256 bit key, 64 byte blocks)");
    assert_eq!(read.len(), 4, "{read:?}");
    assert!(read.values().all(|values| values.len() == 1), "{read:?}");
}

#[test]
fn requests_per_second_stand_below_shares_of_latencies() {
    let report = |name: &str, share: f64, rate: f64| {
        format!(
            "{name}:\n{share}% <= 0.2 milliseconds\n100.00% <= 3 milliseconds\n{rate} requests per second\n\n"
        )
    };
    let post =
        report("stock kernel", 95.86, 1_378_931.5) + &report("patched kernel", 98.24, 1_666_111.5);
    assert_eq!(
        values(&records(&post), "requests"),
        told(&[
            ("patched kernel", "benchmark", &[1_666_111.5]),
            ("stock kernel", "benchmark", &[1_378_931.5])
        ])
    );
}

#[test]
fn what_sysbench_says_before_its_report_hides_no_heading() {
    let report = |name: &str, iops: f64| {
        format!(
            "==\n{name}\n==\n\n $ sysbench fileio --threads=8 run\n\nsysbench 1.0.20 (using LuaJIT)\n\n\
             Running the test with following options:\n\
             Number of threads: 8\n\n\
             Extra file open flags: (none)\n8 files, 64MiB each\n\nInitializing worker threads...\n\n\
             Threads started!\n\n\n\
             Throughput:\n         write: IOPS={iops} 499.39 MiB/s (523.65 MB/s)\n         fsync: IOPS=3275.24\n\n\
             Latency (ms):\n         avg:                                  0.33\n         max:                                920.89\n\n"
        )
    };
    let post = report("Without 6a3afb6ac6 (\"foo: bar\")", 31961.25)
        + &report("With 6a3afb6ac6 (\"foo: bar\")", 31710.5);
    let read = records(&post);
    let names: Vec<&str> = read
        .configurations
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(names, ["Without 6a3afb6ac6", "With 6a3afb6ac6"]);
    assert_eq!(read.runs.len(), 2);
}

#[test]
fn hackbench_whose_header_is_wrapped_has_the_heading_above() {
    let report = |name: &str, times: [f64; 2]| {
        let run = |time: f64| {
            format!(
                "# hackbench process 10 1000 -s 512\nRunning in process mode with 10 groups using 40 file descriptors\neach (== 400 tasks)\nEach sender will pass 1000 messages of\n512 bytes\nTime: {time}\n\n"
            )
        };
        format!("{name}:\n{}{}", run(times[0]), run(times[1]))
    };
    let post =
        report("Without this change", [4.401, 4.471]) + &report("With this change", [3.782, 3.827]);
    let read = values(&records(&post), "time");
    let counts: Vec<(&str, usize)> = (read.iter())
        .map(|((name, _), values)| (name.as_str(), values.len()))
        .collect();
    assert_eq!(
        counts,
        [("With this change", 2), ("Without this change", 2)]
    );
}

#[test]
fn options_that_a_mailer_wrapped_tell_commands_apart() {
    let part = |depth: &str, rates: [f64; 2]| {
        let sum = |rate: f64| {
            format!(
                "READ: bw={rate}MiB/s (20.0MB/s), {rate}MiB/s-{rate}MiB/s (20.0MB/s-20.0MB/s), io=2286MiB (2397MB), run=120013-120013msec\n"
            )
        };
        format!(
            "fio --name=read --filename=/dev/foo0 --ioengine=libaio --rw=read\n--bs=4k --direct=1 --numjobs=1 {depth}--runtime=120 --time_based\n--group_reporting\n\
             original version:\n{}resync speed: about 190MB/s\nwith my patch:\n{}resync speed: 80~100MB/sec\n\n",
            sum(rates[0]),
            sum(rates[1])
        )
    };
    let post = part("", [18.5, 19.5]) + &part("--iodepth=32 ", [97.5, 68.5]);
    let read = values(&records(&post), "read bw");
    assert_eq!(read.len(), 4, "{read:?}");
    let names: Vec<&str> = read.keys().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[0], "original version");
    assert_eq!(names[2], "with my patch");
}

#[test]
fn a_file_that_dd_made_at_once_measures_nothing() {
    let post = |size: &str, seconds: [f64; 2]| {
        let part = |name: &str, seconds: f64| {
            format!(
                "{name}:\n# dd if=/dev/zero bs=1M count=10 of=/mnt/foo\n10+0 records in\n10+0 records out\n{size} bytes (10 MB, 10 MiB) copied, {seconds} s, 136 MB/s\n\n"
            )
        };
        part("Before", seconds[0]) + &part("After", seconds[1])
    };
    assert!(
        records(&post("10485760", [0.0770325, 0.0883107]))
            .runs
            .is_empty()
    );
    assert_eq!(
        records(&post("10485760", [1.770325, 0.883107])).runs.len(),
        2
    );
    assert_eq!(
        records(&post("1073741824", [0.0770325, 0.0883107]))
            .runs
            .len(),
        2
    );
}
