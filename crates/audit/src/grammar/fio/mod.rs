//! fio: its report for people, as JSON and as terse lines.
//!
//! ```text
//! job: (groupid=0, jobs=4): err= 0: pid=811: …
//!   read: IOPS=123k, BW=480MiB/s (503MB/s)(28.1GiB/60001msec)
//!     clat (usec): min=4, max=1056, avg=197.23, stdev=10.69
//! Run status group 0 (all jobs):
//!    READ: bw=480MiB/s (503MB/s), 480MiB/s-480MiB/s (…), io=28.1GiB, run=60001-60001msec
//! ```
//!
//! One group of one invocation is a run. Its jobs execute together: they are no
//! replicates, and their rates add up. `stdev` is over the requests or over the
//! half seconds of a run and says nothing of how runs vary. People post single
//! lines of the report, so a line that says again what the run already has
//! begins the next run, and a name before a line (`before:  read: IOPS=…`) is
//! its configuration.

mod data;
mod files;
mod lines;

use super::begins::Begins;
use super::cells::{label, line_at};
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use lines::{DIRECTIONS, Said, said};

/// fio in all its formats; see the module.
pub struct Fio;

/// No report is longer.
const MOST: usize = 2000;

impl Grammar for Fio {
    fn name(&self) -> &'static str {
        "fio"
    }

    fn begins(&self) -> Begins {
        Begins::holding(b"{;=:")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        match text.as_bytes() {
            [] => false,
            [b'{', ..] => text.len() == 1,
            [b'3' | b'4', b';', ..] => true,
            bytes => {
                let first = has_key(bytes)
                    && matches!(
                        said(line),
                        Some(Said::Rates { .. } | Said::Job { .. } | Said::Total { .. })
                    );
                first
                    || text.starts_with("Jobs: ")
                    || text.starts_with("Latencies for: ")
                    || is_named_latency(line)
            }
        }
    }

    fn reach(&self) -> usize {
        4
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = line_at(lines, 0)?.trim_start();
        match first.as_bytes().first()? {
            b'{' => data::json(lines),
            b'3' | b'4' if first.as_bytes().get(1) == Some(&b';') => data::terse(lines),
            _ => report(lines),
        }
    }
}

/// `before: clat (usec): min=4, max=1056, avg=197.23`, as people cut it out.
fn is_named_latency(line: &str) -> bool {
    memchr::memmem::find(line.as_bytes(), b"avg=").is_some()
        && matches!(
            said(line),
            Some(Said::Latency {
                before: Some(_),
                ..
            })
        )
}

/// Whether a line has a key of those with which reports begin: `IOPS=`, `bw=`,
/// `BW=`, `iops=`, `(groupid=`. Most lines with an `=` are of programs.
fn has_key(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'=', bytes).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        matches!(before, Some(b'S' | b's' | b'w' | b'W' | b'd' | b'o'))
    })
}

/// A run as it is put together.
#[derive(Debug, Default)]
struct Open {
    /// The line at which it begins.
    at: usize,
    configuration: Option<String>,
    job: Option<String>,
    group: Option<u32>,
    /// How many jobs have said their rates.
    jobs: usize,
    figures: Vec<Figure>,
    /// What the lines below are about: `read`, `write`.
    direction: String,
    /// The directions of which it was said what the whole group did.
    totals: Vec<String>,
    /// The unit of the percentiles that follow.
    percentiles: Option<&'static str>,
}

impl Open {
    fn has(&self, metric: &str) -> bool {
        self.figures.iter().any(|f| f.metric == metric)
    }

    /// Whether nothing is left of a run but what its group did in all, which has been said of
    /// a direction: what is said of it again is of the next run.
    fn is_whole(&self, direction: &String) -> bool {
        self.jobs == 0 && self.group.is_none() && self.totals.contains(direction)
    }

