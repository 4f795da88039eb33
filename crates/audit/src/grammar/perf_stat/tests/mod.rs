//! What the four grammars claim to read.

mod rows;

use assize_bundle::Spread;

use super::*;
use crate::grammar::{Figure, Finding, Labels};

/// Lines with their quote depth taken from leading `>`.
fn quoted(text: &str) -> Vec<Line<'_>> {
    text.lines()
        .zip(1..)
        .map(|(text, number)| {
            let mut rest = text;
            let mut depth = 0;
            while let Some(inner) = rest.strip_prefix('>') {
                rest = inner.strip_prefix(' ').unwrap_or(inner);
                depth += 1;
            }
            Line {
                depth,
                ..Line::plain(number, rest.trim_end())
            }
        })
        .collect()
}

fn read(grammar: &dyn Grammar, text: &str) -> Option<Block> {
    let lines = quoted(text);
    if !grammar.starts(&lines.first()?.text) {
        return None;
    }
    grammar.read(&lines)
}

fn text(text: &str) -> Block {
    read(&PerfStat, text).expect("a block")
}

/// `metric=value unit` of all runs, one string a run.
fn runs(block: &Block) -> Vec<String> {
    let run = |(_, finding): &(usize, Finding)| match finding {
        Finding::Run { figures, .. } => {
            let one = |f: &Figure| format!("{}={} {}", f.metric, f.value, f.unit);
            let all: Vec<_> = figures.iter().map(one).collect();
            Some(all.join("; ").replace(" ;", ";").trim_end().to_owned())
        }
        _ => None,
    };
    block.findings.iter().filter_map(run).collect()
}

fn doubts(block: &Block) -> Vec<(usize, &'static str)> {
    let doubt = |(at, finding): &(usize, Finding)| match finding {
        Finding::Doubt(code, _) => Some((*at, *code)),
        _ => None,
    };
    block.findings.iter().filter_map(doubt).collect()
}

fn summaries(block: &Block) -> Vec<(String, f64, Option<Spread>, Option<u32>)> {
    let summary = |(_, finding): &(usize, Finding)| match finding {
        Finding::Summary {
            figure, spread, n, ..
        } => Some((figure.metric.clone(), figure.value, *spread, *n)),
        _ => None,
    };
    block.findings.iter().filter_map(summary).collect()
}

fn unsupported(block: &Block) -> Vec<(&str, &str)> {
    let missing = |finding: &'_ Finding| matches!(finding, Finding::Unsupported { .. });
    block
        .findings
        .iter()
        .filter(|(_, finding)| missing(finding))
        .map(|(_, finding)| match finding {
            Finding::Unsupported { metric, reason, .. } => (metric.as_str(), reason.as_str()),
            _ => ("", ""),
        })
        .collect()
}

#[test]
fn a_block_survives_an_archive_that_strips_leading_blanks() {
    let block = text(
        "Performance counter stats for 'system wide':\n\n71,548 context-switches\n\
         320,440.96 msec task-clock\n<not supported> cpu_atom/instructions/\n\
         168.76 Joules power/energy-pkg/\n\n20.029126614 seconds time elapsed\n\nroot@box:~#",
    );
    assert_eq!(
        runs(&block),
        ["context-switches=71548; task-clock=320440.96 msec; \
          power/energy-pkg/=168.76 Joules; elapsed=20.029126614 s"]
    );
    assert_eq!(
        unsupported(&block),
        [("cpu_atom/instructions/", "not supported")]
    );
    assert_eq!(block.taken.len(), 8);
    assert_eq!(block.taken[0], "perf stat header");
    assert_eq!(block.taken[4], "perf stat unsupported counter");
    assert_eq!(block.taken[7], "perf stat elapsed");
}

#[test]
fn a_quoted_block_without_its_header_is_recognised() {
    let block = text(
        "> > 8,449 context-switches\n> > 412 cpu-migrations\n> > 2,531.43 msec task-clock\n\
         > >\n> > With the other setting:\n",
    );
    assert_eq!(
        runs(&block),
        ["context-switches=8449; cpu-migrations=412; task-clock=2531.43 msec"]
    );
    assert_eq!(block.taken.len(), 3);
    assert!(doubts(&block).is_empty());
}

