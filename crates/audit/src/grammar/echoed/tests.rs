use super::*;
use crate::grammar::testing::{self, placed};

fn values(text: &str) -> Vec<(String, f64)> {
    let all = placed(&Echoed, text).into_iter();
    all.map(|(name, _, value)| (name, value)).collect()
}

fn told(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
    let own = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
    pairs.iter().map(own).collect()
}

#[test]
fn the_same_words_below_two_headings_are_one_thing() {
    let text = "Before:\n\n  I0604 11:26:31.217825 19719 rows.cc:385] Time spent filling: real 5.831s user 5.536s\n\
                \n  rows/sec: 41060\n\nAfter:\n\n\
                I0604 11:27:31.3 20760 rows.cc:385] Time spent filling: real 4.865s   user 4.585s\n\
                \n  rows/sec: 45143\n\nThis is for 3 tables.\n";
    assert_eq!(
        values(text),
        told(&[
            ("Before", 5.831),
            ("Before", 5.536),
            ("Before", 41060.0),
            ("After", 4.865),
            ("After", 4.585),
            ("After", 45143.0),
        ])
    );
}

#[test]
fn a_number_that_parts_the_lines_in_the_same_way_is_a_name() {
    let text = "Without the patch:\nscan with 10 deletes: 0.515 s\nscan with 1000 deletes: 0.753 s\n\
                With the patch:\nscan with 10 deletes: 0.510 s\nscan with 1000 deletes: 0.553 s\n";
    let all = placed(&Echoed, text);
    let metrics: Vec<&str> = all.iter().map(|(_, metric, _)| metric.as_str()).collect();
    assert_eq!(metrics[0], metrics[2]);
    assert_ne!(metrics[0], metrics[1]);
    assert_eq!(
        values(text),
        told(&[
            ("Without the patch", 0.515),
            ("Without the patch", 0.753),
            ("With the patch", 0.51),
            ("With the patch", 0.553),
        ])
    );
}

#[test]
fn lines_that_come_again_below_one_heading_are_samples_of_one_run() {
    let text = "master\n\n10.0 tps (60.5 allocs/op)\n14.0 tps (60.5 allocs/op)\n\npatched\n\n\
                20.0 tps (59.5 allocs/op)\n22.0 tps (59.5 allocs/op)\n";
    assert_eq!(
        values(text),
        told(&[
            ("master", 12.0),
            ("master", 60.5),
            ("patched", 21.0),
            ("patched", 59.5),
        ])
    );
}

#[test]
fn names_before_the_same_words_are_configurations() {
    let text = "before 165080.6 tps (60.3 allocs/op)\n\nafter  171513.8 tps (59.3 allocs/op)\n";
    assert_eq!(
        values(text),
        told(&[
            ("before", 165_080.6),
            ("before", 60.3),
            ("after", 171_513.8),
            ("after", 59.3),
        ])
    );
}

#[test]
fn what_is_not_echoed_or_not_measured_is_left() {
    for text in [
        // Other words below the second heading.
        "Before:\n  time: 5.8 s\n  depth: 3.5 m\nAfter:\n  the queue waits for 4.8 s\n",
        // Headings of two workloads.
        "reads:\n  12.5 ms\nwrites:\n  13.5 ms\n",
        // Nothing but settings that never differ.
        "Before:\n  limit 12 of 30\nAfter:\n  limit 12 of 30\n",
        // What was computed from two figures.
        "Before:\n  exp: 2.3x faster\nAfter:\n  exp: 3.3x faster\n",
        // Settings of two machines.
        "Kernel: linux 3.4\n  speed: 20.1 MB/s\nKernel: linux 3.7\n  speed: 34.1 MB/s\n",
        // Code.
        "Before:\n  wait = 10;\nAfter:\n  wait = 20;\n",
        // Names of two workloads.
        "reads 12.5 ms (10 in flight)\nwrites 13.5 ms (11 in flight)\n",
        // A name of what was measured.
        "old time 12.5 ms\nmax latency 13.5 ms\n",
        // Words go on behind the number.
        "With it 12 ms are spent\nWithout it 13 ms are spent\n",
    ] {
        assert_eq!(values(text), [], "{text}");
    }
}

