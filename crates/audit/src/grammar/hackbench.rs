//! hackbench, and `perf bench sched` which grew out of it.

use super::begins::Begins;
use super::latencies::{bad_number, blanks, cell, clip, is_digits, take, truncated};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// hackbench and `perf bench`.
#[derive(Debug, Clone, Copy)]
pub struct Hackbench;

impl Grammar for Hackbench {
    fn name(&self) -> &'static str {
        "hackbench"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"RET#")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        match text.as_bytes().first() {
            Some(b'R' | b'E') => is_setting(text),
            Some(b'T') => text.starts_with("Time:") || total_time(text).is_some(),
            Some(b'#') => suite(text).is_some(),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let text = lines.first()?.text.trim_start();
        if suite(text).is_some() || total_time(text).is_some() {
            return read_perf(lines);
        }
        if is_setting(text) {
            return Some(read_settings(lines));
        }
        read_bare(lines)
    }
}

/// Whether a line is one of those in which hackbench says what it will do.
fn is_setting(text: &str) -> bool {
    is_running(text) || text.starts_with("Each sender will pass ")
}

/// `each (== 400 tasks)` and `512 bytes`: what a mailer puts on the next line.
fn is_end_of_setting(line: &str) -> bool {
    let text = line.trim();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix("each ").unwrap_or(text);
    let tasks = text
        .strip_prefix("(== ")
        .and_then(|rest| rest.strip_suffix(" tasks)"));
    let bytes = text.strip_suffix(" bytes");
    tasks.or(bytes).is_some_and(number)
}

/// Whether a line is the first that hackbench prints.
fn is_running(text: &str) -> bool {
    text.strip_prefix("Running ").is_some_and(|rest| {
        rest.starts_with("in process mode with ")
            || rest.starts_with("in threaded mode with ")
            || (rest.starts_with("with ") && rest.contains("(=="))
    })
}

/// What follows `Time:` if it is all there is: a number, good or bad, with
/// or without its unit.
fn time_token(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("Time:")?;
    let mut tokens = rest.split_ascii_whitespace();
    let token = tokens.next()?;
    let alone = match tokens.next() {
        None => true,
        Some(unit) => matches!(unit, "s" | "sec" | "secs" | "seconds") && tokens.next().is_none(),
    };
    let bare = token.trim_start_matches(['-', '+']);
    let numeric = ["nan", "inf"].contains(&bare)
        || (bare.starts_with(|c: char| c.is_ascii_digit())
            && bare
                .bytes()
                .all(|b| b.is_ascii_digit() || b".,'eE+-".contains(&b)));
    (alone && numeric).then_some(token)
}

/// One run of hackbench: what it announced, and the lines of its times.
#[derive(Debug, Default)]
struct Invocation {
    first: usize,
    running: String,
    message: String,
    times: Vec<(usize, f64)>,
    /// Whether a time was read, good or bad.
    ended: bool,
}

