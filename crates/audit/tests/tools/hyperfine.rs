//! `hyperfine`: text, tables, CSV and JSON.

use super::*;

fn ms(value: f64) -> Figure {
    Figure::new("time", value, "ms")
}

#[test]
fn each_section_is_a_summary_with_deviation_and_runs() {
    let read = read(include_str!("../hyperfine/two-commands.txt"));
    let times: Vec<_> = read
        .summaries()
        .into_iter()
        .filter(|s| s.2.metric == "time")
        .collect();
    assert_eq!(
        times,
        [
            (
                "sleep 0.02".to_owned(),
                String::new(),
                ms(21.2),
                Some(0.1),
                Some(5)
            ),
            (
                "sleep 0.03".to_owned(),
                String::new(),
                ms(31.4),
                Some(0.2),
                Some(5)
            ),
        ]
    );
    let sys = read
        .summaries()
        .into_iter()
        .filter(|s| s.2.metric == "sys")
        .count();
    assert_eq!((sys, read.doubts().len()), (2, 0));
}

#[test]
fn a_deviation_printed_as_zero_is_half_a_unit_of_its_last_digit() {
    let deviations = |text: &str| -> Vec<_> {
        let times = read(text).summaries().into_iter();
        let times = times.filter(|one| one.2.metric == "time");
        times.map(|one| one.3).collect()
    };
    let text = include_str!("../hyperfine/two-commands.txt").replace("0.1 ms   ", "0.0 ms   ");
    assert_eq!(deviations(&text), [Some(0.05), Some(0.2)]);
    let table = include_str!("../hyperfine/two-commands.md").replace("± 0.1", "± 0.0");
    assert_eq!(deviations(&table), [Some(0.05), Some(0.2)]);
    // What programs write for programs has all digits: there zero is zero.
    let fields = include_str!("../hyperfine/two-commands.csv");
    let zero = fields.replace("0.00013814310991142493", "0.0");
    assert_ne!(fields, zero);
    assert_eq!(deviations(&zero)[0], Some(0.0));
}

#[test]
fn the_ranking_is_explained_but_not_read() {
    let read = read(include_str!("../hyperfine/two-commands.txt"));
    assert_eq!(
        read.taken
            .iter()
            .filter(|t| **t == "hyperfine ranking")
            .count(),
        3
    );
    assert_eq!(read.summaries().len(), 6);
}

#[test]
fn titles_of_old_versions_and_mangled_signs_are_read() {
    for sign in ["±", "+-", "Â±"] {
        let text = format!(
            "Benchmark #1: ./glgears\n  Time (mean {sign} s):     1.102 s {sign}  0.020 s    [User: 1.0 ms, System: 2.0 ms]\n  Range (min ... max):   1.1 s ...  1.2 s    12 runs\n"
        );
        let read = read(&text);
        let expected = Figure::new("time", 1.102, "s");
        assert_eq!(
            read.summaries()[0],
            (
                "./glgears".to_owned(),
                String::new(),
                expected,
                Some(0.02),
                Some(12)
            ),
            "{sign}"
        );
    }
}

#[test]
fn lines_that_a_mailer_wrapped_are_joined() {
    let read = read(
        "Benchmark 1: a\n  Time (mean ± σ):      21.2 ms ±   0.1 ms    [User: 0.6 ms,\nSystem: 0.4 ms]\n  Range (min … max):    21.2 ms …  21.5 ms    5\nruns\n",
    );
    let summaries = read.summaries();
    assert_eq!(summaries.len(), 3);
    assert!(summaries.iter().all(|s| s.4 == Some(5)));
    assert_eq!(summaries[2].2, Figure::new("sys", 0.4, "ms"));
}

#[test]
fn a_single_run_is_a_run() {
    let read = read(include_str!("../hyperfine/single-run.txt"));
    assert_eq!(read.figure("time"), of(11.0, "ms"));
    assert_eq!(read.figure("user"), of(0.9, "ms"));
    assert_eq!(
        read.runs()[0].1.configuration.as_deref(),
        Some("sleep 0.01")
    );
}

#[test]
fn warnings_become_doubts() {
    assert_eq!(
        read(include_str!("../hyperfine/failing-command.txt")).doubts(),
        ["failed-run"]
    );
    assert_eq!(
        read(include_str!("../hyperfine/outliers-and-parameters.txt")).doubts(),
        ["outlier-run"]
    );
    assert_eq!(
        read(include_str!("../hyperfine/too-short.txt")).doubts(),
        ["too-short", "outlier-run"]
    );
    let gave_up = "Benchmark 1: false\nError: Command terminated with non-zero exit code: 1.\n";
    assert_eq!(read(gave_up).doubts(), ["failed-run"]);
}

#[test]
fn a_heading_is_no_title() {
    assert!(
        read("Benchmark 1: fio random read\n\nThis is what I saw.\n")
            .findings
            .is_empty()
    );
    assert!(read("Summary\n\nIt is fast.\n").findings.is_empty());
}

#[test]
fn missing_lines_are_doubts() {
    let no_range = "Benchmark 1: a\n  Time (mean ± σ):  21.2 ms ±   0.1 ms    [User: 0.6 ms, System: 0.4 ms]\n";
    let first = read(no_range);
    assert_eq!(first.doubts(), ["truncated-block"]);
    assert_eq!(first.summaries()[0].4, None);
    let no_time = "Benchmark 1: a\n  Range (min … max):    21.2 ms …  21.5 ms    5 runs\n";
    assert_eq!(read(no_time).doubts(), ["truncated-block"]);
}

