//! Compares assize with hyperfine: both measure the same pair of commands in turn, with a planted
//! difference and without one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use xtask::command::{output, run as run_command};
use xtask::cpu_time::of_children;
use xtask::{Error, agent, assize, files, marks, tree};

const PAGE: &str = "docs/peers.md";
const ROUNDS: usize = 10;
/// A script that counts to its argument.
const WORK: &str = "i=0; while [ $i -lt $1 ]; do i=$((i+1)); done\n";
/// Pairs of commands: a description, and the commands.
const PAIRS: [(&str, [&str; 2]); 2] = [
    ("2 % more", ["sh work 100000", "sh work 102000"]),
    ("the same", ["sh work 100000", "sh ./work 100000"]),
];

/// `cargo studies hyperfine [--write]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let write = crate::speed::asks_to_write(arguments)?;
    let directory = files::scratch("hyperfine")?;
    files::write(&directory.join("work"), WORK)?;
    let lab = Lab {
        assize: assize::build()?,
        agent: agent::path()?,
        directory,
    };
    let mut text = head()?;
    for (pair, commands) in PAIRS {
        let mut rounds = Vec::new();
        for number in 0..ROUNDS {
            rounds.push(lab.round(commands, number)?);
        }
        text += &rows(pair, &rounds);
    }
    println!("{text}");
    if write {
        marks::write(PAGE, "made: hyperfine", &text)?;
    }
    Ok(())
}

/// The cost of one tool, and the interval of the ratio that it gives.
struct Measured {
    seconds: f64,
    cpu: f64,
    /// Half the width of the 95 % interval of the logarithm of the ratio of elapsed times.
    half: f64,
    /// Whether it finds the second command slower (true) or faster (false).
    says: Option<bool>,
}

/// One round: elapsed time by both tools, and CPU time by assize.
struct Round {
    runs: u64,
    assize: Measured,
    hyperfine: Measured,
    cpu_half: f64,
    cpu_says: Option<bool>,
}

struct Lab {
    assize: PathBuf,
    agent: PathBuf,
    directory: PathBuf,
}

impl Lab {
    fn round(&self, commands: [&str; 2], number: usize) -> Result<Round, Error> {
        let out = self.directory.join("compare.bundle");
        let json = self.directory.join("hyperfine.json");
        let _ = files::remove(&out);
        let (seconds, cpu) = self.timed(&self.assize, &["compare", "--quiet", "--out"], |it| {
            it.arg(&out).args(commands);
        })?;
        let document = judged(&["report", "--json"], &out)?;
        let elapsed = row(&document, "elapsed")?;
        let cpu_time = row(&document, "command_cpu_time")?;
        let runs = elapsed["n"].as_u64().unwrap_or_default();
        let count = runs.to_string();
        let words = ["--shell=none", "--runs", &count, "--export-json"];
        let (their_seconds, their_cpu) = self.timed(Path::new("hyperfine"), &words, |it| {
            it.arg(&json).args(commands);
        })?;
        let times = tree::json(&json)?;
        let theirs = judged(&["audit", "--json"], &json)?;
        println!("round {number}: {seconds:.1} s and {their_seconds:.1} s, {runs} runs");
        Ok(Round {
            runs,
            assize: Measured {
                seconds,
                cpu,
                half: half(elapsed)?,
                says: says(elapsed),
            },
            hyperfine: Measured {
                seconds: their_seconds,
                cpu: their_cpu,
                half: half(row(&theirs, "time")?)?,
                says: hyperfine_says(&times["results"]),
            },
            cpu_half: half(cpu_time)?,
            cpu_says: says(cpu_time),
        })
    }

    /// Elapsed and CPU seconds of a program and its children.
    fn timed(
        &self,
        program: &Path,
        words: &[&str],
        add: impl FnOnce(&mut Command),
    ) -> Result<(f64, f64), Error> {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(&self.directory)
            .env("ASSIZE_AGENT", &self.agent)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        add(&mut command);
        let (begun, before) = (Instant::now(), of_children()?);
        run_command(command)?;
        Ok((begun.elapsed().as_secs_f64(), of_children()? - before))
    }
}

fn judged(words: &[&str], path: &Path) -> Result<Value, Error> {
    let path = path.display().to_string();
    let text = assize::judged(&[words, &[&path]].concat())?;
    serde_json::from_slice(&text).map_err(|why| format!("{words:?} {path}: {why}"))
}

fn row<'d>(document: &'d Value, metric: &str) -> Result<&'d Value, Error> {
    let mut rows = document["comparisons"].as_array().into_iter().flatten();
    let row = rows.find(|row| row["metric"] == metric);
    row.ok_or(format!("no comparison of {metric}"))
}

