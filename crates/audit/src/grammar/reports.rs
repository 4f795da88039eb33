//! Benchmarks whose result is a line or two.
//!
//! The lines of each tool are described by a row of `SHAPES`, written from the tool's manual or
//! source. Consecutive lines of one tool belong to one execution; a repeated metric starts the next
//! one. If a tool reports while it runs, its lines are samples, whose mean is the figure of the
//! run.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::number::{Locale, step};
use super::prelude::*;
use shapes::SHAPES;

mod shapes;

/// Reports of a line or two; see the module.
pub const REPORTS: Grammar = Grammar {
    reach: 4,
    ..Grammar::new(
        "benchmark",
        |line| line.len() <= LONGEST && ANCHORS.as_ref().is_some_and(|any| any.is_match(line)),
        read,
    )
};

/// Longest line of a report.
const LONGEST: usize = 300;
/// Most bytes of the time of day and the host.
const STAMP: usize = 60;
/// Most lines of a block.
const MOST: usize = 400;

/// One form of line.
struct Shape {
    /// The tool that prints it.
    tool: &'static str,
    /// A text that every such line contains; checked first.
    anchor: &'static str,
    /// The whole line without blanks around it. `{n}` is a number, `{c}` a time that may have
    /// minutes and hours, `{u}` a unit, `{t}` one of time, `{w}` a name of what was measured.
    /// The group `command` is a command line that names the workload.
    form: &'static str,
    /// Metric and unit of each number; `U` takes the unit behind it, `W` in a metric the
    /// name. An empty metric is not kept.
    figures: &'static [(&'static str, &'static str)],
    /// Whether the tool prints such lines again and again while it runs.
    samples: bool,
    /// Whether the tool compares: the name is that of a configuration.
    compares: bool,
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
        compares: false,
    }
}

impl Shape {
    const fn samples(mut self) -> Shape {
        self.samples = true;
        self
    }

    const fn compares(mut self) -> Shape {
        self.compares = true;
        self
    }
}

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

/// All anchors as one pattern.
static ANCHORS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let anchors = SHAPES.iter().map(|shape| regex::escape(shape.anchor));
    Regex::new(&anchors.collect::<Vec<_>>().join("|")).ok()
});

