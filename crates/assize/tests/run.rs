//! Experiments on this machine, with the real agent.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::common::{Outcome, assize, command, document, errors, files, printed, recorded};
use rustix::process::{Pid, Signal, kill_process};

crate::common::tests! {
    needs ["agent"];
    an_experiment_is_judged_as_compare_judges_it = judged,
    tables_are_asked_for_once_and_shown_by_all_verbs = tables,
    a_tradeoff_is_declared_or_asked_of_a_bundle_afterwards = tradeoffs,
    nothing_is_overwritten = not_overwritten,
    failed_runs_do_not_stop_the_rest = failures,
    runs_that_fail_beside_others_do_not_fail_the_work = some_fail,
    if_every_run_fails_the_work_has_failed = all_fail,
    an_interrupt_leaves_a_bundle_to_go_on_with = interrupted,
    single_runs_may_be_asked_for_by_several_at_once = single_runs,
    paths_that_are_no_text_are_paths_like_others = odd_paths,
    parts_are_merged = merged,
    narrow_intervals_end_an_experiment_early = until,
    wrong_use_is_named_and_costs_no_run = wrong_use,
}

/// Writes an experiment whose two configurations execute these programs.
fn experiment(directory: &Path, more: &str, off: &str, on: &str) {
    let text = format!(
        r#"title = "Test"
question = "Does it work?"
target = "host"
{more}

[factors.change.off]
workload.it.argv = {off}

[factors.change.on]
workload.it.argv = {on}

[workloads.it]
kind = "command"
argv = ["true"]
"#
    );
    fs::write(directory.join("test.toml"), text).unwrap();
}

fn judged() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    // Ten times as long: a host at load 16 does not hide it.
    let (off, on) = (r#"["sleep", "0.05"]"#, r#"["sleep", "0.5"]"#);
    experiment(here, "runs = 4", off, on);
    let done = assize(
        here,
        &[
            "run",
            "test.toml",
            "--json",
            "--claim",
            "change > base on elapsed",
        ],
    );
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let mut ran: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(ran["runs"].as_array().unwrap().len(), 8);
    assert_eq!(ran["claims"][0]["outcome"], "upheld");
    let lines = errors(&done);
    for index in 0..8 {
        assert!(lines.contains(&format!("/8] run {index}: ")), "{lines}");
    }
    let claim = ["--claim", "change > base on elapsed"];
    let mut compared = document(
        here,
        &[&["compare", "test.bundle", "--json"], &claim[..]].concat(),
    );
    // `run` prints no command to rerun, as it would be the same one; `compare` does.
    assert_eq!(ran.get("rerun"), None);
    assert_eq!(compared["rerun"], "assize run test.toml");
    for verdict in [&mut ran, &mut compared] {
        for command in ["rerun", "reproduce"] {
            verdict.as_object_mut().unwrap().remove(command);
        }
    }
    assert_eq!(ran, compared);
    let claim = ["--claim", "change < base on elapsed"];
    let refuted = assize(here, &[&["compare", "test.bundle"], &claim[..]].concat());
    assert_eq!(refuted.status.code(), Some(1));
    Ok(())
}

fn tradeoffs() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let declared = r#"
[[tradeoffs]]
x = { metric = "elapsed", workload = "it", better = "lower" }
y = { metric = "elapsed", workload = "long", better = "lower" }
"#;
    let long = r#"
