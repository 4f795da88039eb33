//! What the grammars of latency tools read, claim by claim.

use assize_audit::Line;
use assize_audit::grammar::{Block, Finding, Grammar, Labels};
use proptest::prelude::*;

mod cyclictest;
mod frames;
mod hackbench;
mod hwlat;
mod rtla;
mod schbench;

/// The lines of a text, as the mail room hands them on.
fn lines(text: &str) -> Vec<Line<'_>> {
    text.split('\n')
        .zip(1..)
        .map(|(line, number)| Line::plain(number, line.trim_end()))
        .collect()
}

/// Reads all blocks of a text, as the auditor does, and checks each.
fn blocks(grammar: &dyn Grammar, text: &str) -> Vec<Block> {
    let lines = lines(text);
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let block = grammar
            .starts(&lines[at].text)
            .then(|| grammar.read(&lines[at..]));
        let Some(block) = block.flatten() else {
            at += 1;
            continue;
        };
        check(&block, lines.len() - at);
        at += block.taken.len();
        blocks.push(block);
    }
    blocks
}

/// Checks what must hold of a block whatever was read.
fn check(block: &Block, rest: usize) {
    assert!((1..=rest).contains(&block.taken.len()), "{block:?}");
    for (at, finding) in &block.findings {
        assert!(*at < block.taken.len(), "{finding:?} at {at}");
        if let Finding::Run { figures, .. } = finding {
            let mut names: Vec<_> = figures.iter().map(|figure| &figure.metric).collect();
            names.sort();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "a name twice in {figures:?}");
            assert!(figures.iter().all(|figure| figure.value.is_finite()));
            assert!(!figures.is_empty());
        }
    }
}

/// One run that was read.
struct Run {
    labels: Labels,
    figures: Vec<(String, f64, String)>,
}

impl Run {
    /// Value and unit of a figure, as text.
    fn get(&self, metric: &str) -> String {
        let found = self.figures.iter().find(|(name, ..)| name == metric);
        found.map_or_else(
            || "none".to_owned(),
            |(_, value, unit)| format!("{value} {unit}"),
        )
    }
}

/// All runs in a text.
fn runs(grammar: &dyn Grammar, text: &str) -> Vec<Run> {
    let findings = blocks(grammar, text)
        .into_iter()
        .flat_map(|block| block.findings);
    findings
        .filter_map(|(_, finding)| match finding {
            Finding::Run { labels, figures } => Some(Run {
                labels,
                figures: figures
                    .into_iter()
                    .map(|f| (f.metric, f.value, f.unit))
                    .collect(),
            }),
            _ => None,
        })
        .collect()
}

/// The codes of all doubts about a text.
fn doubts(grammar: &dyn Grammar, text: &str) -> Vec<&'static str> {
    let findings = blocks(grammar, text)
        .into_iter()
        .flat_map(|block| block.findings);
    findings
        .filter_map(|(_, finding)| match finding {
            Finding::Doubt(code, _) => Some(code),
            _ => None,
        })
        .collect()
}

/// One change to a text.
#[derive(Debug, Clone)]
enum Edit {
    /// A line goes.
    Drop(prop::sample::Index),
    /// A line comes twice.
    Double(prop::sample::Index),
    /// A line is broken at a character.
    Break(prop::sample::Index, prop::sample::Index),
    /// A word is replaced.
    Word(prop::sample::Index, prop::sample::Index, String),
    /// All after a line goes.
    Cut(prop::sample::Index),
    /// A line of something else comes between.
    Insert(prop::sample::Index, String),
}

/// Any change.
fn edit() -> impl Strategy<Value = Edit> {
    let word = prop_oneof![
        Just("nan".to_owned()),
        Just("-3".to_owned()),
        Just("1,2,3".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just("|".to_owned()),
        Just(":".to_owned()),
        Just("(".to_owned()),
        Just("é\u{1b}[".to_owned()),
        "[ -~]{0,12}",
        "\\PC{0,6}",
    ];
    let at = any::<prop::sample::Index>;
    prop_oneof![
        at().prop_map(Edit::Drop),
        at().prop_map(Edit::Double),
        (at(), at()).prop_map(|(line, column)| Edit::Break(line, column)),
        (at(), at(), word).prop_map(|(line, place, word)| Edit::Word(line, place, word)),
        at().prop_map(Edit::Cut),
        (at(), "\\PC{0,80}").prop_map(|(line, text)| Edit::Insert(line, text)),
    ]
}

/// A text with changes made to it.
fn edited(text: &str, edits: &[Edit]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for edit in edits {
        if lines.is_empty() {
            break;
        }
        let count = lines.len();
        match edit {
            Edit::Drop(at) => drop(lines.remove(at.index(count))),
            Edit::Double(at) => lines.insert(at.index(count), lines[at.index(count)].clone()),
            Edit::Break(at, column) => {
                let line = lines[at.index(count)].clone();
                let ends: Vec<usize> = line.char_indices().map(|(end, _)| end).collect();
                if !ends.is_empty() {
                    let (head, tail) = line.split_at(*column.get(&ends));
                    lines[at.index(count)] = head.to_owned();
                    lines.insert(at.index(count) + 1, tail.to_owned());
                }
            }
            Edit::Word(at, place, word) => {
                let line = &mut lines[at.index(count)];
                let mut words: Vec<&str> = line.split(' ').collect();
                let place = place.index(words.len());
                words[place] = word;
                *line = words.join(" ");
            }
            Edit::Cut(at) => lines.truncate(at.index(count) + 1),
            Edit::Insert(at, text) => lines.insert(at.index(count), text.clone()),
        }
    }
    lines.join("\n")
}

/// Changes fixtures at random and mixes in random text; reads the result
/// from its start and from each line at which the grammar wants to start.
fn survives(grammar: &dyn Grammar, fixtures: &[&str]) {
    let owned: Vec<String> = fixtures.iter().map(|text| (*text).to_owned()).collect();
    let changed = (
        prop::sample::select(owned),
        prop::collection::vec(edit(), 0..12),
    )
        .prop_map(|(text, edits)| edited(&text, &edits));
    let random = prop::collection::vec("\\PC{0,60}", 0..8).prop_map(|lines| lines.join("\n"));
    let text = prop_oneof![6 => changed, 1 => random];
    proptest!(ProptestConfig::with_cases(400), |(text in text)| {
        blocks(grammar, &text);
        let lines = lines(&text);
        if let Some(block) = grammar.read(&lines) {
            check(&block, lines.len());
        }
        prop_assert!(grammar.read(&[]).is_none());
    });
}

/// Reads fixtures whose lines, one after another, are followed by two
/// megabytes of something.
fn survives_long_lines(grammar: &dyn Grammar, fixture: &str) {
    for (at, line) in fixture.lines().enumerate().take(24) {
        for filler in [" 1", "#", ":", " #1 "] {
            let mut long: Vec<String> = fixture.lines().map(str::to_owned).collect();
            long[at] = format!("{line}{}", filler.repeat(100_000));
            blocks(grammar, &long.join("\n"));
        }
    }
}
