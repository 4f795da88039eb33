//! `perf stat -I`: samples inside one execution.

use std::collections::HashMap;

use super::ELAPSED;
use super::emit::{self, Amount, Names, Reading};
use super::event::{self, Class};
use super::join::logical;
use super::row::{self, Kind, Row, Value};
use super::text;
use super::token::{self, Votes, Weight};
use crate::Line;
use crate::grammar::{Block, Figure, Finding, Labels, Taken};

/// What one counter gave over all intervals.
#[derive(Debug)]
struct Sum {
    name: String,
    unit: String,
    at: usize,
    total: f64,
    counted: u32,
    uncounted: u32,
    reason: &'static str,
    bad: bool,
    share: Option<f64>,
}

/// Adds up the intervals of one execution.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    sums: Vec<Sum>,
    index: HashMap<String, usize>,
    names: Names,
    last: Option<f64>,
    last_at: usize,
    bad: Vec<(usize, String, String)>,
}

impl Intervals {
    /// Adds one counter of the interval that ends at `time`.
    pub(super) fn add(&mut self, time: f64, reading: Reading) {
        if self.last != Some(time) {
            self.names = Names::default();
        }
        self.last = Some(time);
        self.last_at = reading.at;
        let name = self.names.unique(&reading.metric);
        let known = self.index.get(&name).copied();
        let at = known.unwrap_or(self.sums.len());
        if known.is_none() {
            self.index.insert(name.clone(), at);
            self.sums.push(Sum {
                name: name.clone(),
                unit: reading.unit,
                at: reading.at,
                total: 0.0,
                counted: 0,
                uncounted: 0,
                reason: "not counted",
                bad: false,
                share: None,
            });
        }
        let Some(sum) = self.sums.get_mut(at) else {
            return;
        };
        match reading.amount {
            Amount::Value(value) => {
                sum.total += value;
                sum.counted += 1;
                let least = sum.share.into_iter().chain(reading.share);
                sum.share = least.reduce(f64::min);
            }
            Amount::Missing(reason) => {
                sum.uncounted += 1;
                sum.reason = reason;
            }
            Amount::Bad(why) => {
                if !sum.bad {
                    self.bad.push((reading.at, name, why));
                }
                sum.bad = true;
            }
        }
    }

    /// Turns the sums into findings; the run is noted at line `at`.
    pub(super) fn finish(self, block: &mut Block, labels: &Labels, at: usize) {
        for (line, name, why) in &self.bad {
            emit::bad_number(block, *line, name, why);
        }
        let gaps = self
            .sums
            .iter()
            .filter(|sum| sum.counted > 0 && sum.uncounted > 0);
        if let Some(first) = gaps.clone().next() {
            let sentence = format!(
                "not counted in some of the intervals, so that the sum lacks them: {}",
                emit::listed(gaps.map(|sum| sum.name.as_str()))
            );
            block.find(first.at, Finding::Doubt("not-counted-interval", sentence));
        }
        let mut readings = Vec::new();
        for sum in self.sums {
            let amount = match () {
                () if sum.bad => continue,
                () if sum.counted == 0 => Amount::Missing(sum.reason),
                () if event::is_level(&sum.unit) && sum.counted > 1 => {
                    let why = format!("levels in {} do not add up over intervals", sum.unit);
                    let sentence = format!("{why}; {} is left out", sum.name);
                    block.find(sum.at, Finding::Doubt("not-additive", sentence));
                    continue;
                }
                () => emit::amount(tidy(sum.total), "sum", &sum.unit),
            };
            readings.push(Reading {
                at: sum.at,
                metric: sum.name,
                unit: sum.unit,
                amount,
                noise: emit::Noise::None,
                share: sum.share,
            });
        }
        if let Some(last) = self.last {
            readings.push(Reading {
                at: self.last_at,
                metric: ELAPSED.to_owned(),
                unit: "s".to_owned(),
                amount: Amount::Value(last),
                noise: emit::Noise::None,
                share: None,
            });
        }
        emit::emit(block, labels, None, at, readings);
    }
}

/// A sum without the dust of binary fractions: perf prints nine decimals at
/// the most.
fn tidy(total: f64) -> Option<f64> {
    let tidied = (total * 1e9).round() / 1e9;
    let usable = if total.abs() < 1e6 { tidied } else { total };
    usable.is_finite().then_some(usable)
}

