//! Outputs of a real `perf stat`, recorded in `tests/perf_stat/`, and texts
//! made from them by chance.

use std::fmt::Write as _;
use std::path::PathBuf;

use assize_audit::Line;
use assize_audit::grammar::perf_stat::{PerfStat, PerfStatCsv, PerfStatInterval, PerfStatJson};
use assize_audit::grammar::{Block, Figure, Finding, Grammar};
use assize_bundle::Spread;
use proptest::prelude::*;

const GRAMMARS: [&dyn Grammar; 4] = [&PerfStatJson, &PerfStatCsv, &PerfStatInterval, &PerfStat];

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/perf_stat"))
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.txt"))).expect(name)
}

fn fixtures() -> Vec<String> {
    let mut paths: Vec<_> = std::fs::read_dir(folder())
        .expect("the fixtures")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let read = |path| std::fs::read_to_string(path).expect("a fixture");
    paths.into_iter().map(read).collect()
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let numbered = text.lines().zip(1..);
    numbered
        .map(|(text, number)| Line::plain(number, text.trim_end()))
        .collect()
}

/// Reads all blocks of a text as the auditor does: at each line the first
/// grammar that reads a block has it.
fn blocks(text: &str) -> Vec<(&'static str, Block)> {
    let lines = lines(text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        let read = GRAMMARS.iter().find_map(|grammar| {
            let starts = grammar.starts(&rest[0].text);
            let block = starts.then(|| grammar.read(rest))??;
            Some((grammar.name(), block))
        });
        if let Some((_, block)) = &read {
            check(block, rest.len());
        }
        at += read.as_ref().map_or(1, |(_, block)| block.taken.len());
        found.extend(read);
    }
    found
}

/// What holds of every block.
fn check(block: &Block, lines: usize) {
    assert!((1..=lines).contains(&block.taken.len()));
    for (at, finding) in &block.findings {
        assert!(*at < block.taken.len(), "{finding:?}");
        match finding {
            Finding::Run { figures, .. } => {
                let mut names: Vec<_> = figures.iter().map(|f| &f.metric).collect();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), figures.len(), "{figures:?}");
                assert!(figures.iter().all(|f| f.value.is_finite()), "{figures:?}");
            }
            Finding::Summary { figure, .. } => assert!(figure.value.is_finite()),
            _ => {}
        }
    }
}

/// One line for each figure of all blocks.
fn shown(name: &str) -> String {
    let mut out = String::new();
    for (grammar, block) in blocks(&fixture(name)) {
        writeln!(out, "{grammar}: {} lines", block.taken.len()).expect("a string");
        for (_, finding) in &block.findings {
            show(&mut out, finding);
        }
    }
    out
}

fn show(out: &mut String, finding: &Finding) {
    let one = |figure: &Figure| {
        let text = format!("{} {} {}", figure.metric, figure.value, figure.unit);
        text.trim_end().to_owned()
    };
    match finding {
        Finding::Run { figures, .. } => {
            let figures: Vec<_> = figures.iter().map(one).collect();
            writeln!(out, "run: {}", figures.join(", "))
        }
        Finding::Summary {
            figure, spread, n, ..
        } => {
            let error = match spread {
                Some(Spread::StandardError(error)) => format!("{error:.6}"),
                other => format!("{other:?}"),
            };
            writeln!(out, "mean: {} +- {error}, n {n:?}", one(figure))
        }
        Finding::Unsupported { metric, reason, .. } => writeln!(out, "{metric}: {reason}"),
        Finding::Doubt(code, _) => writeln!(out, "doubt: {code}"),
        other => writeln!(out, "{other:?}"),
    }
    .expect("a string");
}

fn workload(name: &str) -> Option<String> {
    blocks(&fixture(name))
        .into_iter()
        .flat_map(|(_, block)| block.findings)
        .find_map(|(_, finding)| match finding {
            Finding::Run { labels, .. } | Finding::Summary { labels, .. } => Some(labels.workload),
            _ => None,
        })
        .expect("a figure")
}

