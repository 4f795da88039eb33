//! How posts become runs of a configuration and a workload.

use crate::common::{explain, records, records_as};
use assize_audit::Options;
use assize_bundle::Records;

/// `configuration/workload` of each run.
fn cells(records: &Records) -> Vec<String> {
    let cell = |run: &assize_bundle::Run| format!("{}/{}", run.configuration, run.workload);
    records.runs.iter().map(cell).collect()
}

fn perf(switches: u32) -> String {
    format!(
        "\n Performance counter stats for 'system wide':\n\n  {switches}  context-switches\n  12{switches}  instructions\n\n  1.5{switches} seconds time elapsed\n\n"
    )
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
    let read = records(post);
    assert!(read.runs.is_empty() && read.doubts.is_empty());
    let audit = assize_audit::read(post.as_bytes(), "post", &explain()).unwrap();
    let mut lines = audit.explained.iter().zip(post.lines()).take(5);
    assert!(lines.all(|(line, text)| line.taken == "diff" && line.text == text));
}

#[test]
fn a_line_without_end_is_doubted() {
    let records = records(&"1,234 context-switches ".repeat(400_000));
    assert_eq!(records.doubts[0].code, "long-line");
}

#[test]
fn which_of_numbers_in_a_row_was_run_first_is_not_seen() {
    let post = "base:\n\ntime: 1.21s 1.25s 1.19s\n\npatched:\n\ntime: 1.11s 1.15s 1.09s\n";
    let records = records(post);
    assert_eq!((records.runs.len(), records.order_unknown), (6, true));
}
