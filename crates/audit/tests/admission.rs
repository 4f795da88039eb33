//! What is compared and what is read only.
//!
//! Each kind of text that only looks like a comparison stands here beside one
//! that is.

use std::collections::BTreeSet;

use crate::common::{compared, posts, records, records_as};
use assize_audit::{Judged, Options, Role};
use assize_bundle::Records;

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

#[test]
fn figures_without_configurations_are_read_and_not_judged() {
    for (path, post) in posts("read_only") {
        let records = records(&post);
        assert_eq!(compared(&records), [] as [String; 0], "{}", path.display());
    }
}

#[test]
fn steps_that_rise_alike_are_no_runs() {
    let records = records(include_str!("posts/single/steps.txt"));
    assert!(values(&records, "new", "value").len() <= 1);
}

#[test]
fn two_tables_of_one_form_are_not_pooled() {
    let records = records(include_str!("posts/single/two-tables.txt"));
    for run in &records.runs {
        let same = |other: &&assize_bundle::Run| {
            (&other.configuration, &other.workload) == (&run.configuration, &run.workload)
        };
        assert_eq!(records.runs.iter().filter(same).count(), 1, "{run:?}");
    }
}

#[test]
fn the_user_says_what_columns_and_rows_are() {
    let post = include_str!("posts/single/unknown.txt");
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
    let post = include_str!("posts/read_only/sizes.txt");
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

/// Of one run printed again nothing differs; another run differs somewhere.
#[test]
fn one_figure_that_differs_is_another_run() {
    let post = include_str!("posts/single/printed-again.txt");
    let (before, after) = post.split_once("After:").unwrap();
    let post = format!("{before}After:{}", after.replace("8289.3K", "8291.1K"));
    assert_eq!(compared(&records(&post)), ["Before", "After"]);
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
