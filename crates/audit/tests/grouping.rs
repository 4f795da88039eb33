//! How posts become runs of a configuration and a workload.

use crate::common::{records, records_as};
use assize_audit::Options;
use assize_bundle::Records;

/// `configuration/workload` of each run.
fn cells(records: &Records) -> Vec<String> {
    records
        .runs
        .iter()
        .map(|run| format!("{}/{}", run.configuration, run.workload))
        .collect()
}

fn perf(switches: u32) -> String {
    format!(
        "\n Performance counter stats for 'system wide':\n\n  {switches}  context-switches\n  12{switches}  instructions\n\n  1.5{switches} seconds time elapsed\n\n"
    )
}

#[test]
fn of_two_levels_of_headings_the_inner_one_is_the_configuration() {
    let post = format!(
        "hackbench:\n\nbase:\n{}patched:\n{}schbench:\n\nbase:\n{}patched:\n{}",
        perf(71),
        perf(72),
        perf(73),
        perf(74)
    );
    assert_eq!(
        cells(&records(&post)),
        [
            "base/hackbench",
            "patched/hackbench",
            "base/schbench",
            "patched/schbench"
        ]
    );
}

#[test]
fn unless_the_words_say_the_opposite() {
    let post = format!(
        "base:\n\nhackbench:\n{}schbench:\n{}patched:\n\nhackbench:\n{}schbench:\n{}",
        perf(71),
        perf(72),
        perf(73),
        perf(74)
    );
    assert_eq!(
        cells(&records(&post)),
        [
            "base/hackbench",
            "base/schbench",
            "patched/hackbench",
            "patched/schbench"
        ]
    );
}

#[test]
fn the_command_names_the_workload_and_equal_cells_are_repetitions() {
    let post = format!(
        "old:\n$ perf stat -a timeout 5 ./bench -x\n{}$ perf stat -a timeout 5 ./bench -x\n{}new:\n$ perf stat -a timeout 5 ./bench -x\n{}",
        perf(71),
        perf(72),
        perf(73)
    );
    let records = records(&post);
    assert_eq!(cells(&records), ["old/bench", "old/bench", "new/bench"]);
    assert_eq!(
        records
            .runs
            .iter()
            .map(|run| run.repetition)
            .collect::<Vec<_>>(),
        [1, 2, 1]
    );
}

#[test]
fn a_block_quoted_again_is_not_another_run() {
    let quoted: String = perf(71).lines().map(|line| format!("> {line}\n")).collect();
    let post = format!(
        "base:\n{}\nSomebody wrote:\n> base:\n{quoted}\npatched:\n{}",
        perf(71),
        perf(72)
    );
    assert_eq!(cells(&records(&post)).len(), 2);
    let twice = records(&format!("base:\n{}{}", perf(713), perf(713)));
    assert_eq!(cells(&twice).len(), 1, "pasted twice is one run");
    assert!(
        twice
            .doubts
            .iter()
            .any(|doubt| doubt.code == "duplicate-rows")
    );
}

#[test]
fn other_figures_of_a_quoted_cell_are_kept_apart() {
    let quoted: String = perf(99).lines().map(|line| format!("> {line}\n")).collect();
    let post = format!("> base:\n{quoted}\nbase:\n{}base:\n{}", perf(71), perf(72));
    let records = records(&post);
    let of = |name: &str| {
        records
            .runs
            .iter()
            .filter(|run| run.workload.contains(name))
            .count()
    };
    assert_eq!((of("quoted"), records.runs.len()), (1, 3));
    assert!(
        records
            .doubts
            .iter()
            .any(|doubt| doubt.code == "kept-apart")
    );
}

#[test]
fn frames_printed_by_the_program_are_part_of_the_run() {
    let post = "base:\n$ perf stat -a timeout 20 glxgears\n303 frames in 5.0 seconds = 60.5 FPS\n300 frames in 5.0 seconds = 60.1 FPS\n".to_string()
        + &perf(71);
    let records = records(&post);
    assert_eq!(records.runs.len(), 1);
    let fps = records.runs[0]
        .metrics
        .get("fps")
        .map(|m| m.value)
        .unwrap_or_default();
    assert!((fps - 60.3).abs() < 1e-9, "{:?}", records.runs[0].metrics);
}

#[test]
fn the_user_can_rename_and_ignore() {
    let post = format!("run A of it:\n{}run B of it:\n{}", perf(71), perf(72));
    let rule = |text: &str| assize_audit::parse_rule(text).unwrap();
    let options = Options {
        configurations: vec![rule("run A=base"), rule("run B=new")],
        workloads: vec![rule("of it=bench")],
        ignore: vec![assize_audit::parse_regex("instructions").unwrap()],
        ..Options::default()
    };
    let records = records_as(&post, &options);
    assert_eq!(cells(&records), ["base/bench", "new/bench"]);
    assert!(!records.runs[0].metrics.contains_key("instructions"));
}

#[test]
fn figures_in_a_patch_are_code() {
    let post = "@@ -1,2 +1,3 @@\n table\n-a  1.0  2.0\n+a  1.0  3.0\n+b  2.0  3.0\nend\n";
    let records = records(post);
    assert!(records.runs.is_empty() && records.doubts.is_empty());
}

