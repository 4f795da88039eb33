//! Several files of results together, in any order.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{assize, document, errors};
use serde_json::Value;

/// Four runs of `perf stat` of `command`. Metrics in `left_out` are absent; `dead` is not
/// supported.
fn perf(command: &str, scale: u32, left_out: &[&str], dead: &str) -> String {
    let mut text = String::new();
    for run in 1..=4 {
        writeln!(text, " Performance counter stats for './{command}':\n").unwrap();
        for (name, unit, value) in [
            (
                "task-clock",
                "msec ",
                format!("{}.12", 1000 + 7 * run + scale),
            ),
            (
                "context-switches",
                "",
                format!("{}", 1200 + 3 * run * run + scale),
            ),
            ("cpu-migrations", "", format!("{}", 40 + run + scale % 7)),
        ] {
            let unit = if unit.is_empty() { "     " } else { unit };
            if name == dead {
                writeln!(text, "   <not supported>      {unit}{name}").unwrap();
            } else if !left_out.contains(&name) {
                writeln!(text, "          {value:>8}      {unit}{name}").unwrap();
            }
        }
        let elapsed = 10 + run + scale / 10;
        writeln!(text, "\n       2.{elapsed}345 seconds time elapsed\n").unwrap();
    }
    text
}

/// A document without the fields that depend on the order of the inputs.
fn unordered(mut document: Value) -> Value {
    let map = document.as_object_mut().unwrap();
    for named in ["source", "reproduce"] {
        map.remove(named);
    }
    for run in map["runs"].as_array_mut().unwrap() {
        run.as_object_mut().unwrap().remove("order");
    }
    for spoken in ["lints", "sentences"] {
        reorder_words(&mut map[spoken]);
    }
    sort(&mut document);
    document
}

/// Sorts lists in sentences, which are in the order of the inputs.
fn reorder_words(value: &mut Value) {
    match value {
        Value::Array(rows) => rows.iter_mut().for_each(reorder_words),
        Value::Object(map) => map.values_mut().for_each(reorder_words),
        Value::String(text) => {
            let mut words: Vec<&str> = text.split([' ', ',']).filter(|w| !w.is_empty()).collect();
            words.sort_unstable();
            *text = words.join(" ");
        }
        _ => {}
    }
}

fn sort(value: &mut Value) {
    match value {
        Value::Array(rows) => {
            rows.iter_mut().for_each(sort);
            rows.sort_by_cached_key(ToString::to_string);
        }
        Value::Object(map) => map.values_mut().for_each(sort),
        _ => {}
    }
}

/// All permutations of these inputs.
fn orders<'a>(of: &[&'a str]) -> Vec<Vec<&'a str>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in of {
        let rest: Vec<&str> = of.iter().copied().filter(|one| one != first).collect();
        for mut order in orders(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

/// Checks that the document is the same for every order of these inputs, and returns it.
fn same_in_every_order(place: &Path, inputs: &[&str]) -> Value {
    let compared = |order: &[&str]| {
        let mut arguments = vec!["compare", "--json", "--baseline", "a"];
        arguments.extend(order);
        document(place, &arguments)
    };
    let first = compared(inputs);
    let expected = unordered(first.clone());
    for order in orders(inputs) {
        let found = unordered(compared(&order));
        assert!(found == expected, "{order:?}: {found:#}\n{expected:#}");
    }
    first
}

fn lints(document: &Value, code: &str) -> Vec<String> {
    let of = |lint: &&Value| lint["code"] == code;
    let text = |lint: &Value| {
        let part = |field: &str| lint[field].as_str().unwrap().to_owned();
        format!("{}: {}", part("where"), part("detail"))
    };
    document["lints"]
        .as_array()
        .unwrap()
        .iter()
        .filter(of)
        .map(text)
        .collect()
}

#[test]
fn a_counter_that_one_file_lacks_is_all_that_is_missing() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let write = |name: &str, text: String| fs::write(here.join(name), text).unwrap();
    write("a.txt", perf("w", 0, &[], ""));
    write("b.txt", perf("w", 50, &["cpu-migrations"], ""));
    write("c.txt", perf("w", 90, &[], ""));
    for inputs in [&["a.txt", "b.txt"][..], &["a.txt", "b.txt", "c.txt"]] {
        let found = same_in_every_order(here, inputs);
        assert_eq!(found["workloads"], serde_json::json!(["w"]));
        assert_eq!(
            lints(&found, "missing-cell"),
            ["b on w: no value of cpu-migrations"],
            "{inputs:?}"
        );
        let rows = found["comparisons"].as_array().unwrap();
        assert_eq!(rows.len(), if inputs.len() == 2 { 3 } else { 7 });
    }
    // Without missing metrics there is no lint about them.
    assert!(
        lints(
            &same_in_every_order(here, &["a.txt", "c.txt"]),
            "missing-cell"
        )
        .is_empty()
    );
}

