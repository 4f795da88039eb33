//! Runs steps, goes on after failures, and counts the results.

use std::env;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Child;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::assize::IS_BUILT;
use crate::command::{command, run};
use crate::cpu_time::of_children;
use crate::{Error, tree};

/// The result of a step that did not fail.
pub(crate) enum Done {
    /// The step completed.
    Ok,
    /// The tests that can run here passed.
    Counted(Counts),
    /// The step cannot run here, for this reason.
    Skipped(String),
}

/// The result of a step that consists of many tests.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// The reason of each skipped test.
    pub(crate) skipped: Vec<String>,
}

/// A step of a command such as `cargo xtask check`.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// A short name.
    pub(crate) name: &'static str,
    /// The groups of setup.sh that it needs.
    needs: &'static [&'static str],
    /// The function to call.
    run: fn() -> Result<Done, Error>,
}

impl Step {
    pub(crate) const fn new(
        name: &'static str,
        needs: &'static [&'static str],
        run: fn() -> Result<Done, Error>,
    ) -> Step {
        Step { name, needs, run }
    }
}

#[derive(Serialize, Deserialize)]
enum Outcome {
    Ok(Counts),
    Skipped(String),
    Failed(Error),
}

/// The result and the cost of a step.
#[derive(Serialize, Deserialize)]
pub(crate) struct Taken {
    name: String,
    outcome: Outcome,
    /// Elapsed seconds.
    seconds: f64,
    /// CPU seconds of the programs it started.
    cpu: f64,
    /// Free bytes on the disk of the builds at its end.
    free: Option<u64>,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match &self.outcome {
            Outcome::Ok(_) => "ok",
            Outcome::Skipped(_) => "SKIPPED",
            Outcome::Failed(_) => "FAILED",
        };
        let (name, seconds, cpu) = (&self.name, self.seconds, self.cpu);
        write!(f, "{name:<12} {how:<8} {seconds:7.1} {cpu:7.1}")?;
        match self.free {
            Some(free) => write!(f, " {:6.1}", free as f64 / f64::from(1 << 30))?,
            None => write!(f, " {:6}", "")?,
        }
        match &self.outcome {
            Outcome::Ok(Counts { passed: 0, skipped }) if skipped.is_empty() => Ok(()),
            Outcome::Ok(Counts { passed, skipped }) => {
                write!(f, " {passed:6} {:7}", skipped.len())?;
                let mut reasons: Vec<&String> = skipped.iter().collect();
                reasons.sort();
                reasons.dedup();
                reasons
                    .iter()
                    .try_for_each(|why| write!(f, "\n    skipped: {why}"))
            }
            Outcome::Skipped(why) => write!(f, "  {why}"),
            // The full text is printed where the step ended, and after all steps.
            Outcome::Failed(why) => write!(f, "  {}", why.lines().next().unwrap_or_default()),
        }
    }
}

const HEAD: &str = "lane         how      seconds   CPU s  GiB+  passed skipped";

/// Runs every step.
pub(crate) fn take_each(steps: &[Step]) -> Vec<Taken> {
    steps.iter().map(take).collect()
}

/// Lists the result of each step; returns an error if any failed.
pub(crate) fn close(taken: &[Taken]) -> Result<(), Error> {
    println!("\n{HEAD}");
    for one in taken {
        println!("{one}");
    }
    let count =
        |wanted: fn(&Outcome) -> bool| taken.iter().filter(|one| wanted(&one.outcome)).count();
    let ok = count(|outcome| matches!(outcome, Outcome::Ok(_)));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
    let failed = taken.len() - ok - skipped;
    let summary = format!("{ok} lanes ok, {skipped} skipped, {failed} failed");
    let cpu: f64 = taken.iter().map(|one| one.cpu).sum();
    println!("\n{summary}; {cpu:.0} s of CPU");
    let failures = taken.iter().filter_map(|one| match &one.outcome {
        Outcome::Failed(why) => Some(format!("{}: {why}", one.name)),
        _ => None,
    });
    let failures: Vec<String> = failures.collect();
    match failures.is_empty() {
        true => Ok(()),
        false => Err(format!("{summary}: {}", failures.join("; "))),
    }
}

fn take(step: &Step) -> Taken {
    println!("\n== {}", step.name);
    let start = Instant::now();
    let before = of_children().unwrap_or_default();
    let outcome = match install(step.needs).and_then(|()| (step.run)()) {
        Ok(Done::Ok) => Outcome::Ok(Counts::default()),
        Ok(Done::Counted(counts)) => Outcome::Ok(counts),
        Ok(Done::Skipped(why)) => {
            println!("skipped: {why}");
            Outcome::Skipped(why)
        }
        Err(why) => {
            eprintln!("{}: {why}", step.name);
            Outcome::Failed(why)
        }
    };
    Taken {
        name: step.name.into(),
        outcome,
        seconds: start.elapsed().as_secs_f64(),
        cpu: of_children().unwrap_or_default() - before,
        free: free(),
    }
}

/// Installs the requirements of a step, just before it starts.
pub(crate) fn install(groups: &[&str]) -> Result<(), Error> {
    if groups.is_empty() {
        return Ok(());
    }
    run(command("./setup.sh", groups)?)
}

