//! Finds the blocks of figures in a message, with the headings and commands above them.

mod commands;
mod digits;
mod markup;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use assize_bundle::{Doubt, Place};

use crate::diff;
use crate::grammar;
use crate::grammar::block::{Block, Figure, Finding, Labels, mean_figures};
use crate::grammar::dispatch;
use crate::group::item::doubt;
use crate::headings::{self, Heading};
use crate::line::{Explained, Line};
use crate::options::Options;
use crate::printed::note_steps;
use crate::unreached;
use commands::sleep;
pub(crate) use digits::may_hold;
use digits::next_digit;

/// A block of figures and its surroundings.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// The format that read it.
    pub(crate) format: &'static str,
    /// Quote depth of its first line.
    pub(crate) depth: u8,
    /// The findings with their places.
    pub(crate) findings: Vec<(Place, Finding)>,
    /// Headings that are new since the last block of the same depth.
    pub(crate) headings: Vec<Heading>,
    /// The last command line above it at its depth.
    pub(crate) command: Option<(Place, String)>,
    /// Whether the heading is below the command line.
    pub(crate) heading_is_nearer: bool,
    /// Figures that the program under test printed.
    pub(crate) samples: Vec<Figure>,
    /// The machine that a line above names.
    pub(crate) machine: Option<String>,
    /// A workload that the user named for the lines above.
    pub(crate) workload: Option<String>,
}

/// The contents of one message.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) placed: Vec<Placed>,
    pub(crate) doubts: Vec<Doubt>,
    /// Line by line, if it was asked for.
    pub(crate) explained: Vec<Explained>,
    /// Seconds of `sleep N` lines, by place.
    pub(crate) sleeps: Vec<(Place, f64)>,
}

impl Scan {
    /// Whether nothing was found in the message.
    pub(crate) fn is_empty(&self) -> bool {
        self.placed.is_empty() && self.doubts.is_empty() && self.explained.is_empty()
    }
}

/// The state for each quote depth.
#[derive(Default)]
struct Level {
    /// The line after the last measuring block.
    end: usize,
    command: Option<(usize, Place, String)>,
    /// The line of the last heading.
    heading: Option<usize>,
    /// Figures that the program under test printed, with their lines.
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
    /// For each line, the distance to the next line with a digit that may belong to a figure.
    digit: Vec<u32>,
}

/// A line longer than this that no grammar has read is no line of a mail.
const LONG: usize = 4000;

/// Lines that are not scanned: index, description and text.
type Hidden<'a> = Vec<(usize, &'static str, Cow<'a, str>)>;

/// Blanks the lines that the user ignores, and those of patches, which are code. They are not
/// removed, so that the blocks around them stay whole.
fn hide<'a>(lines: &mut [Line<'a>], options: &Options) -> Hidden<'a> {
    let mut hidden = Hidden::new();
    let ignored = (0..lines.len()).filter(|at| options.ignores(&lines[*at].text));
    for at in ignored.collect::<Vec<_>>() {
        let text = std::mem::take(&mut lines[at].text);
        hidden.push((at, "ignored on request", text));
    }
    for at in diff::patches(lines).into_iter().flatten() {
        hidden.push((at, "diff", std::mem::take(&mut lines[at].text)));
    }
    hidden
}

