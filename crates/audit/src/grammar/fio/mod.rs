//! fio: its report for people, and as JSON.
//!
//! ```text
//! job: (groupid=0, jobs=4): err= 0: pid=811: …
//!   read: IOPS=123k, BW=480MiB/s (503MB/s)(28.1GiB/60001msec)
//!     clat (usec): min=4, max=1056, avg=197.23, stdev=10.69
//! Run status group 0 (all jobs):
//!    READ: bw=480MiB/s (503MB/s), 480MiB/s-480MiB/s (…), io=28.1GiB, run=60001-60001msec
//! ```
//!
//! One group of one invocation is a run. Its jobs execute together: they are not replicates, and
//! their rates add up. `stdev` is taken over the requests of one run, not over runs. If lines are
//! quoted without their report, a repeated metric starts the next run.

mod data;

use super::number::{Locale, step};
use super::prelude::*;

/// fio in all its formats; see the module.
pub const FIO: Grammar = Grammar {
    holds: b"{;=",
    reach: 4,
    ..Grammar::new("fio", starts, read)
};

/// Most lines of a report; longest line.
const MOST: usize = 2000;
const LONGEST: usize = 400;
/// Percentiles that are kept.
const KEPT: [&str; 5] = ["50.00", "95.00", "99.00", "99.90", "99.99"];
/// Beginnings of lines that hold nothing to keep.
#[rustfmt::skip]
const OTHERS: [&str; 23] = [
    "bw (", "iops  ", "lat (nsec)  ", "lat (usec)  ", "lat (msec)  ", "lat (usec) :", "lat (msec) :",
    "cpu  ", "cpu :", "IO depths", "submit ", "complete ", "issued", "latency ", "Run status group",
    "Disk stats", "fio-", "Starting ", "Jobs: ", "sync ", "slat (", "zone resets", "...",
];

static JOB: Form = Form::new(r"^(?<name>[^:]+): \(groupid=(?<group>\d+), jobs=\d+\):");
static RATES: Form = Form::new(r"^(?<way>read|write|trim) ?: .*(?:IOPS|iops)=");
static TOTAL: Form = Form::new(r"^(?<way>READ|WRITE|TRIM): (?:bw=|io=.*aggrb=)");
static IOPS: Form = Form::new(r"\b(?:IOPS|iops)=\s*(?<value>[\d.]+)(?<factor>[kKM]?)");
static BANDWIDTH: Form = Form::new(r"\b(?:BW|bw|aggrb)=\s*(?<value>[\d.]+)(?<unit>[KMGTk]?i?B/s)");
static LATENCY: Form = Form::new(
    r"^(?<name>clat|lat) \((?<unit>[num]?sec)\): min=.*avg=\s*(?<value>[\d.]+)(?<factor>[kKM]?),",
);
static PERCENTILES: Form = Form::new(r"^c?lat percentiles \((?<unit>[num]?sec)\):$");
static PERCENTILE: Form = Form::new(r"(?<at>\d+\.\d+)th=\[ *(?<value>\d+)\]");

/// A number with fio's suffix for thousands, and the place of its last digit.
fn scaled(value: &str, factor: &str) -> Option<(f64, f64)> {
    let factor = match factor {
        "" => 1.0,
        "M" => 1e6,
        _ => 1e3,
    };
    let step = step(value, Locale::English)? * factor;
    Some((english(value)? * factor, step))
}

/// Returns the rates on a line.
fn rates(way: &str, text: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(found) = IOPS.captures(text)
        && let Some((value, step)) = scaled(&found["value"], &found["factor"])
    {
        let figure = Figure::new(format!("{way} iops"), value, "IOPS");
        figures.push(figure.with_step(Some(step)));
    }
    if let Some(found) = BANDWIDTH.captures(text)
        && let Some(value) = english(&found["value"])
    {
        figures.push(Figure::new(format!("{way} bw"), value, &found["unit"]));
    }
    figures
}

fn starts(line: &str) -> bool {
    let text = line.trim();
    match text.as_bytes() {
        [] => false,
        [b'{', ..] => text.len() == 1,
        [b'r' | b'w' | b't' | b'R' | b'W' | b'T', ..] if text.len() <= LONGEST => {
            [&RATES, &TOTAL].iter().any(|form| form.is_match(text)) || text.contains(": (groupid=")
        }
        _ => text.contains(": (groupid="),
    }
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    match line_at(lines, 0)?.trim_start().starts_with('{') {
        true => data::json(lines),
        false => report(lines),
    }
}

/// A run as it is put together.
#[derive(Default)]
struct Open {
    /// The line at which it begins.
    at: usize,
    /// Name and group of its jobs.
    job: Option<(String, String)>,
    jobs: usize,
    figures: Vec<Figure>,
    /// The direction of the lines that follow: `read`, `write`.
    way: String,
    /// The unit of the percentiles that follow.
    percentiles: Option<String>,
    /// Whether the total of the group has been read.
    total: bool,
}

