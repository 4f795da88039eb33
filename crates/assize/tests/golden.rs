//! Every folder in `golden/` is a test case. `cmd` is a command line, run from the root
//! of the repository, with `stdin` as standard input if that file exists. `stdout`,
//! `stderr` and `status` are the expected output and exit status.
//!
//! `ASSIZE_GOLDEN=1 cargo test` rewrites them; a human reviews the difference.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(case: &Path) -> [(&'static str, String); 3] {
    let line = fs::read_to_string(case.join("cmd")).unwrap();
    let mut words = shlex::split(line.trim())
        .unwrap_or_else(|| panic!("{}: unbalanced quotes", case.display()));
    assert_eq!(
        words.remove(0),
        "assize",
        "{}: cmd must begin with assize",
        case.display()
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_assize"))
        .args(words)
        .current_dir(root())
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = fs::read(case.join("stdin")).unwrap_or_default();
    // A command that does not read its input closes the pipe, which is not a failure.
    let _ = child.stdin.take().unwrap().write_all(&input);
    let done = child.wait_with_output().unwrap();
    [
        ("stdout", String::from_utf8(done.stdout).unwrap()),
        ("stderr", String::from_utf8(done.stderr).unwrap()),
        ("status", format!("{}\n", done.status.code().unwrap_or(-1))),
    ]
}

#[test]
fn commands_print_what_they_printed_before() {
    let rewrite = std::env::var_os("ASSIZE_GOLDEN").is_some_and(|value| value == "1");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    let mut wrong = Vec::new();
    for case in &cases {
        for (name, got) in run(case) {
            let path = case.join(name);
            if rewrite {
                if got.is_empty() {
                    let _ = fs::remove_file(&path);
                } else {
                    fs::write(&path, &got).unwrap();
                }
                continue;
            }
            let want = fs::read_to_string(&path).unwrap_or_default();
            if got != want {
                wrong.push(format!(
                    "{} differs:\n--- want\n{want}\n--- got\n{got}",
                    path.display()
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n`cargo xtask golden` rewrites them",
        wrong.join("\n")
    );
}

#[test]
fn no_line_of_a_text_report_is_wider_than_a_mail() {
    for name in ["dep-queue.txt", "packing.txt", "framebuffer-latency.txt"] {
        let done = Command::new(env!("CARGO_BIN_EXE_assize"))
            .args(["audit", &format!("demo/{name}")])
            .current_dir(root())
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        for line in String::from_utf8(done.stdout).unwrap().lines() {
            assert!(line.chars().count() <= 72, "{name}: {line}");
        }
    }
}
