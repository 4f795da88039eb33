//! Reports of benchmarks as they stand in mails: dbench, stress-ng and others.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;

use assize_audit::{Options, read};
use assize_bundle::Records;

fn records(post: &str) -> Records {
    read(post.as_bytes(), "post", &Options::default())
        .unwrap()
        .records
}

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

#[test]
fn a_report_of_stress_ng_is_read_under_its_heading() {
    let report = |ops: u32, rate: f64, name: &str| {
        let lines = [
            "setting to a 30 second run per stressor".to_owned(),
            "dispatching hogs: 4 dentry".to_owned(),
            "stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s"
                .into(),
            "                          (secs)    (secs)    (secs)   (real time) (usr+sys time)"
                .into(),
            format!(
                "dentry           {ops}     30.01      6.31     98.22     {rate:.2}        3982.40"
            ),
            "dentry:".into(),
            "         2 System Management Interrupts".into(),
            "for a 30.02s run time:".into(),
            "   240.16s available CPU time".into(),
            "     6.31s user time   (  2.63%)".into(),
            "    98.22s system time ( 40.90%)".into(),
            "load average: 3.31 1.87 0.92".into(),
            "successful run completed in 30.02s".into(),
        ];
        lines.map(|line| format!("{name}{line}\n")).concat()
    };
    let post = |name: &str| {
        format!(
            "$ stress-ng --timeout 30 --metrics-brief --dentry 4\n\n\
             Before this patch:\n\n{}\nAfter this patch:\n\n{}\n",
            report(415_201, 13_835.42, name),
            report(421_777, 14_054.55, name)
        )
    };
    let read = records(&post("stress-ng: info:  [4711] "));
    assert_eq!(
        values(&read, "dentry bogo ops/s"),
        told(&[
            ("Before this patch", "stress-ng 4 dentry", &[13_835.42]),
            ("After this patch", "stress-ng 4 dentry", &[14_054.55])
        ])
    );
    // Of the tail nothing became a figure.
    assert_eq!(read.runs[0].metrics.len(), 6);
    assert!(
        read.doubts
            .iter()
            .all(|doubt| doubt.code != "not-understood")
    );
    let cut = records(&post(""));
    assert!(cut.runs.is_empty());
    assert_eq!(cut.statements.len(), 12);
    assert!(
        cut.doubts
            .iter()
            .all(|doubt| doubt.code != "not-understood")
    );
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
fn shares_of_symbols_below_states_are_compared() {
    let records = records(&profile(["Without the patch:", "With the patch:"]));
    let shares = values(&records, "find_entry");
    let shares: Vec<f64> = shares.into_values().flatten().collect();
    assert_eq!(shares, [7.75, 31.25]);
    assert_eq!(records.configurations.len(), 2);
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
fn lines_of_time_behind_states_are_of_the_workload_above() {
    let post = "Walking the tree with 16 threads is faster:\n\n\
                xfs:\n\
                before:\t2.50s user 80.25s system 1655% cpu 5.125 total\n\
                after:  2.25s user 40.50s system 1425% cpu 3.250 total (-36%)\n\n\
                tmpfs (no disk):\n\
                before: 1.50s user 30.25s system 1205% cpu 2.625 total\n\
                after:  1.25s user 28.50s system 1199% cpu 2.500 total (-4.8%)\n";
    assert_eq!(
        values(&records(post), "real"),
        told(&[
            ("before", "xfs", &[5.125]),
            ("after", "xfs", &[3.25]),
            ("before", "tmpfs", &[2.625]),
            ("after", "tmpfs", &[2.5])
        ])
    );
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
fn rows_of_iostat_below_states_share_the_header() {
    let post = "The queue is deeper:\n\n\
                Before (one request at a time):\n\n\
                \u{20}Device         r/s      rkB/s r_await aqu-sz  %util\n\
                \u{20}nvme0n1   10333.00  659120.00    0.08   1.63 100.00\n\n\
                After (with all patches applied):\n\n\
                \u{20}nvme0n1    2582.00 1139152.00    0.55   2.81 100.00\n---\n";
    let rates = values(&records(post), "nvme0n1 rkB/s");
    let all: Vec<(&str, &[f64])> = rates
        .iter()
        .map(|((configuration, _), values)| (&configuration[..], &values[..]))
        .collect();
    assert_eq!(
        all,
        [("After", &[1_139_152.0][..]), ("Before", &[659_120.0][..])]
    );
    let workloads: std::collections::BTreeSet<_> = rates.keys().map(|(_, name)| name).collect();
    assert_eq!(workloads.len(), 1);
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
