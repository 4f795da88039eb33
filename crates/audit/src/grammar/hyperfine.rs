//! hyperfine: what it prints on a terminal, and the Markdown, CSV and JSON files that it exports.
//!
//! A section, or a row of a table, is a mean with its standard deviation. JSON has every single
//! time, each of which is a run. Everything that one call compares is one block. The fastest and
//! slowest time, the median and the summary only repeat or rank the other figures, and are skipped.

use assize_bundle::Spread;
use serde_json::Value;

use super::prelude::*;
use crate::headings::is_fence;
use crate::printed;

/// The text output of `hyperfine`. Of one command people cut the title off.
pub const HYPERFINE: Grammar = Grammar {
    first: b"BT",
    names_what_it_compares: true,
    ..Grammar::new(
        "hyperfine",
        |line| title(line).is_some() || line.trim_start().starts_with("Time ("),
        read_text,
    )
};

/// The tables that `hyperfine` exports.
pub const HYPERFINE_EXPORT: Grammar = Grammar {
    first: b"|c",
    names_what_it_compares: true,
    ..Grammar::new("hyperfine-export", starts_export, read_export)
};

/// The JSON file that `hyperfine` exports.
pub const HYPERFINE_JSON: Grammar = Grammar {
    first: b"{",
    names_what_it_compares: true,
    ..Grammar::new("hyperfine-json", starts_json, read_json)
};

static TITLE: Form = Form::new(r"^Benchmark #?(?<number>\d+): (?<command>.*\S)$");
static TIME: Form = Form::new(
    r"^Time \((?:mean ± (?:σ|s)|abs ≡)\): +(?<mean>[\d.]+) (?<unit>\S+)(?: ± +(?<sd>[\d.]+) (?<sdunit>\S+))? +\[User: (?<user>[\d.]+) (?<userunit>\S+), System: (?<sys>[\d.]+) (?<sysunit>\S+)\]$",
);
static RANGE: Form = Form::new(r"^Range \(min … max\): .* (?<runs>\d+) runs?$");

fn title(text: &str) -> Option<(u32, String)> {
    let text = text.trim();
    let begins = text.starts_with("Benchmark ");
    let found = begins.then(|| TITLE.captures(text))??;
    Some((found["number"].parse().ok()?, found["command"].to_owned()))
}

fn read_text(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    let Some((mut number, _)) = title(line_at(lines, 0)?) else {
        return section(&mut block, lines, None).then_some(block);
    };
    while let Some((next, command)) = line_at(lines, block.taken.len()).and_then(title) {
        if next != number || !section(&mut block, lines, Some(&command)) {
            break;
        }
        number += 1;
        // Warnings and blank lines stand between the sections of one call.
        let passed = lines[block.taken.len()..].iter().take(12);
        let passed = passed.take_while(|line| {
            let text = line.text.trim();
            text.is_empty() || text.starts_with("Warning: ")
        });
        let end = block.taken.len() + passed.count();
        let next = line_at(lines, end).and_then(title);
        if next.is_some_and(|(next, _)| next == number) {
            block.taken.resize(end, "hyperfine warning");
        } else if line_at(lines, end).is_some_and(|text| text.trim() == "Summary") {
            let ranked = lines[end..].iter().take(30);
            let ranked = ranked.take_while(|line| !is_fence(line.text.trim()));
            let ranked = ranked.take_while(|line| !line.text.trim().is_empty());
            block
                .taken
                .resize(end + ranked.count(), "hyperfine summary");
            break;
        }
    }
    (!block.findings.is_empty()).then_some(block)
}

