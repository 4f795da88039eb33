//! `assize compare -- COMMAND…` on commands with a known difference.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Outcome, assize, errors, skip};
use serde_json::Value;

crate::common::tests! {
    needs ["agent"];
    the_longer_of_two_waits_is_worse_and_the_shorter_better = planted,
    the_same_command_twice_is_never_a_verdict = same,
    the_same_command_twice_has_an_answer_in_words = noise,
    two_builds_of_the_same_bytes_do_not_differ_and_are_not_run = same_bytes,
    two_good_commands_have_a_verdict_though_a_third_is_killed = killed,
    output_goes_where_hyperfine_would_send_it = output,
    times_are_shown_in_the_unit_that_was_chosen = unit,
    what_fails_says_which_command_and_why = failing,
    cpu_time_is_worse_where_more_is_computed_and_not_where_more_is_waited = cpu_time,
    what_the_hosts_kernel_complains_of_is_counted_for_the_command_that_ran = complaining,
    exported_files_hold_the_recorded_times_and_read_back = exported,
    of_long_output_its_end_and_a_digest_are_kept = long_output,
    commands_that_print_different_things_are_named = different_output,
    peak_memory_is_that_of_the_largest_process = peak_memory,
}

const SHORT: &str = "sleep 0.01";
/// Takes so long that even a busy host does not hide the difference.
const LONG: &str = "sleep 0.4";

/// The status and document of a comparison in a new bundle.
fn compared(commands: [&str; 2], more: &[&str]) -> (Option<i32>, Value) {
    let place = tempfile::tempdir().unwrap();
    let fixed = ["compare", "--quiet", "--json"];
    let arguments = [&fixed, more, &["--"], &commands].concat();
    let done = assize(place.path(), &arguments);
    let document = serde_json::from_slice(&done.stdout);
    (
        done.status.code(),
        document.unwrap_or_else(|_| panic!("{}", errors(&done))),
    )
}

/// Noise may hide the planted difference, so several attempts are allowed; it must not create one.
fn planted() -> Outcome {
    let gate = &["-r", "6", "--fail-on", "worse>2%"];
    let found = (0..3).find_map(|_| {
        let (status, worse) = compared([SHORT, LONG], gate);
        let row = worse["comparisons"][0].clone();
        (row["verdict"] == "established").then_some((status, row))
    });
    let (status, row) = found.unwrap();
    assert_eq!(status, Some(1), "the gate is closed");
    assert_eq!(row["metric"], "elapsed");
    assert!(row["ratio"].as_f64().unwrap() > 2.0, "{row}");
    let better = (0..3).any(|_| {
        let (status, better) = compared([LONG, SHORT], gate);
        assert_eq!(status, Some(0), "the gate is open");
        let row = &better["comparisons"][0];
        row["verdict"] == "established" && row["ratio"].as_f64() < Some(0.5)
    });
    assert!(better, "better in one of three");
    Ok(())
}

fn same() -> Outcome {
    let (status, document) = compared(["sleep 0.01"; 2], &["-r", "6", "--fail-on", "worse>2%"]);
    assert_eq!(status, Some(0));
    assert_eq!(document["comparisons"].as_array().unwrap().len(), 0);
    assert_eq!(document["noise_floor"][0]["metric"], "elapsed");
    assert_eq!(document["noise_floor"][0]["n"], 6);
    let limit = document["limits"][0].as_str().unwrap();
    assert!(limit.contains("one boot of one machine"), "{limit}");
    Ok(())
}

