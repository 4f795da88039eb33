#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeSet;

use assize_bundle::Records;

use crate::{Audit, Judged, Options, read};

fn audit(post: &str) -> Audit {
    let options = Options {
        judged: Judged::All,
        ..Options::default()
    };
    read(post.as_bytes(), "post", &options).unwrap()
}

/// The configuration, the workload and the metric of each figure.
fn figures(post: &str) -> BTreeSet<String> {
    named(&audit(post).records)
}

/// The same of those that are compared without being asked for.
fn judged(post: &str) -> BTreeSet<String> {
    let audit = read(post.as_bytes(), "post", &Options::default());
    named(&audit.unwrap().records)
}

fn named(records: &Records) -> BTreeSet<String> {
    let runs = records.runs.iter().flat_map(|run| {
        run.metrics.iter().map(move |(metric, quantity)| {
            format!(
                "{} | {} | {metric} = {}",
                run.configuration, run.workload, quantity.value
            )
        })
    });
    runs.collect()
}

/// Whether the figures are there; `*` stands for any workload.
fn holds(post: &str, wanted: &[&str]) {
    let found = figures(post);
    for figure in wanted {
        let (from, to) = figure.split_once('*').unwrap_or((figure, ""));
        let there = |one: &String| one.starts_with(from) && one.ends_with(to);
        let exact = figure.contains('*') || found.contains(*figure);
        assert!(
            exact && found.iter().any(there),
            "{figure} is not in {found:#?}"
        );
    }
}

const TITLED: &str = "Results of fio compared, before and after:\n\n\
                              bulk copies:\n\
                              without cache            with cache\n\
    throughput:       429 MiB/s               1132MiB/s\n\
    rate:              82k                     264k\n\n\
                              small copies:\n\
                              without cache            with cache\n\
    throughput:       307 MiB/s                909MiB/s\n\
    rate:              76k                     227k\n";

#[test]
fn a_line_with_a_colon_above_the_names_of_columns_is_the_title_of_their_table() {
    let found = figures(TITLED);
    let names: BTreeSet<&str> = found.iter().filter_map(|f| f.split(" | ").next()).collect();
    assert_eq!(names, BTreeSet::from(["with cache", "without cache"]));
    let workloads: BTreeSet<&str> = found.iter().filter_map(|f| f.split(" | ").nth(1)).collect();
    assert_eq!(workloads, BTreeSet::from(["bulk copies", "small copies"]));
}

const LOCKS: &str = "We compare both with a benchmark; the gain is seen in all of it.\n\n\
    Suite A (+6.4%)\n\
    \u{20} ring_gate:\n\
    \u{20}   Names of the programs       CONSTANT      RESULT    SCORE\n\
    \u{20}   Copy of whole files           3960.0    776306.2  1960.8\n\
    \u{20}   Throughput of pipes          12440.0   2305860.5  1853.9\n\
    \n\
    \u{20} plain_gate:\n\
    \u{20}   Names of the programs       CONSTANT      RESULT    SCORE\n\
    \u{20}   Copy of whole files           3960.0    655392.9  1650.0\n\
    \u{20}   Throughput of pipes          12440.0   2059418.7  1655.7\n";

#[test]
fn names_below_a_title_are_headings_of_their_tables() {
    holds(
        LOCKS,
        &[
            "ring_gate | Copy of whole files | RESULT = 776306.2",
            "plain_gate | Copy of whole files | RESULT = 655392.9",
        ],
    );
    // Of other columns neither is compared with the other.
    let other = LOCKS.replacen("CONSTANT      RESULT", "PLATTERS      WEIGHT", 1);
    assert!(judged(&other).is_empty());
}

#[test]
fn two_figures_of_each_cell_are_those_of_both_states_in_the_heading() {
    let post = "No loss was seen in the benchmark, compared with fio:\n\n\
        > block size    IOPs reading (before/after)      IOPs writing (before/after)\n\
        > ----------    ---------------------------      ---------------------------\n\
        > 1KB           418K/416K                            429K/425K\n\
        > \n\
        > 8KB           299K/308K                            350K/375K\n";
    holds(
        post,
        &[
            "before | block size 1KB | IOPs reading = 418",
            "after | block size 1KB | IOPs reading = 416",
            "after | block size 8KB | IOPs writing = 375",
        ],
    );
    // What the mark parts has no names of its own.
    let unnamed = post.replace(" (before/after)", " (k/s)");
    assert!(judged(&unnamed).is_empty());
}