#[test]
fn every_recorded_output_is_one_block_without_bad_numbers() {
    for text in fixtures() {
        let blocks = blocks(&text);
        assert_eq!(blocks.len(), 1, "{text}");
        let taken = blocks[0].1.taken.len();
        let written = lines(&text);
        let blank = |line: &Line<'_>| line.text.is_empty();
        let before = written.iter().take_while(|line| blank(line)).count();
        let after = written.iter().rev().take_while(|line| blank(line)).count();
        assert_eq!(taken, written.len() - before - after, "{text}");
        for (_, finding) in &blocks[0].1.findings {
            let expected = ["not-counted-interval"];
            if let Finding::Doubt(code, sentence) = finding {
                assert!(expected.contains(code), "{code}: {sentence} in {text}");
            }
        }
    }
}

#[test]
fn one_run_is_read() {
    assert_eq!(
        shown("one-run"),
        "perf stat: 15 lines\n\
         run: task-clock 0.77 msec, context-switches 1, cpu-migrations 0, page-faults 76, \
         elapsed 0.051595489 s, user 0.001609 s, sys 0 s\n\
         cycles: not supported\ninstructions: not supported\nbranches: not supported\n\
         branch-misses: not supported\n"
    );
    assert_eq!(workload("one-run").as_deref(), Some("sleep 0.05"));
}

#[test]
fn several_runs_are_means() {
    assert_eq!(
        shown("german-four-runs"),
        "perf stat: 9 lines\n\
         mean: task-clock 110.66 msec +- 0.940610, n Some(4)\n\
         mean: context-switches 118 +- 23.246000, n Some(4)\n\
         mean: page-faults 1412 +- 0.564800, n Some(4)\n\
         cycles: not supported\n\
         mean: duration_time 121476464 ns +- 5065568.548800, n Some(4)\n\
         mean: elapsed 0.11609 s +- 0.005070, n Some(4)\n"
    );
}

#[test]
fn other_locales_give_the_same_kind_of_numbers() {
    assert_eq!(
        shown("german"),
        "perf stat: 12 lines\n\
         run: task-clock 350.24 msec, context-switches 4063, page-faults 2768, duration_time \
         565550774 ns, elapsed 0.565550774 s, user 0.152704 s, sys 0.21882 s\n\
         cycles: not supported\n"
    );
    assert_eq!(
        shown("french"),
        "perf stat: 12 lines\n\
         run: task-clock 273.32 msec, context-switches 57, page-faults 2764, duration_time \
         276643014 ns, elapsed 0.276643014 s, user 0.199102 s, sys 0.075106 s\n\
         cycles: not supported\n"
    );
    assert_eq!(
        shown("intervals-german"),
        "perf stat -I: 7 lines\n\
         run: task-clock 0.87 msec, page-faults 82, elapsed 0.251655706 s\n\
         doubt: not-counted-interval\n"
    );
}

#[test]
fn fields_that_a_comma_locale_tore_are_mended() {
    assert_eq!(
        shown("csv-german-torn"),
        "perf stat -x: 2 lines\nrun: task-clock 0.62 msec, page-faults 50\n"
    );
    assert_eq!(
        shown("json-german-two-runs"),
        "perf stat -j: 2 lines\nmean: task-clock 0.408539 msec +- 0.005474, n None\n\
         mean: page-faults 50 +- 1.000000, n None\n"
    );
}

#[test]
fn the_single_times_of_a_table_are_runs() {
    assert_eq!(
        shown("table"),
        "perf stat: 11 lines\nmean: task-clock 0.77 msec +- 0.039732, n Some(3)\n\
         run: elapsed 0.051662 s\nrun: elapsed 0.051352 s\nrun: elapsed 0.051347 s\n"
    );
}

#[test]
fn all_forms_of_a_row_per_part_of_the_machine_agree() {
    for name in ["per-cpu", "csv-per-cpu", "json-per-cpu"] {
        let text = shown(name);
        assert!(text.contains("cpu-clock CPU0 101."), "{text}");
        assert!(text.contains("context-switches CPU1 "), "{text}");
    }
    for name in ["per-socket", "csv-per-socket", "json-per-socket"] {
        let text = shown(name);
        assert!(text.contains("cpu-clock S0 20"), "{text}");
    }
    for name in ["control-group", "csv-control-group", "json-control-group"] {
        let text = shown(name);
        assert!(text.contains("cpu-clock / 203."), "{text}");
        assert!(text.contains("context-switches /: not counted"), "{text}");
    }
}

