//! What the formats read of real output, and that mutated output breaks none; fuzzing tries more.
//!
//! Each file below `posts/tools` is what a tool printed; behind the mark stands what is read of
//! it.

use std::fmt::Write as _;

use crate::common::{MARK, looked_over, posts};
use assize_audit::Line;
use assize_audit::grammar::{Block, Figure, Finding, Labels, all};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// The output in a file.
fn output(text: &str) -> &str {
    text.split_once(MARK).map_or(text, |(output, _)| output)
}

/// Reads all blocks of a text as the auditor does: at each line the first format that reads a
/// block has it.
fn blocks(text: &str) -> Vec<(&'static str, Block)> {
    let line = |(text, number)| Line::plain(number, str::trim_end(text));
    let lines: Vec<Line<'_>> = text.lines().zip(1..).map(line).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        let read = all().iter().find_map(|grammar| {
            let starts = (grammar.starts)(&rest[0].text);
            let block = starts.then(|| (grammar.read)(rest))??;
            Some((grammar.name, block))
        });
        if let Some((name, block)) = &read {
            check(name, block, rest.len());
        }
        at += read.as_ref().map_or(1, |(_, block)| block.taken.len());
        found.extend(read);
    }
    found
}

/// What holds of every block.
fn check(name: &str, block: &Block, lines: usize) {
    assert!((1..=lines).contains(&block.taken.len()), "{name}");
    for (at, finding) in &block.findings {
        assert!(*at < block.taken.len(), "{name}: {finding:?}");
        match finding {
            Finding::Run { figures, .. } => {
                let mut names: Vec<_> = figures.iter().map(|figure| &figure.metric).collect();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), figures.len(), "{name}: {figures:?}");
                let finite = figures.iter().all(|figure| figure.value.is_finite());
                assert!(finite, "{name}: {figures:?}");
            }
            Finding::Summary { figure, .. } => assert!(figure.value.is_finite(), "{name}"),
            _ => {}
        }
    }
}

fn place(labels: &Labels) -> String {
    let names = [&labels.configuration, &labels.workload];
    let names = names.map(|name| name.as_deref().unwrap_or("-"));
    format!("{} on {}", names[0], names[1])
}

fn shown(finding: &Finding) -> String {
    let one = |figure: &Figure| {
        let text = format!("{} {} {}", figure.metric, figure.value, figure.unit);
        text.trim_end().to_owned()
    };
    match finding {
        Finding::Run { labels, figures } => {
            let figures: Vec<_> = figures.iter().map(one).collect();
            format!("run of {}: {}", place(labels), figures.join(", "))
        }
        Finding::Summary {
            labels,
            figure,
            spread,
            n,
        } => {
            let (place, figure) = (place(labels), one(figure));
            format!("mean of {place}: {figure}, {spread:?}, n {n:?}")
        }
        Finding::Unsupported { metric, reason, .. } => format!("{metric}: {reason}"),
        Finding::Doubt(code, _) => format!("doubt: {code}"),
        Finding::Sample(figure) => format!("sample: {}", one(figure)),
        Finding::Command(command) => format!("command: {command}"),
        Finding::Events {
            event,
            count,
            times_s,
            ..
        } => format!("{count} events of {event}, times {times_s:?}"),
        Finding::Grid(_) => "a table".to_owned(),
        Finding::Statement { figure, .. } => format!("statement: {}", one(figure)),
    }
}

#[test]
fn real_output_is_read_as_it_was_looked_over() {
    for (path, text) in posts("tools") {
        let output = output(&text);
        let mut read = String::new();
        for (format, block) in blocks(output) {
            writeln!(read, "{format}, {} lines", block.taken.len()).unwrap();
            for (_, finding) in &block.findings {
                writeln!(read, "  {}", shown(finding)).unwrap();
            }
        }
        looked_over(&path, &format!("{output}{MARK}{read}"));
        // Mailers and people take blanks away.
        if path.to_string_lossy().contains("perf_stat") {
            let stripped: Vec<_> = output.lines().map(str::trim).collect();
            let findings = |text: &str| -> Vec<_> {
                let blocks = blocks(text).into_iter();
                blocks.flat_map(|(_, block)| block.findings).collect()
            };
            let stripped = findings(&stripped.join("\n"));
            assert_eq!(findings(output), stripped, "{}", path.display());
        }
    }
}

#[test]
fn a_long_text_is_read_in_linear_time() {
    #[rustfmt::skip]
    let cases = [
        "3 cycles", "Performance counter stats for 'a", "1.000000001 5 cycles",
        "12,,cycles,100,100.00,,", "{\"counter-value\" : \"1.0\", \"event\" : \"cyc", "{",
        "# started on", "CPU0 5 cycles", "5\n\n", "# tracer: hwlat",
        "T: 0 ( 1) C: 1 Min: 1 Max: 2", "a b c", "| a | 1 |", "Benchmark 1: a",
        "Latency percentiles (usec)", "stress-ng: info: [1] a", "   READ: bw=1MiB/s",
        "Busy% PkgWatt",
    ];
    for line in cases {
        blocks(&format!("{line}\n").repeat(500));
    }
}

proptest! {
    /// Cut, doubled and with other characters in some places.
    #[test]
    fn mutated_outputs_never_break_a_format(
        file in any::<Index>(),
        edits in vec((0..5, any::<Index>(), any::<char>()), 0..12),
    ) {
        let posts = posts("tools");
        let (_, text) = &posts[file.index(posts.len())];
        let mut chars: Vec<char> = output(text).chars().collect();
        for (edit, at, other) in edits {
            let at = at.index(chars.len() + 1);
            match edit {
                0 => chars.truncate(at),
                1 => chars.insert(at, '\n'),
                2 => chars.extend_from_within(at..),
                3 => drop(chars.drain(at..chars.len().min(at + 1))),
                _ => chars.insert(at, other),
            }
        }
        blocks(&String::from_iter(chars));
    }
}
