//! The lines of a post next to the figures read from them, the comparisons that use these figures,
//! and what would settle each.

use std::collections::BTreeMap;

use serde::Serialize;

use assize_verdict::{Comparison, Document, Verdict};

use super::page::{PostFigure, PostLine, ReadPost};
use crate::contrasts::{RowOutcome, Wordings, came_out, effect_with_interval, margin};

/// The number of context lines around each line shown.
const CONTEXT: usize = 2;

/// The post as shown on the page.
#[derive(Debug, Serialize)]
pub(super) struct PostView {
    parts: Vec<PostPart>,
    lines: usize,
    left_out: usize,
}

/// Consecutive lines, or the number of lines left out.
#[derive(Debug, Serialize)]
struct PostPart {
    skipped: usize,
    lines: Vec<PostLineView>,
}

#[derive(Debug, Serialize)]
struct PostLineView {
    message: u32,
    line: u32,
    quotes: String,
    text: String,
    taken: String,
    /// The figures read from it.
    read: Vec<ReadFigure>,
    /// The comparisons that use its figures, without repeats.
    supports: Vec<SupportedComparison>,
    /// Whether figures were read from the line, or it is neither prose nor blank.
    used: bool,
}

#[derive(Debug, Clone, Serialize)]
struct ReadFigure {
    shown: bool,
    metric: String,
    value: String,
    of: String,
}

/// A comparison that uses figures of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct SupportedComparison {
    tone: &'static str,
    /// `better: -20.9 % (71379 -> 56447), -22.0 % to -19.8 %`.
    text: String,
    verdict: &'static str,
    /// What would settle the comparison; empty if it is settled.
    settles: String,
}

/// The used lines with their context.
pub(super) fn post_view(post: &ReadPost, document: &Document, words: Wordings<'_>) -> PostView {
    let read = figures_by_line(post);
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
    let mut parts: Vec<PostPart> = Vec::new();
    let (mut skipped, mut left_out) = (0, 0);
    for (at, line) in post.lines.iter().enumerate() {
        if !near(at) {
            skipped += 1;
            left_out += 1;
            continue;
        }
        if skipped > 0 || parts.is_empty() {
            parts.push(PostPart {
                skipped,
                lines: Vec::new(),
            });
            skipped = 0;
        }
        if let Some(part) = parts.last_mut() {
            let figures = read.get(&(line.message, line.line));
            let supports = supported_comparisons(post, line, document, words);
            part.lines
                .push(line_view(line, used[at], figures, supports));
        }
    }
    if skipped > 0 {
        parts.push(PostPart {
            skipped,
            lines: Vec::new(),
        });
    }
    PostView {
        parts,
        lines: post.lines.len(),
        left_out,
    }
}

fn line_view(
    line: &PostLine,
    used: bool,
    read: Option<&Vec<ReadFigure>>,
    supports: Vec<SupportedComparison>,
) -> PostLineView {
    PostLineView {
        message: line.message,
        line: line.line,
        quotes: ">".repeat(usize::from(line.depth.min(8))),
        text: crate::printable(&line.text).into_owned(),
        taken: line.taken.clone(),
        read: read.cloned().unwrap_or_default(),
        supports,
        used,
    }
}

fn figures_by_line(post: &ReadPost) -> BTreeMap<(u32, u32), Vec<ReadFigure>> {
    let mut read: BTreeMap<(u32, u32), Vec<ReadFigure>> = BTreeMap::new();
    for figure in &post.figures {
        read.entry((figure.place.message, figure.place.line))
            .or_default()
            .push(ReadFigure {
                shown: figure.shown,
                metric: figure.metric.clone(),
                value: figure.value.clone(),
                of: [place_of_figure(figure).as_str(), &figure.behind]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(", "),
            });
    }
    read
}

/// `base on glxgears`.
fn place_of_figure(figure: &PostFigure) -> String {
    let names = [&figure.configuration, &figure.workload];
    let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
    names.join(" on ")
}

/// The comparisons that use figures of a line, without repeats.
fn supported_comparisons(
    post: &ReadPost,
    line: &PostLine,
    document: &Document,
    words: Wordings<'_>,
) -> Vec<SupportedComparison> {
    let mut all: Vec<SupportedComparison> = Vec::new();
    let here = |figure: &&PostFigure| {
        (figure.place.message, figure.place.line) == (line.message, line.line)
    };
    for figure in post.figures.iter().filter(here) {
        for row in document
            .comparisons
            .iter()
            .filter(|row| of_row(figure, row))
        {
            let one = supported_comparison(document, row, words);
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    all
}

fn of_row(figure: &PostFigure, row: &Comparison) -> bool {
    figure.metric == row.metric
        && figure.configuration.as_ref() == Some(&row.configuration)
        && figure
            .workload
            .as_ref()
            .is_none_or(|one| *one == row.workload)
}

fn supported_comparison(
    document: &Document,
    row: &Comparison,
    words: Wordings<'_>,
) -> SupportedComparison {
    let came_out = came_out(document, row, words.better(&row.metric));
    let settles = match (row.verdict, row.runs_needed) {
        _ if matches!(came_out, RowOutcome::Equal | RowOutcome::Fixed) => String::new(),
        (Verdict::Established | Verdict::Equivalent, _) => String::new(),
        (Verdict::Supported, Some(runs)) => format!("{runs} runs a side could establish it"),
        (Verdict::Undecided, Some(runs)) => format!(
            "{runs} runs a side would likely settle it at a margin of {}",
            margin(document.margin)
        ),
        (_, None) => row.because.clone().unwrap_or_default(),
    };
    SupportedComparison {
        tone: came_out.tone(),
        text: format!(
            "{}: {}",
            came_out.words(document.margin),
            effect_with_interval(document, row, came_out)
        ),
        verdict: row.verdict.word(),
        settles,
    }
}
