//! What the tests of grammars share.

use std::path::Path;

use super::block::{Block, Grammar};
use crate::line::Line;

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