#[test]
fn a_sentence_above_lines_is_no_name_of_a_configuration() {
    let text = |first: &str, second: &str| {
        format!(
            "{first}:\n  filled: real 5.831s\n  read: real 0.531s\n{second}:\n  filled: real 4.865s\n  read: real 0.465s\n"
        )
    };
    for (first, second) in [
        ("Before the patch", "After the patch, on the same machine"),
        (
            "Before (with a cold cache, as in all that follows)",
            "After (with a cold cache, as in all that follows)",
        ),
    ] {
        assert_eq!(values(&text(first, second)).len(), 4, "{first}");
    }
    for (first, second) in [
        (
            "Before",
            "After it we see pauses whenever the writers begin",
        ),
        (
            "Without it the pauses go on as long as this says",
            "With it",
        ),
    ] {
        assert_eq!(values(&text(first, second)), [], "{first}");
    }
}

#[test]
fn what_another_format_reads_is_left_to_it() {
    let stat = |ms: &str| {
        format!(
            " Performance counter stats for './b' (5 runs):\n\n      {ms} msec task-clock    #    0.991 CPUs utilized\n\n   1.5 seconds time elapsed\n\n"
        )
    };
    let text = format!("Before:\n{}After:\n{}", stat("12.50"), stat("11.50"));
    assert_eq!(values(&text), []);
}

#[test]
fn numbers_with_units_of_any_form_are_figures() {
    let shape = |text: &'static str| {
        let fields = shape::of(text)
            .map(|shape| shape.fields)
            .unwrap_or_default();
        fields.iter().map(|f| (f.value, f.unit)).collect::<Vec<_>>()
    };
    assert_eq!(
        shape("async1: 11.95 sec (83,701/sec)"),
        [(11.95, "sec"), (83701.0, "/sec")]
    );
    assert_eq!(shape("took 16 min 25 s"), [(985.0, "s")]);
    assert_eq!(
        shape("for 1 hr 9 min 29 sec, 7 s"),
        [(4169.0, "s"), (7.0, "s")]
    );
    assert_eq!(shape("for 16 min and 25 s"), [(16.0, "min"), (25.0, "s")]);
    assert_eq!(shape("178829.07 +- 141.28 rows / sec"), [(178_829.07, "")]);
    assert_eq!(
        shape("runtime 6.30ns ± 0.12% (1 of 2)"),
        [(6.3, "ns"), (1.0, ""), (2.0, "")]
    );
    assert_eq!(shape("real 1m13.821s"), [(73.821, "s")]);
    assert_eq!(shape("lz4 1.9.x 3781 MB/s"), [(3781.0, "MB/s")]);
    assert_eq!(shape("p99 of async1, 4k blocks"), []);
    assert_eq!(shape("==4711== I refs: 1,752,149"), [(1_752_149.0, "")]);
    assert_eq!(shape("12:11:10 2024-01-31"), []);
}

#[test]
fn fractions_that_part_lines_are_names() {
    let text = "Before:\nquantile= 0.5 : 416 usec\nquantile= 0.99 : 618 usec\n\n\
                After:\nquantile= 0.5 : 316 usec\nquantile= 0.99 : 518 usec\n";
    assert_eq!(
        values(text),
        told(&[
            ("Before", 416.0),
            ("Before", 618.0),
            ("After", 316.0),
            ("After", 518.0),
        ])
    );
}

#[test]
fn what_never_differs_or_has_no_name_is_no_figure() {
    let text = "Before:\nraw size: 2594.1 MB\nwrite rate: 0 bytes/s\n154 (2) none 192417 B 42.199823 27.779 fps\n\
                After:\nraw size: 2594.1 MB\nwrite rate: 0 bytes/s\n170 (3) none 192417 B 43.199823 29.760 fps\n";
    assert_eq!(values(text), told(&[("Before", 27.779), ("After", 29.76)]));
}