/// Reads a section from its title on, if it has one.
fn section(block: &mut Block, lines: &[Line<'_>], command: Option<&str>) -> bool {
    let at = block.taken.len() + usize::from(command.is_some());
    let time = line_at(lines, at).and_then(|text| TIME.captures(text.trim()));
    let Some(time) = time else {
        return false;
    };
    let labels = configuration(command);
    let value = |name: &str, metric: &str| {
        let unit = time.name(&format!("{name}unit")).or(time.name("unit"))?;
        let value = english(time.name(name)?.as_str())?;
        Some(Figure::new(metric, value, unit.as_str()))
    };
    let figures = [("mean", "time"), ("user", "user"), ("sys", "sys")].into_iter();
    let figures = figures.filter_map(|(name, metric)| value(name, metric));
    let figures: Vec<Figure> = figures.collect();
    block.taken.resize(at, "hyperfine title");
    block.taken.push("hyperfine mean");
    let Some(sd) = time.name("sd") else {
        block.run(at, labels, figures);
        return true;
    };
    let range = line_at(lines, at + 1).and_then(|text| RANGE.captures(text.trim()));
    let runs = range.and_then(|range| range["runs"].parse().ok());
    match runs {
        Some(_) => block.taken.push("hyperfine range"),
        None => block.find(at, truncated("the number of hyperfine's runs is missing")),
    }
    let unit = |name: &str| time.name(name).map(|unit| unit.as_str());
    let deviation = deviation(sd.as_str()).filter(|_| unit("sdunit") == unit("unit"));
    for figure in figures {
        let spread = deviation.filter(|_| figure.metric == "time");
        block.find(at, summary(&labels, figure, spread, runs));
    }
    true
}

/// Whether a line is the header of a table that hyperfine exports.
pub(crate) fn starts_export(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("| Command | Mean [") || text.starts_with("command,mean,stddev,")
}

fn read_export(lines: &[Line<'_>]) -> Option<Block> {
    let header = line_at(lines, 0)?.trim();
    let unit = header
        .split_once("Mean [")
        .and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    let mut block = Block::new("hyperfine table header", 1);
    block.extend(lines, |block, at, text| {
        let text = text.trim();
        if text.starts_with("|:") || text.starts_with("|-") {
            return Some("hyperfine table row");
        }
        let (command, figures, spread) = match unit {
            Some(unit) => marked(text, unit),
            None => separated(text),
        }?;
        let labels = configuration(Some(&command));
        for figure in figures {
            let spread = spread.filter(|_| figure.metric == "time");
            block.find(at, summary(&labels, figure, spread, None));
        }
        Some("hyperfine table row")
    });
    (!block.findings.is_empty()).then_some(block)
}

/// A standard deviation as it is printed.
fn deviation(token: &str) -> Option<Spread> {
    let value = printed::spread(english(token)?, token);
    Some(Spread::StandardDeviation(value))
}

type Row = (String, Vec<Figure>, Option<Spread>);

/// ``| `sleep 0.02` | 21.2 ± 0.1 | 21.2 | 21.5 | 1.00 |``
fn marked(text: &str, unit: &str) -> Option<Row> {
    let plain = text
        .strip_prefix('|')?
        .strip_suffix('|')?
        .replace("\\|", "\u{0}");
    let cells: Vec<&str> = plain.split('|').map(str::trim).collect();
    let (mean, deviation) = cells.get(1)?.split_once(" ± ")?;
    let time = Figure::new("time", english(mean)?, unit);
    let spread = self::deviation(deviation);
    let command = cells[0].trim_matches('`').replace('\u{0}', "|");
    Some((command, vec![time], spread))
}

/// `sleep 0.02,0.021248208,0.000138,0.0211,0.0006,0.0004,0.0211,0.0214`
fn separated(text: &str) -> Option<Row> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let row = reader.records().next()?.ok()?;
    let number = |at: usize| row.get(at).and_then(english);
    let figure = |(metric, at)| Some(Figure::new(metric, number(at)?, "s"));
    let known = [("time", 1), ("user", 4), ("sys", 5)].into_iter();
    let figures: Option<Vec<Figure>> = known.map(figure).collect();
    let spread = number(2).map(Spread::StandardDeviation);
    Some((row.get(0)?.to_owned(), figures?, spread))
}

fn starts_json(line: &str) -> bool {
    let text = line.trim_start();
    let rest = text.strip_prefix('{').map(str::trim_start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("\"results\""))
}

fn read_json(lines: &[Line<'_>]) -> Option<Block> {
    let (value, used) = json(lines, "\"command\"")?;
    let mut block = Block::new("hyperfine json", used);
    for result in value.get("results")?.as_array()? {
        of_command(&mut block, result)?;
    }
    (!block.findings.is_empty()).then_some(block)
}

/// The times of one command, and how many of its runs have failed.
fn of_command(block: &mut Block, result: &Value) -> Option<()> {
    let command = result.get("command")?.as_str()?;
    let labels = configuration(Some(command));
    let numbers = |key: &str| result.get(key).and_then(Value::as_array);
    let number = |key: &str| result.get(key).and_then(Value::as_f64);
    for (time, repetition) in numbers("times").into_iter().flatten().zip(1..) {
        let figures = vec![Figure::new("time", time.as_f64()?, "s")];
        block.run(0, labels.repeated(repetition), figures);
    }
    if numbers("times").is_none_or(Vec::is_empty) {
        let figure = Figure::new("time", number("mean")?, "s");
        let spread = number("stddev").map(Spread::StandardDeviation);
        block.find(0, summary(&labels, figure, spread, None));
    }
    let codes = numbers("exit_codes").map_or(&[][..], Vec::as_slice);
    // `null` means that a signal ended the run.
    let failed = codes.iter().filter(|code| code.as_i64() != Some(0)).count();
    if failed > 0 {
        let doubt = format!("{failed} of {} runs of `{command}` failed", codes.len());
        block.doubt(0, "failed-run", doubt);
    }
    Some(())
}
