//! Compares the output of commands with what the page shows.
//!
//! A line `...` matches any lines, and `[..]` in a line matches any text.

use std::fmt::Write;

use libtest_mimic::Failed;
use regex::Regex;

use crate::inputs::Inputs;
use crate::page::{MEASURED, Page, Step};
use crate::rewrites;
use crate::session::Done;

/// Compares all commands of a page; returns the page with the actual output. `figures`:
/// whether the figures must match too, or only the names of what is measured.
pub fn all(page: &Page, done: &[Done], figures: bool) -> Result<String, Failed> {
    let mut wrong = String::new();
    let mut new: Vec<Option<Vec<String>>> = page.lines.iter().map(|_| None).collect();
    let mut commands = Vec::new();
    for block in &page.blocks {
        for step in &block.steps {
            if let Step::Command { text, output } = step {
                commands.push((block, text, output.clone()));
            }
        }
    }
    for (at, (block, text, output)) in commands.iter().enumerate() {
        let told = commands
            .get(at + 1)
            .is_some_and(|(_, next, _)| *next == "echo $?");
        let Done { status, printed } = &done[at];
        if *status != 0 && !told {
            let _ = write!(wrong, "{text}: ended with {status}: {printed}\n\n");
            continue;
        }
        let shown: Vec<String> = page.lines[output.clone()]
            .iter()
            .map(|line| block.plain(line).to_owned())
            .collect();
        if shown.is_empty() {
            continue;
        }
        let printed: Vec<String> = printed
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        let exact = figures || !block.attributes.contains_key("exact");
        let right = if exact {
            fits(&shown, &printed)
        } else {
            names_fit(&shown, &printed)
        };
        if !right && rewrites() {
            let margin = " ".repeat(block.indent);
            rewrite(&mut new[output.clone()], &shown, &printed);
            for line in new[output.clone()].iter_mut().flatten().flatten() {
                if !line.is_empty() {
                    line.insert_str(0, &margin);
                }
            }
        } else if !right {
            let (shown, printed) = (shown.join("\n"), printed.join("\n"));
            let _ = write!(
                wrong,
                "$ {text}\n--- the page\n{shown}\n--- printed\n{printed}\n\n"
            );
        }
    }
    if !wrong.is_empty() {
        return Err(format!("{}: {wrong}`cargo xtask golden` rewrites it", page.name).into());
    }
    Ok(put_together(page, &new))
}

fn put_together(page: &Page, new: &[Option<Vec<String>>]) -> String {
    let mut text = String::new();
    for (line, new) in page.lines.iter().zip(new) {
        match new {
            _ if line.starts_with(MEASURED) => {
                text.push_str(&Inputs::here(page).line());
                text.push('\n');
            }
            None => {
                text.push_str(line);
                text.push('\n');
            }
            Some(lines) => lines.iter().for_each(|line| {
                text.push_str(line);
                text.push('\n');
            }),
        }
    }
    text
}

/// The lines that replace those of the page. Lines that the page leaves out stay left out as long
/// as the lines around them are still printed.
fn rewrite(new: &mut [Option<Vec<String>>], shown: &[String], printed: &[String]) {
    let words = |lines: &[String]| lines.iter().map(|line| words(line)).collect::<Vec<_>>();
    let stands = nearest(&words(shown), &words(printed));
    for (place, (line, stands)) in new.iter_mut().zip(shown.iter().zip(stands)) {
        if is_gap(line) {
            continue;
        }
        let stays = |other: &String| line.contains("[..]") && same_words(line, other);
        let line_for = |at: usize| match &printed[at] {
            other if stays(other) => line.clone(),
            other => other.clone(),
        };
        *place = Some(stands.into_iter().map(line_for).collect());
    }
}

/// Whether a line is the placeholder that matches any lines.
fn is_gap(line: &str) -> bool {
    line.trim() == "..."
}

/// For the [`words`] of each shown line, the corresponding printed lines. The alignment minimises
/// the number of lines that are only shown, that are printed but neither shown nor under a `...`,
/// or that differ in more than figures.
fn nearest(shown: &[String], printed: &[String]) -> Vec<Vec<usize>> {
    let (rows, columns) = (shown.len(), printed.len());
    let mut cost = vec![vec![usize::MAX; columns + 1]; rows + 1];
    for s in (0..=rows).rev() {
        for p in (0..=columns).rev() {
            cost[s][p] = if (s, p) == (rows, columns) {
                0
            } else {
                moves(shown, printed, (s, p))
                    .into_iter()
                    .map(|(price, (s, p))| price + cost[s][p])
                    .min()
                    .unwrap_or_default()
            };
        }
    }
    let mut found = vec![Vec::new(); rows];
    let mut at = (0, 0);
    while at != (rows, columns) {
        let next = moves(shown, printed, at)
            .into_iter()
            .find(|(price, (s, p))| price + cost[*s][*p] == cost[at.0][at.1]);
        let Some((_, next)) = next else {
            break;
        };
        if next.1 > at.1 {
            found[at.0.min(rows.saturating_sub(1))].push(at.1);
        }
        at = next;
    }
    found
}

