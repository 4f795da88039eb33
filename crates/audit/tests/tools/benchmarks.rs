//! Benchmarks that people run by hand: fio, time, dd, netperf, iperf, sysbench,
//! STREAM, UnixBench, kernbench.

use super::*;

const FIO: &str = include_str!("../benchmarks/fio.txt");
const TIMES: &str = include_str!("../benchmarks/times.txt");
const NETWORK: &str = include_str!("../benchmarks/network.txt");
const SUITES: &str = include_str!("../benchmarks/suites.txt");

/// Labels and figures of the runs in a text.
fn runs(text: &str) -> Vec<(Labels, Vec<Figure>)> {
    let run = |(_, finding)| match finding {
        Finding::Run { labels, figures } => Some((labels, figures)),
        _ => None,
    };
    read(text).findings.into_iter().filter_map(run).collect()
}

/// Value and unit of a metric.
fn of<'f>(figures: &'f [Figure], metric: &str) -> Option<(f64, &'f str)> {
    let found = figures.iter().find(|f| f.metric == metric)?;
    Some((found.value, found.unit.as_str()))
}

#[test]
fn jobs_of_one_group_are_one_run_and_their_rates_add_up() {
    let runs = runs(FIO);
    assert_eq!(runs.len(), 2);
    let (labels, figures) = &runs[0];
    assert_eq!(labels.workload.as_deref(), Some("copy"));
    assert_eq!(of(figures, "read iops"), Some((24_500.0, "IOPS")));
    assert_eq!(of(figures, "read bw"), Some((95.7, "MiB/s")));
    assert_eq!(
        of(figures, "read clat avg"),
        None,
        "two jobs have no one latency"
    );
    assert_eq!(of(figures, "read run"), Some((60_001.0, "msec")));
    assert_eq!(figures.len(), 4);
}

#[test]
fn of_one_job_rates_latencies_and_percentiles_are_read() {
    let runs = runs(FIO);
    let (_, figures) = &runs[1];
    let wanted = [
        ("read iops", 14_100.0, "IOPS"),
        ("read bw", 55.1, "MiB/s"),
        ("read clat avg", 181.5, "usec"),
        ("read clat 50.00th", 39.0, "usec"),
        ("read clat 95.00th", 43.0, "usec"),
        ("read clat 99.00th", 50.0, "usec"),
        ("read clat 99.90th", 77.0, "usec"),
        ("write iops", 13_592.0, "IOPS"),
        ("write bw", 53_100.0, "KB/s"),
    ];
    for (figure, (metric, value, unit)) in figures.iter().zip(wanted) {
        let got = (figure.metric.as_str(), figure.value, figure.unit.as_str());
        assert_eq!(got, (metric, value, unit));
    }
    assert_eq!(figures.len(), wanted.len());
}

#[test]
fn the_last_digit_of_a_number_with_a_suffix_is_known() {
    let audit = assize_audit::read(FIO.as_bytes(), "x", &Default::default()).unwrap();
    let mut steps = audit.records.resolutions.iter();
    let step = steps.find(|r| r.configuration == "Patched kernel" && r.metric == "read bw");
    assert!((step.unwrap().step - 0.1).abs() < 1e-12);
    let text = "base:\n  read: IOPS=1.25M, BW=4882.8MiB/s (5119MB/s)(286GiB/60001msec)\n";
    let audit = assize_audit::read(text.as_bytes(), "x", &Default::default()).unwrap();
    assert_eq!(
        audit.records.runs[0].metrics["read iops"].value,
        1_250_000.0
    );
}

#[test]
fn json_and_terse_lines_of_fio_are_runs() {
    let json = runs(include_str!("../benchmarks/fio.json"));
    assert_eq!(json.len(), 1);
    let figures = &json[0].1;
    assert_eq!(of(figures, "read iops"), Some((12_500.25, "IOPS")));
    assert_eq!(of(figures, "read bw"), Some((51_200_000.0, "B/s")));
    assert_eq!(of(figures, "read clat avg"), Some((197_250.5, "nsec")));
    assert_eq!(of(figures, "read clat 99.00th"), Some((52_000.0, "nsec")));
    assert_eq!(of(figures, "write iops"), None, "nothing was written");
    let terse = runs(include_str!("../benchmarks/fio-terse.txt"));
    assert_eq!(terse[0].0.workload.as_deref(), Some("copy"));
    let figures = &terse[0].1;
    assert_eq!(of(figures, "read bw"), Some((50_000.0, "KiB/s")));
    assert_eq!(of(figures, "read clat avg"), Some((197.25, "usec")));
    assert_eq!(of(figures, "write iops"), Some((500.0, "IOPS")));
    assert_eq!(of(figures, "write clat avg"), Some((297.25, "usec")));
}

