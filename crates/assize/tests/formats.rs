//! Machine-readable formats and exit statuses: planted results in each direction, in each
//! format, checked by a reader of that format.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assize_target::kernels::Kernels;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn assize(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assize"))
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap()
}

/// How the reader of a format interprets a text.
pub(crate) fn read(format: &str, text: &[u8]) -> serde_json::Value {
    read_by("/usr/bin/python3".into(), format, text)
}

fn read_by(python: PathBuf, format: &str, text: &[u8]) -> serde_json::Value {
    let done = run_python(python, &[format], text);
    let why = String::from_utf8_lossy(&done.stderr);
    let text = String::from_utf8_lossy(text);
    assert!(done.status.success(), "{format}: {why}\n{text}");
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The output of a reader for a text.
fn run_python(python: PathBuf, arguments: &[&str], text: &[u8]) -> Output {
    let mut child = Command::new(python)
        .arg(root().join("crates/assize/tests/formats.py"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait_with_output().unwrap()
}

/// The Python that has a package from PyPI, installed by setup.sh.
fn python_with(package: &str) -> Option<PathBuf> {
    let python = crate::common::python();
    let import = format!("import {package}");
    let has = Command::new(&python).args(["-c", &import]).output();
    if has.is_ok_and(|done| done.status.success()) {
        return Some(python);
    }
    let shown = python.display();
    crate::common::skip(&format!("{shown} lacks {package}; ./setup.sh full"));
    None
}

/// Two result files of hyperfine, eight runs each. The runs in the second take `ratio`
/// times as long; `noise` is the relative noise.
fn results(place: &Path, ratio: f64, noise: f64) -> [String; 2] {
    [("old", 1.0), ("new", ratio)].map(|(name, ratio)| {
        let shape = [0.0, 1.0, -1.0, 0.5, -0.5, 0.8, -0.8, 0.1];
        let times: Vec<f64> = shape.iter().map(|x| ratio * (1.0 + noise * x)).collect();
        let text = serde_json::json!({"results": [{
            "command": "make <x> | \"y\" # 100%", "mean": ratio, "times": times,
            "exit_codes": shape.map(|_| 0),
        }]});
        let path = place.join(format!("{name}.json"));
        std::fs::write(&path, text.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    })
}

const PRIMARY: [&str; 4] = ["--primary", "time", "--lower-is-better", "time"];

#[test]
fn a_gate_lets_better_and_equal_pass_and_stops_worse() {
    let place = tempfile::tempdir().unwrap();
    let ends = |ratio: f64, noise: f64, gate: &str| {
        let [old, new] = results(place.path(), ratio, noise);
        let fixed = ["compare", &old, &new, "--fail-on", gate];
        assize(&[&fixed[..], &PRIMARY].concat()).status.code()
    };
    for (ratio, noise, worse, unproven) in [
        (0.5, 0.002, 0, 0),
        (1.0, 0.002, 0, 0),
        (1.5, 0.002, 1, 1),
        // Within the margin, and shown to be.
        (1.01, 0.002, 0, 0),
        // Equal, but the runs do not show that.
        (1.0, 0.2, 0, 1),
    ] {
        let ends = |gate| ends(ratio, noise, gate);
        let found = [ends("worse>2%"), ends("unproven>2%")];
        assert_eq!(found, [Some(worse), Some(unproven)], "{ratio} {noise}");
    }
}

#[test]
fn every_format_says_what_failed_and_is_read_by_its_readers() {
    let place = tempfile::tempdir().unwrap();
    // The numbers of checks, failures and undecided checks: the row, and three claims.
    for (ratio, noise, expected) in [
        (0.5, 0.002, [4, 1, 0]),
        (1.0, 0.2, [4, 1, 2]),
        (1.5, 0.002, [4, 2, 0]),
    ] {
        let [old, new] = results(place.path(), ratio, noise);
        for format in ["junit", "ktap", "github", "gitlab", "markdown"] {
            let fixed = [
                "compare",
                &old,
                &new,
                "--format",
                format,
                "--fail-on",
                "unproven>2%",
                "--claim",
                "new < old on time",
                "--claim",
                "new > old on time",
                "--claim",
                "new <= old + 60% on time",
            ];
            let done = assize(&[&fixed[..], &PRIMARY].concat());
            let found = read(format, &done.stdout);
            let said = |at: usize| found[at].as_u64();
            for (at, expected) in expected.into_iter().enumerate() {
                let of = said(at).unwrap_or(expected);
                assert_eq!(of, expected, "{format} {ratio} {noise}: {found}");
            }
            assert!(said(1).is_some(), "{found}");
            assert_eq!(done.status.code(), Some(1), "{format}");
        }
    }
}

#[test]
fn programs_that_are_not_ours_read_the_same() {
    let place = tempfile::tempdir().unwrap();
    let [old, new] = results(place.path(), 1.0, 0.2);
    let claims = ["new < old on time", "new <= old + 60% on time"];
    let printed = |format: &str| {
        let fixed = ["compare", &old, &new, "--fail-on", "unproven>2%"];
        let asked = ["--claim", claims[0], "--claim", claims[1]];
        let done = assize(&[&fixed[..], &PRIMARY, &asked, &["--format", format]].concat());
        done.stdout
    };
    // The kernel's KTAP parser for KUnit, if its sources have been fetched.
    let kernels = Kernels::new(Kernels::default_root().unwrap());
    let tree = kernels.resolve("debian:6.12").ok().and_then(|kernel| {
        kernels.stored_source_parts(
            "6.12",
            &kernel.version,
            &["tools/testing/kunit/kunit_parser.py"],
        )
    });
    match tree {
        Some(source) => {
            let tree = source.tree.to_str().unwrap();
            let text = printed("ktap");
            let done = run_python("/usr/bin/python3".into(), &["kunit", tree], &text);
            let why = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{why}");
            let found: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
            assert_eq!(found, read("ktap", &text));
            // It refuses text that is not KTAP.
            let cut = &text[..text.len() / 2];
            let done = run_python("/usr/bin/python3".into(), &["kunit", tree], cut);
            assert!(!done.status.success());
        }
        None => crate::common::skip("the kernel's parser of KTAP is not here; cargo xtask lab"),
    }
    if let Some(python) = python_with("junitparser") {
        let text = printed("junit");
        assert_eq!(read_by(python, "junitparser", &text), read("junit", &text));
    }
}

#[test]
fn kcidb_takes_a_report_and_a_build_must_be_named() {
    let place = tempfile::tempdir().unwrap();
    let [old, new] = results(place.path(), 1.5, 0.002);
    let compare = |build: &[&str]| {
        let fixed = [
            "compare",
            &old,
            &new,
            "--format",
            "kcidb",
            "--fail-on",
            "worse>2%",
        ];
        assize(&[&fixed[..], &PRIMARY, build].concat())
    };
    for (build, why) in [
        (&[][..], "--kcidb-build <ORIGIN:ID>"),
        (&["--kcidb-build", "Ours:1"], "is not of the form ORIGIN:ID"),
        (&["--kcidb-build", "ours"], "is not of the form ORIGIN:ID"),
    ] {
        let done = compare(build);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(said.contains(why), "{said}");
        assert_eq!(done.status.code(), Some(2));
    }
    let done = compare(&["--kcidb-build", "ours:build-1"]);
    assert_eq!(done.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let test = &report["tests"][0];
    assert_eq!(
        (&test["build_id"], &test["origin"]),
        (&"ours:build-1".into(), &"ours".into())
    );
    assert_eq!(test["status"], "FAIL");
    let Some(python) = python_with("kcidb_io") else {
        return;
    };
    let found = read_by(python, "kcidb", &done.stdout);
    assert_eq!(found, serde_json::json!([1, 1, 0]));
}

#[test]
fn the_jobs_of_the_page_on_ci_are_right_by_the_schemas_of_github_and_gitlab() {
    let Some(python) = python_with("check_jsonschema") else {
        return;
    };
    let page = std::fs::read_to_string(root().join("docs/ci.md")).unwrap();
    assert_eq!(read_by(python.clone(), "schemas", page.as_bytes()), 4);
    for (right, wrong) in [("runs-on:", "runs:"), ("when: always", "when: ever")] {
        let page = page.replacen(right, wrong, 1);
        let done = run_python(python.clone(), &["schemas"], page.as_bytes());
        assert!(!done.status.success(), "{wrong}");
    }
}

#[test]
fn the_jobs_of_the_page_on_ci_are_yaml_whose_commands_are_understood() {
    let page = std::fs::read(root().join("docs/ci.md")).unwrap();
    let commands = read("ci", &page);
    let commands = commands.as_array().unwrap();
    assert_eq!(commands.len(), 7, "{commands:?}");
    for command in commands {
        // GitHub substitutes this before the shell runs.
        let command = command.as_str().unwrap();
        let command = command.replace("${{ github.base_ref }}", "main");
        let words = shlex::split(&command).unwrap();
        let own: Vec<&str> = words
            .iter()
            .skip(1)
            .map(String::as_str)
            .take_while(|word| !matches!(*word, "||" | ">"))
            .chain(["--help"])
            .collect();
        let done = assize(&own);
        let why = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{command}: {why}");
    }
}