#[test]
fn prose_with_numbers_is_not_a_block() {
    for prose in [
        "3 patches\n12 bytes",
        "3 cycles\n2 instructions",
        "8,449 context-switches\nThat is a lot.",
        "8,449 context-switches per second\n412 cpu-migrations per second",
        "12 foo_bar\n13 bar_baz",
        "12 drivers/gpu/\n13 arch/x86/",
        "10 files changed, 30 insertions(+)\n",
        "2024 was fine\n1.2.3 is out",
        "Performance counter stats for both:\n1,234 cycles",
        "1,234 cycles\n> 5,678 instructions",
    ] {
        assert_eq!(read(&PerfStat, prose), None, "{prose}");
    }
}

#[test]
fn an_elapsed_line_alone_is_enough() {
    let block = text("  1.234 seconds time elapsed\n  0.5 seconds user\n\nand more");
    assert_eq!(runs(&block), ["elapsed=1.234 s; user=0.5 s"]);
}

#[test]
fn two_blocks_without_headers_are_two_runs() {
    let input =
        "1,234,567 cycles\n5,678 context-switches\n\n2,234,567 cycles\n6,678 context-switches";
    let block = text(input);
    assert_eq!(block.taken.len(), 2);
    assert_eq!(runs(&block), ["cycles=1234567; context-switches=5678"]);
}

#[test]
fn repeated_runs_give_means_with_standard_errors() {
    let block = text(
        " Performance counter stats for './rt' (10 runs):\n\n  52.67 Joules power/energy-cores/  \
         ( +-  1.24% )\n  3 cpu-migrations\n\n  34.922801 +- 0.000736 seconds time elapsed \
         ( +-  0.00% )\n",
    );
    let error = |value| Some(Spread::StandardError(value));
    assert_eq!(
        summaries(&block),
        [
            (
                "power/energy-cores/".into(),
                52.67,
                error(52.67 * 1.24 / 100.0),
                Some(10)
            ),
            ("cpu-migrations".into(), 3.0, None, Some(10)),
            ("elapsed".into(), 34.922801, error(0.000736), Some(10)),
        ]
    );
    let Finding::Summary { labels, .. } = &block.findings[0].1 else {
        panic!("{block:?}");
    };
    assert_eq!(labels.workload.as_deref(), Some("./rt"));
}

#[test]
fn an_uncertainty_printed_as_zero_is_half_a_unit_of_its_last_digit() {
    let error = |value| Some(Spread::StandardError(value));
    let post = " Performance counter stats for './rt' (5 runs):\n\n  1,000,000 cycles ( +- 0.00% )\n  \
                2,000,000 instructions ( +- 0.01% )\n\n  3.500000 +- 0.000000 seconds time elapsed \
                ( +-  0.00% )\n";
    let found = |block: Block| -> Vec<_> {
        let of = |(metric, _, spread, _)| (metric, spread);
        summaries(&block).into_iter().map(of).collect()
    };
    assert_eq!(
        found(text(post)),
        [
            ("cycles".to_owned(), error(1_000_000.0 * 0.005 / 100.0)),
            // Nothing is added to what was printed.
            ("instructions".to_owned(), error(2_000_000.0 * 0.01 / 100.0)),
            ("elapsed".to_owned(), error(0.000_000_5)),
        ]
    );
    // With a decimal comma, for other programs, and as JSON.
    let comma =
        " Performance counter stats for './rt' (5 runs):\n\n  1.000.000 cycles ( +- 0,00% )\n";
    let fields = "1000000,,cycles,0.00%,1000,100.00,,\n2000000,,instructions,0.01%,1000,100.00,,\n";
    let json = "{\"counter-value\" : \"1000000.000000\", \"unit\" : \"\", \"event\" : \"cycles\", \
                \"variance\" : 0.00, \"event-runtime\" : 1000, \"pcnt-running\" : 100.00}\n";
    for block in [
        read(&PerfStat, comma),
        read(&PerfStatCsv, fields),
        read(&PerfStatJson, json),
    ] {
        let found = found(block.expect("a block"));
        let cycles = ("cycles".to_owned(), error(1_000_000.0 * 0.005 / 100.0));
        assert_eq!(found[0], cycles);
    }
}

