//! One message's lines to blocks of figures with what stands above them.

mod code;
mod commands;
mod correspondence;
mod digits;
mod rows;

use std::collections::{BTreeMap, HashMap, HashSet};

use assize_bundle::{Doubt, Place};

use crate::admission::Sign;
use crate::admission::wording::Wording;
use crate::command;
use crate::dataish::looks_like_data;
use crate::grammar::begins;
use crate::grammar::{self, Block, Figure, Finding};
use crate::headings::{self, Heading};
use crate::options::Options;
use crate::printed::note_steps;
use crate::{Explained, Line};
use code::Code;
use commands::sleep;
pub(crate) use digits::may_hold;
use digits::next_digit;
use rows::Rows;

/// A block of figures and its surroundings.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// The format that read it.
    pub(crate) format: &'static str,
    /// Quote depth of its first line.
    pub(crate) depth: u8,
    /// What was read, each with its place.
    pub(crate) findings: Vec<(Place, Finding)>,
    /// Headings that are new since the last block of the same depth.
    pub(crate) headings: Vec<Heading>,
    /// The last command line above it at its depth.
    pub(crate) command: Option<(Place, String)>,
    /// The line of the nearest heading, which may stand above blocks before it.
    pub(crate) heading: Option<usize>,
    /// Whether that stands below that command line.
    pub(crate) heading_is_nearer: bool,
    /// What the program under test printed about itself.
    pub(crate) samples: Vec<Figure>,
    /// The machine that a line above names.
    pub(crate) machine: Option<String>,
    /// A workload that the user named for the lines above.
    pub(crate) workload: Option<String>,
    /// What a table says for or against judging it.
    pub(crate) signs: Vec<Sign>,
}

/// What one message held.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) placed: Vec<Placed>,
    pub(crate) doubts: Vec<Doubt>,
    /// Line by line, if it was asked for.
    pub(crate) explained: Vec<Explained>,
    /// Seconds of `sleep N` lines, by place.
    pub(crate) sleeps: Vec<(Place, f64)>,
    /// What the text around the figures says of them.
    pub(crate) wording: Wording,
}

impl Scan {
    /// Whether there is nothing to say of the message.
    pub(crate) fn is_empty(&self) -> bool {
        self.placed.is_empty() && self.doubts.is_empty() && self.explained.is_empty()
    }
}

/// What is remembered for each quote depth.
#[derive(Default)]
struct Level {
    /// The line after the last measuring block.
    end: usize,
    command: Option<(usize, Place, String)>,
    /// The line of the last heading.
    heading: Option<usize>,
    /// With the lines they stand on.
    samples: Vec<(usize, Figure)>,
    machine: Option<String>,
    workload: Option<String>,
}

struct Scanner<'l, 'o> {
    lines: &'l [Line<'l>],
    options: &'o Options,
    levels: BTreeMap<u8, Level>,
    used: Vec<bool>,
    taken: HashMap<usize, String>,
    out: Scan,
    not_understood: Vec<usize>,
    /// Commands that are part of a sentence: `hackbench -g 20, ten runs of each:`.
    in_sentences: HashSet<usize>,
    /// How many lines on the next line with the digit of a figure stands.
    digit: Vec<u32>,
    rows: Rows,
    /// The line after the last mean with its spread, and of how many runs the
    /// text says that it is.
    stated: Option<(usize, Option<u32>)>,
}

/// At most so many lines that were not understood are listed one by one.
const LISTED: usize = 20;

/// A line longer than this that no grammar has read is no line of a mail.
const LONG: usize = 4000;

/// How far above a mean the number of its runs is looked for.
const RUNS_ABOVE: usize = 12;

