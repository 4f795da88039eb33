//! Runs each fuzz target in `fuzz/` for some seconds.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::Error;
use crate::command::{cargo, color, command, works};
use crate::tree;

const TARGETS: &str = "fuzz/fuzz_targets/";

/// The directory with the seed inputs of a target.
fn seeds(target: &str) -> Option<&'static str> {
    match target {
        "plan" => Some("experiments"),
        // Their dictionaries contain whole records, or words.
        "stream" | "command_line" => None,
        // Posted texts.
        _ => Some("crates/audit/tests"),
    }
}

/// The result of one target.
struct Ran {
    target: String,
    executions: Option<u64>,
    ok: bool,
}

/// `cargo xtask fuzz SECONDS [TARGET...]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (seconds, wanted) = arguments
        .split_first()
        .ok_or("say for how many seconds each target is to run")?;
    let seconds: u32 = seconds
        .parse()
        .map_err(|_| format!("{seconds}: not a whole number of seconds"))?;
    let targets = targets(wanted)?;
    if !works("cargo-fuzz", &["--version"]) {
        return Err("cargo-fuzz is not installed; ./setup.sh dev".into());
    }
    let ran = targets
        .into_iter()
        .map(|target| fuzz(target, seconds))
        .collect::<Result<Vec<_>, _>>()?;
    table(&ran);
    match ran.iter().filter(|ran| !ran.ok).count() {
        0 => Ok(()),
        failed => Err(format!("{failed} of {} targets failed", ran.len())),
    }
}

/// All targets in the tree, or the requested ones.
fn targets(wanted: &[String]) -> Result<Vec<String>, Error> {
    let all: Vec<String> = tree::files()?
        .iter()
        .filter_map(|name| name.strip_prefix(TARGETS)?.strip_suffix(".rs"))
        .map(str::to_owned)
        .collect();
    if all.is_empty() {
        return Err(format!("{TARGETS}: has no targets"));
    }
    if wanted.is_empty() {
        return Ok(all);
    }
    for name in wanted {
        if !all.contains(name) {
            return Err(format!("{name}: no such target; there are {all:?}"));
        }
    }
    Ok(wanted.to_vec())
}

/// Fuzzes one target without a sanitizer: the code under test is safe Rust, and cargo-fuzz would
/// need a nightly compiler for one.
fn fuzz(target: String, seconds: u32) -> Result<Ran, Error> {
    println!("\n== {target}");
    let root = tree::root()?;
    // New inputs are stored in the first directory; the others are only read.
    let corpus = format!("fuzz/corpus/{target}");
    fs::create_dir_all(root.join(&corpus)).map_err(|why| format!("{corpus}: {why}"))?;
    let limit = format!("-max_total_time={seconds}");
    let mut arguments = vec!["fuzz", "run", "--sanitizer", "none", &target, &corpus];
    arguments.extend(seeds(&target).filter(|seeds| root.join(seeds).exists()));
    arguments.extend(["--", &limit, "-print_final_stats=1"]);
    let dictionary = format!("fuzz/{target}.dict");
    let dictionary_argument = format!("-dict={dictionary}");
    if root.join(&dictionary).exists() {
        arguments.push(&dictionary_argument);
    }
    let mut executions = None;
    let ok = stderr_of(command(cargo(), &arguments)?, |line| {
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            executions = count.trim().parse().ok();
        }
    })?;
    Ok(Ran {
        target,
        executions,
        ok,
    })
}

/// Runs a command, prints its standard error as it arrives, and passes each line to
/// `look`. Returns whether it succeeded.
fn stderr_of(mut fuzz: Command, mut look: impl FnMut(&str)) -> Result<bool, Error> {
    fuzz.env("CARGO_TERM_COLOR", color());
    let mut child = fuzz
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| format!("cargo fuzz: {why}"))?;
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = line.map_err(|why| format!("cargo fuzz: {why}"))?;
            let line = String::from_utf8_lossy(&line);
            eprintln!("{line}");
            look(&line);
        }
    }
    let status = child.wait().map_err(|why| format!("cargo fuzz: {why}"))?;
    Ok(status.success())
}

fn table(ran: &[Ran]) {
    println!("\n{:<24} {:>14}  outcome", "target", "executions");
    for Ran {
        target,
        executions,
        ok,
    } in ran
    {
        let executions = executions.map_or_else(|| "unknown".into(), |n| n.to_string());
        let outcome = if *ok { "ok" } else { "FAILED" };
        println!("{target:<24} {executions:>14}  {outcome}");
    }
}
