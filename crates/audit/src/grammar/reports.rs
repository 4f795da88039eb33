//! Benchmarks whose result is a line or two.
//!
//! Each tool's lines are a row of `SHAPES`, written from the tool's manual or source.
//! Lines of one tool that follow each other belong to one execution until a metric comes
//! again, which the next execution printed; of a tool that reports while it runs they are
//! samples, whose mean is the run's.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::cells::{label, line_at};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::scan::mean_figures;

/// Reports of a line or two; see the module.
pub struct Reports;

/// A longer line is none of a report.
const LONGEST: usize = 300;
/// No block has more lines.
const MOST: usize = 400;

/// One form of line.
struct Shape {
    /// The tool that prints it.
    tool: &'static str,
    /// What every such line holds; for a quick look.
    anchor: &'static str,
    /// The whole line without blanks around it. `N` stands for a number, `U` for a word
    /// that is a unit, `W` for a name of what was measured.
    form: &'static str,
    /// Metric and unit of each number; `U` takes the unit behind it, `W` in a metric the
    /// name. An empty metric is not kept.
    figures: &'static [(&'static str, &'static str)],
    /// Whether the tool prints such lines again and again while it runs.
    samples: bool,
}

const fn shape(
    tool: &'static str,
    anchor: &'static str,
    form: &'static str,
    figures: &'static [(&'static str, &'static str)],
) -> Shape {
    Shape {
        tool,
        anchor,
        form,
        figures,
        samples: false,
    }
}

const fn samples(
    tool: &'static str,
    anchor: &'static str,
    form: &'static str,
    figures: &'static [(&'static str, &'static str)],
) -> Shape {
    Shape {
        tool,
        anchor,
        form,
        figures,
        samples: true,
    }
}