fn half(row: &Value) -> Result<f64, Error> {
    let end = |at: usize| row["ci"][at].as_f64().ok_or("no interval".to_owned());
    Ok((end(1)?.ln() - end(0)?.ln()) / 2.0)
}

/// Whether the verdict is that the second command is slower; `None` if undecided.
fn says(row: &Value) -> Option<bool> {
    (row["verdict"] == "established").then(|| row["ratio"].as_f64() > Some(1.0))
}

/// hyperfine always prints `x ± y times faster`. Read as an interval, that is a finding if it
/// excludes 1.
fn hyperfine_says(results: &Value) -> Option<bool> {
    let figure = |at: usize, name: &str| results[at][name].as_f64();
    let [first, second] = [figure(0, "mean")?, figure(1, "mean")?];
    let ratio = second.max(first) / second.min(first);
    let shares = [figure(0, "stddev")? / first, figure(1, "stddev")? / second];
    let spread = ratio * shares[0].hypot(shares[1]);
    (ratio - spread > 1.0).then_some(second > first)
}

fn head() -> Result<String, Error> {
    let version = output("hyperfine", &["--version"])?;
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    Ok(format!(
        "\nMade by `cargo studies hyperfine --write` on {cpus} CPUs at load {load}, with {}:\n\
         {ROUNDS} rounds of `assize compare 'A' 'B'` and then `hyperfine -N -r N 'A' 'B'` with as many\n\
         runs as assize took. Figures are medians of the rounds.\n\n\
         | B does | by | seconds | CPU seconds | runs a side | interval ± | cost | says slower | says faster |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        version.trim()
    ))
}

fn rows(pair: &str, rounds: &[Round]) -> String {
    let median = |of: &dyn Fn(&Round) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        (all[(all.len() - 1) / 2] + all[all.len() / 2]) / 2.0
    };
    // Cost scaled to equal intervals: their width falls with the square root of the time.
    let cost = |half: f64, seconds: f64, round: &Round| {
        let theirs = &round.hyperfine;
        seconds * half.powi(2) / (theirs.seconds * theirs.half.powi(2))
    };
    let counted = |of: &dyn Fn(&Round) -> Option<bool>| {
        let says = |it: bool| rounds.iter().filter(|one| of(one) == Some(it)).count();
        format!(
            "{} of {1} | {2} of {1}",
            says(true),
            rounds.len(),
            says(false)
        )
    };
    let row =
        |by: &str, of: &dyn Fn(&Round) -> &Measured, half: &dyn Fn(&Round) -> f64, said: String| {
            format!(
                "| {pair} | {by} | {:.1} | {:.2} | {:.0} | {:.1} % | {} | {said} |\n",
                median(&|one| of(one).seconds),
                median(&|one| of(one).cpu),
                median(&|one| one.runs as f64),
                100.0 * median(half),
                share(median(&|one| cost(half(one), of(one).seconds, one))),
            )
        };
    [
        row(
            "assize, elapsed time",
            &|one| &one.assize,
            &|one| one.assize.half,
            counted(&|one| one.assize.says),
        ),
        row(
            "assize, CPU time",
            &|one| &one.assize,
            &|one| one.cpu_half,
            counted(&|one| one.cpu_says),
        ),
        row(
            "hyperfine",
            &|one| &one.hyperfine,
            &|one| one.hyperfine.half,
            counted(&|one| one.hyperfine.says),
        ),
    ]
    .concat()
}

fn share(cost: f64) -> String {
    match cost < 0.01 {
        true => "< 0.01".to_owned(),
        false => format!("{cost:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_spread_that_reaches_one_says_nothing() {
        let results = |second: f64, stddev: f64| json!([{ "mean": 1.0, "stddev": stddev }, { "mean": second, "stddev": stddev }]);
        assert_eq!(hyperfine_says(&results(1.02, 0.05)), None);
        assert_eq!(hyperfine_says(&results(1.02, 0.001)), Some(true));
        assert_eq!(hyperfine_says(&results(0.5, 0.001)), Some(false));
    }

    #[test]
    fn the_cost_is_the_time_to_the_same_width() {
        let measured = |seconds: f64, half: f64| Measured {
            seconds,
            cpu: 1.0,
            half,
            says: Some(true),
        };
        let round = Round {
            runs: 10,
            assize: measured(4.0, 0.01),
            hyperfine: measured(2.0, 0.02),
            cpu_half: 0.005,
            cpu_says: None,
        };
        let rows = rows("x", &[round]);
        let costs: Vec<&str> = rows
            .lines()
            .map(|line| line.split('|').nth(7).unwrap().trim())
            .collect();
        assert_eq!(costs, ["0.50", "0.12", "1.00"]);
    }
}