#[test]
fn lines_behind_names_need_figures_with_names() {
    // One figure, which is read as a list if it is one.
    let text = "Before: 1406 usec per iteration\nAfter:   402 usec per iteration\n";
    assert_eq!(values(text), []);
    // Columns without names, and calls of a profile.
    for text in [
        "before  1.9s  16.4s  15.2s\nafter   1.9s   2.4s   1.1s\n",
        "Before: 197s and 198s\nAfter: 123s and 125s\n",
        "Before:\n  70.89%  0.69%  cma  [k] free_range\nAfter:\n  23.57%  0.00%  cma  [k] free_range\n",
    ] {
        assert_eq!(values(text), [], "{text}");
    }
}

#[test]
fn rows_with_a_number_for_a_name_are_told_apart_by_it() {
    let text = "Before:\n  15  0m0.177s\n  30  0m0.653s\n  117 0m8.552s\n\nAfter:\n  30  0m0.053s\n  117 0m0.125s\n";
    let all = placed(&Echoed, text);
    let of = |name: &str, row: &str| {
        let mut found = all
            .iter()
            .filter(|(n, metric, _)| n == name && metric.ends_with(row));
        found.next().map(|(_, _, value)| *value)
    };
    assert_eq!(of("Before", " 117"), Some(8.552));
    assert_eq!(of("After", " 117"), Some(0.125));
    assert_eq!(of("After", " 15"), None);
}

#[test]
fn lines_that_begin_alike_keep_apart() {
    let text = "Before:\nlz4 382 MB/s 3446 MB/s 63.07 dickens\nlz4 617 MB/s 3399 MB/s 51.61 mozilla\n\n\
                After:\nlz4 377 MB/s 3329 MB/s 63.07 dickens\nlz4 610 MB/s 3311 MB/s 51.61 mozilla\n";
    let all = placed(&Echoed, text);
    let of = |name: &str, value: f64| {
        let mut found = all.iter().filter(|(n, _, v)| n == name && *v == value);
        found.next().map(|(_, metric, _)| metric.clone())
    };
    let pairs = [
        (382.0, 377.0),
        (3446.0, 3329.0),
        (617.0, 610.0),
        (3399.0, 3311.0),
    ];
    for (before, after) in pairs {
        assert!(of("Before", before).is_some(), "{before}");
        assert_eq!(of("Before", before), of("After", after));
    }
    assert_ne!(of("Before", 382.0), of("Before", 617.0));
}

#[test]
fn a_line_of_words_that_stands_below_each_heading_names_what_follows() {
    let text = "Before\n\n*** ROUND 1 ***\n-----------\nTest: drawing whole glyphs\nTime: 5.720 sec.\n\
                -----------\nTest: drawing off the screen\nTime: 5.149 sec.\n\nAfter:\n\n*** ROUND 1 ***\n\
                -----------\nTest: drawing whole glyphs\nTime: 4.947 sec.\n-----------\n\
                Test: drawing off the screen\nTime: 4.487 sec.\n";
    let all = placed(&Echoed, text);
    let glyphs: Vec<f64> = all
        .iter()
        .filter(|(_, metric, _)| metric.contains("glyphs"))
        .map(|(.., value)| *value)
        .collect();
    assert_eq!(glyphs, [5.72, 4.947]);
    assert_eq!(all.len(), 4);
    // One such line says nothing of what tells the figures apart.
    let below = |seconds: &str| {
        format!("Starting the workers\nElapsed: {seconds} sec, all of it\nSum: {seconds} sec\n\n")
    };
    let text = format!("Before\n\n{}After:\n\n{}", below("5.720"), below("4.947"));
    let all = placed(&Echoed, &text);
    assert_eq!(all[0].1, "Elapsed");
}

