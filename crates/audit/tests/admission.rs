//! What is compared and what is read only.
//!
//! Each kind of text that only looks like a comparison stands here beside one that is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::common::{MARK, cases, cells, compared, posts, records, records_as};
use assize_audit::{Judged, Options, Role};
use assize_bundle::Records;

/// The figures of a post with what they are of, those that are compared with others first in
/// their line, and the codes of its doubts.
fn told(records: &Records) -> String {
    let cells = cells(records);
    let mut runs: BTreeMap<[&str; 3], Vec<f64>> = BTreeMap::new();
    for run in &records.runs {
        for (metric, one) in &run.metrics {
            let cell = [run.workload.as_str(), metric, &run.configuration];
            runs.entry(cell).or_default().push(one.value);
        }
    }
    let mut told = String::new();
    for ([workload, metric, configuration], values) in runs {
        let alone = cells[&(workload, metric)].len() < 2;
        let how = if alone { "alone" } else { "compared" };
        writeln!(
            told,
            "{how}: {configuration} on {workload}: {metric} {values:?}"
        )
        .unwrap();
    }
    for one in &records.summaries {
        let (configuration, workload) = (&one.configuration, &one.workload);
        let (metric, mean, n) = (&one.metric, one.mean, one.n);
        writeln!(
            told,
            "mean: {configuration} on {workload}: {metric} {mean} {n:?}"
        )
        .unwrap();
    }
    for one in &records.statements {
        writeln!(told, "stated: {} {}", one.metric, one.value).unwrap();
    }
    for one in &records.events {
        let (configuration, count, seconds) = (&one.configuration, one.count, one.exposure_s);
        writeln!(told, "events: {configuration}: {count} in {seconds:?} s").unwrap();
    }
    if !records.factors.is_empty() {
        writeln!(told, "factors: {}", records.factors.join(", ")).unwrap();
    }
    for doubt in &records.doubts {
        writeln!(told, "doubt: {}", doubt.code).unwrap();
    }
    told
}

/// Whole posts, as people send them, and the numbers in them that nothing claims. With
/// `ASSIZE_GOLDEN=1` what is read is written anew.
#[test]
fn whole_posts_are_read_as_they_were_looked_over() {
    let golden = std::env::var_os("ASSIZE_GOLDEN").is_some();
    let explain = Options {
        explain: true,
        ..Options::default()
    };
    let is_post = |path: &Path| path.extension().is_some_and(|end| end == "txt");
    for (path, post) in posts("whole").into_iter().filter(|(path, _)| is_post(path)) {
        let audit = assize_audit::read(post.as_bytes(), "post", &explain).unwrap();
        let mut read = told(&audit.records);
        for one in assize_audit::reading::unassigned(&audit) {
            writeln!(
                read,
                "in no row, line {}: {} {}",
                one.line, one.value, one.unit
            )
            .unwrap();
        }
        let expected = path.with_extension("read_as");
        if golden {
            std::fs::write(&expected, &read).unwrap();
        }
        assert_eq!(read, std::fs::read_to_string(&expected).unwrap());
    }
}

/// The rows of the draft of a post.
fn drafted(post: &str) -> String {
    let explain = Options {
        explain: true,
        judged: Judged::All,
        ..Options::default()
    };
    let read = |options| assize_audit::read(post.as_bytes(), "post", options).unwrap();
    let draft = assize_audit::reading::draft(post, &read(&explain), &read(&Options::default()));
    let rows = draft.text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| format!("{row}\n")).collect()
}

/// With `ASSIZE_GOLDEN=1` what is read is written anew.
#[test]
fn posts_are_read_and_drafted_as_they_were_looked_over() {
    let golden = std::env::var_os("ASSIZE_GOLDEN").is_some();
    let told: fn(&str) -> String = |post| told(&records(post));
    let read = [("told", told), ("single/drafts.txt", drafted)];
    for (of, (path, text)) in read
        .iter()
        .flat_map(|(folder, of)| posts(folder).into_iter().map(move |post| (of, post)))
    {
        let mut anew = String::new();
        for [title, post, expected] in cases(&text) {
            let read = of(&post);
            assert!(golden || read == expected, "{title}{read}");
            anew += &format!("{title}{post}{MARK}{read}");
        }
        if golden {
            std::fs::write(&path, anew).unwrap();
        }
    }
}

#[test]
fn figures_without_configurations_are_read_and_not_judged() {
    for (path, post) in posts("read_only") {
        let records = records(&post);
        assert_eq!(compared(&records), [] as [String; 0], "{}", path.display());
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
