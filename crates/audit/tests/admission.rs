//! What is compared and what is read only.
//!
//! Each kind of text that only looks like a comparison stands here beside one
//! that is.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

mod common;

use std::collections::BTreeSet;

use assize_audit::{Judged, Options, Role, SpreadKind, read};
use assize_bundle::{Records, Spread};
use common::{cells, records};

fn records_as(post: &str, options: &Options) -> Records {
    read(post.as_bytes(), "post", options).unwrap().records
}

/// The configurations that share a metric of a workload with another one.
fn compared(records: &Records) -> Vec<String> {
    let cells = cells(records);
    let several = cells.values().filter(|names| names.len() > 1);
    let names: BTreeSet<&str> = several.flatten().copied().collect();
    let order = records.configurations.iter().map(|c| c.name.as_str());
    order
        .filter(|name| names.contains(name))
        .map(str::to_string)
        .collect()
}

/// The values of a metric under a configuration, run by run.
fn values(records: &Records, configuration: &str, metric: &str) -> Vec<f64> {
    let runs = records
        .runs
        .iter()
        .filter(|run| run.configuration == configuration);
    runs.filter_map(|run| run.metrics.get(metric))
        .map(|m| m.value)
        .collect()
}

fn codes(records: &Records) -> Vec<&str> {
    records
        .doubts
        .iter()
        .map(|doubt| doubt.code.as_str())
        .collect()
}

const ONLY_FIGURES: &[(&str, &str)] = &[
    ("a device tree", include_str!("admission/device-tree.txt")),
    (
        "a list of CPU attributes",
        include_str!("admission/cpu-attributes.txt"),
    ),
    (
        "attributes of a device",
        include_str!("admission/attributes.txt"),
    ),
    (
        "a file system's superblock",
        include_str!("admission/superblock.txt"),
    ),
    ("assembly", include_str!("admission/assembly.txt")),
    ("registers", include_str!("admission/registers.txt")),
    ("a boot log", include_str!("admission/boot-log.txt")),
    (
        "a list of arguments",
        include_str!("admission/arguments.txt"),
    ),
    ("a drawing", include_str!("admission/drawing.txt")),
    (
        "a table of energies",
        include_str!("admission/energies.txt"),
    ),
    (
        "files that were renamed",
        include_str!("admission/renamed.txt"),
    ),
    (
        "one test at several sizes",
        include_str!("admission/sizes.txt"),
    ),
    (
        "time stamps for names",
        include_str!("admission/time-stamps.txt"),
    ),
    (
        "percentages for names",
        include_str!("admission/percentages.txt"),
    ),
    ("memory from /proc", include_str!("admission/meminfo.txt")),
    ("times that are set", include_str!("admission/settings.txt")),
    ("a table of states", include_str!("admission/states.txt")),
    (
        "improvements by quantile",
        include_str!("admission/quantiles.txt"),
    ),
    (
        "counts of passed tests",
        include_str!("admission/passed.txt"),
    ),
];

#[test]
fn figures_without_configurations_are_read_and_not_judged() {
    for (what, post) in ONLY_FIGURES {
        let records = records(post);
        assert_eq!(compared(&records), [] as [String; 0], "{what}");
    }
}

#[test]
fn what_is_not_judged_says_what_is_missing() {
    let records = records(include_str!("admission/meminfo.txt"));
    let doubt = records
        .doubts
        .iter()
        .find(|d| d.code == "not-judged")
        .unwrap();
    assert!(doubt.detail.contains("--columns-are"), "{}", doubt.detail);
    assert!(
        !records.statements.is_empty(),
        "the figures are still shown"
    );
}

#[test]
fn columns_of_opposite_names_are_configurations() {
    let records = records(include_str!("admission/before-after-columns.txt"));
    assert_eq!(compared(&records), ["before", "after"]);
    assert_eq!(values(&records, "after", "randread"), [412.5]);
    assert_eq!(records.runs.len(), 2, "rows are metrics, not runs");
}

#[test]
fn a_parameter_is_no_configuration_and_its_rows_are_no_runs() {
    let records = records(include_str!("admission/jobs.txt"));
    assert_eq!(compared(&records), ["before this patch", "with this patch"]);
    assert_eq!(records.workloads.len(), 4, "{:?}", records.workloads);
    assert_eq!(records.runs.len(), 8);
}

