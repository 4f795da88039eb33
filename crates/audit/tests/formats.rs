//! What the formats read of real output, recorded in the folders beside this file, and that no
//! text made from it breaks one. With `ASSIZE_GOLDEN=1` what they read is written anew.

use std::fmt::Write as _;
use std::path::PathBuf;

use assize_audit::Line;
use assize_audit::grammar::{Block, Figure, Finding, Labels, all};
use proptest::prelude::*;

/// The folders with output of tools.
const FOLDERS: [&str; 16] = [
    "bench_mark",
    "benchmarks",
    "benchstat",
    "criterion",
    "cyclictest",
    "google_benchmark",
    "hackbench",
    "hwlat",
    "hyperfine",
    "jmh",
    "lkp",
    "ministat",
    "perf_stat",
    "rtla",
    "schbench",
    "turbostat",
];

fn tests() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}

/// The name and the text of each output.
fn outputs() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let files = std::fs::read_dir(tests().join(folder)).unwrap();
        for file in files.map(|file| file.unwrap().path()) {
            let name = format!("{folder}/{}", file.file_name().unwrap().to_string_lossy());
            found.push((name, std::fs::read_to_string(&file).unwrap()));
        }
    }
    found.sort();
    found
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let numbered = text.lines().zip(1..);
    numbered
        .map(|(text, number)| Line::plain(number, text.trim_end()))
        .collect()
}

/// Reads all blocks of a text as the auditor does: at each line the first format that reads a
/// block has it.
fn blocks(text: &str) -> Vec<(&'static str, Block)> {
    let lines = lines(text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        let read = all().iter().find_map(|grammar| {
            let starts = grammar.starts(&rest[0].text);
            let block = starts.then(|| grammar.read(rest))??;
            Some((grammar.name(), block))
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
                assert!(
                    figures.iter().all(|figure| figure.value.is_finite()),
                    "{name}: {figures:?}"
                );
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
            format!(
                "mean of {}: {}, {spread:?}, n {n:?}",
                place(labels),
                one(figure)
            )
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
        } => {
            format!("{count} events of {event}, times {times_s:?}")
        }
        Finding::Grid(_) => "a table".to_owned(),
        Finding::Statement { figure, .. } => format!("statement: {}", one(figure)),
    }
}

#[test]
fn real_output_is_read_as_it_was_looked_over() {
    let mut all = String::new();
    for (name, text) in outputs() {
        writeln!(all, "== {name}").unwrap();
        for (format, block) in blocks(&text) {
            writeln!(all, "{format}, {} lines", block.taken.len()).unwrap();
            for (_, finding) in &block.findings {
                writeln!(all, "  {}", shown(finding)).unwrap();
            }
        }
    }
    let path = tests().join("formats.txt");
    if std::env::var_os("ASSIZE_GOLDEN").is_some() {
        std::fs::write(&path, &all).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (read, expected) in all.lines().zip(expected.lines()) {
        assert_eq!(read, expected);
    }
    assert_eq!(all.lines().count(), expected.lines().count());
}

#[test]
fn an_output_is_read_the_same_without_leading_blanks() {
    for (name, text) in outputs()
        .into_iter()
        .filter(|(name, _)| name.starts_with("perf_stat"))
    {
        let stripped: Vec<_> = text.lines().map(str::trim).collect();
        let findings = |text: &str| -> Vec<_> {
            let blocks = blocks(text).into_iter();
            blocks.flat_map(|(_, block)| block.findings).collect()
        };
        assert_eq!(findings(&text), findings(&stripped.join("\n")), "{name}");
    }
}

#[test]
fn a_long_text_is_read_in_linear_time() {
    for line in [
        "3 cycles",
        "Performance counter stats for 'a",
        "1.000000001 5 cycles",
        "12,,cycles,100,100.00,,",
        "{\"counter-value\" : \"1.0\", \"event\" : \"cyc",
        "{",
        "# started on",
        "CPU0 5 cycles",
        "5\n\n",
        "# tracer: hwlat",
        "T: 0 ( 1) C: 1 Min: 1 Max: 2",
        "a b c",
        "| a | 1 |",
        "Benchmark 1: a",
        "Latency percentiles (usec)",
        "stress-ng: info: [1] a",
        "   READ: bw=1MiB/s",
        "Busy% PkgWatt",
    ] {
        blocks(&format!("{line}\n").repeat(500));
    }
}

/// Replaces, doubles, drops or wraps some lines and bytes of an output.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..6_u8, any::<char>());
    let changes = prop::collection::vec(change, 0..12);
    let texts: Vec<String> = outputs()
        .into_iter()
        .map(|(_, text)| text)
        .filter(|text| text.len() < 4000)
        .collect();
    (prop::sample::select(texts), changes).prop_map(|(text, changes)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (index, kind, new) in changes {
            if chars.is_empty() {
                break;
            }
            let at = index.index(chars.len());
            match kind {
                0 => chars[at] = new,
                1 => chars.insert(at, new),
                2 => drop(chars.remove(at)),
                3 => chars.insert(at, '\n'),
                4 => chars.truncate(at),
                _ => chars.extend_from_within(at..),
            }
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn mutated_outputs_never_break_a_format(text in mutated()) {
        blocks(&text);
    }

    #[test]
    fn any_bytes_never_break_a_format(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        blocks(&String::from_utf8_lossy(&bytes));
    }
}
