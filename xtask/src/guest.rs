//! Runs the tests of the kernel modules in guests, as experiments, and reads their results.

mod said;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::{command, run as run_command};
use crate::{Error, agent, files, tree};
pub use said::Said;

/// The settings of the experiments that run the tests.
pub struct Machine {
    /// The kernels, as an experiment names them.
    pub kernel: String,
    /// The directory for bundles.
    pub place: PathBuf,
    /// The program.
    pub assize: PathBuf,
    /// Whether to repeat runs that are in the cache.
    pub fresh: bool,
}

/// One run as recorded in its bundle.
pub struct Run {
    /// Its configuration.
    pub configuration: String,
    /// Its workload.
    pub workload: String,
    /// The output of its program.
    pub stdout: String,
    /// The report of `watch`.
    pub said: Said,
    /// Its duration by the guest's clock.
    pub guest_s: f64,
    /// Why it failed, if it did.
    pub failed: Option<String>,
}

impl Machine {
    /// Runs an experiment and reads the result of each run.
    pub fn run(&self, name: &str, text: &str) -> Result<Vec<Run>, Error> {
        let file = self.place.join(format!("{name}.toml"));
        files::write(&file, text)?;
        let out = self.place.join(name);
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let log = self.place.join(format!("{name}.log"));
        let said = fs::File::create(&log).map_err(|why| format!("{}: {why}", log.display()))?;
        println!("{name} on {}", self.kernel);
        // If a run fails, the command fails too, but the bundle has the details.
        let status = Command::new(&self.assize)
            .args(["run", "--jobs", &jobs.to_string(), "--out"])
            .arg(&out)
            .arg(&file)
            .args(self.fresh.then_some("--fresh"))
            .env("ASSIZE_AGENT", agent::path()?)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .status()
            .map_err(|why| format!("{}: {why}", self.assize.display()))?;
        let runs = tree::runs(&out)
            .map_err(|why| format!("{}: {status}; {why}; see {}", file.display(), log.display()))?;
        if runs.is_empty() {
            let said = fs::read_to_string(&log).unwrap_or_default();
            let last = said.lines().next_back().unwrap_or_default();
            return Err(format!("{}: no run: {last}", file.display()));
        }
        Ok(runs.iter().map(|run| read_run(&out, run)).collect())
    }
}

fn read_run(bundle: &Path, run: &Value) -> Run {
    let raw = |end: &str| {
        let names = run["raw"].as_array().into_iter().flatten();
        let name = names
            .filter_map(Value::as_str)
            .find(|name| name.ends_with(end));
        name.and_then(|name| fs::read(bundle.join("raw").join(name)).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    };
    let text = |name: &str| run[name].as_str().unwrap_or_default().to_string();
    let mut failed =
        (run["exit"] != "completed").then(|| format!("the run failed: {}", run["exit"]));
    // The output that was cut off may have contained a complaint.
    if run["doubts"].to_string().contains("output-cut") {
        failed = Some("more was printed than is kept".into());
    }
    Run {
        configuration: text("configuration"),
        workload: text("workload"),
        stdout: raw(".stdout"),
        said: Said::read(&raw(".stderr")),
        guest_s: run["metrics"]["elapsed"]["value"].as_f64().unwrap_or(0.0) / 1e9,
        failed,
    }
}

impl Run {
    /// The problems in the test of this run: complaints of the kernel, as selected by `said`; an
    /// abnormal end of the program; failed test points, which are also printed.
    pub fn problems(&self, said: impl FnOnce(&Said) -> Vec<String>) -> Vec<String> {
        let mut problems: Vec<String> = self.failed.iter().cloned().collect();
        if problems.is_empty() {
            problems.extend(said(&self.said));
            if self.said.program != "exit 0" {
                problems.push(format!("it ended with {}", self.said.program));
            }
        }
        match points(&self.stdout) {
            (0, 0, _) => problems.push("no point was tried".into()),
            (_, 0, _) => {}
            (_, failed, _) => problems.push(format!("{failed} points failed")),
        }
        if !problems.is_empty() {
            println!("{}", failed_points(&self.stdout));
        }
        problems
    }
}

/// A workload that runs `watch` with these options; `watch` starts the program with its arguments
/// and then removes the modules, the last one first.
pub fn watched(
    name: &str,
    modules: &[&str],
    options: &[&str],
    [watch, program]: [String; 2],
    arguments: &[&str],
) -> String {
    let mut argv = vec![watch];
    for module in modules.iter().rev() {
        argv.extend(["-u".into(), (*module).into()]);
    }
    argv.extend(options.iter().map(ToString::to_string));
    argv.extend(["--".into(), program]);
    argv.extend(arguments.iter().map(ToString::to_string));
    let argv = list(&argv);
    format!("[workloads.{name}]\nkind = \"command\"\nargv = {argv}\n")
}

/// A list of strings in TOML.
pub fn list(words: &[String]) -> String {
    format!("{words:?}")
}

/// The points in a TAP output: passed, failed, skipped. Counts both nested points and the
/// points that sum them up.
pub fn points(text: &str) -> (u64, u64, u64) {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("not ok ") || line.starts_with("Bail out!") {
            failed += 1;
        } else if line.starts_with("ok ") {
            match line.contains("# SKIP") {
                true => skipped += 1,
                false => passed += 1,
            }
        }
    }
    (passed, failed, skipped)
}

/// The failed points, each with the output before it.
fn failed_points(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut shown: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("not ok ") {
            shown.extend(&lines[at.saturating_sub(10)..=at]);
        }
    }
    shown.join("\n")
}

/// Builds the programs as static binaries, and returns their directory.
pub fn programs(place: &Path) -> Result<PathBuf, Error> {
    let directory = place.join("programs");
    files::create(&directory)?;
    let into = format!("O={}", directory.display());
    let mut make = command("make", &["-s", "-C", "kernel/tests/user", &into, "all"])?;
    make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    run_command(make)?;
    for source in ["kernel/debug/watch.c", "kernel/tests/user/depq_test_run.c"] {
        let name = Path::new(source).file_stem().unwrap_or_default();
        let program = directory.join(name).display().to_string();
        run_command(command(
            "gcc",
            &[
                "-std=gnu11",
                "-static",
                "-O2",
                "-Wall",
                "-Wextra",
                "-o",
                &program,
                source,
            ],
        )?)?;
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_counted() {
        let text = "TAP version 13\n1..3\nok 1 a\nnot ok 2 b\n    ok 1 c\nok 3 d # SKIP no e\n";
        assert_eq!(points(text), (2, 1, 1));
    }
}