#[test]
fn a_mean_of_no_runs_and_a_line_without_end_are_doubted() {
    let codes = |post: &str| -> Vec<String> {
        records(post)
            .doubts
            .iter()
            .map(|doubt| doubt.code.clone())
            .collect()
    };
    let none = " Performance counter stats for 'x' (0 runs):\n\n  12 cycles ( +- 1% )\n  13 instructions ( +- 1% )\n";
    assert_eq!(codes(none), ["bad-number", "bad-number"]);
    assert_eq!(
        codes(&"1,234 context-switches ".repeat(400_000)),
        ["long-line"]
    );
}

#[test]
fn a_mailbox_in_which_messages_quote_each_other_counts_each_block_once() {
    let quote = |text: &str| {
        text.lines()
            .map(|line| format!("> {line}\n"))
            .collect::<String>()
    };
    let head = |subject: &str| {
        format!(
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A <a@example.org>\nSubject: {subject}\nDate: Mon, 5 Jan 2026 10:00:00 +0000\n\n"
        )
    };
    let first = format!("base:\n{}patched:\n{}", perf(71), perf(72));
    let second = format!(
        "On Monday, A wrote:\n{}\nNice, and with the fix:\n\nfixed:\n{}",
        quote(&first),
        perf(73)
    );
    let third = format!("{}\nThanks.\n", quote(&second));
    let mbox = format!(
        "{}{first}\n\n{}{second}\n\n{}{third}\n",
        head("[PATCH] x"),
        head("Re: [PATCH] x"),
        head("Re: [PATCH] x")
    );
    let all = Options {
        judged: assize_audit::Judged::All,
        ..Options::default()
    };
    let records = records_as(&mbox, &all);
    assert_eq!(
        cells(&records),
        ["base/perf stat", "patched/perf stat", "fixed/perf stat"]
    );
}

#[test]
fn a_table_of_which_nothing_says_what_it_is_of_is_stated_only() {
    let read = records(&format!(
        "base:\n{}patched:\n{}By depth of the queue:\n\n\
         Alder Birch IOPS\n1   9046  8294\n2   19800 18900\n4   39200 28500\n",
        perf(71),
        perf(72)
    ));
    assert_eq!(read.runs.len(), 2, "{:?}", cells(&read));
    assert!(!read.statements.is_empty());
    assert!(read.doubts.iter().any(|doubt| doubt.code == "not-judged"));
}

#[test]
fn a_heading_above_a_fence_is_that_of_what_the_fence_holds() {
    for (open, close) in [
        ("```", "```"),
        ("```text", "```"),
        ("~~~", "~~~"),
        ("<pre>", "</pre>"),
    ] {
        let side = |name: &str, time: f64| {
            format!("{name}\n{open}\ncopy 64  time:   [1.1 ns {time} ns 9.3 ns]\n{close}\n\n")
        };
        let post = format!("{}{}", side("Before", 2.5), side("After", 2.25));
        assert_eq!(
            cells(&records(&post)),
            ["Before/copy 64", "After/copy 64"],
            "{open}"
        );
    }
}

#[test]
fn a_name_with_a_colon_below_another_line_is_a_heading_of_its_own() {
    let side = |name: &str, time: f64| {
        format!(
            "The last of four, as always\n{name}:\n\n{}\n",
            gobench(time)
        )
    };
    let post = format!(
        "{}{}",
        side("Before this change", 2.5),
        side("After this change", 2.25)
    );
    let found = cells(&records(&post));
    assert_eq!(
        found,
        ["Before this change/Copy-8", "After this change/Copy-8"]
    );
    let wrapped = format!(
        "We measured what becomes of it\nwith the patch:\n\n{}",
        gobench(2.5)
    );
    assert_eq!(
        cells(&records(&wrapped)),
        ["We measured what becomes of it with the patch/Copy-8"]
    );
}

#[test]
fn machines_that_the_text_names_are_not_pooled() {
    let machine = |name: &str, times: [f64; 2]| {
        let [before, after] = times.map(gobench);
        format!("{name}\n\nBefore:\n\n{before}\nAfter:\n\n{after}\n")
    };
    let two = |a: &str, b: &str| {
        let post = machine(a, [2.5, 2.25]) + &machine(b, [7.5, 7.25]);
        cells(&records(&post))
    };
    assert_eq!(
        two(
            "Host: a1 (96 X 1925 MHz CPU), 5.19",
            "Host: b2 (8 X 2800 MHz CPU), 5.15"
        ),
        [
            "Before/Copy-8 on a1",
            "After/Copy-8 on a1",
            "Before/Copy-8 on b2",
            "After/Copy-8 on b2"
        ]
    );
}

fn gobench(time: f64) -> String {
    format!("BenchmarkCopy-8   100   {time} ns/op\n")
}