#[test]
fn a_column_of_0_and_1_is_what_was_switched() {
    let post = "We compare the benchmark with and without prefetch, which improves it:\n\n\
        copy size   prefetch    jobs     rate        cpu usage    gain\n\
        ==============================================================\n\
        32             0           1     21GB/sec       100%\n\
        32             1           1     44GB/sec        79%      +110%\n\
        32             0           8     80GB/sec       370%\n\
        32             1           8     96GB/sec       160%      + 20%\n\
        128            0           1     44GB/sec        90%\n\
        128            1           1     47GB/sec        48%      +  7%\n";
    holds(
        post,
        &[
            "prefetch=0 | copy size=32 jobs=1 | rate = 21",
            "prefetch=1 | copy size=32 jobs=8 | rate = 96",
            "prefetch=1 | copy size=128 jobs=1 | cpu usage = 48",
        ],
    );
    // A count of what happened is no switch: nothing else is the same in both rows.
    let counted = post.replace(
        "32             1           8 ",
        "32             1           4 ",
    );
    assert!(
        figures(&counted)
            .iter()
            .all(|figure| !figure.contains("prefetch="))
    );
}

#[test]
fn deviations_beside_figures_belong_to_them_and_names_over_two_lines_to_columns() {
    let post = "We compare runtimes in seconds of the benchmark with hackbench:\n\n\
        \u{20}            4_helpers            4_helpers\n\
        \u{20}           w/o_renice  (stdev)  with_renice  (stdev)   no_helper  (stdev)\n\
        \u{20}           ---------------------------------------------------------------\n\
        \u{20} pinning        41.98  ( 0.22)        25.15  ( 2.98)       30.40  ( 0.61)\n\
        \u{20} zeroing        44.79  ( 1.11)        46.37  ( 0.69)       53.29  ( 1.91)\n";
    let records = audit(post).records;
    let of = |name: &str, metric: &str| {
        let mut all = records.summaries.iter();
        all.find(|s| s.configuration == name && s.metric == metric)
            .map(|s| s.mean)
    };
    assert_eq!(of("4_helpers w/o_renice", "pinning"), Some(41.98));
    assert_eq!(of("4_helpers with_renice", "zeroing"), Some(46.37));
    assert!(records.runs.is_empty());
}

#[test]
fn words_behind_changes_do_not_spoil_their_row() {
    let post = "Results of the old kernel (the problem), measured with fio:\n\n\
        \u{20}                      idle      loaded     slowdown\n\
        \u{20} copier IOPS          125       5.1        24.5x worse\n\
        \u{20} copier p99           0.6 ms    152 ms     253x worse\n\n\
        Results of the new kernel, compared:\n\n\
        \u{20}                      idle      loaded     slowdown\n\
        \u{20} copier IOPS          125       124        1.0x\n\
        \u{20} copier p99           0.9 ms    0.7 ms     1.0x\n";
    let found = figures(post);
    assert!(
        found
            .iter()
            .any(|f| f.contains("old kernel") && f.contains("= 5.1")),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|f| f.contains("new kernel") && f.contains("= 124")),
        "{found:?}"
    );
    // Ratios are no measurement of their own.
    assert!(found.iter().all(|f| !f.contains("slowdown")), "{found:?}");
}

#[test]
fn numbered_names_in_brackets_may_be_configurations_where_changes_follow() {
    let post = "We compare four settings of the benchmark, (1) is what was there:\n\n\
        test\t(1)\t(2)\t\t(3)\n\
        page_a\t368563\t406277 (10.23%)\t399693 (8.45%)\n\
        page_b\t338399\t372133 (9.97%)\t369180 (9.10%)\n\
        page_c\t500853\t575399 (14.88%)\t570388 (13.88%)\n";
    holds(
        post,
        &["(1) | * | page_a = 368563", "(3) | * | page_c = 570388"],
    );
    // Without changes that follow they say nothing.
    let bare = post.replace(" (10.23%)", " (5.11%)");
    assert!(judged(&bare).is_empty());
}

#[test]
fn rows_named_in_brackets_are_rows() {
    let post = "Compared with the baseline, the overhead of the benchmark is:\n\n\
        \u{20}                        taking                  giving\n\
        (1 baseline)            6.764s                  16.902s\n\
        (2 switched off)        6.993s (+3.39%)         17.507s (+3.58%)\n\
        (3 switched on)         7.197s (+6.40%)         23.666s (+40.02%)\n";
    holds(
        post,
        &[
            "(1 baseline) | * | taking = 6.764",
            "(3 switched on) | * | giving = 23.666",
        ],
    );
}

