//! No text makes a grammar panic, loop or break its promises.

use super::*;

const FIXTURES: [&str; 57] = [
    include_str!("../google_benchmark/runs.txt"),
    include_str!("../google_benchmark/repetitions.txt"),
    include_str!("../google_benchmark/aggregates.txt"),
    include_str!("../criterion/change.txt"),
    include_str!("../jmh/parameters.txt"),
    include_str!("../hyperfine/two-commands.txt"),
    include_str!("../hyperfine/two-commands.md"),
    include_str!("../hyperfine/two-commands.csv"),
    include_str!("../hyperfine/two-commands.json"),
    include_str!("../hyperfine/single-run.txt"),
    include_str!("../hyperfine/failing-command.txt"),
    include_str!("../hyperfine/failing-command.json"),
    include_str!("../hyperfine/outliers-and-parameters.txt"),
    include_str!("../hyperfine/too-short.txt"),
    include_str!("../hyperfine/parameters.csv"),
    include_str!("../benchstat/new-layout.txt"),
    include_str!("../benchstat/new-layout-too-few.txt"),
    include_str!("../benchstat/new-layout-three-files.txt"),
    include_str!("../benchstat/old-layout.txt"),
    include_str!("../benchstat/old-layout-three-files.txt"),
    include_str!("../benchstat/go-test.txt"),
    include_str!("../ministat/two-sets.txt"),
    include_str!("../ministat/three-sets.txt"),
    include_str!("../turbostat/intervals-with-cpus.txt"),
    include_str!("../turbostat/summary-only.txt"),
    include_str!("../turbostat/wrapped-by-mailer.txt"),
    include_str!("../turbostat/old-version-blank-places.txt"),
    include_str!("../powertop/old-page.txt"),
    include_str!("../powertop/old-page-decimal-comma.txt"),
    include_str!("../powertop/idle-stats.txt"),
    include_str!("../lkp/two-jobs.txt"),
    include_str!("../posted/function-graph.txt"),
    include_str!("../posted/lists.txt"),
    include_str!("../posted/startup.txt"),
    include_str!("../benchmarks/fio.txt"),
    include_str!("../benchmarks/fio-lines.txt"),
    include_str!("../benchmarks/fio.json"),
    include_str!("../benchmarks/fio-terse.txt"),
    include_str!("../benchmarks/dbench.txt"),
    include_str!("../benchmarks/perf-report.txt"),
    include_str!("../benchmarks/perf-report-children.txt"),
    include_str!("../benchmarks/stress-ng.txt"),
    include_str!("../benchmarks/stress-ng-brief.txt"),
    include_str!("../benchmarks/times.txt"),
    include_str!("../benchmarks/network.txt"),
    include_str!("../benchmarks/suites.txt"),
    include_str!("../posted/spreads.txt"),
    "Before: map: 2.88s 2.91s 2.85s\nAfter: map: 0.31s 0.30s 0.33s\n",
    "off: 40.3s = avg(40.6 39.3\n 41.0)\non: 38.8s = avg(38.6 39.1 38.7)\n",
    "Minimum      90th\nLatency      Percentile\nMicroseconds Latency\n             Microseconds\n134          279\n",
    "+---+---+\n| a | b |\n+---+---+\n| x | 1 |\n| y | (+2%) |\n+---+---+\n| z | 3 |\n+---+---+\n",
    "|  |  | of b |\n| t | a | 1 | 2 |\n|--|--|--|--|\n| x |  |  |  |\n| 4 | 5 | 6 | 7 |\n| 8 | 5 | 6 | 7 |\n",
    "Old:\n Duration: 0:01:19\n Rate: 4.5 MB/s\nNew:\n Duration: 0:01:24\n Rate: 3.5 MB/s\n",
    "files=8, before the series: 27 ms\nfiles=8, after it: 9 ms (-66.7%)\n",
    "before: 3.77s user 890.90s system 1939% cpu 46.118 total\n0.1u 0.2s 0:01.30 26.9%\n",
    "rtt min/avg/max/mdev = 0.03/0.04/0.05/0.01 ms\n",
    "dropped from 63 seconds\ndown to 50 seconds, a 0.9%\nspeedup by a factor of 1.5\n",
];