#[test]
fn intervals_are_one_run_in_all_forms() {
    for name in [
        "intervals",
        "csv-intervals",
        "json-intervals",
        "intervals-summary",
    ] {
        let text = shown(name);
        assert_eq!(text.matches("run: ").count(), 1, "{text}");
        assert!(text.contains("elapsed 0."), "{text}");
        assert!(text.contains("doubt: not-counted-interval"), "{text}");
    }
    assert_eq!(workload("intervals-summary").as_deref(), Some("sleep 0.25"));
}

#[test]
fn only_commands_are_workloads() {
    for name in [
        "one-cpu",
        "per-cpu",
        "per-thread",
        "csv-one-run",
        "json-one-run",
    ] {
        assert_eq!(workload(name), None, "{name}");
    }
    let quotes = "sh -c echo 'it (3 runs):' >/dev/null";
    assert_eq!(workload("quotes-in-command").as_deref(), Some(quotes));
}

#[test]
fn a_recorded_output_is_read_the_same_without_leading_blanks() {
    for text in fixtures() {
        let stripped: Vec<_> = text.lines().map(str::trim).collect();
        let findings = |text: &str| -> Vec<_> {
            let blocks = blocks(text).into_iter();
            blocks.flat_map(|(_, block)| block.findings).collect()
        };
        assert_eq!(findings(&text), findings(&stripped.join("\n")), "{text}");
    }
}

#[test]
fn a_long_text_is_read_in_linear_time() {
    for line in [
        "3 cycles",
        "1,234 cycles # 0.1 GHz",
        "Performance counter stats for 'a",
        "1.000000001 5 cycles",
        "12,,cycles,100,100.00,,",
        "12,cycles",
        "{\"counter-value\" : \"1.0\", \"event\" : \"cyc",
        "{\"counter-value\" : \"1.0\", \"event\" : \"cycles\"}",
        "1.0 seconds",
        "# started on",
        "CPU0 5 cycles",
        "5\n\n",
    ] {
        let text = format!("{line}\n").repeat(50_000);
        blocks(&text);
    }
}

/// Replaces, doubles, drops or wraps some lines and bytes of a fixture.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..6_u8, any::<char>());
    let changes = prop::collection::vec(change, 0..12);
    (prop::sample::select(fixtures()), changes).prop_map(|(text, changes)| {
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
    #[test]
    fn mutated_outputs_never_break_a_grammar(text in mutated()) {
        blocks(&text);
    }

    #[test]
    fn any_bytes_never_break_a_grammar(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let lines = lines(&text);
        for grammar in GRAMMARS {
            for at in 0..lines.len() {
                grammar.starts(&lines[at].text);
                if let Some(block) = grammar.read(&lines[at..]) {
                    check(&block, lines.len() - at);
                }
            }
        }
    }

    #[test]
    fn pieces_of_perf_never_break_a_grammar(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
    ) {
        let text: String = pieces.concat();
        let lines = lines(&text);
        for grammar in GRAMMARS {
            if let Some(block) = lines.first().and_then(|_| grammar.read(&lines)) {
                check(&block, lines.len());
            }
        }
    }
}

/// What outputs are made of.
const PIECES: &[&str] = &[
    "\n",
    "\n",
    " ",
    " ",
    "\u{a0}",
    "\u{202f}",
    "1",
    "0",
    "466",
    ",",
    ".",
    "1,234",
    "1.000123456",
    "cycles",
    "task-clock",
    "msec",
    "Joules",
    "#",
    "(",
    ")",
    "( +-",
    "1.24%",
    "%",
    "[",
    "seconds",
    "time",
    "elapsed",
    "user",
    "<not supported>",
    "<not counted>",
    "CPU0",
    "S0",
    ";",
    "|",
    "Performance counter stats for ",
    "'a'",
    "(3 runs)",
    ":",
    "{",
    "}",
    "\"counter-value\" : ",
    "\"event\" : \"cycles\"",
    "\"1.0\"",
    "-",
    "nan",
    "# started on x",
    "#  time  counts",
    "+-",
    "bash-12",
    "utilized",
    "\u{1f600}",
    "\t",
];
