//! Call trees and claims about functions, as text.

use std::collections::BinaryHeap;
use std::fmt::Write as _;

use assize_why::Why;
use assize_why::branches::Branch;
use assize_why::claims::{ClaimOutcome, ExplainedClaim};

use crate::WIDTH;

use super::{NAME, count, cut, fill_lines, signed};

/// A row of a tree that is expanded in order of the largest differences.
struct OpenRow<'a> {
    branch: &'a Branch,
    /// Its path from the root, as indexes among siblings.
    path: Vec<usize>,
}

impl OpenRow<'_> {
    fn size(&self) -> f64 {
        self.branch.difference.abs()
    }
}

impl Ord for OpenRow<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // On a tie, takes the first in the tree.
        let sizes = self.size().total_cmp(&other.size());
        sizes.then_with(|| other.path.cmp(&self.path))
    }
}

impl PartialOrd for OpenRow<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OpenRow<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OpenRow<'_> {}

fn open_below<'a>(open: &mut BinaryHeap<OpenRow<'a>>, path: &[usize], all: &'a [Branch]) {
    for (at, branch) in all.iter().enumerate() {
        let path = [path, &[at]].concat();
        open.push(OpenRow { branch, path });
    }
}

/// Prints the tree with at most `rows` rows, those with the largest differences, or all
/// if `rows` is `None`. Callers are above their callees.
pub(super) fn tree(why: &Why, rows: Option<usize>) -> String {
    let mut open: BinaryHeap<OpenRow<'_>> = BinaryHeap::new();
    open_below(&mut open, &[], &why.tree);
    let mut shown: Vec<OpenRow<'_>> = Vec::new();
    while shown.len() < rows.unwrap_or(usize::MAX)
        && let Some(next) = open.pop()
    {
        open_below(&mut open, &next.path, &next.branch.callees);
        shown.push(next);
    }
    shown.sort_by(|one, other| one.path.cmp(&other.path));
    let [a, b] = [&why.a, &why.b].map(|name| cut(name, 11));
    let title = "Calls, with what is called";
    let mut text = format!("{title:<NAME$} {a:>11} {b:>11} {:>11}\n", "difference");
    for row in &shown {
        let name = format!("{:1$}{2}", "", row.path.len() - 1, row.branch.name);
        let Branch {
            a, b, difference, ..
        } = row.branch;
        let _ = writeln!(
            text,
            "{:<NAME$} {:>11} {:>11} {:>11}",
            cut(&name, NAME),
            count(*a),
            count(*b),
            signed(*difference)
        );
    }
    let hidden = open.len();
    if hidden > 0 {
        let (es, s) = if hidden == 1 { ("", "s") } else { ("es", "") };
        text += &format!("{hidden} more branch{es} of the tree differ{s} by no more than these.\n");
    }
    text
}

/// How much the hunks of a diff can explain.
pub(super) fn hunks(why: &Why) -> String {
    let mut text = String::new();
    for hunk in &why.hunks {
        let _ = writeln!(text, "{} @@ {} @@", hunk.path, hunk.range);
        for function in &hunk.functions {
            let has = &function.has;
            let words = if !has.known {
                "no function of this name in the kernel: inlined, or not built".into()
            } else if has.reached {
                format!(
                    "reached, {} and {} of all instructions with what it calls; explains at most \
                     {}",
                    share(has.share_a),
                    share(has.share_b),
                    share(has.at_most)
                )
            } else {
                "not reached".to_owned()
            };
            text += &indented(&format!("{}: {words}", function.name));
        }
        if hunk.outside || hunk.functions.is_empty() {
            text += &indented("lines outside functions, which are not counted");
        }
    }
    text
}

/// A share in percent.
fn share(percent: f64) -> String {
    format!("{} %", crate::significant(percent, 3))
}

/// Indents and wraps text below a heading.
fn indented(words: &str) -> String {
    let options = textwrap::Options::new(WIDTH);
    let options = options.initial_indent("  ").subsequent_indent("    ");
    textwrap::fill(words, options) + "\n"
}

/// The result of a claim.
pub(super) fn claim(why: &Why, claim: &ExplainedClaim) -> String {
    let has = &claim.has;
    let at_most = format!(
        "it explains at most {} of {}",
        share(has.at_most),
        claim.metric
    );
    let verdict = match (claim.outcome, has.reached) {
        (ClaimOutcome::Undecided, _) => {
            let why = claim.why.as_deref().unwrap_or_default();
            return fill_lines(&format!("{}: undecided: {why}.", claim.claim));
        }
        (ClaimOutcome::Refuted, false) => "refuted: not reached by either.".to_owned(),
        (ClaimOutcome::Refuted, true) => format!("refuted: reached, but {at_most}."),
        (ClaimOutcome::NotRefuted, _) => format!("not refuted: reached, and {at_most}."),
    };
    let mut text = format!("{}: {verdict}", claim.claim);
    if has.reached {
        let _ = write!(
            text,
            " With what it calls it has {} of all instructions of {} and {} of {}; it is entered \
             {} and {} times per {}.",
            share(has.share_a),
            why.a,
            share(has.share_b),
            why.b,
            count(has.entered_a),
            count(has.entered_b),
            why.per
        );
    }
    fill_lines(&text)
}