/// Whether the line is the heading above the intervals.
pub(super) fn is_heading(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('#') else {
        return false;
    };
    let mut words = token::words(rest).take(8);
    words.next() == Some("time") && (words.any(|w| w == "counts") || rest.trim() == "time")
}

/// Reads a block of intervals.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let mut taken: Vec<Taken> = Vec::new();
    let mut rows: Vec<(usize, f64, Row)> = Vec::new();
    let mut heading = false;
    let mut last = 0.0;
    while let Some(line) = lines.get(taken.len()) {
        let at = taken.len();
        if is_heading(&line.text) && line.depth == depth {
            heading = true;
            taken.push("perf stat interval heading");
            continue;
        }
        if line.text.trim().is_empty() && blank_inside(lines.get(at..)?, last) {
            taken.push("perf stat blank");
            continue;
        }
        let Some((time, end)) = token::timestamp(&line.text) else {
            break;
        };
        if time < last || line.depth != depth {
            break;
        }
        let (kind, used) = logical(lines.get(at..)?, end);
        let what = match kind {
            Kind::Row(row) if row.class >= Class::Plausible || heading => {
                let what = match row.value {
                    Value::Token(_) => "perf stat interval",
                    Value::Missing(_) => "perf stat unsupported counter",
                };
                rows.push((at, time, row));
                what
            }
            Kind::Note(_) => "perf stat note",
            Kind::Blank | Kind::Other | Kind::RowOpen if heading => "perf stat note",
            _ => break,
        };
        last = time;
        taken.extend(std::iter::repeat_n(what, used));
    }
    if rows.is_empty() && !(heading && taken.len() > 1) {
        return None;
    }
    Some(finish(lines, taken, rows, last))
}

/// Whether an interval follows the blank line at `lines[0]`.
fn blank_inside(lines: &[Line<'_>], last: f64) -> bool {
    last > 0.0
        && lines
            .iter()
            .take(4)
            .find(|line| !line.text.trim().is_empty())
            .and_then(|line| token::timestamp(&line.text))
            .is_some_and(|(time, _)| time >= last)
}

fn finish(lines: &[Line<'_>], taken: Vec<Taken>, rows: Vec<(usize, f64, Row)>, last: f64) -> Block {
    let mut block = Block {
        findings: Vec::new(),
        taken,
    };
    let mut votes = Votes::default();
    for (_, _, row) in &rows {
        let tail = &row.tail;
        for token in [&tail.derived, &tail.noise, &tail.share]
            .into_iter()
            .flatten()
        {
            votes.decimal(token, Weight::Derived);
        }
        if let Value::Token(token) = &row.value {
            votes.value(token);
        }
    }
    let locale = votes.decide();
    let mut labels = Labels::default();
    if let Some((summary, blanks)) = summary(lines, block.taken.len(), last) {
        for (_, finding) in &summary.findings {
            if let Finding::Run { labels: named, .. } = finding {
                labels = named.clone();
            }
        }
        block
            .taken
            .extend(std::iter::repeat_n("perf stat blank", blanks));
        block
            .taken
            .extend(std::iter::repeat_n("perf stat note", summary.taken.len()));
    }
    if locale.is_none() {
        text::ambiguous(&mut block, rows.iter().map(|(at, _, row)| (*at, row)));
    }
    let mut intervals = Intervals::default();
    for (at, time, row) in rows {
        let reading = text::reading(at, row, locale.unwrap_or_default());
        intervals.add(time, reading);
    }
    intervals.finish(&mut block, &labels, 0);
    emit::sort(&mut block);
    block
}

/// The totals that `--summary` prints below the intervals of the same
/// execution, and the blank lines before them.
fn summary(lines: &[Line<'_>], from: usize, last: f64) -> Option<(Block, usize)> {
    let rest = lines.get(from..)?;
    let blanks = rest
        .iter()
        .take(4)
        .take_while(|line| line.text.trim().is_empty())
        .count();
    let rest = rest.get(blanks..).filter(|rest| !rest.is_empty())?;
    if !matches!(
        row::parse(&rest.first()?.text),
        Kind::Header(_) | Kind::HeaderOpen
    ) {
        return None;
    }
    let block = text::read(rest)?;
    let is_elapsed = |figure: &&Figure| figure.metric == ELAPSED;
    let elapsed = block
        .findings
        .iter()
        .find_map(|(_, finding)| match finding {
            Finding::Run { figures, .. } => figures.iter().find(is_elapsed),
            _ => None,
        })?;
    (elapsed.value >= last && elapsed.value <= last * 1.05 + 0.1).then_some((block, blanks))
}