/// A form as a regular expression over a whole line.
fn compiled(form: &str) -> Option<Regex> {
    let mut text = String::from("^");
    let (mut rest, mut numbers, mut units) = (form, 0, 0);
    let places = ["{n}", "{c}", "{u}", "{t}"];
    while let Some(at) = places.iter().filter_map(|place| rest.find(place)).min() {
        text.push_str(&rest[..at]);
        let unit = match &rest[at..at + 3] {
            place @ ("{n}" | "{c}") => {
                let number = match place {
                    "{n}" => r"[0-9][0-9,.]*(?:[kKM]\b)?",
                    _ => r"(?:\d+h)?(?:\d+m)?\d+[.,]\d+s?|(?:\d+:){1,2}\d+(?:\.\d+)?",
                };
                text.push_str(&format!("(?<n{numbers}>{number})"));
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

/// The contents of one line.
struct Said {
    tool: &'static str,
    samples: bool,
    /// The workload of the lines that follow, if the line only announces it.
    title: Option<String>,
    /// The configuration, if the tool compares.
    configuration: Option<String>,
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
        // `Before the patch: 5094 microseconds` names a state and not a test.
        let name = captures.name("name").map_or("", |name| name.as_str());
        let states = ["Before", "After", "With", "Without", "Old", "New"];
        if states.iter().any(|word| name.starts_with(word)) {
            return None;
        }
        let figures = figures(form.shape, &captures)?;
        let title = captures.name("name").filter(|_| figures.is_empty());
        let title = title.map(|title| format!("{} - {}", form.shape.tool, title.as_str()));
        let command = captures.name("command");
        let command = command.map(|line| line.as_str().to_owned());
        Some(Said {
            tool: form.shape.tool,
            samples: form.shape.samples,
            title: title.or(command).map(|title| label(&title)),
            configuration: form.shape.compares.then(|| label(name)),
            figures,
        })
    })
}

/// The kernel's message in a line of the system log: `Jan 02 03:04:05 host kernel: …`.
fn said_by_kernel(text: &str) -> Option<&str> {
    let (head, said) = text.split_once(" kernel: ")?;
    let timed = |word: &str| word.matches(':').count() == 2;
    (head.len() <= STAMP && head.split_whitespace().any(timed)).then_some(said)
}

/// Strips what a log puts before a message: a time stamp in the kernel's log; the time of day, the
/// host and `kernel:` in the system log.
fn without_stamp(text: &str) -> &str {
    if let Some(said) = said_by_kernel(text) {
        return said.trim_start();
    }
    let stamped = text.strip_prefix('[');
    match stamped.and_then(|rest| rest.split_once("] ")) {
        Some((stamp, rest)) if stamp.contains('.') && stamp.trim().parse::<f64>().is_ok() => {
            rest.trim_start()
        }
        _ => text,
    }
}

/// The figures of a line; `None` if one of its numbers cannot be parsed.
fn figures(shape: &Shape, captures: &Captures<'_>) -> Option<Vec<Figure>> {
    let name = captures.name("name").map_or("", |name| name.as_str());
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut units = 0;
    let mut figures = Vec::new();
    for (at, (metric, unit)) in shape.figures.iter().enumerate() {
        let mut unit = (*unit).to_owned();
        if unit.starts_with('U') {
            let word = captures.name(&format!("u{units}"));
            unit = unit.replacen('U', word.map_or("", |u| u.as_str()), 1);
            units += 1;
        }
        let Some(number) = captures.name(&format!("n{at}")) else {
            continue;
        };
        let metric = metric.replacen('W', &name, 1);
        let (value, step) = scaled(number.as_str())?;
        figures.push(Figure::new(label(&metric), value, unit).with_step(step));
    }
    Some(figures)
}

/// Parses a number, which may have a suffix (`k`, `M`) or be a time with minutes. If the value is
/// not the printed number, also returns the value of one unit in its last digit.
fn scaled(text: &str) -> Option<(f64, Option<f64>)> {
    let text = text.trim_end_matches(['.', ',']);
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        b's' => return seconds(text),
        _ if text.contains(':') => return seconds(text),
        _ => return Some((english(text)?, None)),
    };
    let step = step(digits, Locale::English)? * factor;
    Some((english(digits)? * factor, Some(step)))
}

/// `1h2m3.5s`, `1m3,120s`, `1:02:03.50` or `0:34.40` as seconds.
fn seconds(text: &str) -> Option<(f64, Option<f64>)> {
    let plain = text.trim_end_matches('s').replace(',', ".");
    let parts: Vec<&str> = plain.split(['h', 'm', ':']).collect();
    let mut seconds = 0.0;
    for (at, part) in parts.iter().enumerate() {
        let value = english(part).filter(|value| at == 0 || *value < 60.0)?;
        seconds = seconds * 60.0 + value;
    }
    // The sum has no more digits than what was printed.
    let last = step(parts.last()?, Locale::English);
    Some(((seconds * 1e6).round() / 1e6, last))
}

/// Whether a tool whose lines are known here names what it compares.
pub(super) fn compares(name: &str) -> bool {
    let mut shapes = SHAPES.iter();
    shapes.any(|shape| shape.tool == name && shape.compares)
}

/// Whether a name is that of a tool whose lines are known here.
pub(crate) fn is_tool(name: &str) -> bool {
    SHAPES.iter().any(|shape| shape.tool == name)
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let first = said(line_at(lines, 0)?)?;
    let tool = first.tool;
    let mut rows = vec![(0, first)];
    let mut at = 1;
    while at < MOST {
        let here = line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth);
        match here.and_then(said).filter(|said| said.tool == tool) {
            Some(said) => rows.push((at, said)),
            None if tool == "wrk" && here.is_some_and(is_percentile) => {}
            // Some tools print a blank line inside a report.
            None if here.is_some_and(|text| text.trim().is_empty())
                && rows.last().is_some_and(|(last, _)| *last + 1 == at) => {}
            None => break,
        }
        at += 1;
    }
    block(rows)
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
    // What a tool compares stands below a heading of its own.
    let first = Some(&rows.first()?.1).filter(|said| said.configuration.is_none())?;
    let tool = first.tool;
    let mut block = Block::new(tool, used);
    block.tool = Some(tool);
    let mut runs: Vec<(usize, Labels, Vec<Figure>)> = Vec::new();
    for (at, said) in rows {
        let last = runs.last().map_or(&[][..], |(.., figures)| figures);
        let again = |f: &Figure| said.figures.iter().any(|new| new.metric == f.metric);
        let known = !said.samples && last.iter().any(again);
        let mut labels = Labels::new(said.configuration, said.title);
        if labels.workload.is_none() && (runs.is_empty() || known) {
            labels.workload = runs.last().and_then(|(_, last, _)| last.workload.clone());
            runs.push((at, labels, said.figures));
        } else if labels.workload.is_some() || labels.configuration.is_some() {
            runs.push((at, labels, said.figures));
        } else if let Some((.., figures)) = runs.last_mut() {
            figures.extend(said.figures);
        }
    }
    for (at, labels, figures) in runs {
        let figures = mean_figures(figures.iter());
        // `time` always prints the elapsed time.
        let whole = tool != "time" || figures.iter().any(|figure| figure.metric == "real");
        if whole {
            block.run(at, labels, figures);
        }
    }
    (!block.findings.is_empty()).then_some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_compile_and_hold_their_anchor() {
        assert_eq!(FORMS.len(), SHAPES.len());
        assert!(ANCHORS.is_some());
        assert_eq!(seconds("2m55.544s"), Some((175.544, Some(0.001))));
    }
}
