//! The default text of `perf stat`.

use super::ELAPSED;
use super::emit::{self, Amount, Noise, Reading};
use super::event::Class;
use super::header::Header;
use super::join::logical;
use super::row::{self, Kind, Row, Time, Value};
use super::token::{self, Votes, Weight};
use crate::Line;
use crate::grammar::number::Locale;
use crate::grammar::{Block, Finding, Labels, Taken};

/// More blank lines than these end a block.
const MOST_BLANKS: usize = 4;

/// What was collected from one block.
#[derive(Debug, Default)]
struct Collected {
    header: Option<Header>,
    rows: Vec<(usize, Row)>,
    times: Vec<(usize, Time)>,
    table: Vec<(usize, String)>,
    bare: Vec<(usize, String)>,
    taken: Vec<Taken>,
    depth: u8,
    gap: bool,
    blanks: usize,
    noted: bool,
}

/// Reads a block with or without a header.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut all = Collected::default();
    let preamble = super::preamble(lines);
    let start = lines.get(preamble..)?;
    let (kind, used) = logical(start, 0);
    match kind {
        Kind::Header(header) => {
            all.taken = super::preamble_taken(preamble);
            all.take(used, "perf stat header");
            all.header = Some(header);
        }
        Kind::Row(_) | Kind::Time(_) if preamble == 0 && is_block(start) => {}
        _ => return None,
    }
    all.depth = start.first()?.depth;
    while let Some(rest) = lines.get(all.taken.len()..).filter(|rest| !rest.is_empty()) {
        if !all.step(rest) {
            break;
        }
    }
    while all.taken.last() == Some(&"perf stat blank") {
        all.taken.pop();
    }
    Some(all.finish())
}

/// Whether a block may begin here without a header: two counters in a row of
/// which one at least is like no prose, or a counter and the elapsed time.
fn is_block(lines: &[Line<'_>]) -> bool {
    let depth = lines.first().map(|line| line.depth);
    let mut at = 0;
    let mut rows = 0;
    let mut strong = false;
    while at < 8 {
        let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) else {
            break;
        };
        let (kind, used) = logical(rest, 0);
        let same_depth = rest.first().map(|line| line.depth) == depth;
        match kind {
            Kind::Row(row) if same_depth && bare_row(&row) => {
                rows += 1;
                strong |= row.strong();
            }
            Kind::Time(time) if same_depth && !time.tail.remark => return true,
            Kind::Blank if rows > 0 => {}
            _ => break,
        }
        if rows >= 2 && strong {
            return true;
        }
        at += used;
    }
    false
}

/// Whether a row needs no header to be taken for a counter.
fn bare_row(row: &Row) -> bool {
    row.class >= Class::Plausible && row.cgroup.is_none() && !row.tail.remark
}

impl Collected {
    fn take(&mut self, lines: usize, what: Taken) {
        self.taken.extend(std::iter::repeat_n(what, lines));
    }

