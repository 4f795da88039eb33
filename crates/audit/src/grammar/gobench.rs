//! The lines that `go test -bench` prints.
//!
//! ```text
//! goos: linux
//! pkg: example.org/sum
//! BenchmarkSum-8     1000     1234.5 ns/op     48 B/op     2 allocs/op
//! PASS
//! ```
//!
//! Each line is one execution of one benchmark: a run whose workload is the benchmark's name. A
//! repeated line (`-count`) is the next repetition. The number of iterations is chosen by go and is
//! not a figure.

use super::prelude::*;

/// `go test -bench`; see the module.
pub const GO_BENCH: Grammar = Grammar {
    first: b"Bgp",
    ..Grammar::new("go bench", starts, read)
};

/// Longest line of a result.
const LONGEST: usize = 1000;
/// How lines about the machine and the package begin.
const ABOUT: [&str; 6] = ["goos: ", "goarch: ", "pkg: ", "cpu: ", "PASS", "ok  \t"];

/// A result: the name without `Benchmark`, and pairs of a value and its unit.
fn result(line: &str) -> Option<(String, Vec<Figure>)> {
    let mut words = line.strip_prefix("Benchmark")?.split_whitespace();
    let name = words.next()?;
    words
        .next()?
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then_some(())?;
    let mut figures: Vec<Figure> = Vec::new();
    while let Some(number) = words.next() {
        let unit = words.next()?;
        if figures.iter().all(|figure| figure.metric != unit) {
            figures.push(Figure::new(label(unit), english(number)?, numerator(unit)));
        }
    }
    (!figures.is_empty()).then(|| (label(name), figures))
}

/// The unit of a value that is given per operation.
pub(super) fn numerator(unit: &str) -> &str {
    match unit.strip_suffix("/op") {
        Some("allocs") => "",
        Some(counted) => counted,
        None => unit,
    }
}

fn starts(line: &str) -> bool {
    line.len() <= LONGEST
        && (line.starts_with("Benchmark") || ABOUT[..3].iter().any(|start| line.starts_with(start)))
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    let depth = lines.first()?.depth;
    block.extend(lines, |block, at, text| {
        if text.len() > LONGEST || lines[at].depth != depth {
            return None;
        }
        let text = text.trim_end();
        if let Some((name, figures)) = result(text) {
            block.run(at, Labels::workload(name), figures);
            return Some("go benchmark");
        }
        let about = ABOUT.iter().any(|start| text.starts_with(start));
        about.then_some("go benchmark header")
    });
    (!block.findings.is_empty()).then_some(block)
}
