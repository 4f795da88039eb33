//! Helpers for tests of grammars.

use std::path::Path;

use super::block::{Block, Figure, Finding, Grammar, Labels};
use crate::line::Line;

/// The lines of a text, numbered from 1.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    (1..)
        .zip(text.lines())
        .map(|(number, text)| Line::plain(number, text))
        .collect()
}

/// The block at the beginning of a text, if it may start there.
pub(crate) fn read(grammar: &Grammar, text: &str) -> Option<Block> {
    let lines = lines(text);
    let starts = (grammar.starts)(&lines.first()?.text);
    starts.then(|| (grammar.read)(&lines)).flatten()
}

/// A finding as `CONFIGURATION/WORKLOAD #REPETITION: METRIC=VALUE UNIT, …`.
pub(crate) fn shown(finding: &Finding) -> String {
    let place = |labels: &Labels| {
        let names = [&labels.configuration, &labels.workload]
            .into_iter()
            .flatten();
        let names: Vec<&str> = names.map(String::as_str).collect();
        let number = labels
            .repetition
            .map_or_else(String::new, |n| format!(" #{n}"));
        names.join("/") + &number
    };
    let one = |f: &Figure| {
        format!("{}={} {}", f.metric, f.value, f.unit)
            .trim()
            .to_owned()
    };
    match finding {
        Finding::Run { labels, figures } => {
            let figures: Vec<String> = figures.iter().map(one).collect();
            format!("{}: {}", place(labels), figures.join(", "))
        }
        Finding::Summary {
            labels,
            figure,
            spread,
            n,
        } => {
            format!("{}: {}, {spread:?}, {n:?}", place(labels), one(figure))
        }
        Finding::Unsupported { metric, reason, .. } => format!("{metric} {reason}"),
        Finding::Doubt(code, _) => (*code).to_owned(),
        Finding::Command(command) => format!("command {command}"),
        other => format!("{other:?}"),
    }
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