    /// Takes what starts at `rest[0]`; false if the block has ended.
    fn step(&mut self, rest: &[Line<'_>]) -> bool {
        let (kind, used) = logical(rest, 0);
        let at = self.taken.len();
        let same_depth = rest.first().is_some_and(|line| line.depth == self.depth);
        let elapsed = self.times.iter().any(|(_, time)| time.name == ELAPSED);
        let taken: Taken = match kind {
            Kind::Blank if self.blanks < MOST_BLANKS => {
                self.blanks += 1;
                self.gap |= !self.rows.is_empty();
                self.take(used, "perf stat blank");
                return true;
            }
            Kind::Row(row) if same_depth && !elapsed && self.accepts(&row) => {
                let what = match row.value {
                    Value::Token(_) => "perf stat counter",
                    Value::Missing(_) => "perf stat unsupported counter",
                };
                self.gap = false;
                self.rows.push((at, row));
                what
            }
            Kind::Time(time) if same_depth && self.accepts_time(&time, elapsed) => {
                self.times.push((at, time));
                "perf stat elapsed"
            }
            Kind::Bare(name) if same_depth && self.header.is_some() && !self.gap && !elapsed => {
                self.bare.push((at, name));
                "perf stat note"
            }
            Kind::Note(tail) if elapsed && tail.comment => return false,
            Kind::TableHead | Kind::Note(_) if same_depth => {
                self.noted = true;
                "perf stat note"
            }
            Kind::TableRow(value) if same_depth && self.noted => {
                self.table.push((at, value));
                "perf stat note"
            }
            Kind::Other | Kind::RowOpen if same_depth && self.metric_table(rest) => {
                return true;
            }
            _ => return false,
        };
        self.blanks = 0;
        self.take(used, taken);
        true
    }

    /// Whether the row belongs to the block.
    fn accepts(&self, row: &Row) -> bool {
        if self.header.is_none() && !bare_row(row) {
            return false;
        }
        if !self.gap {
            return row.class >= Class::Plausible || !row.tail.remark;
        }
        let again = self.rows.first().is_some_and(|(_, first)| {
            first.event == row.event && first.place == row.place && first.cgroup == row.cgroup
        });
        row.class >= Class::Plausible && !again
    }

    fn accepts_time(&self, time: &Time, elapsed: bool) -> bool {
        let twice = self.times.iter().any(|(_, other)| other.name == time.name);
        !twice && (time.name != "elapsed" || !elapsed) && !time.tail.remark
    }

    /// Takes the table that `--metric-only` prints, if the elapsed time
    /// follows it.
    fn metric_table(&mut self, rest: &[Line<'_>]) -> bool {
        if self.header.is_none() || !self.rows.is_empty() || self.noted {
            return false;
        }
        let lines = rest
            .iter()
            .take(600)
            .take_while(|line| line.depth == self.depth && !line.text.trim().is_empty())
            .count();
        let after = rest.get(lines..).unwrap_or_default();
        let blanks = after
            .iter()
            .take(MOST_BLANKS)
            .take_while(|line| line.text.trim().is_empty())
            .count();
        let timed = after
            .get(blanks..)
            .is_some_and(|after| matches!(logical(after, 0).0, Kind::Time(_)));
        let counters = rest
            .iter()
            .take(lines)
            .any(|line| matches!(row::parse(&line.text), Kind::Row(_) | Kind::Time(_)));
        self.noted = true;
        let timed = timed && !counters;
        if timed {
            self.take(lines, "perf stat note");
        }
        timed
    }

    fn finish(self) -> Block {
        let locale = self.locale();
        let header = self.header.unwrap_or_default();
        let had_header = self.taken.contains(&"perf stat header");
        let labels = Labels {
            workload: header.workload,
            ..Labels::default()
        };
        let mut block = Block {
            findings: Vec::new(),
            taken: self.taken,
        };
        if had_header && self.rows.is_empty() && self.times.is_empty() && self.bare.is_empty() {
            let sentence = "a perf stat header without counters".to_owned();
            block.find(0, Finding::Doubt("truncated-block", sentence));
        }
        for (at, name) in &self.bare {
            emit::bad_number(&mut block, *at, name, "there is no value");
        }
        if locale.is_none() {
            ambiguous(&mut block, self.rows.iter().map(|(at, row)| (*at, row)));
        }
        let locale = locale.unwrap_or_default();
        let mut readings: Vec<Reading> = self
            .rows
            .into_iter()
            .map(|(at, row)| reading(at, row, locale))
            .collect();
        let singles = singles(&self.table, header.runs);
        for (repetition, (at, figure)) in (1..).zip(singles.iter().flatten()) {
            let labels = Labels {
                repetition: Some(repetition),
                ..labels.clone()
            };
            emit::run(&mut block, *at, &labels, vec![figure.clone()]);
        }
        for (at, time) in self.times {
            if time.name != "elapsed" || singles.is_none() {
                readings.push(time_reading(at, time, locale));
            }
        }
        emit::emit(&mut block, &labels, header.runs, 0, readings);
        emit::sort(&mut block);
        block
    }

    /// The locale that the tokens speak for.
    fn locale(&self) -> Option<Locale> {
        let mut votes = Votes::default();
        for (_, time) in &self.times {
            votes.decimal(&time.value, Weight::Time);
        }
        let tails = self.times.iter().map(|(_, time)| &time.tail);
        for tail in tails.chain(self.rows.iter().map(|(_, row)| &row.tail)) {
            for token in [&tail.derived, &tail.noise, &tail.share]
                .into_iter()
                .flatten()
            {
                votes.decimal(token, Weight::Derived);
            }
        }
        for (_, row) in &self.rows {
            if let Value::Token(token) = &row.value {
                votes.value(token);
            }
        }
        votes.decide()
    }
}

/// The single elapsed times of `--table`, if there is one for each run.
fn singles(
    table: &[(usize, String)],
    runs: Option<u32>,
) -> Option<Vec<(usize, crate::grammar::Figure)>> {
    let complete = table.len() > 1 && usize::try_from(runs?).ok() == Some(table.len());
    let figure = |(at, token): &(usize, String)| {
        let seconds = token::plain_decimal(token)?;
        Some((*at, crate::grammar::Figure::new("elapsed", seconds, "s")))
    };
    complete.then(|| table.iter().map(figure).collect())?
}

/// Doubts the first value that reads differently in the two locales. Counts
/// have no fraction, so `1,466` without a unit is not in doubt.
pub(super) fn ambiguous<'r>(block: &mut Block, rows: impl Iterator<Item = (usize, &'r Row)>) {
    for (at, row) in rows {
        let Value::Token(token) = &row.value else {
            continue;
        };
        let english = token::read(token, Locale::English);
        let comma = token::read(token, Locale::CommaDecimal);
        let (Some(english), Some(comma)) = (english, comma) else {
            continue;
        };
        let whole = row.unit.is_empty() && token.contains(',');
        if english != comma && !whole {
            let sentence = format!(
                "`{}` ({}) may mean {english} or {comma}; read as {english}",
                token::shown(token),
                row.metric(),
            );
            block.find(at, Finding::Doubt("locale-ambiguous", sentence));
            return;
        }
    }
}

/// A counter's reading.
pub(super) fn reading(at: usize, row: Row, locale: Locale) -> Reading {
    let metric = row::name(&row.event, row.cgroup.as_deref(), row.place.as_deref());
    let amount = match &row.value {
        Value::Missing(reason) => Amount::Missing(reason),
        Value::Token(token) => emit::amount(token::read(token, locale), token, &row.unit),
    };
    Reading {
        at,
        metric,
        unit: row.unit,
        amount,
        noise: row
            .tail
            .noise
            .as_deref()
            .map(Noise::percent)
            .unwrap_or_default(),
        share: row.tail.share.as_deref().and_then(token::plain_decimal),
    }
}

fn time_reading(at: usize, time: Time, locale: Locale) -> Reading {
    let value = token::plain_decimal(&time.value).or_else(|| token::read(&time.value, locale));
    let noise = match (&time.error, &time.tail.noise) {
        (Some(error), _) => Noise::absolute(error),
        (None, Some(percent)) => Noise::percent(percent),
        (None, None) => Noise::None,
    };
    Reading {
        at,
        metric: time.name.to_owned(),
        unit: "s".to_owned(),
        amount: emit::amount(value, &time.value, "s"),
        noise,
        share: None,
    }
}