#[test]
fn headings_name_configurations_where_the_tables_below_have_one_shape() {
    let records = records(include_str!("admission/headings.txt"));
    assert_eq!(compared(&records), ["w/o fix", "w/ fix"]);
    assert_eq!(
        values(&records, "w/ fix", "big box").len(),
        2,
        "one for each size"
    );
    let sizes: BTreeSet<&str> = records
        .runs
        .iter()
        .map(|run| run.workload.as_str())
        .collect();
    assert_eq!(sizes.len(), 2, "{sizes:?}");
}

#[test]
fn a_column_of_runs_makes_runs() {
    let records = records(include_str!("admission/runs.txt"));
    assert_eq!(compared(&records), ["Unpatched kernel", "Patched kernel"]);
    let times = values(&records, "Patched kernel", "time");
    assert_eq!(times, [11.9, 12.2, 12.0]);
}

#[test]
fn versions_and_switches_name_configurations() {
    assert_eq!(
        compared(&records(include_str!("admission/versions.txt"))),
        ["v6.1", "v6.6", "v6.6-patched"]
    );
    assert_eq!(
        compared(&records(include_str!("admission/switches.txt"))),
        ["merge=off", "merge=on"]
    );
}

#[test]
fn what_a_tool_prints_every_second_is_one_run() {
    let records = records(include_str!("admission/every-second.txt"));
    for configuration in ["unpatched kernel", "patched kernel"] {
        assert!(
            values(&records, configuration, "%busy").len() <= 1,
            "{configuration}"
        );
    }
}

#[test]
fn steps_that_rise_alike_are_no_runs() {
    let records = records(include_str!("admission/steps.txt"));
    assert!(values(&records, "new", "value").len() <= 1);
}

#[test]
fn two_tables_of_one_form_are_not_pooled() {
    let records = records(include_str!("admission/two-tables.txt"));
    for run in &records.runs {
        let same = |other: &&assize_bundle::Run| {
            (&other.configuration, &other.workload) == (&run.configuration, &run.workload)
        };
        assert_eq!(records.runs.iter().filter(same).count(), 1, "{run:?}");
    }
}

#[test]
fn a_spread_in_a_table_is_a_spread_of_as_many_runs_as_the_text_says() {
    let post = include_str!("admission/spreads.txt");
    let read = records(post);
    let patched = read
        .summaries
        .iter()
        .find(|s| s.configuration == "patched")
        .unwrap();
    assert_eq!((patched.mean, patched.n), (118.25, Some(5)));
    assert_eq!(patched.spread, Some(Spread::StandardDeviation(1.5)));
    assert!(!codes(&read).contains(&"spread-kind"));

    let untold = post.replace("(standard deviation)", "");
    let read = records(&untold);
    let patched = read
        .summaries
        .iter()
        .find(|s| s.configuration == "patched")
        .unwrap();
    assert_eq!(
        patched.spread,
        Some(Spread::StandardError(1.5)),
        "what leaves most doubt"
    );
    assert!(codes(&read).contains(&"spread-kind"));

    let options = Options {
        spread: Some(SpreadKind::Ci95),
        ..Options::default()
    };
    let read = records_as(&untold, &options);
    let patched = read
        .summaries
        .iter()
        .find(|s| s.configuration == "patched")
        .unwrap();
    assert_eq!(patched.spread, Some(Spread::StandardError(1.5 / 1.96)));
}

#[test]
fn the_user_says_what_columns_and_rows_are() {
    let post = include_str!("admission/unknown.txt");
    assert_eq!(compared(&records(post)), [] as [String; 0]);
    let columns = Options {
        columns_are: Some(Role::Configurations),
        ..Options::default()
    };
    assert_eq!(compared(&records_as(post, &columns)), ["red", "green"]);
    let rows = Options {
        rows_are: Some(Role::Configurations),
        ..Options::default()
    };
    assert_eq!(compared(&records_as(post, &rows)), ["north", "south"]);
}