/// Finds all blocks of a message.
pub(crate) fn scan(lines: &mut [Line<'_>], options: &Options) -> Scan {
    let code = Code::take_from(lines);
    let lines = &*lines;
    let mut scanner = Scanner {
        lines,
        options,
        levels: BTreeMap::new(),
        used: vec![false; lines.len()],
        taken: HashMap::new(),
        out: Scan::default(),
        not_understood: Vec::new(),
        in_sentences: HashSet::new(),
        rows: Rows::default(),
        digit: next_digit(lines),
        stated: None,
    };
    for (at, what) in code.lines() {
        scanner.take(at, what);
    }
    let mut at = 0;
    while at < lines.len() {
        at += scanner.step(at);
    }
    let mut scan = scanner.finish();
    code.explain(&mut scan.explained);
    scan
}

impl Scanner<'_, '_> {
    /// Deals with the line at `at` and says how many lines that took.
    fn step(&mut self, at: usize) -> usize {
        let lines = self.lines;
        let line = &lines[at];
        let text: &str = &line.text;
        if text.trim_start().is_empty() {
            return 1;
        }
        if let Some(name) = headings::machine(text) {
            self.level(line.depth).machine = Some(name.to_string());
        }
        if let Some(name) = self.options.workload_of(text) {
            let name = name.to_string();
            self.level(line.depth).workload = Some(name);
        }
        if let Some(used) = self.command(at) {
            return used;
        }
        if let Some(figure) = self.result_of_command(at) {
            let labels = grammar::Labels::default();
            let figures = vec![figure];
            self.take(at, "result of a command");
            self.place(
                at,
                1,
                "netperf",
                vec![(line.place, Finding::Run { labels, figures })],
            );
            return 1;
        }
        for format in begins::formats(text, self.digit[at] as usize) {
            let grammar = grammar::all()[format];
            if grammar.starts(text)
                && self.rows.near(self.lines, at, grammar.rows_within())
                && let Some(block) = grammar.read(&self.lines[at..])
            {
                return self.block(at, grammar.name(), block);
            }
        }
        if let Some(seconds) = sleep(text) {
            self.out.sleeps.push((line.place, seconds));
        } else if text.len() > LONG && text.bytes().any(|b| b.is_ascii_digit()) {
            let detail = format!("a line of {} bytes was not looked at", text.len());
            self.doubt("long-line", detail, line.place);
            self.take(at, "too long");
        } else if looks_like_data(text) {
            self.not_understood.push(at);
            self.take(at, "not understood");
        }
        1
    }

    fn level(&mut self, depth: u8) -> &mut Level {
        self.levels.entry(depth).or_default()
    }

    fn doubt(&mut self, code: &str, detail: String, place: Place) {
        let code = code.to_string();
        self.out.doubts.push(Doubt {
            code,
            detail,
            place,
        });
    }

    fn take(&mut self, at: usize, what: &str) {
        self.used[at] = true;
        if self.options.explain {
            self.taken.insert(at, what.to_string());
        }
    }

    /// Whether a line says something in words, maybe with a command in them.
    fn is_prose(&self, at: usize) -> bool {
        !self.used[at] || self.in_sentences.contains(&at)
    }

    fn block(&mut self, at: usize, format: &'static str, mut block: Block) -> usize {
        let depth = self.lines[at].depth;
        let used = block.taken.len().clamp(1, self.lines.len() - at);
        note_steps(format, &self.lines[at..at + used], &mut block.findings);
        for (i, what) in block.taken.iter().enumerate().take(used) {
            self.take(at + i, what);
        }
        if format == "dd" {
            self.state_filling(depth, &mut block.findings);
        }
        if format == "spread" {
            self.note_runs(at, &mut block);
        }
        let mut findings = Vec::new();
        let mut measuring = false;
        // The command above, while one that the block names holds for it.
        let mut above = None;
        for (i, finding) in block.findings {
            let line = (at + i).min(self.lines.len() - 1);
            let place = self.lines[line].place;
            match finding {
                Finding::Sample(figure) => self.level(depth).samples.push((line, figure)),
                Finding::Command(text) => {
                    let typed = above.get_or_insert_with(|| self.level(depth).command.clone());
                    let program = typed.as_ref().map(|(.., command)| &command[..]);
                    let text = command::as_typed(text, program);
                    self.level(depth).command = Some((line, place, text));
                }
                Finding::Doubt(code, detail) => self.doubt(code, detail, place),
                Finding::Grid(mut grid) => {
                    let last = self.lines.len() - 1;
                    let at_row = |row: &usize| self.lines[(at + row).min(last)].place;
                    grid.places = grid.at.iter().map(at_row).collect();
                    measuring = true;
                    findings.push((place, Finding::Grid(grid)));
                }
                other => {
                    measuring = true;
                    findings.push((place, other));
                }
            }
        }
        if measuring {
            self.place(at, used, format, findings);
        }
        if let Some(typed) = above {
            self.level(depth).command = typed;
        }
        used
    }

    /// Gives means that do not say of how many runs they are what the sentences
    /// above say, up to the last block; above a further mean, what held for the
    /// last.
    fn note_runs(&mut self, at: usize, block: &mut Block) {
        let depth = self.lines[at].depth;
        let mut told = None;
        for i in (at.saturating_sub(RUNS_ABOVE)..at).rev() {
            if let Some((end, last)) = self.stated
                && i < end
            {
                told = last;
                break;
            }
            if !self.is_prose(i) || told.is_some() {
                break;
            }
            if self.lines[i].depth == depth {
                told = grammar::stated_runs(&self.lines[i].text);
            }
        }
        self.stated = Some((at + block.taken.len(), told));
        for (_, finding) in &mut block.findings {
            if let Finding::Summary { n: n @ None, .. } = finding {
                *n = told;
            }
        }
    }

    fn place(
        &mut self,
        at: usize,
        used: usize,
        format: &'static str,
        findings: Vec<(Place, Finding)>,
    ) {
        let depth = self.lines[at].depth;
        let prose = format == "prose";
        let from = self.level(depth).end;
        let above = (!prose).then(|| self.headings_above(from, at));
        let headings = above.unwrap_or_default();
        if self.options.explain {
            for heading in &headings {
                self.taken.insert(heading.at, "heading".to_string());
            }
        }
        let takes_samples = findings
            .iter()
            .any(|(_, f)| matches!(f, Finding::Run { .. } | Finding::Grid(_)));
        let level = self.level(depth);
        // The last heading holds for all blocks below it.
        level.heading = headings.last().map(|h| h.at).or(level.heading);
        let heading_is_nearer = level.heading > level.command.as_ref().map(|(line, ..)| *line);
        let samples = if takes_samples {
            std::mem::take(&mut level.samples)
        } else {
            Vec::new()
        };
        let command = self.command_of(at, format);
        let level = self.level(depth);
        let placed = Placed {
            format,
            depth,
            findings,
            headings,
            command,
            heading: level.heading,
            heading_is_nearer,
            samples: samples.into_iter().map(|(_, figure)| figure).collect(),
            machine: level.machine.clone(),
            workload: level.workload.clone(),
            signs: Vec::new(),
        };
        if !prose {
            level.end = at + used;
        }
        self.out.placed.push(placed);
    }

    /// The headings of a block, behind the last one that has the same depth.
    fn headings_above(&self, from: usize, at: usize) -> Vec<Heading> {
        let depth = self.lines[at].depth;
        if let Some(named) = self.named_heading(from, at, depth) {
            return vec![named];
        }
        let free = |at: usize| !self.used[at];
        let headings = headings::above(self.lines, from, at, &free);
        match headings.is_empty() && depth > 0 {
            true => Vec::from_iter(headings::above_quotation(self.lines, from, at, &free)),
            false => headings,
        }
    }

    /// A line above that the user declared to name a configuration.
    fn named_heading(&self, from: usize, at: usize, depth: u8) -> Option<Heading> {
        (from..at)
            .rev()
            .filter(|&i| self.lines[i].depth == depth)
            .find_map(|i| {
                let name = self.options.configuration_of(&self.lines[i].text)?;
                Some(Heading {
                    text: name.to_string(),
                    at: i,
                })
            })
    }

    /// Samples of a command that no block of figures followed are the run.
    fn flush_samples(&mut self, depth: u8) {
        let samples = std::mem::take(&mut self.level(depth).samples);
        let Some(&(at, _)) = samples.first() else {
            return;
        };
        let place = self.lines[at].place;
        let figures = mean_figures(samples.iter().map(|(_, figure)| figure));
        let run = Finding::Run {
            labels: grammar::Labels::default(),
            figures,
        };
        self.place(at, 1, "frames", vec![(place, run)]);
    }

    fn finish(mut self) -> Scan {
        let depths: Vec<u8> = self.levels.keys().copied().collect();
        for depth in depths {
            self.flush_samples(depth);
        }
        let not_understood = std::mem::take(&mut self.not_understood);
        for &at in not_understood.iter().take(LISTED) {
            let line = &self.lines[at];
            let text: String = line.text.trim().chars().take(60).collect();
            let detail = format!("looks like data and was not understood: {text}");
            self.doubt("not-understood", detail, line.place);
        }
        if not_understood.len() > LISTED {
            let more = not_understood.len() - LISTED;
            let place = self.lines[not_understood[LISTED]].place;
            let detail = format!(
                "{more} more lines look like data and were not understood; --explain lists them"
            );
            self.doubt("not-understood", detail, place);
        }
        if !self.out.placed.is_empty() {
            // Headings are prose too, and what was not understood is none.
            let free = |at: usize| self.is_prose(at);
            self.out.wording = Wording::of(self.lines, &free);
        }
        if self.options.explain {
            self.explain();
        }
        self.out
    }

    fn explain(&mut self) {
        for (at, line) in self.lines.iter().enumerate() {
            let blank = line.text.trim().is_empty();
            let taken = self
                .taken
                .remove(&at)
                .unwrap_or_else(|| if blank { "blank" } else { "prose" }.to_string());
            self.out.explained.push(Explained {
                place: line.place,
                depth: line.depth,
                taken,
                text: line.text.to_string(),
            });
        }
    }
}

/// One figure for each metric: the mean of its samples.
pub(crate) fn mean_figures<'f>(samples: impl Iterator<Item = &'f Figure>) -> Vec<Figure> {
    let mut sums: Vec<(Figure, f64)> = Vec::new();
    for sample in samples {
        match sums
            .iter_mut()
            .find(|(f, _)| f.metric == sample.metric && f.unit == sample.unit)
        {
            Some((figure, n)) => {
                figure.value += sample.value;
                *n += 1.0;
            }
            None => sums.push((sample.clone(), 1.0)),
        }
    }
    sums.into_iter()
        .map(|(f, n)| Figure {
            value: f.value / n,
            ..f
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::digits::has_digit;
    use super::*;
    use crate::grammar::table::may_be_row;

    #[test]
    fn no_table_stands_where_no_line_may_be_a_row() {
        let parts = [
            "case  old  new",
            "case | old | new",
            "-----------------",
            "read  12.5  13.5",
            "read 12.5 13.5  <-- slower",
            "write: 12 ms",
            "a | 1 | 2",
            "of 3 cases one fails",
            "x  ~7%  +-2",
            "total (2)17k",
            "words and no more",
            "half  +2.5% (3)",
            "",
        ];
        let mut tables = 0;
        let count = parts.len();
        for number in 0..count.pow(4) {
            let places = [1, count, count.pow(2), count.pow(3)];
            let texts = places.map(|place| parts[number / place % count]);
            let lines: Vec<Line<'_>> = (1..).zip(texts).map(|(n, t)| Line::plain(n, t)).collect();
            let may = texts
                .iter()
                .any(|text| has_digit(text.as_bytes()) && may_be_row(text));
            let of_rows = grammar::all()
                .iter()
                .filter(|grammar| grammar.rows_within().is_some());
            for grammar in of_rows {
                let read = grammar.starts(texts[0]) && grammar.read(&lines).is_some();
                assert!(may || !read, "{texts:?}");
                tables += usize::from(read);
            }
        }
        assert!(tables > 100, "{tables}");
    }
}
