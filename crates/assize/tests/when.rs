//! `assize when` finds planted moments, and says so where there is none.
//!
//! `ASSIZE_WHEN=20` plants 20 races.

use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{Cache, Outcome, command, errors, printed, refusal};

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12", "modules for debian:6.12"];
    a_planted_race_lies_in_the_interval_and_its_function_is_named = race,
    what_no_turn_changes_is_certain_from_the_start_or_by_the_seed = start,
    a_run_without_anything_bad_is_told_so = nothing,
    what_cannot_be_repeated_is_refused = refused,
    an_interrupted_search_leaves_nothing_behind = interrupted,
}

/// Both CPUs race within this, in ns: each time slice is 100 ns long.
const CLOSE: u64 = 200;
/// Before the race, half of the draws are bad. With so many, a search of ten moments takes one for
/// certain by chance in one of 400 cases; with 8, in one of 26.
const ENOUGH: &str = "12";

/// An experiment with one run in which stalls are planted on the last CPU. With `rival`, CPU 0
/// races for each.
fn bundle(here: &Path, name: &str, (cpus, rival): (u32, bool), lengths: &str, samples: bool) {
    seeded(here, (name, 1), (cpus, rival), lengths, samples);
}

/// The same with a seed of the schedule.
fn seeded(
    here: &Path,
    (name, seed): (&str, u32),
    (cpus, rival): (u32, bool),
    lengths: &str,
    samples: bool,
) {
    let cpu = cpus - 1;
    let setup = match rival {
        true => r#"setup = [{ write = "/sys/module/simstall/parameters/rival", value = 0 }]"#,
        false => "",
    };
    let text = format!(
        r#"title = "Stalls"
cpus = {cpus}
runs = 1
seed = {seed}
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
    let wanted = env::var("ASSIZE_WHEN").unwrap_or_else(|_| "1".into());
    let place = tempfile::tempdir()?;
    for seed in 1..=wanted.parse()? {
        is_found(place.path(), seed);
    }
    let (here, words) = (place.path(), ["race1.bundle", "0", "--draws", ENOUGH]);
    // The same command gives the same bytes, and the page includes them.
    let found = answer(here, &[&words[..], &["--keep"]].concat());
    assert_eq!(found, answer(here, &words));
    let page = [
        "report",
        "race1.bundle",
        "--format",
        "html",
        "-o",
        "page.html",
    ];
    printed(here, &page);
    let page = fs::read_to_string(here.join("page.html"))?;
    let section = "details class=\"moments\" data-run=\"0\"";
    assert!(page.contains(section), "{}", page.len());
    Ok(())
}

/// One of many short stalls becomes long if the right CPU wins a race for it.
fn is_found(here: &Path, seed: u32) {
    let name = format!("race{seed}");
    let lengths = r#""2us", "2us", "2us", "31us""#;
    seeded(here, (&name, seed), (2, true), lengths, true);
    let bundle = format!("{name}.bundle");
    let found = answer(here, &[&bundle, "0", "--draws", ENOUGH]);
    // The two calls by which both CPUs race for that stall.
    let number = found["bad"]["number"].as_u64().unwrap();
    let [planted, second] = [2 * number - 1, 2 * number]
        .map(|call| times(here, &bundle, &format!("irqs_off_race:{call}"))[0]);
    let apart = second.abs_diff(planted);
    assert!(apart <= CLOSE, "seed {seed}: no race, {apart} ns apart");
    assert_eq!(found["answer"]["since"], "moment", "seed {seed}: {found}");
    let [open, certain] =
        ["open_ns", "certain_ns"].map(|key| found["answer"][key].as_u64().unwrap());
    eprintln!("seed {seed}: open at {open}, planted at {planted}, certain at {certain}");
    assert!(certain - open <= 2000, "seed {seed}");
    assert!(open <= planted && planted <= certain, "seed {seed}");
    let parting = found["parting"]["cpus"].to_string();
    assert!(parting.contains("irqs_off_race"), "seed {seed}: {parting}");
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
        assert!(
            said.contains("The outcome was certain from the start."),
            "{said}"
        );
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
            "is not a unit of elapsed",
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

fn interrupted() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let lengths = r#""2us", "2us", "2us", "31us""#;
    bundle(here, "plain", (2, false), lengths, true);
    // The runs so far are not in this cache, and so many draws take minutes on any host.
    let cache = Cache::new();
    let is_qemu = |(name, _): &(String, String)| name.starts_with("qemu");
    for pause in [Duration::ZERO, Duration::from_secs(5)] {
        let mut when = command(here, &["when", "plain.bundle", "0", "--draws", "1000"]);
        when.env("ASSIZE_CACHE", cache.path());
        when.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = when.spawn()?;
        while running.try_wait()?.is_none() && !cache.processes().iter().any(is_qemu) {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(pause);
        kill_process(
            Pid::from_raw(i32::try_from(running.id())?).unwrap(),
            Signal::INT,
        )?;
        let done = running.wait_with_output()?;
        let ended = done.status.code();
        let ended = ended.or(done.status.signal().map(|one| 128 + one));
        assert_eq!(ended, Some(130), "{}", errors(&done));
        cache.is_idle();
    }
    Ok(())
}