#[test]
fn a_lost_number_of_runs_stays_unknown() {
    let block = text("1,000 cycles ( +- 5.00% )\n2,000 instructions ( +- 1.00% )");
    let error = |value| Some(Spread::StandardError(value));
    assert_eq!(
        summaries(&block),
        [
            ("cycles".into(), 1000.0, error(50.0), None),
            ("instructions".into(), 2000.0, error(20.0), None),
        ]
    );
}

#[test]
fn shared_counters_are_doubted_once() {
    let block = text(
        "Performance counter stats for 'a':\n 1,000 cycles  (83.31%)\n 2,000 instructions # 2.00 \
         insn per cycle  (66.10%)\n 5 branches  [100.00%]\n 1.0 seconds time elapsed",
    );
    assert_eq!(doubts(&block), [(1, "multiplexed-counter")]);
    let Finding::Doubt(_, sentence) = &block.findings[1].1 else {
        panic!("{block:?}");
    };
    assert!(
        sentence.contains("66.1 %") && sentence.contains("cycles, instructions"),
        "{sentence}"
    );
    assert!(!sentence.contains("branches"));
}

#[test]
fn bad_numbers_are_doubted_and_not_used() {
    let block = text(
        "Performance counter stats for 'a':\n 1,2,3 context-switches\n nan Joules power/energy-pkg/\n \
         -12.3 Joules power/energy-cores/\n 12abc cycles\n 5 branches\n 1.0 seconds time elapsed",
    );
    assert_eq!(
        doubts(&block),
        [
            (1, "bad-number"),
            (2, "bad-number"),
            (3, "bad-number"),
            (4, "bad-number")
        ]
    );
    assert_eq!(runs(&block), ["branches=5; elapsed=1 s"]);
}

#[test]
fn a_counter_that_lost_its_value_is_doubted() {
    let block =
        text("Performance counter stats for 'a':\n 5 branches\n cycles\n 1.0 seconds time elapsed");
    assert_eq!(doubts(&block), [(2, "bad-number")]);
    assert_eq!(runs(&block), ["branches=5; elapsed=1 s"]);
}

#[test]
fn a_header_without_counters_is_a_truncated_block() {
    for input in [
        " Performance counter stats for 'a b c':",
        " Performance counter stats for 'a b c':\n\n[...]\n",
        " Performance counter stats for 'a b c':\n\n Performance counter stats for 'd':\n 5 cycles",
    ] {
        let block = text(input);
        assert_eq!(doubts(&block), [(0, "truncated-block")], "{input}");
        assert_eq!(block.taken.len(), 1, "{input}");
    }
}

#[test]
fn the_elapsed_time_decides_the_locale() {
    let block = text(
        "Performance counter stats for 'a':\n 1.466 cpu-migrations\n 320.440,96 msec task-clock\n\n \
         20,029126614 seconds time elapsed",
    );
    assert_eq!(
        runs(&block),
        ["cpu-migrations=1466; task-clock=320440.96 msec; elapsed=20.029126614 s"]
    );
    assert!(doubts(&block).is_empty());
}

#[test]
fn a_value_that_reads_both_ways_is_doubted() {
    let block = text("Performance counter stats for 'a':\n 12 cycles\n 1.466 cpu-migrations");
    assert_eq!(doubts(&block), [(2, "locale-ambiguous")]);
    assert_eq!(runs(&block), ["cycles=12; cpu-migrations=1.466"]);
    let block = text("Performance counter stats for 'a':\n 12 cycles\n 1,466 cpu-migrations");
    assert!(doubts(&block).is_empty(), "a count has no fraction");
    assert_eq!(runs(&block), ["cycles=12; cpu-migrations=1466"]);
}

#[test]
fn groups_may_be_parted_by_blanks_or_not_at_all() {
    let block = text(
        "Performance counter stats for 'a':\n 1\u{202f}466 cpu-migrations\n 2 466 page-faults\n \
         320\u{a0}440,96 msec task-clock\n 20,029126614 seconds time elapsed",
    );
    assert_eq!(
        runs(&block),
        [
            "cpu-migrations=1466; page-faults=2466; task-clock=320440.96 msec; elapsed=20.029126614 s"
        ]
    );
    let block = text("Performance counter stats for 'a':\n 320440.96 msec task-clock\n 123456 cs");
    assert_eq!(runs(&block), ["task-clock=320440.96 msec; cs=123456"]);
}

