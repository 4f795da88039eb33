//! `assize hunt` finds planted races, shortens their schedules and tells whether a fix removes them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::scheduler::{FENCE, FEW, NEUTRAL, Place, fated};
use crate::common::{Outcome, assize, command, errors, printed, refusal, root};

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12", "modules for debian:6.12"];
    a_planted_race_is_found_and_repeats_and_its_fix_removes_it = race,
    a_hunt_that_was_stopped_goes_on_as_if_it_had_not_been = resumed,
    delays_meet_the_promised_probability_and_turns_never_fail = promised,
    what_never_and_what_always_fails_is_told_so = never_and_always,
    what_cannot_be_hunted_is_refused = refused,
    a_patch_that_removes_a_failure_is_built_and_said_to = patch,
}

/// The answer of a hunt as text, on one line.
fn said(here: &Path, words: &[&str]) -> String {
    let text = printed(here, &[&["hunt"], words].concat());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The document of a hunt.
fn document(here: &Path, words: &[&str]) -> Value {
    let text = printed(here, &[&["hunt", "--quiet", "--json"], words].concat());
    serde_json::from_str(&text).unwrap()
}

/// A lost update, with its fix as the second side.
fn race() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let text = fs::read_to_string(root().join("experiments/races.toml"))?;
    let many = "setup = [{ module = 'simrace', parameters = { attempts = 400 } },\n{ sysctl";
    fs::write(
        here.join("races.toml"),
        text.replace("setup = [{ sysctl", many),
    )?;
    let words = [
        "races.toml",
        "--set",
        "race=check-then-act",
        "--seeds",
        "60",
        "--out",
        "x",
    ];
    let found = document(here, &words);
    assert_eq!(found["schema"], "assize.hunt/1");
    let [before, after] = [0, 1].map(|at| found["sides"][at]["rate"]["count"].as_u64().unwrap());
    assert!(before > 0 && after == 0, "{found}");
    for one in found["failures"].as_array().unwrap() {
        assert_eq!(one["schedule"]["repeats"], true, "{one}");
        assert_eq!(one["configuration"], found["sides"][0]["configuration"]);
    }
    assert_eq!(
        fs::read_to_string(here.join("x/hunt.json"))?,
        serde_json::to_string_pretty(&found)? + "\n"
    );
    // gdb comes to where the kernel complained.
    let crashed = found["failures"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["crashed"] == true);
    if let Some(one) = crashed {
        let run = one["run"].to_string();
        let words = [
            "debug",
            "x/failures.bundle",
            &run,
            "--at",
            "crash",
            "--",
            "-batch",
        ];
        let done = assize(here, &words);
        assert!(errors(&done).contains("stopped"), "{}", errors(&done));
    }
    Ok(())
}

/// The program fails if a CPU stands still for 100 us in one of twenty windows of 100 us. Each
/// of these fails with a probability of at least 1/200: five of 50 schedules of delays fail.
fn promised() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let program = here.join("window");
    let done = Command::new("cc")
        .args(["-O1", "-static", "-Wall", "-o"])
        .arg(&program)
        .arg(root().join("crates/assize/tests/data/window.c"))
        .status()?;
    assert!(done.success());
    let failed = |strategy| {
        let words = ["--seeds", "50", "--strategy", strategy, "--out", strategy];
        let found = document(here, &[&words[..], &["--", "./window"]].concat());
        found["sides"][0]["rate"]["count"].as_u64().unwrap()
    };
    let (delays, turns) = (failed("delays"), failed("turns"));
    assert!(delays >= 5 && turns == 0, "{delays} {turns}");
    Ok(())
}

fn parsed(done: &Output) -> Value {
    serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", errors(done)))
}

/// A commit warns with some seeds, the next one takes it back; others change nothing that fails,
/// or nothing that is built.
fn patch() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.write("few.toml", FEW);
    place.commit("drm/sched: Warn", &fated("drawn > 5", "WARN_ON_ONCE"));
    place.git(&["revert", "--no-edit", "HEAD"]);
    let experiment = ["--experiment", "few.toml"];
    let words = [
        &["--hunt", "--json", "--runs", "60", "--out", "x"],
        &experiment[..],
    ]
    .concat();
    let tried = place.assize("try", &words);
    let found = parsed(&tried);
    let one = &found["comparisons"][0];
    assert_eq!(one["answer"], "fewer", "{found}");
    assert_eq!(one["configuration"], "patched");
    assert_eq!(one["rates"][1]["count"], 0);
    // The same sides from a file, on top of the commit that warns.
    let patch = place.git(&["format-patch", "-1"]);
    let words = [
        "few.toml",
        "--against",
        patch.trim(),
        "--base",
        "HEAD~1",
        "--json",
    ];
    let hunted = place.assize("hunt", &words);
    let again = parsed(&hunted);
    assert_eq!(again["comparisons"], found["comparisons"]);
    // The null.
    place.commit("drm/sched: Describe the module", NEUTRAL);
    let words = [&["--hunt", "--runs", "4"], &experiment[..]].concat();
    let said = String::from_utf8(place.assize("try", &words).stdout)?;
    assert!(said.contains("neither has failed"), "{said}");
    let to = "MODULE_DESCRIPTION(\"DRM GPU job scheduler\") ";
    place.commit("drm/sched: Add a space", &[(FENCE, to.trim_end(), to)]);
    let same = String::from_utf8(place.assize("try", &words).stdout)?;
    assert!(
        same.contains("no difference: the builds are identical"),
        "{same}"
    );
    Ok(())
}