/// Changes that mailers, editors and people make to pasted text.
fn mutate(text: &str, edits: &[(u16, u8, char)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for &(place, kind, c) in edits {
        if chars.is_empty() {
            break;
        }
        let at = usize::from(place) % chars.len();
        match kind % 6 {
            0 => chars[at] = c,
            1 => chars.insert(at, c),
            2 => drop(chars.remove(at)),
            3 => chars[at] = '\n',
            4 => chars.truncate(at),
            _ => {
                let to = (at + 40).min(chars.len());
                let copy = chars[at..to].to_vec();
                chars.splice(at..at, copy);
            }
        }
    }
    chars.into_iter().collect()
}

fn edits() -> impl Strategy<Value = Vec<(u16, u8, char)>> {
    let special = proptest::sample::select(
        "0179.,%±…│|µ¹σ-+*x{}[]\"\\:()/ \t\n"
            .chars()
            .collect::<Vec<_>>(),
    );
    proptest::collection::vec(
        (
            any::<u16>(),
            any::<u8>(),
            prop_oneof![special, any::<char>()],
        ),
        0..12,
    )
}

/// The formats' own words in any order.
fn words() -> impl Strategy<Value = String> {
    let words: Vec<&'static str> = FIXTURES
        .iter()
        .flat_map(|f| f.split_inclusive([' ', '\t', '\n']))
        .collect();
    proptest::collection::vec(proptest::sample::select(words), 0..200).prop_map(|w| w.concat())
}

/// The formats' own lines in any order.
fn lines() -> impl Strategy<Value = String> {
    let lines: Vec<&'static str> = FIXTURES
        .iter()
        .flat_map(|f| f.split_inclusive('\n'))
        .collect();
    proptest::collection::vec(proptest::sample::select(lines), 0..60).prop_map(|l| l.concat())
}

proptest! {
    #[test]
    fn random_text_is_survived(text in "(?s).{0,400}") {
        read(&text);
    }

    #[test]
    fn mutated_output_is_survived(fixture in 0..FIXTURES.len(), edits in edits()) {
        read(&mutate(FIXTURES[fixture], &edits));
    }

    #[test]
    fn shuffled_words_are_survived(text in words()) {
        read(&text);
    }

    #[test]
    fn shuffled_lines_are_survived(text in lines()) {
        read(&text);
    }
}

#[test]
fn every_grammar_survives_every_line_of_every_format() {
    for text in FIXTURES {
        let lines: Vec<Line<'_>> = (1..)
            .zip(text.lines())
            .map(|(n, t)| Line::plain(n, t))
            .collect();
        for at in 0..lines.len() {
            for grammar in all() {
                if let Some(block) = grammar.read(&lines[at..]) {
                    assert!((1..=lines.len() - at).contains(&block.taken.len()));
                    assert!(block.findings.iter().all(|(i, _)| *i < block.taken.len()));
                }
            }
        }
    }
}

#[test]
fn a_block_ends_with_its_message() {
    let text = include_str!("../ministat/two-sets.txt");
    let mut lines: Vec<Line<'_>> = (1..)
        .zip(text.lines())
        .map(|(n, t)| Line::plain(n, t))
        .collect();
    let rows = lines.len() - 5;
    lines[rows].place.message = 2;
    let block = all()
        .iter()
        .filter(|g| g.starts(&lines[0].text))
        .find_map(|g| g.read(&lines));
    assert_eq!(block.unwrap().taken.len(), rows);
}

#[test]
fn a_rate_that_stands_twice_in_a_report_is_one_figure() {
    read(&mutate(
        include_str!("../benchmarks/suites.txt"),
        &[(0, 1, '0'), (27971, 5, '0')],
    ));
}

/// A heading that is gone, that lost its first word or its line's end must not
/// leave a figure without what it is counted against.
#[test]
fn the_loss_of_any_line_first_word_or_line_end_is_survived() {
    for text in FIXTURES {
        let lines: Vec<&str> = text.split_inclusive('\n').take(120).collect();
        for (at, line) in lines.iter().enumerate() {
            let beheaded = line.trim_start().split_once(' ').map_or("\n", |(_, w)| w);
            let joined = format!("{} ", line.trim_end());
            for kept in ["", beheaded, &joined] {
                read(&[&lines[..at].concat(), kept, &lines[at + 1..].concat()].concat());
            }
        }
    }
}