#[test]
fn what_time_and_dd_print_are_runs() {
    let runs = runs(TIMES);
    let real: Vec<f64> = runs
        .iter()
        .filter_map(|(_, f)| of(f, "real"))
        .map(|r| r.0)
        .collect();
    assert_eq!(real, [93.125, 88.5, 34.4, 3754.5]);
    assert_eq!(of(&runs[0].1, "user"), Some((549.5, "s")));
    assert_eq!(of(&runs[3].1, "max rss"), Some((204_800.0, "kB")));
    assert_eq!(of(&runs[4].1, "rate"), Some((109.0, "MB/s")));
    assert_eq!(of(&runs[5].1, "time of 512000 bytes"), Some((0.25, "s")));
    assert_eq!(runs.len(), 6);
}

#[test]
fn of_a_network_benchmark_only_the_whole_is_a_run() {
    let runs = runs(NETWORK);
    assert_eq!(of(&runs[0].1, "throughput"), Some((9415.64, "Mbit/s")));
    assert_eq!(of(&runs[1].1, "transactions"), Some((12_345.67, "1/s")));
    assert_eq!(of(&runs[2].1, "throughput"), Some((9.40, "Gbit/s")));
    let collected: Vec<_> = runs[3..]
        .iter()
        .filter_map(|(_, f)| of(f, "throughput"))
        .collect();
    let rates = [780.5, 777.5, 775.5].map(|rate| (rate, "Mbit/s"));
    assert_eq!(collected, rates, "seconds on the way are samples");
    assert_eq!(read(NETWORK).doubts(), ["not-understood"], "two streams");
}

#[test]
fn reports_of_suites_are_runs_and_kernbench_means() {
    let read = read(SUITES);
    let runs = runs(SUITES);
    let sysbench = &runs[0].1;
    assert_eq!(of(sysbench, "transactions"), Some((999.5, "1/s")));
    assert_eq!(of(sysbench, "latency 95th"), Some((6.5, "ms")));
    assert_eq!(of(sysbench, "total time"), Some((10.005, "s")));
    let stream = &runs[1].1;
    assert_eq!(of(stream, "Triad"), Some((13_245.5, "MB/s")));
    assert_eq!(stream.len(), 4);
    let unixbench = &runs[2].1;
    assert_eq!(of(unixbench, "Pipe Throughput"), Some((1_234_567.5, "lps")));
    assert_eq!(of(unixbench, "index score"), Some((1776.8, "")));
    let fileio = &runs[3].1;
    assert_eq!(of(fileio, "write iops"), Some((31_710.38, "IOPS")));
    assert_eq!(of(fileio, "write"), Some((495.47, "MiB/s")));
    assert_eq!(of(fileio, "fsync iops"), Some((324_931.88, "IOPS")));
    assert_eq!(of(fileio, "read iops"), None, "nothing was read");
    assert_eq!(of(fileio, "latency avg"), Some((0.33, "ms")));
    assert_eq!(runs.len(), 4);
    let told = read.summaries();
    assert_eq!(told[0].1, "kernbench Optimal load -j 8");
    assert_eq!(told[0].2, Figure::new("Elapsed Time", 33.25, "s"));
    assert_eq!((told[0].3, told[0].4), (Some(0.251), None));
    assert_eq!(told.len(), 3);
}

const OMNI: &str = "\
Minimum      90th         Transaction
Latency      Percentile   Rate
Microseconds Latency      Tran/s
             Microseconds
134          279          3961.5

";

#[test]
fn columns_of_netperf_omni_are_named_by_the_words_above_each_other() {
    let read = runs(OMNI);
    assert_eq!(read.len(), 1);
    let (_, figures) = &read[0];
    assert_eq!(of(figures, "minimum latency"), Some((134.0, "us")));
    assert_eq!(of(figures, "90th percentile latency"), Some((279.0, "us")));
    assert_eq!(of(figures, "transaction rate"), Some((3961.5, "1/s")));
    // A word that stands above no figure, or no figures.
    for text in [
        OMNI.replace("Latency      Percentile", "Latency    Percentile  "),
        OMNI.replace("134          279          3961.5", "none"),
    ] {
        assert!(runs(&text).is_empty(), "{text}");
    }
}