#[test]
fn lines_wrapped_by_mailers_are_joined_even_at_a_smaller_depth() {
    let block = text(
        ">  Performance counter stats for 'a very long\n> command line' (5\nruns):\n>\n\
         >       0.83 msec task-clock       #    0.016 CPUs utilized\n( +-  5.53% )\n\
         >      9,140 cpu_core/cycles/      #    1.000\nGHz    ( +-  1.00% )\n\
         >      9,140,249,815\ncpu_atom/cycles/  ( +-  2.00% )\n>\n\
         >   0.0513891 +- 0.0000266 seconds time\n> elapsed  ( +-  0.05% )\n",
    );
    let got: Vec<_> = summaries(&block).into_iter().map(|s| (s.0, s.3)).collect();
    let names = [
        "task-clock",
        "cpu_core/cycles/",
        "cpu_atom/cycles/",
        "elapsed",
    ];
    assert_eq!(got, names.map(|name| (name.to_owned(), Some(5))));
    assert!(summaries(&block).iter().all(|s| s.2.is_some()));
    assert_eq!(block.taken.len(), 13);
    assert!(doubts(&block).is_empty());
}

#[test]
fn derived_figures_are_taken_but_give_nothing() {
    let block = text(
        "Performance counter stats for 'a':\n\n   1,234,567 cycles  # 3.0 GHz  (80.00%)\n   \
         2,345,678 instructions  #  1.90  insn per cycle\n             #  0.12  stalled cycles per \
         insn  (79.00%)\n      TopdownL1 (cpu_core)  #  23.4 %  tma_retiring\n         #  12.34% \
         frontend cycles idle\n\n  1.5 seconds time elapsed\n",
    );
    assert_eq!(
        runs(&block),
        ["cycles=1234567; instructions=2345678; elapsed=1.5 s"]
    );
    assert_eq!(block.taken.len(), 9);
    let Finding::Doubt(_, sentence) = &block.findings[1].1 else {
        panic!("{block:?}");
    };
    assert!(sentence.contains("79 %"), "{sentence}");
}

#[test]
fn a_metric_only_table_belongs_to_its_block() {
    let block = text(
        "Performance counter stats for 'system wide':\n\n  insn per cycle  branch-misses of all \
         branches\n            0.51   2.51%\n\n  1.001 seconds time elapsed\n",
    );
    assert_eq!(runs(&block), ["elapsed=1.001 s"]);
    assert_eq!(block.taken.len(), 6);
    assert!(doubts(&block).is_empty());
}

#[test]
fn counters_with_any_name_are_read_below_a_header() {
    let block = text(
        "Performance counter stats for 'a':\n 12 my_own_name\n 5 foo\n 7 r01c2\n 8 sched:sched_switch\n \
         9 cpu/event=0x3c,umask=0x0/u\n 1.23 MiB  uncore_imc/data_reads/\n 1.5 task-clock (msec)\n",
    );
    assert_eq!(
        runs(&block),
        [
            "my_own_name=12; foo=5; r01c2=7; sched:sched_switch=8; cpu/event=0x3c,umask=0x0/u=9; \
          uncore_imc/data_reads/=1.23 MiB; task-clock=1.5 msec"
        ]
    );
}

#[test]
fn prose_below_a_block_is_left_alone() {
    let block = text("Performance counter stats for 'a':\n\n 12 cycles\n\n3 patches\n");
    assert_eq!(block.taken.len(), 3);
    let block = text(
        "Performance counter stats for 'a':\n\n 12 cycles\n\n 1.5 seconds time elapsed\n\n\
         13 cycles\n",
    );
    assert_eq!(block.taken.len(), 5);
}

#[test]
fn most_lines_of_a_mailbox_start_nothing() {
    let all: [&dyn Grammar; 4] = [&PerfStat, &PerfStatInterval, &PerfStatCsv, &PerfStatJson];
    for line in [
        "",
        "   ",
        "Signed-off-by: A",
        "diff --git a/x b/x",
        "@@ -1,2 +3,4 @@",
        "+\tint x;",
        "-- ",
        "12:30 noon",
        "50% of it",
        "1) first",
        "{",
        "}",
        "Subject: x",
        "CPUs are fast",
        "No.",
        "# comment",
        "<foo@bar>",
        "Date: 1",
        "12/34",
        "1.",
        "/* x */",
    ] {
        let started: Vec<_> = all
            .iter()
            .filter(|g| g.starts(line))
            .map(|g| g.name())
            .collect();
        assert_eq!(started, [""; 0], "{line}");
    }
}

