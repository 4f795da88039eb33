//! Figures that say too little alone: lists of which nothing says that they were
//! measured, and sentences beside tables and reports.

use std::collections::BTreeSet;

use assize_bundle::{Doubt, Place};

use crate::grammar::echoed::{ECHOED, is_report};
use crate::grammar::lists::LONE;
use crate::grammar::profile::PROFILE;
use crate::grammar::sentence::SENTENCE;
use crate::grammar::stress_ng::TOOL as STRESS_NG;
use crate::grammar::{Figure, Finding, Labels};
use crate::scan::Placed;
use crate::states::is_state_of_all;

/// A block with the headings above it, the nearest first.
type Headed = (Placed, Option<String>, Option<String>);

/// Takes out lists whose metrics nothing else measures under another heading, with a
/// doubt for each.
pub(super) fn without_unpaired(blocks: Vec<Headed>, doubts: &mut Vec<Doubt>) -> Vec<Headed> {
    let paired: Vec<bool> = (0..blocks.len()).map(|at| is_paired(&blocks, at)).collect();
    let mut kept = Vec::with_capacity(blocks.len());
    for (block, paired) in blocks.into_iter().zip(paired) {
        if paired {
            kept.push(block);
        } else if let Some((place, _)) = block.0.findings.first() {
            doubts.push(Doubt {
                code: "not-understood".to_string(),
                detail: "figures in a list are not read: nothing says of what they are, and \
                         none of the same name stand under another heading"
                    .to_string(),
                place: *place,
            });
        }
    }
    kept
}

/// Beside what a tool printed or a table says, a sentence says it again in words: its
/// figures are statements.
pub(super) fn state_what_is_said_again(blocks: &mut [Headed]) {
    state_beside_reports(blocks);
    let measures = |(_, finding): &(Place, Finding)| {
        matches!(
            finding,
            Finding::Run { .. } | Finding::Summary { .. } | Finding::Grid(_)
        )
    };
    // Where a profile says who had the CPU, a sentence says what came of that.
    let shown = |(placed, ..): &Headed| {
        !matches!(placed.format, SENTENCE | PROFILE) && placed.findings.iter().any(measures)
    };
    if !blocks.iter().any(shown) {
        return;
    }
    let sentences = blocks
        .iter_mut()
        .filter(|(placed, ..)| placed.format == SENTENCE);
    for (_, finding) in sentences.flat_map(|(placed, ..)| &mut placed.findings) {
        if let Finding::Run { labels, figures } = finding
            && let Some(figure) = figures.pop()
        {
            *finding = Finding::Statement {
                labels: std::mem::take(labels),
                figure,
                normalised_to: None,
            };
        }
    }
}

/// Beside what a benchmark's own report says, lines of no known form that come again are
/// of something else that was counted meanwhile: their figures are statements.
fn state_beside_reports(blocks: &mut [Headed]) {
    let reports = |(placed, ..): &Headed| {
        let measures = |(_, finding): &(Place, Finding)| {
            matches!(finding, Finding::Run { .. } | Finding::Summary { .. })
        };
        is_report(placed.format) && placed.findings.iter().any(measures)
    };
    if !blocks.iter().any(reports) {
        return;
    }
    let echoed = blocks.iter_mut().filter(|(p, ..)| p.format == ECHOED);
    for (placed, ..) in echoed {
        let findings = std::mem::take(&mut placed.findings);
        for (place, finding) in findings {
            let Finding::Run { labels, figures } = finding else {
                placed.findings.push((place, finding));
                continue;
            };
            let state = |figure| Finding::Statement {
                labels: labels.clone(),
                figure,
                normalised_to: None,
            };
            let stated = figures.into_iter().map(|figure| (place, state(figure)));
            placed.findings.extend(stated);
        }
    }
}

/// What stress-ng printed, and lost its name, is a run if it stands right below a heading that
/// says nothing but a state, as all of it in the post does, and not all below the same.
pub(super) fn run_under_states(blocks: &mut [Headed]) {
    let unsigned = |(placed, ..): &&Headed| {
        let last = placed.findings.last();
        placed.format == STRESS_NG && matches!(last, Some((_, Finding::Statement { .. })))
    };
    let state = |(placed, ..): &Headed| {
        let heading = placed.headings.last()?.text.as_str();
        is_state_of_all(heading).then(|| heading.to_lowercase())
    };
    let states: Option<BTreeSet<String>> = blocks.iter().filter(unsigned).map(state).collect();
    if states.is_none_or(|states| states.len() < 2) {
        return;
    }
    for block in blocks.iter_mut().filter(|block| unsigned(&&**block)) {
        let mut run: Option<(Place, Vec<Figure>)> = None;
        block.0.findings.retain(|(place, finding)| match finding {
            Finding::Statement { figure, .. } => {
                let (_, figures) = run.get_or_insert_with(|| (*place, Vec::new()));
                figures.push(figure.clone());
                false
            }
            _ => true,
        });
        if let Some((place, figures)) = run {
            let labels = Labels::default();
            block
                .0
                .findings
                .push((place, Finding::Run { labels, figures }));
        }
    }
}

/// Whether a block is no such list, or another one beside it has the same metrics.
fn is_paired(blocks: &[Headed], at: usize) -> bool {
    let (placed, heading, _) = &blocks[at];
    if placed.format != LONE {
        return true;
    }
    let own = names(placed, heading.as_deref());
    blocks.iter().any(|(other, above, _)| {
        let theirs = names(other, above.as_deref());
        let pair = |(a, metric): &(&str, &str)| own.iter().any(|(b, own)| own == metric && a != b);
        other.depth == placed.depth && theirs.iter().any(pair)
    })
}

/// What names the configuration of each figure of a block, and its metric.
fn names<'b>(placed: &'b Placed, heading: Option<&'b str>) -> BTreeSet<(&'b str, &'b str)> {
    let mut all = BTreeSet::new();
    for (_, finding) in &placed.findings {
        if let Finding::Run { labels, figures } = finding {
            let name = labels
                .configuration
                .as_deref()
                .or(heading)
                .unwrap_or_default();
            all.extend(figures.iter().map(|f| (name, f.metric.as_str())));
        }
    }
    all
}