#[test]
fn a_metric_that_is_printed_in_several_units_is_compared_in_one() {
    let line = |time: &str| format!("fill 4096               time:   [{time}]\n");
    let post = format!(
        "Without the table:\n\n{}\nWith the table:\n\n{}",
        line("1.2011 us 1.2034 us 1.2068 us"),
        line("871.20 ns 872.45 ns 874.01 ns")
    );
    let records = records(&post);
    let times: Vec<(f64, &str)> = records
        .runs
        .iter()
        .map(|run| (run.metrics["time"].value, run.metrics["time"].unit.as_str()))
        .collect();
    assert_eq!(times, [(1203.4, "ns"), (872.45, "ns")]);
}

#[test]
fn a_metric_of_two_workloads_is_kept_in_the_unit_of_each() {
    let post = "Without the table:\n\n\
        fill 4096               time:   [1.2011 us 1.2034 us 1.2068 us]\n\
        copy 4096               time:   [871.20 ns 872.45 ns 874.01 ns]\n\
        \nWith the table:\n\n\
        fill 4096               time:   [1.1011 us 1.1034 us 1.1068 us]\n\
        copy 4096               time:   [771.20 ns 772.45 ns 774.01 ns]\n";
    let records = records(post);
    let units: Vec<&str> = records
        .runs
        .iter()
        .map(|run| run.metrics["time"].unit.as_str())
        .collect();
    assert_eq!(units, ["us", "ns", "us", "ns"]);
}

#[test]
fn sections_between_marks_are_workloads_and_not_runs_of_one() {
    let section = |jobs: u32, before: f64, after: f64| {
        format!(
            "    **** {jobs} jobs, fsync ****\n\nbefore this change:\n\n\
             WRITE: bw={before}MiB/s (30MB/s), io=1024MiB (1074MB), run=43000-43000msec\n\n\
             after this change:\n\n\
             WRITE: bw={after}MiB/s (30MB/s), io=1024MiB (1074MB), run=41000-41000msec\n\
             (+2.5% throughput)\n\n"
        )
    };
    let post = format!(
        "fio gave these results:\n\n{}{}{}",
        section(1, 23.8, 24.4),
        section(2, 37.7, 37.9),
        section(4, 67.5, 68.6)
    );
    let records = records(&post);
    assert_eq!(records.workloads.len(), 3, "{:?}", records.workloads);
    assert_eq!(records.runs.len(), 6);
}

#[test]
fn numbers_in_a_row_below_headings_are_runs_of_what_the_headings_name() {
    let post = |rows: [&str; 2]| {
        let [base, patched] = rows;
        format!("I ran it four times.\n\nbase:\n\n{base}\n\nwith the patch:\n\n{patched}\n")
    };
    let judged = |rows| {
        let records = records(&post(rows));
        let runs = records.runs.iter();
        runs.map(|run| (run.configuration.clone(), run.metrics["time"].value))
            .collect::<Vec<_>>()
    };
    let rows = [
        "time: 1.21s 1.25s 1.19s 1.22s",
        "time: 1.11s 1.15s 1.09s 1.12s",
    ];
    let runs = judged(rows);
    assert_eq!((runs.len(), runs[4].1), (8, 1.11));
    assert_eq!(
        (runs[0].0.as_str(), runs[4].0.as_str()),
        ("base", "with the patch")
    );
    // Which row was run first is not seen.
    assert!(records(&post(rows)).order_unknown);
    for rows in [
        // Per CPU, per quantile, of two things, with what it was not measured for.
        ["time: 3 1 2 0", "time: 3 1 2 1"],
        ["time: 1.1s 1.2s 1.3s", "time: 1.2s 1.1s 1.4s"],
        [
            "time: 1.2s 1.1s 1.3s\ntime: 4.2s 4.1s 4.3s",
            "time: 1.2s 1.1s 1.3s",
        ],
        ["time: 1.2s 1.1s 1.3s", "speed: 1.2s 1.1s 1.3s"],
    ] {
        assert_eq!(judged(rows), [], "{rows:?}");
    }
    // Below one heading, or below names of machines, it is text.
    let alone = records("base:\n\ntime: 1.21s 1.25s 1.19s 1.22s\n");
    assert!(alone.runs.is_empty() && alone.statements.is_empty());
    let machines = post(rows)
        .replace("base", "first boot")
        .replace("with the patch", "next boot");
    assert!(records(&machines).runs.is_empty());
}

#[test]
fn reports_below_one_heading_that_differ_by_far_are_not_pooled() {
    let post = |runs: [u32; 4]| {
        let [a, b, c, d] = runs.map(|iops| {
            format!("  read: IOPS={iops}, BW=63.3MiB/s (68.0MB/s)(1266MiB/20002msec)\n")
        });
        format!("Results of fio:\n\nWithout this commit:\n{a}{b}\nWith this commit:\n{c}{d}")
    };
    let workloads = |runs| records(&post(runs)).workloads.len();
    assert_eq!(workloads([1037, 795, 1073, 701]), 2);
    // Runs of one thing are about alike, or now the one is faster and now the other.
    assert_eq!(workloads([1037, 1012, 1073, 1042]), 1);
    assert_eq!(workloads([1037, 795, 801, 1073]), 1);
}
