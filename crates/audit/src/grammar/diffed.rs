//! Counters before and after, set against each other like a diff.
//!
//! Lines that begin with `-` are one run, lines that begin with `+` the
//! other; what stands behind the mark is read as `perf stat` prints it.
//! Patches never get here: their hunks are known by their headers.

use super::begins::Begins;
use super::perf_stat::PerfStat;
use super::{Block, Finding, Grammar};
use crate::Line;

/// `perf stat` counters behind `-` and `+`.
pub struct Diffed;

impl Grammar for Diffed {
    fn name(&self) -> &'static str {
        "perf stat diff"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"-+")
    }

    fn starts(&self, line: &str) -> bool {
        matches!(line.as_bytes(), [b'-' | b'+', b' ' | b'\t', ..])
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines[0].depth;
        let used = lines
            .iter()
            .take_while(|line| line.depth == depth && self.starts(&line.text))
            .count();
        let mut block = Block {
            taken: vec!["perf stat diff"; used],
            ..Block::default()
        };
        for (mark, name) in [('-', "before (-)"), ('+', "after (+)")] {
            let (at, side): (Vec<usize>, Vec<Line<'_>>) = lines[..used]
                .iter()
                .enumerate()
                .filter_map(|(at, line)| Some((at, unmarked(line, mark)?)))
                .unzip();
            let read = side
                .first()
                .filter(|line| PerfStat.starts(&line.text))
                .and_then(|_| PerfStat.read(&side))?;
            for (line, mut finding) in read.findings {
                if let Finding::Run { labels, .. }
                | Finding::Summary { labels, .. }
                | Finding::Unsupported { labels, .. } = &mut finding
                {
                    labels.configuration = Some(name.to_string());
                }
                block.find(at[line], finding);
            }
        }
        block.findings.sort_by_key(|(at, _)| *at);
        Some(block)
    }
}

fn unmarked<'l>(line: &'l Line<'_>, mark: char) -> Option<Line<'l>> {
    let text = line.text.strip_prefix(mark)?;
    Some(Line::new(text, line.depth, line.place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_either_mark_are_one_run() {
        let text = "-  8,449      context-switches\n-    412      cpu-migrations\n+  5,361      context-switches\n+    169      cpu-migrations\nend";
        let lines: Vec<Line<'_>> = (1..)
            .zip(text.lines())
            .map(|(n, t)| Line::plain(n, t))
            .collect();
        let block = Diffed.read(&lines).unwrap();
        assert_eq!(block.taken.len(), 4);
        let Finding::Run { labels, figures } = &block.findings[1].1 else {
            panic!()
        };
        assert_eq!(labels.configuration.as_deref(), Some("after (+)"));
        assert_eq!(figures[0].value, 5361.0);
    }

    #[test]
    fn lists_and_one_sided_changes_are_left_alone() {
        for text in ["- one thing\n- another", "+ 12 cycles\n+ 13 instructions"] {
            let lines: Vec<Line<'_>> = (1..)
                .zip(text.lines())
                .map(|(n, t)| Line::plain(n, t))
                .collect();
            assert!(Diffed.read(&lines).is_none());
        }
    }
}