    /// Adds up rates of jobs that execute together.
    fn add(&mut self, figure: Figure) {
        match self.figures.iter_mut().find(|f| f.metric == figure.metric) {
            Some(known) if known.unit == figure.unit => {
                known.value += figure.value;
                known.step = None;
            }
            Some(_) => {}
            None => self.figures.push(figure),
        }
    }

    /// Adds what several jobs cannot share: of a second one it is left out.
    fn only(&mut self, figure: Figure) {
        if !self.has(&figure.metric) {
            self.figures.push(figure);
        }
    }

    /// What the group did in all is what its jobs add up to.
    fn total(&mut self, figures: Vec<Figure>, note: Option<&str>) {
        for figure in figures {
            self.figures.retain(|f| f.metric != figure.metric);
            self.figures.push(figure);
        }
        if let Some(note) = note.filter(|note| !note.is_empty()) {
            self.job = Some(label(note));
        }
    }

    /// What stands on the next line of what the whole group did.
    fn wrapped(&mut self, text: &str) {
        if let Some(direction) = self.direction.strip_prefix(TOTAL) {
            let figures = lines::extent(direction, text);
            figures.into_iter().for_each(|figure| self.only(figure));
        }
    }

    fn finish(mut self, block: &mut Block) {
        if self.jobs > 1 {
            self.figures.retain(|f| !f.metric.contains("lat "));
        }
        if self.figures.is_empty() {
            return;
        }
        let labels = Labels {
            configuration: self.configuration,
            workload: self.job,
            repetition: None,
        };
        let figures = self.figures;
        block.find(self.at, Finding::Run { labels, figures });
    }
}

/// Reads the report for people, or lines of it.
fn report(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let mut block = Block::default();
    let mut open: Option<Open> = None;
    let mut at = 0;
    let mut end = 0;
    while at < lines.len().min(MOST) && lines[at].depth == depth {
        let Some(text) = line_at(lines, at) else {
            break;
        };
        if text.trim().is_empty() {
            // Blank lines stand inside a report, not after its last line.
            if at + 1 - end > 2 {
                break;
            }
            at += 1;
            continue;
        }
        let next = line_at(lines, at + 1);
        let Some(what) = said(text) else {
            // What a mailer or an author has done to a line ends no report.
            let begun = open.as_ref().is_some_and(|run| !run.direction.is_empty());
            if begun && lines::is_inside(text, [next, line_at(lines, at + 2)]) {
                block.taken.resize(at, "blank");
                block.taken.push("fio, not understood");
                at += 1;
                end = at;
                continue;
            }
            break;
        };
        let wrapped = lines::goes_on(text, next);
        block.taken.resize(at, "blank");
        block.taken.push(what.taken());
        apply(what, at, &mut open, &mut block);
        at += 1;
        if wrapped && line_at(lines, at).is_some() && lines[at].depth == depth {
            block.taken.push("fio, wrapped" as Taken);
            at += 1;
            let rest = next.unwrap_or_default();
            open.iter_mut().for_each(|run| run.wrapped(rest));
        }
        end = at;
    }
    if let Some(open) = open {
        open.finish(&mut block);
    }
    files::count(&mut block);
    (!block.findings.is_empty()).then_some(block)
}

/// Takes in what one line says.
fn apply(what: Said<'_>, at: usize, open: &mut Option<Open>, block: &mut Block) {
    match what {
        Said::Job { name, group } => job(name, group, at, open, block),
        Said::Rates {
            before,
            direction,
            figures,
        } => rates(before, direction, figures, at, open, block),
        Said::Latency {
            before: Some(before),
            name,
            average,
            unit,
        } => {
            let figure = |metric| Figure::new(metric, average, unit);
            latency(before, name, figure, at, open, block);
        }
        Said::Latency {
            before: None,
            name,
            average,
            unit,
        } => {
            let figure = |metric| Figure::new(metric, average, unit);
            latency_of_direction(name, figure, open);
        }
        Said::Owner(name) => {
            begin(at, open, block);
            open.iter_mut().for_each(|run| run.job = Some(label(name)));
        }
        Said::PercentileUnit(unit) => open.iter_mut().for_each(|run| run.percentiles = Some(unit)),
        Said::Percentiles(found) => open.iter_mut().for_each(|run| percentiles(&found, run)),
        Said::Total {
            note,
            direction,
            figures,
        } => {
            let total = format!("{TOTAL}{direction}");
            if open
                .as_ref()
                .is_none_or(|run| run.direction == total || run.is_whole(&direction))
            {
                begin(at, open, block);
            }
            if let Some(run) = open {
                run.totals.push(direction);
                run.total(figures, note);
                run.direction = total;
            }
        }
        Said::Other => {}
    }
}

