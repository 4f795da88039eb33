//! What the fuzz targets have in common.
//!
//! `formats`, `mail` and `audit` are the parts and the whole of the auditor.

use assize_audit::Line;
use assize_audit::grammar::{self, Block, Figure, Finding, Grammar};
use assize_audit::mail::messages;
use assize_bundle::Spread;

/// Reads a block wherever the grammar says that one may start.
pub fn read_with(grammar: &dyn Grammar, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines: Vec<_> = (1..)
        .zip(text.lines())
        .map(|(number, line)| Line::plain(number, line))
        .collect();
    for at in 0..lines.len() {
        read_at(grammar, &lines[at..]);
    }
}

/// Reads a block at the first of these lines, if one may start there; gives
/// its length.
fn read_at(grammar: &dyn Grammar, lines: &[Line<'_>]) -> Option<usize> {
    if !grammar.starts(&lines[0].text) {
        return None;
    }
    let block = grammar.read(lines)?;
    check(grammar.name(), &block, lines.len());
    Some(block.taken.len())
}

/// What every block must keep to.
fn check(name: &str, block: &Block, lines: usize) {
    let taken = block.taken.len();
    assert!(
        (1..=lines).contains(&taken),
        "{name} took {taken} of {lines} lines"
    );
    for (at, finding) in &block.findings {
        assert!(
            *at < taken,
            "{name} found something at line {at} of {taken}"
        );
        let finite = match finding {
            Finding::Run { figures, .. } => figures.iter().all(is_finite),
            Finding::Summary { figure, spread, .. } => {
                is_finite(figure)
                    && spread.is_none_or(|spread| match spread {
                        Spread::StandardError(s) | Spread::StandardDeviation(s) => s.is_finite(),
                    })
            }
            Finding::Events {
                exposure_s,
                times_s,
                ..
            } => exposure_s.is_none_or(f64::is_finite) && times_s.iter().all(|t| t.is_finite()),
            Finding::Statement { figure, .. } | Finding::Sample(figure) => is_finite(figure),
            // What a table holds shows once its rows and columns have roles.
            Finding::Grid(_) => true,
            Finding::Unsupported { .. } | Finding::Command(_) | Finding::Doubt(..) => true,
        };
        assert!(
            finite,
            "{name} found a figure that is not finite: {finding:?}"
        );
    }
}

fn is_finite(figure: &Figure) -> bool {
    figure.value.is_finite()
}

/// From bytes to lines.
pub fn read_mail(data: &[u8]) {
    for (message, number) in messages(data).zip(1..) {
        let message = message.expect("a slice can be read");
        assert_eq!(message.number, number);
        let bound = u32::try_from(data.len()).expect("fuzz inputs are small") + 1;
        for doubt in &message.doubts {
            assert!((1..=bound).contains(&doubt.place.line), "{doubt:?}");
        }
        let lines = message.lines();
        let mut last = 0;
        for line in &lines {
            assert!((1..=bound).contains(&line.place.line), "{line:?}");
            assert!(line.place.line >= last, "{line:?} after line {last}");
            last = line.place.line;
            assert_eq!(line.place.message, number);
            assert_eq!(line.text, line.text.trim_end());
            assert!(!line.text.contains(['\n', '\r', '\x0c']), "{line:?}");
        }
    }
}

/// From bytes to blocks, with all grammars that there are.
pub fn read_all(data: &[u8]) {
    for message in messages(data) {
        let message = message.expect("a slice can be read");
        let lines = message.lines();
        let mut at = 0;
        while at < lines.len() {
            let rest = &lines[at..];
            let read = |g: &&dyn Grammar| read_at(*g, rest);
            at += grammar::all().iter().find_map(read).unwrap_or(1);
        }
    }
}