[workloads.long]
kind = "command"
argv = ["sleep", "0.02"]"#;
    let ran = |more: &str, name: &str| {
        let more = format!("runs = 3\n{more}{long}");
        experiment(here, &more, r#"["true"]"#, r#"["true", "x"]"#);
        document(here, &["run", "test.toml", "--out", name, "--json"])
    };
    let with = ran(declared, "with.bundle");
    let planned = printed(here, &["plan", "test.toml"]);
    let line = "trade-off of elapsed in it against elapsed in long\n";
    assert!(planned.contains(line), "{planned}");
    let [tradeoff] = &with["tradeoffs"].as_array().unwrap()[..] else {
        panic!("{}", with["tradeoffs"]);
    };
    assert_eq!(tradeoff["origin"], "declared");
    assert_eq!(tradeoff["points"].as_array().unwrap().len(), 2);
    let again = document(here, &["report", "with.bundle", "--json"]);
    assert_eq!(again["tradeoffs"], with["tradeoffs"]);
    // Trade-offs can be requested later for a bundle that declares none.
    let without = ran("", "without.bundle");
    assert!(without.get("tradeoffs").is_none());
    let asked = ["--tradeoff", "elapsed in it against elapsed in long"];
    let lower = ["--lower-is-better", "elapsed"];
    for verb in ["compare", "report"] {
        let arguments = [&[verb, "without.bundle", "--json"], &asked[..], &lower[..]].concat();
        let document = document(here, &arguments);
        let tradeoff = &document["tradeoffs"][0];
        assert_eq!(tradeoff["origin"], "post_hoc");
        let mean = &tradeoff["points"][1]["x"]["mean"];
        assert!(mean.is_f64(), "{tradeoff}");
    }
    let arguments = [&["report", "without.bundle"], &asked[..]].concat();
    let refused = assize(here, &arguments);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("add --lower-is-better 'elapsed'"), "{said}");
    Ok(())
}

fn tables() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let more = r#"runs = 3
instruments = ["threads"]

[[tables]]
metric = ["elapsed", "voluntary_switches:x"]
workloads = ["it", "long"]
normalised_to = "it"

