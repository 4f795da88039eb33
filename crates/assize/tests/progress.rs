//! The output of a running experiment, with and without a terminal.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Outcome, assize, errors, skip};

crate::common::tests! {
    needs ["agent"];
    without_a_terminal_there_are_plain_lines = lines,
    a_terminal_shows_a_view_and_is_left_clean = terminal,
    a_narrow_terminal_has_no_broken_lines = narrow,
    an_interrupt_takes_the_view_away = interrupted,
    a_failed_run_is_told_and_the_view_is_taken_away = failed,
    a_run_that_fails_later_is_told_above_the_view = later,
}

const EXPERIMENT: &str = r#"
title = "Progress"
question = "What is shown while it runs?"
target = "host"
runs = 6

[factors.what.short]
workload.w.argv = ["sh", "-c", "COMMAND"]

[factors.what.long]
workload.w.argv = ["sh", "-c", "COMMAND", "x"]

[workloads.w]
kind = "command"
argv = ["true"]
"#;

fn experiment(command: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let text = EXPERIMENT.replace("COMMAND", command);
    fs::write(place.path().join("test.toml"), text).unwrap();
    place
}

/// The output of a command on a terminal of this many columns, as seen by `script`, and the exit
/// status. Standard output goes to the file `out`.
fn on_terminal(here: &Path, columns: u32, interrupt: bool) -> Option<(String, i32)> {
    if Command::new("script").arg("--version").output().is_err() {
        skip("script (util-linux) is not there");
        return None;
    }
    let run = format!(
        "stty cols {columns} rows 24; exec {} run test.toml --out bundle > out",
        env!("CARGO_BIN_EXE_assize")
    );
    let mut child = Command::new("script")
        .args(["-q", "-e", "-f", "-c", &run, "seen"])
        .current_dir(here)
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    if interrupt {
        while crate::common::recorded(&here.join("bundle")) < 2
            && child.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        let children = Command::new("pgrep")
            .args(["-P", &child.id().to_string()])
            .output()
            .unwrap();
        for pid in String::from_utf8_lossy(&children.stdout).split_whitespace() {
            let sent = Command::new("kill").args(["-INT", pid]).status().unwrap();
            assert!(sent.success());
        }
    }
    let status = child.wait().unwrap();
    let seen = fs::read_to_string(here.join("seen")).unwrap();
    // `script` adds a first and a last line.
    let (_, seen) = seen.split_once('\n').unwrap();
    let seen = seen.split("\nScript done on").next().unwrap().to_string();
    Some((seen, status.code().unwrap_or(-1)))
}

/// The final screen after these bytes; supports carriage return, line feed, cursor up and down, and
/// erasing lines.
fn screen(seen: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0usize, 0usize);
    let mut rest = seen.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                if rest.next() != Some('[') {
                    continue;
                }
                let mut number = String::new();
                while rest.peek().is_some_and(|c| !c.is_ascii_alphabetic()) {
                    number.extend(rest.next());
                }
                let by: usize = number.parse().unwrap_or(1);
                match rest.next() {
                    Some('A') => row = row.saturating_sub(by),
                    Some('B') => row += by,
                    Some('G') => column = by.saturating_sub(1),
                    Some('K') => {
                        let line = lines.get_mut(row);
                        let keep = if number == "2" { 0 } else { column };
                        line.into_iter().for_each(|line| line.truncate(keep));
                    }
                    Some('J') => {
                        lines.truncate(row + 1);
                        let line = lines.get_mut(row);
                        line.into_iter().for_each(|line| line.truncate(column));
                    }
                    _ => {}
                }
            }
            c if c.is_control() => {}
            c => {
                if column == columns {
                    (row, column) = (row + 1, 0);
                }
                while lines.len() <= row {
                    lines.push(Vec::new());
                }
                let line = &mut lines[row];
                while line.len() <= column {
                    line.push(' ');
                }
                line[column] = c;
                column += 1;
            }
        }
        while lines.len() <= row {
            lines.push(Vec::new());
        }
    }
    let text = |line: Vec<char>| line.into_iter().collect::<String>().trim_end().to_string();
    let lines: Vec<String> = lines.into_iter().map(text).collect();
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