#[test]
fn huge_lines_are_left_alone_quickly() {
    let all: [&dyn Grammar; 4] = [&PerfStat, &PerfStatInterval, &PerfStatCsv, &PerfStatJson];
    for unit in [
        "1,", "1 ", "( +- ", "# ", "{\"cpu\"", "<not ", "1;", "cycles ", "'", "\u{a0}1",
    ] {
        let huge = unit.repeat(2_000_000);
        for prefix in [
            "",
            "1 cycles ",
            "Performance counter stats for '",
            "1.000000001 ",
            "{\"cpu\":",
        ] {
            let line = format!("{prefix}{huge}");
            let lines = [Line::plain(1, &line), Line::plain(2, &huge)];
            for grammar in all {
                grammar.starts(&line);
                grammar.read(&lines);
            }
        }
    }
}

#[test]
fn labels_name_only_commands() {
    let block = text("Performance counter stats for 'CPU(s) 0-3':\n 12 cycles");
    let Finding::Run { labels, .. } = &block.findings[0].1 else {
        panic!("{block:?}");
    };
    assert_eq!(*labels, Labels::default());
}

#[test]
fn the_words_of_newer_perfs_are_taken_along() {
    let block = text(
        " Performance counter stats for 'sleep 1':\n\n          1      context-switches      #   \
         1234.5 cs/sec  cs_per_second\n       0.95 msec task-clock      #      0.0 CPUs  \
         CPUs_utilized\n      4,832      branch-misses   #      2.4 %  branch_miss_rate         \
         (50.10%)\n                TopdownL1       #     23.4 %  tma_backend_bound\n               \
         #     11.3 %  tma_bad_speculation\n\n       1.001234567 seconds time elapsed\n\nSome \
         events weren't counted. Try disabling the NMI watchdog:\n\techo 0 > \
         /proc/sys/kernel/nmi_watchdog\n\tperf stat ...\n\techo 1 > \
         /proc/sys/kernel/nmi_watchdog\n\nThanks\n",
    );
    assert_eq!(
        runs(&block),
        ["context-switches=1; task-clock=0.95 msec; branch-misses=4832; elapsed=1.001234567 s"]
    );
    assert_eq!(block.taken.len(), 14);
    assert_eq!(doubts(&block), [(4, "multiplexed-counter")]);
}

#[test]
fn a_remark_behind_a_counter_does_not_end_a_block_with_a_header() {
    let block = text(
        "Performance counter stats for 'a':\n 12,345 cycles   <-- twice as many\n 5 branches (was \
         9)\n 1.0 seconds time elapsed",
    );
    assert_eq!(runs(&block), ["cycles=12345; branches=5; elapsed=1 s"]);
}

#[test]
fn an_answer_between_quoted_counters_ends_the_block() {
    let block = text(
        "> Performance counter stats for 'a':\n> 12,345 cycles\nThat is mine:\n12,345 branches\n",
    );
    assert_eq!(block.taken.len(), 2);
    let block = text("> 12,345 cycles\n> 2,345 page-faults\n11,345 cycles\n2,300 page-faults\n");
    assert_eq!(block.taken.len(), 2);
}

#[test]
fn a_heading_with_a_number_is_left_to_the_next_block() {
    let block =
        text("Performance counter stats for 'a':\n 12,345 cycles\n\n# 8 threads\n\n 5 branches\n");
    assert_eq!(block.taken.len(), 2);
    let block = text("1.0 seconds time elapsed\n\n# 8.5 percent more\n");
    assert_eq!(block.taken.len(), 1);
}

#[test]
fn counters_are_never_taken_for_a_metric_only_table() {
    let block = text(
        "Performance counter stats for 'a':\n\nhello\n 12,345 cycles\n 5 branches\n\n 1.0 \
         seconds time elapsed\n",
    );
    assert_eq!(doubts(&block), [(0, "truncated-block")]);
    assert_eq!(block.taken.len(), 1);
}