fn free() -> Option<u64> {
    let at = rustix::fs::statvfs(&tree::target().ok()?).ok()?;
    Some(at.f_bavail * at.f_frsize)
}

/// The option of `check` that makes it write the results of its steps to a file.
pub(crate) const ROWS: &str = "--rows";

/// Writes the results of steps to a file, for [`Beside`].
pub(crate) fn keep(taken: &[Taken], file: &str) -> Result<(), Error> {
    let text = serde_json::to_vec(taken).map_err(|why| why.to_string())?;
    fs::write(file, text).map_err(|why| format!("{file}: {why}"))
}

/// Steps that another `cargo xtask check` process runs in parallel.
pub(crate) struct Beside {
    names: String,
    process: Child,
    log: PathBuf,
    rows: PathBuf,
}

impl Beside {
    /// Starts the process; its output goes to a log.
    pub(crate) fn start(steps: &[Step]) -> Result<Beside, Error> {
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        let xtask = env::current_exe().map_err(|why| format!("our own path: {why}"))?;
        let log = tree::target()?.join("check-beside.log");
        let rows = log.with_extension("rows");
        let _ = fs::remove_file(&rows);
        let failed = |why: io::Error| format!("{}: {why}", log.display());
        let output = File::create(&log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let mut process = command(xtask, &["check", ROWS])?;
        process
            .arg(&rows)
            .args(&names)
            .stdout(output)
            .stderr(errors);
        process.env(IS_BUILT, "1");
        let names = names.join(", ");
        println!("\nbeside what follows: {names}; {}", log.display());
        let process = process.spawn().map_err(|why| format!("{names}: {why}"))?;
        Ok(Beside {
            names,
            process,
            log,
            rows,
        })
    }

    /// Waits for the end, prints the output, and returns the results.
    pub(crate) fn end(beside: Result<Beside, Error>) -> Vec<Taken> {
        let lost = |names: &str, why: Error| Taken {
            name: names.into(),
            outcome: Outcome::Failed(why),
            seconds: 0.0,
            cpu: 0.0,
            free: None,
        };
        match beside {
            Err(why) => vec![lost("beside", why)],
            Ok(mut beside) => beside
                .wait()
                .unwrap_or_else(|why| vec![lost(&beside.names, why)]),
        }
    }

    fn wait(&mut self) -> Result<Vec<Taken>, Error> {
        let failed = |why: io::Error| format!("{}: {why}", self.log.display());
        let status = self.process.wait().map_err(failed)?;
        let log = fs::read(&self.log).map_err(failed)?;
        io::stdout().write_all(&log).map_err(failed)?;
        let rows = fs::read(&self.rows).map_err(|_| format!("ended early: {status}"))?;
        serde_json::from_slice(&rows).map_err(|why| format!("{}: {why}", self.rows.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_row_says_how_a_step_ended_and_what_it_cost() {
        let taken = |outcome| Taken {
            name: "trials".into(),
            outcome,
            seconds: 1.25,
            cpu: 2.0,
            free: Some(3 << 29),
        };
        assert_eq!(
            taken(Outcome::Skipped("no QEMU".into())).to_string(),
            "trials       SKIPPED      1.2     2.0    1.5  no QEMU"
        );
        let counts = |passed, skipped: &[&str]| Counts {
            passed,
            skipped: skipped.iter().map(ToString::to_string).collect(),
        };
        let none = taken(Outcome::Ok(counts(0, &[]))).to_string();
        assert_eq!(none, "trials       ok           1.2     2.0    1.5");
        let some = taken(Outcome::Ok(counts(7, &["no QEMU", "no QEMU"]))).to_string();
        assert_eq!(some, format!("{none}      7       2\n    skipped: no QEMU"));
    }

    #[test]
    fn how_steps_beside_ended_is_read_back() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("log"), "== trials\n").unwrap();
        let beside = || {
            Ok(Beside {
                names: "trials".into(),
                process: std::process::Command::new("true").spawn().unwrap(),
                log: at("log"),
                rows: at("rows"),
            })
        };
        let lost = Beside::end(beside());
        assert!(close(&lost).unwrap_err().contains("trials: ended early"));
        let failed = take_each(&[Step::new("breaks", &[], || Err("on purpose".into()))]);
        keep(&failed, at("rows").to_str().unwrap()).unwrap();
        let why = close(&Beside::end(beside())).unwrap_err();
        assert_eq!(why, "0 lanes ok, 0 skipped, 1 failed: breaks: on purpose");
    }

    #[test]
    fn steps_after_a_failure_are_still_taken_and_failures_are_counted() {
        static TAKEN: AtomicU32 = AtomicU32::new(0);
        let steps = [
            Step::new("breaks", &[], || Err("on purpose".into())),
            Step::new("absent", &[], || Ok(Done::Skipped("not here".into()))),
            Step::new("works", &[], || {
                TAKEN.fetch_add(1, Ordering::Relaxed);
                Ok(Done::Ok)
            }),
        ];
        let summary = close(&take_each(&steps)).unwrap_err();
        let failed = "1 lanes ok, 1 skipped, 1 failed: breaks: on purpose";
        assert_eq!(summary, failed);
        assert_eq!(TAKEN.load(Ordering::Relaxed), 1);
    }
}