fn lines() -> Outcome {
    let place = experiment("true");
    let done = assize(place.path(), &["run", "test.toml", "--out", "bundle"]);
    let said = errors(&done);
    assert!(done.status.success(), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('\r'), "{said}");
    assert_eq!(
        said.lines().filter(|l| l.contains("/12] run ")).count(),
        12,
        "{said}"
    );
    let out = String::from_utf8(done.stdout).unwrap();
    assert!(!out.contains("so far") && !out.contains("[1/12]"), "{out}");
    Ok(())
}

fn terminal() -> Outcome {
    let place = experiment("sleep 0.2");
    let Some((seen, status)) = on_terminal(place.path(), 100, false) else {
        return Ok(());
    };
    assert_eq!(status, 0, "{seen}");
    // The view was shown: progress and time left.
    for shown in ["/12 runs, ", "cells", " left", ", now short on w"] {
        assert!(seen.contains(shown), "{shown}: {seen}");
    }
    let left = screen(&seen, 100);
    let last = left
        .iter()
        .find(|line| line.contains("12 of 12 runs recorded"));
    assert!(last.is_some(), "{left:?}");
    assert!(!left.iter().any(|line| line.contains(" cells")), "{left:?}");
    assert!(
        !left.iter().any(|line| line.contains(" on w: ")),
        "{left:?}"
    );
    let out = fs::read_to_string(place.path().join("out")).unwrap();
    assert!(
        out.contains("Reproduce:") && !out.contains('\u{1b}'),
        "{out}"
    );
    Ok(())
}

fn narrow() -> Outcome {
    let place = experiment("sleep 0.1");
    let Some((seen, status)) = on_terminal(place.path(), 40, false) else {
        return Ok(());
    };
    assert_eq!(status, 0, "{seen}");
    let left = screen(&seen, 40);
    assert!(!left.iter().any(|line| line.contains("cells")), "{left:?}");
    assert_eq!(left, ["12 runs into bundle", "12 of 12 runs recorded"]);
    Ok(())
}

fn interrupted() -> Outcome {
    let place = experiment("sleep 0.3");
    let Some((seen, status)) = on_terminal(place.path(), 100, true) else {
        return Ok(());
    };
    assert_eq!(status, 130, "{seen}");
    let left = screen(&seen, 100);
    let text = left.join("\n");
    assert!(
        text.contains("interrupted: ") && text.contains("--resume"),
        "{text}"
    );
    assert!(
        !text.contains(" cells") && !text.contains(" on w: "),
        "{text}"
    );
    Ok(())
}

fn failed() -> Outcome {
    let place = experiment("sleep 0.1; exit 3");
    let Some((seen, status)) = on_terminal(place.path(), 100, false) else {
        return Ok(());
    };
    assert_eq!(status, 3, "{seen}");
    let text = screen(&seen, 100).join("\n");
    assert!(
        text.contains("failed: ") && text.contains("no run was completed"),
        "{text}"
    );
    assert!(!text.contains(" cells"), "{text}");
    Ok(())
}

fn later() -> Outcome {
    let count = tempfile::tempdir().unwrap();
    let at = count.path().display();
    let place = experiment(&format!(
        "sleep 0.2; n=$(ls {at} | wc -l); mkdir {at}/$n; test $n -ne 8"
    ));
    let Some((seen, status)) = on_terminal(place.path(), 100, false) else {
        return Ok(());
    };
    assert_eq!(status, 0, "{seen}");
    assert!(seen.contains(" cells"), "the view was shown: {seen}");
    let left = screen(&seen, 100);
    let why = "[9/12] run 8: long on w: failed: w: exit status 1; it printed nothing";
    let last = "12 of 12 runs recorded; 1 failed";
    assert_eq!(left, ["12 runs into bundle", why, last]);
    Ok(())
}
