//! Arguments that are not UTF-8: paths work as they are, and nothing panics.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Command, Output};

/// A name that is not UTF-8, as on an old system.
fn odd(name: &str) -> OsString {
    let mut bytes = b"caf\xe9 ".to_vec();
    bytes.extend(name.as_bytes());
    OsString::from_vec(bytes)
}

fn assize(here: &Path, arguments: &[&OsStr]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assize"));
    command.args(arguments).current_dir(here).output().unwrap()
}

fn words<'a>(text: &[&'a str]) -> Vec<&'a OsStr> {
    text.iter().map(|word| OsStr::new(*word)).collect()
}

/// Asserts that the command exits with this status and, on an error, prints one message.
fn ends(here: &Path, arguments: &[&OsStr], status: i32) -> Output {
    let done = assize(here, arguments);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    assert_eq!(done.status.code(), Some(status), "{arguments:?}: {said}");
    let errors = said
        .lines()
        .filter(|line| line.starts_with("assize: ") || line.starts_with("error: "));
    assert_eq!(
        errors.count(),
        usize::from(status > 1),
        "{arguments:?}: {said}"
    );
    done
}

const POST: &str = include_str!("../../../demo/dep-queue.txt");

const EXPERIMENT: &str = r#"title = "Test"
target = "host"
runs = 1

[factors.change.off]
workload.it.argv = ["true"]
[factors.change.on]
workload.it.argv = ["false"]

[workloads.it]
kind = "command"
argv = ["true"]
"#;

/// Asserts that the `reproduce` line, run in a shell, gives the same output.
fn reproduces(here: &Path, done: &Output) {
    let (command, again) = carried_out_again(here, done);
    assert!(again.stdout == done.stdout, "{command}");
}

/// The `reproduce` line of a document, and the result of running it in a shell.
fn carried_out_again(here: &Path, done: &Output) -> (String, Output) {
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let command = document["reproduce"].as_str().unwrap();
    let script = command.replacen("assize", env!("CARGO_BIN_EXE_assize"), 1);
    let mut shell = Command::new("bash");
    let again = shell.arg("-c").arg(script).current_dir(here).output();
    (command.to_owned(), again.unwrap())
}

/// The `reproduce` line works although the bundle given with `--out` exists by then.
#[test]
fn a_recorded_comparison_and_experiment_are_carried_out_again() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let same = EXPERIMENT
        .replace("\"false\"", "\"echo\"")
        .replace("runs = 1", "runs = 4");
    fs::write(here.join("x.toml"), same).unwrap();
    for arguments in [
        &[
            "compare", "--quiet", "--json", "--out", "a.bundle", "-r", "4", "--", "true", "true",
        ][..],
        &["run", "x.toml", "--quiet", "--json", "--out", "b.bundle"],
    ] {
        let done = ends(here, &words(arguments), 0);
        let (command, again) = carried_out_again(here, &done);
        let said = String::from_utf8_lossy(&again.stderr);
        assert!(again.status.success(), "{command}: {said}");
        let runs = |output: &Output| {
            let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            document["runs"].as_array().unwrap().len()
        };
        assert_eq!((runs(&done), runs(&again)), (8, 8), "{command}");
    }
}

#[test]
fn posts_and_bundles_with_odd_names_are_read_and_reproduced() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let [post, other, bundle, page, claims] =
        ["post.txt", "other.txt", "out.bundle", "page.html", "claims"].map(odd);
    fs::write(here.join(&post), POST).unwrap();
    fs::write(here.join(&other), POST).unwrap();
    fs::write(here.join(&claims), "bypass < plain on context-switches\n").unwrap();
    let json = OsStr::new("--json");
    let done = ends(here, &[OsStr::new("audit"), &post, json], 0);
    reproduces(here, &done);
    let audit = words(&["audit", "--out"]);
    ends(here, &[&audit[..], &[&bundle, &post]].concat(), 0);
    for verb in ["compare", "report"] {
        let done = ends(here, &[OsStr::new(verb), &bundle, json], 0);
        reproduces(here, &done);
        let html = words(&[verb, "--format", "html", "-o"]);
        ends(here, &[&html[..], &[&page, &bundle]].concat(), 0);
        assert!(here.join(&page).exists());
        let tried = words(&[verb, "--json", "--claims"]);
        let done = ends(here, &[&tried[..], &[&claims, &bundle]].concat(), 0);
        reproduces(here, &done);
        // Text shows the same command; a terminal shows what it can.
        let text = ends(here, &[OsStr::new(verb), &bundle], 0);
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(text.contains(r"$'caf\xe9 out.bundle'"), "{text}");
    }
    let done = ends(here, &[OsStr::new("compare"), &post, &other, json], 0);
    reproduces(here, &done);
}

#[test]
fn an_experiment_that_is_given_to_report_is_not_run_yet() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("x.toml"), EXPERIMENT).unwrap();
    let done = ends(place.path(), &words(&["report", "x.toml"]), 2);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(
        said.contains("to record its runs: assize run x.toml"),
        "{said}"
    );
}

#[test]
fn an_experiment_with_an_odd_name_is_planned_and_not_mistaken() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let [experiment, plan, nothing] = ["x.toml", "plan.json", "nothing"].map(odd);
    fs::write(here.join(&experiment), EXPERIMENT).unwrap();
    ends(here, &[OsStr::new("plan"), &experiment], 0);
    let planned = words(&["plan", "-o"]);
    ends(here, &[&planned[..], &[&plan, &experiment]].concat(), 0);
    let text = fs::read_to_string(here.join(&plan)).unwrap();
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["source"], r"$'caf\xe9 x.toml'");
    for arguments in [
        &words(&["run"])[..],
        &words(&["run", "--resume"]),
        &words(&["plan"]),
        &words(&["report"]),
        &words(&["compare"]),
        &words(&["compare", "also-not-there"]),
        &words(&["audit"]),
        &words(&["merge", "--out", "all"]),
        &words(&["run-one", "--index", "0", "--out", "b"]),
    ] {
        ends(here, &[arguments, &[&nothing]].concat(), 2);
    }
    let traced = [OsStr::new("trace"), &nothing, OsStr::new("0")];
    ends(here, &traced, 2);
    let index = [
        OsStr::new("run-one"),
        &plan,
        OsStr::new("--index"),
        OsStr::new("9"),
    ];
    let out = [OsStr::new("--out"), &nothing];
    ends(here, &[&index[..], &out].concat(), 2);
    ends(
        here,
        &[
            OsStr::new("list"),
            OsStr::new("experiments"),
            OsStr::new("."),
        ],
        0,
    );
}

#[test]
fn a_word_that_is_no_text_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let word = odd("word");
    for arguments in [
        &words(&[])[..],
        &words(&["audit", "x", "--claim"]),
        &words(&["audit", "x", "--baseline"]),
        &words(&["audit", "x", "--fail-on"]),
        &words(&["audit", "x", "--format"]),
        &words(&["audit", "x", "--margin"]),
        &words(&["audit", "x", "--configuration"]),
        &words(&["audit", "x", "--exposure"]),
        &words(&["compare", "x", "--bundles"]),
        &words(&["report", "x", "--primary"]),
        &words(&["run", "x", "--target"]),
        &words(&["run", "x", "--set"]),
        &words(&["run", "x", "--jobs"]),
        &words(&["trace", "x"]),
        &words(&["trace", "x", "0", "--split", "--thread"]),
        &words(&["list"]),
        &words(&["kernel"]),
        &words(&["kernel", "fetch"]),
        &words(&["completions"]),
    ] {
        ends(here, &[arguments, &[&word]].concat(), 2);
    }
}