#[test]
fn bad_numbers_are_left_out_with_a_doubt() {
    let read = read(
        "Benchmark 1: a\n  Time (mean ± σ):  nan ms ±   1,2,3 ms    [User: 0.6 ms, System: 0.4 ms]\n  Range (min … max):    21.2 ms …  21.5 ms    5 runs\n",
    );
    assert_eq!(read.doubts(), ["bad-number", "bad-number"]);
    assert!(read.summaries().iter().all(|s| s.2.metric != "time"));
}

#[test]
fn the_markdown_table_has_means_without_number_of_runs() {
    let read = read(include_str!("../hyperfine/two-commands.md"));
    assert_eq!(
        read.summaries(),
        [
            (
                "sleep 0.02".to_owned(),
                String::new(),
                ms(21.2),
                Some(0.1),
                None
            ),
            (
                "sleep 0.03".to_owned(),
                String::new(),
                ms(31.4),
                Some(0.2),
                None
            ),
        ]
    );
}

#[test]
fn a_table_may_lack_columns_and_hold_pipes() {
    let read = read("| Command | Mean [s] |\n|:---|---:|\n| `a \\| b` | 1.5 |\n| short |\n");
    let expected = Figure::new("time", 1.5, "s");
    assert_eq!(
        read.summaries(),
        [("a | b".to_owned(), String::new(), expected, None, None)]
    );
    assert_eq!(read.doubts(), ["ragged-row"]);
    assert_eq!(
        super::read("| Command | Mean [s] |\n").doubts(),
        ["truncated-block"]
    );
}

#[test]
fn csv_is_in_seconds() {
    let read = read(include_str!("../hyperfine/two-commands.csv"));
    let summaries = read.summaries();
    assert_eq!(summaries.len(), 6);
    assert_eq!(summaries[0].2, Figure::new("time", 0.021_248_208, "s"));
    assert_eq!(summaries[0].3, Some(0.000_138_143_109_911_424_93));
    assert_eq!(summaries[1].2, Figure::new("user", 0.000_610_2, "s"));
    assert_eq!(
        super::read(include_str!("../hyperfine/parameters.csv"))
            .summaries()
            .len(),
        6
    );
}

#[test]
fn a_sentence_below_csv_is_not_a_row() {
    let read = read("command,mean,stddev\na,1.0,0.1\nSo, it is fast.\n");
    assert_eq!((read.summaries().len(), read.doubts().len()), (1, 0));
}

#[test]
fn each_time_in_json_is_a_run_at_its_own_line() {
    let read = read(include_str!("../hyperfine/two-commands.json"));
    let runs = read.runs();
    assert_eq!(runs.len(), 10);
    assert_eq!(runs[0].0, 13);
    assert_eq!(runs[9].0, 41);
    assert_eq!(runs[9].1.repetition, Some(5));
    assert_eq!(runs[9].1.configuration.as_deref(), Some("sleep 0.03"));
    assert_eq!(
        runs[9].2,
        [Figure::new("time", 0.031_259_577_000_000_004, "s")]
    );
    assert!(read.summaries().is_empty());
}

#[test]
fn json_on_one_line_is_read() {
    let read = read(
        r#"{"results":[{"command":"a","mean":1.5,"times":[1.0,2.0]},{"command":"b","mean":3,"stddev":null,"user":2,"system":1}]}"#,
    );
    assert_eq!(read.runs().len(), 2);
    let metrics: Vec<_> = read.summaries().into_iter().map(|s| s.2.metric).collect();
    assert_eq!(metrics, ["time", "user", "sys"]);
}

#[test]
fn failing_exit_codes_are_a_doubt_in_json() {
    let read = read(include_str!("../hyperfine/failing-command.json"));
    assert_eq!((read.runs().len(), read.doubts()), (3, vec!["failed-run"]));
}

#[test]
fn broken_json_is_a_doubt() {
    let whole = include_str!("../hyperfine/two-commands.json");
    assert_eq!(
        read(&whole[..whole.len() / 2]).doubts(),
        ["truncated-block"]
    );
    assert_eq!(
        read(&whole.replace("0.0314", "x.0314")).doubts(),
        ["truncated-block"]
    );
    assert_eq!(
        read(&whole.replace("0.031595749", "NaN")).doubts(),
        ["bad-json"]
    );
    assert!(read("{\n  \"results\": [1, 2]\n}\n").findings.is_empty());
}

#[test]
fn long_commands_are_judged_however_many_there_are() {
    let command = |at: u32, name: &str, mean: f64| {
        format!(
            "Benchmark {at}: {name} --include=*.c needle /usr/src/linux\n  \
             Time (mean ± σ):     {mean:.3} s ±  0.010 s    [User: 0.4 s, System: 0.1 s]\n  \
             Range (min … max):   {:.3} s …  {:.3} s    10 runs\n\n",
            mean - 0.011,
            mean + 0.012,
        )
    };
    let one = command(1, "grep -r", 1.1);
    let three = format!("{one}{}{}", command(2, "rg", 0.5), command(3, "ag", 0.7));
    let compared = |text: &str| {
        let audit = assize_audit::read(text.as_bytes(), "post", &Default::default()).unwrap();
        let doubts = audit.records.doubts.iter();
        let unclear = doubts.filter(|doubt| doubt.code == "not-judged").count();
        (audit.records.configurations.len(), unclear)
    };
    assert_eq!(compared(&three), (3, 0));
}