/// CI must pass with every gate, but a claim of a difference is refuted.
fn same_bytes() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    for build in ["old", "new"] {
        fs::create_dir(here.join(build)).unwrap();
        fs::copy("/bin/true", here.join(build).join("bench")).unwrap();
    }
    let run = ["compare", "-n", "old", "-n", "new", "--out", "b", "--quiet"];
    let done = assize(here, &[&run[..], &["old/bench", "new/bench"]].concat());
    let sentence = "No difference: new has the same files and settings as old.";
    for again in [
        &["report", "b"][..],
        &["report", "b", "--format", "junit"],
        &["run", "--resume", "b"],
        &["compare", "b", "--claim", "new <= old + 1% on elapsed"],
    ] {
        let gates = ["worse>1%", "unproven>1%", "undecided", "lint"];
        let gates = gates.iter().flat_map(|gate| ["--fail-on", gate]);
        let shown = assize(here, &[again, &gates.collect::<Vec<_>>()].concat());
        assert_eq!(shown.status.code(), Some(0), "{}", errors(&shown));
        let text = String::from_utf8_lossy(&shown.stdout);
        let is_junit = again.contains(&"junit");
        let passed = "tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\"";
        assert!(
            text.contains(if is_junit { passed } else { sentence }),
            "{text}"
        );
        assert!(!text.contains("Warning"), "{text}");
    }
    assert!(String::from_utf8_lossy(&done.stdout).contains(sentence));
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    assert_eq!(fs::read_dir(here.join("b/runs")).unwrap().count(), 0);
    let claim = ["compare", "b", "--claim", "new < old on elapsed"];
    assert_eq!(assize(here, &claim).status.code(), Some(1));
    // With one byte more, they are run.
    let mut bytes = fs::read("/bin/true").unwrap();
    bytes.push(0);
    fs::write(here.join("new/bench"), bytes).unwrap();
    let run = ["compare", "-r", "2", "--out", "c", "--quiet", "--json"];
    let done = assize(here, &[&run[..], &["old/bench", "new/bench"]].concat());
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(document["runs"].as_array().unwrap().len(), 4);
    assert!(document.get("same").is_none(), "{document}");
    Ok(())
}

/// What a comparison prints, on standard output and standard error.
fn printed(arguments: &[&str]) -> (Option<i32>, String, String) {
    let place = tempfile::tempdir().unwrap();
    let done = assize(place.path(), &[&["compare"], arguments].concat());
    let text = String::from_utf8(done.stdout.clone()).unwrap();
    (done.status.code(), text, errors(&done))
}

/// On a host with other load, one of two answers is possible.
fn noise() -> Outcome {
    for margin in ["0.01", "0.99"] {
        let (status, text, _) = printed(&["-r", "6", "--margin", margin, SHORT, SHORT]);
        assert_eq!(status, Some(0));
        let line = text.lines().find(|line| line.contains("elapsed time: "));
        let answer = line.unwrap().split(": ").nth(1).unwrap();
        let wide = answer == "cannot tell";
        let narrow =
            answer == "no difference larger than 99 %" || answer == "no difference larger than 1 %";
        assert!(wide || narrow, "{text}");
        for word in ["worse", "better"] {
            assert!(!text.contains(word), "{text}");
        }
    }
    Ok(())
}

fn killed() -> Outcome {
    let suicide = "kill -9 $$";
    let three = ["--quiet", "-r", "6", "-i", SHORT, LONG, suicide];
    let found = (0..3).any(|_| {
        let (status, text, said) = printed(&three);
        assert_eq!(status, Some(0), "{said}");
        assert!(text.contains("0 of 6 -> 6 of 6 runs"), "{text}");
        let rows = text.split("Elapsed time").nth(1).unwrap_or_default();
        let mut rows = rows.lines().map(str::trim);
        rows.any(|row| row.starts_with("sleep-0.4 ") && row.contains(" worse: "))
    });
    assert!(found, "worse in one of three");
    // Without -i it fails at once, with the last lines of output.
    let (status, _, said) = printed(&[
        "--quiet",
        "-r",
        "6",
        SHORT,
        LONG,
        "echo so; echo it is >&2; exit 3",
    ]);
    assert_eq!(status, Some(3));
    assert!(
        said.contains("3 of 3: command: exit status 3: it is"),
        "{said}"
    );
    Ok(())
}