#[test]
fn a_name_that_the_user_gives_is_a_configuration() {
    let post = "red box:\n\nsize  IOPS\n4k  120.5\n8k  90.5\n\ngreen box:\n\nsize  IOPS\n4k  131.5\n8k  91.5\n";
    let rule = |text: &str| assize_audit::parse_rule(text).unwrap();
    let options = Options {
        configurations: vec![rule("^red=old"), rule("^green=new")],
        ..Options::default()
    };
    assert_eq!(compared(&records_as(post, &options)), ["old", "new"]);
}

#[test]
fn whoever_compares_files_has_said_what_is_compared() {
    let post = include_str!("admission/sizes.txt");
    let options = Options {
        judged: Judged::All,
        ..Options::default()
    };
    assert!(!records_as(post, &options).runs.is_empty());
}

#[test]
fn decisions_are_explained_with_their_rule() {
    let post = include_str!("admission/before-after-columns.txt");
    let audit = read(post.as_bytes(), "post", &Options::default()).unwrap();
    let said: Vec<&String> = audit.decisions.iter().flat_map(|(_, said)| said).collect();
    let any = |text: &str| said.iter().any(|line| line.contains(text));
    assert!(
        any("columns are configurations, rows are metrics (90 %"),
        "{said:?}"
    );
    assert!(
        any("judged: the names are states or versions of one thing"),
        "{said:?}"
    );
}

#[test]
fn a_column_of_changes_must_say_what_its_columns_say() {
    let table = |changes: [&str; 3]| {
        format!(
            "Throughput, in MB/s:\n\ntest    base    patched   change\nread    100.5   110.5     {}\n\
             write   200.5   180.5     {}\nmixed   150.5   165.5     {}\n",
            changes[0], changes[1], changes[2]
        )
    };
    let doubted = |changes| codes(&records(&table(changes))).contains(&"change-contradicts");
    assert!(!doubted(["+10.0%", "-10.0%", "+10.0%"]));
    assert!(!doubted(["-10.0%", "+10.0%", "-10.0%"]), "less is better");
    assert!(doubted(["+10.0%", "+10.0%", "+10.0%"]), "a sign");
    assert!(doubted(["+10.0%", "-10.0%", "+31.0%"]), "a size");
}

#[test]
fn a_table_that_stands_there_twice_counts_once() {
    let once = include_str!("admission/runs.txt");
    let twice = format!("{once}\nThe same once more:\n\n{once}");
    assert_eq!(values(&records(&twice), "Patched kernel", "time").len(), 3);
}

#[test]
fn columns_of_parameters_and_of_changes_are_no_configurations() {
    let records = records(
        "Operations per second, compared:\n\n\
         clients  before  after  after/before  std dev\n\
         1        101.5   111.5  1.10          0.5\n\
         2        201.5   221.5  1.10          0.6\n\
         4        401.5   441.5  1.10          0.7\n",
    );
    assert_eq!(compared(&records), ["before", "after"]);
}

#[test]
fn names_of_workload_and_configuration_are_parted() {
    let records = records(
        "How long a build takes, compared:\n\n\
         build              time (s)\n\
         small (old tree)   10.5\n\
         small (new tree)   9.5\n\
         large (old tree)   110.5\n\
         large (new tree)   99.5\n",
    );
    assert_eq!(compared(&records), ["old tree", "new tree"]);
    assert_eq!(records.workloads.len(), 2, "{:?}", records.workloads);
}

/// Its names are commands, with paths and words of metrics in them.
#[test]
fn what_hyperfine_compares_are_commands() {
    let section = |number: u32, command: &str, mean: &str| {
        format!(
            "Benchmark {number}: {command}\n  Time (mean ± σ):     {mean} ms ±   4.8 ms    \
             [User: 92.2 ms, System: 12.0 ms]\n  Range (min … max):    90.7 ms … 111.8 ms    \
             12 runs\n\n"
        )
    };
    let post = section(1, "sort /tmp/in.txt", "104.2") + &section(2, "sort -n /tmp/in.txt", "85.6");
    let read = records(&post);
    assert_eq!(compared(&read), ["sort /tmp/in.txt", "sort -n /tmp/in.txt"]);
    let n: Vec<_> = read.summaries.iter().map(|s| s.n).collect();
    assert_eq!(n, [Some(12); 6]);
    // The same commands above what does not compare are no configurations.
    let above = "$ cat /tmp/in.txt\n\nreal 0m1.2s\n\n$ cat /tmp/out.txt\n\nreal 0m1.1s\n";
    assert_eq!(compared(&records(above)), Vec::<String>::new());
}