impl Open {
    fn has(&self, metric: &str) -> bool {
        self.figures.iter().any(|figure| figure.metric == metric)
    }

    /// Adds up rates of jobs that execute together.
    fn add(&mut self, figure: Figure) {
        let mut known = self.figures.iter_mut();
        match known.find(|known| known.metric == figure.metric) {
            Some(known) if known.unit == figure.unit => {
                known.value += figure.value;
                known.step = None;
            }
            Some(_) => {}
            None => self.figures.push(figure),
        }
    }

    /// Adds a figure that does not add up over jobs; that of a second job is left out.
    fn only(&mut self, metric: String, value: f64, unit: &str) {
        if !self.has(&metric) {
            self.figures.push(Figure::new(metric, value, unit));
        }
    }

    fn finish(mut self, block: &mut Block) {
        if self.jobs > 1 {
            self.figures
                .retain(|figure| !figure.metric.contains("lat "));
        }
        let labels = Labels::new(None, self.job.map(|(name, _)| name));
        block.run(self.at, labels, self.figures);
    }

    /// Takes a line and returns its description. A line that starts another run ends this one.
    fn take(&mut self, text: &str, at: usize, block: &mut Block) -> Option<Taken> {
        let found = |form: &Form| form.captures(text);
        if let Some(found) = found(&JOB) {
            let job = Some((label(&found["name"]), found["group"].to_owned()));
            if self.job != job || self.total {
                self.begin(at, block);
            }
            (self.job, self.jobs) = (job, self.jobs + 1);
            self.way.clear();
            return Some("fio job");
        }
        if let Some(found) = found(&RATES) {
            let figures = rates(&found["way"], text);
            let again = figures.iter().any(|figure| self.has(&figure.metric)) && self.jobs < 2;
            if again || self.total {
                self.begin(at, block);
            }
            figures.into_iter().for_each(|figure| self.add(figure));
            self.way = found["way"].to_owned();
            return Some("fio rates");
        }
        if let Some(found) = found(&TOTAL) {
            let way = found["way"].to_lowercase();
            let figures = rates(&way, text);
            if self.total && figures.iter().any(|figure| self.has(&figure.metric)) {
                self.begin(at, block);
            }
            // The group's total replaces the sum over its jobs.
            self.figures
                .retain(|known| figures.iter().all(|figure| figure.metric != known.metric));
            self.figures.extend(figures);
            self.total = true;
            return Some("fio rates");
        }
        if let Some(found) = found(&LATENCY).filter(|_| !self.way.is_empty()) {
            let (value, _) = scaled(&found["value"], &found["factor"])?;
            let metric = format!("{} {} avg", self.way, &found["name"]);
            self.only(metric, value, &found["unit"]);
            return Some("fio latency");
        }
        if let Some(found) = found(&PERCENTILES) {
            self.percentiles = Some(found["unit"].to_owned());
            return Some("fio percentiles");
        }
        if let (Some(rest), Some(unit)) = (text.strip_prefix('|'), self.percentiles.clone()) {
            self.take_percentiles(rest, &unit);
            return Some("fio percentiles");
        }
        let disk = text.contains(": ios=") && !self.figures.is_empty();
        (disk || OTHERS.iter().any(|start| text.starts_with(start))).then_some("fio")
    }

    fn take_percentiles(&mut self, text: &str, unit: &str) {
        for found in PERCENTILE.each(text) {
            let kept = KEPT.iter().find(|kept| found["at"].starts_with(**kept));
            let value = english(&found["value"]).filter(|_| !self.way.is_empty());
            if let (Some(kept), Some(value)) = (kept, value) {
                self.only(format!("{} clat {kept}th", self.way), value, unit);
            }
        }
    }

    fn begin(&mut self, at: usize, block: &mut Block) {
        let new = Open {
            at,
            ..Open::default()
        };
        std::mem::replace(self, new).finish(block);
    }
}

/// Reads the report for people, or lines of it.
fn report(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let mut block = Block::default();
    let mut open = Open::default();
    let mut at = 0;
    while let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == depth && at < MOST) {
        if text.trim().is_empty() {
            // Blank lines stand inside a report, not after its last line.
            if at >= block.taken.len() + 2 {
                break;
            }
            at += 1;
            continue;
        }
        let Some(what) = open
            .take(text.trim(), at, &mut block)
            .filter(|_| text.len() <= LONGEST)
        else {
            // A mailer may have wrapped the end of a line.
            let rest = ["io=", "run=", "stdev=", "samples=", "avg="];
            if block.taken.len() == at && rest.iter().any(|start| text.trim().starts_with(start)) {
                block.taken.push("fio, wrapped");
                at += 1;
                continue;
            }
            break;
        };
        block.taken.resize(at, "blank");
        block.taken.push(what);
        at += 1;
    }
    open.finish(&mut block);
    (!block.findings.is_empty()).then_some(block)
}
