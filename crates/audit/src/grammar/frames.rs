//! What programs under test print about themselves: frame rates and scores.
//!
//! A line counts only if it consists of the figure: a sentence about a frame rate does not.

use super::prelude::*;

/// Frame rate and score lines.
pub const FRAMES: Grammar = Grammar {
    first: b"0123456789RfFgS",
    ..Grammar::new("frames", starts, read)
};

/// Longest such line.
const LONGEST: usize = 100;

static RATE: Form = Form::new(
    r"^(?:(?:Rendered )?\d+ frames in [\d.]+ (?:s|secs?|seconds?)(?:\s*=\s*|[:,] *| \()(?<fps>[\d.,]+) (?i:fps)\)?|(?i:fps): *(?<alone>[\d.,]+)|(?:glmark2 )?Score: *(?<score>[\d.,]+))$",
);

/// Parses a line that consists of a figure.
fn figure(line: &str) -> Option<(Figure, Taken)> {
    let text = line.trim();
    let short = text.len() <= LONGEST;
    let found = short.then(|| RATE.captures(text))??;
    let rate = found.name("fps").or(found.name("alone"));
    let (name, unit, taken) = match rate {
        Some(_) => ("fps", "frames/s", "frame rate"),
        None => ("score", "", "score"),
    };
    let value = english(rate.or(found.name("score"))?.as_str())?;
    Some((Figure::new(name, value, unit), taken))
}

fn starts(line: &str) -> bool {
    line.len() <= LONGEST
        && (line.contains("frames in ") || line.contains(':'))
        && figure(line).is_some()
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    let figures = lines.iter().map_while(|line| figure(&line.text));
    for (at, (figure, taken)) in figures.enumerate() {
        block.taken.push(taken);
        block.find(at, Finding::Sample(figure));
    }
    (!block.taken.is_empty()).then_some(block)
}