/// A change in brackets that follows from its neighbour says what is compared.
#[test]
fn changes_that_follow_from_the_figures_name_configurations() {
    let table = |change: &str| {
        format!(
            "        epoll      io_uring\n\
             rx      82.2 Gbps  116.2 Gbps ({change})\n\
             tx      62.6 Gbps  80.9 Gbps (+29%)\n"
        )
    };
    assert_eq!(compared(&records(&table("+41%"))), ["epoll", "io_uring"]);
    assert_eq!(
        compared(&records(&table("+14%"))),
        Vec::<String>::new(),
        "a change that does not follow says nothing"
    );
}

#[test]
fn names_are_parted_at_the_word_that_names_a_configuration() {
    let read = records(
        "Speed compared:\n\n\
         copy             rate\n\
         original aligned:    75 MB/s\n\
         original unaligned:  74 MB/s\n\
         new aligned:        114 MB/s\n\
         new unaligned:      107 MB/s\n",
    );
    assert_eq!(compared(&read), ["original", "new"]);
    assert_eq!(read.workloads.len(), 2, "{:?}", read.workloads);
}

/// Two pairs a factor of ten apart are no two runs of each.
#[test]
fn pairs_that_are_far_apart_are_not_pooled() {
    let read = records(
        "fio compared:\n\nbefore:  read: IOPS=223, BW=894KiB/s (1kB/s)\n\
         after :  read: IOPS=239, BW=960KiB/s (1kB/s)\n\nwith more\n\n\
         before:  read: IOPS=2380, BW=9524KiB/s (9kB/s)\n\
         after :  read: IOPS=2438, BW=9754KiB/s (9kB/s)\n",
    );
    assert_eq!(values(&read, "before", "read iops").len(), 2);
    let workloads: BTreeSet<&str> = read.runs.iter().map(|r| r.workload.as_str()).collect();
    assert_eq!(workloads.len(), 2, "{workloads:?}");
}

#[test]
fn blanks_that_do_not_break_are_blanks() {
    let post = "                without patch      with patch\n\
                iops:              82k            264k\n\
                clat (nsec)      9017            6060\n"
        .replace("  ", "\u{a0}\u{a0}");
    assert_eq!(compared(&records(&post)), ["without patch", "with patch"]);
}

/// A line above the header names groups of columns: configurations where their
/// names differ as such do, else a parameter of what was executed.
#[test]
fn groups_of_columns_are_configurations_or_workloads() {
    let rule = "x-------x---------------x---------------x\n";
    let configurations = records(&format!(
        "{rule}|       |     before    |     after     |\n{rule}\
         |       | KIOPS | lat us | KIOPS | lat us |\n{rule}\
         | read  |  578  |  12.80 |  681  |  10.74 |\n{rule}\
         | write |  378  |  22.80 |  481  |  20.74 |\n{rule}"
    ));
    assert_eq!(compared(&configurations), ["before", "after"]);
    assert_eq!(configurations.workloads, ["read", "write"]);
    assert_eq!(values(&configurations, "after", "KIOPS"), [681.0, 481.0]);
    let depths = records(&format!(
        "How fast it writes, compared:\n\n{rule}| depth |       8       |       16      |\n{rule}\
         |       | KIOPS | lat us | KIOPS | lat us |\n{rule}\
         | without patch |  578  |  12.80 |  681  |  10.74 |\n{rule}\
         | with patch    |  588  |  12.70 |  691  |  10.64 |\n{rule}"
    ));
    assert_eq!(compared(&depths), ["without patch", "with patch"]);
    assert_eq!(depths.workloads, ["depth=8", "depth=16"]);
    assert_eq!(values(&depths, "with patch", "KIOPS"), [588.0, 691.0]);
}