fn output() -> Outcome {
    // A command that prints where its standard output goes.
    let kind = "readlink /proc/self/fd/1";
    let kept = |more: &[&str]| {
        let place = tempfile::tempdir().unwrap();
        let arguments = [&["compare", "-r", "2", kind, "echo x"][..], more].concat();
        let done = assize(place.path(), &arguments);
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
        let raw = fs::read_dir(place.path().join("compare.bundle/raw"));
        let texts = raw.into_iter().flatten().map(|entry| entry.unwrap().path());
        let texts: Vec<String> = texts
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        (texts, errors(&done), place)
    };
    let (texts, said, _) = kept(&[]);
    assert!(texts.iter().any(|text| text.contains("memfd")), "{texts:?}");
    assert!(!said.contains("memfd"), "{said}");
    let (texts, _, _) = kept(&["--output=null"]);
    assert_eq!(texts, [""; 0]);
    let (texts, _, _) = kept(&["--output=pipe"]);
    assert_eq!(texts, [""; 0]);
    // The command itself is executed, with its output redirected.
    for (option, to) in [("--output=null", "/dev/null"), ("--output=pipe", "pipe:[")] {
        let place = tempfile::tempdir().unwrap();
        let told = place.path().join("told");
        let tell = format!(
            "to=$(readlink /proc/$$/fd/1); echo $to >> {}",
            told.display()
        );
        let done = assize(place.path(), &["compare", "-r", "2", option, &tell, "true"]);
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
        let told = fs::read_to_string(told).unwrap();
        assert!(told.lines().count() >= 2, "{told}");
        assert!(told.lines().all(|line| line.starts_with(to)), "{told}");
    }
    for show in ["--show-output", "--output=inherit"] {
        let (texts, said, _) = kept(&[show]);
        assert!(said.contains("memfd") && said.contains("\nx\n"), "{said}");
        assert_eq!(texts.len(), 4, "{texts:?}");
    }
    let (_, _, place) = kept(&["--output=answer.txt"]);
    let answer = fs::read_to_string(place.path().join("answer.txt")).unwrap();
    assert!(answer.contains("compare.bundle"), "{answer}");
    // A failure before the pipe is not hidden by the pipe's reader.
    let (status, _, said) = printed(&["--quiet", "-r", "2", "--output=pipe", "true", "false"]);
    assert_eq!(status, Some(3));
    assert!(said.contains("exit status 1"), "{said}");
    Ok(())
}

fn unit() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let arguments = [
        "compare",
        "-r",
        "3",
        "-u",
        "second",
        "--export-markdown",
        "x.md",
        SHORT,
        "sleep 0.02",
    ];
    let done = assize(place.path(), &arguments);
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains(", elapsed time; runs from 0.0"), "{text}");
    let user = text.lines().filter(|line| line.contains("  user 0."));
    assert_eq!(
        user.filter(|line| line.contains(" s, system ")).count(),
        2,
        "{text}"
    );
    assert!(
        fs::read_to_string(place.path().join("x.md"))
            .unwrap()
            .contains("Mean [s]")
    );
    Ok(())
}

fn failing() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    for (arguments, status, said) in [
        (
            &["-r", "2", "true", "false"][..],
            3,
            "false on command: 2 of 2: command: exit status 1",
        ),
        (&["--", "true", "/not/there"], 3, "/not/there"),
        (
            &["--setup", "exit 3", "--", "true", "sleep 0"],
            3,
            "--setup: sh -c exit 3: exit status: 3",
        ),
        (&["--", "true"], 2, "one command alone cannot be compared"),
        (
            &["--claim", "true < false", "--", "true", "false"],
            2,
            "true < false",
        ),
        (
            &["--warmup", "2", "."],
            2,
            "--warmup applies to commands to run; . holds",
        ),
        (
            &[".", "--", "a", "b"],
            2,
            ". holds results, and 'a' is a command",
        ),
        (
            &[".", "true"],
            2,
            ". holds results, and 'true' is a command",
        ),
        (
            &["--bundles", "sides", "true", "false"],
            2,
            "is for results",
        ),
        (
            &["x.bundle", "y.bundle"],
            2,
            "'x.bundle' is neither a bundle, nor a file of results, nor a command",
        ),
    ] {
        let done = assize(place.path(), &[&["compare", "--quiet"], arguments].concat());
        let text = errors(&done);
        assert!(text.contains(said), "{arguments:?}: {text}");
        assert_eq!(done.status.code(), Some(status), "{arguments:?}: {text}");
    }
    Ok(())
}

fn row<'d>(document: &'d Value, metric: &str) -> &'d Value {
    let mut rows = document["comparisons"].as_array().unwrap().iter();
    rows.find(|row| row["metric"] == metric).unwrap()
}

