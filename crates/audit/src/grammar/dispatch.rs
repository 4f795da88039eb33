//! Which formats may begin with a line, by its bytes and by how far the next digit is.

use std::sync::LazyLock;

use super::all;

/// Formats by their place in [`all`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Formats(u64);

impl Iterator for Formats {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let at = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (at < u64::BITS).then_some(at as usize)
    }
}

/// No format reaches this many lines.
const FAR: usize = 64;

/// For each byte, the formats that accept it.
struct Tables {
    first: [u64; 256],
    holds: [u64; 256],
    /// For each distance, the formats that reach that far.
    reach: [u64; FAR + 1],
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables {
        first: [0; 256],
        holds: [0; 256],
        reach: [0; FAR + 1],
    };
    for (at, grammar) in all().iter().enumerate() {
        let bit = 1 << at;
        let has = |bytes: &[u8], byte: u8| bytes.is_empty() || bytes.contains(&byte);
        for byte in 0..=u8::MAX {
            let entry = usize::from(byte);
            if has(grammar.first, byte) || !byte.is_ascii() {
                tables.first[entry] |= bit;
            }
            if has(grammar.holds, byte) {
                tables.holds[entry] |= bit;
            }
        }
        for (far, reach) in tables.reach.iter_mut().enumerate() {
            let digit = if far < FAR { far } else { usize::MAX };
            if digit <= grammar.reach {
                *reach |= bit;
            }
        }
    }
    tables
});

/// The formats of which a block may start with a line, in the order of [`all`];
/// the next digit stands `digit` lines on. None starts with a blank line.
pub(crate) fn formats(line: &str, digit: usize) -> Formats {
    let tables = &*TABLES;
    let bytes = line.as_bytes();
    let blank = |b: &&u8| matches!(b, b' ' | b'\t'..=b'\r');
    let Some(first) = bytes.iter().find(|b| !blank(b)) else {
        return Formats(0);
    };
    let may = tables.first[usize::from(*first)] & tables.reach[digit.min(FAR)];
    let mut held = 0;
    for byte in bytes {
        held |= tables.holds[usize::from(*byte)];
    }
    Formats(may & held)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::super::ALL;
    use super::*;

    /// The files in some folders of the repository, whose paths begin at this crate, and in
    /// those below.
    fn texts(folders: &[&str]) -> Vec<String> {
        let top = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths: Vec<_> = folders.iter().map(|folder| top.join(folder)).collect();
        let mut found = Vec::new();
        while let Some(path) = paths.pop() {
            match std::fs::read_dir(&path) {
                Ok(entries) => paths.extend(entries.map(|entry| entry.unwrap().path())),
                Err(_) => {
                    found.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned())
                }
            }
        }
        found
    }

    /// All formats.
    const EVERY: u64 = u64::MAX >> (u64::BITS as usize - ALL.len());

    /// Checks that every format that would take the line is asked, and notes these formats in
    /// `known`. No block begins with a blank line.
    fn note_takers(line: &str, known: &mut u64) {
        if line.trim().is_empty() {
            return;
        }
        let asked = formats(line, 0).0;
        let takes = |at: &usize| (all()[*at].starts)(line);
        let missed = Formats(EVERY & !asked).filter(takes);
        let missed: Vec<&str> = missed.map(|at| all()[at].name).collect();
        assert!(missed.is_empty(), "{missed:?} would take {line:?}");
        for at in Formats(asked & !*known).filter(takes) {
            *known |= 1 << at;
        }
    }

    #[test]
    fn no_format_is_passed_over_on_a_line_that_it_would_take() {
        let found = texts(&["tests", "../../demo"]);
        let mut all_takers = 0;
        let lines: BTreeSet<&str> = found.iter().flat_map(|text| text.lines()).collect();
        for line in lines {
            note_takers(line, &mut all_takers);
            // As it is quoted, also in code, and from each of its first words on.
            let line = line.trim_start();
            let words = line.match_indices([' ', '>', '\t', '|', '"']).take(4);
            for (at, mark) in words {
                note_takers(&line[at..], &mut all_takers);
                note_takers(&line[at + mark.len()..], &mut all_takers);
            }
        }
        let untried = Formats(EVERY & !all_takers).map(|at| all()[at].name);
        let untried: Vec<&str> = untried.collect();
        assert!(untried.is_empty(), "no line is one of {untried:?}");
    }
}