#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    shape("dbench", "Throughput ", r"Throughput {n} MB/sec.*? procs(?:  max_latency={n} ms)?",
        &[("throughput", "MB/s"), ("latency max", "ms")]),
    shape("xfs_io", " bytes at offset ", r"(?:wrote|read) \d+/\d+ bytes at offset \d+", &[]),
    // Few operations are made to show what they do, and not to time them.
    shape("xfs_io", " ops; ", r".*, \d{4,} ops; [\d:.]+(?: sec)? \({n} {u} and {n} ops/sec\)",
        &[("bandwidth", "U"), ("operations", "1/s")]),
    shape("hdparm", " seconds = ", r"Timing {w} reads: +\d+ MB in +[\d.]+ seconds = +{n} {u}",
        &[("W reads", "U")]),
    shape("compilebench", " total runs ", r"{w} total runs \d+ avg {n} MB/s \(.*", &[("W", "MB/s")]),
    shape("compilebench", " total runs ", r"{w} total runs \d+ avg {n} seconds \(.*", &[("W", "s")]),
    shape("filebench", "IO Summary: ", r".*IO Summary: +\d+ ops,? +{n} ops/s,? .*?[ ,]{n} ?mb/s,? .*",
        &[("operations", "1/s"), ("bandwidth", "MB/s")]),
    samples("io_uring", "IOS/call=", r"IOPS={n}(?:, BW={n} ?{u})?, IOS/call=.*",
        &[("IOPS", "1/s"), ("bandwidth", "U")]),
    shape("wrk", "Requests/sec:", r"Requests/sec: +{n}", &[("requests", "1/s")]),
    shape("wrk", "Transfer/sec:", r"Transfer/sec: +{n} ?{u}", &[("transfer", "U/s")]),
    shape("ab", "Requests per second:", r"Requests per second: +{n} \[#/sec\] \(mean\)",
        &[("requests", "1/s")]),
    shape("ab", "Time per request:", r"Time per request: +{n} \[ms\] \(mean\)",
        &[("time per request", "ms")]),
    shape("ab", "Transfer rate:", r"Transfer rate: +{n} \[Kbytes/sec\] received",
        &[("transfer", "KB/s")]),
    shape("redis-benchmark", " requests per second", r"{w}: {n} requests per second(?:, p50={n} msec.*)?",
        &[("W", "1/s"), ("W p50", "ms")]),
    shape("ebizzy", " records/s", r"{n} records/s.*", &[("records", "1/s")]),
    shape("pktgen", "pps ", r"{n} ?pps {n} ?Mb/sec \(\d+bps\) errors: \d+",
        &[("packets", "1/s"), ("rate", "Mbit/s")]),
    shape("cryptsetup", " iterations per second", r"{w} +{n} iterations per second(?: for \d+-bit key)?.*",
        &[("W", "1/s")]),
    shape("cryptsetup", "iB/s", r"{w} +{n} {u} +{n} {u}", &[("W encryption", "U"), ("W decryption", "U")]),
    shape("tcrypt", " byte blocks): ", r"(?:tcrypt: )?test +{w}: 1 operation in {n} cycles \(\d+ bytes\)",
        &[("W", "cycles")]),
    shape("tcrypt", " byte blocks): ", r"(?:tcrypt: )?test +{w}: {n} operations in 1 seconds \(\d+ bytes\)",
        &[("W", "1/s")]),
    shape("raid6", "raid6: ", r"raid6: (?<name>\w+ +(?:gen|xor))\(\) +{n} MB/s", &[("W", "MB/s")]),
    shape("sockperf", "avg-lat", r"sockperf: .*avg-lat(?:ency)?= *{n}(?: \(std-dev=.*)?",
        &[("latency avg", "us")]),
    shape("sockperf", "percentile ", r"sockperf: ---> percentile {w} = +{n}", &[("latency W", "us")]),
    shape("sockperf", "Message Rate is ", r"sockperf: Summary: Message Rate is {n} \[msg/sec\]",
        &[("messages", "1/s")]),
    shape("perf bench", " usecs/op", r"{n} usecs/op", &[("time per operation", "us")]),
    shape("perf bench", " ops/sec", r"{n} ops/sec", &[("operations", "1/s")]),
    shape("perf bench", " operations/sec (", r"Averaged {n} operations/sec \(\+- [\d.]+ ?%\), total secs = \d+",
        &[("operations", "1/s")]),
    shape("specjbb", "RUN RESULT: ", r"RUN RESULT: .*max-jOPS = {n}, critical-jOPS = {n}",
        &[("max-jOPS", ""), ("critical-jOPS", "")]),
    shape("ycsb", "], ", r"\[{w}\], Throughput\(ops/sec\), {n}", &[("W throughput", "1/s")]),
    shape("ycsb", "], ", r"\[{w}\], AverageLatency\(us\), {n}", &[("W latency avg", "us")]),
    shape("ycsb", "], ", r"\[{w}\], 99thPercentileLatency\(us\), {n}", &[("W latency 99th", "us")]),
    shape("usemem", " usecs = ", r"\d+ bytes / \d+ usecs = {n} KB/s", &[("throughput", "KB/s")]),
    shape("usemem", " usecs to free memory", r"{n} usecs to free memory", &[("free time", "us")]),
    shape("stress-ng", "stress-ng: ", r"stress-ng: (?:info|metrc): +\[\d+\] {w} +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +{n} +{n}(?: .*)?",
        &[("W by real time", "1/s"), ("W by CPU time", "1/s")]),
    shape("ior", "Max ", r"Max {w}: +{n} MiB/sec \([\d.]+ MB/sec\)", &[("W", "MiB/s")]),
    shape("mbw", "Method: ", r"AVG\s+Method: {w}\s+Elapsed: [\d.]+\s+MiB: [\d.]+\s+Copy: {n} MiB/s",
        &[("W", "MiB/s")]),
];

/// A shape with its compiled form.
struct Form {
    shape: &'static Shape,
    pattern: Regex,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let form = |shape: &'static Shape| {
        let pattern = compiled(shape.form)?;
        Some(Form { shape, pattern })
    };
    SHAPES.iter().filter_map(form).collect()
});

/// Whatever every form holds, at once.
static ANCHORS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let anchors = SHAPES.iter().map(|shape| regex::escape(shape.anchor));
    Regex::new(&anchors.collect::<Vec<_>>().join("|")).ok()
});

/// A form as a regular expression over a whole line.
fn compiled(form: &str) -> Option<Regex> {
    let mut text = String::from("^");
    let (mut rest, mut numbers, mut units) = (form, 0, 0);
    while let Some(at) = rest.find("{n}").into_iter().chain(rest.find("{u}")).min() {
        text.push_str(&rest[..at]);
        if rest[at..].starts_with("{n}") {
            text.push_str(&format!(r"(?<n{numbers}>[0-9][0-9,.]*(?:[kKM]\b)?)"));
            numbers += 1;
        } else {
            text.push_str(&format!(
                r"(?<u{units}>[KMGTkm]?i?[Bb](?:its?|ytes?)?(?:/s(?:ec)?)?)"
            ));
            units += 1;
        }
        rest = &rest[at + 3..];
    }
    text.push_str(rest);
    text.push('$');
    let name = r"(?<name>[A-Za-z0-9_][A-Za-z0-9_.,()/% -]*?)";
    Regex::new(&text.replace("{w}", name)).ok()
}