/// A program that fails with every second seed, by a line of its output.
fn resumed() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let text = "title = 'Odd'\ncpus = 2\nruns = 1\nimages = 1\n[workloads.odd]\nkind = 'command'\n\
                argv = ['/bin/sh', '-c', 'exit $(( {seed} % 2 ))']\n";
    fs::write(here.join("odd.toml"), text)?;
    let whole = document(here, &["odd.toml", "--seeds", "6", "--out", "whole"]);
    document(here, &["odd.toml", "--seeds", "2", "--out", "part"]);
    // The line that was being written when it was killed.
    let journal = here.join("part/journal.jsonl");
    let kept = fs::read_to_string(&journal)?;
    fs::write(&journal, &kept[..kept.len() - 9])?;
    let mut part = document(here, &["--resume", "part", "--seeds", "6"]);
    for key in ["directory", "reproduce"] {
        part[key] = whole[key].clone();
    }
    assert_eq!(part, whole);
    let printed = interrupted(here, "stopped");
    assert!(
        printed.contains("assize hunt --resume stopped"),
        "{printed}"
    );
    let mut stopped = document(here, &["--resume", "stopped", "--seeds", "6"]);
    for key in ["directory", "reproduce"] {
        stopped[key] = whole[key].clone();
    }
    assert_eq!(stopped, whole);
    assert_eq!(whole["failures"][0]["rate"]["count"], 3, "{whole}");
    assert_eq!(whole["failures"][0]["oracle"], "exit status");
    // The null: nothing that it was asked to look for.
    let text = said(here, &["odd.toml", "--until", "oops", "--seeds", "2"]);
    assert!(text.contains("No failure in 2 schedules"), "{text}");
    assert!(
        text.contains("Not counted: 1 run of base failed otherwise"),
        "{text}"
    );
    Ok(())
}

/// Interrupts a hunt after its first runs, and returns what it says.
fn interrupted(here: &Path, out: &str) -> String {
    let words = [
        "hunt", "--quiet", "odd.toml", "--seeds", "500", "--out", out,
    ];
    let mut command = command(here, &words);
    let child = command
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = || fs::read_to_string(here.join(out).join("journal.jsonl")).unwrap_or_default();
    while lines().lines().count() < 3 {
        sleep(Duration::from_millis(50));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", errors(&done));
    errors(&done)
}

fn never_and_always() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let text = said(here, &["--seeds", "4", "--", "/bin/true"]);
    assert!(
        text.contains("A rate of 53 % or more would have been seen"),
        "{text}"
    );
    assert!(text.contains("Cannot find: "), "{text}");
    assert!(!here.join("true.hunt/failures.bundle").exists());
    let text = said(here, &["--seeds", "4", "--", "/bin/false"]);
    assert!(
        text.contains("It fails with every schedule, so this is no race"),
        "{text}"
    );
    Ok(())
}

fn refused() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let experiment = "title = 'x'\nruns = 1\n[workloads.w]\nkind = 'ping-pong'\nloops = 10\n";
    fs::write(here.join("x.toml"), experiment)?;
    fs::write(
        here.join("host.toml"),
        format!("target = 'host'\n{experiment}"),
    )?;
    fs::create_dir(here.join("full"))?;
    fs::write(here.join("full/file"), "")?;
    for (words, why) in [
        (&[][..], "give an experiment file, or a program"),
        (&["x.toml", "--until", "kasam"], "nor one of warning, bug"),
        (&["x.toml", "--until-log", "("], "unclosed group"),
        (
            &["x.toml", "--until", "kasan"],
            "is built without CONFIG_KASAN",
        ),
        (&["x.toml", "--for", "soon"], "is not a duration"),
        (
            &["x.toml", "--against", "x.ko", "--against", "debian:7"],
            "one kernel, one patch, or only modules",
        ),
        (
            &["x.toml", "--against", "debian:7", "--base", "HEAD"],
            "--base: is only for --against PATCH",
        ),
        (&["x.toml", "--out", "full"], "the directory is not empty"),
        (&["--resume", "full"], "full/journal.jsonl"),
        (
            &["host.toml"],
            "only runs on exact machines can be repeated",
        ),
        (&["--", "./nothing"], "cannot read: ./nothing"),
        (&["--", "no-such-program"], "no-such-program"),
    ] {
        let said = refusal(here, "hunt", words);
        assert!(said.contains(why), "{words:?}: {said}");
    }
    let both = command(here, &["hunt", "x.toml", "--", "true"]).output()?;
    assert!(
        errors(&both).contains("cannot be used with"),
        "{}",
        errors(&both)
    );
    Ok(())
}
