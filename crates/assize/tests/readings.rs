//! Readings, faulty declared tables, and files written by test harnesses.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn assize(place: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assize"))
        .args(arguments)
        .current_dir(place)
        .output()
        .unwrap()
}

fn printed(place: &Path, arguments: &[&str]) -> String {
    let done = assize(place, arguments);
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{arguments:?}: {errors}");
    String::from_utf8(done.stdout).unwrap()
}

/// The single error line of a command that exits with 2.
fn refused(place: &Path, arguments: &[&str]) -> String {
    let done = assize(place, arguments);
    assert_eq!(done.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(done.stderr).unwrap()
}

const POST: &str = "\
Stock kernel, five runs:
 real 184.1 s
 real 183.2 s
 real 185.0 s
 real 184.6 s
 real 184.3 s
mean 184.24
With my patch:
 165.2 165.9 166.0 166.1 165.4
The patch makes it 10.1 % faster, that is 12 % in all.
TCP: 940.2 Mbit/s +- 2.1 before, 1012.5 +- 3.0 after (8 runs each).

name     bw
stock    102400 KiB/s
patched  112400 KiB/s
";

fn with_post() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("post.txt"), POST).unwrap();
    place
}

fn read(place: &Path, rows: &str) -> Output {
    fs::write(place.join("r"), rows).unwrap();
    assize(place, &["audit", "post.txt", "--reading", "r"])
}

#[test]
fn runs_behind_names_are_judged_with_the_draft_completed() {
    let place = tempfile::tempdir().unwrap();
    let post =
        "hackbench, seconds\n\nred: 1.02 1.03 1.01 1.05 1.02\nblue: 0.91 0.92 0.93 0.90 0.91\n";
    fs::write(place.path().join("post.txt"), post).unwrap();
    printed(place.path(), &["audit", "post.txt", "--draft", "r"]);
    let draft = fs::read_to_string(place.path().join("r")).unwrap();
    assert!(draft.contains("blue | ? | value | 4.*"), "{draft}");
    let complete = draft.replace("| ? | value |", "| hackbench | time s < |");
    fs::write(place.path().join("r"), complete).unwrap();
    let judged = ["audit", "post.txt", "--reading", "r", "--format", "brief"];
    let said = printed(place.path(), &judged);
    assert!(said.contains("blue  better: -10.9 %"), "{said}");
}

