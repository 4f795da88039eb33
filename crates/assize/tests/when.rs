//! `assize when` finds planted moments, and says so where there is none.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Outcome, printed, refusal};

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12", "modules for debian:6.12"];
    a_planted_race_lies_in_the_interval_and_its_function_is_named = race,
    what_no_turn_changes_is_certain_from_the_start_or_by_the_seed = start,
    a_run_without_anything_bad_is_told_so = nothing,
    what_cannot_be_repeated_is_refused = refused,
}

/// An experiment with one run in which stalls are planted on the last CPU. With `rival`, CPU 0
/// races for each.
fn bundle(here: &Path, name: &str, (cpus, rival): (u32, bool), lengths: &str, samples: bool) {
    let cpu = cpus - 1;
    let setup = match rival {
        true => r#"setup = [{ write = "/sys/module/simstall/parameters/rival", value = 0 }]"#,
        false => "",
    };
    let text = format!(
        r#"title = "Stalls"
cpus = {cpus}
runs = 1
samples = {samples}
instruments = ["planted-stalls"]
primary = [{{ metric = "planted_stall_ns_max", better = "lower" }}]
stalls = {{ kind = "irqs-off", length = [{lengths}], period = "1ms", jitter = "300us", cpu = {cpu} }}
{setup}
[factors.nothing.plain]
[workloads.spin]
kind = "command"
argv = ["/bin/sh", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"]
background = ["hogs"]
[background.hogs]
kind = "hogs"
threads = 1
per_cpu = true
"#
    );
    fs::write(here.join(format!("{name}.toml")), text).unwrap();
    let file = format!("{name}.toml");
    printed(here, &["run", "--quiet", &file]);
}

/// The answer as JSON.
fn answer(here: &Path, words: &[&str]) -> Value {
    let text = printed(here, &[&["when", "--format", "json"], words].concat());
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["schema"], "assize.when/1");
    answer
}

/// What `debug` shows of a run, stopped at a place: the times of all stops, in ns.
fn times(here: &Path, bundle: &str, at: &str) -> Vec<u64> {
    let words = [
        "debug",
        bundle,
        "0",
        "--at",
        at,
        "--",
        "-batch",
        "-ex",
        "info clock",
    ];
    let shown = printed(here, &words);
    let time = |line: &str| {
        let (whole, rest) = line.split_once('.')?;
        let below = rest.split_once(" ms, CPU")?.0;
        Some(whole.parse::<u64>().ok()? * 1_000_000 + below.parse::<u64>().ok()?)
    };
    shown.lines().filter_map(time).collect()
}

fn race() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    bundle(
        here,
        "race",
        (2, true),
        r#""2us", "2us", "2us", "31us""#,
        true,
    );
    let found = answer(here, &["race.bundle", "0", "--draws", "8", "--keep"]);
    assert_eq!(found["answer"]["since"], "moment", "{found}");
    let [open, certain] =
        ["open_ns", "certain_ns"].map(|key| found["answer"][key].as_u64().unwrap());
    assert!(certain - open <= 2000, "{open} {certain}");
    // The two calls by which both CPUs race for that stall.
    let number = found["bad"]["number"].as_u64().unwrap();
    let first = times(
        here,
        "race.bundle",
        &format!("irqs_off_race:{}", 2 * number - 1),
    );
    let planted = first[0];
    assert!(
        open <= planted && planted <= certain,
        "{open} {planted} {certain}"
    );
    let parting = found["parting"]["cpus"].to_string();
    assert!(parting.contains("irqs_off_race"), "{parting}");
    // The same command gives the same bytes, and the page has it.
    assert_eq!(found, answer(here, &["race.bundle", "0", "--draws", "8"]));
    printed(
        here,
        &[
            "report",
            "race.bundle",
            "--format",
            "html",
            "-o",
            "page.html",
        ],
    );
    let page = fs::read_to_string(here.join("page.html"))?;
    assert!(
        page.contains("details class=\"moments\" data-run=\"0\""),
        "{}",
        page.len()
    );
    Ok(())
}

fn start() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    for cpus in [1, 2] {
        let name = format!("plain{cpus}");
        bundle(
            here,
            &name,
            (cpus, false),
            r#""2us", "2us", "2us", "31us""#,
            true,
        );
        let out = format!("{name}.bundle");
        // Which stall is long is drawn from the seed; that one is longer than 1 us is not.
        let found = answer(here, &[&out, "0", "--draws", "8"]);
        assert_eq!(found["answer"]["since"], "seed", "{cpus} CPUs: {found}");
        let bad = ["--bad", "planted_stall_ns_max > 1us", "--draws", "4"];
        let found = answer(here, &[&[out.as_str(), "0"], &bad[..]].concat());
        assert_eq!(found["answer"]["since"], "start", "{cpus} CPUs: {found}");
        assert_eq!(found["seeds"]["bad"], 4, "{found}");
        let said = printed(here, &[&["when", &out, "0"], &bad[..]].concat());
        assert!(said.contains("It was certain from the start."), "{said}");
        assert_eq!(said.contains("With one CPU"), cpus == 1, "{said}");
    }
    Ok(())
}

fn nothing() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    bundle(here, "null", (2, true), r#""2us""#, false);
    bundle(here, "even", (2, false), r#""2us""#, true);
    for words in [
        &["even.bundle", "0"][..],
        &["null.bundle", "0", "--bad", "planted_stall_ns_max > 1ms"],
    ] {
        let found = answer(here, words);
        assert_eq!(found["answer"]["since"], "nothing", "{found}");
        assert_eq!(found["moments"], Value::Array(Vec::new()));
        let said = printed(here, &[&["when"], words].concat());
        assert!(said.contains("Nothing is bad"), "{said}");
    }
    Ok(())
}

fn refused() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    bundle(here, "none", (1, false), r#""2us""#, false);
    for (words, why) in [
        (&["none.bundle", "7"][..], "no run 7"),
        (&["none.bundle", "0"], "add samples = true"),
        (&["none.bundle", "0", "--metric", "cpu_time"], "no samples"),
        (
            &["none.bundle", "0", "--bad", "cpu_time"],
            "is not of the form",
        ),
        (&["none.bundle", "0", "--bad", "x > 1"], "has no metric x"),
        (
            &["none.bundle", "0", "--bad", "elapsed > 1 kg"],
            "is no unit of elapsed",
        ),
    ] {
        let said = refusal(here, "when", words);
        assert!(said.contains(why), "{words:?}: {said}");
    }
    let file = here.join("none.bundle/runs/0000.json");
    let recorded = fs::read_to_string(&file)?;
    let mut run: Value = serde_json::from_str(&recorded)?;
    run["environment"]["qemu"] = "9.9.9".into();
    fs::write(&file, run.to_string())?;
    let said = refusal(
        here,
        "when",
        &["none.bundle", "0", "--bad", "elapsed > 1ns"],
    );
    assert!(said.contains("and was 9.9.9"), "{said}");
    let host = "title = \"Host\"\nruns = 1\n[factors.nothing.plain]\n[workloads.w]\nkind = \"ping-pong\"\nloops = 10\n";
    fs::write(here.join("host.toml"), host)?;
    printed(here, &["run", "--quiet", "--target", "host", "host.toml"]);
    let said = refusal(here, "when", &["host.bundle", "0"]);
    assert!(said.contains("no run can be repeated"), "{said}");
    Ok(())
}