[workloads.long]
kind = "command"
argv = ["sleep", "0.05"]"#;
    experiment(here, more, r#"["true"]"#, r#"["true", "x"]"#);
    let planned = printed(here, &["plan", "test.toml"]);
    assert!(
        planned.contains("table of elapsed on it, long, normalised to it\n"),
        "{planned}"
    );
    let ran = document(here, &["run", "test.toml", "--json"]);
    let [time, absent] = &ran["tables"].as_array().unwrap()[..] else {
        panic!("{}", ran["tables"]);
    };
    let cell = &time["rows"][1]["cells"][1];
    assert!(cell["normalised"]["ratio"].is_f64(), "{cell}");
    let own = ran["comparisons"].as_array().unwrap().iter();
    let own = own.filter(|c| c["workload"] == "it" && c["metric"] == "elapsed");
    let own: Vec<_> = own
        .map(|c| (&c["ratio"], &c["ci"], &c["verdict"]))
        .collect();
    assert!(
        cell["relative"].is_null(),
        "nothing differs on long: {cell}"
    );
    let relative = &time["rows"][1]["cells"][0]["relative"];
    assert_eq!(
        own,
        [(&relative["ratio"], &relative["ci"], &relative["verdict"])]
    );
    assert_eq!(
        absent["rows"][0]["cells"][0]["because"],
        "none of 3 runs has voluntary_switches:x"
    );
    for verb in ["compare", "report"] {
        let again = document(here, &[verb, "test.bundle", "--json"]);
        assert_eq!(again["tables"], ran["tables"], "{verb}");
    }
    let text = printed(here, &["report", "test.bundle", "--all"]);
    for line in [
        "\nelapsed: median in ns on it; other columns normalised to it of the same\n",
        "\n  to base ",
        "\n  everywhere: none of 3 runs has voluntary_switches:x\n",
        "\n  [missing-cell] test.toml:8: tables[0].metric[1]:\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    Ok(())
}

fn not_overwritten() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(here, "runs = 2", r#"["true"]"#, r#"["true", "x"]"#);
    printed(here, &["run", "test.toml", "--quiet"]);
    let before = files(&here.join("test.bundle"));
    printed(here, &["run", "test.toml", "--quiet"]);
    assert!(here.join("test-2.bundle/bundle.json").exists());
    let refused = assize(here, &["run", "test.toml", "--out", "test.bundle"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        errors(&refused).contains("not empty"),
        "{}",
        errors(&refused)
    );
    assert_eq!(files(&here.join("test.bundle")), before);
    Ok(())
}

fn failures() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(here, "runs = 3\nretries = 1", r#"["true"]"#, r#"["false"]"#);
    let done = assize(here, &["run", "test.toml", "--json"]);
    let lines = errors(&done);
    assert_eq!(done.status.code(), Some(3), "{lines}");
    let last = "every run failed: change on it: 3 of 3: ";
    assert!(
        lines.contains(last) && lines.contains("exit status 1"),
        "{lines}"
    );
    assert!(lines.contains("test.bundle/runs/0"), "{lines}");
    let verdict: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(verdict["runs"].as_array().unwrap().len(), 3);
    let first = verdict["sentences"][0]["text"].as_str().unwrap();
    assert!(
        first.starts_with("Every run of change on it failed, 3 of 3: "),
        "{first}"
    );
    assert!(first.contains("exit status 1"), "{first}");
    // `compare` and `report` print the same, and succeed.
    for verb in ["compare", "report"] {
        let shown = document(here, &[verb, "test.bundle", "--json"]);
        assert_eq!(shown["sentences"][0]["text"], first, "{verb}");
        let text = printed(here, &[verb, "test.bundle", "--format", "mail"]);
        assert!(
            text.contains("\n\n- Every run of change on it failed"),
            "{text}"
        );
        let page = printed(here, &[verb, "test.bundle", "--format", "html"]);
        assert!(page.contains("Every run of change on it failed"), "{verb}");
        let strict = assize(here, &[verb, "test.bundle", "--fail-on", "failed-run"]);
        assert_eq!(strict.status.code(), Some(1), "{verb}");
    }
    // A bundle without any run gives an error.
    fs::create_dir(here.join("begun.bundle")).unwrap();
    let head = here.join("test.bundle/bundle.json");
    fs::copy(head, here.join("begun.bundle/bundle.json")).unwrap();
    for verb in ["compare", "report"] {
        let nothing = assize(here, &[verb, "begun.bundle"]);
        assert_eq!(
            nothing.status.code(),
            Some(2),
            "{verb}: {}",
            errors(&nothing)
        );
        let said = "no run is recorded; continue with: assize run --resume begun.bundle";
        assert!(errors(&nothing).contains(said), "{}", errors(&nothing));
    }
    let again = assize(here, &["run", "--resume", "test.bundle", "--quiet"]);
    assert_eq!(again.status.code(), Some(3), "{}", errors(&again));
    assert_eq!(
        recorded(&here.join("test.bundle")),
        6,
        "failed runs are recorded"
    );
    assert_eq!(lines.matches("it is retried").count(), 3, "{lines}");
    assert!(lines.contains("6 of 6 runs recorded; 3 failed"), "{lines}");
    let log = fs::read_to_string(here.join("test.bundle/log.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 9, "every attempt is logged: {log}");
    Ok(())
}

fn some_fail() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    // The first run does not find the file, and creates it for the others.
    let once = r#"["sh", "-c", "test -e there || { touch there; exit 7; }"]"#;
    let once = once.replace("there", here.join("there").to_str().unwrap());
    experiment(here, "runs = 3\nretries = 0", r#"["true"]"#, &once);
    let done = assize(here, &["run", "test.toml", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let verdict: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let lints = verdict["lints"].as_array().unwrap();
    let failed = lints.iter().find(|lint| lint["code"] == "failed-run");
    let detail = failed.unwrap()["detail"].as_str().unwrap();
    assert!(detail.starts_with("1 of 3 runs failed: "), "{detail}");
    assert!(
        detail.ends_with("comparisons use the 2 runs left"),
        "{detail}"
    );
    let sentences = verdict["sentences"].to_string();
    assert!(!sentences.contains("Every run"), "{sentences}");
    Ok(())
}

fn all_fail() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(
        here,
        "runs = 1\nretries = 0",
        r#"["false"]"#,
        r#"["false", "x"]"#,
    );
    let done = assize(here, &["run", "test.toml", "--quiet"]);
    assert_eq!(done.status.code(), Some(3));
    assert!(
        errors(&done).contains("no run was completed"),
        "{}",
        errors(&done)
    );
    Ok(())
}

fn odd_paths() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path().join(OsStr::from_bytes(b"caf\xe9 a"));
    fs::create_dir(&here).unwrap();
    experiment(&here, "runs = 2", r#"["true"]"#, r#"["sleep", "0.01"]"#);
    let odd = |name: &[u8]| OsStr::from_bytes(name).to_owned();
    let (file, bundle) = (odd(b"x\xff.toml"), odd(b"x\xff.bundle"));
    fs::rename(here.join("test.toml"), here.join(&file)).unwrap();
    // Runs into a directory named after the file, and resumes there.
    let done = command(&here, &["run"]).arg(&file).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    assert_eq!(recorded(&here.join(&bundle)), 4);
    let warned = "warning: no row can be established, whatever is measured: the smallest p of 2 \
                  blocks is 0.5, above 0.05; 6 runs of each cell could\n";
    assert!(errors(&done).contains(warned), "{}", errors(&done));
    let resumed = ["run", "--quiet", "--json", "--resume"];
    let done = command(&here, &resumed).arg(&bundle).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let verdict: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(verdict["rerun"], r"assize run $'x\xff.toml'");
    assert_eq!(verdict["reproduce"], r"assize compare $'x\xff.bundle'");
    Ok(())
}

fn interrupted() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(here, "runs = 2", r#"["true"]"#, r#"["sleep", "777.7"]"#);
    let mut running = command(here, &["run", "test.toml"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let asleep = || {
        let mut pgrep = std::process::Command::new("pgrep");
        pgrep.args(["-f", "^sleep 777.7$"]).output().unwrap()
    };
    while asleep().stdout.is_empty() && running.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(20));
    }
    let pid = Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    running.wait().unwrap();
    let done = running.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130));
    let lines = errors(&done);
    assert!(
        lines.contains("continue with: assize run --resume test.bundle"),
        "{lines}"
    );
    let count = recorded(&here.join("test.bundle"));
    assert!(
        count < 4 && lines.contains(&format!("{count} of 4 runs are recorded")),
        "{lines}"
    );
    assert!(asleep().stdout.is_empty(), "the run in flight goes on");
    // Every recorded run is complete; without runs, an error says so.
    let compared = assize(here, &["compare", "test.bundle"]);
    let expected = if count == 0 { 2 } else { 0 };
    assert_eq!(
        compared.status.code(),
        Some(expected),
        "{}",
        errors(&compared)
    );
    Ok(())
}

fn single_runs() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(here, "runs = 3", r#"["true"]"#, r#"["true", "x"]"#);
    let said = printed(here, &["plan", "test.toml", "-o", "plan.json"]);
    assert_eq!(said, "6 runs, from index 0\n");
    // Two processes request each run, all at the same time.
    let mut running: Vec<_> = (0..12)
        .map(|number| {
            let index = (number % 6).to_string();
            let arguments = ["run-one", "plan.json", "--index", &index, "--out", "b"];
            let mut command = command(here, &arguments);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut new = 0;
    for child in running.drain(..) {
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
        let said = String::from_utf8(done.stdout).unwrap();
        new += usize::from(said.contains(": recorded in b"));
    }
    assert_eq!((new, recorded(&here.join("b"))), (6, 6));
    let before = files(&here.join("b"));
    // A bundle contains its plan.
    let said = printed(here, &["run-one", "b", "--index", "4", "--out", "b"]);
    assert_eq!(said, "run 4: recorded already in b\n");
    assert_eq!(files(&here.join("b")), before);
    let verdict = document(here, &["compare", "b", "--json"]);
    assert_eq!(verdict["runs"].as_array().unwrap().len(), 6);
    Ok(())
}

fn merged() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(here, "runs = 2", r#"["true"]"#, r#"["true", "x"]"#);
    printed(here, &["plan", "test.toml", "-o", "plan.json"]);
    for (index, part) in [("0", "one"), ("1", "two"), ("2", "one"), ("3", "two")] {
        printed(
            here,
            &["run-one", "plan.json", "--index", index, "--out", part],
        );
    }
    printed(here, &["merge", "one", "two", "--out", "all"]);
    let verdict = document(here, &["compare", "all", "--json"]);
    assert_eq!(verdict["runs"].as_array().unwrap().len(), 4);
    let again = assize(here, &["merge", "one", "two", "--out", "all"]);
    assert_eq!(again.status.code(), Some(2));
    Ok(())
}

fn until() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let more = r#"primary = [{ metric = "elapsed", better = "lower" }]
until = { within = "50%", first_look = 4, every = 4, max_runs = 30 }"#;
    experiment(here, more, r#"["sleep", "0.01"]"#, r#"["sleep", "0.03"]"#);
    // After 4 and 8 blocks nothing could be established.
    let planned = printed(here, &["plan", "test.toml"]);
    assert!(
        planned.contains("ratio\nlook: after 12 blocks, at the level 0.0019\n"),
        "{planned}"
    );
    let done = assize(here, &["run", "test.toml", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let lines = errors(&done);
    assert!(lines.contains("stopped after "), "{lines}");
    let ran = recorded(&here.join("test.bundle"));
    assert!(
        (24..60).contains(&ran) && ran.is_multiple_of(8),
        "{ran} runs in whole blocks"
    );
    let verdict: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let alpha = verdict["alpha"].as_f64().unwrap();
    assert!(alpha < 0.02, "each look has a share of alpha: {alpha}");
    assert_eq!(verdict["level"].as_f64(), Some(1.0 - alpha));
    // Resuming looks again, finds the same and stops.
    printed(here, &["run", "--resume", "test.bundle", "--quiet"]);
    assert_eq!(recorded(&here.join("test.bundle")), ran);
    Ok(())
}

fn wrong_use() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(
        here,
        "runs = 2",
        r#"["true"]"#,
        r#"["no-such-program-here"]"#,
    );
    for (arguments, words) in [
        (&["run", "nothing.toml"][..], "nothing.toml"),
        (&["run", "test.toml", "--target", "moon"], "moon"),
        (&["run", "test.toml", "--set", "change=blue"], "blue"),
        (&["run", "--resume", "nothing"], "nothing"),
        // Options about records, refused before there are any.
        (
            &["run", "test.toml", "--baseline", "moon"],
            "no configuration \"moon\"",
        ),
        (&["run", "test.toml", "--claim", "moon"], "no <, > or ="),
        (
            &["run", "test.toml", "--claims", "moon"],
            "cannot read: moon",
        ),
        (&["run", "test.toml", "--fail-on", "moon"], "--fail-on"),
        (
            &["run-one", "test.toml", "--index", "0", "--out", "x"],
            "test.toml",
        ),
        (&["run"], "EXPERIMENT"),
    ] {
        let done = assize(here, arguments);
        assert_eq!(
            done.status.code(),
            Some(2),
            "{arguments:?}: {}",
            errors(&done)
        );
        assert!(errors(&done).contains(words), "{}", errors(&done));
    }
    let done = assize(here, &["run", "test.toml"]);
    assert!(matches!(done.status.code(), Some(2 | 3)));
    assert!(
        errors(&done).contains("no-such-program-here"),
        "{}",
        errors(&done)
    );
    assert_eq!(
        fs::read_dir(here).unwrap().count(),
        1,
        "no bundle was begun"
    );
    Ok(())
}