#[test]
fn a_line_of_names_above_rows_names_their_numbers() {
    let table = |head: &str| {
        format!(
            "Before:\n{head}\nviewer   30.924  31.251   0.72%   5/6\nbrowser  168.751 201.017 12.46%  8/8\n(stopped early)\n\n\
             After:\n{head}\nviewer   1.294   1.325   1.79%   6/6\nbrowser  18.540  19.104  1.54%  6/6\n"
        )
    };
    let all = placed(&Echoed, &table("test     min(s)  median(s) stddev. count"));
    let of = |name: &str, metric: &str| {
        let mut found = all.iter().filter(|(n, m, _)| n == name && m == metric);
        found.next().map(|(_, _, value)| *value)
    };
    assert_eq!(of("Before", "browser median"), Some(201.017));
    assert_eq!(of("After", "viewer min"), Some(1.294));
    assert_eq!(all.len(), 8, "{all:?}");
    // Deviations and numbers of runs are no figures, and too few names name nothing.
    let all = placed(&Echoed, &table("test     min(s)  median(s)"));
    assert!(
        all.iter().all(|(_, metric, _)| !metric.contains("median")),
        "{all:?}"
    );
}

#[test]
fn a_name_before_a_line_ends_at_its_colon_and_what_is_set_is_no_figure() {
    let text = "before: op=1, src=20028888, speed=44.36 MPix/s\nafter:  op=1, src=20028888, speed=39.79 MPix/s\n";
    assert_eq!(values(text), told(&[("before", 44.36), ("after", 39.79)]));
    let text = "before(pool):  54.6 i/s - 1.02x  slower\n after(pool):  53.5 i/s - 1.04x  slower\n";
    assert_eq!(
        values(text),
        told(&[("before(pool)", 54.6), ("after(pool)", 53.5)])
    );
    // Behind the colon stands something else.
    assert!(
        values("before: read=1, speed=44.36 MPix/s\nafter: write=1, speed=39.79 MPix/s\n")
            .is_empty()
    );
}

#[test]
fn a_bare_whole_number_beside_figures_with_units_is_none() {
    // Alone in its line it may be measured.
    let text = "Before:\nThroughput(ops/sec): 62485.02\npages_in 159347\n\nAfter:\nThroughput(ops/sec): 80857.08\npages_in 112233\n";
    assert_eq!(values(text).len(), 4);
}

#[test]
fn a_mark_of_numbers_in_the_text_is_no_number() {
    for text in [
        "before 5 # x 3 MB/s\nafter 5 7 x 3 MB/s\n",
        "after 5 7 x 3 MB/s\nbefore 5 # x 3 MB/s\n",
        "Before:\nread 5 # x 3 MB/s\nread 6 # x 4 MB/s\n\nAfter:\nread 5 7 x 3 MB/s\nread 6 8 x 4 MB/s\n",
    ] {
        assert!(values(text).is_empty(), "{text}");
    }
}

#[test]
fn iterations_below_one_heading_are_samples_of_one_run() {
    let list = |name: &str, figures: [f64; 3], word: &str| {
        let line = |(at, ms): (usize, f64)| format!("Query 12 {word} {at} took {ms} ms\n");
        let lines: String = figures.into_iter().enumerate().map(line).collect();
        format!("{name}\n```\n{lines}```\n\n")
    };
    let post = |word: &str| {
        list("Master", [110.0, 112.5, 114.0], word) + &list("PR", [25.0, 26.0, 30.0], word)
    };
    assert_eq!(
        values(&post("iteration")),
        told(&[("Master", 336.5 / 3.0), ("PR", 27.0)])
    );
    // Partitions are no repetitions.
    assert_eq!(values(&post("partition")).len(), 6);
}

#[test]
fn a_deviation_in_brackets_stands_between_a_figure_and_its_unit() {
    let text = "Pre-PR:\nfill [AVG 300 runs] : 422857 (± 3942) ops/sec;   46.8 (± 0.4) MB/sec\n\
                Post-PR:\nfill [AVG 300 runs] : 424707 (± 3799) ops/sec;   47.0 (± 0.4) MB/sec\n";
    assert_eq!(
        values(text),
        told(&[
            ("Pre-PR", 422_857.0),
            ("Pre-PR", 46.8),
            ("Post-PR", 424_707.0),
            ("Post-PR", 47.0),
        ])
    );
    let units: Vec<String> = testing::runs(&Echoed, text)
        .into_iter()
        .flat_map(|(_, figures)| figures.into_iter().map(|figure| figure.unit))
        .collect();
    assert_eq!(units, ["ops/sec", "MB/sec", "ops/sec", "MB/sec"]);
}

