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
use crate::states::{first_word, opposed};
use crate::trigger::Trigger;

/// Reports of a line or two; see the module.
pub struct Reports;

/// Their name among the formats.
pub(crate) const REPORT: &str = "benchmark";

/// A longer line is none of a report.
const LONGEST: usize = 300;
/// Time of day and host have no more bytes.
const STAMP: usize = 60;
/// No block has more lines.
const MOST: usize = 400;

/// One form of line.
struct Shape {
    /// The tool that prints it.
    tool: &'static str,
    /// What every such line holds; for a quick look.
    anchor: &'static str,
    /// The whole line without blanks around it. `N` stands for a number, `U` for a word
    /// that is a unit, `T` for one of time, `W` for a name of what was measured.
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
    shape("dbench", "Throughput ", r"Throughput {n} MB/sec.*? procs(?: +max_latency={n} ms)?",
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
    // Each line of wrk's output, so that it is one report.
    shape("wrk", "Running ", r"Running \d+[smh] test @ .*", &[]),
    shape("wrk", " connections", r"\d+ threads and \d+ connections", &[]),
    shape("wrk", "Thread Stats ", r"Thread Stats +Avg +Stdev +Max +\+/- Stdev", &[]),
    shape("wrk", "Latency  ", r"Latency +{n}us( +[\d.]+[mu]?s){2} +[\d.]+%", &[("latency avg", "us")]),
    shape("wrk", "Latency  ", r"Latency +{n}ms( +[\d.]+[mu]?s){2} +[\d.]+%", &[("latency avg", "ms")]),
    shape("wrk", "Latency  ", r"Latency +{n}s( +[\d.]+[mu]?s){2} +[\d.]+%", &[("latency avg", "s")]),
    shape("wrk", "Req/Sec ", r"Req/Sec( +[\d.]+[kM]?){3} +[\d.]+%", &[]),
    shape("wrk", "Latency Distribution", r"Latency Distribution", &[]),
    shape("wrk", " requests in ", r"\d+ requests in [\d.]+[smh], [\d.]+[KMGT]?B read", &[]),
    shape("wrk", "Socket errors: ", r"Socket errors: connect \d+, read \d+, write \d+, timeout \d+", &[]),
    shape("wrk", "Requests/sec:", r"Requests/sec: +{n}", &[("requests", "1/s")]),
    shape("wrk", "Transfer/sec:", r"Transfer/sec: +{n} ?{u}", &[("transfer", "U/s")]),
    shape("ab", "Requests per second:", r"Requests per second: +{n} \[#/sec\] \(mean\)",
        &[("requests", "1/s")]),
    shape("ab", "Time per request:", r"Time per request: +{n} \[ms\] \(mean\)",
        &[("time per request", "ms")]),
    shape("ab", "Transfer rate:", r"Transfer rate: +{n} \[Kbytes/sec\] received",
        &[("transfer", "KB/s")]),
    // By then all of them were done.
    shape("redis-benchmark", " milliseconds", r"100(?:\.0+)?% <= [\d.]+ milliseconds", &[]),
    shape("redis-benchmark", " milliseconds", r"{n}% <= {w} milliseconds", &[("within W ms", "%")]),
    shape("redis-benchmark", " requests per second", r"{w}: {n} requests per second(?:, p50={n} msec.*)?",
        &[("W", "1/s"), ("W p50", "ms")]),
    shape("redis-benchmark", " requests per second", r"{n} requests per second", &[("requests", "1/s")]),
    shape("kunit", "bench", r"# (?<name>\w*bench\w*: [\w=, -]+): {n} {u}", &[("W", "U")]),
    shape("ebizzy", " records/s", r"{n} records/s.*", &[("records", "1/s")]),
    shape("pktgen", "pps ", r"{n} ?pps {n} ?Mb/sec \(\d+bps\) errors: \d+",
        &[("packets", "1/s"), ("rate", "Mbit/s")]),
    shape("cryptsetup", " iterations per second", r"{w} +{n} iterations per second(?: for \d+-bit key)?.*",
        &[("W", "1/s")]),
    shape("cryptsetup", "iB/s", r"(?<name>\S+ +\d+b) +{n} {u} +{n} {u}", &[("W encryption", "U"), ("W decryption", "U")]),
    // What the tests below it are of.
    shape("tcrypt", "testing speed of ", r"(?:tcrypt: )?testing speed of {w}", &[]),
    shape("tcrypt", " byte blocks): ", r"(?:tcrypt: )?test +{w}: 1 operation in {n} cycles(?: \(\d+ bytes\))?",
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
    shape("ior", "Max ", r"Max {w}: +{n} MiB/sec \([\d.]+ MB/sec\)", &[("W", "MiB/s")]),
    // What IPython's `%time` and `%timeit` print, and `python -m timeit`. The deviation is
    // over loops of one process.
    shape("timeit", "CPU times: ", r"CPU times: user:? {n} {t}, sys: {n} {t}, total: {n} {t}",
        &[("user", "U"), ("sys", "U"), ("CPU time", "U")]),
    shape("timeit", "Wall time: ", r"Wall time: {n} {t}", &[("wall time", "U")]),
    shape("timeit", " per loop", r"{n} {t} (?:±|\+-) [\d.]+ \S+ per loop \(mean .*",
        &[("time per loop", "U")]),
    shape("timeit", " per loop", r"\d+ loops?, best of \d+: {n} {t} per loop",
        &[("time per loop", "U")]),
    // A test's own line of lmbench.
    shape("lmbench", " microseconds", r"(?<name>[A-Z][\w/+.-]*(?: [\w/+&'.-]+)*): +{n} microseconds",
        &[("W", "us")]),
    // `±` is of the seconds of one run, and not of runs.
    shape("bpf bench", "M/s (drops ", r"(?<name>[A-Za-z][\w+./-]*(?: +\(?[\w+./-]+\)?)*?) *:? +{n} *± *[0-9.]+ *M/s \(drops .*",
        &[("W", "M/s")]),
    // The kernel's time_bench, of which each step is another workload.
    shape("time_bench", " cycles(tsc) ", r"Per elem: +{n} cycles\(tsc\) +{n} ns \((?<name>step:\d+)\)(?: .*)?",
        &[("W cycles", "cycles"), ("W time", "ns")]),
    shape("time_bench", " cycles(tsc) ", r"(?:time_bench: )?(?:Type:)?{w}:? Per elem: +{n} cycles\(tsc\) +{n} ns(?: \(step:0\))?(?: .*)?",
        &[("W cycles", "cycles"), ("W time", "ns")]),
    shape("time_bench", " cycles(tsc) ", r"(?:time_bench: )?(?:Type:)?{w}: +{n} cycles\(tsc\) +{n} ns(?: \(step:0\))?(?: .*)?",
        &[("W cycles", "cycles"), ("W time", "ns")]),
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
static ANCHORS: LazyLock<Option<Trigger>> = LazyLock::new(|| {
    let anchors = SHAPES.iter().map(|shape| regex::escape(shape.anchor));
    Trigger::new(&anchors.collect::<Vec<_>>().join("|")).ok()
});

/// A form as a regular expression over a whole line.
fn compiled(form: &str) -> Option<Regex> {
    let mut text = String::from("^");
    let (mut rest, mut numbers, mut units) = (form, 0, 0);
    let places = ["{n}", "{u}", "{t}"];
    while let Some(at) = places.iter().filter_map(|place| rest.find(place)).min() {
        text.push_str(&rest[..at]);
        let unit = match &rest[at..at + 3] {
            "{n}" => {
                text.push_str(&format!(r"(?<n{numbers}>[0-9][0-9,.]*(?:[kKM]\b)?)"));
                numbers += 1;
                ""
            }
            "{t}" => "[num\u{b5}\u{3bc}]?s(?:ec)?",
            _ => "[KMGTkm]?i?[Bb](?:its?|ytes?)?(?:/s(?:ec)?)?",
        };
        if !unit.is_empty() {
            text.push_str(&format!("(?<u{units}>{unit})"));
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
    /// What the lines below it are of, if it says nothing else.
    title: Option<String>,
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
        // `Before the patch: 5094 microseconds` is a state's, whatever test has such lines.
        let first = captures.name("name").map(|name| first_word(name.as_str()));
        if first.is_some_and(|word| opposed(&word)) {
            return None;
        }
        let figures = figures(form.shape, &captures)?;
        let title = captures.name("name").filter(|_| figures.is_empty());
        Some(Said {
            tool: form.shape.tool,
            samples: form.shape.samples,
            title: title.map(|title| label(title.as_str())),
            figures,
        })
    })
}

/// The figures of a line that a certain tool prints.
pub(super) fn line_of(tool: &str, text: &str) -> Option<Vec<Figure>> {
    let said = said(text).filter(|said| said.tool == tool)?;
    Some(said.figures)
}

/// Whether a line is one of a tool's report.
pub(super) fn is_line(text: &str) -> bool {
    Reports.starts(text) && said(text).is_some_and(|said| !said.figures.is_empty())
}

/// What the kernel says in a line of the log of the whole machine:
/// `Jan 02 03:04:05 host kernel: …`.
pub(super) fn said_by_kernel(text: &str) -> Option<&str> {
    let (head, said) = text.split_once(" kernel: ")?;
    let timed = |word: &str| word.matches(':').count() == 2;
    (head.len() <= STAMP && head.split_whitespace().any(timed)).then_some(said)
}

/// A line without what the kernel's log puts before it: a time stamp, or in the log of the
/// whole machine the time of day, the host and `kernel:`.
fn without_stamp(text: &str) -> &str {
    if let Some(said) = said_by_kernel(text) {
        return said.trim_start();
    }
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
        REPORT
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= LONGEST && ANCHORS.as_ref().is_some_and(|any| any.is_match(line))
    }

    fn reach(&self) -> usize {
        1
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
                None if tool == "wrk" && here.is_some_and(is_percentile) => {}
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

/// A row of wrk's distribution of latencies: `50%   14.73ms`.
fn is_percentile(text: &str) -> bool {
    let parted = text.trim().split_once('%');
    parted.is_some_and(|(percent, value)| {
        let digits = |text: &str| english(text.trim()).is_some();
        let number = value.trim_end_matches(['u', 'm', 's']);
        digits(percent) && value.ends_with('s') && digits(number)
    })
}

/// A block of a tool's lines.
fn block(rows: Vec<(usize, Said)>) -> Option<Block> {
    let used = rows.last().map_or(0, |(at, _)| at + 1);
    let tool = rows.first()?.1.tool;
    let mut block = Block {
        findings: Vec::new(),
        taken: vec![tool as Taken; used],
    };
    let mut runs: Vec<(usize, Option<String>, Vec<Figure>)> = Vec::new();
    for (at, said) in rows {
        let last = runs.last().map_or(&[][..], |(.., figures)| figures);
        let again = |f: &Figure| said.figures.iter().any(|new| new.metric == f.metric);
        let known = !said.samples && last.iter().any(again);
        if said.title.is_some() {
            runs.push((at, said.title, said.figures));
        } else if runs.is_empty() || known {
            let title = runs.last().and_then(|(_, title, _)| title.clone());
            runs.push((at, title, said.figures));
        } else if let Some((.., figures)) = runs.last_mut() {
            figures.extend(said.figures);
        }
    }
    for (at, workload, figures) in runs {
        let figures = mean_figures(figures.iter());
        let labels = Labels {
            workload,
            ..Labels::default()
        };
        if !figures.is_empty() {
            block.find(at, Finding::Run { labels, figures });
        }
    }
    (!block.findings.is_empty()).then_some(block)
}

#[cfg(test)]
mod tests;
