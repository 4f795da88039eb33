//! The post's lines beside what was read from them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::page::{Post, PostLine};

/// Lines around those that say something.
const CONTEXT: usize = 2;

/// The post as the page shows it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    parts: Vec<Part>,
    lines: usize,
    left_out: usize,
}

/// Lines that follow each other, or how many were left out.
#[derive(Debug, Serialize)]
struct Part {
    skipped: usize,
    lines: Vec<Line>,
}

/// One line.
#[derive(Debug, Serialize)]
struct Line {
    message: u32,
    line: u32,
    quotes: String,
    text: String,
    taken: String,
    /// What was read from it.
    read: Vec<Read>,
    /// Whether it was taken for anything.
    used: bool,
}

/// One figure.
#[derive(Debug, Clone, Serialize)]
struct Read {
    shown: bool,
    metric: String,
    value: String,
    of: String,
}

/// The lines that say something, with those around them.
pub(super) fn shown(post: &Post) -> Shown {
    let read = read(post);
    let used: Vec<bool> = post
        .lines
        .iter()
        .map(|line| {
            !matches!(line.taken.as_str(), "prose" | "blank")
                || read.contains_key(&(line.message, line.line))
        })
        .collect();
    let near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let to = (at + CONTEXT + 1).min(used.len());
        used[from..to].iter().any(|&used| used)
    };
    let mut parts: Vec<Part> = Vec::new();
    let (mut skipped, mut left_out) = (0, 0);
    for (at, line) in post.lines.iter().enumerate() {
        if !near(at) {
            skipped += 1;
            left_out += 1;
            continue;
        }
        if skipped > 0 || parts.is_empty() {
            parts.push(Part {
                skipped,
                lines: Vec::new(),
            });
            skipped = 0;
        }
        if let Some(part) = parts.last_mut() {
            let figures = read.get(&(line.message, line.line));
            part.lines.push(of(line, used[at], figures));
        }
    }
    if skipped > 0 {
        parts.push(Part {
            skipped,
            lines: Vec::new(),
        });
    }
    Shown {
        parts,
        lines: post.lines.len(),
        left_out,
    }
}

fn of(line: &PostLine, used: bool, read: Option<&Vec<Read>>) -> Line {
    Line {
        message: line.message,
        line: line.line,
        quotes: ">".repeat(usize::from(line.depth.min(8))),
        text: crate::printable(&line.text).into_owned(),
        taken: line.taken.clone(),
        read: read.cloned().unwrap_or_default(),
        used,
    }
}

/// What was read from each line.
fn read(post: &Post) -> BTreeMap<(u32, u32), Vec<Read>> {
    let mut read: BTreeMap<(u32, u32), Vec<Read>> = BTreeMap::new();
    for figure in &post.figures {
        read.entry((figure.place.message, figure.place.line))
            .or_default()
            .push(Read {
                shown: figure.shown,
                metric: figure.metric.clone(),
                value: figure.value.clone(),
                of: [figure.of.as_str(), &figure.behind]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(", "),
            });
    }
    read
}