#[test]
fn options_of_a_command_and_how_long_a_row_took_are_no_figures() {
    let list = |name: &str, seed: u32, ops: f64| {
        format!(
            "{name}:\nFOO=/x bench -keys=1000 -seed={seed} -time=2.5\n  10.0s  {ops} ops/s  0.9 ms\n"
        )
    };
    let text = list("Before", 7, 104.5) + &list("After", 9, 151.5);
    assert_eq!(
        values(&text),
        told(&[
            ("Before", 104.5),
            ("Before", 0.9),
            ("After", 151.5),
            ("After", 0.9),
        ])
    );
}

#[test]
fn what_takes_seconds_here_and_milliseconds_there_is_one_thing() {
    let text = "Before:\ncopy of it took 3.27 s\nmove of it took 818 ms\n\nAfter:\ncopy of it took 199.5 ms\nmove of it took 781 ms\n";
    let units: Vec<(String, String)> = testing::runs(&Echoed, text)
        .into_iter()
        .flat_map(|(_, figures)| figures.into_iter().map(|f| (f.metric, f.unit)))
        .collect();
    let told = |metric: &str, unit: &str| (metric.to_owned(), unit.to_owned());
    assert_eq!(
        units,
        [
            told("copy of it took", "s"),
            told("move of it took", "ms"),
            told("copy of it took", "ms"),
            told("move of it took", "ms"),
        ]
    );
    // In one list, they are no samples of one run.
    let mixed = "Before:\ncopy of it took 3.27 s\ncopy of it took 818 ms\n\nAfter:\ncopy of it took 199.5 ms\n";
    assert!(values(mixed).is_empty());
}

#[test]
fn amounts_before_figures_are_names_though_not_all_come_again() {
    let text = "Before:\n1024 threads: 30ms - 9130ms\n8192 threads: 18160ms\n16384 threads: 17210ms\n\n\
                After:\n1024 threads: 3ms\n8192 threads: 5ms\n16384 threads: 7ms\n";
    let all = placed(&Echoed, text);
    let named = |name: &str, threads: &str| -> Vec<f64> {
        let own = all
            .iter()
            .filter(|(of, metric, _)| of == name && metric.contains(threads));
        own.map(|(.., value)| *value).collect()
    };
    assert_eq!(named("Before", "8192"), [18160.0]);
    assert_eq!(named("After", "8192"), [5.0]);
    assert_eq!(named("Before", "16384"), [17210.0]);
    assert!(named("Before", "1024").is_empty());
}

#[test]
fn commands_that_come_again_part_what_stands_below_them() {
    let list = |name: &str, figures: [f64; 2]| {
        let [a, b] = figures;
        format!(
            "{name}:\n$ bench --small\nTotal time: {a} s\n$ bench --large\nTotal time: {b} s\n\n"
        )
    };
    let text = list("Before", [2.5, 12.5]) + &list("After", [0.5, 14.5]);
    assert_eq!(
        values(&text),
        told(&[
            ("Before", 2.5),
            ("Before", 12.5),
            ("After", 0.5),
            ("After", 14.5),
        ])
    );
}

#[test]
fn a_word_before_a_bar_belongs_to_the_number_before_it() {
    let text = "V2 before : 513,640 RPS | 47.88ms lat | 92.5 calls\n\
                V2 after  : 589,165 RPS | 43.05ms lat | 5.5 calls\n";
    let all = placed(&Echoed, text);
    let metrics: Vec<&str> = all
        .iter()
        .take(3)
        .map(|(_, metric, _)| metric.as_str())
        .collect();
    assert_eq!(metrics, ["RPS", "lat", "calls"]);
}

