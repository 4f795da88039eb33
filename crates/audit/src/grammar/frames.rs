//! What programs under test print about themselves: frame rates and scores.
//!
//! A line counts only if it is nothing but the figure; prose that mentions a
//! frame rate is not measured data.

use super::begins::Begins;
use super::latencies::{bad_number, take};
use super::number::english;
use super::{Block, Figure, Finding, Grammar};
use crate::Line;

/// Frame rate and score lines.
#[derive(Debug, Clone, Copy)]
pub struct Frames;

/// A figure line, its number still as text.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading<'a> {
    metric: &'static str,
    unit: &'static str,
    token: &'a str,
}

impl Grammar for Frames {
    fn name(&self) -> &'static str {
        "frames"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789RfFgS")
    }

    fn starts(&self, line: &str) -> bool {
        // No such line is long; a long one is not even looked at.
        line.len() <= 256 && reading(line).is_some()
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut block = Block::default();
        for (at, line) in lines.iter().enumerate() {
            if !self.starts(&line.text) {
                break;
            }
            let Some(reading) = reading(&line.text) else {
                break;
            };
            take(&mut block, 1, taken(reading.metric));
            match english(reading.token) {
                Some(value) if value >= 0.0 => {
                    let figure = Figure::new(reading.metric, value, reading.unit);
                    block.find(at, Finding::Sample(figure));
                }
                _ => bad_number(&mut block, at, reading.metric, reading.token),
            }
        }
        (!block.taken.is_empty()).then_some(block)
    }
}

/// What a line is taken for.
fn taken(metric: &str) -> super::Taken {
    if metric == "fps" {
        "frame rate"
    } else {
        "score"
    }
}

/// Recognises a line that is nothing but a figure.
fn reading(line: &str) -> Option<Reading<'_>> {
    let text = line.trim();
    let (metric, unit, token) = match *text.as_bytes().first()? {
        b'0'..=b'9' => ("fps", "frames/s", counted(text)?),
        b'R' => ("fps", "frames/s", counted(text.strip_prefix("Rendered ")?)?),
        b'f' | b'F' => {
            let rest = ["fps:", "FPS:", "Fps:"]
                .iter()
                .find_map(|p| text.strip_prefix(p))?;
            ("fps", "frames/s", rest.trim_start())
        }
        b'g' => (
            "score",
            "",
            text.strip_prefix("glmark2 Score:")?.trim_start(),
        ),
        b'S' => ("score", "", text.strip_prefix("Score:")?.trim_start()),
        _ => return None,
    };
    looks_numeric(token).then_some(Reading {
        metric,
        unit,
        token,
    })
}

/// The rate in `303 frames in 5.0 seconds = 60.565 FPS`, in
/// `299 frames in 5 seconds: 59.799999 fps`, and in
/// `120 frames in 2.0 sec (60.0 fps)`.
fn counted(text: &str) -> Option<&str> {
    let mut tokens = text.split_ascii_whitespace();
    let frames = tokens.next()?;
    let is_head = looks_numeric(frames)
        && tokens.next()? == "frames"
        && tokens.next()? == "in"
        && looks_numeric(tokens.next()?);
    if !is_head {
        return None;
    }
    let word = tokens.next()?;
    let seconds = word.trim_end_matches([':', ',']);
    if !matches!(seconds, "s" | "sec" | "secs" | "second" | "seconds") {
        return None;
    }
    let mut rate = tokens.next()?;
    if rate == "=" {
        rate = tokens.next()?;
    } else if word == seconds && !rate.starts_with('(') {
        return None;
    }
    let unit = tokens.next()?.trim_end_matches(')');
    let ends = tokens.next().is_none();
    (ends && unit.eq_ignore_ascii_case("fps")).then(|| rate.trim_start_matches('('))
}

/// Whether a token is made as numbers are (good or bad), not a word.
fn looks_numeric(token: &str) -> bool {
    let bare = token.trim_start_matches(['-', '+']);
    let is_word = ["nan", "inf", "infinity"]
        .iter()
        .any(|w| bare.eq_ignore_ascii_case(w));
    is_word
        || (bare.starts_with(|c: char| c.is_ascii_digit())
            && bare
                .bytes()
                .all(|b| b.is_ascii_digit() || b".,'eE+-".contains(&b)))
}