/// What one line says.
struct Said {
    tool: &'static str,
    samples: bool,
    figures: Vec<Figure>,
}

/// Reads a line of a report.
fn said(text: &str) -> Option<Said> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let text = without_stamp(text);
    FORMS.iter().find_map(|form| {
        let anchored = text.contains(form.shape.anchor);
        let captures = anchored.then(|| form.pattern.captures(text)).flatten()?;
        let figures = figures(form.shape, &captures)?;
        Some(Said {
            tool: form.shape.tool,
            samples: form.shape.samples,
            figures,
        })
    })
}

/// A line without the time stamp of the kernel's log before it.
fn without_stamp(text: &str) -> &str {
    let parted = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    match parted {
        Some((stamp, rest)) if stamp.trim().parse::<f64>().is_ok() => rest.trim_start(),
        _ => text,
    }
}

/// The figures of a line; `None` if a number is none.
fn figures(shape: &Shape, captures: &Captures<'_>) -> Option<Vec<Figure>> {
    let name = captures.name("name").map_or("", |name| name.as_str());
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut units = 0;
    let mut figures = Vec::new();
    for (at, (metric, unit)) in shape.figures.iter().enumerate() {
        let mut unit = (*unit).to_owned();
        if unit.starts_with('U') {
            let word = captures
                .name(&format!("u{units}"))
                .map_or("", |u| u.as_str());
            unit = unit.replacen('U', word, 1);
            units += 1;
        }
        let Some(number) = captures.name(&format!("n{at}")) else {
            continue;
        };
        let metric = metric.replacen('W', &name, 1);
        let (value, step) = scaled(number.as_str())?;
        let mut figure = Figure::new(label(&metric), value, unit);
        figure.step = step;
        figures.push(figure);
    }
    Some(figures)
}

/// A number, maybe in thousands; with the place of its last digit where the number that
/// is printed is another.
fn scaled(text: &str) -> Option<(f64, Option<f64>)> {
    let text = text.trim_end_matches(['.', ',']);
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        _ => return Some((english(text)?, None)),
    };
    let places = digits.split_once('.').map_or(0, |(_, d)| d.len().min(9));
    let step = factor / 10_f64.powi(i32::try_from(places).unwrap_or(0));
    Some((english(digits)? * factor, Some(step)))
}

impl Grammar for Reports {
    fn name(&self) -> &'static str {
        "benchmark"
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= LONGEST && ANCHORS.as_ref().is_some_and(|any| any.is_match(line))
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = said(line_at(lines, 0)?)?;
        let tool = first.tool;
        let mut rows = vec![(0, first)];
        let mut at = 1;
        while at < MOST {
            let here = line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth);
            match here.and_then(said).filter(|said| said.tool == tool) {
                Some(said) => rows.push((at, said)),
                // Of some tools a blank line parts the lines of one report.
                None if here.is_some_and(|text| text.trim().is_empty())
                    && rows.last().is_some_and(|(last, _)| *last + 1 == at) => {}
                None => break,
            }
            at += 1;
        }
        block(rows)
    }
}

/// A block of a tool's lines.
fn block(rows: Vec<(usize, Said)>) -> Option<Block> {
    let used = rows.last().map_or(0, |(at, _)| at + 1);
    let tool = rows.first()?.1.tool;
    let mut block = Block {
        findings: Vec::new(),
        taken: vec![tool as Taken; used],
    };
    let mut runs: Vec<(usize, Vec<Figure>)> = Vec::new();
    for (at, said) in rows {
        let known = |runs: &[(usize, Vec<Figure>)]| {
            let mut last = runs.last().map_or(&[][..], |(_, f)| f).iter();
            !said.samples && last.any(|f| said.figures.iter().any(|new| new.metric == f.metric))
        };
        if runs.is_empty() || known(&runs) {
            runs.push((at, said.figures));
        } else if let Some((_, figures)) = runs.last_mut() {
            figures.extend(said.figures);
        }
    }
    for (at, figures) in runs {
        let figures = mean_figures(figures.iter());
        let labels = Labels::default();
        if !figures.is_empty() {
            block.find(at, Finding::Run { labels, figures });
        }
    }
    (!block.findings.is_empty()).then_some(block)
}

#[cfg(test)]
mod tests {
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
            "Requests per second:    1234.50 [#/sec] (mean)",
            &[("requests", 1234.5, "1/s")],
        ),
        (
            "SET: 98765.43 requests per second, p50=0.207 msec",
            &[("SET", 98_765.43, "1/s"), ("SET p50", 0.207, "ms")],
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
        ] {
            assert!(figures(text).is_empty(), "{text}");
        }
    }
}
