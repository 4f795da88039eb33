//! What each form reads.

use super::*;
use crate::grammar::testing;

fn figures(text: &str) -> Vec<(String, f64, String)> {
    let runs = testing::runs(&Reports, text);
    let figures = runs.into_iter().flat_map(|(_, figures)| figures);
    figures.map(|f| (f.metric, f.value, f.unit)).collect()
}

/// Metric, value and unit.
type Told = (&'static str, f64, &'static str);

/// A line as each tool prints it, and what it says.
const LINES: &[(&str, &[Told])] = &[
    (
        "Throughput 812.345 MB/sec  8 clients  8 procs  max_latency=31.415 ms",
        &[
            ("throughput", 812.345, "MB/s"),
            ("latency max", 31.415, "ms"),
        ],
    ),
    (
        " Per elem: 294 cycles(tsc) 81.866 ns (step:1)\n Per elem: 214 cycles(tsc) 59.477 ns (step:2)",
        &[
            ("step:1 cycles", 294.0, "cycles"),
            ("step:1 time", 81.866, "ns"),
            ("step:2 cycles", 214.0, "cycles"),
            ("step:2 time", 59.477, "ns"),
        ],
    ),
    (
        "time_bench: Type:fast_path Per elem: 19 cycles(tsc) 5.399 ns (step:0) - (measurement period time:0.05 sec)",
        &[
            ("fast_path cycles", 19.0, "cycles"),
            ("fast_path time", 5.399, "ns"),
        ],
    ),
    ("single_page alloc+put: 207 cycles(tsc) 57.773 ns", &[]),
    (
        "single page alloc: 207 cycles(tsc) 57.773 ns",
        &[
            ("single page alloc cycles", 207.0, "cycles"),
            ("single page alloc time", 57.773, "ns"),
        ],
    ),
    (
        "Throughput 112.5 MB/sec 4 procs",
        &[("throughput", 112.5, "MB/s")],
    ),
    (
        "wrote 1048576/1048576 bytes at offset 0\n1 GiB, 262144 ops; 0:00:01.00 (437.606 MiB/sec and 112027.1234 ops/sec)",
        &[
            ("bandwidth", 437.606, "MiB/sec"),
            ("operations", 112_027.123_4, "1/s"),
        ],
    ),
    (
        " Timing buffered disk reads: 512 MB in  3.01 seconds = 170.10 MB/sec",
        &[("buffered disk reads", 170.1, "MB/sec")],
    ),
    (
        "create total runs 10 avg 123.45 MB/s (user 0.40s sys 0.73s)",
        &[("create", 123.45, "MB/s")],
    ),
    (
        "delete tree total runs 4 avg 1.50 seconds (user 0.10s sys 0.90s)",
        &[("delete tree", 1.5, "s")],
    ),
    (
        "7.123: IO Summary: 43210 ops, 720.034 ops/s, (55/111 r/w), 16.2mb/s, 394us cpu/op, 2.1ms latency",
        &[("operations", 720.034, "1/s"), ("bandwidth", 16.2, "MB/s")],
    ),
    (
        "IOPS=2.5M, BW=1200MiB/s, IOS/call=32/31\nIOPS=2.7M, BW=1400MiB/s, IOS/call=32/32",
        &[("IOPS", 2.6e6, "1/s"), ("bandwidth", 1300.0, "MiB/s")],
    ),
    (
        "Requests/sec:  12345.67\nTransfer/sec:     1.25MB",
        &[("requests", 12_345.67, "1/s"), ("transfer", 1.25, "MB/s")],
    ),
    (
        "Running 30s test @ http://192.0.2.1/\n  4 threads and 100 connections\n  \
         Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
         Latency    24.61ms   36.21ms 660.12ms   93.90%\n    \
         Req/Sec     1.45k   482.10     2.87k    65.40%\n  Latency Distribution\n     \
         50%   14.73ms\n  170091 requests in 30.01s, 20.31MB read\nRequests/sec: 5667.81",
        &[("latency avg", 24.61, "ms"), ("requests", 5667.81, "1/s")],
    ),
    (
        "Requests per second:    1234.50 [#/sec] (mean)",
        &[("requests", 1234.5, "1/s")],
    ),
    (
        "SET: 98765.43 requests per second, p50=0.207 msec",
        &[("SET", 98_765.43, "1/s"), ("SET p50", 0.207, "ms")],
    ),
    (
        "0.02% <= 0.1 milliseconds\n98.25% <= 0.3 milliseconds\n100.00% <= 2 milliseconds\n\
         100.00% <= 2 milliseconds\n1376543.25 requests per second",
        &[
            ("within 0.1 ms", 0.02, "%"),
            ("within 0.3 ms", 98.25, "%"),
            ("requests", 1_376_543.25, "1/s"),
        ],
    ),
    ("23456 records/s", &[("records", 23_456.0, "1/s")]),
    (
        "1380270pps 662Mb/sec (662529600bps) errors: 0",
        &[("packets", 1_380_270.0, "1/s"), ("rate", 662.0, "Mbit/s")],
    ),
    (
        "        aes-cbc        128b      1115.6 MiB/s      3402.1 MiB/s",
        &[
            ("aes-cbc 128b encryption", 1115.6, "MiB/s"),
            ("aes-cbc 128b decryption", 3402.1, "MiB/s"),
        ],
    ),
    (
        "test  3 (128 bit key, 256 byte blocks): 1 operation in 2048 cycles (256 bytes)",
        &[("3 (128 bit key, 256 byte blocks)", 2048.0, "cycles")],
    ),
    (
        "[    2.591449] raid6: avx2x4   gen() 34567 MB/s",
        &[("avx2x4 gen", 34_567.0, "MB/s")],
    ),
    (
        "sockperf: ---> percentile 99.000 =   12.345",
        &[("latency 99.000", 12.345, "us")],
    ),
    (
        "       8.123456 usecs/op\n         123101 ops/sec",
        &[
            ("time per operation", 8.123_456, "us"),
            ("operations", 123_101.0, "1/s"),
        ],
    ),
    (
        "Simple syscall: 0.4327 microseconds\nProcess fork+exit: 172.3871 microseconds",
        &[
            ("Simple syscall", 0.4327, "us"),
            ("Process fork+exit", 172.3871, "us"),
        ],
    ),
    (
        "rb-libbpf nr_prod 16 1.979 ± 0.002M/s (drops 0.000 ± 0.000M/s)",
        &[("rb-libbpf nr_prod 16", 1.979, "M/s")],
    ),
    (
        "htab lookup      (16 thread)   81.333 ± 0.311M/s (drops 0.020 ± 0.000M/s mem 8.122 MiB)",
        &[("htab lookup (16 thread)", 81.333, "M/s")],
    ),
    (
        "[READ], AverageLatency(us), 123.5",
        &[("READ latency avg", 123.5, "us")],
    ),
    (
        "1073741824 bytes / 1048576 usecs = 1000000 KB/s\n2048 usecs to free memory",
        &[("throughput", 1e6, "KB/s"), ("free time", 2048.0, "us")],
    ),
];