/// Reads one run after another, each led by what it announces. Only where
/// the announcements differ do the runs name their workload: otherwise the
/// command line, which says more, names it.
fn read_settings(lines: &[Line<'_>]) -> Block {
    let mut block = Block::default();
    let mut runs: Vec<Invocation> = Vec::new();
    loop {
        let at = block.taken.len();
        let gap = blanks(lines.get(at..).unwrap_or(&[]), 2);
        let Some(line) = lines.get(at + gap) else {
            break;
        };
        let text = line.text.trim_start();
        if is_setting(text) {
            take(&mut block, gap, "blank");
            announce(&mut runs, text, at + gap);
            take(&mut block, 1, "hackbench header");
            if lines
                .get(at + gap + 1)
                .is_some_and(|next| is_end_of_setting(&next.text))
            {
                take(&mut block, 1, "hackbench header");
            }
        } else if let Some(token) = time_token(text) {
            take(&mut block, gap, "blank");
            take(&mut block, 1, "hackbench time");
            let value = cell(&mut block, at + gap, "the time", token).value();
            if let Some(run) = runs.last_mut() {
                run.ended = true;
                run.times.extend(value.map(|value| (at + gap, value)));
            }
        } else {
            break;
        }
    }
    let differ = runs
        .windows(2)
        .any(|w| (&w[0].running, &w[0].message) != (&w[1].running, &w[1].message));
    for run in &runs {
        if !run.ended {
            truncated(
                &mut block,
                run.first,
                "hackbench started but no time follows",
            );
        }
        for &(at, value) in &run.times {
            let labels = Labels {
                workload: differ.then(|| workload(run)),
                ..Labels::default()
            };
            block.find(at, time_run(labels, value));
        }
    }
    block
}

/// Notes a line that announces a run: a new one, or more about the last.
fn announce(runs: &mut Vec<Invocation>, text: &str, at: usize) {
    let running = is_running(text);
    let goes_on = runs
        .last()
        .is_some_and(|run| !run.ended && !running && run.message.is_empty());
    if !goes_on {
        runs.push(Invocation {
            first: at,
            ..Invocation::default()
        });
    }
    if let Some(run) = runs.last_mut() {
        let place = if running {
            &mut run.running
        } else {
            &mut run.message
        };
        *place = text.trim_end().chars().take(200).collect();
    }
}

/// A name for what a run announced.
fn workload(run: &Invocation) -> String {
    let running = run.running.strip_prefix("Running ").unwrap_or(&run.running);
    let running = running.strip_prefix("in ").unwrap_or(running);
    let message = run
        .message
        .strip_prefix("Each sender will pass ")
        .unwrap_or(&run.message);
    let parts = ["hackbench", running, message];
    let named: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    named.join(", ")
}

/// A run of which only the time is known.
fn time_run(labels: Labels, seconds: f64) -> Finding {
    Finding::Run {
        labels,
        figures: vec![Figure::new("time", seconds, "s")],
    }
}

/// Reads times without their announcement, which count only if several
/// follow each other.
fn read_bare(lines: &[Line<'_>]) -> Option<Block> {
    let times = lines
        .iter()
        .take_while(|line| time_token(&line.text).is_some())
        .count();
    if times < 2 {
        return None;
    }
    let mut block = Block::default();
    take(&mut block, times, "hackbench time");
    for (at, line) in lines[..times].iter().enumerate() {
        let token = time_token(&line.text).unwrap_or("");
        if let Some(value) = cell(&mut block, at, "the time", token).value() {
            block.find(at, time_run(Labels::default(), value));
        }
    }
    Some(block)
}

/// The suite and benchmark that perf says it runs (`sched/pipe`).
fn suite(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("# Running ")?;
    let (name, rest) = match rest.strip_prefix('\'') {
        Some(quoted) => quoted.split_once('\'')?,
        None => rest.split_once(' ')?,
    };
    let known = name.contains('/') && !name.contains(' ') && name.len() <= 64;
    (known && rest.trim_start().starts_with("benchmark")).then_some(name)
}

/// What stands between `Total time:` and `[sec]`.
fn total_time(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("Total time:")?;
    let token = rest.trim_end().strip_suffix("[sec]")?.trim();
    (!token.is_empty() && !token.contains([' ', '\t'])).then_some(token)
}

/// A figure row of perf: name, number, unit.
fn perf_row(text: &str) -> Option<(&'static str, &str, &'static str)> {
    if let Some(token) = total_time(text) {
        return Some(("total time", token, "s"));
    }
    let mut tokens = text.split_ascii_whitespace();
    let token = tokens.next()?;
    let unit = ["usecs/op", "ops/sec"]
        .into_iter()
        .find(|unit| tokens.clone().next() == Some(unit))?;
    tokens.next();
    tokens.next().is_none().then_some((unit, token, unit))
}

/// Reads one benchmark of perf.
fn read_perf(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    let name = suite(lines.first()?.text.trim_start());
    if name.is_some() {
        take(&mut block, 1, "perf bench header");
    }
    let mut figures: Vec<Figure> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut first = 0;
    loop {
        let at = block.taken.len();
        let gap = blanks(lines.get(at..).unwrap_or(&[]), 2);
        let Some(line) = lines.get(at + gap) else {
            break;
        };
        let text = line.text.trim_start();
        if let Some((metric, token, unit)) = perf_row(text) {
            if seen.contains(&metric) {
                break;
            }
            if seen.is_empty() {
                first = at + gap;
            }
            seen.push(metric);
            take(&mut block, gap, "blank");
            take(&mut block, 1, "perf bench figure");
            match english(token) {
                Some(value) if value >= 0.0 => figures.push(Figure::new(metric, value, unit)),
                _ => bad_number(&mut block, at + gap, metric, token),
            }
        } else if name.is_some() && seen.is_empty() && at + gap < 12 && is_note(text) {
            take(&mut block, gap, "blank");
            take(&mut block, 1, "perf bench header");
        } else {
            break;
        }
    }
    finish_perf(block, name, figures, seen.is_empty(), first)
}

/// Makes a run of the figures; a benchmark of another suite than `sched`
/// that printed none of them is left to other grammars.
fn finish_perf(
    mut block: Block,
    name: Option<&str>,
    figures: Vec<Figure>,
    empty: bool,
    first: usize,
) -> Option<Block> {
    if empty {
        if !name?.starts_with("sched/") {
            return None;
        }
        truncated(&mut block, 0, "the benchmark started but no figures follow");
    }
    if !figures.is_empty() {
        let labels = Labels {
            workload: name.map(clip),
            ..Labels::default()
        };
        block.find(first, Finding::Run { labels, figures });
    }
    Some(block)
}

/// Whether a comment says what a benchmark does (`# 10 groups == 400
/// processes run`, `# Executed 1000000 pipe operations between ...`).
fn is_note(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("# ") else {
        return false;
    };
    let mut words = rest.split_ascii_whitespace();
    match words.next() {
        Some("Executed") => words.next().is_some_and(is_digits),
        Some(number) => is_digits(number) && words.next().is_some(),
        None => false,
    }
}