/// Finds all blocks of a message.
pub(crate) fn scan(lines: &mut [Line<'_>], options: &Options) -> Scan {
    let marked = markup::strip(lines);
    let hidden = hide(lines, options);
    let lines = &*lines;
    let mut scanner = Scanner {
        lines,
        options,
        levels: BTreeMap::new(),
        used: vec![false; lines.len()],
        taken: HashMap::new(),
        out: Scan::default(),
        digit: next_digit(lines),
    };
    for (at, what, _) in &hidden {
        scanner.take(*at, what);
    }
    let mut at = 0;
    while at < lines.len() {
        at += scanner.step(at);
    }
    let mut scan = scanner.finish();
    let hidden = hidden.into_iter().map(|(at, _, text)| (at, text));
    for (at, text) in hidden.chain(marked) {
        if let Some(line) = scan.explained.get_mut(at) {
            line.text = text.into_owned();
        }
    }
    scan
}

impl Scanner<'_, '_> {
    /// Handles the line at `at` and returns the number of lines used.
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
            self.level(line.depth).workload = Some(name.to_string());
        }
        if let Some(used) = self.command(at) {
            return used;
        }
        for format in dispatch::formats(text, self.digit[at] as usize) {
            let grammar = &grammar::all()[format];
            if (grammar.starts)(text)
                && let Some(block) = (grammar.read)(&self.lines[at..])
            {
                let format = block.tool.unwrap_or(grammar.name);
                return self.block(at, format, block);
            }
        }
        if let Some(seconds) = sleep(text) {
            self.out.sleeps.push((line.place, seconds));
        } else if text.len() > LONG && text.bytes().any(|b| b.is_ascii_digit()) {
            let detail = format!("a line of {} bytes was not looked at", text.len());
            self.doubt("long-line", detail, line.place);
            self.take(at, "too long");
        } else if let Some(said) = unreached::said(&lines[at..]) {
            let detail = format!("the post says “{said}”");
            self.doubt("unreached-code", detail, line.place);
            self.take(at, "doubt in prose");
        }
        1
    }

    fn level(&mut self, depth: u8) -> &mut Level {
        self.levels.entry(depth).or_default()
    }

    fn doubt(&mut self, code: &str, detail: String, place: Place) {
        self.out.doubts.push(doubt(code, detail, place));
    }

    fn take(&mut self, at: usize, what: &str) {
        self.used[at] = true;
        if self.options.explain {
            self.taken.insert(at, what.to_string());
        }
    }

    fn block(&mut self, at: usize, format: &'static str, mut block: Block) -> usize {
        let depth = self.lines[at].depth;
        let used = block.taken.len().clamp(1, self.lines.len() - at);
        note_steps(format, &self.lines[at..at + used], &mut block.findings);
        for (i, what) in block.taken.iter().enumerate().take(used) {
            self.take(at + i, what);
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
                    above.get_or_insert_with(|| self.level(depth).command.clone());
                    self.level(depth).command = Some((line, place, text));
                }
                Finding::Doubt(code, detail) => self.doubt(code, detail, place),
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

    fn place(
        &mut self,
        at: usize,
        used: usize,
        format: &'static str,
        findings: Vec<(Place, Finding)>,
    ) {
        let depth = self.lines[at].depth;
        let from = self.level(depth).end;
        let headings = self.headings_above(from, at);
        if self.options.explain {
            for heading in &headings {
                self.taken.insert(heading.at, "heading".to_string());
            }
        }
        let takes = |(_, f): &(Place, Finding)| matches!(f, Finding::Run { .. } | Finding::Grid(_));
        let level = self.level(depth);
        // The last heading holds for all blocks below it.
        level.heading = headings.last().map(|h| h.at).or(level.heading);
        let heading_is_nearer = level.heading > level.command.as_ref().map(|(line, ..)| *line);
        let samples = match findings.iter().any(takes) {
            true => std::mem::take(&mut level.samples),
            false => Vec::new(),
        };
        let command = self.command_of(at, format);
        let level = self.level(depth);
        let placed = Placed {
            format,
            depth,
            findings,
            headings,
            command,
            heading_is_nearer,
            samples: samples.into_iter().map(|(_, figure)| figure).collect(),
            machine: level.machine.clone(),
            workload: level.workload.clone(),
        };
        level.end = at + used;
        self.out.placed.push(placed);
    }

    /// The headings above a block, after the previous block of the same depth.
    fn headings_above(&self, from: usize, at: usize) -> Vec<Heading> {
        let depth = self.lines[at].depth;
        if let Some(named) = self.named_heading(from, at, depth) {
            return vec![named];
        }
        let free = |at: usize| !self.used[at];
        headings::above(self.lines, from, at, &free)
    }

    /// A line above that the user declared to name a configuration.
    fn named_heading(&self, from: usize, at: usize, depth: u8) -> Option<Heading> {
        let mut above = (from..at).rev().filter(|&at| self.lines[at].depth == depth);
        above.find_map(|at| {
            let text = self
                .options
                .configuration_of(&self.lines[at].text)?
                .to_string();
            Some(Heading { text, at })
        })
    }

    /// Turns samples into a run, if their command has no block of figures.
    fn flush_samples(&mut self, depth: u8) {
        let samples = std::mem::take(&mut self.level(depth).samples);
        let Some(&(at, _)) = samples.first() else {
            return;
        };
        let place = self.lines[at].place;
        let figures = mean_figures(samples.iter().map(|(_, figure)| figure));
        let labels = Labels::default();
        let run = Finding::Run { labels, figures };
        self.place(at, 1, "frames", vec![(place, run)]);
    }

    fn finish(mut self) -> Scan {
        let depths: Vec<u8> = self.levels.keys().copied().collect();
        for depth in depths {
            self.flush_samples(depth);
        }
        if self.options.explain {
            self.explain();
        }
        self.out
    }

    fn explain(&mut self) {
        for (at, line) in self.lines.iter().enumerate() {
            let blank = line.text.trim().is_empty();
            let other = || if blank { "blank" } else { "prose" }.to_string();
            let taken = self.taken.remove(&at).unwrap_or_else(other);
            self.out.explained.push(Explained {
                place: line.place,
                depth: line.depth,
                taken,
                text: line.text.to_string(),
            });
        }
    }
}