/// The rates of one direction: a run that has them already is followed by another one,
/// unless another of its jobs says them.
fn rates(
    before: Option<&str>,
    direction: String,
    figures: Vec<Figure>,
    at: usize,
    open: &mut Option<Open>,
    block: &mut Block,
) {
    let again = |run: &Open| {
        let own = figures.iter().any(|f| run.has(&f.metric));
        let job = run.direction.is_empty() && run.group.is_some();
        run.configuration != before.map(label) || own && !job
    };
    if open.as_ref().is_none_or(again) {
        begin(at, open, block);
    }
    if let Some(run) = open {
        run.configuration = before.map(label);
        run.jobs += usize::from(run.direction.is_empty());
        run.direction = direction;
        figures.into_iter().for_each(|figure| run.add(figure));
    }
}

/// A latency behind a word: `Read Latency: clat …` says the direction, another word who
/// it is of.
fn latency(
    before: &str,
    name: &str,
    figure: impl FnOnce(String) -> Figure,
    at: usize,
    open: &mut Option<Open>,
    block: &mut Block,
) {
    let mut words = before.split_whitespace();
    let direction = words.next().map(str::to_ascii_lowercase);
    let direction = direction.filter(|word| DIRECTIONS.contains(&word.as_str()));
    let metric = match &direction {
        Some(direction) => format!("{direction} {name} avg"),
        None => format!("{name} avg"),
    };
    let name = direction.is_none().then(|| label(before));
    let again = |run: &Open| run.configuration != name || run.has(&metric);
    if open.as_ref().is_none_or(again) {
        begin(at, open, block);
    }
    if let Some(run) = open {
        run.configuration = name;
        run.only(figure(metric));
    }
}

/// A latency of the direction that was said before.
fn latency_of_direction(
    name: &str,
    figure: impl FnOnce(String) -> Figure,
    open: &mut Option<Open>,
) {
    if let Some(run) = open.as_mut().filter(|run| !run.direction.is_empty()) {
        run.percentiles = None;
        run.only(figure(format!("{} {name} avg", run.direction)));
    }
}

/// A job begins: another of the same name in the same group is part of its run.
fn job(name: &str, group: u32, at: usize, open: &mut Option<Open>, block: &mut Block) {
    let together = open.as_ref().is_some_and(|run| {
        run.group == Some(group)
            && run.job.as_deref() == Some(name)
            && !run.direction.starts_with(TOTAL)
    });
    if !together {
        begin(at, open, block);
    }
    if let Some(run) = open {
        run.job = Some(label(name));
        run.group = Some(group);
        run.direction.clear();
    }
}

fn percentiles(found: &[(&'static str, f64)], run: &mut Open) {
    let Some(unit) = run.percentiles else { return };
    for (percentile, value) in found {
        let metric = match run.direction.as_str() {
            "" => format!("{percentile}th"),
            direction => format!("{direction} clat {percentile}th"),
        };
        run.only(Figure::new(metric, *value, unit));
    }
}

/// Before the direction of a line that speaks of the whole group.
const TOTAL: &str = "all ";

fn begin(at: usize, open: &mut Option<Open>, block: &mut Block) {
    let new = Open {
        at,
        ..Open::default()
    };
    if let Some(done) = open.replace(new) {
        done.finish(block);
    }
}