#[test]
fn a_calculation_is_no_measurement() {
    let text = |line: &str| {
        let other = line.replace("45", "50").replace("5.98", "6.06");
        format!("Old API:\n\n{line}\n\nNew API:\n\n{other}\n")
    };
    assert!(values(&text("1 / ( 1 / 50 + max( 1 / 45, 1/8)) = 5.98 GiB/s")).is_empty());
    let stated = text("write of 45 files = 5.98 GiB/s");
    assert!(
        values(&stated).contains(&("Old API".to_owned(), 5.98)),
        "{stated}"
    );
}

#[test]
fn a_word_behind_a_number_and_before_a_comma_names_no_other_number() {
    let text = "before:\nnfs/loopback: 539 tests, 400 skipped, 2364 seconds\n\
                after:\nnfs/loopback: 539 tests, 400 skipped, 2327 seconds\n";
    assert_eq!(
        placed(&Echoed, text),
        testing::told(&[
            ("before", "nfs/loopback time", 2364.0),
            ("after", "nfs/loopback time", 2327.0),
        ])
    );
}

#[test]
fn how_long_it_took_may_be_given_in_hours_minutes_and_seconds() {
    let text = "Old:\n\n Duration:         0:01:19\n Rate:             449.50MiB/s\n\n\
                New:\n\n Duration:         0:01:24\n Rate:             355.86MiB/s\n";
    let read = values(text);
    assert_eq!(
        read,
        told(&[
            ("Old", 79.0),
            ("Old", 449.5),
            ("New", 84.0),
            ("New", 355.86)
        ])
    );
    // A time of day is none.
    let clock = text.replace("Duration", "Started");
    assert_eq!(values(&clock), told(&[("Old", 449.5), ("New", 355.86)]));
}

#[test]
fn a_parenthesis_in_a_name_is_closed() {
    let text = "Without queues:\n  Random reads(buffered) | 37101.5\nWith queues:\n  Random reads(buffered) | 42943.5\n";
    let all = placed(&Echoed, text);
    let metrics: Vec<&str> = all.iter().map(|(_, metric, _)| metric.as_str()).collect();
    assert_eq!(
        metrics,
        ["Random reads(buffered)", "Random reads(buffered)"]
    );
}

#[test]
fn attempts_below_a_heading_that_counts_them_are_runs() {
    let text = |first: &str, second: &str| {
        format!(
            "Original ({first}):\n71341 us\n70973 us\n71258 us\n\nPatched ({second}):\n89918 us\n90220 us\n90291 us\n"
        )
    };
    let runs = testing::runs(&Echoed, &text("3 attempts", "3 attempts"));
    let numbers: Vec<_> = runs.iter().map(|(labels, _)| labels.repetition).collect();
    let first = [Some(1), Some(1), Some(2), Some(2), Some(3), Some(3)];
    assert_eq!(numbers, first);
    assert_eq!(runs[4].1[0].value, 71258.0);
    // Another number of lines, or no number of times.
    for (first, second) in [
        ("4 attempts", "4 attempts"),
        ("3 attempts", "2 attempts"),
        ("3 threads", "3 threads"),
        ("mean of 3 runs", "mean of 3 runs"),
    ] {
        let runs = testing::runs(&Echoed, &text(first, second));
        assert_eq!(runs.len(), 2, "{first}");
        assert!(runs.iter().all(|(labels, _)| labels.repetition.is_none()));
    }
}

#[test]
fn thousands_behind_the_name_of_a_measurement_or_before_its_unit_are_numbers() {
    let text = "old client:\nread: IOPS=75.4k, 50.00th=[ 1647]\nsends 602K IOPS of 4k\n\n\
                new client:\nread: IOPS=912, 50.00th=[11647]\nsends 1.5M IOPS of 4k\n";
    let values = values(text);
    assert_eq!(
        values,
        told(&[
            ("old client", 75_400.0),
            ("old client", 1647.0),
            ("old client", 602_000.0),
            ("new client", 912.0),
            ("new client", 11647.0),
            ("new client", 1_500_000.0),
        ])
    );
}