#[test]
fn each_tools_lines_say_what_it_measured() {
    assert_eq!(FORMS.len(), SHAPES.len(), "a form is no regular expression");
    for (text, told) in LINES {
        let told: Vec<(String, f64, String)> = told
            .iter()
            .map(|(metric, value, unit)| ((*metric).into(), *value, (*unit).into()))
            .collect();
        assert_eq!(figures(text), told, "{text}");
    }
}

#[test]
fn what_comes_again_is_another_run_unless_the_tool_samples() {
    let twice = "Throughput 100 MB/sec 4 procs\nThroughput 102 MB/sec 4 procs\n";
    assert_eq!(testing::runs(&Reports, twice).len(), 2);
    let twice = "98.25% <= 1 milliseconds\n9000.5 requests per second\n\
                 97.25% <= 1 milliseconds\n8900.5 requests per second\n";
    assert_eq!(testing::runs(&Reports, twice).len(), 2);
    let sampled = "IOPS=2.5M, IOS/call=32/31\nIOPS=2.7M, IOS/call=32/32\n";
    assert_eq!(testing::runs(&Reports, sampled).len(), 1);
}

#[test]
fn lines_that_only_look_like_these_are_left_alone() {
    for text in [
        "Throughput of 812 MB/sec was seen with 8 procs",
        "wrote 1048576/1048576 bytes at offset 0",
        "wrote 4096/4096 bytes at offset 0\n4 KiB, 1 ops; 0.0000 sec (64.355 MiB/sec and 16474.4646 ops/sec)",
        "we saw 23456 records/s lost in 3 ops; fine",
        "a timeout of 12 usecs/op",
        "Requests per second: many",
        "raid6: using algorithm avx2x4 gen() 34567 MB/s",
        "IOPS=what, IOS/call=1",
        "It took 12 microseconds",
        "The timeout: 12 microseconds at most",
        "rb 1.979 ± 0.002M/s",
        "Running 30s test @ http://192.0.2.1/",
    ] {
        assert!(figures(text).is_empty(), "{text}");
    }
}

#[test]
fn microseconds_of_a_state_are_no_line_of_a_test() {
    assert_eq!(figures("Simple syscall: 0.1234 microseconds").len(), 1);
    for text in [
        "Before this patch: 5094 microseconds",
        "Without the series: 5094.5 microseconds",
    ] {
        assert!(figures(text).is_empty(), "{text}");
    }
}