/// The ways to continue an alignment from a shown and a printed line, each with its cost; the
/// better of two with equal cost comes first.
fn moves(
    shown: &[String],
    printed: &[String],
    (s, p): (usize, usize),
) -> Vec<(usize, (usize, usize))> {
    let mut all = Vec::new();
    let (line, other) = (shown.get(s), printed.get(p));
    let gap = line.is_some_and(|line| is_gap(line));
    if let (Some(line), Some(other), false) = (line, other, gap) {
        let price = usize::from(!same(line, other));
        all.push((price, (s + 1, p + 1)));
    }
    if other.is_some() {
        all.push((usize::from(!gap), (s, p + 1)));
    }
    if line.is_some() {
        all.push((usize::from(!gap), (s + 1, p)));
    }
    all
}

/// Whether the printed lines match the shown ones, with any lines for `...`.
fn fits(shown: &[String], printed: &[String]) -> bool {
    let Some((line, rest)) = shown.split_first() else {
        return printed.is_empty();
    };
    if is_gap(line) {
        return (0..=printed.len()).any(|from| fits(rest, &printed[from..]));
    }
    printed
        .split_first()
        .is_some_and(|(other, others)| same(line, other) && fits(rest, others))
}

fn same(shown: &str, printed: &str) -> bool {
    let mut pieces = shown.trim_end().split("[..]");
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

fn same_words(shown: &str, printed: &str) -> bool {
    same(&words(shown), &words(printed))
}

/// The words of a line, without its figures and the width of its columns.
fn words(line: &str) -> String {
    masked(line)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The line with each number replaced by `#`.
fn masked(line: &str) -> String {
    let number = Regex::new(r"\d[\d,]*(\.\d+)?(e-?\d+)?").unwrap();
    number.replace_all(line, "#").into_owned()
}

/// Whether the same quantities are measured and the same claims tested. Other figures may lead to
/// other verdicts, and so to other sentences.
fn names_fit(shown: &[String], printed: &[String]) -> bool {
    let names = |lines: &[String]| {
        lines
            .iter()
            .filter_map(|line| name(line))
            .collect::<Vec<_>>()
    };
    fits(&names(shown), &names(printed))
}

/// The subject of a line of a report: the name at the start of a table row, the title of
/// a table, or a claim. `None` for other lines.
fn name(line: &str) -> Option<String> {
    let row = Regex::new(r"^(\S+(?: \S+)*)  +[-d]? ?\d").unwrap();
    let title = |line: &str| line.contains(" (n = ").then(|| masked(line));
    let whole = |line: &str| is_gap(line) || line.starts_with("Claim: ");
    if whole(line) {
        return Some(line.to_owned());
    }
    let name = |found: regex::Captures<'_>| masked(&found[1]);
    title(line).or_else(|| row.captures(line).map(name))
}

/// Tests what is written if figures, verdicts and rows differ.
#[allow(clippy::unnecessary_wraps)] // libtest-mimic wants results.
pub fn keeps_gaps() -> Result<(), Failed> {
    let lines = |all: &[&str]| all.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    let rewritten = |shown: &[&str], printed: &[&str]| -> Vec<String> {
        let (shown, printed) = (lines(shown), lines(printed));
        let mut new = vec![None; shown.len()];
        rewrite(&mut new, &shown, &printed);
        let kept = |(line, new): (&String, Option<Vec<String>>)| new.unwrap_or(vec![line.clone()]);
        shown.iter().zip(new).flat_map(kept).collect()
    };
    // A changed verdict, a line that is gone, a new line, and the lines that a gap hides.
    let shown = [
        "a  cannot tell: 1 %",
        "2 more runs",
        "",
        "t  1.1 ?",
        "...",
        "x [..] y",
        "...",
    ];
    let printed = ["a  worse: 2 %", "", "t  1.2 **", "", "u  3", "x 17 y", "z"];
    assert_eq!(
        rewritten(&shown, &printed),
        ["a  worse: 2 %", "", "t  1.2 **", "...", "x [..] y", "..."]
    );
    assert_eq!(
        rewritten(
            &["a  1", "...", "b  2"],
            &["a  2", "more", "hidden", "b  3"]
        ),
        ["a  2", "...", "b  3"]
    );
    // A page without gaps stays complete.
    assert_eq!(
        rewritten(&["a  1", "b  2"], &["a  1", "c", "b  2"]),
        ["a  1", "c", "b  2"]
    );
    assert_eq!(rewritten(&["a"], &["b", "c"]), ["b", "c"]);
    Ok(())
}

/// Tests `name`.
#[allow(clippy::unnecessary_wraps)] // libtest-mimic wants results.
pub fn knows_rows() -> Result<(), Failed> {
    for (line, known) in [
        ("latency_ns_p90  760 *        0.999 =", "latency_ns_p#"),
        (
            "run_job -> completion   200   210.851",
            "run_job -> completion",
        ),
        ("migrations        d 0 ?", "migrations"),
        (
            "pipe: ratio to a (n = 8 against 8)",
            "pipe: ratio to a (n = # against #)",
        ),
        ("Claim: a < b on time", "Claim: a < b on time"),
    ] {
        assert_eq!(name(line).as_deref(), Some(known));
    }
    for other in [
        "- time falls with b (0.9 [0.8, 0.9]).",
        "      668..864",
        "Lints: x",
        "",
    ] {
        assert_eq!(name(other), None, "{other}");
    }
    let lines = |all: &[&str]| all.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    let shown = lines(&["- time falls.", "time  1.2 *", "..."]);
    assert!(names_fit(
        &shown,
        &lines(&["- undecided.", "time  1.1 ?", "cost  2 ="])
    ));
    assert!(!names_fit(
        &shown,
        &lines(&["- time falls.", "cost  1.2 *"])
    ));
    Ok(())
}
