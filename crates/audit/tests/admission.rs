//! What is compared and what is read only.
//!
//! Each kind of text that only looks like a comparison stands here beside one
//! that is.

use std::collections::BTreeSet;

use crate::common::{cells, records};
use assize_audit::{Judged, Options, Role, SpreadKind, read};
use assize_bundle::{Records, Spread};

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