#[test]
fn columns_that_measure_the_same_are_configurations() {
    let read = records(
        "How fast one queue is, compared:\n\n\
         \x20    | IOPS (IRQ mode) | IOPS (iopoll=1 mode) | diff\n\
         ---- | --------------- | -------------------- | ----\n\
         \x20 dm |     208k        |   279k               | ~34%\n\
         nvme |     728k        |   873k               | ~20%\n",
    );
    assert_eq!(compared(&read), ["IRQ mode", "iopoll=1 mode"]);
    assert_eq!(read.workloads, ["dm", "nvme"]);
    assert_eq!(values(&read, "IRQ mode", "IOPS"), [208.0, 728.0]);
}

/// Nothing says that the second pair repeats the first.
#[test]
fn blocks_that_name_all_configurations_are_whole() {
    let read = records(
        "fio compared:\n\nbefore:  read: IOPS=223, BW=894KiB/s (1kB/s)\n\
         after :  read: IOPS=239, BW=960KiB/s (1kB/s)\n\n\
         The numbers below were taken with another limit of the same size.\n\n\
         before:  read: IOPS=225, BW=900KiB/s (1kB/s)\n\
         after :  read: IOPS=236, BW=950KiB/s (1kB/s)\n",
    );
    assert_eq!(compared(&read), ["before", "after"]);
    let workloads: BTreeSet<&str> = read.runs.iter().map(|r| r.workload.as_str()).collect();
    assert_eq!(workloads.len(), 2, "{workloads:?}");
}

/// The same output as in `printed-output.txt`, in a text about what it measures.
#[test]
fn output_of_a_tool_is_judged_where_the_text_is_about_performance() {
    let post = include_str!("admission/printed-output.txt").replace(
        "Flush what is there before",
        "Flushing is faster and improves throughput; the overhead of logging is reduced before",
    );
    assert_eq!(compared(&records(&post)), ["Before", "After"]);
}

/// Of one run printed again nothing differs; another run differs somewhere.
#[test]
fn one_figure_that_differs_is_another_run() {
    let post = include_str!("admission/printed-again.txt");
    let (before, after) = post.split_once("After:").unwrap();
    let post = format!("{before}After:{}", after.replace("8289.3K", "8291.1K"));
    assert_eq!(compared(&records(&post)), ["Before", "After"]);
}

/// What is set is no name of a configuration, but what is on or off is.
#[test]
fn settings_are_compared_only_as_opposites() {
    let post = "The time of a request in the benchmark, which improves:\n\n\
                mode                   time (ms)\n\
                with timeout           12.5\n\
                without timeout        14.25\n";
    assert_eq!(
        compared(&records(post)),
        ["without timeout", "with timeout"]
    );
}

/// `ns/op` says what it is, where it stands for a name, too.
#[test]
fn a_unit_in_the_name_of_a_column_makes_whole_numbers_measurements() {
    let post = |metric: &str| {
        format!(
            "Takes the fast path for scalars.\n\nbenchcmp old.txt new.txt\n\
             benchmark                old {metric}     new {metric}\n\
             BenchmarkJoin/one-14     291           272\n\
             BenchmarkJoin/many-14    44590         28592\n"
        )
    };
    assert_eq!(compared(&records(&post("ns/op"))), ["old", "new"]);
    assert_eq!(compared(&records(&post("inodes"))), [] as [&str; 0]);
}

/// Headings right below a line that is no sentence, and no blank line between them.
#[test]
fn before_and_after_below_the_name_of_a_workload_are_not_pooled() {
    let post = "Moving it improves performance.\n\nFixed width (float8)\nbefore:\n\
                Float.copy  avgt    4  17.809 ± 0.022  us/op\nafter:\n\
                Float.copy  avgt    4  17.712 ± 0.050  us/op\n\n\
                Variable width (varchar)\nbefore:\n\
                Var.copy  avgt    5  36.455 ± 0.125  us/op\nafter:\n\
                Var.copy  avgt    5  33.015 ± 0.065  us/op\n";
    let read = records(post);
    assert_eq!(compared(&read), ["before", "after"]);
    assert_eq!(values(&read, "before", "time"), [17.809, 36.455]);
}

