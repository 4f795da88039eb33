//! Measures the cost of the README's two commands in a fresh clone with an empty cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::speed::{PAGE, asks_to_write};
use xtask::command::{command, output, run as run_command, watch};
use xtask::cpu_time::of_children;
use xtask::{Error, files, marks};

/// The stage of `demo/run` before which the first two answers are printed.
const ANSWERED: &str = "3/4";

/// The cost of one command.
struct Cost {
    command: &'static str,
    seconds: f64,
    cpu: f64,
    /// Seconds until the first two answers were printed.
    answer: Option<f64>,
    gib: f64,
}

/// `cargo studies first-hour [--write]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let write = asks_to_write(arguments)?;
    let place = files::scratch("first-hour")?;
    let clone = place.join("clone");
    let mut git = command("git", &["clone", "--quiet", "."])?;
    git.arg(&clone);
    run_command(git)?;
    let cloned = commit()?;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    let costs = ["demo", "test"].map(|command| measure(command, &clone, &place));
    let costs = costs.into_iter().collect::<Result<Vec<Cost>, Error>>()?;
    let section = section(&costs, &cloned, &load);
    println!("{section}");
    if write {
        marks::write(PAGE, "made: first-hour", &section)?;
    }
    Ok(())
}

fn commit() -> Result<String, Error> {
    let commit = output("git", &["rev-parse", "--short", "HEAD"])?;
    Ok(commit.trim().to_owned())
}

/// Runs `make COMMAND` in the clone, with caches next to it.
fn measure(command: &'static str, clone: &Path, place: &Path) -> Result<Cost, Error> {
    let begun = Instant::now();
    let before = of_children()?;
    let mut answer = None;
    let mut make = Command::new("make");
    make.arg(command)
        .current_dir(clone)
        .env("ASSIZE_CACHE", place.join("cache"))
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("MAKEFLAGS");
    watch(make, |line| {
        if line
            .strip_prefix('[')
            .is_some_and(|stage| stage.starts_with(ANSWERED))
        {
            answer.get_or_insert(begun.elapsed().as_secs_f64());
        }
    })?;
    Ok(Cost {
        command,
        seconds: begun.elapsed().as_secs_f64(),
        cpu: of_children()? - before,
        answer,
        gib: gib(place)?,
    })
}

fn gib(place: &Path) -> Result<f64, Error> {
    let path: PathBuf = place.into();
    let said = output("du", &["-s", "-B1", &path.display().to_string()])?;
    let bytes = said.split_whitespace().next().unwrap_or_default();
    let bytes: f64 = bytes.parse().map_err(|_| format!("du: {said}"))?;
    Ok(bytes / f64::from(1 << 30))
}

fn section(costs: &[Cost], commit: &str, load: &str) -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!(
        "\n## From a clone\n\nMade by `cargo studies first-hour --write`: a clone of commit {commit}, with an \
         empty cache of assize,\non {cpus} CPUs at load average {load}. Debian packages and crates \
         had been downloaded before. `make test`\nfollows `make demo`. Disk is that of the clone \
         and its cache, after the command.\n\n\
         | command | minutes | CPU minutes | minutes to two answers | GiB of disk |\n\
         | --- | ---: | ---: | ---: | ---: |\n"
    );
    for cost in costs {
        let answer = cost.answer.map_or_else(|| "–".into(), minutes);
        text += &format!(
            "| `make {}` | {} | {} | {answer} | {:.1} |\n",
            cost.command,
            minutes(cost.seconds),
            minutes(cost.cpu),
            cost.gib
        );
    }
    text
}

fn minutes(seconds: f64) -> String {
    format!("{:.1}", seconds / 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::tree;

    #[test]
    fn the_stage_of_the_first_answers_is_one_of_the_demo() {
        let demo = tree::read("demo/run").unwrap().unwrap();
        assert!(demo.contains(&format!("stage {ANSWERED} ")));
    }
}