#[test]
fn a_reading_takes_figures_from_their_places() {
    let place = with_post();
    let rows = "\
# a comment
stock   | build | time s <   | 2-6 mean 7 # their mean is printed below
patched | build | time s <   | 9.*
patched / stock | build | time % | 10.1
patched / stock | build | time % | 10.2
patched / stock | other | time % | 11.5
stock   | tcp   | Mbit/s >   | 11.1 +- 11.2 sd n=8
patched | tcp   | Mbit/s >   | 11.3 +- 11.4 sd n=8
*       | fio   | bw KiB/s > | table@13 col 2
";
    let done = read(place.path(), rows);
    let text = String::from_utf8_lossy(&done.stdout);
    for part in [
        "patched  better: build -10.1 % (184 -> 166 s)",
        "patched  likely better: tcp +7.7 %, +7.4 % to +8.0 %",
        "stock, fio, bw: 102400 (line 14)",
        "printed 10.1 (line 10), patched / stock, time on build: agrees",
        "printed 12 (line 10), patched / stock, time on build: differs by 1.948: the figures \
         give 10.05",
        "time on other: cannot be checked",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A figure that no row uses is not part of a workload's name.
#[test]
fn names_of_rows_hold_no_figures() {
    let place = tempfile::tempdir().unwrap();
    let post = "old\nsort 4 12.5 s 812.5 MB\njoin 4 22.5 s 812.25 MB\n\nnew\nsort 4 11.5 s 790.5 MB\n\
                join 4 21.5 s 790.25 MB\n";
    fs::write(place.path().join("post.txt"), post).unwrap();
    for rows in [
        "old | * | rss [MB] < | 2-3.3\nnew | * | rss [MB] < | 6-7.3",
        "old | * | rss < | table@2 col 5\nnew | * | rss < | table@6 col 5",
    ] {
        let done = read(place.path(), rows);
        let text = String::from_utf8_lossy(&done.stdout);
        for part in [
            "old, sort 4",
            "new, join 4",
            "4 runs, 2 configurations, 2 workloads",
        ] {
            assert!(text.contains(part), "{rows}: {text}");
        }
    }
}

#[test]
fn versions_and_figures_before_a_name_are_not_told_apart_by_guess() {
    let place = tempfile::tempdir().unwrap();
    let post = "5.10 walk 12.5 s\n6.1 walk 13.5 s\n\nnew\n5.10 walk 11.5 s\n6.1 walk 12.25 s\n";
    fs::write(place.path().join("post.txt"), post).unwrap();
    let rows = "old | * | time s < | table@1 col 3\nnew | * | time s < | table@4 col 3";
    let done = read(place.path(), rows);
    let found = String::from_utf8_lossy(&done.stderr);
    assert!(
        found.contains("'5.10 walk' and '6.1 walk' would be runs of one workload"),
        "{found}"
    );
}

#[test]
fn each_place_is_checked() {
    let place = with_post();
    for (rows, error) in [
        ("a | b | time s | 1", "r:1: line 1 has 0 numbers"),
        ("a | b | time s | 9", "line 9 has 5 numbers"),
        ("a | b | time s | 99", "beyond the end of the text"),
        ("a | b | time ms | 2-6", "the unit is ms, and line 2 says s"),
        ("a | b | time s | 2-6 mean 9.1", "prints the mean 165.2"),
        (
            "a | b | t | 2\nb | b | t | 2-3",
            "r:2: line 2: 184.1 is taken already by row 1",
        ),
        ("a | b | t | 2-6 +- 9.1", "has 5 numbers and 1 spreads"),
        ("? | b | t | 2", "r:1: the configuration is still '?'"),
        ("a | b | t | ", "r:1: the place is still empty"),
        ("a | b | t", "has 3 fields and not 4"),
        ("a | b | t | x", "'x' is no place"),
        ("* | b | t | 2", "which only a column of a table has"),
        ("a | b | t | 2-6", "names one configuration"),
        ("# nothing", "r: holds no row"),
    ] {
        let done = read(place.path(), rows);
        let found = String::from_utf8_lossy(&done.stderr);
        assert!(found.contains(error), "{rows}: {found}");
        assert_eq!(
            (done.status.code(), found.lines().count()),
            (Some(2), 1),
            "{found}"
        );
    }
}

#[test]
fn a_draft_claims_each_number_once_and_lists_the_rest() {
    let place = with_post();
    let at = place.path();
    let said = printed(at, &["audit", "post.txt", "--draft", "d", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let unassigned = said["unassigned"].as_array().unwrap();
    let lists = |value: f64, unit: &str, line: u64| {
        unassigned
            .iter()
            .any(|one| one["value"] == value && one["unit"] == unit && one["line"] == line)
    };
    let draft = fs::read_to_string(at.join("d")).unwrap();
    assert!(
        draft.starts_with("# configuration | workload | metric"),
        "{draft}"
    );
    assert!(lists(1012.5, "", 11) || draft.contains("11.3"), "{draft}");
    // Open entries of a draft must be filled in.
    let open = refused(at, &["audit", "post.txt", "--reading", "d"]);
    assert!(open.contains("is still '?'"), "{open}");
    let taken = [
        "--take",
        "2-6=stock",
        "--take",
        "9.*=patched",
        "--metric",
        "time s <",
    ];
    let judged = printed(at, &[&["audit", "post.txt"][..], &taken].concat());
    assert!(judged.contains("patched  better: -10.1 %"), "{judged}");
}

#[test]
fn tables_that_contradict_themselves_are_one_error() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    for (text, error) in [
        (
            "config,value\na,1\nb,x\n",
            "t.csv:3: column 'value' holds 'x', not a number",
        ),
        (
            "config,value\na,1\nb\n",
            "t.csv:3: has 1 cells and the header 2",
        ),
        (
            "config,value\na,1\na,2\n",
            "holds the figures of one configuration",
        ),
        (
            "config,variant,value\na,b,1\n",
            "both name the configuration",
        ),
        ("config,value,mean\na,1,1\n", "contradicts column 'mean'"),
        (
            "run,a,b\n1,2,3\n",
            "nobody says what the columns 'run', 'a', 'b' are",
        ),
        (
            "config,run,metric,value\na,1,t,1\na,1,t,2\n",
            "t.csv:3: a run of a on workload has t",
        ),
        (
            "config,at,value\na,1,1\na,2,2\nb,3,1\nb,4,2\n",
            "column 'at' differs in every row",
        ),
        ("config,mean,n\na,1,0\n", "column 'n' holds '0'"),
        (
            "config,value [s],unit\na,1,ms\n",
            "the unit is said to be s and is ms",
        ),
        (",value\n,1\n", "nothing to judge"),
        ("config,value\n,1\n", "t.csv:2: column 'config' is empty"),
        ("1\n2\n", "holds plain numbers of one configuration"),
    ] {
        fs::write(at.join("t.csv"), text).unwrap();
        let found = refused(at, &["audit", "t.csv"]);
        assert!(found.contains(error), "{text}: {found}");
    }
}

#[test]
fn order_is_known_only_from_a_column() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let mut text = "config,order,value\n".to_owned();
    for run in 0..8 {
        text.push_str(&format!("a,{},{}\n", run, 10.0 + 0.1 * f64::from(run)));
        text.push_str(&format!("b,{},{}\n", run + 8, 11.0 + 0.1 * f64::from(run)));
    }
    fs::write(at.join("o.csv"), &text).unwrap();
    let with = printed(at, &["audit", "o.csv", "--format", "mail"]);
    assert!(
        with.contains("[unrandomised-order]") && with.contains("[drift]"),
        "{with}"
    );
    fs::write(at.join("o.csv"), text.replace("config,order", "config,run")).unwrap();
    let without = printed(at, &["audit", "o.csv", "--format", "mail"]);
    assert!(
        !without.contains("order]") && !without.contains("[drift]"),
        "{without}"
    );
}

#[test]
fn what_harnesses_wrote_is_read() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/harness");
    for (file, workload, metric, n) in [
        ("google-benchmark-1.7.1.json", "BM_sum", "real_time", 3),
        ("pytest-benchmark-5.json", "test_b.py::test_sum", "time", 8),
    ] {
        let sides = [format!("a={file}"), format!("b={file}")];
        let text = printed(&data, &["audit", &sides[0], &sides[1], "--json"]);
        let document: Value = serde_json::from_str(&text).unwrap();
        let summary = &document["summaries"][0];
        assert_eq!(summary["workload"], workload);
        assert_eq!(
            (&summary["metric"], &summary["n"]),
            (&metric.into(), &n.into())
        );
        let twice = [&sides[..], &sides[..]].concat();
        let arguments: Vec<&str> = ["audit", "--json"]
            .into_iter()
            .chain(twice.iter().map(String::as_str))
            .collect();
        let document: Value = serde_json::from_str(&printed(&data, &arguments)).unwrap();
        assert_eq!(document["runs"].as_array().unwrap().len(), 4, "{file}");
        let alone = refused(&data, &["audit", file]);
        assert!(alone.contains("of one configuration"), "{alone}");
    }
}

#[test]
fn forks_are_runs_and_saved_baselines_are_configurations() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let entry = |raw: &str| {
        format!(
            r#"[{{"jmhVersion": "1.37", "benchmark": "org.example.Sum.add", "mode": "thrpt",
                 "params": {{"size": "64"}},
                 "primaryMetric": {{"score": 1.0, "scoreUnit": "ops/s", "rawData": {raw}}}}}]"#
        )
    };
    fs::write(at.join("a.json"), entry("[[10.0, 11.0], [12.0, 13.0]]")).unwrap();
    fs::write(at.join("b.json"), entry("[[10.0, 11.0, 12.0]]")).unwrap();
    let text = printed(at, &["audit", "a.json", "b.json", "--json"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let value = |run: usize| document["runs"][run]["metrics"]["thrpt"]["value"].clone();
    assert_eq!((value(0), value(1)), (10.5.into(), 12.5.into()));
    assert_eq!(document["summaries"][0]["n"], 3);
    assert_eq!(document["workloads"][0], "org.example.Sum.add, size=64");
    for baseline in ["before", "after", "new", "base"] {
        let directory = at.join("criterion/sum").join(baseline);
        fs::create_dir_all(&directory).unwrap();
        let sample = r#"{"sampling_mode": "Linear", "iters": [1.0, 2.0], "times": [5.0, 10.2]}"#;
        fs::write(directory.join("sample.json"), sample).unwrap();
    }
    let text = printed(at, &["audit", "criterion", "--json"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let names = document["configurations"].to_string();
    assert!(
        names.contains("after") && names.contains("before"),
        "{names}"
    );
    assert_eq!(
        document["summaries"].as_array().unwrap().len(),
        2,
        "{document}"
    );
    fs::remove_dir_all(at.join("criterion/sum/before")).unwrap();
    let alone = refused(at, &["audit", "criterion"]);
    assert!(alone.contains("--save-baseline"), "{alone}");
    fs::create_dir(at.join("empty")).unwrap();
    let none = refused(at, &["audit", "a=empty", "b=a.json"]);
    assert!(
        none.contains("a directory that no known harness wrote"),
        "{none}"
    );
}

#[test]
fn options_that_say_nothing_of_an_input_are_refused() {
    let place = with_post();
    let at = place.path();
    for (arguments, error) in [
        (
            &["audit", "post.txt", "--metric", "time s"][..],
            "--metric: post.txt is not a table",
        ),
        (
            &["audit", "post.txt", "--runs-behind", "8"],
            "--runs-behind: post.txt is not a table",
        ),
        (&["audit", "a=post.txt"], "post.txt: is one configuration"),
        (
            &["audit", "post.txt", "post.txt", "--thread"],
            "--thread: applies to one archive",
        ),
        (
            &["audit", "post.txt", "--take", "2-6"],
            "is not PLACE=CONFIGURATION",
        ),
        (
            &[
                "audit", "post.txt", "--take", "2-3=a", "--take", "9.*=b", "--take", "5-6=a",
            ],
            "--take '5-6=a': takes a again",
        ),
        (&["audit", "post.txt", "--metric", "<"], "is no metric"),
    ] {
        let found = refused(at, arguments);
        assert!(found.contains(error), "{arguments:?}: {found}");
    }
}

#[test]
fn changes_that_a_table_prints_are_recomputed() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let table = "\
| config  | benchmark | mean [s] | sd  | n | change  |
| ------- | --------- | -------- | --- | - | ------- |
| base    | build     | 184.2    | 0.7 | 8 |         |
| patched | build     | 165.7    | 0.6 | 8 | -10.0 % |
| base    | boot      | 20.0     | 0.1 | 8 | -       |
| patched | boot      | 19.0     | 0.1 | 8 | -8 %    |
| patched | halt      | 19.0     | 0.1 | 8 | -8 %    |
";
    fs::write(at.join("t.md"), table).unwrap();
    let text = printed(at, &["audit", "t.md", "--format", "mail"]);
    for part in [
        "printed -10 (line 4), patched / base, value on build: agrees",
        "printed -8 (line 6), patched / base, value on boot: differs by 3.000: the figures \
         give -5.000",
        "value on halt: cannot be checked",
        "value       0.950 *",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn compare_reads_declared_files_as_audit_does() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let tidy: String = (0..8)
        .map(|run| format!("base,{}\npatched,{}\n", 100 + run % 3, 90 + run % 4))
        .collect();
    fs::write(at.join("t.csv"), format!("config,value\n{tidy}")).unwrap();
    for (name, first) in [("base", 100), ("patched", 90)] {
        let of = if first == 100 { 3 } else { 4 };
        let lines: String = (0..8)
            .map(|run| format!("{}\n", first + run % of))
            .collect();
        fs::write(at.join(format!("{name}.txt")), lines).unwrap();
    }
    let found = |arguments: &[&str]| -> Value {
        let text = printed(at, &[arguments, &["--json"]].concat());
        let document: Value = serde_json::from_str(&text).unwrap();
        let row = &document["comparisons"][0];
        [&row["verdict"], &row["ratio"], &row["p"]]
            .map(Value::to_string)
            .join(" ")
            .into()
    };
    let expected = found(&["audit", "t.csv"]);
    assert!(
        expected.as_str().unwrap().starts_with("\"established\""),
        "{expected}"
    );
    for arguments in [
        &["compare", "t.csv"][..],
        &["compare", "base.txt", "patched.txt"],
        &["audit", "base=base.txt", "patched=patched.txt"],
    ] {
        assert_eq!(found(arguments), expected, "{arguments:?}");
    }
}

/// Ten runs of each side, with a trend.
const RISING: [(f64, f64); 10] = [
    (100.1, 80.2),
    (100.6, 80.5),
    (101.2, 81.1),
    (101.5, 81.6),
    (102.1, 82.5),
    (102.4, 82.0),
    (103.0, 83.1),
    (103.3, 83.4),
    (103.9, 84.3),
    (104.2, 83.9),
];

/// The output for a post that consists of `head` and rows.
fn said_of(
    place: &Path,
    options: &[&str],
    head: &str,
    rows: impl Iterator<Item = String>,
) -> String {
    fs::write(
        place.join("post.txt"),
        head.to_owned() + &rows.collect::<String>(),
    )
    .unwrap();
    printed(
        place,
        &[&["audit", "post.txt", "--format", "mail"], options].concat(),
    )
}

#[test]
fn rows_of_a_posted_table_are_in_no_order() {
    let place = tempfile::tempdir().unwrap();
    let plain = "Ten runs of each:\n\nrun  base (s)  patched (s)\n";
    let piped = "Ten runs of each:\n\n| run | base (s) | patched (s) |\n|---|---|---|\n";
    type Written = fn(usize, (f64, f64)) -> String;
    let layouts: [(&str, Written); 2] = [
        (plain, |n, (a, b)| format!("{:3}  {a}  {b}\n", n + 1)),
        (piped, |n, (a, b)| format!("| {} | {a} | {b} |\n", n + 1)),
    ];
    for (head, written) in layouts {
        let shuffled = [3, 8, 0, 6, 9, 1, 5, 2, 7, 4];
        let rows = RISING.iter().enumerate();
        let said_of = |rows: Vec<String>| {
            let columns = ["--columns-are", "configurations"];
            said_of(place.path(), &columns, head, rows.into_iter())
        };
        let sorted = said_of(rows.map(|(n, row)| written(n, *row)).collect());
        let rows = shuffled.iter().map(|&n| RISING[n]).enumerate();
        let mixed = said_of(rows.map(|(n, row)| written(n, row)).collect());
        assert_eq!(sorted, mixed);
        assert!(sorted.contains("0.805 **"), "{sorted}");
        for lint in ["[drift]", "[dependent-runs]", "[unrandomised-order]"] {
            assert!(!sorted.contains(lint), "{sorted}");
        }
    }
}

#[test]
fn reports_of_a_tool_stand_in_the_order_of_the_runs() {
    let place = tempfile::tempdir().unwrap();
    let report = |value: f64| format!("real\t{value:.1}s\nuser\t0m1.0s\nsys\t0m0.1s\n\n");
    let base = RISING.iter().map(|(base, _)| report(*base));
    let patched = RISING.iter().map(|(_, patched)| report(*patched));
    let between = std::iter::once("patched:\n\n".to_owned());
    let said = said_of(
        place.path(),
        &[],
        "base:\n\n",
        base.chain(between).chain(patched),
    );
    assert!(
        said.contains("[unrandomised-order]") && said.contains("[drift]"),
        "{said}"
    );
}

#[test]
fn nobody_knows_when_the_runs_of_one_file_were_made_beside_those_of_another() {
    let place = tempfile::tempdir().unwrap();
    let report = |value: f64| format!("real\t{value:.1}s\nuser\t0m1.0s\nsys\t0m0.1s\n\n");
    let base = RISING.iter().map(|(base, _)| report(*base));
    let patched = RISING.iter().map(|(_, patched)| report(*patched));
    fs::write(place.path().join("base"), base.collect::<String>()).unwrap();
    fs::write(place.path().join("patched"), patched.collect::<String>()).unwrap();
    let said = printed(
        place.path(),
        &["compare", "base", "patched", "--format", "mail"],
    );
    assert!(said.contains("-19.5 %"), "{said}");
    assert!(
        !said.contains("order]") && !said.contains("[drift]"),
        "{said}"
    );
}

/// A column called `Build` names configurations, unless others are the states before a
/// change and after it.
#[test]
fn columns_before_and_after_are_configurations_whatever_the_first_is_called() {
    let place = tempfile::tempdir().unwrap();
    let post = "| Build | Before | After |\n|---|---:|---:|\n| tiny | 19.6s | 18.6s |\n\
                | large | 36.2s | 20.4s |\n";
    fs::write(place.path().join("post.md"), post).unwrap();
    let said = printed(place.path(), &["audit", "post.md", "--format", "mail"]);
    assert!(
        said.contains("compared with\nBefore") || said.contains("compared with Before"),
        "{said}"
    );
    for part in ["large -43.6 %", "tiny -5.1 %"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn files_numbered_from_one_are_runs() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, max: u32| {
        let line = format!("T: 0 ( 7) P:80 I:500 C: 4000 Min: 3 Act: 5 Avg: 6 Max: {max}\n");
        fs::write(place.path().join(name), line).unwrap();
    };
    for (number, max) in (1..).zip([50, 4868, 52, 51, 53, 50]) {
        write(&format!("before-{number}.txt"), max);
        write(&format!("after-{number}.txt"), 50 + number % 3);
    }
    let names = |stem: &str| {
        (1..=6)
            .map(|n| format!("{stem}-{n}.txt"))
            .collect::<Vec<_>>()
    };
    let files = [names("before"), names("after")].concat();
    let arguments: Vec<&str> = files.iter().map(String::as_str).collect();
    let said = printed(place.path(), &[&["audit"][..], &arguments].concat());
    assert!(
        said.contains("12 runs, 2 configurations, 1 workload;"),
        "{said}"
    );
    let mail = printed(
        place.path(),
        &[&["audit", "--format", "mail"][..], &arguments].concat(),
    );
    let outlier = "[outlier-run] before on cyclictest, run 2 (before-2.txt): is far";
    assert!(
        mail.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains(outlier),
        "{mail}"
    );
    // Numbers that do not count from 1 may be amounts.
    let few = ["before-1.txt", "before-3.txt", "after-1.txt", "after-3.txt"];
    let said = printed(place.path(), &[&["audit"][..], &few].concat());
    assert!(said.contains("compared with before-1"), "{said}");
}