/// A last column of ratios needs no name, and its figures are none of a configuration.
#[test]
fn ratios_behind_two_configurations_need_no_name() {
    let post = |last: [&str; 2]| {
        format!(
            "Commits of large appends to a table, in seconds:\n\n\
             | fsync latency | before | after | |\n|---|---|---|---|\n\
             | none injected | 1.24s | 0.82s | {} |\n| 10ms / 10ms | 1.65s | 1.15s | {} |\n",
            last[0], last[1]
        )
    };
    let read = records(&post(["1.5x", "1.4x"]));
    assert_eq!(compared(&read), ["before", "after"]);
    assert_eq!(values(&read, "before", "10ms / 10ms"), [1.65]);
    assert!(compared(&records(&post(["7", "9"]))).is_empty());
}

/// A prompt may say where a command was typed; each command is a workload of its own.
#[test]
fn commands_at_a_prompt_in_parentheses_are_workloads() {
    let times = |real: &str| format!("\nreal    {real}\nuser    0m2.010s\nsys     0m1.740s\n");
    let section = |name: &str, tree: &str, list: &str| {
        format!(
            "{name} this change:\n\n(container)$ time tree linux > /dev/null\n{}\n\
             (container)$ time ls test/ > /dev/null\n{}\n",
            times(tree),
            times(list)
        )
    };
    let post =
        section("Before", "0m54.272s", "2m10.934s") + &section("After", "0m22.465s", "0m13.338s");
    let read = records(&post);
    let workloads: BTreeSet<&str> = read.runs.iter().map(|run| run.workload.as_str()).collect();
    assert_eq!(
        workloads.into_iter().collect::<Vec<_>>(),
        ["ls test/", "tree linux"]
    );
    assert_eq!(read.runs.len(), 4);
    // A remark in parentheses is none.
    let remark = post.replace("(container)$", "(see 5)");
    let read = records(&remark);
    assert!(read.runs.iter().all(|run| run.workload != "tree linux"));
}

/// `With map[*T]struct{}:` says in code what it was measured with.
#[test]
fn what_it_was_measured_with_may_be_called_by_its_code() {
    let post = |a: &str, b: &str| {
        format!(
            "The benchmark improves.\n\n{a}:\n\nBenchmarkPut-4  30000  38461 ns/op  1862 B/op\n\n\
             {b}:\n\nBenchmarkPut-4  30000  31090 ns/op  1692 B/op\n"
        )
    };
    let with = ["With []*watcher", "With map[*watcher]struct{}"];
    assert_eq!(compared(&records(&post(with[0], with[1]))), with);
}

/// Right below a heading stand results of `go test -bench`, and no rows of a table whose
/// header the heading is; below a header they are rows.
#[test]
fn a_heading_above_results_of_go_is_no_header() {
    let post = |a: &str, b: &str| {
        format!(
            "The atomics get faster:\n\n{a}:\n\
             BenchmarkAnd-80    138205774    8.562 ns/op\nBenchmarkOr-80     138791865    8.592 ns/op\n\n\
             {b}:\nBenchmarkAnd-80    172129803    6.933 ns/op\nBenchmarkOr-80     170516512    6.993 ns/op\n"
        )
    };
    let names = ["Without LSE instructions", "With LSE instructions"];
    let read = records(&post(names[0], names[1]));
    assert_eq!(compared(&read), names);
    assert_eq!(values(&read, names[1], "ns/op"), [6.933, 6.993]);
    let table = "It gets faster.\n\nbenchmark           old ns/op    new ns/op    delta\n\
                 BenchmarkAnd-80     8.562        6.933        -19.03%\n\
                 BenchmarkOr-80      8.592        6.993        -18.61%\n";
    assert_eq!(compared(&records(table)), ["old", "new"]);
}

/// Whole numbers without a unit below names that differ in a word are counts of two things.
#[test]
fn counts_called_alike_but_for_a_word_are_not_compared() {
    let post = |first: &str, second: &str, faults: &str| {
        format!(
            "The latency test compares well, huge pages in and huge pages out.\n\n\
             | case  | {first} | {second} |\n|-------|---------------|----------------|\n\
             | seq   | 4096          | {faults}           |\n| again | 5096          | 6311           |\n"
        )
    };
    let compared = |post: &str| compared(&records(post));
    let counts = post("huge pages in", "huge pages out", "5311");
    assert!(compared(&counts).is_empty());
    let opposed = post("latency before", "latency after", "5311");
    assert_eq!(compared(&opposed).len(), 2);
}
