//! What is compared and what is read only.
//!
//! Each kind of text that only looks like a comparison stands here beside one that is.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::common::{
    MARK, cases, cells, compared, explain, looked_over, posts, records, records_as,
};
use assize_audit::declared::{Outcome, Stands};
use assize_audit::{Judged, Options, Role};
use assize_bundle::{Measurement, Records};

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
    if let [first, _, ..] = &records.configurations[..] {
        writeln!(told, "baseline: {}", first.name).unwrap();
    }
    for ([workload, metric, configuration], values) in runs {
        let alone = cells[&(workload, metric)].len() < 2;
        let how = if alone { "alone" } else { "compared" };
        let of = format!("{configuration} on {workload}");
        writeln!(told, "{how}: {of}: {metric} {values:?}").unwrap();
    }
    for one in &records.summaries {
        let of = format!("{} on {}", one.configuration, one.workload);
        let (metric, mean, n) = (&one.metric, one.mean, one.n);
        writeln!(told, "mean: {of}: {metric} {mean} {n:?}").unwrap();
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

/// Whole posts, as people send them, and the numbers in them that nothing claims.
#[test]
fn whole_posts_are_read_as_they_were_looked_over() {
    for (path, post) in posts("whole") {
        if path.extension().is_none_or(|end| end != "txt") {
            continue;
        }
        let audit = assize_audit::read(post.as_bytes(), "post", &explain()).unwrap();
        let mut read = told(&audit.records);
        for one in assize_audit::reading::unassigned(&audit) {
            let (line, value, unit) = (one.line, one.value, one.unit);
            writeln!(read, "in no row, line {line}: {value} {unit}").unwrap();
        }
        let left_out = assize_audit::reading::left_out(&audit);
        writeln!(read, "not compared, lines {left_out:?}").unwrap();
        looked_over(&path.with_extension("read_as"), &read);
    }
}

/// The rows of the draft of a post.
fn drafted(post: &str) -> String {
    let all = Options {
        judged: Judged::All,
        ..explain()
    };
    let read = |options| assize_audit::read(post.as_bytes(), "post", options).unwrap();
    let draft = assize_audit::reading::draft(post, &read(&all), &read(&Options::default()));
    let rows = draft.text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| format!("{row}\n")).collect()
}

/// The figures that a text declares.
fn declared(text: &str, options: &Options) -> String {
    let read = assize_audit::declared::read(text.as_bytes(), "text", Stands::Alone, options);
    let one = match read {
        Ok(Outcome::Declared(one)) => one,
        Ok(Outcome::Undeclared(_)) => return "nothing is declared\n".to_owned(),
        Err(error) => return format!("{error}\n"),
    };
    let mut all = String::new();
    for run in &one.records.runs {
        for (metric, figure) in &run.metrics {
            let Measurement { value, unit, .. } = figure;
            writeln!(all, "{}: {metric} {value} {unit:?}", run.configuration).unwrap();
        }
    }
    for one in &one.records.summaries {
        writeln!(all, "{one:?}").unwrap();
    }
    all + &format!("lower is better: {:?}\n", one.lower_is_better)
}

#[test]
fn texts_are_read_and_drafted_as_they_were_looked_over() {
    let told: fn(&str) -> String = |post| told(&records(post));
    for (folder, of) in [
        ("told", told),
        ("single/drafts.txt", drafted),
        ("single/declared.txt", |text| {
            declared(text, &Options::default())
        }),
    ] {
        for (path, text) in posts(folder) {
            let cases = cases(&text).into_iter();
            let anew = cases.map(|[title, post]| format!("{title}{post}{MARK}{}", of(&post)));
            looked_over(&path, &anew.collect::<String>());
        }
    }
}

#[test]
fn figures_without_configurations_are_read_and_not_judged() {
    for [title, post] in cases(include_str!("posts/single/read_only.txt")) {
        assert_eq!(compared(&records(&post)), [] as [String; 0], "{title}");
    }
}

#[test]
fn the_user_says_what_columns_are() {
    let post = include_str!("posts/single/unknown.txt");
    assert!(records(post).runs.is_empty());
    let columns = Options {
        columns_are: Some(Role::Configurations),
        ..Options::default()
    };
    assert_eq!(compared(&records_as(post, &columns)), ["red", "green"]);
    let figures = "a: value 1.5 \"\"\nb: value 2.5 \"\"\nlower is better: []\n";
    assert_eq!(declared("run,a,b\n1,1.5,2.5\n", &columns), figures);
    // Whoever compares files has said what is compared.
    let all = Options {
        judged: Judged::All,
        ..Options::default()
    };
    assert!(!records_as(post, &all).runs.is_empty());
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
