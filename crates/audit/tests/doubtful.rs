//! Groupings that are doubtful are read, and not judged.
//!
//! Each doubt stands beside a text that looks alike and of which there is none.

use crate::common::{compared, records};

fn dd(seconds: &str, rate: u32) -> String {
    format!("4194304 bytes (4.2 MB, 4.0 MiB) copied, {seconds} s, {rate} MB/s\n\n")
}

fn under(first: &str, second: &str) -> String {
    let (one, two) = (dd("0.0412", 102), dd("0.0619", 68));
    format!("The performance is better than it was.\n\n{first}:\n\n{one}{second}:\n\n{two}")
}

#[test]
fn a_measured_line_is_no_name_of_what_stands_below() {
    let measured = under(
        "Total throughput of 6 writers = 2210.52 MB/s",
        "Total throughput of 6 writers = 2190.18 MB/s",
    );
    assert!(compared(&records(&measured)).is_empty());
    let set = under("flush limit off", "flush limit on");
    assert!(!compared(&records(&set)).is_empty());
}

#[test]
fn what_a_group_did_in_all_again_is_its_next_run() {
    let status = |read: u32, write: u32| {
        format!(
            "   READ: bw={read}MiB/s (3144MB/s), 185MiB/s-189MiB/s (194MB/s-198MB/s), io=879GiB (944GB), run=300014-300087msec\n  \
             WRITE: bw={write}MiB/s (2095MB/s), 124MiB/s-126MiB/s (130MB/s-132MB/s), io=585GiB (629GB), run=300014-300087msec\n\n"
        )
    };
    let post = format!(
        "fio is faster:\n\nbase:\n\n{}{}patched:\n\n{}{}",
        status(2912, 1913),
        status(2814, 1815),
        status(3016, 2017),
        status(3118, 2019)
    );
    let records = records(&post);
    let runs = |name: &str| {
        records
            .runs
            .iter()
            .filter(|run| run.configuration == name)
            .count()
    };
    assert_eq!((runs("base"), runs("patched")), (2, 2));
}

#[test]
fn older_figures_of_the_same_names_are_not_judged() {
    let quoted = |text: &str| -> String { text.lines().map(|l| format!("> {l}\n")).collect() };
    let of = |one: f64, two: f64| {
        let said = |rate: f64| {
            format!(
                "4194304000 bytes (4.2 GB, 3.9 GiB) copied, {:.3} s, {rate} MB/s\n\n",
                4194.304 / rate
            )
        };
        format!(
            "It is faster now.\n\nbase:\n\n{}patched:\n\n{}",
            said(one),
            said(two)
        )
    };
    let rates = |post: &str| -> Vec<f64> {
        let records = records(post);
        let rates = records.runs.iter().flat_map(|run| run.metrics.values());
        rates
            .map(|metric| metric.value)
            .filter(|v| *v >= 1.0)
            .collect()
    };
    let (older, newer) = (quoted(&of(68.0, 71.0)), of(102.0, 131.0));
    let alone = rates(&older);
    assert!(alone.contains(&68.0) && alone.contains(&71.0), "{alone:?}");
    let both = rates(&format!("{older}\n{newer}"));
    assert!(both.contains(&102.0) && both.contains(&131.0), "{both:?}");
    assert!(!both.contains(&68.0) && !both.contains(&71.0), "{both:?}");
}