#[test]
fn headings_behind_the_last_list_are_none_of_it() {
    let text = "unpatched client:\nread: 12.5 ms\nsync: 3.5 ms\n\npatched client:\n\
                read: 11.5 ms\nsync: 2.5 ms\n\nThe good news:\nit is faster.\n";
    assert_eq!(values(text).len(), 4);
}

#[test]
fn a_heading_with_a_rule_below_needs_no_word_of_a_state_if_the_next_one_has() {
    let text = |first: &str, rule: &str, second: &str| {
        format!(
            "{first}:\n{rule}\nread: 12.5 ms/op\nsync: 3.5 ms/op\n\n{second}:\n{rule}\nread: 11.5 ms/op\nsync: 2.5 ms/op\n"
        )
    };
    let read = |first: &str, rule: &str, second: &str| values(&text(first, rule, second));
    let names: Vec<String> = read("Ring queue", "------", "Stock kernel")
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        names,
        ["Ring queue", "Ring queue", "Stock kernel", "Stock kernel"]
    );
    assert_eq!(read("Ring queue", "", "Stock kernel"), []);
    assert_eq!(read("Ring queue", "------", "Table"), []);
}

#[test]
fn a_sentence_may_begin_with_the_name_that_it_is_about() {
    let text = "For 4.15, with all of the work done in the handler of it:\na: bw=105MiB/s\nb: bw=205MiB/s\n\n\
                For patched 5.10, with all of the work that is put off:\na: bw=104MiB/s\nb: bw=207MiB/s\n";
    let names: Vec<String> = values(text).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["4.15", "4.15", "patched 5.10", "patched 5.10"]);
    // What it is about is no configuration.
    let other = text
        .replace("4.15", "reads")
        .replace("patched 5.10", "writes");
    assert_eq!(values(&other), []);
}

#[test]
fn an_answer_without_figures_may_stand_between_quoted_lists() {
    let read = |answer: &str| {
        let text = format!(
            "> Before the patch:\n> read: 12.5 ms\n> sync: 3.5 ms\n{answer}\n> With the patch:\n> read: 11.5 ms\n> sync: 2.5 ms\n"
        );
        let lines: Vec<Line<'_>> = (0..)
            .zip(text.lines())
            .map(|(number, text)| {
                let quoted = text.strip_prefix("> ");
                let mut line = Line::plain(number, quoted.unwrap_or(text));
                line.depth = u8::from(quoted.is_some());
                line
            })
            .collect();
        Echoed.read(&lines).map_or(0, |block| block.findings.len())
    };
    assert_eq!(read("That is much.\n"), 2);
    // What is said of figures may be about others.
    assert_eq!(read("On mine it is 17.5 ms\n"), 0);
    assert_eq!(read(&"And so on.\n".repeat(20)), 0);
}

#[test]
fn two_of_a_family_are_configurations() {
    let text = |first: &str, second: &str| {
        format!("{first}:\nread: 12.5 ms\nsync: 3.5 ms\n\n{second}:\nread: 11.5 ms\nsync: 2.5 ms\n")
    };
    assert_eq!(values(&text("ext4", "XFS")).len(), 4);
    assert_eq!(values(&text("mq-deadline", "kyber")).len(), 4);
    // Of two families, and two works.
    assert_eq!(values(&text("ext4", "kyber")), []);
    assert_eq!(values(&text("copying", "linking")), []);
}

#[test]
fn behind_a_list_of_headings_nothing_is_put_beside_the_first() {
    let text = |headings: u8| {
        let word = |n: u8| char::from(b'a' + n).to_string().repeat(3);
        let others: String = (0..headings)
            .map(|n| format!("latency of {}:\n", word(n)))
            .collect();
        format!(
            "Before:\n  Time spent inserting: real 5.831s\n  Throughput: 41060 rows/sec\n{others}\
             After:\n  Time spent inserting: real 4.865s\n  Throughput: 45143 rows/sec\n"
        )
    };
    let both = values(&text(0));
    assert_eq!(both.len(), 4);
    let read: Vec<u8> = (1..26).filter(|n| values(&text(*n)) == both).collect();
    assert_eq!(read, Vec::from_iter(1..24));
}