#[test]
fn a_counter_that_one_file_could_not_have_is_excused_once() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let write = |name: &str, text: String| fs::write(here.join(name), text).unwrap();
    write("a.txt", perf("w", 0, &[], ""));
    write("b.txt", perf("w", 50, &[], "cpu-migrations"));
    write("c.txt", perf("w", 90, &[], "") + &perf("x", 70, &[], ""));
    write("d.txt", perf("w", 30, &[], "") + &perf("x", 10, &[], ""));
    let found = same_in_every_order(here, &["a.txt", "b.txt", "c.txt", "d.txt"]);
    assert_eq!(found["workloads"], serde_json::json!(["w", "x"]));
    let said = lints(&found, "unsupported-counter");
    assert!(
        said.len() == 1 && said[0].contains("cpu-migrations"),
        "{said:?}"
    );
    let missing = [
        "x: no runs of a and b",
        "x: the baseline a was not run on x: nothing is compared there",
    ];
    assert_eq!(lints(&found, "missing-cell"), missing);
}

#[test]
fn files_of_one_name_are_not_pooled() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    fs::create_dir(here.join("x")).unwrap();
    fs::write(here.join("a.txt"), perf("w", 0, &[], "")).unwrap();
    fs::write(here.join("x/A.txt"), perf("w", 50, &[], "")).unwrap();
    let done = assize(here, &["compare", "a.txt", "x/A.txt"]);
    assert_eq!(done.status.code(), Some(2));
    let said = errors(&done);
    assert!(said.contains("x/A.txt: holds runs of 'a' on 'w'"), "{said}");
}

#[test]
fn hyperfine_in_seconds_stands_beside_hyperfine_in_milliseconds() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let report = |mean: &str, range: &str| {
        format!(
            "Benchmark 1: make\n  Time (mean ± σ):     {mean}    [User: 0.1 s, System: 0.1 s]\n  \
             Range (min … max):   {range}    10 runs\n"
        )
    };
    let slow = report("1.052 s ±  0.011 s", "1.030 s …  1.071 s");
    fs::write(here.join("a.txt"), slow).unwrap();
    let quick = report("952.1 ms ±  9.8 ms", "931.0 ms … 968.2 ms");
    fs::write(here.join("b.txt"), quick).unwrap();
    let claim = ["--claim", "b < a on time"];
    let compare = |order: [&str; 2]| {
        let arguments = [
            &["compare", "--json", "--baseline", "a"],
            &order[..],
            &claim,
        ];
        document(here, &arguments.concat())
    };
    for order in [["a.txt", "b.txt"], ["b.txt", "a.txt"]] {
        let found = compare(order);
        assert_eq!(
            found["claims"][0]["outcome"], "upheld",
            "{order:?}: {found:#}"
        );
        let rows = found["comparisons"].as_array().unwrap();
        let row = rows.iter().find(|row| row["metric"] == "time").unwrap();
        let ratio = row["ratio"].as_f64().unwrap();
        assert!((ratio - 0.9521 / 1.052).abs() < 1e-12, "{ratio}");
        // The recorded values are the printed ones.
        let means: Vec<&Value> = found["summaries"].as_array().unwrap().iter().collect();
        let printed = means
            .iter()
            .find(|mean| mean["configuration"] == "b")
            .unwrap();
        assert_eq!(
            (&printed["mean"], &printed["unit"]),
            (&952.1.into(), &"ms".into())
        );
        assert!(lints(&found, "unit-unknown").is_empty());
    }
}

/// The output of six hackbench runs that take this long.
fn hackbench(time: &str) -> String {
    let one = format!(
        "Running in process mode with 2 groups using 8 file descriptors each (== 16 tasks)\n\
         Each sender will pass 100 messages of 100 bytes\nTime: {time}\n"
    );
    one.repeat(6)
}

#[test]
fn times_printed_too_coarsely_are_not_equivalent() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    for (printed, verdict, step) in [
        ("0.007", "undecided", 0.001),
        ("7.000", "equivalent", 0.001),
        ("7.0", "undecided", 0.1),
    ] {
        for name in ["a.txt", "b.txt"] {
            fs::write(here.join(name), hackbench(printed)).unwrap();
        }
        let files = ["compare", "a.txt", "b.txt"];
        let found = document(here, &[&files[..], &["--json"]].concat());
        let row = &found["comparisons"][0];
        assert_eq!(row["verdict"], verdict, "{printed}: {row:#}");
        assert_eq!(row["resolution"], step, "{printed}");
        let text = crate::common::printed(here, &[&files[..], &["--format", "mail"]].concat());
        let words: Vec<&str> = text.split_whitespace().collect();
        let said = words
            .join(" ")
            .contains("nothing can show that the sides are equal");
        assert_eq!(said, verdict == "undecided", "{printed}: {text}");
    }
}