/// Three tables of one shape, all in one line of the file as far as that can be told.
const ENCODED: &str = "From: a@example.org\nSubject: spinning, compared\n\
Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n\
I2pvYnMgICBvbGQgICAgICAgICAgbmV3ICAgICAgICBzcGVlZHVwIChuZXcvb2xkKQogIDEgIDIu\n\
NzMxICgwLjEwMikgIDIuNzE2ICgwLjA4MikgIDAuOTk1CiAgOCAgNS4zNjYgKDAuMTU0KSAgNi45\n\
NTggKDAuMjMzKSAgMS4yOTcKCm9wZW4yLCBpbiBvcHMvdXM6Cgojam9icyAgIG9sZCAgICAgICAg\n\
ICBuZXcgICAgICAgIHNwZWVkdXAgKG5ldy9vbGQpCiAgMSAgMC41NjUgKDAuMDA0KSAgMC41NjYg\n\
KDAuMDAzKSAgMS4wMDEKICA4ICAxLjc1NSAoMC4xMDUpICAxLjY4MyAoMC4xMDYpICAwLjk1OQoK\n\
bG9jazc6Cgojam9icyAgIG9sZCAgICAgICAgICBuZXcgICAgICAgIHNwZWVkdXAgKG5ldy9vbGQp\n\
CiAgMSAgMS43MTMgKDAuMDA0KSAgMS43MTEgKDAuMDA0KSAgMC45OTkKICA4ICA0LjIyNyAoMC4x\n\
OTYpICA0LjA5MiAoMC4zNjUpICAwLjk2OAo=\n";

#[test]
fn tables_of_an_encoded_post_are_not_pooled() {
    let found = figures(ENCODED);
    for value in ["2.731", "0.565", "1.713"] {
        let figure = found
            .iter()
            .find(|f| f.starts_with("old") && f.ends_with(value));
        assert!(figure.is_some(), "{value} is not in {found:#?}");
    }
}

#[test]
fn a_metric_that_begins_all_names_is_that_of_all_columns() {
    let post = "We compare the locks with a benchmark in seconds, each with the others:\n\n\
        Threads Time            Time            Time\n\
        \u{20}       Gate of rings   Gate of tubes   No gate\n\
        \u{20} 1       0.945600       0.939400        0.891200\n\
        \u{20} 8       6.424200       4.900000        4.106000\n\
        \u{20}64      60.823600      39.844600       38.440200\n";
    holds(
        post,
        &[
            "Gate of rings | Threads=8 | Time = 6.4242",
            "Gate of tubes | Threads=64 | Time = 39.8446",
        ],
    );
    // Statistics of one thing are not compared.
    let statistics = post
        .replace("Gate of rings", "minimum      ")
        .replace("Gate of tubes", "mean         ")
        .replace("No gate", "maximum");
    assert!(judged(&statistics).is_empty());
}

#[test]
fn changes_beside_each_pair_of_columns_are_left_out() {
    let post = "Rates of fio are compared, before and after the change:\n\n\
        +--------+-----------+----------+-------+----------+---------+-------+\n\
        | depth8 | base[rate] | new[rate] | delta | base[bw] | new[bw] | delta |\n\
        +--------+-----------+----------+-------+----------+---------+-------+\n\
        | read   | 567 | 605 | 6.7 | 2214 | 2362 | 6.68 |\n\
        | write  | 551 | 558 | 1.27 | 2154 | 2179 | 1.16 |\n\
        +--------+-----------+----------+-------+----------+---------+-------+\n";
    holds(
        post,
        &["base | read | rate = 567", "new | write | bw = 2179"],
    );
}

#[test]
fn units_that_change_from_row_to_row_make_metrics_of_the_rows() {
    let post = "Both are compared in a benchmark:\n\n\
        \t\t\talpha\t\t\tomega\n\
        blocks\t\t\t170647\t\t\t163270\n\
        share\t\t\t69.8%\t\t\t66.8%\n\
        cost\t\t\t16.4 s\t\t\t26.7 s\n";
    let said: Vec<String> = audit(post)
        .decisions
        .into_iter()
        .flat_map(|(_, said)| said)
        .collect();
    assert!(
        said.iter()
            .any(|line| line.starts_with("columns are configurations, rows are metrics")),
        "{said:?}"
    );
}

#[test]
fn names_of_what_is_done_are_no_states_of_each_other() {
    use super::differing;
    assert_eq!(differing(&["read", "random read", "rewrite"]), 0);
    assert!(differing(&["read before", "read after"]) >= 4);
}

#[test]
fn blocks_of_rows_that_blank_lines_part_are_one_table_however_their_names_are_parted() {
    let rows = |post: &str| {
        let options = Options {
            explain: true,
            ..Options::default()
        };
        let explained = read(post.as_bytes(), "post", &options).unwrap().explained;
        let row = |line: &&crate::Explained| line.taken == "table row";
        explained.iter().filter(row).count()
    };
    let post = "STATE PROGRAM\tBEST\t\tTOTAL\t\tMEAN\n\
                =====================================================\n\
                0\tpipe\t\t305798\t\t363241\t\t302701\n\
                0\tsplice\t\t284943\t\t277691\t\t231409\n\n\
                locked pipe\t\t307500\t\t364701\t\t303917\n\
                locked splice\t\t285469\t\t281589\t\t234657\n";
    assert_eq!(rows(post), 4);
    // Two figures behind a name may be anything.
    let two = post.replace("\t\tMEAN", "").replace("\t\t302701", "");
    let two = two.replace("\t\t231409", "").replace("\t\t303917", "");
    assert_eq!(rows(&two.replace("\t\t234657", "")), 2);
}
