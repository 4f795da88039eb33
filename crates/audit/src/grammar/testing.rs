//! What the tests of grammars share.

use std::path::Path;

use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// The lines of a text, numbered from 1.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    (1..)
        .zip(text.lines())
        .map(|(number, text)| Line::plain(number, text))
        .collect()
}

/// The block at the beginning of a text, if it may start there.
pub(crate) fn read(grammar: &dyn Grammar, text: &str) -> Option<Block> {
    let lines = lines(text);
    grammar
        .starts(&lines.first()?.text)
        .then(|| grammar.read(&lines))
        .flatten()
}

/// The runs of that block.
pub(crate) fn runs(grammar: &dyn Grammar, text: &str) -> Vec<(Labels, Vec<Figure>)> {
    let findings = read(grammar, text).map(|block| block.findings);
    let run = |(_, finding)| match finding {
        Finding::Run { labels, figures } => Some((labels, figures)),
        _ => None,
    };
    findings
        .unwrap_or_default()
        .into_iter()
        .filter_map(run)
        .collect()
}

/// Metric and value of each figure of these runs.
pub(crate) fn figures(grammar: &dyn Grammar, text: &str) -> Vec<(String, f64)> {
    let figures = runs(grammar, text).into_iter().flat_map(|(_, f)| f);
    figures.map(|f| (f.metric, f.value)).collect()
}

/// The files in some folders of the repository, whose paths begin at this crate, and in
/// those below.
pub(crate) fn texts(folders: &[&str]) -> Vec<Vec<u8>> {
    fn add(folder: &Path, found: &mut Vec<Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => add(&path, found),
                false => found.push(std::fs::read(path).unwrap()),
            }
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        add(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut found,
        );
    }
    found
}
