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

#[test]
fn what_a_group_of_fio_did_is_read_over_a_wrapped_line() {
    let post = "Before:\n\
                WRITE: bw=24.5MiB/s (25.7MB/s), 24.5MiB/s-24.5MiB/s (25.7MB/s-25.7MB/s),\n\
                io=7610MiB (7980MB), run=310612-310612msec\n\n\
                After:\n\
                WRITE: bw=25.5MiB/s (26.7MB/s), 25.5MiB/s-25.5MiB/s (26.7MB/s-26.7MB/s),\n\
                io=7610MiB (7980MB), run=298431-298431msec\n";
    assert_eq!(
        values(&records(post), "write bw"),
        told(&[("Before", "fio", &[24.5]), ("After", "fio", &[25.5])])
    );
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
            ("patched kernel", "redis-benchmark", &[1_666_111.5]),
            ("stock kernel", "redis-benchmark", &[1_378_931.5])
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