fn cpu_time() -> Outcome {
    let count = |n: u32| format!("i=0; while [ $i -lt {n} ]; do i=$((i+1)); done");
    let runs = &["-r", "8"];
    let found = (0..3).any(|_| {
        let (_, worse) = compared([&count(30_000), &count(90_000)], runs);
        assert_eq!(worse["comparisons"][0]["metric"], "elapsed");
        let cpu = row(&worse, "command_cpu_time");
        assert_eq!(
            (&cpu["primary"], &cpu["unit"]),
            (&true.into(), &"ns".into())
        );
        let ratio = cpu["ratio"].as_f64().unwrap();
        cpu["verdict"] == "established" && (1.5..4.5).contains(&ratio)
    });
    assert!(found, "worse in one of three");
    let (_, waits) = compared([SHORT, LONG], runs);
    assert!(row(&waits, "elapsed")["ratio"].as_f64().unwrap() > 2.0);
    assert!(row(&waits, "command_cpu_time")["ratio"].as_f64().unwrap() < 2.0);
    Ok(())
}

fn long_output() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let end = "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end";
    let done = assize(place.path(), &["compare", "-r", "2", end, "echo end"]);
    assert!(done.status.success(), "{}", errors(&done));
    let raw = place.path().join("compare.bundle/raw");
    let files = fs::read_dir(raw).unwrap();
    let files: Vec<String> = files
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    let (short, long): (Vec<_>, Vec<_>) = files.iter().partition(|text| *text == "end\n");
    assert_eq!((short.len(), long.len()), (2, 2));
    for text in long {
        let (head, kept) = text.split_once('\n').unwrap();
        assert!(head.starts_with("[3000005 bytes, BLAKE3 "), "{head}");
        assert_eq!(kept.len(), 4096);
        assert!(kept.ends_with("xxx\nend\n"), "{kept}");
    }
    Ok(())
}

fn different_output() -> Outcome {
    let said = |one: &str, other: &str| {
        let (status, _, said) = printed(&["-r", "2", one, other]);
        assert_eq!(status, Some(0), "{said}");
        let mut lines = said.lines().map(str::to_owned);
        lines.find(|line| line.contains(" print different things: "))
    };
    // All differences come before the part of the output that is kept.
    let zeros = |before: &str| format!("echo {before}; head -c 9000 /dev/zero");
    let line = said(&zeros("a"), &zeros("b")).unwrap();
    let files = line.split_once(": diff ").unwrap().1;
    for file in files.split(' ') {
        assert!(file.ends_with("-command.stdout"), "{line}");
    }
    let line = said("true", "echo x").unwrap();
    assert!(line.starts_with("true and echo-x print "), "{line}");
    assert!(
        line.contains(": diff /dev/null compare.bundle/raw/"),
        "{line}"
    );
    for (one, other) in [
        ("echo x", "printf 'x\\n'"),
        ("true", "sleep 0"),
        // Each run of `date` prints another text.
        ("date +%N", "echo x"),
    ] {
        assert_eq!(said(one, other), None, "{one}, {other}");
    }
    Ok(())
}

fn peak_memory() -> Outcome {
    // dd holds a whole block in memory.
    let filling = |mib: u32| format!("dd if=/dev/zero of=/dev/null bs={mib}M count=1 status=none");
    let (_, document) = compared([&filling(1), &filling(31)], &["-r", "8"]);
    let row = row(&document, "command_peak_memory");
    assert_eq!(row["verdict"], "established");
    let more = row["mean"].as_f64().unwrap() - row["mean_baseline"].as_f64().unwrap();
    let planted = 30.0 * 1024.0;
    assert!((more / planted - 1.0).abs() < 0.1, "{row}");
    Ok(())
}

/// The reason why the kernel's log does not show faulting programs.
pub(crate) fn no_log() -> Option<String> {
    if let Err(error) = fs::File::open("/dev/kmsg") {
        return Some(format!("/dev/kmsg: {error}"));
    }
    let told = fs::read_to_string("/proc/sys/debug/exception-trace").unwrap_or_default();
    (told.trim() != "1").then(|| "the kernel logs no faults: debug.exception-trace".into())
}