#[test]
fn seconds_of_iperf_that_follow_on_each_other_are_no_runs() {
    let row = |from: u32, rate: u32| {
        let to = from + 1;
        format!("[  5]   {from}.00-{to}.00   sec   114 MBytes   {rate} Mbits/sec  82342\n")
    };
    let heading = "[ ID] Interval           Transfer     Bitrate         Total Datagrams\n";
    let seconds = [heading.to_owned(), row(0, 954), row(1, 955), row(2, 956)].concat();
    assert!(runs(&seconds).is_empty());
    // First seconds of several runs, as somebody collected them.
    let collected = [heading.to_owned(), row(0, 954), row(0, 955), row(0, 956)].concat();
    assert_eq!(runs(&collected).len(), 3);
}

#[test]
fn what_the_sender_and_the_receiver_of_iperf_say_are_two_figures_of_one_run() {
    let text = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
                [  5]   0.00-1.00   sec  25.8 MBytes   216 Mbits/sec    0    397 KBytes\n\
                [  5]   1.00-2.00   sec  25.9 MBytes   217 Mbits/sec    7    397 KBytes\n\
                - - - - - - - - - - - - - - - - - - - - - - - - -\n\
                [ ID] Interval           Transfer     Bitrate         Retr\n\
                [  5]   0.00-2.00   sec  51.7 MBytes   217 Mbits/sec    7             sender\n\
                [  5]   0.00-2.00   sec  51.5 MBytes   215 Mbits/sec                  receiver\n";
    let figures = |text: &str| {
        let told = runs(text);
        assert_eq!(told.len(), 1);
        told.into_iter().next().map(|run| run.1).unwrap_or_default()
    };
    let own = figures(text);
    assert_eq!(of(&own, "throughput"), Some((215.0, "Mbit/s")));
    assert_eq!(
        of(&own, "throughput of the sender"),
        Some((217.0, "Mbit/s"))
    );
    assert_eq!(of(&own, "retransmits"), Some((7.0, "")));
    // Of a stream of another number nothing is said of this one.
    let other = text.replace(
        "[  5]   0.00-2.00   sec  51.7",
        "[  7]   0.00-2.00   sec  51.7",
    );
    assert_eq!(of(&figures(&other), "throughput of the sender"), None);
}

#[test]
fn requests_per_second_below_a_distribution_are_a_run() {
    let text = "0.62% <= 0.1 milliseconds\n97.44% <= 0.2 milliseconds\n100.00% <= 0.3 milliseconds\n\
                1402210.00 requests per second\n";
    let told = runs(text);
    assert_eq!(told.len(), 1);
    assert_eq!(of(&told[0].1, "requests"), Some((1_402_210.0, "1/s")));
    assert!(runs("it serves 1402210.00 requests per second\n").is_empty());
}

const INDICES: &str = "\
 System Benchmarks Index Values               BASELINE       RESULT    INDEX
 Dhrystone 2 using register variables         116700.0  449570022.5  38523.5
 File Copy 256 bufsize 500 maxblocks            1655.0      37630.5    227.5
 Shell Scripts (8 concurrent)                      6.0       4060.5   6771.5
                                                                    ========
 System Benchmarks Index Score                                        2955.5
";

#[test]
fn of_unixbench_s_indices_the_reference_machine_is_left_out() {
    let read = runs(INDICES);
    assert_eq!(read.len(), 1);
    let figures = &read[0].1;
    assert_eq!(figures.len(), 7);
    let shell = "Shell Scripts (8 concurrent)";
    assert_eq!(of(figures, shell), Some((4060.5, "lpm")));
    assert_eq!(of(figures, &format!("{shell} index")), Some((6771.5, "")));
    let copy = "File Copy 256 bufsize 500 maxblocks";
    assert_eq!(of(figures, copy), Some((37_630.5, "KBps")));
    assert_eq!(of(figures, "index score"), Some((2955.5, "")));
    assert!(figures.iter().all(|figure| figure.value != 6.0));
    // A heading right above is no name of the columns.
    let headed = format!("fair lock:\n{INDICES}");
    assert_eq!(runs(&headed).len(), 1);
    assert_eq!(runs(&headed)[0].1.len(), 7);
    // Two tables without a line between them are two runs, of which nobody says which.
    let twice = INDICES.lines().skip(1).collect::<Vec<_>>().join("\n");
    assert!(runs(&format!("{INDICES}{twice}")).is_empty());
}