/// Builds a program with this name that faults. The kernel's message begins with the
/// name.
pub(crate) fn faulting(place: &Path, name: &str) -> Option<String> {
    let source = place.join("fault.c");
    fs::write(&source, "int main(void) { *(volatile int *)0 = 1; }\n").unwrap();
    let program = place.join(name);
    let mut build = Command::new("cc");
    let built = build.arg("-o").arg(&program).arg(&source).status();
    built.ok().filter(|status| status.success())?;
    Some(format!("'{}' || true", program.display()))
}

fn complaining() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    if let Some(why) = no_log() {
        skip(&why);
        return Ok(());
    }
    let names = ["fine", "WARNING: CPU: 0"];
    let Some(commands) = names
        .map(|name| faulting(place.path(), name))
        .into_iter()
        .collect()
    else {
        skip("cc: not there");
        return Ok(());
    };
    let commands: Vec<String> = commands;
    let arguments = ["-r", "4", "-n", "fine", "-n", "loud", "--out", "c.bundle"];
    let fixed = ["compare", "--quiet", "--json"];
    let commands = [&commands[0], &commands[1]].map(String::as_str);
    let done = assize(
        place.path(),
        &[&fixed[..], &arguments, &["--"], &commands].concat(),
    );
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    let rows = document["outcomes"].as_array();
    let rows = rows.unwrap_or_else(|| panic!("{}", errors(&done)));
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(
        (&row["outcome"], &row["configuration"]),
        (&"complained".into(), &"loud".into())
    );
    assert_eq!((&row["count_baseline"], &row["n"]), (&0.into(), &4.into()));
    // The kernel may drop some messages if many programs fault at once.
    assert!(row["count"].as_u64() >= Some(1), "{row}");
    let line = row["signatures"][0]["line"].as_str().unwrap();
    assert!(line.contains("segfault at 0"), "{line}");
    let index = row["signatures"][0]["runs"][0]["index"].as_u64().unwrap();
    let log = place
        .path()
        .join(format!("c.bundle/raw/{index:04}-kernel-log.txt"));
    assert!(fs::read_to_string(&log).unwrap().contains(line), "{log:?}");
    Ok(())
}

/// The median of each side, in seconds, by the verdict on a file.
fn medians(file: &Path) -> Vec<f64> {
    let done = assize(file.parent().unwrap(), &["audit", "e.json", "--json"]);
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    let runs = document["runs"].as_array().unwrap();
    ["echo a | cat", "sleep 0.01"]
        .map(|command| {
            let of = runs.iter().filter(|run| run["configuration"] == command);
            let mut times: Vec<f64> = of
                .map(|run| run["metrics"]["time"]["value"].as_f64().unwrap())
                .collect();
            times.sort_by(f64::total_cmp);
            (times[2] + times[3]) / 2.0
        })
        .to_vec()
}

fn exported() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let words = [
        "compare",
        "--quiet",
        "-r",
        "6",
        "--export-json",
        "e.json",
        "--export-csv",
        "e.csv",
        "--export-markdown",
        "e.md",
        "echo a | cat",
        "sleep 0.01",
    ];
    let done = assize(place.path(), &words);
    assert!(done.status.success(), "{}", errors(&done));
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    let json: Value = serde_json::from_str(&read("e.json")).unwrap();
    let rows: Vec<Vec<String>> = read("e.csv")
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    assert_eq!(rows[0][..4], ["command", "mean", "stddev", "median"]);
    let markdown = read("e.md");
    assert!(markdown.contains("| `echo a \\| cat` | "), "{markdown}");
    let found = medians(&place.path().join("e.json"));
    for (at, command) in ["echo a | cat", "sleep 0.01"].into_iter().enumerate() {
        let result = &json["results"][at];
        assert_eq!(result["command"], command);
        let times: Vec<f64> = serde_json::from_value(result["times"].clone()).unwrap();
        assert_eq!(times.len(), 6);
        let mean = times.iter().sum::<f64>() / 6.0;
        assert!((result["mean"].as_f64().unwrap() / mean - 1.0).abs() < 1e-12);
        assert_eq!(rows[at + 1][0], command);
        assert_eq!(
            rows[at + 1][3].parse::<f64>().unwrap(),
            result["median"].as_f64().unwrap()
        );
        assert!((found[at] / result["median"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    }
    Ok(())
}
